//! Tests of temperature groups, annealing and Nosé–Hoover chains, on systems with known distributions.

use super::*;
use crate::backend::{Distribution, Energies, Evaluation, ForceField};
use crate::cell::PeriodicCell;
use crate::ensemble::schedule::Schedule;
use crate::ensemble::thermostat::{ThermostatGroup, ThermostatKind};
use crate::ensemble::velocities::maxwell_boltzmann;
use crate::run::dynamics::simulation::refreshment::{MASS, TEMPERATURE, TIMESTEP, Wells, atoms, mean_and_error, start};
use crate::run::plan::{Dynamics, Velocities};
use crate::vec3::{Vec3, vec3};
use std::cell::Cell;

/// Number of standard errors by which a mean may deviate from its expected value; the random seed is fixed.
const STANDARD_ERRORS: f64 = 4.0;

fn dynamics(thermostat: Thermostat) -> Dynamics {
    let velocities = Velocities::File;
    Dynamics { timestep: TIMESTEP, velocities, thermostat: Some(thermostat), com_removal: None, ..Dynamics::default() }
}

/// Harmonic well with three different frequencies along x, y and z. The ratios of the frequencies are not simple
/// fractions.
struct Well;

/// Angular frequencies of the well along x, y and z, 1/ps. In a step of 2 fs the phase advances by at most 0.1 rad.
const FREQUENCIES: [f64; 3] = [17.0, 31.3, 47.9];

impl Distribution for Well {}

impl ForceField for Well {
    fn description(&self) -> String {
        "a well".into()
    }
    fn evaluate(&mut self, _: Option<&PeriodicCell>, r: &[Vec3], _: Workload, out: &mut Evaluation) -> Result<()> {
        let [kx, ky, kz] = FREQUENCIES.map(|frequency| MASS * frequency * frequency);
        out.forces = r.iter().map(|r| vec3(-kx * r.x, -ky * r.y, -kz * r.z)).collect();
        out.energies = Energies::default();
        out.energies.external = r.iter().map(|r| 0.5 * (kx * r.x * r.x + ky * r.y * r.y + kz * r.z * r.z)).sum();
        Ok(())
    }
}

#[test]
fn a_chain_samples_the_canonical_distribution_of_an_atom_in_a_well() {
    // this test is due to Martyna et al. (1992): a Nosé–Hoover thermostat without a chain does not sample the canonical
    // distribution of a harmonic oscillator
    let (system, state) = atoms(1, vec3(1.0, -0.5, 0.7));
    let dynamics = dynamics(Thermostat::new(ThermostatKind::NoseHoover, TEMPERATURE, 0.3, 1));
    let mut simulation = start(&system, Well, &dynamics, &state);
    let kt = BOLTZMANN * TEMPERATURE;
    let (blocks, length) = (40, 20_000);
    let mut means = [vec![], vec![], vec![]];
    let first = simulation.step(Wanted { energies: true }, |_| Ok(())).unwrap().conserved;
    let mut furthest = 0.0f64;
    for _ in 0..blocks {
        let mut sums = [0.0; 3];
        for _ in 0..length {
            let now = simulation.step(Wanted { energies: true }, |_| Ok(())).unwrap();
            furthest = furthest.max((now.conserved - first).abs());
            let (kinetic, potential) = (now.kinetic / kt, now.energies.external / kt);
            sums = [sums[0] + kinetic, sums[1] + potential, sums[2] + kinetic * kinetic];
        }
        means.iter_mut().zip(sums).for_each(|(means, sum)| means.push(sum / f64::from(length)));
    }
    // expected means of the kinetic energy K and the potential energy U: ⟨K⟩ = ⟨U⟩ = 3/2 kT and ⟨K²⟩ = 15/4 (kT)². The
    // mean of the kinetic energies at the half steps before and after a step is lower than ⟨K⟩ by the fraction ω² dt²/4
    // = 10⁻³
    for (values, expected) in means.iter().zip([1.5, 1.5, 3.75]) {
        let (mean, error) = mean_and_error(values);
        assert!(error < 0.03 * expected, "{error} for {expected}");
        assert!(
            (mean - expected).abs() < STANDARD_ERRORS * error + 2e-3 * expected,
            "{mean} +- {error} for {expected}"
        );
    }
    // leapfrog makes the energy of 2.6 kJ/mol oscillate with a relative amplitude of (ω dt)²/4, where ω is the angular
    // frequency of the well
    assert!(furthest < 0.2 * kt, "{furthest}");
}

#[test]
fn groups_have_their_own_temperatures() {
    const ATOMS: usize = 1000;
    for kind in [ThermostatKind::VRescale, ThermostatKind::Langevin, ThermostatKind::Andersen] {
        let (mut system, mut state) = atoms(ATOMS, Vec3::ZERO);
        (0..).zip(&mut state.velocities).for_each(|(atom, v)| *v = maxwell_boltzmann(3, 0, atom, MASS, TEMPERATURE));
        // the last 300 atoms become nitrogen, so that the temperature group selects them
        system.topology.atoms[700..].iter_mut().for_each(|atom| atom.element = 7);
        let group =
            ThermostatGroup { select: "element N".into(), temperature: Schedule::from(450.0), coupling_time: 0.02 };
        let thermostat = Thermostat { groups: vec![group], ..Thermostat::new(kind, TEMPERATURE, 0.05, 2) };
        let dynamics = dynamics(thermostat);
        let mut simulation = start(&system, Wells::NONE, &dynamics, &state);
        let mut now = state.clone();
        let (mut cold, mut hot) = (vec![], vec![]);
        for step in 0..6000 {
            simulation.step(Wanted::default(), |_| Ok(())).unwrap();
            if step > 500 && step % 50 == 0 {
                simulation.download(&mut now).unwrap();
                let of = |range: std::ops::Range<usize>| {
                    let kinetic: f64 =
                        now.velocities[range.clone()].iter().map(|v| 0.5 * MASS * v.norm_squared()).sum();
                    kinetic / (1.5 * BOLTZMANN * range.len() as f64)
                };
                cold.push(of(0..700));
                hot.push(of(700..ATOMS));
            }
        }
        for (values, expected) in [(cold, TEMPERATURE), (hot, 450.0)] {
            let (mean, error) = mean_and_error(&values);
            assert!(error < 0.01 * expected, "{kind:?}: {error}");
            assert!((mean - expected).abs() < STANDARD_ERRORS * error, "{kind:?}: {mean} +- {error} for {expected}");
        }
    }
}

#[test]
fn the_temperature_of_each_group_is_that_of_its_velocities() {
    const ATOMS: usize = 3000;
    let (mut system, mut state) = atoms(ATOMS, vec3(0.1, 0.0, 0.0));
    (0..).zip(&mut state.velocities).for_each(|(atom, v)| *v = maxwell_boltzmann(3, 0, atom, MASS, TEMPERATURE));
    // the atoms of the hot group are scattered over the list of atoms, so that every chunk of work contains some of
    // them
    let is_hot = |atom: usize| atom % 7 == 3;
    system
        .topology
        .atoms
        .iter_mut()
        .enumerate()
        .filter(|(atom, _)| is_hot(*atom))
        .for_each(|(_, atom)| atom.element = 7);
    for kind in [ThermostatKind::VRescale, ThermostatKind::Langevin] {
        let group = ThermostatGroup { select: "element N".into(), temperature: 450.0.into(), coupling_time: 0.02 };
        let dynamics = dynamics(Thermostat { groups: vec![group], ..Thermostat::new(kind, TEMPERATURE, 0.05, 3) });
        let mut simulation = start(&system, Well, &dynamics, &state);
        let mut now = state.clone();
        let hot = (0..ATOMS).filter(|atom| is_hot(*atom)).count();
        for step in 0..20 {
            simulation.download(&mut now).unwrap();
            let (before, force) = (now.velocities.clone(), Cell::new(vec![]));
            let observed = simulation
                .step(Wanted { energies: true }, |simulation| {
                    force.set(simulation.backend().evaluation().forces.clone());
                    Ok(())
                })
                .unwrap();
            // sum of the kinetic energies before and after the leapfrog step; the thermostat changes the velocities
            // only later
            let mut twice = [0.0; 2];
            for (atom, (v, f)) in before.iter().zip(force.take()).enumerate() {
                let after = *v + f * (TIMESTEP / MASS);
                twice[usize::from(is_hot(atom))] += 0.5 * MASS * (v.norm_squared() + after.norm_squared());
            }
            assert_eq!(observed.group_temperatures.len(), 2);
            for ((temperature, twice), atoms) in observed.group_temperatures.iter().zip(twice).zip([ATOMS - hot, hot]) {
                let expected = twice / (3.0 * atoms as f64 * BOLTZMANN);
                assert!((temperature / expected - 1.0).abs() < 1e-12, "{kind:?} at {step}: {temperature} {expected}");
            }
        }
    }
    let alone = dynamics(Thermostat::new(ThermostatKind::VRescale, TEMPERATURE, 0.05, 3));
    let observed = start(&system, Well, &alone, &state).step(Wanted { energies: true }, |_| Ok(())).unwrap();
    assert!(observed.group_temperatures.is_empty());
}

#[test]
fn the_temperature_follows_its_schedule_and_the_work_is_booked() {
    const ATOMS: usize = 4000;
    let (system, mut state) = atoms(ATOMS, Vec3::ZERO);
    (0..).zip(&mut state.velocities).for_each(|(atom, v)| *v = maxwell_boltzmann(3, 0, atom, MASS, 100.0));
    let temperature = Schedule::new(vec![(1.0, 100.0), (9.0, 500.0)]).unwrap();
    for kind in [ThermostatKind::VRescale, ThermostatKind::Langevin] {
        let dynamics = dynamics(Thermostat { temperature: temperature.clone(), ..Thermostat::new(kind, 1.0, 0.02, 1) });
        let mut simulation = start(&system, Wells::NONE, &dynamics, &state);
        let mut conserved = None;
        for step in 0..=5000 {
            let now = simulation.step(Wanted { energies: true }, |_| Ok(())).unwrap();
            let first = *conserved.get_or_insert(now.conserved);
            assert!((now.conserved - first).abs() < 1e-9 * now.kinetic, "{kind:?} at {step}");
            let time = step as f64 * TIMESTEP;
            if step % 500 == 0 && time > 0.5 {
                // the reference temperature rises by 50 K/ps. The temperature of the atoms lags by the coupling time of
                // 0.02 ps with v-rescale, and by half of this time with Langevin dynamics. The kinetic energy of f
                // degrees of freedom has a relative width of √(2/f)
                let expected = temperature.at(time - 0.015);
                let width = expected * (2.0 / (3.0 * ATOMS as f64)).sqrt();
                assert!((now.temperature - expected).abs() < STANDARD_ERRORS * width + 1.0, "{kind:?} at {time} ps");
            }
        }
    }
}

#[test]
fn chains_go_on_from_a_state() {
    let (system, state) = atoms(1, vec3(1.0, -0.5, 0.7));
    let dynamics = dynamics(Thermostat::new(ThermostatKind::NoseHoover, TEMPERATURE, 0.3, 3));
    let mut whole = start(&system, Well, &dynamics, &state);
    let mut half = state.clone();
    for _ in 0..50 {
        whole.step(Wanted::default(), |_| Ok(())).unwrap();
    }
    whole.download(&mut half).unwrap();
    assert!(half.coupling.chains[0].iter().all(|velocity| *velocity != 0.0));
    let mut again = start(&system, Well, &dynamics, &half);
    again.local_step = whole.local_step;
    again.first_step = 0;
    let (mut a, mut b) = (state.clone(), state.clone());
    for _ in 0..50 {
        for simulation in [&mut whole, &mut again] {
            simulation.step(Wanted::default(), |_| Ok(())).unwrap();
        }
    }
    whole.download(&mut a).unwrap();
    again.download(&mut b).unwrap();
    assert_eq!((a.positions, a.velocities, a.coupling.chains), (b.positions, b.velocities, b.coupling.chains));
}
