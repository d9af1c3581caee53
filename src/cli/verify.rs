//! `md verify`: checks a file against its checksums.

use std::path::PathBuf;

use clap::Args;

use crate::error::{Error, Result};
use crate::observe::checkpoint::is_checkpoint;
use crate::observe::trajectory::{Format, Verification};
use crate::run::Checkpoint;

/// Check a checkpoint or every frame of a trajectory against its checksum, or check that frames are readable if the
/// format has no checksums; exit code 5 if the file is damaged
#[derive(Debug, Args)]
pub(super) struct Verify {
    /// Trajectory (H5MD, XTC, DCD, TRR, AMBER NetCDF, PDB) or checkpoint (checkpoint.md)
    pub(super) file: PathBuf,
}

impl Verify {
    pub(super) fn execute(&self) -> Result<()> {
        if is_checkpoint(&self.file) {
            return match Checkpoint::read(&self.file)?.and_then(|found| found.warning) {
                Some(warning) => Err(Error::io(&self.file, warning)),
                None => super::print("the checkpoint matches its checksum\n"),
            };
        }
        let Verification { frames, bad, checksums } = Format::of_file(&self.file)?.files.verify(&self.file)?;
        if bad.is_empty() {
            let how = if checksums { "match their checksums" } else { "are readable (the format has no checksums)" };
            return super::print(&format!("{frames} frames {how}\n"));
        }
        let lines: String = bad.iter().map(|(frame, reason)| format!("frame {frame}: {reason}\n")).collect();
        super::describe(&lines)?;
        let help = "to save the undamaged frames, use md repair";
        Err(Error::io(&self.file, format!("{} of {frames} frames are damaged ({help})", bad.len())))
    }
}
