//! The file `status.json`: progress of a run, for scripts and remote users.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::lock::host_name;
use super::replace::{json, replace};
use crate::error::{Error, Problem, Result};
use crate::format::file;

/// State of a run, of a replica, or of a whole ensemble.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunState {
    /// not started yet, or killed and not continued yet; only replicas and ensembles have this state
    #[default]
    Waiting,
    /// running. If the process was killed, the state stays `Running`, and the time in `updated` is old
    Running,
    /// every stage is done
    Finished,
    /// stopped on request after writing a checkpoint; the same command continues the run
    Stopped,
    /// ended by an error, which the field `message` of a run or `reason` of a replica describes
    Failed,
}

impl RunState {
    /// Returns the word for the state in tables and messages.
    pub fn word(self) -> &'static str {
        match self {
            RunState::Waiting => "waiting",
            RunState::Running => "running",
            RunState::Finished => "finished",
            RunState::Stopped => "stopped",
            RunState::Failed => "failed",
        }
    }
}

/// Progress of a run at one moment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Status {
    /// state of the run
    pub state: RunState,
    /// identifier of the run, the same in all files of the run
    #[serde(default)]
    pub run_id: String,
    /// name of the current stage
    pub stage: String,
    /// number of the current stage, from 1
    pub stage_number: usize,
    /// number of stages of the run
    pub stages: usize,
    /// number of steps done in the current stage
    pub step: u64,
    /// number of steps of the current stage
    pub steps: u64,
    /// simulated time since the start of the run, ps
    pub time_ps: f64,
    /// recent speed of dynamics, ns/day; `None` while the speed is unknown
    pub ns_per_day: Option<f64>,
    /// wall time until the end of the current stage at the recent speed, s
    pub seconds_left: Option<f64>,
    /// wall time since the program started, s
    pub wall_seconds: f64,
    /// time at which this status was written (RFC 3339)
    pub updated: String,
    /// number (PID) of the process that runs the simulation
    pub process: u32,
    /// name of the computer on which the process runs
    pub host: String,
    /// error message of a failed run, or reason why the run was stopped
    pub message: Option<String>,
}

impl Status {
    /// Creates the status of this process, for a run of `stages` stages.
    pub fn new(run_id: String, stages: usize) -> Self {
        let (state, process, host) = (RunState::Running, std::process::id(), host_name());
        Status { state, run_id, stages, process, host, ..Status::default() }
    }

    /// Replaces the status file at `path` atomically, and sets [`Self::updated`] to the present time.
    pub fn write(&mut self, path: &Path) -> Result<()> {
        self.updated = super::clock::utc();
        replace(path, &json(self)?)
    }

    /// Reads a status written by [`Self::write`].
    pub fn read(path: &Path) -> Result<Self> {
        let text = file::read(path, file::LONGEST_RECORD).map_err(|e| Error::io(path, e))?;
        serde_json::from_slice(&text)
            .map_err(|e| Problem::new(format!("the file is not a status file of md: {e}")).in_file(path).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replaced_whole_and_readable_by_scripts() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("status.json");
        let mut status = Status { stage: "heat".into(), step: 5, ns_per_day: Some(81.5), ..Status::default() };
        status.write(&path).unwrap();
        status.state = RunState::Finished;
        status.write(&path).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(Status::read(&path).unwrap(), status);
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!((&value["state"], &value["ns_per_day"]), (&"finished".into(), &81.5.into()));
        assert!(value["updated"].as_str().unwrap().parse::<jiff::Timestamp>().is_ok());
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1, "a temporary file was left");
    }
}
