//! Report of a run: one HTML page that shows what was done, whether the run went well, and the numbers that a referee
//! would ask for.
//!
//! [`write()`] reads the files in the output folder of a run, finished or in progress, and replaces `report.html` in
//! this folder. [`RunFolder`] holds the contents of the files, [`verdicts()`] judges the run, and the module `page`
//! creates the HTML text. [`crate::analysis`] computes the averages, so the page shows the same numbers as `md
//! analyze`. The HTML page is self-contained: it needs no network access and no other file.

mod citations;
mod ensemble;
mod figures;
mod folder;
mod methods;
mod number;
mod page;
mod picture;
mod production;
mod structure;
mod verdicts;

use std::io::Write;
use std::path::{Path, PathBuf};

pub use citations::Citation;
pub use folder::{Condition, ReplicaExchange, RunFolder};
pub use methods::{Methods, methods};
pub use production::{ColumnAverage, Production};
pub use verdicts::{Judgement, Verdict, verdicts};

use crate::error::Result;
use crate::observe::files::{ENSEMBLE, REPORT, SUMMARY};
use crate::observe::replace::replace_synced;

/// Options of a report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// interval in seconds at which a browser reloads the page while the run is in progress; `None` = the page is not
    /// reloaded
    pub renew: Option<u32>,
}

/// Whether a folder has a report that is at least as new as the summary of the run or the status of the ensemble.
pub fn is_current(folder: &Path) -> bool {
    let written = |name: &str| folder.join(name).metadata().and_then(|file| file.modified()).ok();
    let ended = [SUMMARY, ENSEMBLE].into_iter().filter_map(written).max();
    written(REPORT).is_some_and(|page| ended.is_none_or(|ended| page >= ended))
}

/// Writes the report of a run, or the reports of an ensemble and of all its replicas. Returns the path of the report,
/// and whether the run or the ensemble is in progress.
pub fn write(folder: &Path, options: Options) -> Result<(PathBuf, bool)> {
    let (text, goes_on) = match folder.join(ENSEMBLE).is_file() {
        true => {
            let ensemble = ensemble::Ensemble::read(folder)?;
            for replica in ensemble.folders().filter(|folder| RunFolder::is_one(folder)) {
                write(&replica, options)?;
            }
            (page::of_ensemble(&ensemble, options)?, ensemble.goes_on())
        }
        false => {
            let run = RunFolder::read(folder)?;
            (page::of_run(&run, options)?, run.condition() == Condition::Running)
        }
    };
    let path = folder.join(REPORT);
    replace_synced(&path, |out| out.write_all(text.as_bytes()))?;
    Ok((path, goes_on))
}
