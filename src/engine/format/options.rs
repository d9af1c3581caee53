//! Options for reading a topology.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::error::Problem;

/// Options for reading a topology: further files, macros, and the number of atoms.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TopologyOptions {
    /// folders that are searched for included files after the folder of the topology (GROMACS)
    pub include: Vec<PathBuf>,
    /// preprocessor macros (GROMACS), each as `NAME` or `NAME=text`
    pub define: Vec<String>,
    /// parameter files (CHARMM), in the order in which they are read
    pub parameters: Vec<PathBuf>,
    /// number of atoms in the coordinates, if known. A GROMACS topology states the number of copies of each molecule.
    /// If the total number of atoms of all copies differs from the number of atoms in the coordinates, the topology is
    /// refused before the copies are created
    pub atoms: Option<usize>,
    /// molecules to read from a file that describes molecules but no system, such as a GROMACS `.itp` file or a CHARMM
    /// residue topology; `None` if the file must describe a system
    pub molecules: Option<Molecules>,
}

/// Molecules of a file that describes no system.
#[derive(Clone, Debug, PartialEq)]
pub struct Molecules {
    /// factors of 1-4 interactions of the force field to which the molecules belong. A GROMACS topology without `[
    /// defaults ]` gets these factors and the Lorentz–Berthelot rule. A GROMACS topology without `[ molecules ]` has
    /// one molecule of each type
    pub factors14: Factors14,
    /// names of the residues that are read from a residue topology of CHARMM
    pub residues: BTreeSet<String>,
}

/// Factors by which 1-4 interactions are multiplied.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Factors14 {
    /// factor of the Coulomb energy
    pub coulomb: f64,
    /// factor of the Lennard-Jones energy
    pub lennard_jones: f64,
}

impl TopologyOptions {
    /// Returns an error if macros or parameters are given for a format that does not use them. `used` are the keys
    /// that the format uses.
    pub(super) fn are_used(&self, used: &[&str], path: &Path) -> Result<(), Problem> {
        let given = [("define", !self.define.is_empty()), ("parameters", !self.parameters.is_empty())];
        match given.into_iter().find(|(key, is_given)| *is_given && !used.contains(key)) {
            Some((key, _)) => {
                let problem = Problem::new(format!("system.{key} has no effect on this topology"));
                Err(problem
                    .in_file(path)
                    .help("remove the key: macros are for GROMACS topologies, parameter files for CHARMM topologies"))
            }
            None => Ok(()),
        }
    }
}
