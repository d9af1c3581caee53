//! Non-bonded pair kernel: one source for every instruction set, combination rule and output.
//!
//! The four atoms of an i-cluster are in two vectors (atoms 0 and 1, atoms 2 and 3, each repeated over eight lanes). A
//! vector of j-atoms holds the eight atoms of a j-block twice, and interacts with one or both of the two vectors of
//! i-atoms. For sixteen pairs, the kernel computes r² from block-relative offsets, and the force over distance
//!
//! F/r = q_i q_j f(r²) + LJ.
//!
//! The Coulomb function f is a table or a polynomial, whichever suits the SIMD level ([`Radial`]). The Lennard-Jones
//! term LJ is computed from 1/r². Forces on i-atoms are accumulated in registers, and forces on j-atoms in the force
//! buffer of the thread. Energies use the same arithmetic with additional tables, so that computing the energies does
//! not change the forces.

use super::pair_block::{ALL, Distances, Sums, radial_forces, root_c6};
use super::pair_dispersion::DispersionTerms;
use super::pair_input::{PairInput, PairOutput};
use super::pair_lj::{BlockLj, LjTerms};
use super::pair_radial::Inverse;
use super::pair_rows::{BlockForces, Fixed, Near, Rows, apply};
use super::pair_rules::{LJ_PME, TYPE_TABLE, UNLIMITED};
use super::pair_stages::{Scratch, staged};
use crate::cell::PeriodicCell;
use crate::pair::{Entry, ListChunk, LjRows, PairList, SHIFTS, shift_image};
use crate::simd::{Arithmetic, Float, Kernel, Simd};
use crate::vec3::{Vec3, vec3};
use std::ops::Range;

/// Pair kernel for a range of chunks; forces are added to `forces`, which holds [`Level::halves`] arrays for each
/// block. `SPLIT` is true if the Coulomb and Lennard-Jones cutoffs differ. `END` is the treatment of Lennard-Jones
/// interactions at the cutoff.
///
/// [`Level::halves`]: crate::simd::Level::halves
pub(super) struct PairKernel<'a, const RULE: u8, const SPLIT: bool, const END: u8, const ENERGY: bool> {
    pub input: PairInput<'a>,
    pub list: &'a PairList,
    pub range: Range<usize>,
    pub forces: &'a mut [[f32; 24]],
    pub output: &'a mut PairOutput,
}

impl<const RULE: u8, const SPLIT: bool, const END: u8, const ENERGY: bool> Kernel
    for PairKernel<'_, RULE, SPLIT, END, ENERGY>
{
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self) {
        if S::RARE && RULE != UNLIMITED {
            let PairKernel { input, list, range, forces, output } = self;
            // the general version always computes energies; the caller ignores energies that are not requested
            PairKernel::<TYPE_TABLE, true, END, true> { input, list, range, forces, output }.general::<S>();
        } else {
            self.compute::<S>();
        }
    }
}

impl<const RULE: u8, const SPLIT: bool, const END: u8, const ENERGY: bool> PairKernel<'_, RULE, SPLIT, END, ENERGY> {
    /// Computes a range of chunks on SIMD levels without intrinsics, for every combination rule and both choices of
    /// cutoffs.
    #[inline(never)]
    fn general<S: Simd>(self) {
        self.compute::<S>();
    }

    #[inline(always)]
    fn compute<S: Simd>(self) {
        let PairKernel { input, list, range, forces, output } = self;
        list.assert_of(input.grid);
        let forces: &mut [BlockForces<S>] = bytemuck::cast_slice_mut(forces);
        assert_lengths::<S, END>(&input, forces);
        let fixed = Fixed::<S>::new(&input);
        let mut scratch = Scratch::<S>::zero();
        for chunk in &list.chunks[range] {
            for entry in &chunk.entries {
                let mut rows = Rows::<S, 2>::load::<END>(&input, entry);
                let mut sums = Sums::<S>::zero();
                for pair in &chunk.masked[entry.masked[0] as usize..entry.masked[1] as usize] {
                    let near = Near::new(&fixed, &rows, pair.block);
                    let distances = Distances::new::<RULE, END, true>(&fixed, &near);
                    let f = radial_forces::<S, RULE, SPLIT, END, ENERGY, true, 2, 2>(
                        &fixed, &rows, &distances, pair, &mut sums,
                    );
                    apply(&near, f, &mut rows.force, forces);
                }
                if entry.coulomb && (S::TABLES || ENERGY) {
                    charged::<S, RULE, SPLIT, END, ENERGY>(&fixed, &mut rows, entry, chunk, forces, &mut sums);
                } else if entry.coulomb {
                    staged::<S, RULE, SPLIT, END>(&fixed, &mut rows, entry, chunk, forces, &mut scratch);
                }
                if SPLIT || !entry.coulomb {
                    uncharged::<S, RULE, END, ENERGY>(&fixed, &mut rows, entry, chunk, forces, &mut sums);
                }
                rows.finish(entry, forces, output);
                if ENERGY {
                    output.lj += f64::from(sums.lj.sum());
                    output.coulomb += f64::from(sums.coulomb.sum());
                }
            }
        }
    }
}

/// Processes the blocks without a mask that have Coulomb interactions.
#[inline(always)]
fn charged<S: Simd, const RULE: u8, const SPLIT: bool, const END: u8, const ENERGY: bool>(
    fixed: &Fixed<'_, S>,
    rows: &mut Rows<S, 2>,
    entry: &Entry,
    chunk: &ListChunk,
    forces: &mut [BlockForces<S>],
    sums: &mut Sums<S>,
) {
    // if energies are computed, one instantiation serves all i-atoms, because atoms without Lennard-Jones interactions
    // have parameters of zero
    macro_rules! both_rows {
        ($lj:literal) => {{
            let both = &chunk.plain[entry.both()];
            unmasked::<S, RULE, SPLIT, END, ENERGY, 2, $lj>(fixed, rows, both, forces, sums)
        }};
    }
    match entry.lj_rows {
        _ if !S::TABLES => {}
        LjRows::Half if !ENERGY => both_rows!(1),
        LjRows::None if !ENERGY => both_rows!(0),
        _ => both_rows!(2),
    }
    for half in 0..2 {
        single::<S, RULE, SPLIT, END, ENERGY>(fixed, rows, half, entry, chunk, forces, sums);
    }
}

/// Asserts that every array has one element per block of the grid.
fn assert_lengths<S: Simd, const END: u8>(input: &PairInput<'_>, forces: &[BlockForces<S>]) {
    let blocks = input.grid.blocks();
    assert!(input.packed.len() == blocks && input.charges.len() == blocks && input.lj.len() == blocks);
    assert!(input.slot_types.len() == blocks && forces.len() == blocks && input.grid.centers.len() == blocks);
    assert!(END != LJ_PME || input.dispersion.len() == blocks);
}

/// Processes the blocks that are within the radius of only one of the two vectors of i-atoms. On a SIMD level that
/// cannot hold tables in registers, this function processes all blocks of one vector, because two vectors at a time
/// would need too many registers.
#[inline(always)]
fn single<S: Simd, const RULE: u8, const SPLIT: bool, const END: u8, const ENERGY: bool>(
    fixed: &Fixed<'_, S>,
    rows: &mut Rows<S, 2>,
    half: usize,
    entry: &Entry,
    chunk: &ListChunk,
    forces: &mut [BlockForces<S>],
    sums: &mut Sums<S>,
) {
    let blocks = &chunk.plain[if S::TABLES { entry.single(half) } else { entry.row(half) }];
    if blocks.is_empty() {
        return;
    }
    // the index of the row is a constant; an index known only at run time would force the vectors into memory
    let mut row = if half == 0 { rows.row(0) } else { rows.row(1) };
    let lj = ENERGY || half < entry.lj_rows.vectors();
    if lj {
        unmasked::<S, RULE, SPLIT, END, ENERGY, 1, 1>(fixed, &mut row, blocks, forces, sums);
    } else {
        unmasked::<S, RULE, SPLIT, END, ENERGY, 1, 0>(fixed, &mut row, blocks, forces, sums);
    }
    if half == 0 {
        rows.add_forces(0, &row);
    } else {
        rows.add_forces(1, &row);
    }
}

/// Processes blocks in which all pairs interact. The first `LJ` of the `N` vectors of i-atoms have Lennard-Jones
/// interactions. The loop uses software pipelining: the distances of the next block are computed along with the forces
/// of this block. Each of these two computations is a dependency chain that is longer than the out-of-order window of a
/// processor.
#[inline(always)]
fn unmasked<
    S: Simd,
    const RULE: u8,
    const SPLIT: bool,
    const END: u8,
    const ENERGY: bool,
    const N: usize,
    const LJ: usize,
>(
    fixed: &Fixed<'_, S>,
    rows: &mut Rows<S, N>,
    blocks: &[u32],
    forces: &mut [BlockForces<S>],
    sums: &mut Sums<S>,
) {
    let (Some(&first), Some(&last)) = (blocks.first(), blocks.last()) else { return };
    let mut near = Near::new(fixed, rows, first);
    let mut total = [[S::F::splat(0.0); N]; 3];
    for n in 1..=blocks.len() {
        let next = Near::new(fixed, rows, blocks.get(n).copied().unwrap_or(last));
        let distances = Distances::new::<RULE, END, false>(fixed, &near);
        let f = radial_forces::<S, RULE, SPLIT, END, ENERGY, false, N, LJ>(fixed, rows, &distances, &ALL, sums);
        apply(&near, f, &mut total, forces);
        near = next;
    }
    rows.add(&total);
}

/// Processes the blocks without a mask that have Lennard-Jones interactions only: the blocks beyond the Coulomb cutoff,
/// or all blocks if the list entry has no Coulomb interactions.
#[inline(always)]
fn uncharged<S: Simd, const RULE: u8, const END: u8, const ENERGY: bool>(
    fixed: &Fixed<'_, S>,
    rows: &mut Rows<S, 2>,
    entry: &Entry,
    chunk: &ListChunk,
    forces: &mut [BlockForces<S>],
    sums: &mut Sums<S>,
) {
    let (both, single) = entry.uncharged();
    far::<S, RULE, END, ENERGY, 2>(fixed, rows, &chunk.plain[both], forces, sums);
    for half in 0..2 {
        let blocks = &chunk.plain[single[half].clone()];
        if blocks.is_empty() {
            continue;
        }
        // the index of the row is a constant, as in `single`
        let mut row = if half == 0 { rows.row(0) } else { rows.row(1) };
        far::<S, RULE, END, ENERGY, 1>(fixed, &mut row, blocks, forces, sums);
        if half == 0 {
            rows.add_forces(0, &row);
        } else {
            rows.add_forces(1, &row);
        }
    }
}

/// Processes a range of the blocks of [`uncharged`].
#[inline(always)]
fn far<S: Simd, const RULE: u8, const END: u8, const ENERGY: bool, const N: usize>(
    fixed: &Fixed<'_, S>,
    rows: &mut Rows<S, N>,
    blocks: &[u32],
    forces: &mut [BlockForces<S>],
    sums: &mut Sums<S>,
) {
    let cutoff_squared = S::F::splat(fixed.input.cutoff_lj_squared);
    let mut total = [[S::F::splat(0.0); N]; 3];
    for &block in blocks {
        let near = Near::new(fixed, rows, block);
        // SAFETY: the block is in range, see `positions`
        let lj = unsafe { BlockLj::load::<RULE>(fixed.input, near.block) };
        // SAFETY: the block is in range, see `positions`
        let root_c6 = unsafe { root_c6::<S, END>(fixed.input, near.block) };
        let mut f = [S::F::splat(0.0); N];
        for row in 0..N {
            let inside = near.r2[row].lt(cutoff_squared);
            let inverse = Inverse::<S>::of_far::<END>(near.r2[row]);
            let i = [rows.lj[0][row], rows.lj[1][row]];
            let mut terms = LjTerms::<S>::new::<RULE, END>(fixed, near.r2[row], &inverse, i, rows.types[row], lj);
            if END == LJ_PME {
                terms.add(&DispersionTerms::new::<false>(fixed, rows.root_c6[row] * root_c6, near.r2[row]));
            }
            if ENERGY {
                sums.lj += terms.energy.keep(inside);
            }
            f[row] = terms.force.keep(inside);
        }
        apply(&near, f, &mut total, forces);
    }
    rows.add(&total);
}

/// Returns Σ shift ⊗ force over lattice shifts: the part of the virial that Σ r⊗F over wrapped positions r does not
/// contain.
pub(super) fn shift_virial(cell: Option<&PeriodicCell>, shift_forces: &[Vec3; SHIFTS]) -> crate::vec3::Mat3 {
    let mut virial = crate::vec3::Mat3::ZERO;
    if let Some(cell) = cell {
        for (index, &force) in shift_forces.iter().enumerate() {
            if force != vec3(0.0, 0.0, 0.0) {
                virial += crate::vec3::Mat3::outer(cell.shift(shift_image(index)), force);
            }
        }
    }
    virial
}
