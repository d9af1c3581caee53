//! `md import`: the input of another program as an input file of `md`.

use std::path::{Path, PathBuf};

use clap::Args;

use super::outputs::check_new;
use crate::error::{Error, Result};
use crate::import::{Files, Remark, import};

/// Translate the input of another program, a GROMACS mdp or an AMBER mdin, to an input file; lists what could not be carried over
#[derive(Debug, Args)]
pub(super) struct Import {
    /// GROMACS mdp or AMBER mdin, recognised by its content
    file: PathBuf,
    /// Topology to name in the result; unless given topol.top, or prmtop
    #[arg(short = 'p', long, value_name = "FILE")]
    topology: Option<PathBuf>,
    /// Coordinates to name in the result; unless given conf.gro, or inpcrd
    #[arg(short, long, value_name = "FILE")]
    coordinates: Option<PathBuf>,
    /// Index file with the groups of a GROMACS mdp; unless given those that GROMACS makes itself
    #[arg(short = 'n', long, value_name = "FILE")]
    index: Option<PathBuf>,
    /// File to write; unless given the result goes to standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace the result where there is one
    #[arg(long)]
    force: bool,
}

impl Import {
    pub(super) fn execute(&self) -> Result<()> {
        if let Some(output) = &self.output {
            check_new(output, &self.file, self.force)?;
        }
        let folder = self.output.as_deref().and_then(Path::parent).filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        let base = std::path::absolute(folder).map_err(|error| Error::io(folder, error))?;
        let Import { topology, coordinates, index, .. } = self;
        let files = Files { topology: topology.clone(), coordinates: coordinates.clone(), index: index.clone() };
        let imported = import(&self.file, &files, &base)?;
        super::say(&report(&imported.remarks));
        match &self.output {
            None => super::print(&imported.text),
            Some(output) => {
                std::fs::write(output, &imported.text).map_err(|error| Error::io(output, error))?;
                super::print(&format!("{} written; next: md check {0}\n", output.display()))
            }
        }
    }
}

/// What is not simply carried over, in two lists.
fn report(remarks: &[Remark]) -> String {
    let list = |title: &str, differs: bool| {
        let lines = remarks.iter().filter(|remark| remark.differs == differs).map(Remark::describe);
        let lines: String = lines.map(|line| format!("\n  {line}")).collect();
        if lines.is_empty() { String::new() } else { format!("{title}:{lines}\n") }
    };
    let text = list("not carried over", true) + &list("nothing to carry over", false);
    if text.is_empty() { "everything is carried over".to_owned() } else { text.trim_end().to_owned() }
}
