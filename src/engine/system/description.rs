//! The contents of a topology, from a file or code, before anything is derived from it.

use super::{DispersionCorrection, Electrostatics, LjModifier, Nonbonded, Topology};

/// Atoms, their interactions, and what is known of the cell. Every reader of topologies returns one; `prepare` makes the
/// [`super::System`] of it.
#[derive(Clone, Debug, Default)]
pub struct Description {
    /// title, force-field family, atoms, residues, bonds, bonded terms, exclusions
    pub topology: Topology,
    /// Lennard-Jones tables
    pub nonbonded: Nonbonded,
    /// the cell that the topology file contains; that of the coordinates has precedence
    pub cell_hint: CellHint,
    /// whether the file has no names of atoms and residues, so that those of the coordinates hold
    pub nameless: bool,
}

/// Non-bonded methods that a file of parameters asks for, as OpenMM's do.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Methods {
    /// nm; `None` = all pairs
    pub cutoff: Option<f64>,
    /// Coulomb interactions; with PME the parameters for the file's own cell
    pub electrostatics: Electrostatics,
    /// end of the Lennard-Jones potential
    pub lj_modifier: LjModifier,
    /// Lennard-Jones beyond the cutoff
    pub dispersion_correction: DispersionCorrection,
}

/// The cell that a topology file contains.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CellHint {
    /// its shape
    pub kind: BoxKind,
    /// one angle for the cell in degrees; old coordinate files give no angles and mean this one
    pub angle_degrees: Option<f64>,
}

/// The shape of a periodic cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BoxKind {
    /// vacuum or implicit solvent
    #[default]
    None,
    /// all angles 90°
    Rectangular,
    /// all angles acos(−1/3)
    TruncatedOctahedron,
    /// any angles
    Triclinic,
}
