//! Tests that compare Monte Carlo volume moves on an emulated device with the moves of the host with reference forces.

use super::motion::{advance, host, largest_difference, state_of};
use crate::backend::Backend;
use crate::ensemble::volume_trial::VolumeTrial;
use crate::pair::ListSchedule;
use crate::testing::{EVERYTHING, Sample, TRIAL_LISTS, volume_trial};
use crate::vec3::vec3;

/// Rounding error (nm) of positions of a few nm.
const POSITION: f64 = 1e-12;
/// Tolerance of an energy difference, relative to the sum of the absolute energies: the rounding of interactions in
/// `f32`, before and after the move.
const ENERGY: f64 = 2e-6;
/// Relative tolerance of the kinetic energy after a step, and tolerance (nm) of the positions.
const KINETIC: f64 = 1e-6;
const STEP: f64 = 1e-6;

fn samples() -> [Sample; 3] {
    [Sample::load("peptide-charged").rigid(), Sample::load("tip5p").rigid(), Sample::load("octahedron")]
}

#[test]
fn a_rejected_move_leaves_every_bit() {
    for sample in samples() {
        let (mut moved, mut still) = (sample.emulated(0), sample.emulated(0));
        moved.try_volume(&volume_trial(f64::INFINITY), EVERYTHING, &TRIAL_LISTS).unwrap();
        still.forces(EVERYTHING).unwrap();
        let mut after = state_of(&moved);
        let moves = std::mem::take(&mut after.coupling.trials)[1];
        assert!(after == state_of(&still) && (moves.tried, moves.accepted) == (1, 0));
        assert!(moved.evaluation().forces == still.evaluation().forces);
        assert_eq!(moved.evaluation().energies.potential(), still.evaluation().energies.potential());
        // the step after a rejected move has the same bits as a step without the move
        moved.prune_lists(0.0).unwrap();
        for cuda in [&mut moved, &mut still] {
            cuda.integrate(advance(true), None).unwrap();
        }
        assert!(state_of(&moved).positions == state_of(&still).positions);
    }
}

#[test]
fn an_accepted_move_is_that_of_the_host() {
    // the second schedule of each sample leaves no buffer, so that the move needs new lists
    for (sample, outer) in [1.0, 0.0].into_iter().flat_map(|outer| samples().map(|sample| (sample, outer))) {
        let (mut cuda, mut host) = (sample.emulated(0), host(&sample));
        let outer = f64::max(outer, sample.system.settings.longest_cutoff());
        let lists = ListSchedule { outer, ..TRIAL_LISTS };
        cuda.try_volume(&volume_trial(0.0), EVERYTHING, &lists).unwrap();
        host.try_volume(&volume_trial(0.0), EVERYTHING, &lists).unwrap();
        let (ours, theirs) = (state_of(&cuda), state_of(&host));
        assert_eq!((ours.cell, ours.coupling.trials), (theirs.cell, theirs.coupling.trials));
        assert!(ours.cell != sample.state.cell && ours.velocities == theirs.velocities);
        assert!(largest_difference(&ours.positions, &theirs.positions) < POSITION);
        let energies = host.evaluation().energies;
        let scale: f64 = energies.values().iter().map(|energy| energy.abs()).sum();
        let [work, expected] = [ours.coupling.barostat_work, theirs.coupling.barostat_work];
        assert!((work - expected).abs() < ENERGY * scale, "work {work} for {expected}");
        assert!(expected.abs() > 5.0 * ENERGY * scale, "a work of {expected} in {scale} tells nothing");
        // the step after an accepted move starts from the new positions in the new cell
        cuda.prune_lists(0.0).unwrap();
        host.prune_lists(0.0).unwrap();
        let [ours, theirs] =
            [cuda.integrate(advance(true), None), host.integrate(advance(true), None)].map(Result::unwrap);
        assert!((ours.after / theirs.after - 1.0).abs() < KINETIC, "{} for {}", ours.after, theirs.after);
        assert!(largest_difference(&state_of(&cuda).positions, &state_of(&host).positions) < STEP);
    }
}

#[test]
fn a_cell_that_would_be_too_small_is_rejected() {
    let mut sample = Sample::load("water").rigid();
    let cutoff = sample.state.cell.expect("a cell").max_cutoff() * 0.95;
    (sample.system.settings.cutoff, sample.system.settings.cutoff_lj) = (Some(cutoff), Some(cutoff));
    sample.state.coupling.trials[1].largest = 0.2;
    let mut cuda = sample.emulated(0);
    let mut before = state_of(&cuda);
    cuda.try_volume(&VolumeTrial { change: -1.0, ..volume_trial(0.0) }, EVERYTHING, &TRIAL_LISTS).unwrap();
    let mut after = state_of(&cuda);
    before.coupling.trials = Default::default();
    let moves = std::mem::take(&mut after.coupling.trials)[1];
    assert!(after == before && (moves.tried, moves.accepted, moves.too_small) == (1, 0, 1));
}

#[test]
fn overlapping_atoms_reject_a_move_instead_of_ending_the_run() {
    let mut sample = Sample::load("water").rigid();
    // at 0.155 nm the force between two oxygens is below the limit of the kernels, and at 0.14 nm this force is above
    // the limit
    let shift = sample.state.positions[0] + vec3(0.155, 0.0, 0.0) - sample.state.positions[3];
    sample.state.positions[3..6].iter_mut().for_each(|r| *r += shift);
    sample.state.coupling.trials[1].largest = 0.2;
    let mut cuda = sample.emulated(0);
    cuda.forces(EVERYTHING).expect("forces below the limit");
    let energy = cuda.evaluation().energies.potential();
    let before = state_of(&cuda);
    let squeeze = VolumeTrial { change: -1.0, kt: 1e30, ..volume_trial(0.5) };
    cuda.try_volume(&squeeze, EVERYTHING, &TRIAL_LISTS).expect("a rejected move");
    let mut after = state_of(&cuda);
    assert_eq!((after.coupling.trials[1].tried, after.coupling.trials[1].accepted), (1, 0));
    after.coupling.trials = before.coupling.trials;
    assert!(after == before);
    cuda.prune_lists(0.0).unwrap();
    cuda.forces(EVERYTHING).expect("the device goes on");
    assert_eq!(cuda.evaluation().energies.potential(), energy);
}
