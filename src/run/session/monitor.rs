//! Progress of a run: the status file and the progress line.

use crate::error::Result;
use crate::observe::files::STATUS;
use crate::observe::progress::{Progress, SpeedMeter};
use crate::observe::status::Status;
use crate::run::output::directory::Directory;
use std::time::{Duration, Instant};

/// Wall time between updates of the status file and the progress line.
const INTERVAL: Duration = Duration::from_millis(500);

/// Reporter of the progress of a run to the status file and the terminal.
pub(super) struct Monitor {
    pub(super) status: Status,
    progress: Progress,
    speed: SpeedMeter,
    /// time at which the program started
    started: Instant,
    last: Instant,
}

impl Monitor {
    pub(super) fn new(status: Status, progress: Progress, started: Instant) -> Self {
        Monitor { status, progress, speed: SpeedMeter::default(), started, last: Instant::now() }
    }

    /// Sets name and number of the stage that begins.
    pub(super) fn begin_stage(&mut self, name: &str, number: usize) {
        self.speed.reset();
        name.clone_into(&mut self.status.stage);
        self.status.stage_number = number;
    }

    /// Sets the progress of the stage: the number of steps done (`step`) out of `steps`, and the simulated time `time`
    /// (ps).
    pub(super) fn set_progress(&mut self, step: u64, steps: u64, time: f64) {
        (self.status.step, self.status.steps, self.status.time_ps) = (step, steps, time);
        self.status.wall_seconds = self.started.elapsed().as_secs_f64();
    }

    /// Updates the status file if [`INTERVAL`] has passed. Returns a progress line for the log if no progress bar is
    /// shown on a terminal.
    pub(super) fn update(&mut self, directory: &Directory) -> Result<Option<String>> {
        if self.last.elapsed() < INTERVAL {
            return Ok(None);
        }
        self.last = Instant::now();
        let (elapsed, status) = (self.started.elapsed(), &mut self.status);
        self.speed.update(elapsed, status.step, status.time_ps);
        status.ns_per_day = self.speed.ns_per_day();
        status.seconds_left = self.speed.seconds_for(status.steps.saturating_sub(status.step));
        self.write(directory)?;
        Ok(self.progress.update(elapsed, &self.status))
    }

    /// Replaces the status file with the present status.
    pub(super) fn write(&mut self, directory: &Directory) -> Result<()> {
        directory.check()?;
        self.status.write(&directory.file(STATUS))
    }

    /// Removes the progress bar from the terminal.
    pub(super) fn finish(&mut self) {
        self.progress.finish();
    }
}
