//! `md demux`: sorts trajectories and energies of a replica exchange by state.

use std::fmt::Write;
use std::path::PathBuf;

use clap::Args;

use crate::convert::Demux;
use crate::error::{Problem, Result};

/// Sort the trajectories and energies of a replica exchange by state: reads the folders replica-1, replica-2, ... and
/// writes state-1, state-2, ...
#[derive(Debug, Args)]
#[command(name = "demux")]
pub(super) struct Sort {
    /// Output folder of the replica exchange (the folder with exchange.csv)
    pub(super) folder: PathBuf,
    /// Folder in which state-1, state-2, ... are made; default: the output folder of the replica exchange
    #[arg(long, value_name = "D")]
    output_dir: Option<PathBuf>,
    /// Replace the files of state-1, state-2, ... if they exist
    #[arg(long)]
    force: bool,
}

impl Sort {
    pub(super) fn execute(&self) -> Result<()> {
        let demux = Demux::open(&self.folder)?;
        let target = self.output_dir.as_deref().unwrap_or(&self.folder);
        let folders = (0..demux.states()).map(|state| Demux::folder(target, state));
        if let Some(there) = folders.into_iter().find(|folder| !self.force && folder.exists()) {
            let problem = Problem::new("the folder already exists").in_file(&there);
            return Err(problem
                .help("replace the files in the folder with --force, or choose another folder with --output-dir")
                .into());
        }
        let mut text = String::new();
        for sorted in demux.sort_into(target)? {
            let (name, records, states) = (&sorted.name, sorted.records, demux.states());
            // writing to a String cannot fail
            let _ = writeln!(text, "written      {name}: {records} records in each of {states} states");
            for warning in sorted.unequal().iter().chain(&sorted.warnings) {
                let _ = writeln!(text, "warning      {warning}");
            }
        }
        let _ =
            writeln!(text, "folders      {} and one folder for each further state", Demux::folder(target, 0).display());
        super::describe(&text)
    }
}
