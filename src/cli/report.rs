//! `md report`: writes the HTML report of a run.

use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, value_parser};

use crate::error::Result;
use crate::observe::files::REPORT;
use crate::report::{Options, write};

/// Write the page of a run: what was done, whether it went well, pictures, methods
#[derive(Debug, Args)]
pub(super) struct Report {
    /// Output folder of a run or of an ensemble; the page is report.html in this folder
    pub(super) folder: PathBuf,
    /// Renew the page until the run has ended
    #[arg(long)]
    watch: bool,
    /// Seconds between renewals with --watch
    #[arg(long, value_name = "S", default_value_t = 30, value_parser = value_parser!(u32).range(1..=86400))]
    every: u32,
}

impl Report {
    pub(super) fn execute(&self) -> Result<()> {
        let options = Options { renew: self.watch.then_some(self.every) };
        loop {
            let (path, goes_on) = write(&self.folder, options)?;
            if !(self.watch && goes_on) {
                return super::print(&format!("written      {}\n", path.display()));
            }
            std::thread::sleep(Duration::from_secs(u64::from(self.every)));
        }
    }
}

/// Writes the HTML report at the end of a run, and prints its path unless `quiet` is set. A failure only causes a
/// warning, because the results of the run are complete.
pub(super) fn at_end(folder: &Path, quiet: bool) {
    let written = catch_unwind(|| write(folder, Options::default()));
    match written {
        Ok(Ok((path, _))) if quiet => drop(path),
        Ok(Ok((path, _))) => super::say(&format!("page: {}", path.display())),
        Ok(Err(error)) => super::say(&format!("warning: {REPORT} could not be written: {error}")),
        Err(_) => super::say(&format!("warning: {REPORT} could not be written because of a defect of md")),
    }
}
