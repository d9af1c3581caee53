//! One pass over the frames of a trajectory.
//!
//! Observables see the selected atoms only. Molecules are whole: in a trajectory of md they are, in others they are made
//! whole by the bonds of the topology. The molecules of a selection are put into the periodic image nearest to its first
//! one, by the centres of their selected atoms, so a complex stays together as long as its parts are closer to the first
//! than half the cell.

use super::output::Findings;
use crate::cell::PeriodicCell;
use crate::error::{Problem, Result};
use crate::observe::trajectory::{FrameSource, StoredFrame, WholeMolecules};
use crate::system::{Molecules, Topology};
use crate::vec3::Vec3;

/// A quantity computed from frames one at a time.
pub trait Observable {
    /// Memory for so many frames of so many atoms, bytes.
    fn memory(&self, _frames: usize, _atoms: usize) -> f64 {
        0.0
    }

    /// Called before the first frame. Fails if it cannot be computed for these atoms.
    fn begin(&mut self, selection: &Selection<'_>) -> Result<()>;

    /// Called for each frame.
    fn frame(&mut self, frame: &SelectedFrame<'_>) -> Result<()>;

    /// Called after the last frame: the results.
    fn finish(&mut self) -> Result<Findings>;
}

/// The selected atoms.
#[derive(Clone, Copy, Debug)]
pub struct Selection<'a> {
    /// all atoms
    pub topology: &'a Topology,
    /// the selected ones, 0-based, ascending
    pub atoms: &'a [u32],
}

impl Selection<'_> {
    /// Masses of the selected atoms in amu.
    pub fn masses(&self) -> Vec<f64> {
        self.atoms.iter().map(|&atom| self.topology.atoms[atom as usize].mass).collect()
    }

    /// Weights of the selected atoms that add up to 1, equal or by mass, and what they were divided by: the number of
    /// atoms, or their mass in amu.
    pub fn weights(&self, by_mass: bool) -> Result<(Vec<f64>, f64)> {
        let raw = if by_mass { self.masses() } else { vec![1.0; self.atoms.len()] };
        let total: f64 = raw.iter().sum();
        if !(total > 0.0 && total.is_finite()) {
            return Err(Problem::new("the selected atoms have no mass").help("select atoms that have one").into());
        }
        Ok((raw.into_iter().map(|weight| weight / total).collect(), total))
    }
}

/// A frame of the selected atoms.
#[derive(Clone, Copy, Debug)]
pub struct SelectedFrame<'a> {
    /// of the frames that pass, from 0
    pub index: usize,
    /// steps since the start of the run
    pub step: i64,
    /// ps
    pub time: f64,
    /// lattice, where there is one
    pub cell: Option<PeriodicCell>,
    /// nm, in the order of the selection, molecules whole and near the first
    pub positions: &'a [Vec3],
}

/// The frames that were read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Passed {
    /// their steps
    pub steps: Vec<i64>,
    /// their times, ps
    pub times: Vec<f64>,
}

/// Takes the selected atoms out of frames.
pub struct Selector<'a> {
    selection: Selection<'a>,
    /// where molecules may be cut by faces of the cell
    whole: Option<WholeMolecules>,
    parts: Vec<Vec<usize>>,
}

impl<'a> Selector<'a> {
    /// For frames whose molecules are whole, or are to be made so first.
    pub fn new(selection: Selection<'a>, molecules_are_whole: bool) -> Self {
        let Topology { atoms, connectivity, .. } = selection.topology;
        let whole = (!molecules_are_whole).then(|| WholeMolecules::new(atoms.len(), connectivity));
        let parts = parts(selection.atoms, &Molecules::from_bonds(atoms.len(), connectivity));
        Self { selection, whole, parts }
    }

    /// For frames of a system whose bonds are not known: positions as they are.
    pub fn unchanged(selection: Selection<'a>) -> Self {
        Self { selection, whole: None, parts: vec![(0..selection.atoms.len()).collect()] }
    }

    /// The atoms.
    pub fn selection(&self) -> &Selection<'a> {
        &self.selection
    }

    /// Positions (nm) of the selected atoms.
    pub fn positions(&mut self, frame: &mut StoredFrame) -> Vec<Vec3> {
        if let (Some(whole), Some(cell)) = (&mut self.whole, &frame.cell) {
            whole.mend(cell, &mut frame.positions);
        }
        let mut positions: Vec<Vec3> = self.selection.atoms.iter().map(|&i| frame.positions[i as usize]).collect();
        if let Some(cell) = &frame.cell {
            gather(&mut positions, &self.parts, cell);
        }
        positions
    }
}

/// Reads every `stride`-th frame, one at a time, and passes it to all observables.
pub fn pass(
    trajectory: &mut dyn FrameSource,
    selector: &mut Selector<'_>,
    stride: usize,
    observables: &mut [Box<dyn Observable>],
) -> Result<Passed> {
    for observable in observables.iter_mut() {
        observable.begin(selector.selection())?;
    }
    let (mut passed, mut frame) = (Passed::default(), StoredFrame::default());
    for (index, number) in (0..trajectory.frames()).step_by(stride.max(1)).enumerate() {
        trajectory.read(number, &mut frame)?;
        let positions = selector.positions(&mut frame);
        let StoredFrame { step, time, cell, .. } = frame;
        let selected = SelectedFrame { index, step, time, cell, positions: &positions };
        for observable in observables.iter_mut() {
            observable.frame(&selected)?;
        }
        passed.steps.push(step);
        passed.times.push(time);
    }
    Ok(passed)
}

/// For every molecule the indices of its selected atoms in the selection.
fn parts(atoms: &[u32], molecules: &Molecules) -> Vec<Vec<usize>> {
    let mut sorted: Vec<(usize, usize)> =
        atoms.iter().enumerate().map(|(place, &atom)| (molecules.of_atom(atom as usize), place)).collect();
    // indices ascend already; molecules need not be contiguous
    sorted.sort();
    sorted.chunk_by(|a, b| a.0 == b.0).map(|part| part.iter().map(|&(_, place)| place).collect()).collect()
}

/// Moves every molecule by lattice vectors to the periodic image whose centre is nearest to that of the first.
fn gather(positions: &mut [Vec3], parts: &[Vec<usize>], cell: &PeriodicCell) {
    let centre = |positions: &[Vec3], part: &[usize]| {
        part.iter().fold(Vec3::ZERO, |sum, &place| sum + positions[place]) / part.len() as f64
    };
    let Some((first, others)) = parts.split_first() else { return };
    let anchor = centre(positions, first);
    for part in others {
        let away = centre(positions, part) - anchor;
        let shift = cell.minimum_image(away) - away;
        part.iter().for_each(|&place| positions[place] += shift);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vec3::vec3;

    #[test]
    fn molecules_come_to_the_first() {
        let cell = PeriodicCell::orthorhombic([3.0, 4.0, 5.0]);
        let molecules = Molecules::from_bonds(6, &[[1, 2], [3, 5]]);
        let parts = parts(&[1, 2, 3, 5], &molecules);
        assert_eq!(parts, [vec![0, 1], vec![2, 3]]);
        let mut positions = vec![vec3(0.1, 0.2, 0.3), vec3(0.3, 0.2, 0.3), vec3(2.9, 0.2, 4.7), vec3(2.7, 0.4, 4.9)];
        gather(&mut positions, &parts, &cell);
        let expected = [vec3(0.1, 0.2, 0.3), vec3(0.3, 0.2, 0.3), vec3(-0.1, 0.2, -0.3), vec3(-0.3, 0.4, -0.1)];
        for (found, expected) in positions.iter().zip(expected) {
            assert!((*found - expected).norm() < 1e-14, "{found:?}");
        }
    }
}
