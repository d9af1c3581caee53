//! Tests that compare position restraints on an emulated device with those on the host.

use crate::backend::cuda::Cuda;
use crate::backend::cuda::emulator::device::Emulated;
use crate::backend::{Backend, Evaluation, Host, Leapfrog, Reference, Workload};
use crate::ensemble::barostat::{BoxScaling, Relaxation};
use crate::ensemble::schedule::Schedule;
use crate::pair::ListSchedule;
use crate::restraint::{Held, PositionRestraints, ReferenceScaling, Restraints};
use crate::simd::Level;
use crate::system::{Electrostatics, State};
use crate::team::Team;
use crate::testing::{EVERYTHING, Sample};
use crate::vec3::{Vec3, vec3};
use std::sync::Arc;

const TIMESTEP: f64 = 0.001;
const K: f64 = 1000.0;
/// Tolerance of energies and forces. Device and host compute in `f64`. The device rounds each force to a multiple of
/// 2⁻³² kJ/mol/nm, and the energy of each warp to a multiple of 2⁻²⁴ kJ/mol.
const ROUNDING: f64 = 1e-5;
/// Tolerance of work. Work adds up over steps, in which the positions on device and host differ because of rounding
/// errors of all other forces.
const WORK: f64 = 1e-4;

/// Returns restraints of every third atom to a reference position about 0.05 nm away. The reference cell is slightly
/// larger than the cell.
fn restraints(sample: &Sample, scaling: ReferenceScaling, flat_radius: f64, k: impl Into<Schedule>) -> Restraints {
    let offset = |atom: u32| vec3(0.05, -0.03 * f64::from(atom % 2), 0.01 * f64::from(atom % 5));
    let atoms = (0..sample.state.positions.len() as u32).step_by(3);
    // in periodic samples the reference positions of some atoms are in another periodic image than the atoms
    let own = |atom: u32| {
        sample.state.cell.map_or(([0; 3], Vec3::ZERO), |cell| {
            let image = [i32::from(atom.is_multiple_of(2)), -2, 0];
            (image, cell.shift(image))
        })
    };
    let of_atom = |atom: u32| {
        let (image, shift) = own(atom);
        Held { atom, reference: sample.state.positions[atom as usize] - shift + offset(atom), image }
    };
    let held: Vec<Held> = atoms.map(of_atom).collect();
    let held_count = held.len() as f64;
    let center = held.iter().map(|held| held.reference / held_count).sum();
    let cell = sample.state.cell.map(|cell| cell.scaled(1.01));
    let held = PositionRestraints { force_constant: k.into(), flat_radius, scaling, cell, center, held };
    Restraints { positions: vec![Arc::new(held)], collective: vec![] }
}

fn host(sample: &Sample) -> Host<Reference> {
    let reference = Reference::new(&sample.system).expect("a supported system");
    let mut host = Host::new(&sample.system, reference, Level::Portable, Team::single()).expect("a supported system");
    host.upload(&sample.state).expect("a state");
    host
}

fn evaluated(backend: &mut impl Backend, restraints: &Restraints) -> Evaluation {
    backend.restrain(restraints, &[]).expect("restraints");
    backend.forces(EVERYTHING).expect("forces");
    backend.evaluation().clone()
}

/// Returns the energy, forces and virial that restraints add to `free`, the evaluation without restraints.
fn added(held: &Evaluation, free: &Evaluation) -> (f64, Vec<Vec3>, [[f64; 3]; 3]) {
    let forces = held.forces.iter().zip(&free.forces).map(|(a, b)| *a - *b).collect();
    let virial = [0, 1, 2].map(|row| [0, 1, 2].map(|column| held.virial.0[row][column] - free.virial.0[row][column]));
    assert_eq!(free.energies.position_restraint, 0.0);
    (held.energies.position_restraint, forces, virial)
}

/// Returns a system whose forces between atoms are cheap, because they cancel where restraints are compared.
fn cheap(name: &str) -> Sample {
    let mut sample = Sample::load(name);
    let settings = &mut sample.system.settings;
    settings.electrostatics = Electrostatics::Off;
    let cutoff = sample.state.cell.map(|_| 0.5);
    (settings.cutoff, settings.cutoff_lj) = (cutoff, cutoff);
    sample
}

#[test]
fn energies_forces_and_virial_are_those_of_the_host() {
    let scalings = [ReferenceScaling::None, ReferenceScaling::CenterOfMass, ReferenceScaling::All];
    for name in ["octahedron", "peptide-vacuum"] {
        let sample = cheap(name);
        let (mut host, mut devices) = (host(&sample), [0, 1].map(|order| sample.emulated(order)));
        let free = evaluated(&mut host, &Restraints::default());
        let free_on_device = devices.each_mut().map(|cuda| evaluated(cuda, &Restraints::default()));
        for (scaling, flat) in scalings.into_iter().flat_map(|scaling| [(scaling, 0.0), (scaling, 0.055)]) {
            let restraints = restraints(&sample, scaling, flat, K);
            let (energy, forces, virial) = added(&evaluated(&mut host, &restraints), &free);
            assert!(energy > 0.1, "{energy} kJ/mol tells nothing");
            for (cuda, free) in devices.iter_mut().zip(&free_on_device) {
                let (e, f, w) = added(&evaluated(cuda, &restraints), free);
                let what = format!("{name}, {scaling:?}, {flat} nm");
                assert!((e - energy).abs() < ROUNDING, "{what}: {e} against {energy}");
                for (mine, theirs) in f.iter().zip(&forces) {
                    assert!((*mine - *theirs).norm() < ROUNDING, "{what}: {mine:?} against {theirs:?}");
                }
                for (mine, theirs) in w.as_flattened().iter().zip(virial.as_flattened()) {
                    assert!((mine - theirs).abs() < ROUNDING, "{what}: {w:?} against {virial:?}");
                }
            }
        }
    }
}

/// Returns a schedule in which the force constant rises over ten steps.
fn rising() -> Schedule {
    Schedule::new(vec![(0.0, K), (10.0 * TIMESTEP, 5.0 * K)]).expect("times ascend")
}

/// Makes the step with index `number` since the start of the stage, with a barostat after each third step.
fn step(backend: &mut impl Backend, number: u64, energy: bool) {
    let (scaled, pending) = (number % 3 == 2, number > 0 && number.is_multiple_of(3));
    let virial = energy || scaled || pending;
    let restraint_time = number as f64 * TIMESTEP;
    backend.forces(Workload { energy, virial, restraint_time, ..Workload::FORCES }).expect("forces");
    let leapfrog =
        Leapfrog { timestep: TIMESTEP, virial: energy, kinetic: energy, coupled: scaled, ..Default::default() };
    backend.integrate(Leapfrog { pending_work: pending, ..leapfrog }, None).expect("a step");
    if scaled {
        let (rate, pressure, thermal, noise, stochastic) = (1e-6, 1.0, 1.0, 0.001, true);
        let relaxation = Relaxation { rate, pressure, thermal, noise, stochastic };
        backend.scale_box(BoxScaling::isotropic(relaxation)).expect("a cell");
    }
}

fn positions(backend: &impl Backend) -> Vec<Vec3> {
    let mut state = State::default();
    backend.download(&mut state).expect("a state");
    state.positions
}

fn restrained(sample: &Sample, order: u32, restraints: &Restraints) -> Cuda<Emulated> {
    let mut cuda = sample.emulated(order);
    cuda.restrain(restraints, &[]).expect("restraints");
    cuda
}

#[test]
fn a_force_constant_that_changes_does_the_work_of_the_host() {
    let sample = Sample::load("peptide-charged").rigid();
    let restraints = restraints(&sample, ReferenceScaling::All, 0.0, rising());
    let (mut cuda, mut host) = (restrained(&sample, 0, &restraints), host(&sample));
    host.restrain(&restraints, &[]).expect("restraints");
    for number in 0..12 {
        step(&mut cuda, number, true);
        step(&mut host, number, true);
        let [ours, theirs] = [cuda.restraining(), host.restraining()].map(|found| found.expect("restraints").work());
        assert!((ours - theirs).abs() <= WORK * theirs.abs(), "step {number}: work {ours} against {theirs}");
        assert!(number < 2 || theirs > 1.0, "{theirs} kJ/mol tells nothing");
        let [ours, theirs] = [cuda.evaluation(), host.evaluation()].map(|found| found.energies.position_restraint);
        assert!((ours - theirs).abs() <= WORK * theirs, "step {number}: energy {ours} against {theirs}");
    }
}

#[test]
fn steps_give_the_same_bits_whatever_is_looked_at() {
    let sample = Sample::load("peptide-charged").rigid();
    let restraints = restraints(&sample, ReferenceScaling::CenterOfMass, 0.01, rising());
    let mut expected = restrained(&sample, 0, &restraints);
    (0..8).for_each(|number| step(&mut expected, number, false));
    let progress = expected.restraint_progress().expect("a number");
    for order in 0..3 {
        let mut other = restrained(&sample, order, &restraints);
        (0..8).for_each(|number| step(&mut other, number, number % 3 == u64::from(order)));
        assert!(positions(&other) == positions(&expected), "order {order}");
        assert_eq!(other.restraint_progress().expect("a number"), progress, "order {order}");
    }
    // a second run continues from an intermediate state of the first run
    let mut before = restrained(&sample, 0, &restraints);
    (0..4).for_each(|number| step(&mut before, number, false));
    let mut state = State::default();
    before.download(&mut state).expect("a state");
    let mut behind = sample.emulated(0);
    behind.restrain(&restraints, &before.restraint_progress().expect("a number")).expect("restraints");
    behind.upload(&state).expect("a state");
    (4..8).for_each(|number| step(&mut behind, number, false));
    assert!(positions(&behind) == positions(&expected));
    assert_eq!(behind.restraint_progress().expect("a number"), progress);
}

#[test]
fn steps_that_are_replayed_have_their_own_force_constants() {
    let mut sample = Sample::load("argon");
    // the velocities are so high that the lists expire after some steps
    sample.state.velocities = (0..sample.state.positions.len()).map(|k| vec3(4.0, 0.0, k as f64 * 1e-3)).collect();
    let restraints = restraints(&sample, ReferenceScaling::None, 0.0, rising());
    let lists = ListSchedule::exact(sample.system.settings.longest_cutoff() + 0.05);
    let run = |must_know: bool| {
        let mut cuda = Cuda::new(&sample.system, Emulated::new(0), &lists).expect("a supported system");
        cuda.upload(&sample.state).expect("a state");
        cuda.restrain(&restraints, &[]).expect("restraints");
        cuda.build_lists().expect("lists");
        cuda.prune_lists(0.0).expect("lists");
        for number in 0..20 {
            if cuda.lists_expired(&lists, must_know).expect("no fault") {
                cuda.build_lists().expect("lists");
                cuda.prune_lists(0.0).expect("lists");
            }
            let restraint_time = number as f64 * TIMESTEP;
            cuda.forces(Workload { restraint_time, ..Workload::FORCES }).expect("forces");
            cuda.integrate(Leapfrog { timestep: TIMESTEP, ..Leapfrog::default() }, None).expect("a step");
        }
        cuda.lists_expired(&lists, true).expect("no fault");
        assert!(cuda.searches() > 1, "no lists expired");
        (positions(&cuda), cuda.restraint_progress().expect("a number"))
    };
    assert!(run(false) == run(true));
}
