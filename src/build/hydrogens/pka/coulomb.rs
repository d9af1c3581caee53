//! Shifts of pKa values by Coulomb interactions of charged groups and ions.
//!
//! Two unit charges at the distance r shift a pKa by 244.12 Å / (ε r) · s(r), with the relative permittivity ε and a
//! switching function s(r). The relative permittivity ε is between 160 for pairs on the surface and 30 for buried
//! pairs, and s(r) decreases from 1 at 0.4 nm to 0 at 1 nm (Olsson et al. 2011, doi:10.1021/ct100578z). The constant
//! 244.12 Å is that of PROPKA 3.5.1: e²/(4πε₀ kT ln 10) near 297 K.

use md_engine::neighbours::Neighbours;
use md_engine::vec3::Vec3;

use super::Shifts;
use super::burial::{Burial, FEWEST, HeavyAtoms};
use super::groups::Group;
use crate::ion_charges::ion_charge;
use crate::structure::Structure;

/// Product of distance and pKa shift for a unit charge in vacuum, nm.
const STRENGTH: f64 = 24.412;
/// Relative permittivities: first for pairs on the surface, then for buried pairs.
const ON_SURFACE: f64 = 160.0;
const BURIED: f64 = 30.0;
/// Distances (nm) at which the switching function s(r) begins to decrease, and at which s(r) becomes zero. Pairs at a
/// distance below `NEAR` have the same shift as pairs at the distance `NEAR`.
const NEAR: f64 = 0.4;
pub(super) const FAR: f64 = 1.0;

/// An ion of the structure.
pub(super) struct Ion {
    pub(super) position: Vec3,
    /// charge, e
    pub(super) charge: f64,
    pub(super) burial: Burial,
}

/// Returns the monatomic ions of a structure.
pub(super) fn ions(structure: &Structure, positions: &[Vec3], atoms: &HeavyAtoms) -> Vec<Ion> {
    let ion = |residue: usize| {
        let name = structure.residues[residue].name.as_str();
        let charge = ion_charge(name)?;
        let atom = structure.residue_atoms(residue).next()?;
        let position = positions[atom];
        Some(Ion { position, charge, burial: atoms.around(position, residue) })
    };
    (0..structure.residues.len()).filter_map(ion).collect()
}

/// Computes the pKa shifts by interactions with ions, and adds them to the shifts of all groups. A positive ion lowers
/// the pKa of acids and of bases.
pub(super) fn add_ions(groups: &[Group], burials: &[Burial], ions: &[Ion], shifts: &mut [Shifts]) {
    let positions: Vec<Vec3> = ions.iter().map(|ion| ion.position).collect();
    let near = Neighbours::new(None, &positions, FAR);
    for ((group, burial), shift) in groups.iter().zip(burials).zip(shifts) {
        if group.ionizable.is_none() {
            continue;
        }
        near.visit(group.center, |ion, displacement| {
            let ion = &ions[ion as usize];
            let weight = Burial::pair_weight([burial, &ion.burial]);
            shift.ions -= ion.charge * energy(displacement.norm(), weight);
        });
    }
}

/// Returns the magnitude of the pKa shift by the interaction of two ionisable groups at a distance (nm). The shift is
/// zero if only a few heavy atoms surround the two groups.
pub(super) fn between(distance: f64, burials: [&Burial; 2]) -> f64 {
    if burials[0].count + burials[1].count < FEWEST {
        return 0.0;
    }
    energy(distance, Burial::pair_weight(burials))
}

/// Returns the shift of a pKa by a unit charge at a distance (nm). `weight` is the burial weight of the pair, from 0 to
/// 1.
fn energy(distance: f64, weight: f64) -> f64 {
    let permittivity = ON_SURFACE - (ON_SURFACE - BURIED) * weight;
    let distance = distance.max(NEAR);
    let scale = ((FAR - distance) / (FAR - NEAR)).clamp(0.0, 1.0);
    STRENGTH / (permittivity * distance) * scale
}
