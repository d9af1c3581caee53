//! Conversion of topologies between formats.

use std::io::Write as _;
use std::path::Path;

use crate::cell::PeriodicCell;
use crate::error::{Error, Problem, Result};
use crate::format::known::{WrittenTopology, writable_topology};
use crate::observe::replace::replace_synced;
use crate::prepare::problems_of;
use crate::system::{BoxKind, Description};

/// Writes a topology in the format given by the extension of the file name. The file has a temporary name until it is
/// complete. Fails for a system that `md` could not run, and for contents that the format cannot express. If the format
/// stores the cell, `cell` must be given for a periodic system. Returns sentences about names and numbers that the file
/// does not contain, or contains in another form.
pub fn write_topology(description: &Description, cell: Option<&PeriodicCell>, path: &Path) -> Result<Vec<String>> {
    let problems = problems_of(description);
    if !problems.is_empty() {
        return Err(Error::Input(problems));
    }
    let format = writable_topology(path)
        .ok_or_else(|| Problem::new("the file name extension is not a topology format that md writes").in_file(path))?;
    if format.states_cell && cell.is_none() && description.cell_hint.kind != BoxKind::None {
        let problem = Problem::new(format!("an {} file contains the size of the cell, which is unknown", format.name));
        return Err(problem.in_file(path).help("give the coordinates with --coordinates").into());
    }
    let WrittenTopology { text, losses } =
        (format.write)(description, cell).map_err(|problem| problem.in_file(path))?;
    replace_synced(path, |out| out.write_all(text.as_bytes()))?;
    Ok(losses)
}
