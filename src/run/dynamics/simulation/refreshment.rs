//! Tests of thermostats that renew velocities (Langevin, Andersen), on systems with known distributions.

use super::*;
use crate::backend::{Distribution, Energies, Evaluation, ForceField, Host};
use crate::cell::PeriodicCell;
use crate::ensemble::thermostat::ThermostatKind;
use crate::ensemble::velocities::maxwell_boltzmann;
use crate::pair::ListSchedule;
use crate::run::dynamics::simulation::ideal_gas::{DIMERS, gas};
use crate::run::plan::{Dynamics, Velocities};
use crate::simd::Level;
use crate::system::{Constraints, System};
use crate::team::Team;
use crate::vec3::{Vec3, vec3};

pub(super) const TEMPERATURE: f64 = 300.0;
pub(super) const TIMESTEP: f64 = 0.002;
/// Number of standard errors by which a mean may deviate from its expected value; the random seed is fixed.
const STANDARD_ERRORS: f64 = 4.0;

/// Harmonic wells at the origin, one for each atom.
pub(super) struct Wells {
    /// force constants of even and odd atoms, kJ/mol/nm²
    constants: [f64; 2],
}

/// Product ω dt of the angular frequency of a well and the time step, for even and for odd atoms. In the stiff wells
/// the phase advances by nearly a radian per step. Half a period must not be close to the interval between velocity
/// renewals of Andersen's thermostat. Otherwise positions would only change their sign between two renewals, and would
/// not be sampled.
const STIFFNESS: [f64; 2] = [0.9, 0.1];
pub(super) const MASS: f64 = 16.0;

impl Wells {
    /// Wells with force constants of zero, in which atoms move freely.
    pub(super) const NONE: Self = Wells { constants: [0.0; 2] };

    fn new() -> Self {
        Wells { constants: STIFFNESS.map(|radians| MASS * (radians / TIMESTEP).powi(2)) }
    }
}

impl Distribution for Wells {}

impl ForceField for Wells {
    fn description(&self) -> String {
        "wells".into()
    }
    fn evaluate(
        &mut self,
        _: Option<&PeriodicCell>,
        positions: &[Vec3],
        _: Workload,
        out: &mut Evaluation,
    ) -> Result<()> {
        let constant = |atom: usize| self.constants[atom % 2];
        out.forces = positions.iter().enumerate().map(|(atom, r)| *r * -constant(atom)).collect();
        out.energies = Energies::default();
        out.energies.external = positions.iter().enumerate().map(|(i, r)| 0.5 * constant(i) * r.norm_squared()).sum();
        Ok(())
    }
}

fn thermostat(kind: ThermostatKind, coupling_time: f64, every: u32) -> Dynamics {
    let thermostat = Thermostat::new(kind, TEMPERATURE, coupling_time, every);
    let velocities = Velocities::File;
    Dynamics { timestep: TIMESTEP, velocities, thermostat: Some(thermostat), com_removal: None, ..Dynamics::default() }
}

pub(super) fn start<'a, F: ForceField>(
    system: &System,
    field: F,
    dynamics: &'a Dynamics,
    state: &State,
) -> Simulation<'a, Host<F>> {
    let host = Host::new(system, field, Level::detect(), Team::single()).unwrap();
    let lists = ListSchedule { rebuild: 1000, prune: 1000, outer: 0.5, inner: 0.5, lookahead: 0.0 };
    let setup = Setup::new(system, dynamics, 11, false).unwrap();
    Simulation::new(Context::new(Box::new(host), lists), setup, state, StageProgress::default()).unwrap()
}

/// Creates `count` unconnected atoms at the origin, without a cell, all with the velocity `velocity`.
pub(super) fn atoms(count: usize, velocity: Vec3) -> (System, State) {
    let mut system = System { constraints: Constraints::default(), ..gas() };
    let atom = system.topology.atoms[0];
    system.topology.atoms = vec![atom; count];
    system.topology.connectivity.clear();
    (system, State { positions: vec![Vec3::ZERO; count], velocities: vec![velocity; count], ..State::default() })
}

/// Returns the mean over blocks of equal size, and the standard error of that mean.
pub(super) fn mean_and_error(blocks: &[f64]) -> (f64, f64) {
    let n = blocks.len() as f64;
    let mean = blocks.iter().sum::<f64>() / n;
    (mean, (blocks.iter().map(|b| (b - mean).powi(2)).sum::<f64>() / (n * (n - 1.0))).sqrt())
}

#[test]
fn positions_and_velocities_in_wells_are_canonical() {
    // velocities are renewed in the middle of a step. If velocities were renewed at the end of a step, the mean
    // potential energy ½k⟨x²⟩ would be wrong by 20 % at ω dt = 0.9
    const ATOMS: usize = 2000;
    for (kind, time, every) in [
        (ThermostatKind::Langevin, 0.05, 1),
        (ThermostatKind::Langevin, 0.001, 1),
        (ThermostatKind::Langevin, 0.05, 7),
        (ThermostatKind::Andersen, 0.05, 1),
        (ThermostatKind::Andersen, 0.05, 3),
    ] {
        let (system, state) = atoms(ATOMS, Vec3::ZERO);
        let dynamics = thermostat(kind, time, every);
        let mut simulation = start(&system, Wells::new(), &dynamics, &state);
        let mut sums = vec![[0.0f64; 2]; ATOMS];
        let mut now = state.clone();
        let (samples, equilibration, interval) = (600u64, 300, 5);
        for step in 0..equilibration + samples * interval {
            simulation.step(Wanted::default(), |_| Ok(())).unwrap();
            if step >= equilibration && step.is_multiple_of(interval) {
                simulation.download(&mut now).unwrap();
                for (atom, sum) in sums.iter_mut().enumerate() {
                    sum[0] += 0.5 * Wells::new().constants[atom % 2] * now.positions[atom].norm_squared();
                    sum[1] += 0.5 * MASS * now.velocities[atom].norm_squared();
                }
            }
        }
        let expected = 1.5 * BOLTZMANN * TEMPERATURE * samples as f64;
        for kind_of_atom in 0..2 {
            for quantity in 0..2 {
                let values: Vec<f64> =
                    sums.iter().skip(kind_of_atom).step_by(2).map(|sum| sum[quantity] / expected).collect();
                let (mean, error) = mean_and_error(&values);
                assert!(error < 0.006, "{kind:?} {time} {every}: {error} of atoms {kind_of_atom}, {quantity}");
                assert!(
                    (mean - 1.0).abs() < STANDARD_ERRORS * error,
                    "{kind:?} {time} ps, every {every}: {mean} +- {error} of atoms {kind_of_atom}, quantity {quantity}"
                );
            }
        }
    }
}

#[test]
fn work_is_the_energy_that_heats() {
    for (kind, time, every) in [(ThermostatKind::Langevin, 0.02, 1), (ThermostatKind::Andersen, 0.05, 4)] {
        let (system, state) = atoms(2000, Vec3::ZERO);
        let dynamics = thermostat(kind, time, every);
        let mut simulation = start(&system, Wells::new(), &dynamics, &state);
        let first = simulation.step(Wanted { energies: true }, |_| Ok(())).unwrap();
        assert_eq!(first.conserved, 0.0);
        for _ in 0..2000 {
            simulation.step(Wanted::default(), |_| Ok(())).unwrap();
        }
        let last = simulation.step(Wanted { energies: true }, |_| Ok(())).unwrap();
        let energy = last.kinetic + last.energies.potential();
        let work = energy - last.conserved;
        // Leapfrog with time step dt in a well of frequency ω conserves H = (1 − s) K + U with s = ¼ (ω dt)². The
        // kinetic energy K is computed from v(t+½dt), and the potential energy U is taken at the midpoint between x(t)
        // and x(t+dt). For each direction of each atom, the work of the thermostat is H/(1 − s), and the average of
        // this work is kT. The total energy is H + 2 s U, where the potential energy U is taken at x(t) or x(t+dt). The
        // average of the total energy is also kT for each direction of each atom. For s = 0.2 the difference between
        // work and energy has a variance below 0.13 (kT)².
        let wanted = 6000.0 * BOLTZMANN * TEMPERATURE;
        let width = (3000.0f64 * 0.13).sqrt() * BOLTZMANN * TEMPERATURE;
        assert!((energy / wanted - 1.0).abs() < STANDARD_ERRORS / 6000f64.sqrt(), "{energy} for {wanted}");
        assert!((work - energy).abs() < STANDARD_ERRORS * width, "{work} and {energy}");
    }
}

#[test]
fn velocities_of_free_atoms_decay_at_the_rate_of_friction_or_collisions() {
    const ATOMS: usize = 20_000;
    for (kind, every) in [(ThermostatKind::Langevin, 1), (ThermostatKind::Langevin, 5), (ThermostatKind::Andersen, 1)] {
        let (system, state) = atoms(ATOMS, vec3(2.0, -1.0, 0.0));
        let dynamics = thermostat(kind, 0.1, every);
        let mut simulation = start(&system, Wells::NONE, &dynamics, &state);
        for _ in 0..50 {
            simulation.step(Wanted::default(), |_| Ok(())).unwrap();
        }
        let mut now = state.clone();
        simulation.download(&mut now).unwrap();
        let mean = now.velocities.iter().copied().sum::<Vec3>() * (1.0 / ATOMS as f64);
        let (expected, width) = (
            state.velocities[0] * (-50.0 * TIMESTEP / 0.1f64).exp(),
            (BOLTZMANN * TEMPERATURE / MASS / ATOMS as f64).sqrt(),
        );
        assert!((mean - expected).norm() < STANDARD_ERRORS * 3f64.sqrt() * width, "{mean:?} for {expected:?}");
    }
}

#[test]
fn rigid_dimers_have_the_temperature_in_every_motion() {
    // with a time step of 40 fs a dimer rotates by 0.26 rad in a step (root mean square). If the constraint forces
    // acted along the bonds at the start of the step, the rotational temperature would be 2.8 % too high
    for (kind, timestep) in
        [(ThermostatKind::Langevin, 0.002), (ThermostatKind::Andersen, 0.002), (ThermostatKind::Langevin, 0.04)]
    {
        let system = gas();
        let state = State {
            positions: (0..2 * DIMERS).map(|k| vec3(0.12 * f64::from(k % 2), f64::from(k / 2), 0.0)).collect(),
            velocities: vec![Vec3::ZERO; 2 * DIMERS as usize],
            ..State::default()
        };
        let dynamics = Dynamics { timestep, ..thermostat(kind, 2.5 * timestep, 1) };
        let mut simulation = start(&system, Wells::NONE, &dynamics, &state);
        let mut now = state.clone();
        let mut sums = vec![[0.0; 2]; DIMERS as usize];
        let (samples, interval) = (20_000, 4);
        for step in 0..100 + samples * interval {
            simulation.step(Wanted::default(), |_| Ok(())).unwrap();
            if step >= 100 && step % interval == 0 {
                simulation.download(&mut now).unwrap();
                for (pair, sum) in now.velocities.chunks(2).zip(&mut sums) {
                    sum[0] += 0.25 * MASS * (pair[0] + pair[1]).norm_squared();
                    sum[1] += 0.25 * MASS * (pair[0] - pair[1]).norm_squared();
                }
            }
        }
        // a dimer has three degrees of freedom of translation and two of rotation
        for (motion, freedom) in [3.0, 2.0].into_iter().enumerate() {
            let expected = 0.5 * freedom * BOLTZMANN * TEMPERATURE * f64::from(samples);
            let (mean, error) = mean_and_error(&sums.iter().map(|sum| sum[motion] / expected).collect::<Vec<_>>());
            assert!(error < 0.003, "{error}");
            assert!((mean - 1.0).abs() < STANDARD_ERRORS * error, "{kind:?}: {mean} +- {error} of motion {motion}");
        }
    }
}

#[test]
fn the_conserved_energy_of_rigid_bodies_without_forces_is_exact() {
    let mut system = gas();
    // the relative error of the conserved energy is about the relative error of the bond lengths, so this test needs a
    // small constraint tolerance
    system.constraints.tolerance = 1e-14;
    let state = State {
        positions: (0..2 * DIMERS).map(|k| vec3(0.12 * f64::from(k % 2), f64::from(k / 2), 0.0)).collect(),
        velocities: vec![Vec3::ZERO; 2 * DIMERS as usize],
        ..State::default()
    };
    for (kind, time, every) in [
        (ThermostatKind::Langevin, 0.05, 1),
        (ThermostatKind::Langevin, 0.05, 3),
        (ThermostatKind::Andersen, 0.05, 1),
        (ThermostatKind::Andersen, 0.05, 4),
    ] {
        let dynamics = thermostat(kind, time, every);
        let mut simulation = start(&system, Wells::NONE, &dynamics, &state);
        let mut heat = 0.0f64;
        for step in 0..4000 {
            // velocity refreshment is part of the integration pass over the atoms, unless energies are requested; if
            // energies are requested, velocity refreshment is a separate pass
            let energies = step % 5 == 0;
            let now = simulation.step(Wanted { energies }, |_| Ok(())).unwrap();
            heat = heat.max(now.kinetic);
            assert!(!energies || now.conserved.abs() < 1e-9 * heat.max(1.0), "{kind:?} {every}: {}", now.conserved);
        }
        assert!(heat > 0.5 * 2.5 * f64::from(DIMERS) * BOLTZMANN * TEMPERATURE);
    }
}

/// Tests that the kinetic energy that the removal of translation and rotation takes out is part of the work: without
/// the part, the conserved energy would fall by up to 3 kT in each removal.
#[test]
fn the_removal_of_the_motion_of_the_whole_is_booked() {
    let (system, mut state) = atoms(50, Vec3::ZERO);
    (0..).zip(&mut state.positions).for_each(|(atom, r)| *r = maxwell_boltzmann(8, 1, atom, MASS, TEMPERATURE));
    for (kind, every, removals) in
        [(ThermostatKind::Langevin, 1, 1), (ThermostatKind::Langevin, 3, 7), (ThermostatKind::Andersen, 2, 5)]
    {
        for fixed_axes in [false, true] {
            let dynamics = Dynamics { com_removal: Some(removals), fixed_axes, ..thermostat(kind, 0.02, every) };
            let mut simulation = start(&system, Wells::NONE, &dynamics, &state);
            let mut heat = 0.0f64;
            for step in 0..1000 {
                let now = simulation.step(Wanted { energies: step % 3 == 0 }, |_| Ok(())).unwrap();
                heat = heat.max(now.kinetic);
                assert!(now.conserved.abs() < 1e-9 * heat.max(1.0), "{kind:?} at {step}: {}", now.conserved);
            }
            assert!(heat > 50.0 * BOLTZMANN * TEMPERATURE);
        }
    }
}

#[test]
fn the_last_step_of_a_stage_is_coupled() {
    let (system, mut state) = atoms(50, Vec3::ZERO);
    (0..).zip(&mut state.velocities).for_each(|(atom, v)| *v = maxwell_boltzmann(8, 1, atom, MASS, 100.0));
    for kind in ThermostatKind::ALL {
        // the collision rate is high enough for a collision of some of the 50 atoms
        let time = if kind == ThermostatKind::Andersen { 0.01 } else { 1.0 };
        let dynamics = thermostat(kind, time, 10);
        let mut simulation = start(&system, Wells::NONE, &dynamics, &state);
        let mut now = state.clone();
        for steps in 1..=10 {
            simulation.step(Wanted::default(), |_| Ok(())).unwrap();
            simulation.download(&mut now).unwrap();
            // no force acts on the atoms, so that only the thermostat changes velocities
            assert_eq!(now.velocities != state.velocities, steps == 10, "{kind:?} after {steps} steps");
        }
    }
}

#[test]
fn a_refreshment_in_the_pass_of_the_move_has_the_same_bits() {
    // one simulation requests energies at every step, and the other simulation never requests energies. Without
    // energies, integration and velocity refreshment take one pass over the atoms
    let system = gas();
    let state = State {
        positions: (0..2 * DIMERS).map(|k| vec3(0.12 * f64::from(k % 2), f64::from(k / 2), 0.0)).collect(),
        velocities: vec![Vec3::ZERO; 2 * DIMERS as usize],
        ..State::default()
    };
    for kind in [ThermostatKind::Langevin, ThermostatKind::Andersen] {
        let dynamics = thermostat(kind, 0.005, 2);
        let [one, other] = [false, true].map(|energies| {
            let mut simulation = start(&system, Wells::NONE, &dynamics, &state);
            for _ in 0..20 {
                simulation.step(Wanted { energies }, |_| Ok(())).unwrap();
            }
            let mut now = state.clone();
            simulation.download(&mut now).unwrap();
            now
        });
        assert_eq!((&one.positions, &one.velocities), (&other.positions, &other.velocities));
        let works = [one, other].map(|state| state.coupling.thermostat_work);
        assert!(works[0] != 0.0 && (works[0] - works[1]).abs() <= 1e-12 * works[0].abs(), "{works:?}");
    }
}
