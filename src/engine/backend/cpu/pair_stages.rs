//! The forces of blocks without a mask in short loops, for SIMD levels whose vectors take two registers.
//!
//! On these levels the operations of one block fill the out-of-order window of a processor, and two vectors of i-atoms
//! need more registers than there are. Each loop therefore does a part of the work for a batch of blocks, so that
//! dependency chains are short, and the computations of consecutive blocks overlap. Distances are computed for both
//! vectors of i-atoms in one loop, which loads the positions of the j-atoms once. The other loops are for one vector.

use super::pair_block::{ALL, Distances, Sums, radial_forces};
use super::pair_radial::Inverse;
use super::pair_rows::{BlockForces, Fixed, Near, Rows, apply, positions};
use crate::pair::{Entry, ListChunk};
use crate::simd::{Arithmetic, Float, Simd};
use std::ops::Range;

/// Blocks per batch. Most list entries take one batch, and the intermediate results (13 kB) stay in the L1 cache.
const BATCH: usize = 32;

/// Intermediate results for the blocks of a batch.
pub(super) struct Scratch<S: Simd> {
    /// positions of the j-atoms, see [`positions`]; the two equal halves of a vector are stored once
    positions: [[[f32; 8]; 3]; BATCH],
    /// squared distances to each of the two vectors of i-atoms, nm²
    r2: [[S::F; 2]; BATCH],
    /// a power of the inverse distance ([`Inverse::packed`]) of the vector whose forces are being computed
    inverse: [S::F; BATCH],
    /// forces of each of the two vectors divided by the distances, kJ/mol/nm²; before Lennard-Jones forces, the Coulomb
    /// forces of unit charges
    force: [[S::F; 2]; BATCH],
}

impl<S: Simd> Scratch<S> {
    #[inline(always)]
    pub(super) fn zero() -> Self {
        let zero = S::F::splat(0.0);
        Scratch {
            positions: [[[0.0; 8]; 3]; BATCH],
            r2: [[zero; 2]; BATCH],
            inverse: [zero; BATCH],
            force: [[zero; 2]; BATCH],
        }
    }
}

/// Computes the forces of the blocks without a mask that have Coulomb interactions.
#[inline(always)]
pub(super) fn staged<S: Simd, const RULE: u8, const SPLIT: bool, const END: u8>(
    fixed: &Fixed<'_, S>,
    rows: &mut Rows<S, 2>,
    entry: &Entry,
    chunk: &ListChunk,
    forces: &mut [BlockForces<S>],
    scratch: &mut Scratch<S>,
) {
    // forces on the i-atoms, summed over all batches as in the kernel for energies, so that the rounding is the same
    let mut total = [[S::F::splat(0.0); 2]; 3];
    let [mut start, last] = [entry.plain[0] as usize, entry.plain[3] as usize];
    while start < last {
        let end = (start + BATCH).min(last);
        let blocks = &chunk.plain[start..end];
        squared_distances::<S, RULE>(fixed, rows, blocks, scratch);
        let within = |row: Range<usize>| row.start.clamp(start, end) - start..row.end.clamp(start, end) - start;
        let (first, second) = (within(entry.row(0)), within(entry.row(1)));
        let vectors = entry.lj_rows.vectors();
        radial::<S, RULE, SPLIT, END, 0>(fixed, rows, vectors > 0, blocks, first.clone(), scratch);
        radial::<S, RULE, SPLIT, END, 1>(fixed, rows, vectors > 1, blocks, second.clone(), scratch);
        add_forces::<S, 0>(rows, blocks, first, scratch, &mut total, forces);
        add_forces::<S, 1>(rows, blocks, second, scratch, &mut total, forces);
        start = end;
    }
    rows.add(&total);
}

/// Stores the positions of the j-atoms and the squared distances of all pairs.
#[inline(always)]
fn squared_distances<S: Simd, const RULE: u8>(
    fixed: &Fixed<'_, S>,
    rows: &Rows<S, 2>,
    blocks: &[u32],
    scratch: &mut Scratch<S>,
) {
    for k in 0..blocks.len().min(BATCH) {
        let positions = positions(fixed, rows, blocks[k]);
        for axis in 0..3 {
            positions[axis].store_low(&mut scratch.positions[k][axis]);
        }
        scratch.r2[k] = Near::at(rows, blocks[k], positions).tabulated::<RULE, false>(fixed);
    }
}

/// Stores the forces divided by the distances between the vector of i-atoms with index `HALF` and the blocks
/// `blocks[range]` of a batch. `lj` states whether the vector has Lennard-Jones interactions.
#[inline(always)]
fn radial<S: Simd, const RULE: u8, const SPLIT: bool, const END: u8, const HALF: usize>(
    fixed: &Fixed<'_, S>,
    rows: &Rows<S, 2>,
    lj: bool,
    blocks: &[u32],
    range: Range<usize>,
    scratch: &mut Scratch<S>,
) {
    assert!(range.end <= BATCH && range.end <= blocks.len());
    let row = rows.row(HALF);
    let mut sums = Sums::zero();
    macro_rules! force {
        ($lj:literal, $k:expr, $inverse:expr, $field:expr) => {{
            let (block, r2) = (blocks[$k] as usize, scratch.r2[$k][HALF]);
            let distances = Distances { block, r2: [r2], true_r2: [r2], inverse: [$inverse], field: [$field] };
            radial_forces::<S, RULE, SPLIT, END, false, false, 1, $lj>(fixed, &row, &distances, &ALL, &mut sums)
        }};
    }
    if !lj {
        for k in range {
            let (inverse, field) = fixed.force.force::<RULE, END, false>(scratch.r2[k][HALF]);
            [scratch.force[k][HALF]] = force!(0, k, inverse, field);
        }
        return;
    }
    for k in range.clone() {
        let (inverse, field) = fixed.force.force::<RULE, END, false>(scratch.r2[k][HALF]);
        (scratch.inverse[k], scratch.force[k][HALF]) = (inverse.packed::<END>(), field);
    }
    for k in range {
        let inverse = Inverse::unpacked::<END>(scratch.inverse[k]);
        [scratch.force[k][HALF]] = force!(1, k, inverse, scratch.force[k][HALF]);
    }
}

/// Adds the forces between the vector of i-atoms with index `HALF` and the blocks `blocks[range]` of a batch to the
/// forces on the j-atoms, and to `total`, the forces on the i-atoms.
#[inline(always)]
fn add_forces<S: Simd, const HALF: usize>(
    rows: &Rows<S, 2>,
    blocks: &[u32],
    range: Range<usize>,
    scratch: &Scratch<S>,
    total: &mut [[S::F; 2]; 3],
    forces: &mut [BlockForces<S>],
) {
    assert!(range.end <= BATCH && range.end <= blocks.len());
    let row = rows.row(HALF);
    let [x, y, z] = *total;
    let mut sum = [[x[HALF]], [y[HALF]], [z[HALF]]];
    for k in range {
        let [x, y, z] = &scratch.positions[k];
        let positions = [S::F::load_twice(x), S::F::load_twice(y), S::F::load_twice(z)];
        apply(&Near::at(&row, blocks[k], positions), [scratch.force[k][HALF]], &mut sum, forces);
    }
    for axis in 0..3 {
        [total[axis][HALF]] = sum[axis];
    }
}
