//! A structure with assigned atom types, from which all energy terms are made.

use md_engine::error::{Error, Result};

use super::ForceField;
use super::assignment::{AssignedAtom, Assignment};
use super::atom_types::Kind;
use super::connectivity::Connectivity;
use super::matching;
use crate::structure::{Structure, neighbours};

/// A structure with the atom types and bonded groups that its energy terms need.
pub(super) struct Typed<'a> {
    pub(super) field: &'a ForceField,
    pub(super) structure: &'a Structure,
    /// bonds whose terms follow from atom types; bonds within molecules that topology files describe are not included
    pub(super) bonds: Vec<[u32; 2]>,
    /// bonded neighbours of each atom of the structure; only bonds in `bonds` count
    pub(super) neighbours: Vec<Vec<u32>>,
    pub(super) connectivity: Connectivity,
    pub(super) atoms: Vec<AssignedAtom>,
    pub(super) assignment: Assignment,
    pub(super) kinds: Vec<Kind>,
    /// index of the residue of each atom
    pub(super) residues: Vec<u32>,
}

impl<'a> Typed<'a> {
    /// Finds the templates of all residues, and the angles and torsions that follow from the bonds.
    pub(super) fn new(field: &'a ForceField, structure: &'a Structure) -> Result<Self> {
        structure.check()?;
        let all = neighbours(structure.atoms.len(), &structure.bonds);
        let mut assignment = matching::assign(structure, &all, &field.templates)?;
        let atoms: Option<Vec<AssignedAtom>> = assignment.atoms.drain(..).collect();
        let atoms =
            atoms.ok_or_else(|| Error::Internal("an atom has no type after templates were matched".to_owned()))?;
        let mut typed = Self {
            field,
            structure,
            bonds: vec![],
            neighbours: vec![],
            connectivity: Connectivity::default(),
            kinds: atoms.iter().map(|atom| field.types.get(atom.of_type).kind).collect(),
            residues: structure.residue_of_atoms(),
            atoms,
            assignment,
        };
        let by_types = |bond: &&[u32; 2]| !typed.is_molecule(typed.residues[bond[0] as usize] as usize);
        typed.bonds = structure.bonds.iter().filter(by_types).copied().collect();
        typed.neighbours = neighbours(structure.atoms.len(), &typed.bonds);
        typed.connectivity = Connectivity::new(&typed.bonds, &typed.neighbours);
        Ok(typed)
    }

    /// Whether a residue is a molecule that a topology file describes.
    pub(super) fn is_molecule(&self, residue: usize) -> bool {
        let names = self.assignment.names[residue].as_ref();
        names.is_some_and(|names| self.field.molecules.contains_key(&names.residue))
    }

    /// Returns the name of an atom for messages, such as `HB2 of ALA 7 of chain A`.
    pub(super) fn label(&self, atom: usize) -> String {
        self.structure.atom_label(atom)
    }

    /// Returns the types and classes of several atoms.
    pub(super) fn kinds<const N: usize>(&self, atoms: [u32; N]) -> [Kind; N] {
        atoms.map(|atom| self.kinds[atom as usize])
    }
}
