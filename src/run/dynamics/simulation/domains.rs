//! Tests that compare whole steps on several ranks with the same steps on one rank.

use super::*;
use crate::backend::{Cpu, CpuOptions, Domains, Host, Serving};
use crate::ensemble::thermostat::{ThermostatGroup, ThermostatKind};
use crate::error::Error;
use crate::pair::ListSchedule;
use crate::run::dynamics::simulation::tests::{barostat, dynamics, go, setup};
use crate::simd::Level;
use crate::team::Team;
use crate::testing::{Sample, divisible, on_ranks};

const RANKS: usize = 4;
/// Number of steps of each run: four lifetimes of a pair list.
const STEPS: u64 = 40;
/// Allowed difference between positions on several ranks and on one rank, nm. The difference grows during the run,
/// because forces of about 1000 kJ/mol/nm on a hydrogen atom have a relative error of 2·10⁻⁵ in every step.
const POSITIONS: f64 = 1e-4;
/// Allowed difference between the conserved energies on several ranks and on one rank, relative to the kinetic energy.
/// The conserved energies differ by the rounding errors of mixed precision.
const CONSERVED: f64 = 1e-3;

fn schedule(sample: &Sample) -> ListSchedule {
    ListSchedule { rebuild: 10, ..sample.schedule() }
}

fn start<'a, B: Backend>(sample: &Sample, backend: B, dynamics: &'a Dynamics) -> Simulation<'a, B> {
    let context = Context::new(Box::new(backend), schedule(sample));
    Simulation::new(context, setup(sample, dynamics), &sample.state, StageProgress::default()).unwrap()
}

fn divided(serving: &Serving, sample: &Sample) -> Domains {
    Domains::new(serving, &sample.system, schedule(sample)).unwrap()
}

fn alone(sample: &Sample) -> Host<Cpu> {
    let options = CpuOptions { parts: 1, level: Level::Portable, schedule: schedule(sample) };
    let cpu = Cpu::new(&sample.system, options, Team::single()).unwrap();
    Host::new(&sample.system, cpu, Level::Portable, Team::single()).unwrap()
}

/// Returns the state after `steps` steps, and the observed quantities of the next step.
fn run<B: Backend>(mut simulation: Simulation<'_, B>, steps: u64) -> (State, Observed) {
    let state = go(&mut simulation, steps);
    (state, simulation.step(Wanted { energies: true }, |_| Ok(())).unwrap())
}

fn compare(dynamics: &Dynamics) {
    let sample = divisible("peptide-ff19sb");
    let (ours, observed) = on_ranks(RANKS, |serving| run(start(&sample, divided(serving, &sample), dynamics), STEPS));
    let (theirs, expected) = run(start(&sample, alone(&sample), dynamics), STEPS);
    let furthest = ours.positions.iter().zip(&theirs.positions).map(|(a, b)| (*a - *b).norm()).fold(0.0, f64::max);
    assert!(furthest < POSITIONS, "{furthest} nm apart");
    let moved = ours.positions.iter().zip(&sample.state.positions).map(|(a, b)| (*a - *b).norm()).fold(0.0, f64::max);
    assert!(moved > 100.0 * POSITIONS, "{moved} nm tell nothing");
    for (ours, theirs) in observed.group_temperatures.iter().zip(&expected.group_temperatures) {
        assert!((ours / theirs - 1.0).abs() < CONSERVED, "{ours} K, not {theirs}");
    }
    let [ours, theirs] = [&observed, &expected].map(|observed| observed.conserved);
    assert!((ours - theirs).abs() < CONSERVED * expected.kinetic, "{ours}, not {theirs}");
    let [ours, theirs] = [&observed, &expected].map(|observed| observed.pressure);
    assert!((ours / theirs - 1.0).abs() < 1e-3, "{ours}, not {theirs}");
}

#[test]
fn velocity_rescaling_with_a_barostat() {
    compare(&dynamics(ThermostatKind::VRescale, Some(barostat(3))));
}

#[test]
fn nose_hoover_chains() {
    compare(&dynamics(ThermostatKind::NoseHoover, None));
}

/// Tests that thermostats draw the same random velocities on several ranks as on one rank.
#[test]
fn random_velocities_are_those_of_one_rank() {
    for kind in [ThermostatKind::Langevin, ThermostatKind::Andersen] {
        compare(&dynamics(kind, None));
    }
}

#[test]
fn temperature_groups() {
    for kind in [ThermostatKind::VRescale, ThermostatKind::NoseHoover, ThermostatKind::Langevin] {
        let mut dynamics = dynamics(kind, Some(barostat(3)));
        let group = ThermostatGroup { select: "water".into(), temperature: 200.0.into(), coupling_time: 0.1 };
        dynamics.thermostat.iter_mut().for_each(|thermostat| thermostat.groups = vec![group.clone()]);
        compare(&dynamics);
    }
}

#[test]
fn a_restart_goes_on_bitwise() {
    let sample = divisible("peptide-ff19sb");
    let dynamics = dynamics(ThermostatKind::Langevin, Some(barostat(3)));
    let [whole, parts] = on_ranks(RANKS, |serving| {
        let whole = go(&mut start(&sample, divided(serving, &sample), &dynamics), STEPS);
        let mut first = start(&sample, divided(serving, &sample), &dynamics);
        let state = go(&mut first, 17);
        let progress = StageProgress { steps: 17, first_time: 0.0, lists: first.list_origins().unwrap() };
        drop(first);
        let context = Context::new(Box::new(divided(serving, &sample)), schedule(&sample));
        let mut second = Simulation::new(context, setup(&sample, &dynamics), &state, progress).unwrap();
        [whole, go(&mut second, STEPS - 17)]
    });
    assert!(whole == parts, "a restart has changed something");
}

#[test]
fn an_atom_that_flies_off_stops_all_ranks_and_is_named() {
    let mut sample = divisible("peptide-ff19sb");
    let last = sample.state.positions.len() - 1;
    sample.state.velocities[last] = Vec3::splat(3e4);
    let dynamics = dynamics(ThermostatKind::VRescale, None);
    let (error, before) = on_ranks(RANKS, |serving| {
        let mut simulation = start(&sample, divided(serving, &sample), &dynamics);
        let error = (0..20).find_map(|_| simulation.step(Wanted { energies: true }, |_| Ok(())).err());
        (error.expect("a failure"), simulation.before_failure())
    });
    // a step without energies reports nothing, and the state after a failed step must not be stored
    let delayed = on_ranks(RANKS, |serving| {
        let mut simulation = start(&sample, divided(serving, &sample), &dynamics);
        (0..3).for_each(|_| _ = simulation.step(Wanted { energies: false }, |_| Ok(())).unwrap());
        simulation.flush().unwrap_err()
    });
    assert_eq!(delayed.to_string(), error.to_string());
    assert_eq!(error.exit_code(), 4);
    assert!(error.to_string().contains("rank ") && error.to_string().contains("atom"), "{error}");
    let Error::Unstable { atoms, .. } = &error else { panic!("{error}") };
    assert!(atoms.iter().any(|&atom| atom as usize >= last - 2), "{atoms:?}");
    assert!(before.positions.len() == last + 1 && before.positions.iter().all(|r| r.is_finite()));
}
