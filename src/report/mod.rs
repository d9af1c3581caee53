//! The page of a run: one HTML file that shows what was done, whether it went well, and what a referee would ask.
//!
//! [`write()`] reads the files of an output folder, of a finished run or of a run in progress, and replaces
//! `report.html` in the folder. [`RunFolder`] holds what the files say, [`verdicts()`] judges it, and `page` writes the
//! HTML text. Averages are those of [`crate::analysis`], so the page has the numbers of `md analyze`. The page needs no
//! network and no other file.

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
pub use folder::{Condition, RunFolder};
pub use methods::{Methods, methods};
pub use production::{ColumnAverage, Production};
pub use verdicts::{Judgement, Verdict, verdicts};

use crate::error::Result;
use crate::observe::replace::replace_synced;
use crate::observe::replicas::ENSEMBLE;

/// Name of the page in the output folder.
pub const REPORT: &str = "report.html";

/// Name of the file that a run writes when it ends.
const SUMMARY: &str = "summary.json";

/// How a page is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// seconds after which a browser loads the page again while the run goes on; `None` for a page that stays
    pub renew: Option<u32>,
}

/// Whether a folder has a page that was written after the last end of its run.
pub fn is_current(folder: &Path) -> bool {
    let written = |name: &str| folder.join(name).metadata().and_then(|file| file.modified()).ok();
    let ended = [SUMMARY, ENSEMBLE].into_iter().filter_map(written).max();
    written(REPORT).is_some_and(|page| ended.is_none_or(|ended| page >= ended))
}

/// Writes the page of a run, or the pages of an ensemble and of all its replicas. Returns the path of the page and
/// whether the run goes on.
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
