//! Coulomb functions of the pair kernel. SIMD levels with enough registers keep tables in registers; other levels
//! compute forces from 1/r and a polynomial of low degree. Energies, which are seldom computed, use tables on every
//! level. Energy polynomials would also be inaccurate in a crystal: the few distinct distances of a crystal repeat, so
//! the errors add up.

use super::pair_rules::{UNLIMITED, is_switched};
use crate::pair::{Eighths, QUARTIC, RadialFunction, RadialTable, SmoothPart};
use crate::simd::{Arithmetic, Float, Simd};

/// A Coulomb or dispersion force in both forms that SIMD levels evaluate.
#[derive(Clone, Debug)]
pub(in crate::backend) struct ForceTable {
    pub(super) table: RadialTable,
    /// polynomials for the force minus its singular part
    eighths: Eighths,
}

impl ForceTable {
    /// Makes the table and the polynomials of `force(r)` for r up to `largest` nm, see [`SmoothPart::new`].
    pub(super) fn new(force: RadialFunction, singular: RadialFunction, tolerance: f64, largest: f64) -> Self {
        let eighths = Eighths::fit(&SmoothPart::new(force, singular, tolerance, largest));
        ForceTable { table: RadialTable::new(force, largest), eighths }
    }

    /// Makes a table of zeros.
    pub(super) fn zero(lowest: f32) -> Self {
        ForceTable { table: RadialTable::zero(lowest), eighths: Eighths::default() }
    }
}

/// A force in the form that the SIMD level evaluates: a table or polynomials.
pub(super) struct Radial<'a, S: Simd> {
    eighths: &'a Eighths,
    bins: <S::F as Float>::Bins,
}

/// Powers of the inverse distance. The compiler eliminates unused powers. Switched interactions need 1/r.
#[derive(Clone, Copy)]
pub(super) struct Inverse<S: Simd> {
    /// inverse distance 1/r, 1/nm
    pub(super) first: S::F,
    /// squared inverse distance 1/r², 1/nm²
    pub(super) square: S::F,
}

impl<S: Simd> Inverse<S> {
    #[inline(always)]
    pub(super) fn new<const RULE: u8, const END: u8>(r2: S::F) -> Self {
        if !is_switched(END) && (S::TABLES || RULE == UNLIMITED) {
            let square = r2.recip_fast();
            Inverse { first: square.sqrt(), square }
        } else {
            let first = r2.recip_sqrt_fast();
            Inverse { first, square: first * first }
        }
    }
}

impl<S: Simd> Inverse<S> {
    /// Computes the powers for pairs that are beyond the Coulomb cutoff or without charges.
    #[inline(always)]
    pub(super) fn of_far<const END: u8>(r2: S::F) -> Self {
        if is_switched(END) {
            let first = r2.recip_sqrt_fast();
            return Inverse { first, square: first * first };
        }
        let square = r2.recip_fast();
        Inverse { first: square.sqrt(), square }
    }

    /// Returns a power of the inverse distance, from which [`Self::unpacked`] computes all powers that Lennard-Jones
    /// terms need.
    #[inline(always)]
    pub(super) fn packed<const END: u8>(&self) -> S::F {
        if is_switched(END) { self.first } else { self.square }
    }

    #[inline(always)]
    pub(super) fn unpacked<const END: u8>(packed: S::F) -> Self {
        if is_switched(END) {
            return Inverse { first: packed, square: packed * packed };
        }
        Inverse { first: packed.sqrt(), square: packed }
    }
}

impl<'a, S: Simd> Radial<'a, S> {
    #[inline(always)]
    pub(super) fn new(force: &'a ForceTable) -> Self {
        Radial { eighths: &force.eighths, bins: S::F::bins(&force.table.tables) }
    }

    /// Returns the Coulomb force divided by the distance, for interacting pairs of unit charges. Without a cutoff the
    /// result is the force of the potential 1/r.
    #[inline(always)]
    pub(super) fn force<const RULE: u8>(&self, r2: S::F, inverse: &Inverse<S>) -> S::F {
        if RULE == UNLIMITED {
            inverse.square * inverse.first
        } else if S::TABLES {
            self.table(r2)
        } else {
            inverse.square.mul_add(inverse.first, self.polynomial(r2))
        }
    }

    /// Evaluates a force that stays finite at r = 0, such as the correction of excluded pairs.
    #[inline(always)]
    pub(super) fn smooth(&self, r2: S::F) -> S::F {
        if S::TABLES { self.table(r2) } else { self.polynomial(r2) }
    }

    #[inline(always)]
    fn table(&self, r2: S::F) -> S::F {
        table::<S>(r2, &self.bins)
    }

    /// Evaluates the polynomial of the bin that contains r² ([`crate::pair::Eighths`]).
    #[inline(always)]
    pub(super) fn polynomial(&self, r2: S::F) -> S::F {
        let eighths = self.eighths;
        let y = r2.mul_add(S::F::splat(eighths.scale), S::F::splat(1.0));
        let u = y.bin_offset::<20>();
        let c = |k: usize| y.eighth(&eighths.quartic[k]);
        let mut value = c(QUARTIC - 1);
        if let [highest, more @ ..] = eighths.more.as_slice() {
            let mut higher = y.eighth(highest);
            for next in more {
                higher = higher.mul_add(u, y.eighth(next));
            }
            value = higher.mul_add(u, value);
        }
        for k in (0..QUARTIC - 1).rev() {
            value = value.mul_add(u, c(k));
        }
        value
    }
}

/// Returns the value of a tabulated function at r², for example of an energy.
#[inline(always)]
pub(super) fn energy<S: Simd>(r2: S::F, function: &RadialTable) -> S::F {
    table::<S>(r2, &S::F::bins(&function.tables))
}

/// Evaluates the quartic polynomial of the bin that contains r² ([`RadialTable`]).
#[inline(always)]
fn table<S: Simd>(r2: S::F, bins: &<S::F as Float>::Bins) -> S::F {
    let [a0, a1, a2, a3, a4] = r2.look_up(bins);
    let u = r2.bin_offset::<21>();
    a4.mul_add(u, a3).mul_add(u, a2).mul_add(u, a1).mul_add(u, a0)
}
