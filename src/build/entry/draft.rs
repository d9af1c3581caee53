//! Draft of a clean structure: the chosen atoms without bonds. Each residue of the draft refers to its residue in the
//! entry.

use std::collections::BTreeMap;

use md_engine::vec3::Vec3;

use super::assembly::{Built, Copied};
use super::choose::{Picked, PickedAtom};
use super::model::Entry;
use crate::structure::{Atom, Residue, Structure};

/// A structure without bonds, in which each residue has a reference to its residue in the entry.
pub(super) struct Draft<'a> {
    pub(super) entry: &'a Entry,
    pub(super) picked: &'a [Picked],
    pub(super) copies: Vec<Copied>,
    /// number of symmetry operators of the assembly
    pub(super) operators: usize,
    pub(super) structure: Structure,
    pub(super) positions: Vec<Vec3>,
}

impl<'a> Draft<'a> {
    /// Makes a draft by concatenating the copies of residues in an assembly.
    pub(super) fn new(entry: &'a Entry, picked: &'a [Picked], Built { chains, operators, copies }: Built) -> Self {
        let mut structure = Structure { chains, ..Structure::default() };
        let mut positions = vec![];
        for copy in &copies {
            let source = &picked[copy.residue];
            structure.residues.push(Residue {
                name: source.name.clone(),
                number: source.number,
                insertion_code: source.insertion_code,
                chain: copy.chain as u32,
                first: structure.atoms.len() as u32,
            });
            let atom = |atom: &PickedAtom| Atom { name: atom.name.clone(), element: atom.element };
            structure.atoms.extend(source.atoms.iter().map(atom));
            positions.extend(source.atoms.iter().map(|atom| operators[copy.operator].apply(atom.position)));
        }
        Self { entry, picked, copies, operators: operators.len(), structure, positions }
    }

    /// Returns the residue of the entry that is the source of residue `index` of the structure.
    pub(super) fn source(&self, index: usize) -> &Picked {
        &self.picked[self.copies[index].residue]
    }

    /// Returns the atom with the given name in a residue.
    pub(super) fn atom(&self, residue: usize, name: &str) -> Option<u32> {
        self.structure.atom_named(residue, name).map(|atom| atom as u32)
    }

    /// Returns the distance of two atoms in nm.
    pub(super) fn distance(&self, a: u32, b: u32) -> f64 {
        (self.positions[a as usize] - self.positions[b as usize]).norm()
    }

    /// Returns the residues of the polymers with the same chain identifier, for each copy of an assembly. TER records
    /// divide a chain into several polymers.
    pub(super) fn molecules(&self) -> Vec<Vec<usize>> {
        let mut molecules: BTreeMap<(usize, &str), Vec<usize>> = BTreeMap::new();
        for polymer in self.polymers() {
            let id = self.entry.chains[self.source(polymer[0]).chain].id.as_str();
            molecules.entry((self.copies[polymer[0]].operator, id)).or_default().extend(polymer);
        }
        let mut molecules: Vec<Vec<usize>> = molecules.into_values().collect();
        molecules.sort_unstable();
        molecules
    }

    /// Returns the residues of each polymer, in the order of the chain.
    pub(super) fn polymers(&self) -> Vec<Vec<usize>> {
        let residues = (0..self.copies.len()).filter(|&index| self.source(index).is_polymer);
        let residues: Vec<usize> = residues.collect();
        let chain = |index: usize| self.structure.residues[index].chain;
        residues.chunk_by(|&a, &b| chain(a) == chain(b)).map(<[usize]>::to_vec).collect()
    }
}
