//! Check that refuses compressed trajectories.

use std::path::Path;

use super::{BEGINNING, find, pdb};
use crate::error::{Problem, Result};
use crate::format::compressed::unpacked_beginning;

/// Returns an error if the file at `path` is a compressed trajectory. Accepts compressed structures, and PDB files with
/// several models, because [`crate::format::read_models`] reads them.
pub fn refuse_compressed(path: &Path) -> Result<()> {
    let Some((kind, beginning)) = unpacked_beginning(path, BEGINNING as usize) else { return Ok(()) };
    match find(|format| format.extension != pdb::FORMAT.extension && format.files.recognises(&beginning)) {
        Some(_) => Err(problem(kind, path).into()),
        None => Ok(()),
    }
}

/// Returns the error for a trajectory that is compressed with `kind`.
pub(super) fn problem(kind: &str, path: &Path) -> Problem {
    let problem = Problem::new(format!("md does not read trajectories that are compressed with {kind}"));
    problem.in_file(path).help("decompress the file first; `md convert` reads compressed PDB and mmCIF files")
}
