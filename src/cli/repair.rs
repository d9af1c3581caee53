//! `md repair`: makes a damaged trajectory readable.

use std::fmt::Write;
use std::path::PathBuf;

use clap::Args;

use super::info::run_files;
use crate::error::Result;
use crate::observe::trajectory::{Format, Repair as Repaired};

/// Make the trajectory of a killed run readable, or save every readable frame of a damaged trajectory
#[derive(Debug, Args)]
pub(super) struct Repair {
    /// Trajectory (H5MD, XTC, DCD, TRR, AMBER NetCDF, PDB) that no run is writing. An undamaged file is not changed.
    /// A damaged file is kept under a name with the ending .bak
    pub(super) file: PathBuf,
}

impl Repair {
    pub(super) fn execute(&self) -> Result<()> {
        let Repaired { frames, lost, backup } = Format::of_file(&self.file)?.files.repair(&self.file)?;
        let mut text = String::new();
        if let Some(backup) = backup {
            let _ = writeln!(
                text,
                "{frames} frames saved, {} frames lost; the damaged file was renamed to {}",
                lost.len(),
                backup.display()
            );
            let list: Vec<String> = lost.iter().map(u64::to_string).collect();
            if !lost.is_empty() {
                let _ = writeln!(text, "lost frames, counted from 0: {}", list.join(" "));
            }
        }
        // the new name of the damaged file is shown even if the repaired file cannot be described
        super::describe(&text)?;
        super::describe(&run_files::trajectory(&self.file, Format::of_file(&self.file)?)?)
    }
}
