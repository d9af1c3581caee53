//! Formats of output files that hold a single structure.

/// Format of an output file that holds a single structure.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Structure {
    Rst7,
    Pdb,
    Gro,
    Mmcif,
}

impl Structure {
    /// Returns the name of the format, and whether the format holds velocities.
    pub(super) fn describe(self) -> (&'static str, bool) {
        match self {
            Structure::Rst7 => ("AMBER rst7", true),
            Structure::Pdb => ("PDB", false),
            Structure::Gro => ("GROMACS gro", true),
            Structure::Mmcif => ("mmCIF", false),
        }
    }
}

/// File name extensions of the formats of single structures.
pub(super) const STRUCTURES: [(&str, Structure); 5] = [
    ("rst7", Structure::Rst7),
    ("inpcrd", Structure::Rst7),
    ("pdb", Structure::Pdb),
    ("gro", Structure::Gro),
    ("cif", Structure::Mmcif),
];
