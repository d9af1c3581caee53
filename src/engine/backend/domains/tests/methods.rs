//! Methods on several ranks: restraints, Monte Carlo volume moves and multiple time steps. The tests compare all
//! results with the results of the same operations on one rank.

use super::*;
use crate::ensemble::multiple_time_steps::MultipleTimeSteps;
use crate::ensemble::refreshment::Renewal;
use crate::ensemble::schedule::Schedule;
use crate::restraint::{Group, Held, Members, Potential, ReferenceScaling, Superposed, Variable, Well};
use crate::rng::RandomKey;
use crate::testing::volume_trial;
use crate::vec3::vec3;
use smallvec::smallvec;

/// Sample whose peptide spans several domains.
const NAME: &str = "peptide-ff19sb";
const RANKS: [usize; 2] = [2, 4];
const SCHEDULE: ListSchedule =
    ListSchedule { rebuild: 10, prune: 5, outer: CUTOFF + 0.06, inner: CUTOFF + 0.03, lookahead: 0.0 };
/// Rounding error of 64-bit positions and of energies of restraints, nm and kJ/mol.
const ROUNDING: f64 = 1e-9;

/// Uploads `state` to a backend and builds the pair lists, so that the backend is ready for forces.
fn begin(backend: &mut dyn Backend, state: &State) {
    backend.upload(state).unwrap();
    renew_lists(backend);
}

fn renew_lists(backend: &mut dyn Backend) {
    backend.build_lists().unwrap();
    backend.prune_lists(0.0).unwrap();
}

fn alone(Sample { system, state }: &Sample) -> Host<Cpu> {
    let options = CpuOptions { parts: 1, level: Level::Portable, schedule: SCHEDULE };
    let cpu = Cpu::new(system, options, Team::single()).unwrap();
    let mut host = Host::new(system, cpu, Level::Portable, Team::single()).unwrap();
    begin(&mut host, state);
    host
}

/// Runs `work` on a backend of `count` ranks that is ready for forces.
fn divided<R: Send>(count: usize, sample: &Sample, work: impl Fn(&mut Domains) -> R + Sync) -> R {
    on_ranks(count, |serving| {
        let mut domains = Domains::new(serving, &sample.system, SCHEDULE).unwrap();
        begin(&mut domains, &sample.state);
        work(&mut domains)
    })
}

fn state_of(backend: &dyn Backend) -> State {
    let mut state = State::default();
    backend.download(&mut state).unwrap();
    state
}

fn largest_difference(ours: &[Vec3], theirs: &[Vec3]) -> f64 {
    assert_eq!(ours.len(), theirs.len());
    ours.iter().zip(theirs).map(|(a, b)| (*a - *b).norm()).fold(0.0, f64::max)
}

/// Returns restraints of every kind on the peptide: positions with a force constant that grows, a distance that is
/// pulled, a torsion and a deviation from displaced positions.
fn restraints(Sample { system, state }: &Sample) -> Restraints {
    let molecules = system.topology.molecules();
    let solute: Vec<u32> = molecules.atoms(0).to_vec();
    let at = |atom: u32| state.positions[atom as usize];
    let held = |(index, &atom): (usize, &u32)| Held::new(atom, at(atom) + vec3(0.01, -0.02, 0.001 * index as f64));
    let positions = PositionRestraints {
        force_constant: Schedule::new(vec![(0.0, 500.0), (0.1, 2000.0)]).unwrap(),
        flat_radius: 0.005,
        scaling: ReferenceScaling::CenterOfMass,
        cell: state.cell,
        center: solute.iter().map(|&atom| at(atom)).sum::<Vec3>() / solute.len() as f64,
        held: solute.iter().enumerate().map(held).collect(),
    };
    let mass = |atom: u32| system.topology.atoms[atom as usize].mass;
    let part = |index: usize| {
        let length = solute.len() / 4;
        Group::new(&solute[index * length..(index + 1) * length], mass, &molecules, None).unwrap()
    };
    let harmonic = Well {
        center: None,
        rate: 0.0,
        below: Some(0.0),
        above: Some(0.0),
        force_constant: 800.0,
        linear_beyond: None,
    };
    let well = |center, rate| Potential::Well(Well { center, rate, ..harmonic });
    let references: Vec<Vec3> =
        (0..).zip(&solute).map(|(i, &atom)| at(atom) * (1.0 + 0.01 * f64::from(i % 3))).collect();
    let superposed = Superposed::new(Members::new(solute.clone(), &molecules, None), &references);
    let collective = [
        (Variable::Distance([part(0), part(3)], [true; 3]), well(None, 5.0)),
        (Variable::Torsion([0, 1, 2, 3].map(part)), well(Some(0.3), 0.0)),
        (Variable::Rmsd(superposed), well(Some(0.0), 0.0)),
    ];
    let collective = collective.map(|(variable, potential)| Arc::new(CollectiveRestraint { variable, potential }));
    Restraints { positions: vec![Arc::new(positions)], collective: collective.into() }
}

#[test]
fn restraints_are_those_of_one_rank() {
    const TIME: f64 = 0.05;
    let sample = sample(NAME);
    let restraints = restraints(&sample);
    // measures the forces of the restraints alone, the energies and the virial, and then the work after some steps
    let measure = |backend: &mut dyn Backend| {
        let workload = Workload { restraint_time: TIME, ..EVERYTHING };
        backend.forces(workload).unwrap();
        let without = backend.evaluation().clone();
        backend.restrain(&restraints, &[]).unwrap();
        backend.forces(workload).unwrap();
        let with = backend.evaluation();
        let forces: Vec<Vec3> = with.forces.iter().zip(&without.forces).map(|(a, b)| *a - *b).collect();
        let energies = [with.energies.position_restraint, with.energies.restraint];
        let virial = with.virial + without.virial.scaled(-1.0);
        for step in 0..12 {
            if step % 4 == 0 {
                renew_lists(backend);
            }
            let restraint_time = TIME + 0.001 * f64::from(step);
            backend.forces(Workload { restraint_time, ..EVERYTHING }).unwrap();
            backend.integrate(Leapfrog { timestep: 0.001, kinetic: true, ..Leapfrog::default() }, None).unwrap();
        }
        let restraining = backend.restraining().unwrap();
        let works: Vec<f64> =
            restraining.samples().iter().map(|sample| sample.work).chain([restraining.work()]).collect();
        (forces, energies, virial, works, backend.restraint_progress().unwrap())
    };
    let (forces, energies, virial, works, _) = measure(&mut alone(&sample));
    assert!(energies.iter().all(|energy| *energy > 1.0) && works[0].abs() > 0.1 && works.len() == 4);
    for count in RANKS {
        let (ours, own_energies, own_virial, own_works, progress) = divided(count, &sample, |domains| measure(domains));
        let error = largest_difference(&ours, &forces);
        assert!(error < ROUNDING, "{count} ranks: forces differ by {error} kJ/mol/nm");
        for (ours, theirs) in own_energies.iter().zip(energies) {
            assert!((ours - theirs).abs() < ROUNDING, "{count} ranks: {ours}, not {theirs}");
        }
        for (ours, theirs) in own_virial.0.as_flattened().iter().zip(virial.0.as_flattened()) {
            // the tolerance is the rounding error of a difference of virials of 10⁵ kJ/mol
            assert!((ours - theirs).abs() < 1e-6, "{count} ranks: virial {ours}, not {theirs}");
        }
        for (ours, theirs) in own_works.iter().zip(&works) {
            // the tolerance results from errors of forces in mixed precision, over 12 steps
            assert!((ours - theirs).abs() < 1e-4 * theirs.abs().max(1.0), "{count} ranks: work {ours}, not {theirs}");
        }
        assert_eq!(progress.len(), 4);
    }
}

#[test]
fn volume_moves_are_those_of_one_rank() {
    let sample = sample(NAME);
    // the small change is a move within the buffer of the lists; the large change is a move for which new lists are
    // searched
    for change in [0.2, 15.0] {
        for threshold in [0.0, f64::INFINITY] {
            let trial = VolumeTrial { change, ..volume_trial(threshold) };
            let measure = |backend: &mut dyn Backend| {
                backend.try_volume(&trial, EVERYTHING, &SCHEDULE).unwrap();
                let (state, evaluation) = (state_of(backend), backend.evaluation().clone());
                // the step that follows uses the forces of the accepted state
                backend.integrate(Leapfrog { timestep: 0.001, ..Leapfrog::default() }, None).unwrap();
                (state, evaluation, backend.searches(), state_of(backend))
            };
            let (state, evaluation, searches, later) = measure(&mut alone(&sample));
            assert_eq!((searches > 1, state.coupling.trials[1].accepted), (change > 1.0, u64::from(threshold == 0.0)));
            for count in RANKS {
                let (ours, evaluated, searched, next) = divided(count, &sample, |domains| measure(domains));
                let name = format!("{count} ranks, change {change}, threshold {threshold}");
                assert_eq!(searched, searches, "{name}");
                let error = largest_difference(&ours.positions, &state.positions);
                assert!(error < ROUNDING && ours.cell == state.cell, "{name}: {error} nm");
                assert_eq!(ours.coupling.trials[1].accepted, state.coupling.trials[1].accepted, "{name}");
                let scale: f64 = evaluation.energies.values().iter().map(|energy| energy.abs()).sum();
                let [own, one] = [&evaluated, &evaluation].map(|one| one.energies.potential());
                assert!((own - one).abs() < SUMS * scale, "{name}: {own}, not {one}");
                let [own, one] = [&ours, &state].map(|state| state.coupling.barostat_work);
                assert!((own - one).abs() < SUMS * scale, "{name}: work {own}, not {one}");
                // the tolerance is dt² ΔF/m for the errors ΔF of forces in mixed precision
                let error = largest_difference(&next.positions, &later.positions);
                assert!(error < 1e-6, "{name}: {error} nm after a step");
            }
        }
    }
}

#[test]
fn collisions_are_those_of_one_rank() {
    // each molecule of the second sample is one rank group, but each of its atoms collides alone
    for sample in [sample("tip4pew"), with_short_cutoff(Sample::load("tip4pew"))] {
        let renewal = Renewal { kept: 0.0, probability: 0.3, temperature: 300.0 };
        let measure = |backend: &mut dyn Backend| {
            for step in 0..3 {
                backend.forces(Workload::FORCES).unwrap();
                let key = RandomKey { seed: 7, step };
                let kick = Leapfrog { timestep: 0.0005, refreshed: true, ..Leapfrog::default() };
                backend.integrate(kick, Some(&Refreshment { renewals: smallvec![renewal], key })).unwrap();
                renew_lists(backend);
            }
            state_of(backend)
        };
        let expected = measure(&mut alone(&sample));
        for count in RANKS {
            let ours = divided(count, &sample, |domains| measure(domains));
            // the tolerance is far below a velocity of 300 K
            let error = largest_difference(&ours.velocities, &expected.velocities);
            assert!(error < 1e-3, "{count} ranks: velocities differ by {error} nm/ps");
        }
    }
}

#[test]
fn impulses_are_those_of_one_rank() {
    const EVERY: u32 = 4;
    let sample = sample(NAME);
    let renewal = Renewal { kept: 0.99, probability: 1.0, temperature: 300.0 };
    let measure = |backend: &mut dyn Backend| {
        let mut middle = State::default();
        for step in 0..11 {
            // atoms migrate in the middle of a cycle of multiple time steps
            if step % 3 == 2 {
                renew_lists(backend);
            }
            let energy = step % u64::from(EVERY) == 0;
            let long_range = MultipleTimeSteps { every: EVERY }.at(step, energy);
            backend.forces(Workload { energy, virial: energy, long_range, restraint_time: 0.0 }).unwrap();
            let kick =
                Leapfrog { timestep: 0.001, virial: energy, kinetic: energy, refreshed: true, ..Leapfrog::default() };
            let key = RandomKey { seed: 7, step };
            backend.integrate(kick, Some(&Refreshment { renewals: smallvec![renewal], key })).unwrap();
            if step == 5 {
                middle = state_of(backend);
            }
        }
        (middle, state_of(backend))
    };
    let (middle, end) = measure(&mut alone(&sample));
    assert!((middle.cycle.length, middle.cycle.step) == (EVERY, 1) && end.coupling.thermostat_work.abs() > 1.0);
    for count in RANKS {
        let (own_middle, own_end) = divided(count, &sample, |domains| measure(domains));
        for (ours, theirs) in [(&own_middle, &middle), (&own_end, &end)] {
            let error = largest_difference(&ours.positions, &theirs.positions);
            assert!(error < 1e-5, "{count} ranks: positions differ by {error} nm");
            let works = [ours, theirs].map(|state| state.coupling.thermostat_work);
            assert!((works[0] - works[1]).abs() < 1e-3 * works[1].abs().max(1.0), "{count} ranks: {works:?}");
            assert_eq!((ours.cycle.length, ours.cycle.step), (theirs.cycle.length, theirs.cycle.step));
            for (ours, theirs) in [(&ours.cycle.slow, &theirs.cycle.slow), (&ours.cycle.changes, &theirs.cycle.changes)]
            {
                let scale = theirs.iter().map(|v| v.norm()).fold(0.0, f64::max);
                assert!(largest_difference(ours, theirs) < 1e-3 * scale, "{count} ranks: the cycle differs");
            }
        }
        // a state in the middle of a cycle of multiple time steps is distributed again, without a change
        let again = divided(count, &sample, |domains| {
            domains.upload(&own_middle).unwrap();
            state_of(domains)
        });
        assert_eq!(again, own_middle);
    }
}
