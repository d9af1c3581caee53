//! Lennard-Jones terms of the pair kernel for each combination rule.

use super::pair_dispersion::DispersionTerms;
use super::pair_input::{PairInput, eight};
use super::pair_radial::Inverse;
use super::pair_rows::Fixed;
use super::pair_rules::{
    FORCE_SWITCH, GEOMETRIC, LORENTZ_BERTHELOT, ROWS_OF_16, ROWS_OF_32, ROWS_OF_64, TYPE_TABLE, is_switched,
};
use crate::simd::{Aligned16, Arithmetic, Float, Simd};

/// Lennard-Jones input of a block's atoms: two parameters per atom, or one type per atom.
#[derive(Clone, Copy)]
pub(super) struct BlockLj<S: Simd> {
    values: [S::F; 2],
    /// Lennard-Jones types: integers, stored as the bits of floats
    types: S::F,
}

impl<S: Simd> BlockLj<S> {
    /// Loads the Lennard-Jones input of a block.
    ///
    /// # Safety
    /// `block` is less than the number of blocks in the arrays of `input`.
    #[inline(always)]
    pub(super) unsafe fn load<const RULE: u8>(input: &PairInput<'_>, block: usize) -> Self {
        if RULE >= TYPE_TABLE {
            // SAFETY: the caller guarantees that the block is in range
            let types = S::F::load_twice(unsafe { input.slot_types.get_unchecked(block) });
            BlockLj { types, ..Self::none() }
        } else {
            // SAFETY: the caller guarantees that the block is in range
            let values = unsafe { input.lj.get_unchecked(block) };
            let values = [S::F::load_twice(eight(values, 0)), S::F::load_twice(eight(values, 1))];
            BlockLj { values, ..Self::none() }
        }
    }

    /// Returns the input of a block without Lennard-Jones interactions.
    #[inline(always)]
    pub(super) fn none() -> Self {
        BlockLj { values: [S::F::splat(0.0); 2], types: S::F::splat(0.0) }
    }
}

/// Lennard-Jones force divided by the distance, and Lennard-Jones energy. The compiler eliminates the energy if it is
/// not used.
pub(super) struct LjTerms<S: Simd> {
    pub(super) force: S::F,
    pub(super) energy: S::F,
}

impl<S: Simd> LjTerms<S> {
    /// Computes the Lennard-Jones terms of two i-atoms (parameters `i`, types `types`) with eight j-atoms each.
    #[inline(always)]
    pub(super) fn new<const RULE: u8, const END: u8>(
        fixed: &Fixed<'_, S>,
        r2: S::F,
        inverse: &Inverse<S>,
        i: [S::F; 2],
        types: [usize; 2],
        j: BlockLj<S>,
    ) -> Self {
        let input = fixed.input;
        if is_switched(END) {
            let [six_c6, twelve_c12] = coefficients::<S, RULE>(input, i, types, j);
            let radial = match END {
                FORCE_SWITCH => fixed.force_switch.radial(r2, inverse.first),
                _ => fixed.potential_switch.radial(r2, inverse.first),
            };
            let (force, energy) = radial.pair(six_c6, twelve_c12);
            return LjTerms { force, energy };
        }
        if RULE == LORENTZ_BERTHELOT {
            return Self::of_sigma(input, inverse.square, i[0] + j.values[0], i[1] * j.values[1]);
        }
        let [six_c6, twelve_c12] = coefficients::<S, RULE>(input, i, types, j);
        let power6 = inverse.square * inverse.square * inverse.square;
        let force = inverse.square * power6 * twelve_c12.mul_add(power6, S::F::splat(0.0) - six_c6);
        let [attraction, repulsion] = above_cutoff::<S>(power6, S::F::splat(input.lj_shift));
        let (sixth, twelfth) = (S::F::splat(1.0 / 6.0), S::F::splat(1.0 / 12.0));
        LjTerms { force, energy: twelve_c12 * twelfth * repulsion - six_c6 * sixth * attraction }
    }

    /// Adds the LJ-PME terms of interacting pairs.
    #[inline(always)]
    pub(super) fn add(&mut self, dispersion: &DispersionTerms<S>) {
        self.force += dispersion.force;
        self.energy += dispersion.energy - dispersion.shift;
    }

    /// Adds the term −c4/r⁴ of pairs of the given types.
    ///
    /// # Safety
    /// `block` is less than the number of blocks in the arrays of `input`.
    #[inline(always)]
    pub(super) unsafe fn add_induced_dipoles(
        &mut self,
        input: &PairInput<'_>,
        inverse2: S::F,
        types: [usize; 2],
        block: usize,
    ) {
        // SAFETY: the caller guarantees that the block is in range
        let j = unsafe { BlockLj::<S>::load::<TYPE_TABLE>(input, block) };
        let [four_c4, _] = pick_pairs::<S>(input.c4_table, input.types, types, j);
        let inverse4 = inverse2 * inverse2;
        self.force -= four_c4 * (inverse4 * inverse2);
        self.energy -= four_c4 * (S::F::splat(0.25) * (inverse4 - S::F::splat(input.c4_shift)));
    }

    /// Computes the Lennard-Jones terms from σ and 48 ε, without a switch. The force divided by the distance r is 48 ε
    /// (s¹² − ½ s⁶)/r² with s = σ/r.
    #[inline(always)]
    fn of_sigma(input: &PairInput<'_>, inverse2: S::F, sigma: S::F, epsilon48: S::F) -> Self {
        let sigma2 = sigma * sigma;
        let ratio2 = sigma2 * inverse2;
        let power6 = ratio2 * ratio2 * ratio2;
        let force = (epsilon48 * inverse2) * power6 * (power6 - S::F::splat(0.5));
        let sigma6 = sigma2 * sigma2 * sigma2;
        let [attraction, repulsion] = above_cutoff::<S>(power6, sigma6 * S::F::splat(input.lj_shift));
        LjTerms { force, energy: epsilon48 * S::F::splat(1.0 / 12.0) * (repulsion - attraction) }
    }
}

/// Returns `power6` and its square, minus the same powers at the cutoff. `power6` is a sixth power of an inverse
/// distance, and `at_cutoff` is the value of `power6` at the cutoff, or zero without a potential shift.
#[inline(always)]
fn above_cutoff<S: Simd>(power6: S::F, at_cutoff: S::F) -> [S::F; 2] {
    [power6 - at_cutoff, power6 * power6 - at_cutoff * at_cutoff]
}

/// Returns the coefficients 6 c6 and 12 c12 of pairs of atoms.
#[inline(always)]
fn coefficients<S: Simd, const RULE: u8>(
    input: &PairInput<'_>,
    i: [S::F; 2],
    types: [usize; 2],
    j: BlockLj<S>,
) -> [S::F; 2] {
    match RULE {
        GEOMETRIC => [i[0] * j.values[0], i[1] * j.values[1]],
        LORENTZ_BERTHELOT => {
            let sigma = i[0] + j.values[0];
            let sigma2 = sigma * sigma;
            let sigma6 = sigma2 * sigma2 * sigma2;
            let strength = i[1] * j.values[1] * sigma6;
            [strength * S::F::splat(0.5), strength * sigma6]
        }
        ROWS_OF_16 => from_rows::<S, 1>(input.type_rows, types, j.types),
        ROWS_OF_32 => from_rows::<S, 2>(input.type_rows, types, j.types),
        ROWS_OF_64 => from_rows::<S, 4>(input.type_rows, types, j.types),
        _ => pick_pairs::<S>(input.type_table, input.types, types, j),
    }
}

/// Looks up the two coefficients of each pair in a table with rows of `length` elements.
#[inline(always)]
fn pick_pairs<S: Simd>(table: &[[f32; 2]], length: usize, types: [usize; 2], j: BlockLj<S>) -> [S::F; 2] {
    j.types.pick_pairs([&table[types[0] * length..][..length], &table[types[1] * length..][..length]])
}

/// Looks up the coefficients 6 c6 and 12 c12 of pairs in `rows`; each row has 16 R elements. For each type of an
/// i-atom, `rows` has a row of 6 c6, followed by a row of 12 c12.
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
