//! Thermostats that multiply all velocities of a temperature group by one factor λ.
//!
//! The factor depends on the kinetic energy K of the velocities that are scaled. The velocities that are scaled are the
//! half-step velocities v(t+½dt) of leapfrog, written v(t+½). The average kinetic energy K of the half-step velocities
//! is ½ kT for each degree of freedom, except for a relative error of (ω dt)²/12 in a vibration of frequency ω. A
//! factor computed from the mean kinetic energy of both half steps would heat stiff degrees of freedom, whose kinetic
//! energy changes within a step, and would cool soft degrees of freedom.
//!
//! Work of a velocity factor λ. The energy at t is U + ½ (K(t−½) + K(t+½)), with the potential energy U and the kinetic
//! energies K of both half steps. The velocity v(t+½) is multiplied by λ after the atoms have moved to x(t+dt). The
//! factor λ changes v(t+3/2) from v(t+½) + F(t+dt) dt/m to λ v(t+½) + F(t+dt) dt/m. The energy at t+dt is therefore
//! larger by (λ² − 1) K(t+½) + ½ (λ − 1) dt Σ v(t+½)·F(t+dt). The term (λ² − 1) K(t+½) of this energy difference
//! ([`scaling_work`]) is added to the work of the thermostat at once. The term with the forces, which is ½ (1 − 1/λ) dt
//! Σ v·F for the scaled velocities v, is added when the forces F(t+dt) are known ([`pending_work`]). The energy minus
//! the work is the conserved quantity.
//!
//! The forces F in the work of a velocity factor λ do not contain constraint forces. Constraint forces depend on the
//! velocities, so that the factor λ changes the constraint forces. Consider a bond of length r that rotates with the
//! velocity v by the angle θ = v dt/r in a step. The part Kᵣ = K sin²(θ/2) of the kinetic energy K of the bond belongs
//! to the velocity along r(t+dt). The constraint removes the part Kᵣ of the kinetic energy, and the next step rotates
//! the bond by the angle λθ. The kinetic energy K(t+3/2) and all later kinetic energies are λ² K + λ² (λ²−1) Kᵣ. For
//! the scaled velocity v and the change Δv that constraints make to v(t+3/2), the sum C = Σ m v·Δv is −2 λ² (1+λ) Kᵣ.
//! The term −½ (λ−1) C is therefore added to the work, too. Without the term −½ (λ−1) C the conserved quantity would
//! drift by 10⁻² kJ/mol/ps with strong thermostats.
//!
//! All random numbers of a coupling can be drawn before the kinetic energy is known ([`Rescaling`]), so that a device
//! can rescale velocities without sending the kinetic energy to the host.

use crate::error::{Error, Result};
use crate::rng::{Purpose, RandomKey, Stream};
use crate::units::BOLTZMANN;

/// The heat bath of a temperature group.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Bath {
    /// number of degrees of freedom; may be fractional, since the removed degrees of freedom of the whole system are
    /// shared among groups
    pub degrees_of_freedom: f64,
    /// target temperature, K
    pub temperature: f64,
    /// relaxation time τ, ps
    pub coupling_time: f64,
}

impl Bath {
    /// Target mean kinetic energy ½ f kT in kJ/mol of f degrees of freedom.
    pub fn target(&self) -> f64 {
        0.5 * self.degrees_of_freedom * BOLTZMANN * self.temperature
    }
}

/// Scale factor of a coupling as a function of the kinetic energy K: λ = ±√((a + b/√K)² + d/K), with the sign of a +
/// b/√K.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Rescaling {
    /// coefficient a: factor by which the old velocities are multiplied
    pub kept: f64,
    /// coefficient b, √(kJ/mol): noise along the velocities
    pub along: f64,
    /// coefficient d, kJ/mol: noise that replaces the part of the kinetic energy that is not kept
    pub across: f64,
}

impl Rescaling {
    /// Rescaling by a factor of 1, which leaves velocities unchanged.
    const NONE: Self = Rescaling { kept: 1.0, along: 0.0, across: 0.0 };

    /// Scale factor λ for a kinetic energy in kJ/mol. Returns 1 if the kinetic energy is zero, because any factor
    /// leaves velocities of zero unchanged.
    pub fn factor(&self, kinetic: f64) -> Result<f64> {
        if kinetic == 0.0 {
            return Ok(1.0);
        }
        let root = self.kept + self.along / kinetic.sqrt();
        let factor = (root * root + self.across / kinetic).sqrt().copysign(root);
        check_factor(factor, kinetic)
    }
}

/// Returns `factor` if it is finite, else an error that names the kinetic energy in kJ/mol.
pub(super) fn check_factor(factor: f64, kinetic: f64) -> Result<f64> {
    if factor.is_finite() {
        return Ok(factor);
    }
    let what = format!("the kinetic energy is {kinetic} kJ/mol: the simulation has blown up");
    Err(Error::unstable(what, []))
}

/// Weak coupling: λ² = 1 + (Δt/τ)(K̄/K − 1), with the kinetic energy K, its target K̄ and the coupling time τ. If Δt
/// exceeds τ, the factor λ changes K to K̄ at once. `interval` is the time Δt (ps) since the last coupling. Weak
/// coupling suppresses fluctuations and samples no ensemble. H. J. C. Berendsen et al., J. Chem. Phys. 81, 3684 (1984),
/// doi:10.1063/1.448118.
pub fn berendsen(bath: Bath, interval: f64) -> Rescaling {
    if bath.degrees_of_freedom == 0.0 {
        return Rescaling::NONE;
    }
    let rate = if bath.coupling_time > interval { interval / bath.coupling_time } else { 1.0 };
    Rescaling { kept: (1.0 - rate).sqrt(), along: 0.0, across: rate * bath.target() }
}

/// Stochastic velocity rescaling: the kinetic energy K follows a first-order relaxation, with noise that makes the
/// distribution of K canonical.
///
/// The factor follows from λ² = c + (1−c) (K̄/(f K)) (R² + S) + 2 R √(c (1−c) K̄/(f K)), and λ has the sign of R + √(c
/// f K/((1−c) K̄)). The symbols are c = exp(−Δt/τ), the number f of degrees of freedom, a normal random number R, the
/// sum S of f − 1 squared normal random numbers, and the mean K̄ = ½ f kT. Equivalently, λ² = (√c + R √((1−c) K̄/(f
/// K)))² + (1−c) S K̄/(f K), and λ has the sign of the expression in the first square. `interval` is Δt in ps. With τ =
/// 0 the new kinetic energy does not depend on the old kinetic energy. The relaxation is solved exactly, so that Δt may
/// be any number of steps. The random numbers depend on (seed, step, group) only. G. Bussi, D. Donadio, M. Parrinello,
/// J. Chem. Phys. 126, 014101 (2007), doi:10.1063/1.2408420 (eq. A7, A8).
pub fn velocity_rescale(bath: Bath, interval: f64, RandomKey { seed, step }: RandomKey, group: u32) -> Rescaling {
    let Bath { degrees_of_freedom, coupling_time, .. } = bath;
    if degrees_of_freedom == 0.0 {
        return Rescaling::NONE;
    }
    let mut stream = Stream::new(seed, Purpose::Thermostat, step, group);
    let r = stream.gaussian();
    let s = stream.sum_of_squares((degrees_of_freedom - 1.0).max(0.0));
    let c = if coupling_time > 0.0 { (-interval / coupling_time).exp() } else { 0.0 };
    let renewed = (1.0 - c) * bath.target() / degrees_of_freedom;
    Rescaling { kept: c.sqrt(), along: r * renewed.sqrt(), across: renewed * s }
}

/// Kinetic energy (kJ/mol) that a factor λ adds to velocities with the kinetic energy `kinetic`.
pub fn scaling_work(kinetic: f64, factor: f64) -> f64 {
    (factor * factor - 1.0) * kinetic
}

/// Coefficient 1 − 1/λ of the pending work of a velocity factor λ.
pub fn pending(factor: f64) -> f64 {
    1.0 - 1.0 / factor
}

/// Part of the work (kJ/mol) of a velocity factor λ that is added in the next step. `pending` is the coefficient 1 −
/// 1/λ. `forces` is dt Σ v·F with the scaled velocities v. `constraints` is C = Σ m v·Δv, where Δv is the change that
/// constraints make to the velocities of the next step.
pub fn pending_work(pending: f64, forces: f64, constraints: f64) -> f64 {
    0.5 * pending * (forces - constraints / (1.0 - pending))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Maximum deviation in standard errors. The seed is fixed, so that the test cannot fail at random.
    const STANDARD_ERRORS: f64 = 4.0;

    /// Samples of the kinetic energy under repeated coupling, in units of kT/2 (χ² distributed in the canonical
    /// ensemble).
    fn chain(degrees_of_freedom: f64, interval: f64, coupling_time: f64, samples: u64) -> Vec<f64> {
        let unit = 0.5 * BOLTZMANN * 300.0;
        let mut energy = degrees_of_freedom * unit;
        (0..samples)
            .map(|step| {
                let bath = Bath { degrees_of_freedom, temperature: 300.0, coupling_time };
                let factor = velocity_rescale(bath, interval, RandomKey { seed: 17, step }, 0).factor(energy).unwrap();
                energy += scaling_work(energy, factor);
                energy / unit
            })
            .collect()
    }

    #[test]
    fn kinetic_energy_becomes_canonical() {
        let samples = 200_000u64;
        for (f, interval, coupling_time) in
            [(1.0, 0.1, 0.1), (2.6, 0.05, 0.1), (6.0, 0.02, 0.1), (3000.0, 0.1, 0.1), (300.0, 1.0, 0.0)]
        {
            let values = chain(f, interval, coupling_time, samples);
            let n = values.len() as f64;
            // the kinetic energy is an AR(1) process with correlation c per step, so that n (1−c)/(1+c) of the n
            // samples are independent; the squares have the smaller correlation c²
            let c = if coupling_time > 0.0 { (-interval / coupling_time).exp() } else { 0.0 };
            let independent = n * (1.0 - c) / (1.0 + c);
            let mean = values.iter().sum::<f64>() / n;
            let variance = values.iter().map(|v| (v - f).powi(2)).sum::<f64>() / n;
            assert!((mean - f).abs() < STANDARD_ERRORS * (2.0 * f / independent).sqrt(), "mean {mean} of {f}");
            // the variance of (χ² − f)² is 12 f (f + 4) − 4 f²
            let error = ((12.0 * f * (f + 4.0) - 4.0 * f * f) / independent).sqrt();
            assert!((variance - 2.0 * f).abs() < STANDARD_ERRORS * error, "variance {variance} of {}", 2.0 * f);
        }
    }

    #[test]
    fn work_is_the_change_of_the_energy_of_leapfrog() {
        // an oscillator of mass 1 and frequency 1 with 8 steps per radian. The test compares the energies at the next
        // position with and without the factor; the kinetic energy in each energy is the mean of both half steps
        let timestep = 0.125;
        for (x, v) in [(1.0, 0.3), (-0.2, 1.0), (0.7, -0.8)] {
            for factor in [0.9, 1.001, 1.2] {
                let energy = |v: f64| 0.25 * (v * v + (v - x * timestep).powi(2)) + 0.5 * x * x;
                let power = factor * v * -x;
                let work = scaling_work(0.5 * v * v, factor) + pending_work(pending(factor), timestep * power, 0.0);
                assert!((work - (energy(factor * v) - energy(v))).abs() < 1e-15);
            }
        }
    }

    #[test]
    fn work_on_a_rotor_is_the_change_of_its_energy() {
        // a rotor of radius 1 and mass 1; the constraint, which keeps the velocity perpendicular to r, is the only
        // force
        let timestep = 1.0;
        for (angle, factor) in [(0.02f64, 1.3), (0.02, 0.8), (0.1, 1.01)] {
            let chord = |angle: f64| 2.0 * (0.5 * angle).sin() / timestep;
            let (v, turned) = (chord(angle), (factor * angle.sin()).asin());
            let (next, between) = (chord(turned), (0.5 * (angle + turned)).cos());
            let exact = 0.5 * (next * next - v * v);
            let constraints = factor * v * next * between - (factor * v).powi(2);
            let work = scaling_work(0.5 * v * v, factor) + pending_work(pending(factor), 0.0, constraints);
            // the neglected term of the next order is θ² times the constraint term, and the constraint term is λ² θ²/4
            // times the work
            assert!((work / exact - 1.0).abs() < angle.powi(4), "{work} for {exact}");
        }
    }

    #[test]
    fn relaxation_has_the_coupling_time() {
        // the difference of the mean energy from its target decays as exp(−t/τ): energies that begin at 4 times the
        // target are 1 + 3/e times the target after τ
        let f = 30_000.0;
        let unit = 0.5 * BOLTZMANN * 300.0;
        let mut energy = 4.0 * f * unit;
        for step in 0..10 {
            let bath = Bath { degrees_of_freedom: f, temperature: 300.0, coupling_time: 1.0 };
            let key = RandomKey { seed: 1, step };
            energy += scaling_work(energy, velocity_rescale(bath, 0.1, key, 0).factor(energy).unwrap());
        }
        let expected = 1.0 + 3.0 * (-1.0f64).exp();
        // the relative noise of the kinetic energy between 1 and 4 times the target is at most √(4·2/f) with f degrees
        // of freedom
        assert!((energy / (f * unit) - expected).abs() < STANDARD_ERRORS * 2.0 * (8.0 / f).sqrt());
    }

    #[test]
    fn weak_coupling_in_closed_form() {
        let bath = Bath { degrees_of_freedom: 100.0, temperature: 300.0, coupling_time: 0.1 };
        let factor = berendsen(bath, 0.02).factor(200.0).unwrap();
        let expected = 200.0 + 0.2 * (bath.target() - 200.0);
        assert!((200.0 + scaling_work(200.0, factor) - expected).abs() < 1e-12);
        // weak coupling with a coupling time shorter than the interval sets the kinetic energy to its target at once
        let factor = berendsen(Bath { coupling_time: 0.0, ..bath }, 0.02).factor(200.0).unwrap();
        assert!((factor * factor * 200.0 - bath.target()).abs() < 1e-12);
    }

    #[test]
    fn nothing_moves_stays_and_nonsense_is_refused() {
        let bath = Bath { degrees_of_freedom: 3.0, temperature: 300.0, coupling_time: 0.1 };
        let nothing = Bath { degrees_of_freedom: 0.0, ..bath };
        const KEY: RandomKey = RandomKey { seed: 1, step: 1 };
        for couple in [|bath| velocity_rescale(bath, 0.1, KEY, 0), |bath| berendsen(bath, 0.1)] {
            assert_eq!(couple(bath).factor(0.0).unwrap(), 1.0);
            assert_eq!(couple(nothing).factor(5.0).unwrap(), 1.0);
            assert!(couple(bath).factor(f64::NAN).is_err());
        }
    }
}
