//! Motion of the whole system: the velocity of the center of mass, and in vacuum also the rotation about the center of
//! mass.
//!
//! Work of a removal. The energy at t is U + ½ (K(t−½) + K(t+½)), with the potential energy U and the kinetic energies
//! K of both half steps. The velocities v(t+½) lose the motion u of the whole system after the atoms have moved to
//! x(t+dt). The energy at t+dt is therefore smaller by K(u) + ½ dt Σ u·F(t+dt), where K(u) is the kinetic energy of u.
//! The sum Σ u·F is zero if no force acts on the motion u, that is, if the total force and, for a rotation, the total
//! torque are zero. The kinetic energy K(u) is subtracted from the work of the thermostat, so that the conserved
//! energy does not change. `md check` warns of position restraints with a removal, because these restraints act on the
//! motion u.

use nalgebra::{Matrix3, SymmetricEigen, Vector3};

use crate::vec3::{Vec3, vec3};

/// A principal moment of inertia below this fraction of the largest moment counts as zero, because all atoms then lie
/// on one axis. In an exactly linear molecule, rounding errors make the smallest moment about 1e-16 of the largest
/// moment. In a molecule that is bent by 0.01°, the smallest moment is about 1e-8 of the largest moment.
pub(crate) const LINEAR: f64 = 1e-12;

/// Mass-weighted mean of `vectors`: the center of mass for positions, and the velocity of the center of mass for
/// velocities. The mean is zero if the total mass is zero.
pub fn weighted_mean(masses: &[f64], vectors: &[Vec3]) -> Vec3 {
    let total: f64 = masses.iter().sum();
    if total == 0.0 {
        return Vec3::ZERO;
    }
    masses.iter().zip(vectors).map(|(&m, &v)| v * m).sum::<Vec3>() / total
}

/// Momentum along x, y, z in amu nm/ps, and total mass in amu.
pub fn momentum(masses: &[f64], velocities: &[Vec3]) -> [f64; 4] {
    let Vec3 { x, y, z } = masses.iter().zip(velocities).map(|(&m, &v)| v * m).sum::<Vec3>();
    [x, y, z, masses.iter().sum()]
}

/// Subtracts the velocity V = p/M from the velocity of each atom, where p is the momentum and M the mass of the whole
/// system. `velocities` may contain only some of the atoms. Returns the kinetic energy ½ M V² (kJ/mol) that is removed
/// from the whole system. Massless sites are unchanged.
pub fn remove_velocity([x, y, z, mass]: [f64; 4], masses: &[f64], velocities: &mut [Vec3]) -> f64 {
    if mass == 0.0 {
        return 0.0;
    }
    let velocity = vec3(x, y, z) / mass;
    for (v, _) in velocities.iter_mut().zip(masses).filter(|(_, m)| **m > 0.0) {
        *v -= velocity;
    }
    0.5 * mass * velocity.norm_squared()
}

/// Removes the velocity of the center of mass. Returns the removed kinetic energy in kJ/mol. Massless sites are
/// unchanged.
pub fn remove_translation(masses: &[f64], velocities: &mut [Vec3]) -> f64 {
    remove_velocity(momentum(masses, velocities), masses, velocities)
}

/// Angular velocity ω (rad/ps) of the whole system about its center of mass, which is the solution of I ω = L with the
/// tensor of inertia I and the angular momentum L. For a linear molecule ω is the least-squares solution.
pub fn angular_velocity(masses: &[f64], positions: &[Vec3], velocities: &[Vec3]) -> Vec3 {
    let center = weighted_mean(masses, positions);
    let center_velocity = weighted_mean(masses, velocities);
    let mut inertia = Matrix3::zeros();
    let mut momentum = Vec3::ZERO;
    for ((&m, &r), &v) in masses.iter().zip(positions).zip(velocities) {
        let r = r - center;
        momentum += r.cross(v - center_velocity) * m;
        let column = Vector3::from(r.to_array());
        inertia += (Matrix3::identity() * column.norm_squared() - column * column.transpose()) * m;
    }
    let principal = SymmetricEigen::new(inertia);
    let smallest = LINEAR * principal.eigenvalues.max();
    let along = principal.eigenvectors.transpose() * Vector3::from(momentum.to_array());
    let turned = Vector3::from_fn(|i, _| {
        let moment = principal.eigenvalues[i];
        if moment > smallest { along[i] / moment } else { 0.0 }
    });
    let omega = principal.eigenvectors * turned;
    vec3(omega.x, omega.y, omega.z)
}

/// Removes the velocity of the center of mass and the rotation about the center of mass. The system must have no
/// periodic cell. Returns the removed kinetic energy in kJ/mol.
pub fn remove_translation_and_rotation(masses: &[f64], positions: &[Vec3], velocities: &mut [Vec3]) -> f64 {
    let translation = remove_translation(masses, velocities);
    let center = weighted_mean(masses, positions);
    let omega = angular_velocity(masses, positions, velocities);
    let mut rotation = 0.0;
    for ((v, r), &m) in velocities.iter_mut().zip(positions).zip(masses).filter(|(_, m)| **m > 0.0) {
        let turning = omega.cross(*r - center);
        // rigid rotation is orthogonal to all other motion in the mass-weighted metric, so that the kinetic energies of
        // rotation and of other motion add up
        rotation += 0.5 * m * turning.norm_squared();
        *v -= turning;
    }
    translation + rotation
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ensemble::velocities::{kinetic_energy, maxwell_boltzmann};

    /// Tolerance of sums over fifty atoms with coordinates of 1 nm and velocities of 1 nm/ps, whose rounding errors are
    /// a few 1e-14.
    const ROUNDING: f64 = 1e-12;

    fn angular_momentum(masses: &[f64], positions: &[Vec3], velocities: &[Vec3]) -> Vec3 {
        let center = weighted_mean(masses, positions);
        (0..masses.len()).map(|i| (positions[i] - center).cross(velocities[i]) * masses[i]).sum()
    }

    #[test]
    fn nothing_is_left_and_energies_add() {
        let masses: Vec<f64> = (0..50).map(|i| if i == 7 { 0.0 } else { 1.0 + f64::from(i % 5) }).collect();
        let positions: Vec<Vec3> =
            (0..50).map(|i| maxwell_boltzmann(5, 1, i, 2.0, 240.0) + vec3(3.0, 0.0, 1.0)).collect();
        let mut velocities: Vec<Vec3> =
            (0..50).map(|i| maxwell_boltzmann(6, 1, i, masses[i as usize], 300.0) + vec3(0.2, -1.0, 0.5)).collect();
        let before = kinetic_energy(&masses, &velocities);
        let removed = remove_translation_and_rotation(&masses, &positions, &mut velocities);
        assert!(weighted_mean(&masses, &velocities).norm() < ROUNDING);
        assert!(angular_momentum(&masses, &positions, &velocities).norm() < 100.0 * ROUNDING);
        assert!((before - removed - kinetic_energy(&masses, &velocities)).abs() < before * ROUNDING);
        assert!(removed > 1.0);
        assert_eq!(weighted_mean(&[0.0], &[vec3(1.0, 0.0, 0.0)]), Vec3::ZERO);
    }

    #[test]
    fn rigid_rotation_is_found_exactly_and_a_linear_molecule_does_not_blow_up() {
        let omega = vec3(0.3, -0.2, 0.9);
        let positions = [vec3(0.0, 0.0, 0.0), vec3(0.1, 0.0, 0.0), vec3(0.0, 0.2, 0.0), vec3(0.1, 0.1, 0.3)];
        let velocities = positions.map(|r| omega.cross(r));
        assert!((angular_velocity(&[1.0, 2.0, 3.0, 4.0], &positions, &velocities) - omega).norm() < ROUNDING);
        let axis = vec3(1.0, 2.0, 3.0);
        let linear = [axis * -0.1, axis * 0.02, axis * 0.15];
        let turning = vec3(2.0, -1.0, 0.0);
        let mut velocities = linear.map(|r| turning.cross(r));
        remove_translation_and_rotation(&[1.0, 16.0, 1.0], &linear, &mut velocities);
        assert!(velocities.iter().all(|v| v.norm() < ROUNDING));
    }
}
