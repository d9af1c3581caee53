//! A structure whose atoms have types, from which all terms are made.

use md_engine::error::{Error, Result};

use super::ForceField;
use super::assignment::{AssignedAtom, Assignment};
use super::atom_types::Kind;
use super::connectivity::Connectivity;
use super::matching;
use crate::structure::{Structure, neighbours};

/// A structure whose atoms have types.
pub(super) struct Typed<'a> {
    pub(super) field: &'a ForceField,
    pub(super) structure: &'a Structure,
    pub(super) neighbours: Vec<Vec<u32>>,
    pub(super) connectivity: Connectivity,
    pub(super) atoms: Vec<AssignedAtom>,
    pub(super) assignment: Assignment,
    pub(super) kinds: Vec<Kind>,
    /// residue of each atom
    pub(super) residues: Vec<u32>,
}

impl<'a> Typed<'a> {
    /// Finds the templates of all residues, and the angles and torsions that follow from the bonds.
    pub(super) fn new(field: &'a ForceField, structure: &'a Structure) -> Result<Self> {
        structure.check()?;
        let neighbours = neighbours(structure.atoms.len(), &structure.bonds);
        let mut assignment = matching::assign(structure, &neighbours, &field.templates)?;
        let atoms: Option<Vec<AssignedAtom>> = assignment.atoms.drain(..).collect();
        let atoms = atoms.ok_or_else(|| Error::Internal("an atom without a type after matching".to_owned()))?;
        Ok(Self {
            field,
            structure,
            connectivity: Connectivity::new(&structure.bonds, &neighbours),
            kinds: atoms.iter().map(|atom| field.types.get(atom.of_type).kind).collect(),
            residues: structure.residue_of_atoms(),
            neighbours,
            atoms,
            assignment,
        })
    }

    /// Name of an atom for messages, as `HB2 of ALA 7 of chain A`.
    pub(super) fn label(&self, atom: usize) -> String {
        let residue = self.structure.residue_label(self.residues[atom] as usize);
        format!("{} of {residue}", self.structure.atoms[atom].name)
    }

    /// Types and classes of several atoms.
    pub(super) fn kinds<const N: usize>(&self, atoms: [u32; N]) -> [Kind; N] {
        atoms.map(|atom| self.kinds[atom as usize])
    }
}
