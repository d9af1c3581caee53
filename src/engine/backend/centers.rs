//! Sums over constraint groups (atoms connected by constraints) for barostats: see [`crate::ensemble::barostat`].

use crate::vec3::Vec3;

/// Sums over all constraint groups, along x, y and z, in kJ/mol. M, R and V are the mass, the center of mass and the
/// velocity of the center of mass of a group.
#[derive(Clone, Copy, Default)]
pub(super) struct GroupSums {
    /// kinetic energies ½ Σ M V² (kJ/mol) of groups with mass M and center-of-mass velocity V, half a step before the
    /// forces, and (next field) half a step after the forces
    pub(super) before: Vec3,
    pub(super) after: Vec3,
    /// ½ Σ M V(t−½dt) V(t+½dt) for forces at time t, with the mass M and the velocity V of each group center, kJ/mol
    pub(super) cross: Vec3,
    /// Σ (r−R) F over the atoms of all groups, with the position r and the force F of an atom and the center of mass R
    /// of its group, kJ/mol
    pub(super) internal_virial: Vec3,
}

impl std::ops::Add for GroupSums {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        GroupSums {
            before: self.before + other.before,
            after: self.after + other.after,
            cross: self.cross + other.cross,
            internal_virial: self.internal_virial + other.internal_virial,
        }
    }
}

/// Returns the total mass, momentum and force of `atoms`.
pub(super) fn totals(atoms: &[u32], masses: &[f64], velocities: &[Vec3], forces: &[Vec3]) -> (f64, Vec3, Vec3) {
    atoms.iter().map(|&atom| atom as usize).fold((0.0, Vec3::ZERO, Vec3::ZERO), |(mass, momentum, force), atom| {
        (mass + masses[atom], momentum + velocities[atom] * masses[atom], force + forces[atom])
    })
}

/// Returns the center of mass of `atoms`.
pub(super) fn center_of(atoms: &[u32], masses: &[f64], positions: &[Vec3]) -> Vec3 {
    if let &[atom] = atoms {
        return positions[atom as usize];
    }
    let mass: f64 = atoms.iter().map(|&atom| masses[atom as usize]).sum();
    atoms.iter().map(|&atom| positions[atom as usize] * masses[atom as usize]).sum::<Vec3>() / mass
}

/// Returns Σ (r−R) F along x, y and z over the `atoms`, where r and F are the position and the force of an atom, and R
/// is `center`.
pub(super) fn internal_virial(atoms: &[u32], center: Vec3, positions: &[Vec3], forces: &[Vec3]) -> Vec3 {
    if atoms.len() == 1 {
        return Vec3::ZERO;
    }
    atoms.iter().map(|&atom| (positions[atom as usize] - center).stretched(forces[atom as usize])).sum()
}
