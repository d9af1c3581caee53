//! Lennard-Jones terms of the pair kernel, by combination rule.

use super::pair_input::{
    GEOMETRIC, LORENTZ_BERTHELOT, PairInput, ROWS_OF_16, ROWS_OF_32, ROWS_OF_64, TYPE_TABLE, eight,
};
use crate::simd::{Aligned16, Float, Simd};

/// Lennard-Jones input of a block's atoms: two parameters of each, or their types.
#[derive(Clone, Copy)]
pub(super) struct BlockLj<S: Simd> {
    values: [S::F; 2],
    /// whole numbers as bits
    types: S::F,
}

impl<S: Simd> BlockLj<S> {
    /// # Safety
    /// `block` is one of the blocks that the arrays of `input` are of.
    #[inline(always)]
    pub(super) unsafe fn load<const RULE: u8>(input: &PairInput<'_>, block: usize) -> Self {
        if RULE >= TYPE_TABLE {
            // SAFETY: the caller's promise
            let types = S::F::load_twice(unsafe { input.slot_types.get_unchecked(block) });
            BlockLj { types, ..Self::none() }
        } else {
            // SAFETY: as above
            let values = unsafe { input.lj.get_unchecked(block) };
            let values = [S::F::load_twice(eight(values, 0)), S::F::load_twice(eight(values, 1))];
            BlockLj { values, ..Self::none() }
        }
    }

    /// For blocks without Lennard-Jones interactions.
    #[inline(always)]
    pub(super) fn none() -> Self {
        BlockLj { values: [S::F::splat(0.0); 2], types: S::F::splat(0.0) }
    }
}

/// Lennard-Jones in terms of 1/r².
pub(super) struct LjTerms<S: Simd> {
    /// over distance
    pub(super) force: S::F,
    /// 48 ε, or 6 c6 with the attraction taken out
    strength: [S::F; 2],
    power6: S::F,
    sigma6: S::F,
}

impl<S: Simd> LjTerms<S> {
    /// Of two i-atoms, `i` and `types` theirs, with eight j-atoms each.
    #[inline(always)]
    pub(super) fn new<const RULE: u8>(
        input: &PairInput<'_>,
        inverse2: S::F,
        i: [S::F; 2],
        types: [usize; 2],
        j: BlockLj<S>,
    ) -> Self {
        if RULE == LORENTZ_BERTHELOT {
            let sigma = i[0] + j.values[0];
            let epsilon48 = i[1] * j.values[1];
            let sigma2 = sigma * sigma;
            let ratio2 = sigma2 * inverse2;
            let power6 = ratio2 * ratio2 * ratio2;
            // 48 ε (s¹² − ½ s⁶)
            let force = (epsilon48 * inverse2) * power6 * (power6 - S::F::splat(0.5));
            let sigma6 = sigma2 * sigma2 * sigma2;
            return LjTerms { force, strength: [epsilon48; 2], power6, sigma6 };
        }
        let [six_c6, twelve_c12] = match RULE {
            GEOMETRIC => [i[0] * j.values[0], i[1] * j.values[1]],
            ROWS_OF_16 => from_rows::<S, 1>(input.type_rows, types, j.types),
            ROWS_OF_32 => from_rows::<S, 2>(input.type_rows, types, j.types),
            ROWS_OF_64 => from_rows::<S, 4>(input.type_rows, types, j.types),
            _ => {
                let (table, length) = (input.type_table, input.types);
                j.types.pick_pairs([&table[types[0] * length..][..length], &table[types[1] * length..][..length]])
            }
        };
        let power6 = inverse2 * inverse2 * inverse2;
        let force = inverse2 * power6 * twelve_c12.mul_add(power6, S::F::splat(0.0) - six_c6);
        LjTerms { force, strength: [six_c6, twelve_c12], power6, sigma6: S::F::splat(1.0) }
    }

    /// V(r) − V(cutoff) where shifted.
    #[inline(always)]
    pub(super) fn energy<const RULE: u8>(&self, input: &PairInput<'_>) -> S::F {
        let at_cutoff = self.sigma6 * S::F::splat(input.lj_shift);
        let (sixth, twelfth) = (S::F::splat(1.0 / 6.0), S::F::splat(1.0 / 12.0));
        let attraction = self.power6 - at_cutoff;
        let repulsion = self.power6 * self.power6 - at_cutoff * at_cutoff;
        if RULE == LORENTZ_BERTHELOT {
            self.strength[0] * twelfth * (repulsion - attraction)
        } else {
            self.strength[1] * twelfth * repulsion - self.strength[0] * sixth * attraction
        }
    }
}

/// (6 c6, 12 c12) from rows of 16 R types: that of 6 c6, then that of 12 c12, for each type of an i-atom.
#[inline(always)]
fn from_rows<S: Simd, const R: usize>(rows: &[Aligned16], i: [usize; 2], j: S::F) -> [S::F; 2] {
    let (first, second) = (&rows[2 * R * i[0]..][..2 * R], &rows[2 * R * i[1]..][..2 * R]);
    [j.pick::<R>([part(first, 0), part(second, 0)]), j.pick::<R>([part(first, R), part(second, R)])]
}

#[inline(always)]
fn part<const R: usize>(rows: &[Aligned16], start: usize) -> &[Aligned16; R] {
    match rows[start..].first_chunk() {
        Some(row) => row,
        None => unreachable!("every type has its rows"),
    }
}
