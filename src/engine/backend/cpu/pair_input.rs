//! Input and output of the pair kernel: arrays with one element per slot or block, tables, combination rules, sums.

use super::pair_dispersion::DispersionTables;
use super::pair_radial::ForceTable;
use crate::backend::potential::CoulombPotential;
use crate::cell::PeriodicCell;
use crate::pair::{BLOCK, Grid, RadialTable, SHIFTS};
use crate::simd::Aligned16;
use crate::term::LjSwitch;
use crate::vec3::Vec3;

/// Lower limit of r² in systems without a cutoff, nm². If overlapping atoms have a smaller r², r² is set to this limit.
pub(in crate::backend) const LOWEST_R2: f32 = 0.01 * 0.01;

/// Largest error of the force polynomials as a fraction of 1/r³, the unscreened Coulomb force divided by the distance
/// r. The tolerance equals the error of the tables, and is far below the limit of 2·10⁻⁵ for the total error.
pub(in crate::backend) const FORCE_TOLERANCE: f64 = 5e-6;
/// Largest error of the force polynomials of excluded pairs relative to the largest force. Many excluded pairs have the
/// same distance, so their errors add up. The tolerance is half of the limit of 10⁻⁶ for the total error.
const EXCLUDED_TOLERANCE: f64 = 5e-7;

/// Radial functions of the Coulomb interaction, for unit charges and unit Coulomb constant.
#[derive(Clone, Debug)]
pub(super) struct CoulombTables {
    /// −(1/r) dV/dr of the potential V of interacting pairs, 1/nm³
    pub force: ForceTable,
    /// potential V of interacting pairs, 1/nm
    pub energy: RadialTable,
    /// −(1/r) dV/dr of the correction V of excluded pairs, 1/nm³
    pub excluded_force: ForceTable,
    /// correction V of excluded pairs, minus its value at distance zero, 1/nm
    pub excluded_energy: RadialTable,
}

impl CoulombTables {
    /// Tabulates a potential; all functions are zero without a cutoff, where the kernel computes 1/r.
    pub(super) fn new(coulomb: &CoulombPotential, cutoff: Option<f64>) -> Self {
        let Some(cutoff) = cutoff else {
            let (force, energy) = (ForceTable::zero(LOWEST_R2), RadialTable::zero(LOWEST_R2));
            return CoulombTables {
                force: force.clone(),
                energy: energy.clone(),
                excluded_force: force,
                excluded_energy: energy,
            };
        };
        let at_contact = coulomb.excluded_at_contact();
        let excluded = |r: f64| coulomb.excluded(1.0, r * r).0;
        CoulombTables {
            force: ForceTable::new(&|r| coulomb.interacting(1.0, r * r).0, &|r| r.powi(-3), FORCE_TOLERANCE, cutoff),
            energy: RadialTable::new(&|r| coulomb.interacting(1.0, r * r).1, cutoff),
            excluded_force: ForceTable::finite(&excluded, EXCLUDED_TOLERANCE, cutoff),
            excluded_energy: RadialTable::finite(&|r| coulomb.excluded(1.0, r * r).1 - at_contact, cutoff),
        }
    }
}

/// Input of the pair kernel.
#[derive(Clone, Copy)]
pub(super) struct PairInput<'a> {
    pub grid: &'a Grid,
    pub cell: Option<&'a PeriodicCell>,
    /// offsets (nm) of the atoms of each block from the center of the block: eight x, eight y, eight z
    pub packed: &'a [[f32; 24]],
    /// charges times √(Coulomb constant), one per slot
    pub charges: &'a [[f32; 8]],
    /// Lennard-Jones parameters of each block for combination rules: the first parameters of eight atoms, then their
    /// second parameters
    pub lj: &'a [[f32; 16]],
    /// Lennard-Jones types, one per slot: integers, stored as the bits of floats
    pub slot_types: &'a [[f32; 8]],
    /// coefficients (6 c6, 12 c12) of pairs of types, in rows of `types` elements
    pub type_table: &'a [[f32; 2]],
    pub types: usize,
    /// coefficients (4 c4, 0) of pairs of types, in rows of `types` elements; empty without 12-6-4 ions
    pub c4_table: &'a [[f32; 2]],
    /// a row of 6 c6 and a row of 12 c12 for each type, for register permutations; used by the rules `ROWS_OF_…`
    pub type_rows: &'a [Aligned16],
    pub coulomb: &'a CoulombTables,
    /// squares of the Coulomb and Lennard-Jones cutoffs, nm²
    pub cutoff_squared: f32,
    pub cutoff_lj_squared: f32,
    /// 1/cutoff_lj⁶ with a potential shift, otherwise 0, nm⁻⁶
    pub lj_shift: f32,
    /// 1/cutoff_lj⁴ with a potential shift, otherwise 0, nm⁻⁴
    pub c4_shift: f32,
    /// Lennard-Jones switch, for kernels with a switch
    pub lj_switch: Option<LjSwitch<f64>>,
    /// √c6 of each slot, and radial functions, for kernels with LJ-PME
    pub dispersion: &'a [[f32; 8]],
    pub dispersion_tables: Option<&'a DispersionTables>,
}

/// Output of one work partition of the list: energies (kJ/mol), and the sum of the forces on i-atoms for each lattice
/// shift (kJ/mol/nm).
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

/// Returns elements 8k to 8k+7 of a block's array.
#[inline(always)]
pub(super) fn eight<const N: usize>(values: &[f32; N], k: usize) -> &[f32; 8] {
    match values[k * BLOCK..(k + 1) * BLOCK].try_into() {
        Ok(lanes) => lanes,
        Err(_) => unreachable!("a slice of eight"),
    }
}
