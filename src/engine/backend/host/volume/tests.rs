use super::*;
use crate::backend::{Backend, Reference};
use crate::ensemble::volume_trial::VolumeTrial;
use crate::simd::Level;
use crate::system::State;
use crate::team::Team;
use crate::testing::{EVERYTHING, Sample, TRIAL_LISTS, volume_trial};

/// Rounding error (nm) of positions of a few nm.
const POSITION: f64 = 1e-12;

fn host(sample: &Sample, state: &State) -> Host<Reference> {
    let reference = Reference::new(&sample.system).unwrap();
    let mut host = Host::new(&sample.system, reference, Level::Portable, Team::single()).unwrap();
    host.upload(state).unwrap();
    host.forces(EVERYTHING).unwrap();
    host
}

fn state_of(host: &Host<Reference>) -> State {
    let mut state = State::default();
    host.download(&mut state).unwrap();
    state
}

#[test]
fn a_refused_trial_leaves_every_bit() {
    for sample in [Sample::load("peptide-charged").rigid(), Sample::load("tip5p").rigid(), Sample::load("octahedron")] {
        let mut host = host(&sample, &sample.state);
        let (state, evaluation) = (state_of(&host), host.evaluation().clone());
        host.try_volume(&volume_trial(f64::INFINITY), EVERYTHING, &TRIAL_LISTS).unwrap();
        let mut after = state_of(&host);
        let moves = std::mem::take(&mut after.coupling.trials)[1];
        assert!(after == state && (moves.tried, moves.accepted) == (1, 0));
        assert!(host.evaluation().forces == evaluation.forces && host.evaluation().virial == evaluation.virial);
        assert_eq!(host.evaluation().energies.potential(), evaluation.energies.potential());
        assert!(moves.largest > 0.0);
    }
}

#[test]
fn an_accepted_trial_moves_whole_molecules_and_books_its_work() {
    for sample in [Sample::load("peptide-charged").rigid(), Sample::load("tip5p").rigid(), Sample::load("octahedron")] {
        let mut host = host(&sample, &sample.state);
        let (state, before) = (state_of(&host), host.evaluation().clone());
        host.try_volume(&volume_trial(0.0), EVERYTHING, &TRIAL_LISTS).unwrap();
        let after = state_of(&host);
        let [then, now] = [&state, &after].map(|state| state.cell.unwrap());
        let stretch = now.stretch_since(&then);
        assert!(stretch.x > 1.0001 && (stretch.x - stretch.y).abs() < 1e-15 && stretch.z == 1.0, "{stretch:?}");
        let masses: Vec<f64> = sample.system.topology.atoms.iter().map(|atom| atom.mass).collect();
        let molecules = crate::system::Molecules::from_bonds(masses.len(), &sample.system.topology.connectivity);
        assert!(molecules.len() < masses.len());
        for molecule in (0..molecules.len()).map(|molecule| molecules.atoms(molecule)) {
            let [from, to] = [&state, &after].map(|state| center_of(molecule, &masses, &state.positions));
            assert!((to - from.stretched(stretch)).norm() < POSITION);
            for &atom in molecule {
                let [a, b] = [&state, &after].map(|state| state.positions[atom as usize]);
                assert!((b - a - (to - from)).norm() < POSITION);
            }
        }
        assert!(after.velocities == state.velocities && after.coupling.trials[1].accepted == 1);
        // the forces equal the forces in a host that starts at the positions after the move
        let fresh = self::host(&sample, &after);
        let energy = fresh.evaluation().energies.potential();
        assert!((host.evaluation().energies.potential() - energy).abs() < 1e-9 * energy.abs());
        let power: f64 = (fresh.evaluation().forces.iter().zip(&before.forces).zip(&state.velocities))
            .map(|((after, before), v)| v.dot(*after - *before))
            .sum();
        let work = energy - before.energies.potential() + 0.001 * power;
        assert!((after.coupling.barostat_work - work).abs() < 1e-6 * work.abs(), "{work}");
        // the first-order energy change follows from the molecular virial
        let internal = (0..molecules.len()).map(|molecule| {
            let atoms = molecules.atoms(molecule);
            let center = center_of(atoms, &masses, &state.positions);
            crate::backend::centers::internal_virial(atoms, center, &state.positions, &before.forces)
        });
        let virial = before.virial.diagonal() - internal.sum::<Vec3>();
        let predicted = -virial.dot(stretch.map(f64::ln));
        let change = energy - before.energies.potential();
        assert!((change - predicted).abs() < 0.2 * predicted.abs() + 1.0, "{change} against {predicted}");
    }
}

#[test]
fn a_cell_that_would_be_too_small_is_refused_and_leaves_every_bit() {
    let mut sample = Sample::load("water").rigid();
    let edge = 2.0 * sample.system.settings.longest_cutoff() + 1e-4;
    sample.state.cell = Some(PeriodicCell::orthorhombic([edge; 3]));
    let mut host = host(&sample, &sample.state);
    let (state, evaluation) = (state_of(&host), host.evaluation().clone());
    for tried in 1..=2 {
        host.try_volume(&VolumeTrial { change: -1.0, ..volume_trial(0.0) }, EVERYTHING, &TRIAL_LISTS).unwrap();
        let mut after = state_of(&host);
        let moves = std::mem::take(&mut after.coupling.trials)[1];
        assert_eq!((moves.tried, moves.accepted, moves.too_small), (tried, 0, tried));
        assert!(after == state && host.evaluation().forces == evaluation.forces);
        assert_eq!(host.evaluation().energies.potential(), evaluation.energies.potential());
    }
    // the trial statistics also count a volume move that enlarges the cell
    host.try_volume(&VolumeTrial { change: 1.0, ..volume_trial(0.0) }, EVERYTHING, &TRIAL_LISTS).unwrap();
    let moves = state_of(&host).coupling.trials[1];
    assert_eq!((moves.tried, moves.accepted, moves.too_small), (3, 1, 2));
}
