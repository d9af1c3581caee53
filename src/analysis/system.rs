//! System whose frames are analysed, and groups of its atoms.
//!
//! By default molecules are made whole, and the molecules of a group are moved to periodic images near each other
//! ([`crate::image`]), so that results do not depend on the periodic images in the file. With [`Images::AsStored`]
//! positions are used as they are in the file.

use super::findings::Array;
use crate::cell::PeriodicCell;
use crate::error::{Problem, Result};
use crate::image::{Image, Parts, WholeMolecules};
use crate::observe::trajectory::{FrameSource, StoredFrame};
use crate::select::{Geometry, select, select_at};
use crate::system::{Molecules, Topology};
use crate::vec3::Vec3;

/// Choice of the periodic images of positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Images {
    /// molecules are made whole, and the molecules of a group are moved to periodic images near each other
    Gathered,
    /// positions are used as stored in the file
    AsStored,
    /// molecules stay as stored, because their bonds are unknown; the periodic image of a whole position may be chosen
    Unbonded,
}

/// System whose frames are analysed.
#[derive(Debug)]
pub struct AnalysedSystem<'a> {
    topology: &'a Topology,
    molecules: Molecules,
    images: Images,
    /// data with which molecules are made whole; `None` if positions stay as stored
    whole: Option<WholeMolecules>,
    /// frame from which selections by distance are evaluated
    first: Option<StoredFrame>,
}

/// Selected atoms of a system.
#[derive(Clone, Debug)]
pub struct Group {
    /// selection from which the group was made
    pub text: String,
    /// atoms of the group, 0-based and ascending
    pub atoms: Vec<u32>,
    /// atoms of the group, divided by molecule; `None` if positions stay as stored
    parts: Option<Parts>,
}

/// Returns the smallest N for which the first N atoms of a frame include all of `atoms`.
pub(super) fn end_of(atoms: &[u32]) -> usize {
    atoms.iter().max().map_or(0, |&atom| atom as usize + 1)
}

/// Reads the first frame of a trajectory, from which selections by distance are evaluated. The cell of a crystal is
/// left out: the cell contains further copies of the atoms, so that distances across faces of the cell mean nothing.
pub fn first_frame(trajectory: &mut dyn FrameSource) -> Result<StoredFrame> {
    let mut frame = StoredFrame::default();
    trajectory.read(0, &mut frame)?;
    frame.cell = frame.cell.filter(|_| !trajectory.is_crystal());
    Ok(frame)
}

impl<'a> AnalysedSystem<'a> {
    /// Creates the description of a system whose frames are analysed.
    pub fn new(topology: &'a Topology, images: Images) -> Self {
        let whole = (images == Images::Gathered).then(|| WholeMolecules::of(topology));
        AnalysedSystem { topology, molecules: topology.molecules(), images, whole, first: None }
    }

    /// Reads the first frame of the trajectory, from which selections by distance ("around 0.5 nm of …") are evaluated.
    pub fn at_first(mut self, trajectory: &mut dyn FrameSource) -> Result<Self> {
        if trajectory.frames() > 0 {
            self.first = Some(first_frame(trajectory)?);
        }
        Ok(self)
    }

    /// Returns the first frame of the trajectory, if [`Self::at_first`] has read it.
    pub fn first_frame(&self) -> Option<&StoredFrame> {
        self.first.as_ref()
    }

    /// Returns the topology of all atoms.
    pub fn topology(&self) -> &'a Topology {
        self.topology
    }

    /// Returns the molecules of the system.
    pub fn molecules(&self) -> &Molecules {
        &self.molecules
    }

    /// Returns the smallest number of atoms, at least `count`, after which a frame can end without cutting a molecule.
    pub fn whole_molecules(&self, count: usize) -> usize {
        let mut end = count.min(self.topology.atoms.len());
        for molecule in 0..self.molecules.len() {
            let atoms = self.molecules.atoms(molecule);
            if atoms.first().is_none_or(|&first| first as usize >= end) {
                break;
            }
            end = end.max(end_of(atoms));
        }
        end
    }

    /// Divides atoms by molecule. Fails if their molecules are unknown, see [`Self::require_molecules`].
    pub fn by_molecule(&self, atoms: &[u32], otherwise: &str) -> Result<Vec<Vec<u32>>> {
        self.require_molecules(atoms, otherwise)?;
        let of_part = |part: &[u32]| part.iter().map(|&place| atoms[place as usize]).collect();
        Ok(Parts::new(&self.molecules, atoms).iter().map(of_part).collect())
    }

    /// Fails if the molecules of the given atoms are unknown. They are unknown if there are no bonds, or if one of the
    /// atoms has no bond to the other atoms of its residue, as in a PDB file with the bonds of only some residues.
    /// `otherwise` ends the advice of the error with another way.
    pub fn require_molecules(&self, atoms: &[u32], otherwise: &str) -> Result<()> {
        let topology = self.topology;
        let is_alone = |&&atom: &&u32| {
            let residue = topology.atoms[atom as usize].residue as usize;
            let is_single = self.molecules.atoms(self.molecules.of_atom(atom as usize)).len() == 1;
            is_single && (topology.connectivity.is_empty() || topology.residue_atoms(residue).len() > 1)
        };
        let Some(&atom) = atoms.iter().find(is_alone) else { return Ok(()) };
        let of = match topology.connectivity.is_empty() {
            true => "the selected atoms".to_owned(),
            false => topology.atom_name(atom),
        };
        let problem = Problem::new(format!("the bonds of {of} are unknown, so that each atom counts as a molecule"));
        let files = "AMBER, GROMACS, CHARMM psf, OpenMM, or an H5MD trajectory of md";
        Err(problem.help(format!("give a file with bonds by --topology: {files}{otherwise}")).into())
    }

    /// Divides particles into at most [`GROUPS`] groups of whole molecules, because the atoms of a molecule move
    /// together and are not independent. `first_atoms` has one atom of each particle. Returns the indices of the
    /// particles of each group; empty if the molecules are unknown, or fewer than [`LEAST_MOLECULES`].
    pub fn independent_groups(&self, first_atoms: &[u32]) -> Vec<Vec<usize>> {
        let has_one_atom = |&atom: &u32| {
            let residue = self.topology.atoms[atom as usize].residue as usize;
            self.topology.residue_atoms(residue).len() == 1
        };
        // a topology without bonds is one of single atoms, unlike a structure, whose bonds are unknown
        let are_atoms = || {
            let is_topology = self.images == Images::Gathered && self.topology.connectivity.is_empty();
            is_topology && first_atoms.iter().all(has_one_atom)
        };
        if self.require_molecules(first_atoms, "").is_err() && !are_atoms() {
            return vec![];
        }
        let mut of_molecule = std::collections::BTreeMap::<usize, Vec<usize>>::new();
        for (particle, &atom) in first_atoms.iter().enumerate() {
            of_molecule.entry(self.molecules.of_atom(atom as usize)).or_default().push(particle);
        }
        let molecules: Vec<Vec<usize>> = of_molecule.into_values().collect();
        let count = molecules.len();
        if count < LEAST_MOLECULES {
            return vec![];
        }
        let groups = GROUPS.min(count);
        (0..groups).map(|k| molecules[k * count / groups..(k + 1) * count / groups].concat()).collect()
    }

    /// Whether another periodic image of a position than the stored image may be chosen.
    pub fn chooses_images(&self) -> bool {
        self.images != Images::AsStored
    }

    /// Whether molecules are made whole.
    pub fn makes_whole(&self) -> bool {
        self.whole.is_some()
    }

    /// Selects a group of atoms ([`crate::select`]). Fails if no atom is selected.
    pub fn group(&self, text: &str) -> Result<Group> {
        let geometry = |frame| {
            let StoredFrame { positions, cell, .. }: &StoredFrame = frame;
            Geometry { positions, cell: cell.as_ref() }
        };
        let atoms = match self.first.as_ref().map(geometry) {
            Some(geometry) => select_at(self.topology, geometry, text)?,
            None => select(self.topology, text)?,
        };
        Ok(self.group_of(text, atoms))
    }

    /// Creates a group of the given atoms (0-based, ascending), with `text` as its description.
    pub fn group_of(&self, text: &str, atoms: Vec<u32>) -> Group {
        let parts = self.whole.is_some().then(|| Parts::new(&self.molecules, &atoms));
        Group { text: text.to_owned(), atoms, parts }
    }

    /// Makes all molecules of a frame whole, unless positions stay as stored. The frame may end after any molecule, and
    /// lack all later molecules.
    pub fn make_whole(&self, frame: &mut StoredFrame) {
        if let (Some(whole), Some(cell)) = (&self.whole, &frame.cell) {
            whole.make_whole(cell, &mut frame.positions);
        }
    }

    /// Gathers a group: moves its molecules, with all of their atoms, to periodic images near each other. The molecules
    /// of the frame must be whole. Returns the positions (nm) of the group.
    pub fn gather(&self, group: &Group, frame: &mut StoredFrame) -> Vec<Vec3> {
        self.arrange(group, frame, Parts::gather)
    }

    /// Moves the molecules of a group, with all of their atoms, to the periodic images that fit best to `target`, the
    /// positions (nm) of the group in another frame. The molecules of the frame must be whole. Returns the positions
    /// (nm) of the group.
    pub fn fit(&self, group: &Group, frame: &mut StoredFrame, target: &[Vec3]) -> Vec<Vec3> {
        self.arrange(group, frame, |parts, cell, positions| parts.fit(cell, positions, target))
    }

    /// Moves the molecules of a group, with all of their atoms, to the periodic images that `choose` returns. The
    /// arguments of `choose` are the parts of the group (its atoms divided by molecule), the cell, and the positions
    /// (nm) of the group. Returns the new positions.
    fn arrange(
        &self,
        group: &Group,
        frame: &mut StoredFrame,
        choose: impl FnOnce(&Parts, &PeriodicCell, &[Vec3]) -> Vec<Image>,
    ) -> Vec<Vec3> {
        let mut positions = group.stored(frame);
        if let (Some(parts), Some(cell)) = (&group.parts, &frame.cell) {
            let images = choose(parts, cell, &positions);
            parts.shift(cell, &images, &mut positions);
            for (part, image) in parts.iter().zip(images).filter(|(_, image)| *image != [0; 3]) {
                let molecule = self.molecules.of_atom(group.atoms[part[0] as usize] as usize);
                let shift = cell.shift(image);
                self.molecules.atoms(molecule).iter().for_each(|&atom| frame.positions[atom as usize] += shift);
            }
        }
        positions
    }

    /// Returns the masses of a group in amu.
    pub fn masses(&self, group: &Group) -> Vec<f64> {
        group.atoms.iter().map(|&atom| self.topology.atoms[atom as usize].mass).collect()
    }

    /// Returns the charges (e) of the atoms of a group. Fails if all charges are zero.
    pub fn charges(&self, group: &Group) -> Result<Vec<f64>> {
        let charges: Vec<f64> = group.atoms.iter().map(|&atom| self.topology.atoms[atom as usize].charge).collect();
        if charges.iter().all(|charge| *charge == 0.0) {
            let problem = Problem::new("the selected atoms have no charges");
            return Err(problem.help("give a topology with charges by --topology (prmtop, top, psf, H5MD)").into());
        }
        Ok(charges)
    }

    /// Returns the weights of a group, which add up to 1: proportional to the masses, or equal.
    pub fn weights(&self, group: &Group, by_mass: bool) -> Result<Vec<f64>> {
        let raw = if by_mass { self.masses(group) } else { vec![1.0; group.atoms.len()] };
        let total: f64 = raw.iter().sum();
        if !(total > 0.0 && total.is_finite()) {
            return Err(Problem::new("the selected atoms have no mass").help("select atoms with mass").into());
        }
        Ok(raw.into_iter().map(|weight| weight / total).collect())
    }
}

impl Group {
    /// Returns the positions (nm) of the group in a frame of whole molecules, with the molecules in periodic images
    /// near each other.
    pub fn positions(&self, frame: &StoredFrame) -> Vec<Vec3> {
        let mut positions = self.stored(frame);
        if let (Some(parts), Some(cell)) = (&self.parts, &frame.cell) {
            parts.make_gathered(cell, &mut positions);
        }
        positions
    }

    /// Returns the positions (nm) of the group in a frame of whole molecules, in the periodic images that fit best to
    /// `target`, the positions (nm) of the group in another frame. Use this function to compare frames, because
    /// [`Self::positions`] may place the molecules of two frames in different relative periodic images.
    pub fn fitted(&self, frame: &StoredFrame, target: &[Vec3]) -> Vec<Vec3> {
        let mut positions = self.stored(frame);
        if let (Some(parts), Some(cell)) = (&self.parts, &frame.cell) {
            let images = parts.fit(cell, &positions, target);
            parts.shift(cell, &images, &mut positions);
        }
        positions
    }

    /// Returns the positions (nm) of the group in a frame of whole molecules, with each molecule in the periodic image
    /// nearest to its positions in `target`.
    pub fn nearest(&self, frame: &StoredFrame, target: &[Vec3]) -> Vec<Vec3> {
        let mut positions = self.stored(frame);
        if let (Some(parts), Some(cell)) = (&self.parts, &frame.cell) {
            let images = parts.nearest_to(cell, &positions, target);
            parts.shift(cell, &images, &mut positions);
        }
        positions
    }

    /// Returns the positions (nm) of the group in a frame of whole molecules, with each molecule in the cell.
    pub fn in_cell(&self, frame: &StoredFrame) -> Vec<Vec3> {
        let mut positions = self.stored(frame);
        if let (Some(parts), Some(cell)) = (&self.parts, &frame.cell) {
            parts.put_into_cell(cell, &mut positions);
        }
        positions
    }

    /// Returns the smallest N for which the first N atoms of a frame include the group.
    pub fn end(&self) -> usize {
        end_of(&self.atoms)
    }

    /// Returns the atoms of the group (0-based) as an array for result files.
    pub fn array(&self) -> Array {
        Array::new("atoms", [("atoms", self.atoms.len())], self.atoms.clone(), "")
    }

    /// Returns the stored positions (nm) of the group in a frame, without moving atoms to other periodic images.
    pub fn stored(&self, frame: &StoredFrame) -> Vec<Vec3> {
        self.atoms.iter().map(|&atom| frame.positions[atom as usize]).collect()
    }
}

/// Largest number of groups of molecules from which a standard error is estimated. The relative error of a standard
/// error from 10 groups is 1/√18 = 24 %.
const GROUPS: usize = 10;
/// Smallest number of molecules from which a standard error is estimated. The relative error of a standard error from 5
/// molecules is 1/√8 = 35 %.
const LEAST_MOLECULES: usize = 5;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::{Atom, Name, Residue};

    /// Returns a topology of two residues of two atoms and a sodium ion, with the given bonds.
    fn residues(connectivity: Vec<[u32; 2]>) -> Topology {
        let name = Name::new("X");
        let atom = |residue| Atom { name, type_name: name, element: 6, mass: 1.0, charge: 0.0, lj_type: 0, residue };
        let residue = |first| Residue { name, number: 1, first };
        Topology {
            atoms: [0, 0, 1, 1, 2].map(atom).to_vec(),
            residues: [0, 2, 4].map(residue).to_vec(),
            connectivity,
            ..Topology::default()
        }
    }

    /// Either the second residue alone or both residues have a bond between their atoms.
    #[test]
    fn molecules_are_known_if_every_residue_has_bonds() {
        for (bonds, is_known) in [(vec![], false), (vec![[2, 3]], false), (vec![[0, 1], [2, 3]], true)] {
            let topology = residues(bonds);
            let system = AnalysedSystem::new(&topology, Images::Gathered);
            assert_eq!(system.require_molecules(&[0, 1, 2, 3, 4], "").is_ok(), is_known);
        }
    }

    /// Twelve molecules of two atoms, and four of these molecules. Without bonds, the molecules are unknown if residues
    /// have two atoms.
    #[test]
    fn groups_have_whole_molecules() {
        let name = Name::new("X");
        let atom =
            |k: u32| Atom { name, type_name: name, element: 6, mass: 1.0, charge: 0.0, lj_type: 0, residue: k / 2 };
        let residue = |k: u32| Residue { name, number: k as i32, first: 2 * k };
        let mut topology = Topology {
            atoms: (0..24).map(atom).collect(),
            residues: (0..12).map(residue).collect(),
            connectivity: (0..12).map(|k| [2 * k, 2 * k + 1]).collect(),
            ..Topology::default()
        };
        let atoms: Vec<u32> = (0..24).collect();
        let system = AnalysedSystem::new(&topology, Images::Gathered);
        let groups = system.independent_groups(&atoms);
        assert_eq!(groups.len(), 10);
        assert_eq!(groups.concat(), (0..24).collect::<Vec<usize>>());
        assert!(groups.iter().all(|group| group[0] % 2 == 0 && group.len() % 2 == 0), "{groups:?}");
        assert_eq!(system.independent_groups(&atoms[..10]).len(), 5);
        assert!(system.independent_groups(&atoms[..8]).is_empty());
        topology.connectivity.clear();
        assert!(AnalysedSystem::new(&topology, Images::Gathered).independent_groups(&atoms).is_empty());
    }

    /// The atoms of two molecules alternate, as the atoms of glycoproteins whose glycans follow all protein chains.
    #[test]
    fn molecules_with_atoms_apart_are_one_part_each() {
        let topology = residues(vec![[0, 2], [1, 3]]);
        let found = AnalysedSystem::new(&topology, Images::Gathered).by_molecule(&[0, 1, 2, 3], "").unwrap();
        assert_eq!(found, [[0, 2], [1, 3]]);
    }
}
