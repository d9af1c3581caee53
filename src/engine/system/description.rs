//! Contents of a topology that is read from a file or built in code.

use super::{DispersionCorrection, Electrostatics, LjModifier, Nonbonded, Topology};

/// Atoms, their interactions, and information about the cell. Every reader of topologies returns a description, from
/// which `prepare` makes the [`super::System`].
#[derive(Clone, Debug, Default)]
pub struct Description {
    /// title, force-field family, atoms, residues, bonds, bonded terms, exclusions
    pub topology: Topology,
    /// Lennard-Jones tables
    pub nonbonded: Nonbonded,
    /// shape of the cell in the topology file, and the angle between cell vectors for coordinate files that state no
    /// angles
    pub cell_hint: CellHint,
    /// whether the topology file has no names of atoms and residues; the names in the coordinate file are then used
    pub nameless: bool,
}

/// Non-bonded methods that a file of parameters specifies, such as a file of OpenMM.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Methods {
    /// cutoff in nm; `None` = all pairs
    pub cutoff: Option<f64>,
    /// Coulomb method, with PME parameters for the cell in the file
    pub electrostatics: Electrostatics,
    /// modifier of the Lennard-Jones potential at the cutoff
    pub lj_modifier: LjModifier,
    /// treatment of Lennard-Jones interactions beyond the cutoff
    pub dispersion_correction: DispersionCorrection,
}

/// Information about the cell in a topology file.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CellHint {
    /// shape of the cell
    pub kind: BoxKind,
    /// angle in degrees between any two cell vectors, for old coordinate files without angles; `None` if the angle is
    /// unknown
    pub angle_degrees: Option<f64>,
}

/// The shape of a periodic cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BoxKind {
    /// no cell, as in vacuum or implicit solvent
    #[default]
    None,
    /// all angles 90°
    Rectangular,
    /// all angles acos(−1/3)
    TruncatedOctahedron,
    /// any angles
    Triclinic,
}
