//! Coulomb functions of the pair kernel. SIMD levels with enough registers keep tables in registers; other levels
//! compute forces from 1/r and a polynomial. Energies, which are seldom computed, use tables on every level. In a
//! crystal, which has few distinct distances, the errors of an energy polynomial would also add up.

use super::pair_rules::{UNLIMITED, is_switched};
use crate::arrays::map;
use crate::pair::{FIRST_TERMS, RadialTable};
use crate::simd::{Arithmetic, Float, Simd};

/// A radial function in the form that the SIMD level evaluates: a table or a polynomial.
pub(super) struct Radial<'a, S: Simd> {
    function: &'a RadialTable,
    bins: <S::F as Float>::Bins,
}

/// Powers of the inverse distance. The compiler eliminates unused powers. Switched interactions need 1/r.
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
}

impl<'a, S: Simd> Radial<'a, S> {
    #[inline(always)]
    pub(super) fn new(function: &'a RadialTable) -> Self {
        Radial { function, bins: S::F::bins(&function.tables) }
    }

    /// Returns the polynomial part of the force of interacting pairs, without the part that diverges at r = 0. Only
    /// SIMD levels without tables use this function.
    #[inline(always)]
    pub(super) fn regular<const RULE: u8>(&self, r2: S::F) -> S::F {
        if S::TABLES || RULE == UNLIMITED { S::F::splat(0.0) } else { self.polynomial(r2) }
    }

    /// Returns the Coulomb force over distance of interacting pairs of unit charges. Without a cutoff the result is the
    /// force of the potential 1/r. `regular` is the result of [`Self::regular`].
    #[inline(always)]
    pub(super) fn force<const RULE: u8>(&self, r2: S::F, inverse: &Inverse<S>, regular: S::F) -> S::F {
        if RULE == UNLIMITED {
            inverse.square * inverse.first
        } else if S::TABLES {
            self.table(r2)
        } else {
            inverse.square.mul_add(inverse.first, regular)
        }
    }

    /// Returns the Coulomb energy of interacting pairs of unit charges. Without a cutoff this energy is 1/r.
    #[inline(always)]
    pub(super) fn energy<const RULE: u8>(&self, r2: S::F, inverse: &Inverse<S>) -> S::F {
        if RULE == UNLIMITED { inverse.first } else { self.table(r2) }
    }

    /// Evaluates a function that stays finite at r = 0, such as the correction of excluded pairs.
    #[inline(always)]
    pub(super) fn smooth(&self, r2: S::F, force: bool) -> S::F {
        if S::TABLES || !force { self.table(r2) } else { self.polynomial(r2) }
    }

    #[inline(always)]
    pub(super) fn table(&self, r2: S::F) -> S::F {
        let [a0, a1, a2, a3, a4] = r2.look_up(&self.bins);
        let u = r2.bin_offset();
        a4.mul_add(u, a3).mul_add(u, a2).mul_add(u, a1).mul_add(u, a0)
    }

    /// Evaluates the polynomial separately for even and odd powers of its variable u, which gives two short chains of
    /// multiply-adds instead of one long chain.
    #[inline(always)]
    pub(super) fn polynomial(&self, r2: S::F) -> S::F {
        let polynomial = &self.function.smooth;
        let c = |k: usize| S::F::splat(polynomial.first[k]);
        let u = S::F::splat(polynomial.center) - r2;
        let square = u * u;
        let (mut even, mut odd) = (c(FIRST_TERMS - 1), c(FIRST_TERMS - 2));
        if let [highest, more @ ..] = polynomial.more.as_slice() {
            let mut pair = map(*highest, S::F::splat);
            for next in more {
                pair = [pair[0].mul_add(square, S::F::splat(next[0])), pair[1].mul_add(square, S::F::splat(next[1]))];
            }
            (even, odd) = (pair[0].mul_add(square, even), pair[1].mul_add(square, odd));
        }
        for k in (0..FIRST_TERMS - 2).rev() {
            if k % 2 == 0 {
                even = even.mul_add(square, c(k));
            } else {
                odd = odd.mul_add(square, c(k));
            }
        }
        odd.mul_add(u, even)
    }
}
