//! Velocities drawn from the Maxwell–Boltzmann distribution.

use crate::rng::{Purpose, Stream};
use crate::units::BOLTZMANN;
use crate::vec3::{Vec3, vec3};

/// Velocity (nm/ps) of one atom at `temperature` (K): each component is normally distributed with variance kT/m. The
/// velocity of a massless site is zero.
///
/// The result is a pure function of (seed, step, atom). The caller removes the motion of the whole system
/// ([`super::motion`]) and projects out the components along constraints
/// ([`crate::constraint::ConstraintPlan::project`]). The projected velocities have the Maxwell–Boltzmann distribution
/// of the remaining degrees of freedom, with ½kT per degree of freedom on average, so that they need not be rescaled.
pub fn maxwell_boltzmann(seed: u64, step: u64, atom: u32, mass: f64, temperature: f64) -> Vec3 {
    if mass <= 0.0 {
        return Vec3::ZERO;
    }
    let mut stream = Stream::new(seed, Purpose::Velocities, step, atom);
    let width = (BOLTZMANN * temperature / mass).sqrt();
    vec3(stream.gaussian(), stream.gaussian(), stream.gaussian()) * width
}

/// Kinetic energy ½ Σ m v² in kJ/mol, summed in the order of the atoms.
pub fn kinetic_energy(masses: &[f64], velocities: &[Vec3]) -> f64 {
    masses.iter().zip(velocities).map(|(m, v)| 0.5 * m * v.norm_squared()).sum()
}

/// Temperature in K for a kinetic energy (kJ/mol); zero without degrees of freedom.
pub fn temperature(kinetic: f64, degrees_of_freedom: usize) -> f64 {
    if degrees_of_freedom == 0 { 0.0 } else { 2.0 * kinetic / (degrees_of_freedom as f64 * BOLTZMANN) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::constraint::ConstraintPlan;
    use crate::system::{Constraint, Constraints};

    /// Maximum deviation in standard errors. The seed is fixed, so that the test cannot fail at random.
    const STANDARD_ERRORS: f64 = 4.0;

    #[test]
    fn kinetic_energy_is_chi_square() {
        let masses: Vec<f64> = (0..30_000).map(|i| [1.008, 12.011, 15.999][i % 3]).collect();
        let velocities: Vec<Vec3> =
            masses.iter().enumerate().map(|(i, &m)| maxwell_boltzmann(1, 0, i as u32, m, 300.0)).collect();
        // 2K/kT of N atoms with the kinetic energy K is χ² distributed with f = 3N: mean f, variance 2f
        let f = 3.0 * masses.len() as f64;
        let reduced = 2.0 * kinetic_energy(&masses, &velocities) / (BOLTZMANN * 300.0);
        assert!((reduced - f).abs() < STANDARD_ERRORS * (2.0 * f).sqrt());
        assert!((temperature(reduced * BOLTZMANN * 150.0, masses.len() * 3) / 300.0 - reduced / f).abs() < 1e-12);
        assert_eq!(maxwell_boltzmann(1, 0, 0, 0.0, 300.0), Vec3::ZERO);
    }

    #[test]
    fn projection_leaves_the_right_temperature() {
        // 10,000 dumbbells with 5 degrees of freedom each have the right temperature without rescaling
        let count = 10_000;
        let masses = [12.011, 1.008].repeat(count);
        let positions: Vec<Vec3> = (0..2 * count).map(|i| vec3(0.1 * (i % 2) as f64, i as f64, 0.0)).collect();
        let bonds = (0..count as u32)
            .map(|k| {
                let [i, j] = [2 * k, 2 * k + 1];
                Constraint { atoms: [i, j], length: (positions[i as usize] - positions[j as usize]).norm() }
            })
            .collect();
        let plan = ConstraintPlan::new(&Constraints { bonds, ..Constraints::default() }, &masses).unwrap();
        let mut velocities: Vec<Vec3> =
            masses.iter().enumerate().map(|(i, &m)| maxwell_boltzmann(2, 0, i as u32, m, 300.0)).collect();
        plan.project(&positions, &mut velocities).unwrap();
        let f = 5.0 * count as f64;
        let reduced = 2.0 * kinetic_energy(&masses, &velocities) / (BOLTZMANN * 300.0);
        assert!((reduced - f).abs() < STANDARD_ERRORS * (2.0 * f).sqrt());
    }
}
