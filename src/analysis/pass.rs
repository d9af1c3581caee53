//! Pass over the frames of a trajectory, in which each frame is read once.
//!
//! Observables see the selected atoms only. By default molecules are made whole, and the molecules of a selection are
//! gathered along their shortest distances ([`crate::image`]), so that results do not depend on the periodic images
//! in the file. With [`Images::AsStored`] positions are used as they are in the file.

use super::output::Findings;
use crate::cell::PeriodicCell;
use crate::error::{Problem, Result};
use crate::image::{Parts, WholeMolecules};
use crate::observe::trajectory::{FrameSource, StoredFrame};
use crate::system::{Molecules, Topology};
use crate::vec3::Vec3;

/// Quantity computed from frames one at a time.
pub trait Observable {
    /// Memory in bytes that the observable needs for `frames` frames of `atoms` atoms.
    fn memory(&self, _frames: usize, _atoms: usize) -> f64 {
        0.0
    }

    /// Begins the pass; called before the first frame. Fails if the observable cannot be computed for these atoms.
    fn begin(&mut self, selection: &Selection<'_>) -> Result<()>;

    /// Adds a frame; called for each frame.
    fn frame(&mut self, frame: &SelectedFrame<'_>) -> Result<()>;

    /// Ends the pass and returns the results; called after the last frame.
    fn finish(&mut self) -> Result<Findings>;
}

/// Selected atoms of a system.
#[derive(Clone, Copy, Debug)]
pub struct Selection<'a> {
    /// topology of all atoms
    pub topology: &'a Topology,
    /// selected atoms, 0-based and ascending
    pub atoms: &'a [u32],
}

impl Selection<'_> {
    /// Returns the masses of the selected atoms in amu.
    pub fn masses(&self) -> Vec<f64> {
        self.atoms.iter().map(|&atom| self.topology.atoms[atom as usize].mass).collect()
    }

    /// Returns the weights of the selected atoms, which add up to 1, and the sum of the weights before normalisation.
    /// If `by_mass` is set, the weights are proportional to the masses and the sum is the mass in amu; otherwise the
    /// weights are equal and the sum is the number of atoms.
    pub fn weights(&self, by_mass: bool) -> Result<(Vec<f64>, f64)> {
        let raw = if by_mass { self.masses() } else { vec![1.0; self.atoms.len()] };
        let total: f64 = raw.iter().sum();
        if !(total > 0.0 && total.is_finite()) {
            return Err(Problem::new("the selected atoms have no mass").help("select atoms with mass").into());
        }
        Ok((raw.into_iter().map(|weight| weight / total).collect(), total))
    }
}

/// Frame of the selected atoms.
#[derive(Clone, Copy, Debug)]
pub struct SelectedFrame<'a> {
    /// index among the frames passed to the observable, from 0
    pub index: usize,
    /// steps since the start of the run
    pub step: i64,
    /// time, ps
    pub time: f64,
    /// unit cell; `None` for a frame without a cell
    pub cell: Option<PeriodicCell>,
    /// positions in nm in the order of the selection, with molecules whole and gathered, or as stored in the file
    pub positions: &'a [Vec3],
}

/// Steps and times of the frames that were read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Passed {
    /// step of each frame
    pub steps: Vec<i64>,
    /// time of each frame, ps
    pub times: Vec<f64>,
}

/// Choice of the periodic images of positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Images {
    /// molecules are made whole, and the molecules of the selection are gathered
    Gathered,
    /// positions are used as stored in the file
    AsStored,
}

/// Extractor of the selected atoms from frames.
pub struct Selector<'a> {
    selection: Selection<'a>,
    /// molecules to gather; `None` if positions stay as stored
    molecules: Option<Gathering>,
}

/// Data to make molecules whole and to gather the selection.
struct Gathering {
    molecules: Molecules,
    whole: WholeMolecules,
    /// parts of the selection that are gathered
    parts: Parts,
}

impl<'a> Selector<'a> {
    /// Creates the selector for frames of all atoms of the selection's topology.
    pub fn new(selection: Selection<'a>, images: Images) -> Self {
        let molecules = (images == Images::Gathered).then(|| {
            let molecules = selection.topology.molecules();
            let parts = Parts::new(&molecules, selection.atoms);
            Gathering { molecules, whole: WholeMolecules::of(selection.topology), parts }
        });
        Self { selection, molecules }
    }

    /// Returns the selection.
    pub fn selection(&self) -> &Selection<'a> {
        &self.selection
    }

    /// Returns the molecules of frames; `None` if positions stay as stored.
    pub fn molecules(&self) -> Option<&Molecules> {
        self.molecules.as_ref().map(|gathering| &gathering.molecules)
    }

    /// Returns the positions (nm) of the selected atoms. The call also makes the molecules of the frame whole.
    pub fn positions(&self, frame: &mut StoredFrame) -> Vec<Vec3> {
        let mut positions = self.whole(frame);
        if let (Some(Gathering { parts, .. }), Some(cell)) = (&self.molecules, &frame.cell) {
            parts.make_gathered(cell, &mut positions);
        }
        positions
    }

    /// Returns the same positions as [`Self::positions`], and also moves the molecules of the selected atoms, with
    /// all of their atoms, to the gathered places in the frame.
    pub fn gather(&self, frame: &mut StoredFrame) -> Vec<Vec3> {
        let mut positions = self.whole(frame);
        if let (Some(Gathering { molecules, parts, .. }), Some(cell)) = (&self.molecules, &frame.cell) {
            let images = parts.gather(cell, &positions);
            parts.shift(cell, &images, &mut positions);
            for (part, image) in parts.iter().zip(images).filter(|(_, image)| *image != [0; 3]) {
                let molecule = molecules.of_atom(self.selection.atoms[part[0] as usize] as usize);
                let shift = cell.shift(image);
                molecules.atoms(molecule).iter().for_each(|&atom| frame.positions[atom as usize] += shift);
            }
        }
        positions
    }

    /// Returns the positions (nm) of the selected atoms of a reference, in the periodic images that fit `target`
    /// best.
    pub fn reference(&self, frame: &mut StoredFrame, target: &[Vec3]) -> Vec<Vec3> {
        let mut positions = self.whole(frame);
        if let (Some(Gathering { parts, .. }), Some(cell)) = (&self.molecules, &frame.cell) {
            let images = parts.fit(cell, &positions, target);
            parts.shift(cell, &images, &mut positions);
        }
        positions
    }

    /// Returns the positions (nm) of the selected atoms, with molecules whole but not gathered.
    fn whole(&self, frame: &mut StoredFrame) -> Vec<Vec3> {
        if let (Some(Gathering { whole, .. }), Some(cell)) = (&self.molecules, &frame.cell) {
            whole.make_whole(cell, &mut frame.positions);
        }
        self.selection.atoms.iter().map(|&atom| frame.positions[atom as usize]).collect()
    }
}

/// Reads every `stride`-th frame, one at a time, and passes it to all observables.
pub fn pass(
    trajectory: &mut dyn FrameSource,
    selector: &Selector<'_>,
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
