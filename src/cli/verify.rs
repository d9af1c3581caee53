//! `md verify`: checks a file against its checksums.

use std::path::PathBuf;

use clap::Args;

use crate::error::{Error, Result};
use crate::observe::checkpoint::{is_checkpoint, previous};
use crate::observe::trajectory::{Format, Verification};
use crate::run::Checkpoint;

/// Advice for a damaged trajectory. [`REPAIR_OWN`] is the advice for a file that another program may have written.
const REPAIR: &str = "to save the undamaged frames, use md repair";
const REPAIR_OWN: &str = "md repair saves the undamaged frames if md wrote the file";

/// Check a checkpoint or every frame of a trajectory against its checksum, or check that frames are readable if the
/// format has no checksums; exit code 5 if the file is damaged or lacks frames that its header counts
#[derive(Debug, Args)]
pub(super) struct Verify {
    /// Trajectory (H5MD, XTC, DCD, TRR, AMBER NetCDF, PDB) or checkpoint (checkpoint.md)
    pub(super) file: PathBuf,
}

impl Verify {
    pub(super) fn execute(&self) -> Result<()> {
        if is_checkpoint(&self.file) {
            return match Checkpoint::read(&self.file)?.and_then(|found| found.fault) {
                Some(fault) => {
                    let older = previous(&self.file);
                    Err(Error::io(
                        &self.file,
                        format!("{fault}; the previous checkpoint {} is intact", older.display()),
                    ))
                }
                None => super::print("the checkpoint matches its checksum\n"),
            };
        }
        let format = Format::of_file(&self.file)?;
        let advice = if format.extension == "h5md" { REPAIR_OWN } else { REPAIR };
        let verification = format.files.verify(&self.file);
        let verification = verification.map_err(|error| self.damaged(error, advice))?;
        let Verification { frames, bad, missing, checksums } = verification;
        if bad.is_empty() && missing == 0 {
            let how = if checksums { "match their checksums" } else { "are readable (the format has no checksums)" };
            return super::print(&format!("{frames} frames {how}\n"));
        }
        let lines: String = bad.iter().map(|(frame, reason)| format!("frame {frame}: {reason}\n")).collect();
        super::describe(&lines)?;
        let damaged = (!bad.is_empty()).then(|| format!("{} of {frames} frames are damaged ({advice})", bad.len()));
        let counted = frames + missing;
        let absent = (missing > 0)
            .then(|| format!("{missing} of the {counted} frames that the header counts are missing at the end"));
        let faults: Vec<String> = damaged.into_iter().chain(absent).collect();
        Err(Error::io(&self.file, faults.join("; ")))
    }

    /// Returns the error for a file that cannot be opened, although its format is known.
    fn damaged(&self, error: Error, advice: &str) -> Error {
        match error {
            Error::Input(problems) => {
                let messages: Vec<&str> = problems.iter().map(|problem| &*problem.message).collect();
                Error::io(&self.file, format!("{} ({advice})", messages.join("; ")))
            }
            error => error,
        }
    }
}
