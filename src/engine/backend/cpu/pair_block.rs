//! Forces between the i-atoms of the pair kernel and the atoms of one block.

use super::pair_dispersion::DispersionTerms;
use super::pair_input::PairInput;
use super::pair_lj::{BlockLj, LjTerms};
use super::pair_radial::{Inverse, Radial, energy};
use super::pair_rows::{Fixed, Near, Rows};
use super::pair_rules::{LJ_PME, TYPE_TABLE, UNLIMITED, is_switched};
use crate::pair::MaskedPair;
use crate::simd::{Arithmetic, Float, Simd};

/// Squared distances between i-atoms and the atoms of a block, and quantities that depend only on these distances.
pub(super) struct Distances<S: Simd, const N: usize> {
    pub(super) block: usize,
    /// squared distances, nm², at least `Fixed::lowest` in masked blocks
    pub(super) r2: [S::F; N],
    /// squared distances before the lower limit is applied, nm²
    pub(super) true_r2: [S::F; N],
    pub(super) inverse: [Inverse<S>; N],
    /// Coulomb force divided by the distance, for unit charges
    pub(super) field: [S::F; N],
}

impl<S: Simd, const N: usize> Distances<S, N> {
    #[inline(always)]
    pub(super) fn new<const RULE: u8, const END: u8, const MASKED: bool>(
        fixed: &Fixed<'_, S>,
        near: &Near<S, N>,
    ) -> Self {
        let r2 = near.tabulated::<RULE, MASKED>(fixed);
        let (mut inverse, mut field) = ([Inverse { first: r2[0], square: r2[0] }; N], r2);
        for row in 0..N {
            (inverse[row], field[row]) = fixed.force.force::<RULE, END, MASKED>(r2[row]);
        }
        Distances { block: near.block, r2, true_r2: near.r2, inverse, field }
    }
}

/// Energy sums of one list entry.
pub(super) struct Sums<S: Simd> {
    pub(super) lj: S::F,
    pub(super) coulomb: S::F,
}

impl<S: Simd> Sums<S> {
    #[inline(always)]
    pub(super) fn zero() -> Self {
        Sums { lj: S::F::splat(0.0), coulomb: S::F::splat(0.0) }
    }
}

/// Mask of a block in which all pairs interact.
pub(super) const ALL: MaskedPair = MaskedPair { block: 0, interacting: u32::MAX, excluded: 0, excepted: false };

/// Returns, for pairs of i-atoms and atoms of a block, the forces divided by the distances, kJ/mol/nm². The first `LJ`
/// of the `N` vectors of i-atoms have Lennard-Jones interactions.
#[inline(always)]
pub(super) fn radial_forces<
    S: Simd,
    const RULE: u8,
    const SPLIT: bool,
    const END: u8,
    const ENERGY: bool,
    const MASKED: bool,
    const N: usize,
    const LJ: usize,
>(
    fixed: &Fixed<'_, S>,
    rows: &Rows<S, N>,
    distances: &Distances<S, N>,
    pair: &MaskedPair,
    sums: &mut Sums<S>,
) -> [S::F; N] {
    let input = fixed.input;
    let block = distances.block;
    // SAFETY: the block is in range, see `positions`
    let charge = S::F::load_twice(unsafe { fixed.charges.get_unchecked(block) });
    // SAFETY: the block is in range, see `positions`
    let lj = if LJ > 0 { unsafe { BlockLj::load::<RULE>(input, block) } } else { BlockLj::none() };
    // SAFETY: the block is in range, see `positions`
    let root_c6 = unsafe { root_c6::<S, END>(input, block) };
    let mut forces = [S::F::splat(0.0); N];
    for row in 0..N {
        let r2 = distances.r2[row];
        let mut inside = r2.lt(fixed.cutoff_squared);
        let mut inside_lj = if SPLIT { r2.lt(S::F::splat(input.cutoff_lj_squared)) } else { inside };
        if MASKED {
            let interacting = S::F::mask((pair.interacting >> (16 * row)) as u16);
            inside = S::F::and(inside, interacting);
            inside_lj = S::F::and(inside_lj, interacting);
        }
        let charges = rows.charge[row] * charge;
        let (inverse, radial) = (&distances.inverse[row], distances.field[row]);
        if ENERGY {
            // without a cutoff the energy of unit charges is 1/r
            let energy = if RULE == UNLIMITED { inverse.first } else { energy::<S, MASKED>(r2, &input.coulomb.energy) };
            sums.coulomb += (charges * energy).keep(inside);
        }
        forces[row] = if row < LJ {
            let i = [rows.lj[0][row], rows.lj[1][row]];
            let mut terms = if MASKED && RULE < TYPE_TABLE && pair.excepted {
                // SAFETY: the block is in range, see `positions`
                let lj = unsafe { BlockLj::load::<TYPE_TABLE>(input, block) };
                LjTerms::<S>::new::<TYPE_TABLE, END>(fixed, r2, inverse, i, rows.types[row], lj)
            } else {
                LjTerms::<S>::new::<RULE, END>(fixed, r2, inverse, i, rows.types[row], lj)
            };
            if END == LJ_PME {
                terms.add(&DispersionTerms::new::<MASKED>(fixed, rows.root_c6[row] * root_c6, r2));
            }
            if MASKED && !is_switched(END) && pair.excepted && !input.c4_table.is_empty() {
                // SAFETY: the block is in range, see `positions`
                unsafe { terms.add_induced_dipoles(input, inverse.square, rows.types[row], block) };
            }
            if ENERGY {
                sums.lj += terms.energy.keep(inside_lj);
            }
            if SPLIT {
                charges.mul_add(radial.keep(inside), terms.force.keep(inside_lj))
            } else {
                charges.mul_add(radial, terms.force).keep(inside)
            }
        } else {
            (charges * radial).keep(inside)
        };
        if ENERGY {
            // if r² is below the limit `lowest`, f (the force divided by the distance) is constant; the potential ½ f
            // (lowest − r²) is consistent with this force, as minimisers require
            sums.lj += forces[row] * (S::F::splat(0.5) * (r2 - distances.true_r2[row]));
        }
        if MASKED && RULE != UNLIMITED && pair.excluded != 0 {
            let excluded = S::F::mask((pair.excluded >> (16 * row)) as u16);
            // charges of extra points are closer to their atoms than `lowest`. Pairs beyond the cutoff are corrected
            // elsewhere (`far_exclusions`); the upper limit keeps a pair that has just left the cutoff in the table
            let lowest = S::F::splat(input.coulomb.excluded_energy.0.lowest);
            let at = distances.true_r2[row].max(lowest).min(fixed.cutoff_squared);
            let force = Radial::<S>::new(&input.coulomb.excluded_force).excluded(at);
            forces[row] += (charges * force).keep(excluded);
            if ENERGY {
                let energy = energy::<S, true>(at, &input.coulomb.excluded_energy);
                sums.coulomb += (charges * energy).keep(excluded);
            }
            if END == LJ_PME && row < LJ {
                let dispersion = DispersionTerms::<S>::new::<true>(fixed, rows.root_c6[row] * root_c6, at);
                forces[row] += dispersion.force.keep(excluded);
                if ENERGY {
                    sums.lj += dispersion.energy.keep(excluded);
                }
            }
        }
    }
    forces
}

/// Loads √c6 of a block's atoms for LJ-PME.
///
/// # Safety
/// `block` is less than the number of blocks in the arrays of `input`.
#[inline(always)]
pub(super) unsafe fn root_c6<S: Simd, const END: u8>(input: &PairInput<'_>, block: usize) -> S::F {
    if END != LJ_PME {
        return S::F::splat(0.0);
    }
    // SAFETY: the caller guarantees that the block is in range
    S::F::load_twice(unsafe { input.dispersion.get_unchecked(block) })
}
