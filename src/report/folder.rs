//! Files of an output folder, as far as they exist.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::SUMMARY;
use crate::config::{Config, GivenSetting, given, read_text};
use crate::error::{Error, Problem, Result};
use crate::observe::energies::{EnergyRecord, read_energies};
use crate::observe::lock::host_name;
use crate::observe::restraints::{RestraintRow, read_restraints};
use crate::observe::status::{RunState, Status};
use crate::observe::summary::Summary;
use crate::run::{ENERGIES, Plan, RESTRAINTS};

/// Name of the file with all settings of a run.
const EFFECTIVE: &str = "effective.toml";
/// Age of a status file beyond which its run is no longer believed to be running. A run writes it twice per second.
const OLDEST: Duration = Duration::from_secs(600);

/// Contents of the output folder of a run.
#[derive(Clone, Debug)]
pub struct RunFolder {
    /// the folder
    pub path: PathBuf,
    /// settings of the run
    pub plan: Plan,
    /// settings that differ from their defaults
    pub given: Vec<GivenSetting>,
    /// progress of the run
    pub status: Status,
    /// summary, which a run writes when it ends; `None` before, and after a crash
    pub summary: Option<Summary>,
    /// energy table; `None` if there is none
    pub energies: Option<EnergyRecord>,
    /// table of restraints; empty if there is none
    pub restraints: Vec<RestraintRow>,
    /// files that exist, but cannot be read
    pub unreadable: Vec<String>,
}

/// Whether a run goes on, or how it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// the run is in progress
    Running,
    /// all stages are done
    Finished,
    /// the run stopped on request; the same command continues it
    Stopped,
    /// an error ended the run
    Failed,
    /// the process of the run disappeared without an ending, for example because it was killed
    Killed,
}

impl RunFolder {
    /// Whether a folder has the output of a run.
    pub fn is_one(path: &Path) -> bool {
        path.join(EFFECTIVE).is_file()
    }

    /// Reads the files of a folder. Fails if the folder is not the output folder of a run.
    pub fn read(path: &Path) -> Result<Self> {
        if !path.is_dir() {
            return Err(Error::io(path, "there is no such folder"));
        }
        if !Self::is_one(path) {
            let problem = Problem::new(format!("the folder has no {EFFECTIVE}, so it is not the output of a run"));
            return Err(problem.in_file(path).help("give the folder that output.directory names").into());
        }
        let settings = path.join(EFFECTIVE);
        let text = read_text(&settings)?;
        let config = Config::parse(&text, &settings, &[]).map_err(Error::Input)?;
        let mut run = RunFolder {
            path: path.to_owned(),
            plan: config.plan,
            given: given(&text),
            status: Status::default(),
            summary: None,
            energies: None,
            restraints: vec![],
            unreadable: vec![],
        };
        run.status = run.file("status.json", Status::read).unwrap_or_default();
        // a run that continues keeps the summary of its first part until it ends
        let summary = run.file(SUMMARY, Summary::read);
        run.summary = summary.filter(|found| found.run_id == run.status.run_id);
        run.energies = run.file(ENERGIES, read_energies);
        run.restraints = run.file(RESTRAINTS, read_restraints).unwrap_or_default();
        Ok(run)
    }

    /// Reads a file if it exists, and notes the reason if it cannot be read.
    fn file<T>(&mut self, name: &str, read: impl FnOnce(&Path) -> Result<T>) -> Option<T> {
        let path = self.path.join(name);
        if !path.is_file() {
            return None;
        }
        read(&path).map_err(|error| self.unreadable.push(error.to_string())).ok()
    }

    /// Whether the run goes on, or how it ended.
    pub fn condition(&self) -> Condition {
        match self.status.state {
            RunState::Finished => Condition::Finished,
            RunState::Stopped => Condition::Stopped,
            RunState::Failed => Condition::Failed,
            RunState::Running if is_alive(&self.status) => Condition::Running,
            RunState::Running => Condition::Killed,
        }
    }
}

/// Whether the process that wrote a status is still running, as far as this computer can know.
fn is_alive(status: &Status) -> bool {
    let Ok(updated) = status.updated.parse::<jiff::Timestamp>() else { return false };
    let age = jiff::Timestamp::now().duration_since(updated).unsigned_abs();
    age < OLDEST && (status.host != host_name() || Path::new(&format!("/proc/{}", status.process)).exists())
}
