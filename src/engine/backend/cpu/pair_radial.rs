//! Coulomb functions of the pair kernel. SIMD levels with enough registers keep tables in registers; other levels
//! compute forces from 1/r and the square of a polynomial. Energies, which are seldom computed, use tables on every
//! level. Energy polynomials would also be inaccurate in a crystal: the few distinct distances of a crystal repeat, so
//! the errors add up.

use super::pair_rules::{UNLIMITED, is_switched};
use crate::pair::{Bins, PowerTable, RadialFunction, RadialTable, RootPolynomial, SmoothPart};
use crate::simd::{Arithmetic, Float, Simd};

/// Number of coefficients of a polynomial that kernels always evaluate, enough for the usual Ewald splittings.
const FIRST_TERMS: usize = 9;

/// A Coulomb or dispersion force in both forms that SIMD levels evaluate.
#[derive(Clone, Debug)]
pub(in crate::backend) struct ForceTable {
    pub(super) table: PowerTable,
    root: Root,
}

/// The square root of the magnitude of a force without its singular part, see [`RootPolynomial`].
#[derive(Clone, Debug, Default)]
struct Root {
    center: f32,
    /// coefficients in ascending order of the powers
    first: [f32; FIRST_TERMS],
    /// coefficients of higher powers, in descending order; empty for most functions
    more: Vec<f32>,
}

impl Root {
    fn new(part: &SmoothPart) -> Self {
        let polynomial = RootPolynomial::fit(part, FIRST_TERMS);
        let (first, more) = polynomial.split();
        Root { center: polynomial.center, first, more }
    }
}

impl ForceTable {
    /// Makes the table and the polynomial of `force(r)` for r up to `largest` nm, see [`SmoothPart::new`].
    pub(super) fn new(force: RadialFunction, singular: RadialFunction, tolerance: f64, largest: f64) -> Self {
        let root = Root::new(&SmoothPart::new(force, singular, tolerance, largest));
        ForceTable { table: PowerTable::new(force, largest), root }
    }

    /// Makes the table and the polynomial of a force that is finite at r = 0, as that of excluded pairs.
    pub(super) fn finite(force: RadialFunction, tolerance: f64, largest: f64) -> Self {
        let root = Root::new(&SmoothPart::new(force, &|_| 0.0, tolerance, largest));
        ForceTable { table: PowerTable::finite(force, largest), root }
    }

    /// Makes a table of zeros.
    pub(super) fn zero(lowest: f32) -> Self {
        ForceTable { table: PowerTable::zero(lowest), root: Root::default() }
    }
}

/// A force in the form that the SIMD level evaluates: a table or a polynomial.
pub(super) struct Radial<'a, S: Simd> {
    root: &'a Root,
    table: &'a PowerTable,
    /// upper bins of the table
    bins: <S::F as Float>::Bins<'a>,
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
    fn new<const RULE: u8, const END: u8>(r2: S::F) -> Self {
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
        Radial { root: &force.root, table: &force.table, bins: S::F::bins(&force.table.0.tables) }
    }

    /// Returns the powers of the inverse distance, and the Coulomb force divided by the distance for interacting pairs
    /// of unit charges. Without a cutoff the force is that of the potential 1/r. In masked blocks the distances may be
    /// below the upper bins of the table.
    #[inline(always)]
    pub(super) fn force<const RULE: u8, const END: u8, const MASKED: bool>(&self, r2: S::F) -> (Inverse<S>, S::F) {
        if S::TABLES || RULE == UNLIMITED {
            let inverse = Inverse::new::<RULE, END>(r2);
            let force = if RULE == UNLIMITED { inverse.square * inverse.first } else { self.table::<MASKED>(r2) };
            return (inverse, force);
        }
        // the polynomial comes first, so that fewer registers are in use at a time
        let root = self.root(r2);
        let inverse = Inverse::new::<RULE, END>(r2);
        (inverse, root.neg_mul_add(root, inverse.square * inverse.first))
    }

    /// Returns the force of excluded pairs of unit charges divided by the distance. The force is attractive, and finite
    /// at r = 0.
    #[inline(always)]
    pub(super) fn excluded(&self, r2: S::F) -> S::F {
        if S::TABLES { self.table::<true>(r2) } else { S::F::splat(0.0) - self.square(r2) }
    }

    /// Returns the magnitude of a force without a singular part.
    #[inline(always)]
    pub(super) fn square(&self, r2: S::F) -> S::F {
        let root = self.root(r2);
        root * root
    }

    #[inline(always)]
    fn table<const MASKED: bool>(&self, r2: S::F) -> S::F {
        tabulated::<S, MASKED>(r2, r2, &self.table.0, &self.bins)
    }

    /// Evaluates the polynomial for the square root.
    #[inline(always)]
    fn root(&self, r2: S::F) -> S::F {
        let Root { center, first, more } = self.root;
        let u = S::F::splat(*center) - r2;
        let mut value = S::F::splat(first[FIRST_TERMS - 1]);
        if let [highest, lower @ ..] = more.as_slice() {
            let mut higher = S::F::splat(*highest);
            for c in lower {
                higher = higher.mul_add(u, S::F::splat(*c));
            }
            value = higher.mul_add(u, value);
        }
        for k in (0..FIRST_TERMS - 1).rev() {
            value = value.mul_add(u, S::F::splat(first[k]));
        }
        value
    }
}

/// Returns the value of a tabulated function at r², for example of an energy. In masked blocks r² may be below the
/// upper bins of the table.
#[inline(always)]
pub(super) fn energy<S: Simd, const MASKED: bool>(r2: S::F, function: &RadialTable) -> S::F {
    tabulated::<S, MASKED>(r2, r2.bin_offset(), &function.0, &S::F::bins(&function.0.tables))
}

/// Returns the value of a tabulated function at r². `argument` is the argument of the quartics, and `upper` holds the
/// upper bins.
#[inline(always)]
fn tabulated<S: Simd, const MASKED: bool>(
    r2: S::F,
    argument: S::F,
    bins: &Bins,
    upper: &<S::F as Float>::Bins<'_>,
) -> S::F {
    let value = quartic::<S>(r2.look_up(upper), argument);
    if MASKED && bins.is_divided() && S::F::any(r2.lt(S::F::splat(bins.start))) != 0 {
        let below = quartic::<S>(r2.look_up(&S::F::bins(&bins.below)), argument);
        return below.select(r2.lt(S::F::splat(bins.start)), value);
    }
    value
}

/// Evaluates a quartic polynomial.
#[inline(always)]
fn quartic<S: Simd>([a0, a1, a2, a3, a4]: [S::F; 5], u: S::F) -> S::F {
    a4.mul_add(u, a3).mul_add(u, a2).mul_add(u, a1).mul_add(u, a0)
}
