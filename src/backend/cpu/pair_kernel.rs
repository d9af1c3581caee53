//! The non-bonded kernel: one text for every instruction set, combination rule and output.
//!
//! An i-cluster's four atoms lie in two vectors (atoms 0, 1 and atoms 2, 3, each over eight lanes); a j-block of eight
//! atoms is loaded twice into each vector, and meets both or only one of them. Per sixteen pairs, with r² from
//! block-relative offsets:
//!
//! F/r = q_i q_j f(r²) + LJ, f from a [`RadialTable`] as the level evaluates it ([`Radial`]), LJ from 1/r².
//!
//! Forces of i sum in registers, forces of j go to the thread's force blocks. Energies are computed by the same
//! arithmetic with additional tables, so that asking for them does not change the forces.

use super::pair_lj::{LjTerms, TYPE_TABLE, UNLIMITED};
use super::pair_radial::{Inverse, Radial};
use super::pair_rows::{Near, Rows, apply, eight};
use crate::cell::PeriodicCell;
use crate::pair::{Entry, Grid, ListChunk, LjRows, MaskedPair, RadialTable, SHIFTS, shift_image};
use crate::simd::{Float, Kernel, Simd};
use crate::vec3::{Vec3, vec3};
use std::ops::Range;

/// Radial functions of the Coulomb interaction, for unit charges and unit Coulomb constant.
#[derive(Clone, Debug)]
pub(in crate::backend) struct CoulombTables {
    /// −(1/r) dV/dr of interacting pairs, 1/nm³
    pub force: RadialTable,
    /// V of interacting pairs, 1/nm
    pub energy: RadialTable,
    /// −(1/r) dV/dr of the correction of excluded pairs
    pub excluded_force: RadialTable,
    /// V of the correction of excluded pairs
    pub excluded_energy: RadialTable,
}

/// Everything a kernel reads.
#[derive(Clone, Copy)]
pub(super) struct PairInput<'a> {
    pub grid: &'a Grid,
    pub cell: Option<&'a PeriodicCell>,
    /// offsets x×8 y×8 z×8 of each block
    pub packed: &'a [[f32; 24]],
    /// charges times √Coulomb constant, by slot
    pub charges: &'a [[f32; 8]],
    /// two Lennard-Jones parameters ×8 of each block; for [`TYPE_TABLE`] the type indices as floats
    pub lj: &'a [[f32; 16]],
    /// (6 c6, 12 c12) of type pairs, `types` to a row, for [`TYPE_TABLE`] and [`UNLIMITED`]
    pub type_table: &'a [[f32; 2]],
    pub types: usize,
    pub coulomb: &'a CoulombTables,
    /// squares of the cutoffs, nm²
    pub cutoff_squared: f32,
    pub cutoff_lj_squared: f32,
    /// 1/cutoff_lj⁶ where the potential is shifted to zero there, else 0
    pub lj_shift: f32,
}

/// Energies (kJ/mol) and forces on the lattice shifts (kJ/mol/nm) of one part of the list.
#[derive(Clone, Copy, Debug)]
pub(super) struct PairOutput {
    pub lj: f64,
    pub coulomb: f64,
    pub shift_forces: [Vec3; SHIFTS],
}

impl Default for PairOutput {
    fn default() -> Self {
        PairOutput { lj: 0.0, coulomb: 0.0, shift_forces: [Vec3::ZERO; SHIFTS] }
    }
}

/// The kernel over a range of chunks, adding to `forces` (layout of `packed`). `SPLIT`: the two cutoffs differ.
pub(super) struct PairKernel<'a, const RULE: u8, const SPLIT: bool, const ENERGY: bool> {
    pub input: PairInput<'a>,
    pub chunks: &'a [ListChunk],
    pub range: Range<usize>,
    pub forces: &'a mut [[f32; 24]],
    pub output: &'a mut PairOutput,
}

impl<const RULE: u8, const SPLIT: bool, const ENERGY: bool> Kernel for PairKernel<'_, RULE, SPLIT, ENERGY> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self) {
        let PairKernel { input, chunks, range, forces, output } = self;
        let blocks = input.grid.blocks();
        assert!(input.packed.len() == blocks && input.charges.len() == blocks && input.lj.len() == blocks);
        assert!(forces.len() == blocks && input.grid.centres.len() == blocks);
        let fixed = Fixed::<S>::new(&input);
        for chunk in &chunks[range] {
            for entry in &chunk.entries {
                let mut rows = Rows::<S, 2>::load(&input, entry);
                let mut sums = Sums::<S>::zero();
                for pair in &chunk.masked[entry.masked[0] as usize..entry.masked[1] as usize] {
                    let near = Near::new(&fixed, &rows, pair.block);
                    let f = radial_forces::<S, RULE, SPLIT, ENERGY, true, 2, 2>(&fixed, &rows, &near, pair, &mut sums);
                    apply(&near, f, &mut rows.force, forces);
                }
                // with energies one text serves all rows: parameters of atoms without Lennard-Jones are zero
                macro_rules! both_rows {
                    ($lj:literal) => {
                        plain::<S, RULE, SPLIT, ENERGY, 2, $lj>(
                            &fixed,
                            &mut rows,
                            &chunk.plain[entry.both()],
                            forces,
                            &mut sums,
                        )
                    };
                }
                match entry.lj_rows {
                    _ if !S::TABLES => {}
                    LjRows::Half if !ENERGY => both_rows!(1),
                    LjRows::None if !ENERGY => both_rows!(0),
                    _ => both_rows!(2),
                }
                for (half, blocks) in one_row_at_a_time::<S>(entry) {
                    let blocks = &chunk.plain[blocks];
                    if !blocks.is_empty() {
                        let mut row = rows.row(half);
                        if ENERGY || half < entry.lj_rows.vectors() {
                            plain::<S, RULE, SPLIT, ENERGY, 1, 1>(&fixed, &mut row, blocks, forces, &mut sums);
                        } else {
                            plain::<S, RULE, SPLIT, ENERGY, 1, 0>(&fixed, &mut row, blocks, forces, &mut sums);
                        }
                        rows.add_forces(half, &row);
                    }
                }
                let far_blocks = &chunk.plain[entry.far()];
                if SPLIT && !far_blocks.is_empty() {
                    if entry.lj_rows == LjRows::All {
                        far::<S, RULE, ENERGY, 2>(&fixed, &mut rows, far_blocks, forces, &mut sums);
                    } else {
                        let mut row = rows.row(0);
                        far::<S, RULE, ENERGY, 1>(&fixed, &mut row, far_blocks, forces, &mut sums);
                        rows.add_forces(0, &row);
                    }
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

/// The vectors of atoms and the blocks that meet one alone. A level without registers for tables has none for two
/// vectors at a time either, and takes one after the other past all blocks.
#[inline(always)]
fn one_row_at_a_time<S: Simd>(entry: &Entry) -> [(usize, Range<usize>); 3] {
    let (both, first, second) = (entry.both(), entry.single(0), entry.single(1));
    // the blocks of the first vector alone follow those of both
    if S::TABLES { [(0, first), (1, second), (1, 0..0)] } else { [(0, both.start..first.end), (1, both), (1, second)] }
}

/// What stays the same from pair to pair: constants in registers, and arrays whose addresses the compiler need not
/// fetch again after each store to the forces.
pub(super) struct Fixed<'a, S: Simd> {
    input: &'a PairInput<'a>,
    pub(super) packed: &'a [[f32; 24]],
    pub(super) centres: &'a [[f32; 3]],
    charges: &'a [[f32; 8]],
    lj: &'a [[f32; 16]],
    force: Radial<'a, S>,
    lowest: S::F,
    cutoff_squared: S::F,
}

impl<'a, S: Simd> Fixed<'a, S> {
    #[inline(always)]
    fn new(input: &'a PairInput<'a>) -> Self {
        Fixed {
            input,
            packed: input.packed,
            centres: &input.grid.centres,
            charges: input.charges,
            lj: input.lj,
            force: Radial::new(&input.coulomb.force),
            lowest: S::F::splat(input.coulomb.force.lowest),
            cutoff_squared: S::F::splat(input.cutoff_squared),
        }
    }
}

/// Energy sums of one entry.
struct Sums<S: Simd> {
    lj: S::F,
    coulomb: S::F,
}

impl<S: Simd> Sums<S> {
    #[inline(always)]
    fn zero() -> Self {
        Sums { lj: S::F::splat(0.0), coulomb: S::F::splat(0.0) }
    }
}

/// Blocks all of whose pairs interact. `LJ` of the `N` vectors have Lennard-Jones interactions. The distances of the
/// next block are computed beside the forces of this one: the chain of either alone is longer than what the
/// processor looks ahead.
#[inline(always)]
fn plain<S: Simd, const RULE: u8, const SPLIT: bool, const ENERGY: bool, const N: usize, const LJ: usize>(
    fixed: &Fixed<'_, S>,
    rows: &mut Rows<S, N>,
    blocks: &[u32],
    forces: &mut [[f32; 24]],
    sums: &mut Sums<S>,
) {
    let Some((&first, &last)) = blocks.first().zip(blocks.last()) else { return };
    let pair = MaskedPair { block: 0, interacting: u32::MAX, excluded: 0 };
    let mut near = Near::new(fixed, rows, first);
    let mut total = [[S::F::splat(0.0); N]; 3];
    for n in 1..=blocks.len() {
        let next = Near::new(fixed, rows, blocks.get(n).copied().unwrap_or(last));
        let f = radial_forces::<S, RULE, SPLIT, ENERGY, false, N, LJ>(fixed, rows, &near, &pair, sums);
        apply(&near, f, &mut total, forces);
        near = next;
    }
    rows.add(&total);
}

/// Blocks that only Lennard-Jones interactions reach.
#[inline(always)]
fn far<S: Simd, const RULE: u8, const ENERGY: bool, const N: usize>(
    fixed: &Fixed<'_, S>,
    rows: &mut Rows<S, N>,
    blocks: &[u32],
    forces: &mut [[f32; 24]],
    sums: &mut Sums<S>,
) {
    let cutoff_squared = S::F::splat(fixed.input.cutoff_lj_squared);
    let mut total = [[S::F::splat(0.0); N]; 3];
    for &block in blocks {
        let near = Near::new(fixed, rows, block);
        // SAFETY: as in `Near::new`
        let parameters = unsafe { fixed.lj.get_unchecked(near.block) };
        let lj = lj_of_block::<S, RULE>(parameters);
        let mut f = [S::F::splat(0.0); N];
        for row in 0..N {
            let inside = near.r2[row].lt(cutoff_squared);
            let inverse2 = near.r2[row].recip_fast();
            let i = [rows.lj[0][row], rows.lj[1][row]];
            let terms = LjTerms::<S>::new::<RULE>(fixed.input, inverse2, i, lj, rows.types[row], parameters);
            if ENERGY {
                sums.lj += terms.energy::<RULE>(fixed.input).keep(inside);
            }
            f[row] = (terms.force * inverse2).keep(inside);
        }
        apply(&near, f, &mut total, forces);
    }
    rows.add(&total);
}

/// Parameters of a block's atoms, where they belong to atoms.
#[inline(always)]
fn lj_of_block<S: Simd, const RULE: u8>(parameters: &[f32; 16]) -> [S::F; 2] {
    if RULE < TYPE_TABLE {
        [S::F::load_twice(eight(parameters, 0)), S::F::load_twice(eight(parameters, 1))]
    } else {
        [S::F::splat(0.0); 2]
    }
}

/// Forces over distance of i-atoms and a block, kJ/mol/nm². `LJ` of the `N` vectors have Lennard-Jones interactions.
#[inline(always)]
fn radial_forces<
    S: Simd,
    const RULE: u8,
    const SPLIT: bool,
    const ENERGY: bool,
    const MASKED: bool,
    const N: usize,
    const LJ: usize,
>(
    fixed: &Fixed<'_, S>,
    rows: &Rows<S, N>,
    near: &Near<S, N>,
    pair: &MaskedPair,
    sums: &mut Sums<S>,
) -> [S::F; N] {
    let input = fixed.input;
    // SAFETY: as in `Near::new`
    let (charge, parameters) = unsafe { (fixed.charges.get_unchecked(near.block), fixed.lj.get_unchecked(near.block)) };
    let zero = S::F::splat(0.0);
    let charge = S::F::load_twice(charge);
    let lj = if LJ > 0 { lj_of_block::<S, RULE>(parameters) } else { [zero; 2] };
    let mut forces = [zero; N];
    for row in 0..N {
        let true_r2 = near.r2[row];
        let mut inside = true_r2.lt(fixed.cutoff_squared);
        let mut inside_lj = if SPLIT { true_r2.lt(S::F::splat(input.cutoff_lj_squared)) } else { inside };
        if MASKED {
            let interacting = S::F::mask((pair.interacting >> (16 * row)) as u16);
            inside = S::F::and(inside, interacting);
            inside_lj = S::F::and(inside_lj, interacting);
        }
        let r2 = true_r2.max(fixed.lowest);
        let charges = rows.charge[row] * charge;
        let inverse = Inverse::<S>::new::<RULE>(r2);
        let radial = fixed.force.interacting::<RULE>(r2, &inverse, true);
        if ENERGY {
            let energy = Radial::<S>::new(&input.coulomb.energy).interacting::<RULE>(r2, &inverse, false);
            sums.coulomb += (charges * energy).keep(inside);
        }
        forces[row] = if row < LJ {
            let i = [rows.lj[0][row], rows.lj[1][row]];
            let inverse2 = inverse.square;
            let terms = LjTerms::<S>::new::<RULE>(input, inverse2, i, lj, rows.types[row], parameters);
            if ENERGY {
                sums.lj += terms.energy::<RULE>(input).keep(inside_lj);
            }
            if SPLIT {
                charges.mul_add(radial.keep(inside), (terms.force * inverse2).keep(inside_lj))
            } else {
                charges.mul_add(radial, terms.force * inverse2).keep(inside)
            }
        } else {
            (charges * radial).keep(inside)
        };
        if ENERGY {
            // below the lowest distance the force f·d is that of ½ f (lowest² − r²): minimisers need both to agree
            sums.lj += forces[row] * (S::F::splat(0.5) * (r2 - true_r2));
        }
        let excluded_bits = (pair.excluded >> (16 * row)) as u16;
        if MASKED && RULE != UNLIMITED && excluded_bits != 0 {
            let excluded = S::F::mask(excluded_bits);
            let force = Radial::<S>::new(&input.coulomb.excluded_force).smooth(r2, true);
            forces[row] += (charges * force).keep(excluded);
            if ENERGY {
                let energy = Radial::<S>::new(&input.coulomb.excluded_energy).smooth(r2, false);
                sums.coulomb += (charges * energy).keep(excluded);
            }
        }
    }
    forces
}

/// Σ shift ⊗ force over lattice shifts: the part of the virial that positions of the home image miss.
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
