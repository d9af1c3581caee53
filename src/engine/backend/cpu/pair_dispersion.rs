//! LJ-PME in the pair kernel: corrections for the dispersion that the mesh includes for pairs within the cutoff and for
//! excluded pairs.

use super::pair_radial::{ForceTable, Radial, energy};
use super::pair_rows::Fixed;
use crate::backend::potential::DispersionPotential;
use crate::pair::RadialTable;
use crate::simd::{Arithmetic, Simd};
use crate::system::System;

/// Largest error of the force polynomials relative to the largest value of the approximated force. The largest value of
/// the approximated force is far smaller than the force of a pair in contact.
const TOLERANCE: f64 = 5e-7;

/// LJ-PME parameters of one system.
pub(super) struct LjPme {
    pub(super) potential: DispersionPotential,
    pub(super) tables: DispersionTables,
    /// √c6, one per Lennard-Jones type
    of_types: Vec<f32>,
    /// √c6, one per atom
    pub(super) charges: Vec<f32>,
}

impl LjPme {
    /// Returns the LJ-PME parameters of a system; `None` without LJ-PME.
    pub(super) fn new(system: &System) -> Option<Self> {
        let potential = DispersionPotential::new(&system.settings)?;
        let of_types: Vec<f32> =
            (0..system.nonbonded.types as u32).map(|lj_type| system.nonbonded.root_c6(lj_type) as f32).collect();
        Some(LjPme {
            tables: DispersionTables::new(&potential, system.settings.longest_cutoff()),
            potential,
            charges: system.topology.atoms.iter().map(|atom| of_types[atom.lj_type as usize]).collect(),
            of_types,
        })
    }

    /// Replaces the atoms of the system by atoms with the given Lennard-Jones types.
    pub(super) fn select(&mut self, lj_types: &[u32]) {
        self.charges.clear();
        self.charges.extend(lj_types.iter().map(|&lj_type| self.of_types[lj_type as usize]));
    }
}

/// Radial functions of excluded pairs with √(c6_i c6_j) = 1. For interacting pairs the kernel subtracts the potential
/// shift from the energy.
#[derive(Clone, Debug)]
pub(super) struct DispersionTables {
    /// −(1/r) dV/dr of the correction V of excluded pairs, nm⁻⁸
    force: ForceTable,
    /// correction V of excluded pairs, nm⁻⁶
    energy: RadialTable,
    /// potential shift of interacting pairs, nm⁻⁶
    shift: f32,
}

impl DispersionTables {
    fn new(potential: &DispersionPotential, largest: f64) -> Self {
        DispersionTables {
            force: ForceTable::finite(&|r| potential.excluded(1.0, r * r).0, TOLERANCE, largest),
            energy: RadialTable::finite(&|r| potential.excluded(1.0, r * r).1, largest),
            shift: potential.shift() as f32,
        }
    }
}

/// Energy and force (divided by the distance) of excluded pairs, and the potential shift of interacting pairs. The
/// compiler eliminates the energies if they are not used.
pub(super) struct DispersionTerms<S: Simd> {
    pub(super) force: S::F,
    pub(super) energy: S::F,
    pub(super) shift: S::F,
}

impl<S: Simd> DispersionTerms<S> {
    /// Computes the terms of pairs whose √(c6_i c6_j) is `product`. The dispersion force is the square of a polynomial
    /// on every SIMD level, because the registers have room only for the table of the Coulomb force.
    #[inline(always)]
    pub(super) fn new<const MASKED: bool>(fixed: &Fixed<'_, S>, product: S::F, r2: S::F) -> Self {
        let tables = fixed.input.dispersion_tables.expect("kernels with LJ-PME have dispersion tables");
        DispersionTerms {
            force: product * Radial::<S>::new(&tables.force).square(r2),
            energy: product * energy::<S, MASKED>(r2, &tables.energy),
            shift: product * S::F::splat(tables.shift),
        }
    }
}
