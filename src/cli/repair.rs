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
    /// A damaged file is kept under a name with the ending .bak. If the times of frames follow from their indices, as
    /// in DCD, only the frames before the first lost frame are saved
    pub(super) file: PathBuf,
}

impl Repair {
    pub(super) fn execute(&self) -> Result<()> {
        let repaired = Format::of_file(&self.file)?.files.repair(&self.file)?;
        let Repaired { frames, lost, left_out, missing, unreadable, backup } = repaired;
        let mut text = String::new();
        if let Some(backup) = backup {
            let backup = backup.display();
            let _ = writeln!(
                text,
                "{frames} frames saved, {} frames lost; the damaged file was renamed to {}",
                lost.len(),
                backup
            );
            let list: Vec<String> = lost.iter().map(u64::to_string).collect();
            if !lost.is_empty() {
                let _ = writeln!(text, "lost frames, counted from 0: {}", list.join(" "));
            }
            if unreadable > 0 {
                let _ = writeln!(
                    text,
                    "no frame begins in {unreadable} bytes of the damaged file: they count as one lost frame in each \
                     place, but may have held several frames"
                );
            }
            if missing > 0 {
                let _ = writeln!(text, "{missing} frames that the header counted were missing at the end of the file");
            }
            if left_out > 0 {
                let _ = writeln!(
                    text,
                    "{left_out} readable frames after the first lost frame were left out, because the time of a frame \
                     follows from its index: they would move to earlier times. `md convert --frame N` writes frame N \
                     of {backup} with its time, for example to a .trr or .nc file"
                );
            }
        }
        // the new name of the damaged file is shown even if the repaired file cannot be described
        super::describe(&text)?;
        super::describe(&run_files::trajectory(&self.file, Format::of_file(&self.file)?)?)
    }
}
