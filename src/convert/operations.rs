//! What is done to frames on their way: each operation changes one frame after the other.

use nalgebra::Vector3;

use crate::analysis::Selector;
use crate::cell::PeriodicCell;
use crate::error::Result;
use crate::observe::trajectory::{StoredFrame, WholeMolecules};
use crate::superpose::{Correlation, rotation};
use crate::system::{Molecules, Topology};
use crate::vec3::{Vec3, vec3};

/// A change of every frame. Memory does not grow with their number.
pub trait Operation {
    /// Changes one frame, in the order of the trajectory.
    fn apply(&mut self, frame: &mut StoredFrame) -> Result<()>;

    /// Whether it must see the frames between those that are written, too.
    fn needs_every_frame(&self) -> bool {
        false
    }
}

/// Makes molecules whole and puts them into the cell by their mean positions.
pub struct Whole {
    whole: WholeMolecules,
    molecules: Molecules,
}

impl Whole {
    /// For all molecules of a system.
    pub fn new(topology: &Topology) -> Self {
        let (atoms, bonds) = (topology.atoms.len(), &topology.connectivity);
        Self { whole: WholeMolecules::new(atoms, bonds), molecules: Molecules::from_bonds(atoms, bonds) }
    }
}

impl Operation for Whole {
    fn apply(&mut self, frame: &mut StoredFrame) -> Result<()> {
        if let Some(cell) = frame.cell {
            self.whole.mend(&cell, &mut frame.positions);
            put_into_cell(&self.molecules, &cell, &mut frame.positions);
        }
        Ok(())
    }
}

/// The mean of some positions.
fn mean(atoms: &[u32], positions: &[Vec3]) -> Vec3 {
    atoms.iter().map(|&atom| positions[atom as usize]).sum::<Vec3>() / atoms.len() as f64
}

fn shift(atoms: &[u32], by: Vec3, positions: &mut [Vec3]) {
    atoms.iter().for_each(|&atom| positions[atom as usize] += by);
}

/// Puts whole molecules into the cell by their mean positions.
fn put_into_cell(molecules: &Molecules, cell: &PeriodicCell, positions: &mut [Vec3]) {
    for molecule in 0..molecules.len() {
        let atoms = molecules.atoms(molecule);
        let (_, image) = cell.wrap(mean(atoms, positions));
        shift(atoms, -cell.shift(image), positions);
    }
}

/// Makes molecules whole and takes out their jumps from one face of the cell to the opposite one, from the first frame on.
///
/// The centre c of a molecule moves on by the minimum image of its displacement, u' = u + (c' − c), which keeps diffusion
/// coefficients right where a barostat scales the cell (von Bülow, Bullerjahn, Hummer, J. Chem. Phys. 153, 021101 (2020),
/// doi:10.1063/5.0008316). Frames must be close enough for no molecule to move by half the cell between them.
pub struct Unwrap {
    whole: WholeMolecules,
    molecules: Molecules,
    /// centres in the frame before: as stored, and unwrapped
    before: Vec<[Vec3; 2]>,
}

impl Unwrap {
    /// For all molecules of a system.
    pub fn new(topology: &Topology) -> Self {
        let Whole { whole, molecules } = Whole::new(topology);
        Self { whole, molecules, before: vec![] }
    }
}

impl Operation for Unwrap {
    fn apply(&mut self, frame: &mut StoredFrame) -> Result<()> {
        let Some(cell) = frame.cell else { return Ok(()) };
        self.whole.mend(&cell, &mut frame.positions);
        let centre = |molecule: usize| mean(self.molecules.atoms(molecule), &frame.positions);
        let centres: Vec<Vec3> = (0..self.molecules.len()).map(centre).collect();
        if self.before.is_empty() {
            self.before = centres.iter().map(|&centre| [centre; 2]).collect();
        }
        for (molecule, (before, centre)) in self.before.iter_mut().zip(centres).enumerate() {
            let unwrapped = before[1] + cell.minimum_image(centre - before[0]);
            shift(self.molecules.atoms(molecule), unwrapped - centre, &mut frame.positions);
            *before = [centre, unwrapped];
        }
        Ok(())
    }

    fn needs_every_frame(&self) -> bool {
        true
    }
}

/// The selected atoms of frames, their molecules in the periodic images that are nearest to the first of them.
struct Gathered<'a> {
    selector: Selector<'a>,
    molecules: Molecules,
}

impl<'a> Gathered<'a> {
    fn new(selector: Selector<'a>) -> Self {
        let topology = selector.selection().topology;
        let molecules = Molecules::from_bonds(topology.atoms.len(), &topology.connectivity);
        Self { selector, molecules }
    }

    /// Their positions, after moving all of their molecules there.
    fn positions(&mut self, frame: &mut StoredFrame) -> Vec<Vec3> {
        let positions = self.selector.positions(frame);
        for (&atom, &position) in self.selector.selection().atoms.iter().zip(&positions) {
            let by = position - frame.positions[atom as usize];
            // those of a molecule move together
            if by != Vec3::ZERO {
                shift(self.molecules.atoms(self.molecules.of_atom(atom as usize)), by, &mut frame.positions);
            }
        }
        positions
    }
}

/// The mean of positions.
fn centre(positions: &[Vec3]) -> Vec3 {
    positions.iter().copied().sum::<Vec3>() / positions.len() as f64
}

/// Moves the centre of a selection to the centre of the cell, and all other molecules into the cell around it; without a
/// cell to the origin.
pub struct Center<'a>(Gathered<'a>);

impl<'a> Center<'a> {
    /// For these atoms.
    pub fn new(selector: Selector<'a>) -> Self {
        Self(Gathered::new(selector))
    }
}

impl Operation for Center<'_> {
    fn apply(&mut self, frame: &mut StoredFrame) -> Result<()> {
        let middle = frame.cell.map_or(Vec3::ZERO, |cell| cell.to_cartesian(vec3(0.5, 0.5, 0.5)));
        let by = middle - centre(&self.0.positions(frame));
        frame.positions.iter_mut().for_each(|r| *r += by);
        if let Some(cell) = &frame.cell {
            put_into_cell(&self.0.molecules, cell, &mut frame.positions);
        }
        Ok(())
    }
}

/// Superposes a selection on its positions in a reference (nm, equal weights) by rotating and moving all atoms, their
/// velocities and forces. The lattice is left out: it would not be turned.
pub struct Align<'a> {
    gathered: Gathered<'a>,
    reference: Vec<Vec3>,
    centre: Vec3,
}

impl<'a> Align<'a> {
    /// On these positions of the atoms of `selector`.
    pub fn new(selector: Selector<'a>, reference: Vec<Vec3>) -> Self {
        let centre = centre(&reference);
        Self { gathered: Gathered::new(selector), reference, centre }
    }
}

impl Operation for Align<'_> {
    fn apply(&mut self, frame: &mut StoredFrame) -> Result<()> {
        let positions = self.gathered.positions(frame);
        let own = centre(&positions);
        let mut m: Correlation = [[0.0; 3]; 3];
        for (a, b) in positions.iter().zip(&self.reference) {
            let (a, b) = (*a - own, *b - self.centre);
            for (row, a) in m.iter_mut().zip(a.to_array()) {
                row.iter_mut().zip(b.to_array()).for_each(|(sum, b)| *sum += a * b);
            }
        }
        let turn = rotation(&m);
        let turned = |r: Vec3| Vec3::from(<[f64; 3]>::from(turn * Vector3::from(r.to_array())));
        frame.positions.iter_mut().for_each(|r| *r = self.centre + turned(*r - own));
        frame.velocities.iter_mut().chain(&mut frame.forces).for_each(|v| *v = turned(*v));
        frame.cell = None;
        Ok(())
    }
}
