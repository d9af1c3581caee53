//! Templates of residues: atoms with types and parameters, bonds, and virtual sites.

use std::sync::Arc;

use md_engine::system::Construction;

/// Names of the parameters that an atom of a template may have.
pub(super) const PARAMETERS: [&str; 3] = ["charge", "sigma", "epsilon"];

/// An atom of a template.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct TemplateAtom {
    pub(super) name: Arc<str>,
    /// index of the atom type
    pub(super) of_type: u32,
    /// atomic number; 0 for virtual sites
    pub(super) element: u8,
    /// values of [`PARAMETERS`] (e, nm, kJ/mol), where the template states them
    pub(super) parameters: [Option<f64>; 3],
    /// atoms of the template to which the atom is bonded, in the order of the bonds
    pub(super) bonded: Vec<u32>,
    /// number of bonds to atoms of other residues
    pub(super) external: u32,
}

/// A virtual site of a template, whose atoms are given by their indices in the template.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Site {
    pub(super) index: u32,
    pub(super) construction: Construction,
    /// atom whose exclusions the site shares
    pub(super) exclude_with: u32,
}

/// A template, as read from a file or with patches applied.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Template {
    /// name of the residue in the file
    pub(super) name: Arc<str>,
    /// whether a topology file defines the template, which then has precedence over templates of force fields
    pub(super) is_of_topology: bool,
    /// names of the applied patches
    pub(super) patches: Vec<Arc<str>>,
    pub(super) atoms: Vec<TemplateAtom>,
    pub(super) bonds: Vec<[u32; 2]>,
    /// atoms with bonds to other residues; an atom is listed once for each external bond
    pub(super) external_bonds: Vec<u32>,
    pub(super) sites: Vec<Site>,
    /// constrained pairs of atoms, and their distances in nm
    pub(super) constraints: Vec<([u32; 2], f64)>,
}

/// Atomic number of each element with the number of its atoms, sorted by atomic number. Virtual sites are not counted.
pub(super) type Composition = Vec<(u8, u32)>;

/// Counts the atoms of each element.
pub(super) fn composition(elements: impl Iterator<Item = u8>) -> Composition {
    let mut counts = [0; 256];
    elements.for_each(|element| counts[usize::from(element)] += 1);
    (1..=u8::MAX).zip(&counts[1..]).filter(|(_, count)| **count > 0).map(|(element, count)| (element, *count)).collect()
}

impl Template {
    pub(super) fn composition(&self) -> Composition {
        composition(self.atoms.iter().map(|atom| atom.element))
    }

    /// Returns the name of the template for messages, with its patches.
    pub(super) fn label(&self) -> String {
        let patches = self.patches.iter().map(|patch| format!("-{patch}"));
        std::iter::once(self.name.to_string()).chain(patches).collect()
    }

    pub(super) fn find(&self, name: &str) -> Option<u32> {
        self.atoms.iter().position(|atom| &*atom.name == name).map(|index| index as u32)
    }

    pub(super) fn add_bond(&mut self, [a, b]: [u32; 2]) {
        self.bonds.push([a, b]);
        self.atoms[a as usize].bonded.push(b);
        self.atoms[b as usize].bonded.push(a);
    }

    pub(super) fn add_external_bond(&mut self, atom: u32) {
        self.external_bonds.push(atom);
        self.atoms[atom as usize].external += 1;
    }

    /// Whether two templates have the same constraints and virtual sites, and assign the same types and parameters to
    /// the atoms of a residue. `own` maps the atoms of the residue to atoms of this template, and `others` maps the
    /// atoms of the residue to atoms of `other`.
    pub(super) fn agrees(&self, own: &[u32], other: &Template, others: &[u32]) -> bool {
        let atom = |template: &Template, index: u32| {
            let TemplateAtom { of_type, parameters, .. } = &template.atoms[index as usize];
            (*of_type, *parameters)
        };
        let same_atoms = own.iter().zip(others).all(|(a, b)| atom(self, *a) == atom(other, *b));
        same_atoms && self.constraints == other.constraints && self.sites == other.sites
    }
}
