//! Tests that compare runs on an emulated device with runs on the host with reference forces.

use super::*;
use crate::backend::cuda::{Cuda, Emulated};
use crate::backend::{External, Host, Reference};
use crate::cell::PeriodicCell;
use crate::ensemble::barostat::{BarostatKind, PressureCoupling};
use crate::ensemble::schedule::Schedule;
use crate::ensemble::thermostat::ThermostatKind;
use crate::pair::ListSchedule;
use crate::run::plan::{Dynamics, Velocities};
use crate::simd::Level;
use crate::system::Coupling;
use crate::team::Team;
use crate::testing::Sample;

const TIMESTEP: f64 = 0.002;
/// Number of steps of each run: a little more than the lifetime of one pair list of the sample.
const STEPS: u64 = 12;
/// Allowed relative difference between the kinetic energies on the emulated device and on the host. Forces have a
/// relative error of 2·10⁻⁵ and change velocities by a tenth during the run. The errors of thousands of squared
/// velocities average out.
const KINETIC: f64 = 1e-6;
/// Allowed relative difference between the conserved energies on the emulated device and on the host. The project's
/// limit is 10⁻⁶ of the sum of the absolute energy terms. The energy is a third of the sum of the absolute energy
/// terms, because positive and negative terms cancel.
const ENERGY: f64 = 3e-6;
/// Number of GPU kernels in a step without output, for a system with every kind of interaction. The design limit of the
/// project is 14 kernels per step. A step that packs positions needs one more kernel.
const KERNELS: u32 = 7;

pub(super) fn dynamics(kind: ThermostatKind, barostat: Option<Barostat>) -> Dynamics {
    let (thermostat, velocities) = (Some(Thermostat::new(kind, 350.0, 0.1, 2)), Velocities::File);
    let com_removal = Some(5);
    Dynamics { steps: STEPS, timestep: TIMESTEP, velocities, thermostat, barostat, com_removal, ..Dynamics::default() }
}

pub(super) fn setup<'a>(sample: &Sample, dynamics: &'a Dynamics) -> Setup<'a> {
    Setup::new(&sample.system, dynamics, 7, true).unwrap()
}

pub(super) fn simulation<'a, B: Backend>(sample: &Sample, backend: B, dynamics: &'a Dynamics) -> Simulation<'a, B> {
    let context = Context::new(Box::new(backend), sample.schedule());
    Simulation::new(context, setup(sample, dynamics), &sample.state, StageProgress::default()).unwrap()
}

/// Compares the energies on the emulated device and on the host at every third step.
fn compare(dynamics: &Dynamics) {
    let sample = Sample::load("peptide-charged").rigid();
    let host =
        Host::new(&sample.system, Reference::new(&sample.system).unwrap(), Level::Portable, Team::single()).unwrap();
    let (mut ours, mut theirs) =
        (simulation(&sample, sample.emulated(0), dynamics), simulation(&sample, host, dynamics));
    let (mut work, mut kinetic) = (0.0, 0.0);
    for step in 0..STEPS {
        let wanted = Wanted { energies: step % 3 == 0 };
        let (a, b) = (ours.step(wanted, |_| Ok(())).unwrap(), theirs.step(wanted, |_| Ok(())).unwrap());
        if wanted.energies {
            kinetic = b.kinetic;
            let scale = b.energies.potential().abs() + b.kinetic;
            assert!((a.conserved - b.conserved).abs() < ENERGY * scale, "{} against {}", a.conserved, b.conserved);
            assert!(
                (a.temperature / b.temperature - 1.0).abs() < KINETIC,
                "{} against {}",
                a.temperature,
                b.temperature
            );
        }
        let [a, b] = [ours.backend().coupling().unwrap(), theirs.backend().coupling().unwrap()];
        let [a, b] = [a.thermostat_work, b.thermostat_work];
        assert!((a - b).abs() <= KINETIC * (kinetic + b.abs()), "work {a} against {b}");
        work = b;
    }
    assert!(work.abs() > 10.0, "a work of {work} kJ/mol tells nothing");
}

/// Creates a barostat at 1 bar with the compressibility of water, in units of nm, kJ/mol, ps.
pub(super) fn barostat(every: u32) -> Barostat {
    Barostat {
        kind: BarostatKind::CRescale,
        coupling: PressureCoupling::Isotropic,
        pressure: [0.06; 3].map(Schedule::from),
        surface_tension: 0.0,
        coupling_time: 0.5,
        compressibility: [7.5e-4; 3],
        every,
    }
}

#[test]
fn stochastic_rescaling_with_a_barostat() {
    compare(&dynamics(ThermostatKind::VRescale, Some(barostat(3))));
}

#[test]
fn weak_coupling() {
    compare(&dynamics(ThermostatKind::Berendsen, None));
}

pub(super) fn go<B: Backend>(simulation: &mut Simulation<'_, B>, number: u64) -> State {
    for _ in 0..number {
        simulation.step(Wanted::default(), |_| Ok(())).unwrap();
    }
    simulation.flush().unwrap();
    let mut state = State::default();
    simulation.download(&mut state).unwrap();
    state
}

/// Runs `steps[0]` steps, then `steps[1]` steps, and so on. Returns how often the host waits for the device during each
/// series of `steps[i]` steps, and the number of kernels in the longest captured CUDA graph.
fn waits(sample: &Sample, dynamics: &Dynamics, steps: &[u64]) -> (Vec<u32>, u32) {
    let mut simulation = simulation(sample, sample.emulated(0), dynamics);
    let mut waits = |&number: &u64| {
        let before = simulation.backend().device().tally().waits;
        for _ in 0..number {
            simulation.step(Wanted::default(), |_| Ok(())).unwrap();
        }
        simulation.backend().device().tally().waits - before
    };
    let found = steps.iter().map(&mut waits).collect();
    (found, simulation.backend().device().tally().longest_captured)
}

#[test]
fn the_host_waits_only_at_the_end_of_a_list() {
    let sample = Sample::load("peptide-charged").rigid();
    // the host waits only for the pair search, which returns the list length; pruning, couplings and the removal of
    // center-of-mass motion need no wait
    let (found, kernels) = waits(&sample, &dynamics(ThermostatKind::VRescale, None), &[1, 9, 1]);
    assert_eq!(found, [1, 0, 1]);
    assert!((1..=KERNELS + 1).contains(&kernels), "{kernels} kernels");
    // with a barostat the host also waits for the scaled cell
    let (found, kernels) = waits(&sample, &dynamics(ThermostatKind::VRescale, Some(barostat(3))), &[1, 9, 1]);
    assert_eq!(found, [1, 0, 2]);
    assert!((1..=KERNELS + 1).contains(&kernels), "{kernels} kernels");
    // without a cell, the host waits for the bounding box of the atoms before a pair search, and for the list length
    // after a pair search. The host does not wait for the removal of rotation
    let sample = Sample::load("peptide-vacuum").rigid();
    let dynamics = Dynamics { com_removal: Some(2), ..dynamics(ThermostatKind::VRescale, None) };
    assert_eq!(waits(&sample, &dynamics, &[1, 9, 1]).0, [2, 0, 2]);
}

/// Counts the kernels of twenty steps with the usual couplings, during the lifetime of one list.
fn kernels(barostat: Option<Barostat>) -> u32 {
    let sample = Sample::load("peptide-charged").rigid();
    let mut dynamics = Dynamics { com_removal: None, ..dynamics(ThermostatKind::VRescale, barostat) };
    dynamics.thermostat.iter_mut().for_each(|thermostat| thermostat.every = 10);
    let lists = ListSchedule { rebuild: 40, prune: 40, ..sample.schedule() };
    let backend = on_device(&sample, &lists);
    let context = Context::new(Box::new(backend), lists);
    let setup = setup(&sample, &dynamics);
    let mut simulation = Simulation::new(context, setup, &sample.state, StageProgress::default()).unwrap();
    let count = |simulation: &mut Simulation<'_, Cuda<Emulated>>, number| {
        (0..number).for_each(|_| _ = simulation.step(Wanted::default(), |_| Ok(())).unwrap());
        simulation.backend().device().tally().kernels
    };
    let before = count(&mut simulation, 5);
    count(&mut simulation, 20) - before
}

#[test]
fn couplings_add_few_kernels() {
    // a thermostat adds one kernel to each step at which it acts, and a barostat adds two kernels; one more kernel in
    // the following step completes the work of the coupling. The step of the coupling and the following step need sums,
    // for which one more kernel per step packs positions
    assert_eq!(kernels(None), 20 * KERNELS + 2 * (1 + 1 + 2));
    assert_eq!(kernels(Some(barostat(10))), 20 * KERNELS + 2 * (1 + 2 + 1 + 2));
}

#[test]
fn a_run_on_a_device_goes_on_from_its_state() {
    let sample = Sample::load("peptide-charged").rigid();
    // at the step of the restart, half of the work of thermostat and barostat is still pending
    let dynamics = dynamics(ThermostatKind::VRescale, Some(barostat(3)));
    let mut whole = simulation(&sample, sample.emulated(0), &dynamics);
    let half = go(&mut whole, 6);
    let origins = whole.list_origins().unwrap();
    let context = Context::new(Box::new(sample.emulated(0)), sample.schedule());
    let progress = StageProgress { steps: 6, first_time: 0.0, lists: origins };
    let mut again = Simulation::new(context, setup(&sample, &dynamics), &half, progress).unwrap();
    assert_eq!(go(&mut again, 6), go(&mut whole, 6));
    let Coupling { thermostat_work, barostat_work, pending_scaling, pending_rescaling, .. } = half.coupling;
    let pending = [pending_scaling.x, pending_rescaling[0]];
    assert!([thermostat_work, barostat_work].iter().chain(&pending).all(|part| *part != 0.0));
}

/// Buffer (nm) of pair lists that are rebuilt when atoms have moved too far. With this buffer a list lasts about three
/// steps.
const EXACT: f64 = 0.06;
const LIVES: u64 = 16;

fn on_device(sample: &Sample, lists: &ListSchedule) -> Cuda<Emulated> {
    Cuda::new(&sample.system, Emulated::new(0), lists).unwrap()
}

/// Creates a simulation, on any backend, with pair lists that are rebuilt when atoms have moved too far.
fn with_exact_lists<'a, B: Backend>(
    sample: &Sample,
    dynamics: &'a Dynamics,
    backend: impl FnOnce(&ListSchedule) -> B,
) -> Simulation<'a, B> {
    let lists = ListSchedule::exact(0.9 + EXACT);
    let context = Context::new(Box::new(backend(&lists)), lists);
    Simulation::new(context, setup(sample, dynamics), &sample.state, StageProgress::default()).unwrap()
}

#[test]
fn lists_by_displacement_end_at_the_same_step_whenever_the_host_looks() {
    let sample = Sample::load("peptide-charged").rigid();
    let dynamics = dynamics(ThermostatKind::VRescale, Some(barostat(3)));
    let device = |lists: &ListSchedule| on_device(&sample, lists);
    let mut quiet = with_exact_lists(&sample, &dynamics, device);
    let mut looking = with_exact_lists(&sample, &dynamics, device);
    let mut host = with_exact_lists(&sample, &dynamics, |_| {
        let reference = Reference::new(&sample.system).unwrap();
        Host::new(&sample.system, reference, Level::Portable, Team::single()).unwrap()
    });
    let before = quiet.backend().device().tally().waits;
    (0..LIVES).for_each(|_| _ = quiet.step(Wanted::default(), |_| Ok(())).unwrap());
    let waits = quiet.backend().device().tally().waits - before;
    let end = go(&mut quiet, 0);
    for step in 0..LIVES {
        looking.step(Wanted { energies: true }, |_| Ok(())).unwrap();
        assert_eq!(looking.step_number(), step + 1);
        host.step(Wanted::default(), |_| Ok(())).unwrap();
    }
    assert_eq!(go(&mut looking, 0), end);
    assert_eq!(quiet.searches(), looking.searches());
    assert_eq!(quiet.searches(), host.searches());
    let lives = quiet.searches();
    assert!((3..=LIVES / 2).contains(&lives), "{lives} lists");
    // during the lifetime of a list the host waits at least three times: for the check of displacements, for the cell
    // and for the list length
    assert!(waits < 6 * lives as u32, "{waits} waits for {lives} lists");
}

#[test]
fn a_run_with_lists_by_displacement_goes_on_from_its_state() {
    let sample = Sample::load("peptide-charged").rigid();
    let dynamics = dynamics(ThermostatKind::VRescale, Some(barostat(3)));
    let device = |lists: &ListSchedule| on_device(&sample, lists);
    let mut whole = with_exact_lists(&sample, &dynamics, device);
    let half = go(&mut whole, 8);
    let origins = whole.list_origins().unwrap();
    let lists = *whole.context.schedule();
    let context = Context::new(Box::new(device(&lists)), lists);
    let progress = StageProgress { steps: 8, first_time: 0.0, lists: origins };
    let mut again = Simulation::new(context, setup(&sample, &dynamics), &half, progress).unwrap();
    assert_eq!(go(&mut again, 8), go(&mut whole, 8));
    assert!(again.searches() > 1);
}

/// Tests an external force: in a gravitational field the center of mass falls freely, independent of internal forces,
/// and the total energy includes the energy of the field.
#[test]
fn external_force() {
    const FALL: f64 = 500.0; // acceleration of the gravitational field, nm/ps²
    let sample = Sample::load("water").rigid();
    let masses: Vec<f64> = sample.system.topology.atoms.iter().map(|atom| atom.mass).collect();
    let mass: f64 = masses.iter().sum();
    let field = {
        let masses = masses.clone();
        move |_: Option<&PeriodicCell>, positions: &[Vec3], forces: &mut [Vec3]| {
            let energy = positions.iter().zip(&masses).map(|(r, m)| -m * FALL * r.z).sum();
            forces.iter_mut().zip(&masses).for_each(|(force, m)| force.z += m * FALL);
            External { energy, ..External::default() }
        }
    };
    let dynamics = Dynamics { thermostat: None, com_removal: None, ..dynamics(ThermostatKind::VRescale, None) };
    let host =
        Host::new(&sample.system, Reference::new(&sample.system).unwrap(), Level::Portable, Team::single()).unwrap();
    let mut context = Context::new(Box::new(host), sample.schedule());
    context.add_external_force(field).unwrap();
    let mut falling =
        Simulation::new(context, setup(&sample, &dynamics), &sample.state, StageProgress::default()).unwrap();
    let momentum = |state: &State| state.velocities.iter().zip(&masses).map(|(v, m)| v.z * m).sum::<f64>();
    let observed = |simulation: &mut Simulation<'_, _>| simulation.step(Wanted { energies: true }, |_| Ok(())).unwrap();
    let first = observed(&mut falling);
    for _ in 2..STEPS {
        falling.step(Wanted::default(), |_| Ok(())).unwrap();
    }
    let last = observed(&mut falling);
    let mut state = State::default();
    falling.download(&mut state).unwrap();
    let gained = (momentum(&state) - momentum(&sample.state)) / mass;
    let expected = FALL * TIMESTEP * STEPS as f64;
    // PME mesh forces do not sum to zero. The net mesh force is about 10⁻⁴ of the mesh forces, which is 10⁻³ of the
    // external force
    assert!((gained / expected - 1.0).abs() < 1e-7, "{gained} against {expected}");
    let fallen = last.energies.external - first.energies.external;
    assert!(fallen < -100.0 * (last.conserved - first.conserved).abs(), "{fallen} {first:?} {last:?}");
    let of_parts = last.energies.lj + last.energies.coulomb + last.energies.external;
    assert!((last.energies.potential() - of_parts).abs() < 1e-9 * of_parts.abs());
}
