//! Reading of the files in the output folder of a run; missing files are left out.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::structure::quoted;
use crate::config::{Config, GivenSetting, given, read_text};
use crate::error::{Error, Problem, Result};
use crate::observe::energies::{EnergyRecord, read_energy_parts};
use crate::observe::exchange;
use crate::observe::files::{EFFECTIVE, ENERGIES, EXCHANGE, MINIMISATION, RESTRAINTS, STATUS, SUMMARY};
use crate::observe::lock::host_name;
use crate::observe::restraints::{RestraintRow, read_restraints};
use crate::observe::status::{RunState, Status};
use crate::observe::summary::Summary;
use crate::prepare::ElectrostaticsSpec;
use crate::run::{Plan, Stage, parts};

/// Maximum age of the status file of a running run; a run with an older status file counts as killed. A running process
/// writes the status file twice per second.
const OLDEST: Duration = Duration::from_secs(600);

/// Contents of the output folder of a run.
#[derive(Clone, Debug)]
pub struct RunFolder {
    /// output folder of the run
    pub path: PathBuf,
    /// plan of the run, with all settings
    pub plan: Plan,
    /// settings of the input file that differ from their defaults
    pub given: Vec<GivenSetting>,
    /// status that the run wrote last
    pub status: Status,
    /// summary, which a run writes when it ends; `None` before the end and after a crash
    pub summary: Option<Summary>,
    /// energy table; `None` if the run has no energy table
    pub energies: Option<EnergyRecord>,
    /// table of minimisations; `None` if the run has no such table
    pub minimisation: Option<EnergyRecord>,
    /// rows of the table of collective restraints; empty if the run has no table of collective restraints
    pub restraints: Vec<RestraintRow>,
    /// exchange of states with other replicas; `None` unless the run is a replica that has tried to exchange its state
    pub exchange: Option<ReplicaExchange>,
    /// error messages for files that exist but cannot be read
    pub unreadable: Vec<String>,
}

/// Replica exchange in which a run takes part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplicaExchange {
    /// number of replicas and of states
    pub replicas: usize,
    /// steps between exchange attempts
    pub every: u64,
}

/// Whether a run is in progress, or how it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// the run is in progress
    Running,
    /// all stages are done
    Finished,
    /// the run stopped on request after writing a checkpoint; the same command continues the run
    Stopped,
    /// an error ended the run
    Failed,
    /// the process of the run ended without writing a final status, for example because it was killed
    Killed,
}

impl RunFolder {
    /// Whether a folder is the output folder of a run.
    pub fn is_one(path: &Path) -> bool {
        path.join(EFFECTIVE).is_file()
    }

    /// Whether the system has charges. If the summary does not tell, the system has charges unless Coulomb interactions
    /// are off.
    pub(super) fn has_charges(&self) -> bool {
        let told = self.summary.as_ref().and_then(|summary| summary.system.as_ref()?.has_charges);
        told.unwrap_or(self.plan.forces.electrostatics != ElectrostaticsSpec::Off)
    }

    /// Reads the files of an output folder. Returns an error if the folder is not the output folder of a run.
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
            minimisation: None,
            restraints: vec![],
            exchange: None,
            unreadable: vec![],
        };
        run.status = run.file(STATUS, Status::read).unwrap_or_default();
        // while a continued run is in progress, the summary of its earlier process stays in place; a summary of another
        // run is ignored
        let summary = run.file(SUMMARY, Summary::read);
        run.summary = summary.filter(|found| found.run_id == run.status.run_id);
        run.energies = run.parts(ENERGIES, read_energy_parts);
        run.minimisation = run.parts(MINIMISATION, read_energy_parts);
        run.restraints = run.parts(RESTRAINTS, read_restraints).unwrap_or_default();
        run.exchange = run.read_exchange();
        Ok(run)
    }

    /// Reads the first rows of the exchange table beside the folder of a replica.
    fn read_exchange(&mut self) -> Option<ReplicaExchange> {
        let path = self.path.canonicalize().ok()?;
        let is_replica = path.file_name()?.to_str()?.starts_with("replica-");
        let table = path.with_file_name(EXCHANGE);
        if !is_replica || !table.is_file() {
            return None;
        }
        let found = exchange::read_first_two(&table).map_err(|error| self.unreadable.push(error.to_string()));
        let (replicas, rows) = found.ok()?;
        // steps count from the start of the run, and attempts from the start of the last stage
        let every = match rows.as_slice() {
            [] => return None,
            [first] => {
                let earlier = self.plan.stages.split_last().map_or(&[][..], |(_, earlier)| earlier);
                first.step.saturating_sub(earlier.iter().map(Stage::steps).sum())
            }
            [first, second, ..] => second.step.saturating_sub(first.step),
        };
        Some(ReplicaExchange { replicas, every })
    }

    /// Reads the file `name` if it exists. If the file cannot be read, adds the error message to [`Self::unreadable`].
    fn file<T>(&mut self, name: &str, read: impl FnOnce(&Path) -> Result<T>) -> Option<T> {
        let path = self.path.join(name);
        if !path.is_file() {
            return None;
        }
        read(&path).map_err(|error| self.unreadable.push(error.to_string())).ok()
    }

    /// Reads the parts of the file `name`, if any exist. If a file cannot be read, adds the error message to
    /// [`Self::unreadable`].
    fn parts<T>(&mut self, name: &str, read: impl FnOnce(&[PathBuf]) -> Result<T>) -> Option<T> {
        let paths = parts(&self.path, name);
        if paths.is_empty() {
            return None;
        }
        read(&paths).map_err(|error| self.unreadable.push(error.to_string())).ok()
    }

    /// Returns the paths of the parts of the file `name`, as words of a command line.
    pub(super) fn words(&self, name: &str) -> String {
        let words = parts(&self.path, name).into_iter().map(|path| quoted(&path.display().to_string()));
        words.collect::<Vec<_>>().join(" ")
    }

    /// Returns whether the run is in progress, or how it ended.
    pub fn condition(&self) -> Condition {
        match self.status.state {
            RunState::Finished => Condition::Finished,
            RunState::Stopped => Condition::Stopped,
            RunState::Failed => Condition::Failed,
            RunState::Running if is_alive(&self.status) => Condition::Running,
            RunState::Running | RunState::Waiting => Condition::Killed,
        }
    }
}

/// Whether the process that wrote a status is still running. For a process on another computer, only the age of the
/// status decides.
fn is_alive(status: &Status) -> bool {
    let Ok(updated) = status.updated.parse::<jiff::Timestamp>() else { return false };
    let age = jiff::Timestamp::now().duration_since(updated).unsigned_abs();
    age < OLDEST && (status.host != host_name() || Path::new(&format!("/proc/{}", status.process)).exists())
}
