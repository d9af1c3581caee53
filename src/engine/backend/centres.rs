//! Groups of atoms that constraints hold together, as barostats see them: [`crate::ensemble::barostat`].

use crate::vec3::Vec3;

/// Sums over all groups of atoms that constraints hold together, along x, y, z, kJ/mol.
#[derive(Clone, Copy, Default)]
pub(super) struct GroupSums {
    /// kinetic energies of the centres, half a step before and after the time of the forces
    pub(super) before: Vec3,
    pub(super) after: Vec3,
    /// ½ Σ M V(t−½) V(t+½)
    pub(super) cross: Vec3,
    /// Σ (r−R) F
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

/// Mass, momentum, and force of some atoms.
pub(super) fn totals(atoms: &[u32], masses: &[f64], velocities: &[Vec3], forces: &[Vec3]) -> (f64, Vec3, Vec3) {
    atoms.iter().map(|&atom| atom as usize).fold((0.0, Vec3::ZERO, Vec3::ZERO), |(mass, momentum, force), atom| {
        (mass + masses[atom], momentum + velocities[atom] * masses[atom], force + forces[atom])
    })
}

/// Their centre of mass.
pub(super) fn centre_of(atoms: &[u32], masses: &[f64], positions: &[Vec3]) -> Vec3 {
    if let &[atom] = atoms {
        return positions[atom as usize];
    }
    let mass: f64 = atoms.iter().map(|&atom| masses[atom as usize]).sum();
    atoms.iter().map(|&atom| positions[atom as usize] * masses[atom as usize]).sum::<Vec3>() / mass
}

/// Σ (r−R) F of some atoms about their centre R, along x, y, z.
pub(super) fn internal_virial(atoms: &[u32], centre: Vec3, positions: &[Vec3], forces: &[Vec3]) -> Vec3 {
    if atoms.len() == 1 {
        return Vec3::ZERO;
    }
    atoms.iter().map(|&atom| (positions[atom as usize] - centre).stretched(forces[atom as usize])).sum()
}
