//! The Andersen thermostat: atoms collide with a heat bath, which draws their velocities anew.
//!
//! Every group of atoms that constraints hold together collides at random times with the rate 1/τ, independently of all
//! others: in an interval Δt with the probability 1 − exp(−Δt/τ). Its velocities are then drawn from the Maxwell–Boltzmann
//! distribution in the space that the constraints leave. The ensemble is canonical for any τ; collisions slow diffusion and
//! do not conserve momentum, so that dynamic properties depend on τ. H. C. Andersen, J. Chem. Phys. 72, 2384 (1980),
//! doi:10.1063/1.439486.
//!
//! In leapfrog a collision at time t replaces v(t−½) by v′, after the forces F(t) are known. The energy at t is
//! U + ½ (K(t−½) + K(t+½)), and v(t+½) = v(t−½) + F dt/m, so that it changes by
//!   Σ [½ m (v′² − v²) + ½ dt F·(v′ − v)],
//! which is the work of the thermostat. What constraints change in v(t+½) differs between v and v′, too; that part has a mean
//! of zero at equilibrium and a size of K (v dt/r)² for bonds of length r, and is left out.

use super::thermostat::Thermostat;
use super::velocities::{constrained, maxwell_boltzmann};
use crate::constraint::ConstraintPlan;
use crate::error::Result;
use crate::rng::{Purpose, Stream};
use crate::system::{Molecules, State, System};
use crate::vec3::Vec3;

/// What collisions need to know of a system.
pub struct Collisions {
    masses: Vec<f64>,
    constraints: ConstraintPlan,
    groups: Molecules,
}

impl Collisions {
    /// Of the groups that the constraints of a system hold together.
    pub fn new(system: &System) -> Result<Self> {
        let masses: Vec<f64> = system.topology.atoms.iter().map(|atom| atom.mass).collect();
        let constraints = ConstraintPlan::new(&system.constraints, &masses)?;
        Ok(Collisions { masses, constraints, groups: system.constrained_groups() })
    }

    /// Draws the velocities of the groups that collide at a step of the run, for a time step in ps, and adds the work to that
    /// of the thermostat; `forces` (kJ/mol/nm) are those at the positions of `state`. The random numbers are those of (seed,
    /// step).
    pub fn collide(
        &self,
        thermostat: &Thermostat,
        timestep: f64,
        (seed, step): (u64, u64),
        forces: &[Vec3],
        state: &mut State,
    ) -> Result<()> {
        let interval = f64::from(thermostat.every) * timestep;
        let probability = -(-interval / thermostat.coupling_time).exp_m1();
        let collides =
            |group: &usize| Stream::new(seed, Purpose::Thermostat, step, *group as u32).between(0.0, 1.0) < probability;
        let hit: Vec<usize> = (0..self.groups.len())
            .filter(collides)
            .flat_map(|group| self.groups.atoms(group))
            .map(|&atom| atom as usize)
            .collect();
        let mut drawn = state.velocities.clone();
        for &atom in &hit {
            drawn[atom] = maxwell_boltzmann(seed, step, atom as u32, self.masses[atom], thermostat.temperature);
        }
        let drawn = constrained(&self.constraints, timestep, &state.positions, &drawn)?;
        let mut work = 0.0;
        for &atom in &hit {
            let (old, new, mass) = (state.velocities[atom], drawn[atom], self.masses[atom]);
            work += 0.5 * mass * (new.norm_squared() - old.norm_squared());
            work += 0.5 * timestep * forces[atom].dot(new - old);
            state.velocities[atom] = new;
        }
        state.coupling.thermostat_work += work;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::cuda::Sample;
    use crate::constraint::{RemovedMotion, degrees_of_freedom};
    use crate::ensemble::thermostat::ThermostatKind;
    use crate::ensemble::velocities::kinetic_energy;
    use crate::units::BOLTZMANN;

    const TEMPERATURE: f64 = 310.0;
    const ROUNDS: u64 = 400;
    /// Standard errors allowed; the seed is fixed.
    const STANDARD_ERRORS: f64 = 4.0;

    fn thermostat(coupling_time: f64) -> Thermostat {
        Thermostat { kind: ThermostatKind::Andersen, temperature: TEMPERATURE, coupling_time, every: 10 }
    }

    /// 2K/kT of rigid molecules is χ² with f degrees of freedom: mean f, variance 2f.
    #[test]
    fn kinetic_energy_is_canonical() {
        let sample = Sample::load("peptide-charged").rigid();
        let collisions = Collisions::new(&sample.system).unwrap();
        let masses: Vec<f64> = sample.system.topology.atoms.iter().map(|atom| atom.mass).collect();
        let free =
            degrees_of_freedom(&sample.system.topology, &sample.system.constraints, RemovedMotion::Nothing) as f64;
        let forces = vec![Vec3::ZERO; masses.len()];
        let mut state = sample.state.clone();
        let (mut sum, mut squares) = (0.0, 0.0);
        for round in 0..ROUNDS {
            collisions.collide(&thermostat(1e-6), 0.002, (5, round), &forces, &mut state).unwrap();
            let reduced = 2.0 * kinetic_energy(&masses, &state.velocities) / (BOLTZMANN * TEMPERATURE);
            sum += reduced - free;
            squares += (reduced - free).powi(2);
        }
        let rounds = ROUNDS as f64;
        let (mean, variance) = (sum / rounds, squares / rounds);
        assert!(mean.abs() < STANDARD_ERRORS * (2.0 * free / rounds).sqrt(), "mean {mean} of {free}");
        // the variance of a variance is 2/N of its square
        let relative = variance / (2.0 * free) - 1.0;
        assert!(relative.abs() < STANDARD_ERRORS * (2.0 / rounds).sqrt(), "variance {variance} for {}", 2.0 * free);
    }

    /// With an interval of τ/5 a group is hit with the probability 1 − e^(−1/5), whole or not at all.
    #[test]
    fn groups_are_hit_at_random_as_a_whole() {
        let sample = Sample::load("water").rigid();
        let collisions = Collisions::new(&sample.system).unwrap();
        let forces = vec![Vec3::ZERO; sample.state.positions.len()];
        let waters = sample.state.positions.len() / 3;
        let (mut hit, rounds) = (0, 50);
        for round in 0..rounds {
            let mut state = sample.state.clone();
            collisions.collide(&thermostat(0.1), 0.002, (6, round), &forces, &mut state).unwrap();
            let changed = |atom: &usize| state.velocities[*atom] != sample.state.velocities[*atom];
            let counts = (0..waters).map(|water| (3 * water..3 * water + 3).filter(changed).count());
            for count in counts {
                assert!(count == 0 || count == 3, "{count} atoms of a water");
                hit += count / 3;
            }
        }
        let (trials, probability) = (rounds as f64 * waters as f64, 1.0 - (-0.2f64).exp());
        let error = (trials * probability * (1.0 - probability)).sqrt();
        assert!((hit as f64 - trials * probability).abs() < STANDARD_ERRORS * error, "{hit} of {trials}");
    }
}
