//! Runs on an emulated device against runs on the host with reference forces.

use super::*;
use crate::backend::cuda::Sample;
use crate::backend::{Host, Reference};
use crate::constraint::degrees_of_freedom;
use crate::run::plan::Velocities;
use crate::simd::Level;
use crate::team::Team;

const TIMESTEP: f64 = 0.002;
/// One lifetime of the sample's lists and a little.
const STEPS: u64 = 12;
/// Forces are right to 2·10⁻⁵ and change velocities by a tenth in so many steps; squares of them, by thousands.
const KINETIC: f64 = 1e-6;
/// The conserved energy: the project's bar of 10⁻⁶ for the sum of all terms, which cancel to a third.
const ENERGY: f64 = 3e-6;
/// Kernels of a quiet step: the bar of the design for a system with all there is.
const KERNELS: u32 = 14;

fn dynamics(kind: ThermostatKind, barostat: Option<Barostat>) -> Dynamics {
    let thermostat = Thermostat { kind, temperature: 350.0, coupling_time: 0.1, every: 2 };
    let (thermostat, velocities) = (Some(thermostat), Velocities::File);
    Dynamics { steps: STEPS, timestep: TIMESTEP, velocities, thermostat, barostat, com_removal: Some(5) }
}

fn simulation<'a, B: Backend>(sample: &'a Sample, backend: B, dynamics: &'a Dynamics) -> Simulation<'a, B> {
    let free = degrees_of_freedom(&sample.system.topology, &sample.system.constraints, true);
    let rules = (sample.schedule(), 7, free);
    Simulation::new(backend, (&sample.system, dynamics), rules, &sample.state, (0, 0.0), None).unwrap()
}

/// Energies of every third step on both.
fn compare(dynamics: &Dynamics) {
    let sample = Sample::load("peptide-charged").rigid();
    let host =
        Host::new(&sample.system, Reference::new(&sample.system).unwrap(), Level::Portable, Team::single()).unwrap();
    let (mut ours, mut theirs) =
        (simulation(&sample, sample.emulated(0), dynamics), simulation(&sample, host, dynamics));
    let mut work = 0.0;
    for step in 0..STEPS {
        let wanted = Wanted { energies: step % 3 == 0 };
        let (a, b) = (ours.step(wanted, |_| Ok(())).unwrap(), theirs.step(wanted, |_| Ok(())).unwrap());
        if wanted.energies {
            let scale = b.energies.potential().abs() + b.kinetic;
            assert!((a.conserved - b.conserved).abs() < ENERGY * scale, "{} against {}", a.conserved, b.conserved);
            assert!(
                (a.temperature / b.temperature - 1.0).abs() < KINETIC,
                "{} against {}",
                a.temperature,
                b.temperature
            );
        }
        let [a, b] = [ours.backend.thermostat_work().unwrap(), theirs.backend.thermostat_work().unwrap()];
        assert!((a - b).abs() <= KINETIC * (theirs.backend.kinetic_energy() + b.abs()), "work {a} against {b}");
        work = b;
    }
    assert!(work.abs() > 10.0, "a work of {work} kJ/mol tells nothing");
}

#[test]
fn stochastic_rescaling_with_a_barostat() {
    let kind = BarostatKind::CRescale;
    // 1 bar, the compressibility of water, in nm, kJ/mol, ps
    let barostat = Barostat { kind, pressure: 0.06, coupling_time: 0.5, compressibility: 7.5e-4, every: 3 };
    compare(&dynamics(ThermostatKind::VRescale, Some(barostat)));
}

#[test]
fn weak_coupling() {
    compare(&dynamics(ThermostatKind::Berendsen, None));
}

#[test]
fn the_host_waits_once_in_the_life_of_a_list() {
    let sample = Sample::load("peptide-charged").rigid();
    let dynamics = dynamics(ThermostatKind::VRescale, None);
    let mut simulation = simulation(&sample, sample.emulated(0), &dynamics);
    let mut steps = |number: u64| {
        let before = simulation.backend.device().tally();
        for _ in 0..number {
            simulation.step(Wanted::default(), |_| Ok(())).unwrap();
        }
        let after = simulation.backend.device().tally();
        (after.waits - before.waits, after.longest_record)
    };
    // the search tells how long the list is; then pruning, coupling and removal of motion, but nothing to wait for
    assert_eq!(steps(1).0, 1);
    let (waits, kernels) = steps(9);
    assert_eq!(waits, 0);
    assert!((1..=KERNELS).contains(&kernels), "{kernels} kernels");
    assert_eq!(steps(1).0, 1);
}

#[test]
fn a_run_on_a_device_goes_on_from_its_state() {
    let sample = Sample::load("peptide-charged").rigid();
    let dynamics = dynamics(ThermostatKind::VRescale, None);
    let mut whole = simulation(&sample, sample.emulated(0), &dynamics);
    let go = |simulation: &mut Simulation<'_, _>, number: u64| -> State {
        for _ in 0..number {
            simulation.step(Wanted::default(), |_| Ok(())).unwrap();
        }
        let mut state = State::default();
        simulation.download(&mut state).unwrap();
        state
    };
    let half = go(&mut whole, 7);
    let origins = whole.list_origins().unwrap();
    let rules = (sample.schedule(), 7, whole.degrees_of_freedom);
    let backend = sample.emulated(0);
    let mut again = Simulation::new(backend, (&sample.system, &dynamics), rules, &half, (7, 0.0), origins).unwrap();
    assert_eq!(go(&mut again, 5), go(&mut whole, 5));
    assert!(half.coupling.thermostat_work != 0.0);
}
