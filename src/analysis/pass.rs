//! One pass over the frames of a trajectory.
//!
//! Observables see the selected atoms only. Molecules are made whole, and the molecules of a selection are gathered along
//! their shortest distances ([`crate::image`]), so that results do not depend on the periodic images that a file stores;
//! or positions stay as they are stored.

use super::output::Findings;
use crate::cell::PeriodicCell;
use crate::error::{Problem, Result};
use crate::image::{Parts, WholeMolecules};
use crate::observe::trajectory::{FrameSource, StoredFrame};
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
    /// nm, in the order of the selection, molecules whole and gathered, or as stored
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

/// Which periodic images the positions of frames are taken in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Images {
    /// molecules whole, and those of the selection gathered
    Gathered,
    /// as the file stores them
    AsStored,
}

/// Takes the selected atoms out of frames.
pub struct Selector<'a> {
    selection: Selection<'a>,
    /// `None` where positions stay as they are stored
    molecules: Option<Gathering>,
}

/// Of the molecules of frames.
struct Gathering {
    molecules: Molecules,
    whole: WholeMolecules,
    /// of the selection
    parts: Parts,
}

impl<'a> Selector<'a> {
    /// For frames of all atoms of the selection's topology.
    pub fn new(selection: Selection<'a>, images: Images) -> Self {
        let molecules = (images == Images::Gathered).then(|| {
            let molecules = selection.topology.molecules();
            let parts = Parts::new(&molecules, selection.atoms);
            Gathering { molecules, whole: WholeMolecules::of(selection.topology), parts }
        });
        Self { selection, molecules }
    }

    /// The atoms.
    pub fn selection(&self) -> &Selection<'a> {
        &self.selection
    }

    /// The molecules of frames; `None` where positions stay as the file stores them.
    pub fn molecules(&self) -> Option<&Molecules> {
        self.molecules.as_ref().map(|gathering| &gathering.molecules)
    }

    /// Positions (nm) of the selected atoms. Molecules of the frame are whole afterwards.
    pub fn positions(&self, frame: &mut StoredFrame) -> Vec<Vec3> {
        let mut positions = self.whole(frame);
        if let (Some(Gathering { parts, .. }), Some(cell)) = (&self.molecules, &frame.cell) {
            parts.make_gathered(cell, &mut positions);
        }
        positions
    }

    /// As [`Self::positions`]; the molecules of the selected atoms move there in the frame, too, with all of their atoms.
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

    /// Positions (nm) of the selected atoms of a reference, in the images in which they fit best to `target`.
    pub fn reference(&self, frame: &mut StoredFrame, target: &[Vec3]) -> Vec<Vec3> {
        let mut positions = self.whole(frame);
        if let (Some(Gathering { parts, .. }), Some(cell)) = (&self.molecules, &frame.cell) {
            let images = parts.fit(cell, &positions, target);
            parts.shift(cell, &images, &mut positions);
        }
        positions
    }

    /// Positions (nm) of the selected atoms, molecules whole but not gathered.
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
