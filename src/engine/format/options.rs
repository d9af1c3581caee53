//! Options for reading a topology.

use std::path::{Path, PathBuf};

use crate::error::Problem;

/// Options for reading a topology: further files, macros, and the number of atoms.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TopologyOptions {
    /// folders that are searched for included files after the folder of the topology (GROMACS)
    pub include: Vec<PathBuf>,
    /// preprocessor macros (GROMACS), each as `NAME` or `NAME=text`
    pub define: Vec<String>,
    /// parameter files (CHARMM), in the order in which they are read
    pub parameters: Vec<PathBuf>,
    /// number of atoms in the coordinates, if known. A GROMACS topology states the number of copies of each molecule.
    /// If the total number of atoms of all copies differs from the number of atoms in the coordinates, the topology
    /// is refused before the copies are made
    pub atoms: Option<usize>,
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
                    .help("remove it: macros are for GROMACS, files of parameters for CHARMM topologies"))
            }
            None => Ok(()),
        }
    }
}
