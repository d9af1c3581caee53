//! Thermostats that multiply all velocities by one factor λ.
//!
//! Scaling velocities of kinetic energy K by λ puts exactly (λ² − 1) K into the system ([`scaling_work`]); the sum of
//! that over a run, taken from the total energy, is the conserved quantity. K is the kinetic energy of the very
//! velocities that are scaled (in leapfrog those of the half step), while λ may be derived from another measure of K
//! at the same time (the mean of both half steps).

use crate::error::{Error, Result};
use crate::rng::{Purpose, Stream};
use crate::units::BOLTZMANN;

/// A kinetic energy and what it should be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Kinetic {
    /// measured, kJ/mol
    pub energy: f64,
    /// number of degrees of freedom
    pub degrees_of_freedom: usize,
    /// wanted, K
    pub temperature: f64,
}

impl Kinetic {
    /// Wanted mean ½ f kT in kJ/mol.
    pub fn target(&self) -> f64 {
        0.5 * self.degrees_of_freedom as f64 * BOLTZMANN * self.temperature
    }

    /// Nothing moves, or nothing can: no factor changes that.
    fn is_inert(&self) -> bool {
        self.energy == 0.0 || self.degrees_of_freedom == 0
    }
}

/// Weak coupling: λ = √(1 + (Δt/τ)(K̄/K − 1)), at most what takes K to K̄ at once.
///
/// `interval` Δt (ps) since the last coupling, `coupling_time` τ (ps). Suppresses fluctuations: no ensemble.
/// H. J. C. Berendsen et al., J. Chem. Phys. 81, 3684 (1984), doi:10.1063/1.448118.
pub fn berendsen(kinetic: Kinetic, interval: f64, coupling_time: f64) -> Result<f64> {
    if kinetic.is_inert() {
        return Ok(1.0);
    }
    let rate = if coupling_time > interval { interval / coupling_time } else { 1.0 };
    checked((1.0 + rate * (kinetic.target() / kinetic.energy - 1.0)).sqrt(), kinetic)
}

/// Stochastic velocity rescaling: K follows a first-order relaxation with the noise that makes it canonical.
///
/// With c = exp(−Δt/τ), f degrees of freedom, R a normal number and S the sum of f − 1 squared ones,
/// λ² = c + (1−c) (K̄/(f K)) (R² + S) + 2 R √(c (1−c) K̄/(f K)), and λ has the sign of R + √(c f K/((1−c) K̄)).
/// `interval` Δt and `coupling_time` τ in ps; τ = 0 draws K afresh. The relaxation is solved exactly, so that Δt may
/// be any number of steps. The numbers are those of (seed, step).
/// G. Bussi, D. Donadio, M. Parrinello, J. Chem. Phys. 126, 014101 (2007), doi:10.1063/1.2408420 (eq. A7, A8).
pub fn velocity_rescale(kinetic: Kinetic, interval: f64, coupling_time: f64, seed: u64, step: u64) -> Result<f64> {
    if kinetic.is_inert() {
        return Ok(1.0);
    }
    let mut stream = Stream::new(seed, Purpose::Thermostat, step, 0);
    let r = stream.gaussian();
    let s = stream.sum_of_squares(kinetic.degrees_of_freedom as u64 - 1);
    let c = if coupling_time > 0.0 { (-interval / coupling_time).exp() } else { 0.0 };
    let ratio = kinetic.target() / (kinetic.degrees_of_freedom as f64 * kinetic.energy);
    // λ² = (√c + R √((1−c) ratio))² + (1−c) ratio S, and the sign is that of the square's root
    let root = c.sqrt() + r * ((1.0 - c) * ratio).sqrt();
    let square = root * root + (1.0 - c) * ratio * s;
    checked(square.sqrt().copysign(root), kinetic)
}

/// Kinetic energy (kJ/mol) that a factor λ puts into velocities of kinetic energy `kinetic`.
pub fn scaling_work(kinetic: f64, factor: f64) -> f64 {
    (factor * factor - 1.0) * kinetic
}

fn checked(factor: f64, kinetic: Kinetic) -> Result<f64> {
    if factor.is_finite() {
        return Ok(factor);
    }
    let what = format!("the kinetic energy is {} kJ/mol, which no thermostat can mend", kinetic.energy);
    Err(Error::unstable(what, []))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Standard errors allowed; the seed is fixed.
    const STANDARD_ERRORS: f64 = 4.0;

    /// Samples of K under repeated coupling, in units of kT/2 (χ² distributed in the canonical ensemble).
    fn chain(degrees_of_freedom: usize, interval: f64, coupling_time: f64, samples: u64) -> Vec<f64> {
        let unit = 0.5 * BOLTZMANN * 300.0;
        let mut energy = degrees_of_freedom as f64 * unit;
        (0..samples)
            .map(|step| {
                let kinetic = Kinetic { energy, degrees_of_freedom, temperature: 300.0 };
                let factor = velocity_rescale(kinetic, interval, coupling_time, 17, step).unwrap();
                energy += scaling_work(energy, factor);
                energy / unit
            })
            .collect()
    }

    #[test]
    fn kinetic_energy_becomes_canonical() {
        let samples = 200_000u64;
        for (f, interval, coupling_time) in [(1, 0.1, 0.1), (6, 0.02, 0.1), (3000, 0.1, 0.1), (300, 1.0, 0.0)] {
            let values = chain(f, interval, coupling_time, samples);
            let n = values.len() as f64;
            // K is an AR(1) chain with correlation c per step; squares decay as c²: samples / ((1+c)/(1−c)) count
            let c = if coupling_time > 0.0 { (-interval / coupling_time).exp() } else { 0.0 };
            let independent = n * (1.0 - c) / (1.0 + c);
            let f = f as f64;
            let mean = values.iter().sum::<f64>() / n;
            let variance = values.iter().map(|v| (v - f).powi(2)).sum::<f64>() / n;
            assert!((mean - f).abs() < STANDARD_ERRORS * (2.0 * f / independent).sqrt(), "mean {mean} of {f}");
            // variance of (χ² − f)² is 12 f (f + 4) − 4 f²
            let error = ((12.0 * f * (f + 4.0) - 4.0 * f * f) / independent).sqrt();
            assert!((variance - 2.0 * f).abs() < STANDARD_ERRORS * error, "variance {variance} of {}", 2.0 * f);
        }
    }

    #[test]
    fn relaxation_has_the_coupling_time() {
        // from 4 times the wanted energy the mean decays as exp(−t/τ): 3e after one τ
        let f = 30_000;
        let unit = 0.5 * BOLTZMANN * 300.0;
        let mut energy = 4.0 * f as f64 * unit;
        for step in 0..10 {
            let kinetic = Kinetic { energy, degrees_of_freedom: f, temperature: 300.0 };
            energy += scaling_work(energy, velocity_rescale(kinetic, 0.1, 1.0, 1, step).unwrap());
        }
        let expected = 1.0 + 3.0 * (-1.0f64).exp();
        // noise of K at 1 to 4 times kT: relative √(4·2/f) at most
        assert!((energy / (f as f64 * unit) - expected).abs() < STANDARD_ERRORS * 2.0 * (8.0 / f as f64).sqrt());
    }

    #[test]
    fn weak_coupling_in_closed_form() {
        let kinetic = Kinetic { energy: 200.0, degrees_of_freedom: 100, temperature: 300.0 };
        let factor = berendsen(kinetic, 0.02, 0.1).unwrap();
        let expected = 200.0 + 0.2 * (kinetic.target() - 200.0);
        assert!((200.0 + scaling_work(200.0, factor) - expected).abs() < 1e-12);
        // a coupling time shorter than the interval sets K at once
        let factor = berendsen(kinetic, 0.02, 0.0).unwrap();
        assert!((factor * factor * 200.0 - kinetic.target()).abs() < 1e-12);
    }

    #[test]
    fn nothing_moves_stays_and_nonsense_is_refused() {
        let still = Kinetic { energy: 0.0, degrees_of_freedom: 3, temperature: 300.0 };
        assert_eq!(velocity_rescale(still, 0.1, 0.1, 1, 1).unwrap(), 1.0);
        assert_eq!(berendsen(still, 0.1, 0.1).unwrap(), 1.0);
        let broken = Kinetic { energy: f64::NAN, ..still };
        assert!(velocity_rescale(broken, 0.1, 0.1, 1, 1).is_err());
        assert!(berendsen(broken, 0.1, 0.1).is_err());
    }
}
