//! Reports on a running ensemble: `ensemble.json`, `ensemble.log` and the progress line.

use crate::error::{Error, Result};
use crate::observe::files::{ENSEMBLE, SUMMARY};
use crate::observe::log::{Level, RunLog};
use crate::observe::progress::{Progress, SpeedMeter, three_digits};
use crate::observe::replicas::{EnsembleStatus, ReplicaStatus, title};
use crate::observe::status::{RunState, Status};
use crate::observe::summary::Summary;
use crate::run::plan::Plan;
use crate::run::replicas::record::Record;
use crate::run::replicas::scheduler::Event;
use crate::run::replicas::swap::state_names;
use crate::run::replicas::{EnsembleJob, ReplicaJob};
use crate::run::session::job::Outcome;
use crate::units::NS_PER_DAY;
use std::cell::RefCell;
use std::time::{Duration, Instant};

/// Wall time between updates of `ensemble.json` while no replica begins or ends. The interval is long, because each
/// update waits for the disk.
const INTERVAL: Duration = Duration::from_secs(5);

/// Writer of the reports on an ensemble, with the status of all replicas.
pub(super) struct StatusWriter<'a> {
    job: &'a EnsembleJob<'a>,
    /// record of the replica exchange; `None` without replica exchange
    record: Option<&'a RefCell<Record>>,
    status: EnsembleStatus,
    log: RunLog,
    progress: Progress,
    speed: SpeedMeter,
    /// outcome of each replica; `None` until the replica has ended
    ends: Vec<Option<Result<Outcome>>>,
    /// index of the first replica that has failed
    failed: Option<usize>,
    /// sum of the times simulated by replicas that have ended, ps
    simulated: f64,
    /// whether a line was written to `ensemble.log` since the last update of `ensemble.json`
    has_news: bool,
    /// time of the last update of `ensemble.json`
    written: Instant,
    /// first error that occurred while a report on the ensemble was written
    failure: Option<Error>,
}

impl<'a> StatusWriter<'a> {
    pub(super) fn new(
        job: &'a EnsembleJob<'a>,
        record: Option<&'a RefCell<Record>>,
        log: RunLog,
        progress: Progress,
    ) -> Self {
        let mut status = EnsembleStatus::new(job.replicas.iter().map(|replica| replica.status.clone()).collect());
        for replica in status.replicas.iter_mut().filter(|_| !job.force) {
            replica.refresh(job.directory);
            if replica.state == RunState::Running {
                // the process that ran this replica was killed. No process can be running the replica now, because this
                // process has locked the folder of the ensemble
                replica.state = RunState::Waiting;
            }
        }
        status.process = Some(std::process::id());
        (status.at_once, status.threads) = (Some(job.spread.at_once), Some(job.spread.threads));
        status.ranks = Some(job.spread.ranks * job.spread.ranks_per_replica).filter(|&ranks| ranks > 1);
        let ends = job.replicas.iter().map(|_| None).collect();
        StatusWriter {
            job,
            record,
            status,
            log,
            progress,
            speed: SpeedMeter::default(),
            ends,
            failed: None,
            simulated: 0.0,
            has_news: false,
            written: Instant::now(),
            failure: None,
        }
    }

    /// Processes an event of a replica. The scheduler also calls this function with `None` at regular intervals.
    pub(super) fn on_event(&mut self, event: Option<(usize, Event)>) {
        let seen = match event {
            Some((index, event)) => self.happened(index, event),
            None => self.look(),
        };
        if let Err(error) = seen {
            self.failure.get_or_insert(error);
        }
    }

    fn happened(&mut self, index: usize, event: Event) -> Result<()> {
        let name = self.status.replicas[index].name.clone();
        match event {
            // after the event `Begun`, a replica that had finished before usually only checks its files. The replica
            // continues only if the plan has more steps now
            Event::Begun if self.status.replicas[index].state == RunState::Finished => Ok(()),
            Event::Begun => {
                let replica = &mut self.status.replicas[index];
                let how = if replica.time_ps > 0.0 || replica.step > 0 { "continues" } else { "begins" };
                (replica.state, replica.reason) = (RunState::Running, None);
                let line = format!("{name}: {how} ({})", replica.description);
                self.say(Level::Note, &line)?;
                self.write()
            }
            Event::Warning(text) => self.say(Level::Warning, &format!("{name}: {text}")),
            Event::Ended(Ok(Outcome::Unchanged)) => {
                self.ends[index] = Some(Ok(Outcome::Unchanged));
                Ok(())
            }
            Event::Ended(end) => {
                let (level, how) = self.ended(index, &end);
                self.ends[index] = Some(end);
                self.say(level, &format!("{name}: {how}"))?;
                self.write()
            }
        }
    }

    /// Updates the status of a replica that has ended. Returns level and text of a line for the log.
    fn ended(&mut self, index: usize, end: &Result<Outcome>) -> (Level, String) {
        let replica = &mut self.status.replicas[index];
        // the state stays `Waiting` if the replica has not written a status file
        replica.state = RunState::Waiting;
        replica.refresh(self.job.directory);
        // the state is derived from the outcome and not from the status file, because a status file of another rank may
        // become visible on this rank only later
        let (state, how) = match end {
            Err(error) => {
                (replica.state, replica.reason) = (RunState::Failed, Some(error.to_string()));
                self.failed.get_or_insert(index);
                return (Level::Warning, format!("failed: {error}"));
            }
            Ok(Outcome::Stopped) => match self.failed.filter(|_| self.record.is_some()) {
                Some(failed) => {
                    let name = &self.job.replicas[failed].status.name;
                    let how =
                        format!("stopped with a checkpoint, because {name} has failed; the same command continues");
                    (RunState::Stopped, how)
                }
                None => (RunState::Stopped, "stopped on request; the same command continues the run".to_owned()),
            },
            Ok(Outcome::Finished | Outcome::Unchanged) => (RunState::Finished, "finished".to_owned()),
        };
        replica.state = state;
        let summary = Summary::read(&self.job.directory.join(&replica.folder).join(SUMMARY));
        self.simulated += summary.map_or(0.0, |summary| summary.simulated_ps);
        let speed = replica.ns_per_day.map_or(String::new(), |speed| format!(", {} ns/day", three_digits(speed)));
        (Level::Note, format!("{how}, {:.1} ps{speed}", replica.time_ps))
    }

    /// Writes a line to `ensemble.log`. Before the first line, writes a description of the ensemble.
    fn say(&mut self, level: Level, text: &str) -> Result<()> {
        let StatusWriter { log, progress, job, has_news, .. } = self;
        progress.suspend(|| {
            if !std::mem::replace(has_news, true) {
                let (all, spread) = (job.replicas.len(), job.spread.describe());
                let now = crate::observe::clock::local("%Y-%m-%d %H:%M:%S %Z");
                log.note(&format!("md {}, {now}: {all} replicas, {spread}", crate::VERSION))?;
                job.notes.iter().try_for_each(|note| log.note(&format!("note: {note}")))?;
                job.spread.warnings.iter().try_for_each(|warning| log.warning(warning))?;
            }
            log.line(level, text)
        })
    }

    /// Updates the progress line, and also `ensemble.json` if its update interval has passed.
    fn look(&mut self) -> Result<()> {
        let replicas = self.status.replicas.iter_mut().zip(&self.ends).filter(|(_, end)| end.is_none());
        for (replica, _) in replicas {
            let state = replica.state;
            // a finished replica may be running again because its duration was increased
            if matches!(state, RunState::Running | RunState::Finished) {
                replica.refresh(self.job.directory);
            }
            // the folder has the status file of an earlier process until the replica writes a new status file
            if state == RunState::Running {
                replica.state = state;
            }
        }
        let elapsed = self.job.started.elapsed();
        let status = self.overall(elapsed);
        if let Some(line) = self.progress.update(elapsed, &status) {
            self.say(Level::Note, &line)?;
        }
        if self.has_news && self.written.elapsed() > INTERVAL { self.write() } else { Ok(()) }
    }

    /// Returns the progress of the whole ensemble: steps and speeds summed over all replicas, in the form of the status
    /// of a single run.
    fn overall(&mut self, elapsed: Duration) -> Status {
        let replicas = || self.status.replicas.iter().zip(&self.job.replicas);
        let done = replicas().map(|(status, ReplicaJob { plan, .. })| done(status, plan)).sum();
        let steps = replicas()
            .map(|(_, ReplicaJob { plan, .. })| plan.stages.iter().map(|s| plan.target(s.steps())).sum::<u64>())
            .sum();
        let time_ps = self.status.replicas.iter().map(|replica| replica.time_ps).sum();
        self.speed.update(elapsed, done, time_ps);
        let (running, finished) = (self.status.count(RunState::Running), self.status.count(RunState::Finished));
        Status {
            stage: format!("{running} running, {finished} of {} finished", self.job.replicas.len()),
            step: done,
            steps,
            time_ps,
            ns_per_day: self.running_speed(),
            seconds_left: self.speed.seconds_for(steps.saturating_sub(done)),
            ..Status::default()
        }
    }

    /// Returns the total speed of all running replicas, ns/day; `None` if no replica is running.
    fn running_speed(&self) -> Option<f64> {
        let running = self.status.replicas.iter().filter(|replica| replica.state == RunState::Running);
        let speeds: Vec<f64> = running.filter_map(|replica| replica.ns_per_day).collect();
        (!speeds.is_empty()).then(|| speeds.iter().sum())
    }

    fn write(&mut self) -> Result<()> {
        self.written = Instant::now();
        let seconds = self.job.started.elapsed().as_secs_f64();
        self.status.wall_seconds = Some(seconds);
        self.status.ns_per_day = match self.status.count(RunState::Running) {
            0 => Some(self.simulated / seconds * NS_PER_DAY).filter(|speed| *speed > 0.0),
            _ => self.running_speed(),
        };
        self.status.exchange = self.record.map(|record| record.borrow().statistics().clone());
        self.status.write(self.job.directory)
    }

    /// Writes the last reports, including a table of all replicas in the log if any replica was run. Returns the
    /// outcome of the ensemble.
    pub(super) fn finish(mut self) -> Result<Outcome> {
        self.progress.finish();
        let shown = self.show();
        let mut outcomes = vec![];
        for (end, replica) in self.ends.into_iter().zip(&self.status.replicas) {
            let outcome = end.transpose().map_err(|error| error.of(&title(&replica.folder, &replica.name)))?;
            // a replica that never began counts as stopped
            outcomes.push(outcome.unwrap_or(Outcome::Stopped));
        }
        self.failure.map_or(shown, Err)?;
        let is = |outcome| move |other: &Outcome| *other == outcome;
        Ok(match () {
            () if outcomes.iter().any(is(Outcome::Stopped)) => Outcome::Stopped,
            () if outcomes.iter().all(is(Outcome::Unchanged)) => Outcome::Unchanged,
            () => Outcome::Finished,
        })
    }

    fn show(&mut self) -> Result<()> {
        if self.has_news || !self.job.directory.join(ENSEMBLE).exists() {
            self.write()?;
        }
        if self.has_news {
            self.status.log(&mut self.log)?;
            if let Some(record) = self.record {
                record.borrow().statistics().log(&mut self.log, &state_names(self.job))?;
            }
            self.log.note(&format!("output in {}", self.job.directory.display()))?;
        }
        Ok(())
    }
}

/// Returns the number of steps that a replica has done in all its stages.
fn done(status: &ReplicaStatus, plan: &Plan) -> u64 {
    let before = plan.stages.iter().take_while(|stage| stage.name != status.stage);
    // the stage name is empty before the first stage begins
    if status.stage.is_empty() { 0 } else { before.map(|stage| plan.target(stage.steps())).sum::<u64>() + status.step }
}
