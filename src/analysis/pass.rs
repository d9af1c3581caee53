//! Pass over the frames of a trajectory, in which each frame is read once.
//!
//! Observables receive only the selected atoms. By default molecules are made whole, and the molecules of the
//! selection are moved to those periodic images that are closest to each other ([`crate::image`]). Therefore results
//! do not depend on the periodic images in the file. With [`Images::AsStored`] the positions in the file are used
//! unchanged.

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

    /// Begins the pass over the frames. The pass calls this function before the first frame. An observable that
    /// cannot be computed for the selected atoms returns an error.
    fn begin(&mut self, selection: &Selection<'_>) -> Result<()>;

    /// Adds a frame. The pass calls `frame` once for each frame.
    fn frame(&mut self, frame: &SelectedFrame<'_>) -> Result<()>;

    /// Ends the pass and returns the results. The pass calls `finish` after the last frame.
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
    /// index of the frame, from 0, among the frames that are passed to the observable
    pub index: usize,
    /// steps since the start of the run
    pub step: i64,
    /// time, ps
    pub time: f64,
    /// unit cell; `None` for a frame without a cell
    pub cell: Option<PeriodicCell>,
    /// positions in nm in the order of the selection; the molecules are whole and in neighbouring periodic images, or
    /// the positions are as stored in the file
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

/// Choice of the periodic images of the atoms that observables receive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Images {
    /// molecules are made whole, and the molecules of the selection are moved to neighbouring periodic images
    Gathered,
    /// positions are used as stored in the file
    AsStored,
}

/// Extractor of the positions of the selected atoms from frames.
pub struct Selector<'a> {
    selection: Selection<'a>,
    /// data to move molecules to neighbouring images; `None` if positions stay as stored
    molecules: Option<Gathering>,
}

/// Data that are needed to make molecules whole and to move the molecules of the selection to neighbouring images.
struct Gathering {
    molecules: Molecules,
    whole: WholeMolecules,
    /// parts of the selection that are moved as a whole
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

    /// Returns the molecules of the topology; `None` if positions stay as stored.
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

    /// Returns the same positions as [`Self::positions`], and also changes the frame: the molecules of the selected
    /// atoms are moved, with all of their atoms, to the same periodic images as these positions.
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

    /// Returns the positions (nm) of the selected atoms of a reference frame, in the periodic images that fit the
    /// positions `target` best.
    pub fn reference(&self, frame: &mut StoredFrame, target: &[Vec3]) -> Vec<Vec3> {
        let mut positions = self.whole(frame);
        if let (Some(Gathering { parts, .. }), Some(cell)) = (&self.molecules, &frame.cell) {
            let images = parts.fit(cell, &positions, target);
            parts.shift(cell, &images, &mut positions);
        }
        positions
    }

    /// Returns the positions (nm) of the selected atoms with whole molecules, which are not moved to neighbouring
    /// images.
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
