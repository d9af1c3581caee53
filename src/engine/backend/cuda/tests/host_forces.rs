//! Tests that compare restraints of collective variables and external forces on an emulated device with those on the
//! host.

use super::motion::{host, largest_difference, state_of};
use crate::backend::cuda::Cuda;
use crate::backend::cuda::emulator::device::Emulated;
use crate::backend::{Backend, Evaluation, External, Leapfrog, Workload};
use crate::cell::PeriodicCell;
use crate::ensemble::barostat::{BoxScaling, Relaxation};
use crate::error::Result;
use crate::pair::ListSchedule;
use crate::restraint::{
    CollectiveRestraint, Group, Members, Potential, RestraintSample, Restraints, Superposed, Variable, Well,
};
use crate::testing::{EVERYTHING, Sample, TRIAL_LISTS, volume_trial};
use crate::vec3::{Mat3, Vec3, vec3};
use std::sync::Arc;

const TIMESTEP: f64 = 0.001;
/// Tolerance of energies, forces and virial. The same host code computes restraints and external forces for both
/// backends. The device rounds each force to a multiple of 2⁻³² kJ/mol/nm, and each component of the virial to a
/// multiple of 2⁻²⁴ kJ/mol; differences of evaluations with and without the terms also contain the rounding errors of
/// the other terms.
const ROUNDING: f64 = 1e-5;
/// Relative tolerance of work. Work adds up over steps, in which the positions on device and host differ because of
/// rounding errors of all other forces.
const WORK: f64 = 1e-4;
/// Largest difference of positions that a step adds, nm: the rounding error of the force on a hydrogen atom, 0.2
/// kJ/mol/nm as derived in [`super::motion`], times dt²/m.
const POSITION: f64 = 2e-7;
/// Relative tolerance of lengths that the barostat scales twice. The factors of the barostat are 1 + rate · ΔP/3. The
/// pressure is 10³ kJ/mol/nm³ and has the relative error of virials, 10⁻⁴ ([`super::motion`]), so that the error of
/// each factor is rate · 0.1/3 = 3·10⁻⁷.
const LENGTH: f64 = 1e-6;

const HARMONIC: Well = Well {
    center: Some(0.1),
    rate: 0.0,
    below: Some(0.0),
    above: Some(0.0),
    force_constant: 500.0,
    linear_beyond: None,
};

/// Returns one collective variable of each kind, for the atoms of a peptide. Distances, angles and torsions are between
/// the centers of groups of three atoms. The RMSD is that of twelve atoms from reference positions, which are their
/// displaced initial positions.
fn variables(sample: &Sample) -> Vec<Variable> {
    let topology = &sample.system.topology;
    let (mass, molecules) = (|atom: u32| topology.atoms[atom as usize].mass, topology.molecules());
    let group =
        |k: u32| Group::new(&[3 * k, 3 * k + 1, 3 * k + 2], mass, &molecules, Some(0)).expect("atoms with mass");
    let place = |atom: u32| sample.state.positions[atom as usize] + vec3(0.05, -0.04, 0.03) * f64::from(atom % 4);
    let references: Vec<Vec3> = (0..12).map(place).collect();
    vec![
        Variable::Distance([0, 3].map(group), [true; 3]),
        Variable::Distance([0, 2].map(group), [true, true, false]),
        Variable::Angle([0, 1, 3].map(group)),
        Variable::Torsion([0, 1, 2, 3].map(group)),
        Variable::Rmsd(Superposed::new(Members::new((0..12).collect(), &molecules, None), &references)),
    ]
}

/// Returns a restraint for each variable and each form of the potential.
fn every_restraint(sample: &Sample) -> Restraints {
    let potentials = [
        Potential::Well(HARMONIC),
        Potential::Well(Well { below: Some(0.02), above: Some(0.01), linear_beyond: Some(0.1), ..HARMONIC }),
        Potential::Well(Well { center: Some(5.0), above: None, ..HARMONIC }),
        Potential::Force(-35.0),
    ];
    let each = |variable: Variable| {
        potentials.map(|potential| Arc::new(CollectiveRestraint { variable: variable.clone(), potential }))
    };
    Restraints { collective: variables(sample).into_iter().flat_map(each).collect(), ..Restraints::default() }
}

/// Returns a restraint that pulls the first variable, and a restraint that pulls the torsion.
fn pulling(sample: &Sample) -> Restraints {
    let variables = variables(sample);
    let pulled = |index: usize, rate: f64| {
        let well = Well { center: None, rate, force_constant: 2000.0, ..HARMONIC };
        Arc::new(CollectiveRestraint { variable: variables[index].clone(), potential: Potential::Well(well) })
    };
    Restraints { collective: vec![pulled(0, 5.0), pulled(3, -8.0)], ..Restraints::default() }
}

/// Computes an external force on all atoms that depends on positions and whose virial is not symmetric.
fn shear(_: Option<&PeriodicCell>, positions: &[Vec3], forces: &mut [Vec3]) -> External {
    let mut sum = External::default();
    for (atom, (r, force)) in positions.iter().zip(forces).enumerate() {
        let push = vec3(3.0 * r.y, -1.0, 0.2 * (atom % 7) as f64);
        *force += push;
        sum.energy -= push.dot(*r);
        sum.virial += Mat3::outer(*r, push);
    }
    sum
}

/// Returns the energies, forces and virial that `load` adds to a backend, as differences of evaluations with and
/// without `load`.
fn added<B: Backend>(mut backend: B, load: impl FnOnce(&mut B)) -> (Evaluation, Vec<RestraintSample>) {
    backend.forces(EVERYTHING).expect("forces");
    let free = backend.evaluation().clone();
    assert_eq!([free.energies.restraint, free.energies.external], [0.0; 2]);
    load(&mut backend);
    backend.forces(EVERYTHING).expect("forces");
    let mut loaded = backend.evaluation().clone();
    loaded.forces.iter_mut().zip(&free.forces).for_each(|(force, free)| *force -= *free);
    loaded.virial += free.virial.scaled(-1.0);
    (loaded, backend.restraining().expect("restraints").samples().to_vec())
}

fn compare(sample: &Sample, restraints: &Restraints, external: bool) {
    let (expected, values) = added(host(sample), |host| load(host, restraints, external));
    for order in 0..2 {
        let (found, samples) = added(sample.emulated(order), |cuda| load(cuda, restraints, external));
        for (mine, theirs) in samples.iter().zip(&values) {
            let [mine, theirs] = [mine, theirs].map(|sample| [sample.value, sample.force, sample.energy]);
            assert_eq!(mine, theirs);
        }
        let energies = |of: &Evaluation| [of.energies.restraint, of.energies.external];
        for (mine, theirs) in energies(&found).into_iter().zip(energies(&expected)) {
            assert!((mine - theirs).abs() < ROUNDING, "an energy of {mine} against {theirs}");
        }
        let off = largest_difference(&found.forces, &expected.forces);
        assert!(off < ROUNDING, "forces differ by {off} kJ/mol/nm");
        for (mine, theirs) in found.virial.0.as_flattened().iter().zip(expected.virial.0.as_flattened()) {
            assert!((mine - theirs).abs() < ROUNDING, "{:?} against {:?}", found.virial, expected.virial);
        }
    }
    let largest = expected.forces.iter().map(|force| force.norm()).fold(0.0, f64::max);
    assert!(largest > 1.0 && expected.virial.trace().abs() > 1.0, "{largest} kJ/mol/nm tell nothing");
}

fn load(backend: &mut impl Backend, restraints: &Restraints, external: bool) {
    backend.restrain(restraints, &[]).expect("restraints");
    if external {
        backend.add_external_force(Box::new(shear)).expect("an external force");
    }
}

#[test]
fn energies_forces_and_virial_are_those_of_the_host() {
    for name in ["octahedron", "peptide-vacuum"] {
        let sample = Sample::load(name);
        let restraints = every_restraint(&sample);
        compare(&sample, &restraints, false);
        compare(&sample, &restraints, true);
    }
    // external forces also act on virtual sites
    compare(&Sample::load("tip4pew").rigid(), &Restraints::default(), true);
}

/// A barostat without noise. The rate of the barostat is so high that the virial of the restraints changes the cell
/// visibly.
const BAROSTAT: Relaxation = Relaxation { rate: 1e-5, pressure: 1.0, thermal: 1.0, noise: 0.0, stochastic: false };

/// Makes the step with index `number` since the start of the stage, with a barostat after each third step.
fn step(backend: &mut impl Backend, number: u64, energy: bool) {
    let (scaled, pending) = (number % 3 == 2, number > 0 && number.is_multiple_of(3));
    let restraint_time = number as f64 * TIMESTEP;
    let virial = energy || scaled || pending;
    backend.forces(Workload { energy, virial, restraint_time, ..Workload::FORCES }).expect("forces");
    let leapfrog = Leapfrog { timestep: TIMESTEP, virial: energy, kinetic: energy, ..Leapfrog::default() };
    backend.integrate(Leapfrog { coupled: scaled, pending_work: pending, ..leapfrog }, None).expect("a step");
    if scaled {
        backend.scale_box(BoxScaling::isotropic(BAROSTAT)).expect("a cell");
    }
}

fn work(backend: &impl Backend) -> f64 {
    backend.restraining().expect("restraints").work()
}

/// Makes steps on the device and on the host, and compares work, positions and cells.
fn compare_steps(sample: &Sample, external: bool, steps: u64) {
    let restraints = pulling(sample);
    let (mut cuda, mut host, mut free) = (sample.emulated(0), host(sample), host(sample));
    load(&mut cuda, &restraints, external);
    load(&mut host, &restraints, external);
    for number in 0..steps {
        // steps without energies must contribute to the work, too
        step(&mut cuda, number, number % 10 == 9);
        step(&mut host, number, number % 10 == 9);
        step(&mut free, number, false);
        let [ours, theirs] = [work(&cuda), work(&host)];
        assert!((ours - theirs).abs() <= WORK * theirs.abs().max(1.0), "step {number}: work {ours} against {theirs}");
    }
    assert!(work(&host).abs() > 1.0, "{} kJ/mol tells nothing", work(&host));
    let (ours, theirs, unloaded) = (state_of(&cuda), state_of(&host), state_of(&free));
    let allowed = POSITION * (steps * (steps + 1) / 2) as f64;
    let off = largest_difference(&ours.positions, &theirs.positions);
    assert!(off < allowed, "positions differ by {off:e} nm");
    assert!(largest_difference(&theirs.positions, &unloaded.positions) > 3.0 * allowed, "restraints do nothing");
    let [edge, expected, without] =
        [&ours, &theirs, &unloaded].map(|state| state.cell.map_or(0.0, |cell| cell.rows()[0].x));
    assert!((edge - expected).abs() <= LENGTH * expected, "an edge of {edge} against {expected} nm");
    assert!(ours.cell.is_none() || (without - expected).abs() > 10.0 * LENGTH * expected, "{without} {expected}");
}

#[test]
fn pulling_without_a_cell_does_the_work_of_the_host() {
    compare_steps(&Sample::load("peptide-vacuum").rigid(), false, 50);
}

#[test]
fn pulling_and_external_forces_in_a_cell_with_a_barostat_do_the_work_of_the_host() {
    compare_steps(&Sample::load("peptide-charged").rigid(), true, 8);
}

#[test]
fn steps_give_the_same_bits_whatever_is_looked_at() {
    let sample = Sample::load("peptide-charged").rigid();
    let loaded = |order: u32| {
        let mut cuda = sample.emulated(order);
        load(&mut cuda, &pulling(&sample), true);
        cuda
    };
    let mut expected = loaded(0);
    (0..8).for_each(|number| step(&mut expected, number, false));
    let (state, progress) = (state_of(&expected), expected.restraint_progress().expect("a number"));
    for order in 0..3 {
        let mut other = loaded(order);
        (0..8).for_each(|number| step(&mut other, number, number % 3 == u64::from(order)));
        assert!(state_of(&other).positions == state.positions, "order {order}");
        assert_eq!(other.restraint_progress().expect("a number"), progress, "order {order}");
    }
    // a second run continues from an intermediate state of the first run
    let mut before = loaded(0);
    (0..4).for_each(|number| step(&mut before, number, false));
    let mut behind = sample.emulated(0);
    behind.add_external_force(Box::new(shear)).expect("an external force");
    behind.restrain(&pulling(&sample), &before.restraint_progress().expect("a number")).expect("restraints");
    behind.upload(&state_of(&before)).expect("a state");
    (4..8).for_each(|number| step(&mut behind, number, false));
    assert!(state_of(&behind) == state);
    assert_eq!(behind.restraint_progress().expect("a number"), progress);
}

/// Returns argon atoms that move together, so fast that the lists expire after some steps, and a restraint that pulls
/// two of these atoms.
fn drifting() -> (Sample, Restraints, ListSchedule) {
    let mut sample = Sample::load("argon");
    sample.state.velocities = (0..sample.state.positions.len()).map(|k| vec3(4.0, 0.0, k as f64 * 1e-3)).collect();
    let molecules = sample.system.topology.molecules();
    let group = |atom: u32| Group::new(&[atom], |_| 40.0, &molecules, None).expect("a mass");
    let well = Well { center: None, rate: 20.0, force_constant: 2000.0, ..HARMONIC };
    let variable = Variable::Distance([group(0), group(1)], [true; 3]);
    let pulled = Arc::new(CollectiveRestraint { variable, potential: Potential::Well(well) });
    let lists = ListSchedule::exact(sample.system.settings.longest_cutoff() + 0.05);
    (sample, Restraints { collective: vec![pulled], ..Restraints::default() }, lists)
}

fn exact(sample: &Sample, restraints: &Restraints, lists: &ListSchedule) -> Cuda<Emulated> {
    let mut cuda = Cuda::new(&sample.system, Emulated::new(0), lists).expect("a supported system");
    cuda.restrain(restraints, &[]).expect("restraints");
    cuda.upload(&sample.state).expect("a state");
    cuda.build_lists().expect("lists");
    cuda.prune_lists(0.0).expect("lists");
    cuda
}

#[test]
fn lists_that_expire_do_not_change_the_work() {
    let (sample, restraints, lists) = drifting();
    let (mut cuda, mut host) = (exact(&sample, &restraints, &lists), host(&sample));
    host.restrain(&restraints, &[]).expect("restraints");
    for number in 0..20 {
        if cuda.lists_expired(&lists, false).expect("no fault") {
            cuda.build_lists().expect("lists");
            cuda.prune_lists(0.0).expect("lists");
        }
        let workload = Workload { restraint_time: number as f64 * TIMESTEP, ..Workload::FORCES };
        let leapfrog = Leapfrog { timestep: TIMESTEP, ..Leapfrog::default() };
        for backend in [&mut cuda as &mut dyn Backend, &mut host] {
            backend.forces(workload).expect("forces");
            backend.integrate(leapfrog, None).expect("a step");
        }
    }
    assert!(cuda.searches() > 1, "no lists expired");
    let [ours, theirs] = [work(&cuda), work(&host)];
    assert!(theirs > 1.0 && (ours - theirs).abs() < WORK * theirs, "work {ours} against {theirs}");
    let off = largest_difference(&state_of(&cuda).positions, &state_of(&host).positions);
    assert!(off < 210.0 * POSITION, "positions differ by {off:e} nm");
}

#[test]
fn forces_are_not_computed_for_a_step_that_the_device_does_not_make() {
    let (sample, restraints, lists) = drifting();
    let mut cuda = exact(&sample, &restraints, &lists);
    let mut unchecked = || -> Result<()> {
        for _ in 0..20 {
            cuda.forces(Workload::FORCES)?;
            cuda.integrate(Leapfrog { timestep: TIMESTEP, ..Leapfrog::default() }, None)?;
        }
        Ok(())
    };
    let error = unchecked().expect_err("lists that have expired").to_string();
    assert!(error.contains("before the pair lists were checked"), "{error}");
    let mut torn = Sample::load("water").rigid();
    torn.state.velocities[30] = vec3(500.0, 0.0, 0.0);
    let mut cuda = torn.emulated(0);
    cuda.add_external_force(Box::new(shear)).expect("an external force");
    cuda.forces(Workload::FORCES).expect("forces of a state that is still whole");
    cuda.integrate(Leapfrog { timestep: 0.002, ..Leapfrog::default() }, None).expect("a step that is launched");
    let error = cuda.forces(Workload::FORCES).expect_err("a water torn apart");
    assert!(error.to_string().contains("31"), "{error}");
    assert!(cuda.previous_positions().1 == torn.state.positions);
}

#[test]
fn the_host_waits_once_per_step_and_not_at_all_without_forces_of_its_own() {
    let sample = Sample::load("peptide-vacuum").rigid();
    for (restraints, waits) in [(Restraints::default(), 0), (pulling(&sample), 1)] {
        let mut cuda = sample.emulated(0);
        cuda.restrain(&pulling(&sample), &[]).expect("restraints");
        cuda.restrain(&restraints, &[]).expect("restraints");
        let before = cuda.device().tally().waits;
        (0..2).for_each(|number| step(&mut cuda, number, false));
        assert_eq!(cuda.device().tally().waits - before, 2 * waits);
    }
}

#[test]
fn a_rejected_volume_move_restores_the_forces_of_the_host() {
    let sample = Sample::load("octahedron");
    let (mut moved, mut still) = (sample.emulated(0), sample.emulated(0));
    for cuda in [&mut moved, &mut still] {
        load(cuda, &pulling(&sample), true);
    }
    moved.try_volume(&volume_trial(f64::INFINITY), EVERYTHING, &TRIAL_LISTS).expect("a rejected move");
    moved.prune_lists(0.0).expect("lists");
    still.forces(EVERYTHING).expect("forces");
    let samples = |cuda: &Cuda<Emulated>| cuda.restraining().expect("restraints").samples().to_vec();
    assert!(samples(&moved) == samples(&still));
    for cuda in [&mut moved, &mut still] {
        cuda.integrate(Leapfrog { timestep: TIMESTEP, ..Leapfrog::default() }, None).expect("a step");
    }
    assert!(state_of(&moved).positions == state_of(&still).positions);
}
