//! The file `ensemble.json`: the replicas of an ensemble with their settings and their progress. The progress is read
//! from the files in the folder of each replica.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::exchange::ExchangeStatistics;
use super::lock::host_name;
use super::log::{Level, RunLog};
use super::progress::three_digits;
use super::replace::{json, replace_synced};
use super::status::{RunState, Status};
use super::summary::Summary;
use crate::error::Result;
use crate::observe::files::{ENSEMBLE, STATUS, SUMMARY};

/// Settings and progress of one replica.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ReplicaStatus {
    /// name of the replica in the input file, or the name of its folder if the input file gives no name
    pub name: String,
    /// name of the folder of the replica inside the folder of the ensemble
    pub folder: String,
    /// short description of the settings that distinguish the replica from the others
    pub description: String,
    /// settings of the replica in the input file: value by key
    pub set: BTreeMap<String, serde_json::Value>,
    /// state of the replica
    pub state: RunState,
    /// error message of a failed replica, or reason why the replica was stopped
    pub reason: Option<String>,
    /// name of the current stage
    pub stage: String,
    /// number of steps done in the current stage
    pub step: u64,
    /// number of steps of the current stage
    pub steps: u64,
    /// simulated time since the start of the replica, ps
    pub time_ps: f64,
    /// recent speed of a running replica, ns/day; for a replica that has ended, the speed of its last process
    pub ns_per_day: Option<f64>,
    /// time at which this status was written (RFC 3339)
    pub updated: String,
}

/// Returns the folder name of a replica, with the name of the replica in parentheses if the two names differ.
pub fn title(folder: &str, name: &str) -> String {
    if name == folder { folder.to_owned() } else { format!("{folder} ({name})") }
}

impl ReplicaStatus {
    /// Updates the status from the files in the folder of the replica. Without a file `status.json`, the status stays
    /// unchanged.
    pub fn refresh(&mut self, directory: &Path) {
        let folder = directory.join(&self.folder);
        let Ok(status) = Status::read(&folder.join(STATUS)) else { return };
        self.state = status.state;
        self.reason = status.message;
        (self.stage, self.step, self.steps) = (status.stage, status.step, status.steps);
        (self.time_ps, self.ns_per_day, self.updated) = (status.time_ps, status.ns_per_day, status.updated);
        if matches!(self.state, RunState::Finished | RunState::Stopped) {
            let summary = Summary::read(&folder.join(SUMMARY));
            self.ns_per_day = summary.map_or(self.ns_per_day, |summary| summary.ns_per_day);
        }
    }
}

/// Contents of `ensemble.json`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EnsembleStatus {
    /// state of the ensemble: finished if all replicas are finished; otherwise the first of the states running, failed,
    /// stopped and waiting that occurs among the replicas
    pub state: RunState,
    /// version of md
    pub version: String,
    /// name of the computer on which the ensemble runs
    pub host: String,
    /// number (PID) of the process that runs all replicas. If each replica has its own process, this field and
    /// `ranks`, `at_once`, `threads`, `wall_seconds` and `ns_per_day` are absent
    pub process: Option<u32>,
    /// number of MPI processes that share the replicas; absent for a single process. The first of the MPI processes has
    /// the process number `process` and runs on the computer `host`
    pub ranks: Option<usize>,
    /// number of replicas that run at the same time on each rank
    pub at_once: Option<usize>,
    /// number of threads of each replica
    pub threads: Option<usize>,
    /// wall time since the process started, s
    pub wall_seconds: Option<f64>,
    /// speed of all replicas together, ns/day. While replicas run, the value is the sum of the speeds of the running
    /// replicas. After the end of all replicas, the value is the time simulated by this process divided by the wall
    /// time of this process
    pub ns_per_day: Option<f64>,
    /// time at which this status was written (RFC 3339)
    pub updated: String,
    /// statistics of the exchange attempts; `None` without replica exchange
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exchange: Option<ExchangeStatistics>,
    /// status of each replica, in the order of the input file
    pub replicas: Vec<ReplicaStatus>,
}

impl EnsembleStatus {
    /// Creates the status of an ensemble of `replicas`.
    pub fn new(replicas: Vec<ReplicaStatus>) -> Self {
        EnsembleStatus { version: crate::VERSION.into(), host: host_name(), replicas, ..Self::default() }
    }

    /// Returns the number of replicas in `state`.
    pub fn count(&self, state: RunState) -> usize {
        self.replicas.iter().filter(|replica| replica.state == state).count()
    }

    /// Replaces `ensemble.json` in the folder of the ensemble atomically.
    pub fn write(&mut self, directory: &Path) -> Result<()> {
        use RunState::{Failed, Finished, Running, Stopped, Waiting};
        let first = [Running, Failed, Stopped, Waiting].into_iter().find(|&state| self.count(state) > 0);
        self.state = first.unwrap_or(Finished);
        self.updated = super::clock::utc();
        let text = json(self)?;
        replace_synced(&directory.join(ENSEMBLE), |out| out.write_all(&text))
    }

    /// Writes a line for each replica, and the total speed of all replicas, to the log.
    pub fn log(&self, log: &mut RunLog) -> Result<()> {
        let row = |replica: &ReplicaStatus| {
            let speed = replica.ns_per_day.map_or(String::new(), three_digits);
            let stage = match replica.stage.is_empty() {
                true => String::new(),
                false => format!("{} {} of {}", replica.stage, replica.step, replica.steps),
            };
            let time = format!("{:.1}", replica.time_ps);
            let (title, what) = (title(&replica.folder, &replica.name), replica.description.clone());
            [title, what, replica.state.word().into(), stage, time, speed]
        };
        let rows: Vec<_> = self.replicas.iter().map(row).collect();
        log.section("Replicas")?;
        log.table(["replica", "sets", "state", "stage, step", "ps", "ns/day"], &rows)?;
        match self.ns_per_day {
            Some(speed) => log.line(Level::Detail, &format!("  {} ns/day in total", three_digits(speed))),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn states(states: &[RunState]) -> EnsembleStatus {
        EnsembleStatus::new(states.iter().map(|&state| ReplicaStatus { state, ..ReplicaStatus::default() }).collect())
    }

    #[test]
    fn the_state_of_all_follows_from_that_of_each() {
        use RunState::{Failed, Finished, Running, Stopped, Waiting};
        let directory = tempfile::tempdir().unwrap();
        for (each, all) in [
            (&[Finished, Running, Failed][..], Running),
            (&[Finished, Stopped, Failed], Failed),
            (&[Finished, Waiting], Waiting),
            (&[Stopped, Finished, Waiting], Stopped),
            (&[Finished, Finished], Finished),
        ] {
            let mut status = states(each);
            status.write(directory.path()).unwrap();
            let text = std::fs::read_to_string(directory.path().join(ENSEMBLE)).unwrap();
            let read: EnsembleStatus = serde_json::from_str(&text).unwrap();
            assert_eq!((read.state, &read), (all, &status));
        }
    }

    #[test]
    fn a_replica_is_what_its_folder_says() {
        let directory = tempfile::tempdir().unwrap();
        let mut replica = ReplicaStatus { folder: "replica-2".into(), ..ReplicaStatus::default() };
        let nothing = replica.clone();
        replica.refresh(directory.path());
        assert_eq!(replica, nothing);
        let folder = directory.path().join("replica-2");
        std::fs::create_dir(&folder).unwrap();
        let state = RunState::Running;
        let mut status = Status { state, stage: "heat".into(), step: 5, steps: 9, time_ps: 0.5, ..Status::default() };
        status.ns_per_day = Some(3.0);
        status.write(&folder.join("status.json")).unwrap();
        replica.refresh(directory.path());
        assert_eq!((replica.state, replica.ns_per_day), (RunState::Running, Some(3.0)));
        assert_eq!((replica.stage.as_str(), replica.step, replica.steps, replica.time_ps), ("heat", 5, 9, 0.5));
        status.state = RunState::Finished;
        status.write(&folder.join("status.json")).unwrap();
        Summary { ns_per_day: Some(2.0), ..Summary::default() }.write(&folder.join("summary.json")).unwrap();
        replica.refresh(directory.path());
        assert_eq!((replica.state, replica.ns_per_day), (RunState::Finished, Some(2.0)));
    }
}
