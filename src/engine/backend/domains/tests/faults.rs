//! Several systems at once, cells that change their shape, and systems that the domains cannot hold.

use super::*;
use crate::system::{Exclusions, Topology};

/// Radius of the outer list, nm.
const RADIUS: f64 = CUTOFF + 0.03;

fn domains(serving: &Serving, Sample { system, .. }: &Sample) -> Domains {
    Domains::new(serving, system, ListSchedule::exact(RADIUS)).unwrap()
}

/// Returns the evaluation of a state, with new pair lists.
fn evaluated(backend: &mut dyn Backend, state: &State) -> Evaluation {
    backend.upload(state).unwrap();
    backend.build_lists().unwrap();
    backend.prune_lists(0.0).unwrap();
    backend.forces(EVERYTHING).unwrap();
    backend.evaluation().clone()
}

/// Returns the state in a cell whose edge `axis` is longer, with vacuum at its end.
fn longer(Sample { state, .. }: &Sample, axis: usize) -> State {
    let rows = state.cell.unwrap().rows();
    let mut edges = [rows[0].x, rows[1].y, rows[2].z];
    edges[axis] = 1.4 * edges.into_iter().fold(0.0, f64::max);
    State { cell: Some(PeriodicCell::orthorhombic(edges)), ..state.clone() }
}

/// Returns the sample with an excluded pair of atoms that are far from each other, and the two atoms.
fn with_far_exclusion(mut sample: Sample) -> (Sample, [u32; 2]) {
    let (cell, positions) = (sample.state.cell.unwrap(), &sample.state.positions);
    let distance = |atom: &usize| cell.minimum_image(positions[*atom] - positions[0]).norm();
    let furthest = (0..positions.len()).max_by(|a, b| distance(a).total_cmp(&distance(b))).unwrap();
    assert!(distance(&furthest) > 2.0 * RADIUS);
    let (pair, Topology { exclusions, .. }) = ([0, furthest as u32], &mut sample.system.topology);
    *exclusions = Exclusions::from_pairs(positions.len(), exclusions.pairs().chain([pair]).collect::<Vec<_>>());
    (sample, pair)
}

#[test]
fn systems_on_the_same_ranks_do_not_disturb_each_other() {
    let sample = sample("peptide-ff19sb");
    let (before, after) = on_ranks(3, |serving| {
        let mut first = domains(serving, &sample);
        let before = evaluated(&mut first, &sample.state);
        for turn in 0..2 {
            let shared = SharedReference::new(serving, &sample.system).unwrap();
            let mut reference = Host::new(&sample.system, shared, Level::Portable, Team::single()).unwrap();
            let mut second = domains(serving, &sample);
            evaluated(&mut second, &sample.state);
            evaluated(&mut reference, &sample.state);
            // the systems end in both orders
            if turn == 0 {
                drop((second, reference));
            } else {
                drop((reference, second));
            }
        }
        first.forces(EVERYTHING).unwrap();
        (before, first.evaluation().clone())
    });
    assert!(before.forces == after.forces && before.energies == after.energies, "the forces have changed");
}

#[test]
fn a_cell_that_has_changed_is_divided_as_at_a_restart() {
    let sample = sample("peptide-ff19sb");
    let states = [longer(&sample, 0), longer(&sample, 1)];
    let found = on_ranks(2, |serving| {
        let mut running = domains(serving, &sample);
        states.each_ref().map(|state| {
            let running = (evaluated(&mut running, state).forces, running.description());
            let mut restarted = domains(serving, &sample);
            [running, (evaluated(&mut restarted, state).forces, restarted.description())]
        })
    });
    for ([running, restarted], counts) in found.iter().zip(["2 x 1 x 1", "1 x 2 x 1"]) {
        assert!(running.1.contains(counts), "{}, not {counts}", running.1);
        assert!(running == restarted, "a restart has changed something");
    }
}

#[test]
fn atoms_too_far_from_each_other_are_named() {
    let (sample, [i, j]) = with_far_exclusion(sample("peptide-ff19sb"));
    let error = on_ranks(4, |serving| domains(serving, &sample).upload(&sample.state).unwrap_err());
    assert_eq!(error.exit_code(), 2, "{error}");
    let named = format!("atoms {} and {} of a bonded term or an excluded pair", i + 1, j + 1);
    assert!(error.to_string().contains(&named), "{error}");
}

#[test]
fn atoms_that_move_too_far_from_each_other_end_the_run_with_an_error() {
    let (sample, [i, j]) = with_far_exclusion(sample("peptide-ff19sb"));
    let (mut near, molecules) = (sample.state.clone(), sample.system.topology.molecules());
    let shift = near.positions[i as usize] - near.positions[j as usize];
    let moved = molecules.atoms(molecules.of_atom(j as usize));
    moved.iter().for_each(|&atom| near.positions[atom as usize] += shift);
    let (error, previous) = on_ranks(4, |serving| {
        let mut domains = domains(serving, &sample);
        domains.upload(&near).unwrap();
        domains.build_lists().unwrap();
        domains.upload(&sample.state).unwrap();
        (domains.build_lists().unwrap_err(), domains.previous_positions().1.to_vec())
    });
    assert_eq!(error.exit_code(), 2, "{error}");
    assert!(error.to_string().contains("too far from each other for the domains"), "{error}");
    assert!(previous == sample.state.positions, "the positions of all atoms are needed for the error message");
}
