//! Operations on frames during a conversion.

use crate::analysis::{AnalysedSystem, Group};
use crate::cell::PeriodicCell;
use crate::error::Result;
use crate::image::{Paths, WholeMolecules};
use crate::observe::trajectory::StoredFrame;
use crate::superpose::Superposition;
use crate::system::{Molecules, Topology};
use crate::vec3::{Vec3, vec3};

/// Operation that is applied to frames one at a time. Memory does not grow with the number of frames.
pub trait Operation {
    /// Changes one frame. The function is called for the frames in the order of the trajectory.
    fn apply(&mut self, frame: &mut StoredFrame) -> Result<()>;

    /// Whether the operation also needs the frames that are not written.
    fn needs_every_frame(&self) -> bool {
        false
    }
}

/// Operation that makes molecules whole and moves each molecule so that its mean position is in the cell.
pub struct Whole(pub WholeMolecules);

impl Operation for Whole {
    fn apply(&mut self, frame: &mut StoredFrame) -> Result<()> {
        if let Some(cell) = frame.cell {
            self.0.put_into_cell(&cell, &mut frame.positions);
        }
        Ok(())
    }
}

/// Returns the mean position of the given atoms.
fn mean(atoms: &[u32], positions: &[Vec3]) -> Vec3 {
    atoms.iter().map(|&atom| positions[atom as usize]).sum::<Vec3>() / atoms.len() as f64
}

fn shift(atoms: &[u32], by: Vec3, positions: &mut [Vec3]) {
    atoms.iter().for_each(|&atom| positions[atom as usize] += by);
}

/// Operation that makes molecules whole and removes their jumps between opposite faces of the cell. In the first frame,
/// no molecule is moved to another periodic image.
///
/// The centers of the molecules are followed from frame to frame ([`Paths`]), so that diffusion coefficients are right
/// even if a barostat scales the cell. The interval between frames must be so short that no molecule moves by half of
/// the cell from one frame to the next.
pub struct Unwrap {
    whole: WholeMolecules,
    molecules: Molecules,
    /// centers of the molecules, followed from frame to frame
    centers: Paths,
}

impl Unwrap {
    /// Creates the operation for all molecules of a system.
    pub fn new(topology: &Topology) -> Self {
        Self { whole: WholeMolecules::of(topology), molecules: topology.molecules(), centers: Paths::default() }
    }
}

impl Operation for Unwrap {
    fn apply(&mut self, frame: &mut StoredFrame) -> Result<()> {
        let Some(cell) = frame.cell else { return Ok(()) };
        self.whole.make_whole(&cell, &mut frame.positions);
        let center = |molecule: usize| mean(self.molecules.atoms(molecule), &frame.positions);
        let centers: Vec<Vec3> = (0..self.molecules.len()).map(center).collect();
        for (molecule, (unwrapped, center)) in self.centers.add(Some(&cell), &centers).zip(&centers).enumerate() {
            shift(self.molecules.atoms(molecule), unwrapped - *center, &mut frame.positions);
        }
        Ok(())
    }

    fn needs_every_frame(&self) -> bool {
        true
    }
}

/// Operation that moves the center of a selection to the center of the cell, and every other molecule to the periodic
/// image whose mean position is closest to the center of the cell. Without a cell, the center of the selection moves to
/// the origin.
pub struct Center<'a> {
    system: &'a AnalysedSystem<'a>,
    group: Group,
    /// molecules without selected atoms, which are moved to the periodic images closest to the center of the cell
    others: Vec<usize>,
    /// cell of the preceding frame
    cell: Option<PeriodicCell>,
}

impl<'a> Center<'a> {
    /// Creates the operation for a group of atoms.
    pub fn new(system: &'a AnalysedSystem<'a>, group: Group) -> Self {
        let (molecules, mut others) = (system.molecules(), vec![]);
        if system.makes_whole() {
            let mut is_other = vec![true; molecules.len()];
            group.atoms.iter().for_each(|&atom| is_other[molecules.of_atom(atom as usize)] = false);
            others = (0..molecules.len()).filter(|&molecule| is_other[molecule]).collect();
        }
        Self { system, group, others, cell: None }
    }
}

impl Operation for Center<'_> {
    fn apply(&mut self, frame: &mut StoredFrame) -> Result<()> {
        // the center of the cell depends on the choice of the lattice vectors, which may differ from frame to frame
        self.cell = frame.cell.map(|cell| self.cell.map_or(cell, |before| cell.corresponding_to(&before)));
        let middle = self.cell.map_or(Vec3::ZERO, |cell| cell.to_cartesian(vec3(0.5, 0.5, 0.5)));
        self.system.make_whole(frame);
        let positions = self.system.gather(&self.group, frame);
        let by = middle - positions.iter().copied().sum::<Vec3>() / positions.len() as f64;
        frame.positions.iter_mut().for_each(|r| *r += by);
        if let Some(cell) = &frame.cell {
            for &molecule in &self.others {
                let atoms = self.system.molecules().atoms(molecule);
                let image = cell.nearest_image(mean(atoms, &frame.positions) - middle);
                shift(atoms, cell.shift(image), &mut frame.positions);
            }
        }
        Ok(())
    }
}

/// Operation that superposes the selected atoms on their reference positions (nm), with equal weights. The translation
/// and rotation are applied to all positions, and the rotation alone to velocities and forces. The rotated frame has no
/// cell, because cells are stored in a fixed orientation.
///
/// The molecules of the group are moved to the periodic images that fit best to the reference. The images are chosen
/// in every frame. If the frames are unwrapped, the images are chosen in the first frame, and each molecule is moved by
/// the same vector in all frames, so that the paths of the molecules stay continuous.
pub struct Align<'a> {
    /// system of the frames
    system: &'a AnalysedSystem<'a>,
    /// superposed group
    group: Group,
    /// reference positions of the group, nm
    reference: Vec<Vec3>,
    is_unwrapped: bool,
    /// vector (nm) by which each atom of unwrapped frames is moved; chosen in the first frame
    moves: Option<Vec<Vec3>>,
}

impl<'a> Align<'a> {
    /// Creates the operation for a group of atoms with its reference positions (nm). `is_unwrapped` states that
    /// [`Unwrap`] precedes the operation.
    pub fn new(system: &'a AnalysedSystem<'a>, group: Group, reference: Vec<Vec3>, is_unwrapped: bool) -> Self {
        Self { system, group, reference, is_unwrapped, moves: None }
    }

    /// Moves the molecules of the group to their periodic images, and returns the positions (nm) of the group.
    fn fit(&mut self, frame: &mut StoredFrame) -> Vec<Vec3> {
        if let Some(moves) = &self.moves {
            frame.positions.iter_mut().zip(moves).for_each(|(r, by)| *r += *by);
            return self.group.stored(frame);
        }
        let before = self.is_unwrapped.then(|| frame.positions.clone());
        self.system.make_whole(frame);
        let fitted = self.system.fit(&self.group, frame, &self.reference);
        self.moves = before.map(|before| frame.positions.iter().zip(before).map(|(r, before)| *r - before).collect());
        fitted
    }
}

impl Operation for Align<'_> {
    fn apply(&mut self, frame: &mut StoredFrame) -> Result<()> {
        let motion = Superposition::new(&self.fit(frame), &self.reference);
        frame.positions.iter_mut().for_each(|r| *r = motion.apply(*r));
        frame.velocities.iter_mut().chain(&mut frame.forces).for_each(|v| *v = motion.turn(*v));
        frame.cell = None;
        Ok(())
    }
}
