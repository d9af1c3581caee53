//! Contents of an entry, with the names and numbers of its file.

use md_engine::cell::PeriodicCell;
use md_engine::error::Problem;
use md_engine::vec3::Vec3;

/// An entry: one model of a file, with the data that all models of the file share.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Entry {
    /// title of the entry
    pub title: String,
    /// unit cell of the crystal; `None` if the structure was not determined by crystallography
    pub cell: Option<PeriodicCell>,
    /// number of models in the file
    pub models: usize,
    /// number of the model that was read
    pub model: i32,
    /// lines of the END records of a PDB file after which the model continues
    pub continued: Vec<usize>,
    /// chains in the order of the file
    pub chains: Vec<Chain>,
    /// names of the units from which assemblies are built: `label_asym_id` in PDBx/mmCIF, chain identifiers in PDB
    /// files
    pub units: Vec<String>,
    /// bonds and contacts that the file states
    pub links: Vec<Link>,
    /// biological assemblies
    pub assemblies: Vec<Assembly>,
    /// bonds within components that the file describes (`chem_comp_bond`)
    pub component_bonds: Vec<ComponentBond>,
    /// modified residues and their standard parents, as the file states them (MODRES, `_pdbx_struct_mod_residue`)
    pub modified: Vec<Modified>,
}

/// A chain, named by the author's chain identifier (`auth_asym_id`).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chain {
    /// identifier of the chain, such as `A`
    pub id: String,
    /// sequence of the whole polymer, with the residues that have no atoms; empty if the file does not state the
    /// sequence
    pub sequence: Vec<SequencePosition>,
    /// residues with atoms, in the order of the file
    pub residues: Vec<EntryResidue>,
}

/// A residue in the sequence of a chain, which may have no atoms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SequencePosition {
    /// residue name; the first name if the file lists several residues at this position
    pub name: String,
    /// residue number; `None` if the file states no number
    pub number: Option<i32>,
}

/// A residue with atoms.
#[derive(Clone, Debug, PartialEq)]
pub struct EntryResidue {
    /// residue name
    pub name: String,
    /// residue number
    pub number: i32,
    /// insertion code
    pub insertion_code: Option<char>,
    /// whether the atoms are in HETATM records
    pub is_hetero: bool,
    /// whether the residue belongs to the polymer of its chain
    pub is_polymer: bool,
    /// index into [`Entry::units`]
    pub unit: u32,
    /// index into [`Chain::sequence`]; `None` if the file does not state the position
    pub position: Option<usize>,
    /// atoms at all alternative locations
    pub atoms: Vec<EntryAtom>,
}

/// An atom of an entry.
#[derive(Clone, Debug, PartialEq)]
pub struct EntryAtom {
    /// atom name
    pub name: String,
    /// atomic number; 1 for deuterium, 0 if unknown
    pub element: u8,
    /// whether the atom is deuterium
    pub is_deuterium: bool,
    /// position in nm
    pub position: Vec3,
    /// occupancy, a number from 0 to 1; 1 if the file states no occupancy
    pub occupancy: f64,
    /// alternative location; `None` if the atom has only one location
    pub location: Option<char>,
}

/// Identification of an atom in an entry by chain, residue and name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Address {
    /// identifier of the chain
    pub chain: String,
    /// residue name
    pub residue: String,
    /// residue number
    pub number: i32,
    /// insertion code
    pub insertion_code: Option<char>,
    /// atom name
    pub atom: String,
}

/// Kinds of links between two atoms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkKind {
    /// disulfide bond (SSBOND, `disulf`)
    Disulfide,
    /// covalent bond between two residues (LINK, `covale`)
    Covalent,
    /// coordination of a metal (`metalc`)
    Metal,
    /// hydrogen bond or another contact that is not a bond
    Other,
    /// bond that a CONECT record states
    Connection,
    /// bond that the file does not state, found by its length
    Found,
}

/// A bond or contact that the file states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// kind of the link
    pub kind: LinkKind,
    /// the two atoms
    pub ends: [Address; 2],
    /// whether the second atom belongs to a symmetry-related copy in the crystal
    pub is_symmetry: bool,
}

/// A bond between two atoms in every residue with a given name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComponentBond {
    /// residue name
    pub residue: String,
    /// names of the two atoms
    pub atoms: [String; 2],
}

/// A modified residue and the standard residue from which it derives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Modified {
    /// residue name, such as `MSE`
    pub name: String,
    /// name of the standard residue, such as `MET`
    pub parent: String,
}

/// A biological assembly.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Assembly {
    /// identifier, such as `1`
    pub id: String,
    /// sets of units, each with the symmetry operators that are applied to the units of the set
    pub generators: Vec<Generator>,
    /// why the assembly cannot be built, if its description is faulty
    pub fault: Option<Problem>,
}

/// Units of an assembly, and the symmetry operators that are applied to each unit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Generator {
    /// names of the units, as in [`Entry::units`]
    pub units: Vec<String>,
    /// symmetry operators, each of which makes one copy of the units
    pub operators: Vec<Operator>,
}

/// A symmetry operator: a rotation followed by a translation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Operator {
    /// rows of the rotation matrix
    pub rotation: [Vec3; 3],
    /// translation in nm
    pub translation: Vec3,
}

impl Operator {
    /// Makes an operator from three rows. A row holds three elements of the rotation matrix and one component of the
    /// translation (Å).
    pub(super) fn from_rows(rows: [[f64; 4]; 3]) -> Self {
        let vector = |[x, y, z]: [f64; 3]| md_engine::vec3::vec3(x, y, z);
        let translation = vector(rows.map(|row| row[3])) * md_engine::units::ANGSTROM;
        Self { rotation: rows.map(|row| vector([row[0], row[1], row[2]])), translation }
    }

    /// Returns the image of a position (nm) under the operator.
    pub fn apply(&self, position: Vec3) -> Vec3 {
        let [x, y, z] = self.rotation.map(|row| row.dot(position));
        md_engine::vec3::vec3(x, y, z) + self.translation
    }

    /// Returns the composed operator, which applies `first` and then `self`.
    pub(super) fn after(&self, first: &Self) -> Self {
        let [a, b, c] = first.rotation;
        let rotation = self.rotation.map(|row| a * row.x + b * row.y + c * row.z);
        Self { rotation, translation: self.apply(first.translation) }
    }
}
