//! Data of a run that checkpoints store, and the time of the last checkpoint.

use crate::error::Result;
use crate::observe::energies::EnergyRecord;
use crate::observe::statistics::Average;
use crate::run::checkpoint::{Checkpoint, RunPosition, Written};
use crate::system::State;
use std::path::Path;
use std::time::{Duration, Instant};

/// Maximum wall time before the first checkpoint of a process, and between the first and the second checkpoint. The
/// second checkpoint follows soon, because damage to a single checkpoint file would force the run to start again.
const FIRST_CHECKPOINTS: Duration = Duration::from_secs(5);

/// Results of the completed part of a run, which checkpoints store.
pub(super) struct History {
    /// contents of the next checkpoint, without the position in the run, the state and the output files
    pub(super) next: Checkpoint,
    /// energy and largest force at the end of the minimisation that has just ended, for the summary of the stage
    pub(super) minimised: Vec<Average>,
    /// last row of the energy table of a continued run, if the checkpoint was written at the step of this row. The
    /// averages in the checkpoint do not contain this row
    pub(super) last_row: Option<EnergyRecord>,
    last_checkpoint: Instant,
    /// number of checkpoints written by this process
    checkpoints: u64,
}

impl History {
    /// Creates the history of a run whose next checkpoint has the contents of `next`.
    pub(super) fn new(next: Checkpoint) -> Self {
        History { next, minimised: vec![], last_row: None, last_checkpoint: Instant::now(), checkpoints: 0 }
    }

    /// Adds [`Self::last_row`] to the averages of the stage.
    pub(super) fn count_last_row(&mut self) {
        let Some(EnergyRecord { columns, rows }) = self.last_row.take() else { return };
        for row in &rows {
            let value = |name: &str| Some(row[columns.iter().position(|(column, _)| column == name)?]);
            self.next.statistics.add_named(row[EnergyRecord::TIME], value);
        }
    }

    /// Whether a checkpoint is due now. `every` is the interval between checkpoints in the plan.
    pub(super) fn is_due(&self, every: Duration) -> bool {
        self.is_due_after(self.last_checkpoint.elapsed(), every)
    }

    /// Whether a checkpoint is due if the last checkpoint of this process, or the start of this process, is `elapsed`
    /// ago.
    fn is_due_after(&self, elapsed: Duration, every: Duration) -> bool {
        let every = if self.checkpoints < 2 { every.min(FIRST_CHECKPOINTS) } else { every };
        elapsed > every
    }

    /// Writes a checkpoint. The state is moved into the checkpoint and back, because copying the state may take longer
    /// than a step.
    pub(super) fn write(
        &mut self,
        path: &Path,
        stage: usize,
        position: RunPosition,
        state: &mut State,
        written: Written,
    ) -> Result<()> {
        (self.next.stage, self.next.position, self.next.written) = (stage, position, written);
        std::mem::swap(&mut self.next.state, state);
        let result = self.next.write(path);
        std::mem::swap(&mut self.next.state, state);
        self.next.position = RunPosition::default();
        result?;
        (self.last_checkpoint, self.checkpoints) = (Instant::now(), self.checkpoints + 1);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::checkpoint::Fingerprint;
    use crate::run::plan::Plan;

    #[test]
    fn two_checkpoints_are_due_soon_after_the_start() {
        let mut history = History::new(Checkpoint::start(String::new(), &Plan::default(), Fingerprint::default()));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("checkpoint.md");
        // intervals in seconds between checkpoints, for intervals of the plan of five minutes and of one second
        for [usual, short] in [[5.0, 1.0], [5.0, 1.0], [300.0, 1.0], [300.0, 1.0]] {
            for (interval, every) in [(usual, 300), (short, 1)] {
                let is_due = |share: f64| {
                    history.is_due_after(Duration::from_secs_f64(share * interval), Duration::from_secs(every))
                };
                assert!(!is_due(0.99) && is_due(1.01), "{} checkpoints, {interval} s", history.checkpoints);
            }
            history.last_checkpoint = Instant::now() - Duration::from_secs(400);
            assert!(history.is_due(Duration::from_secs(300)));
            let (position, written) = (RunPosition::default(), Written::default());
            history.write(&path, 0, position, &mut State::default(), written).unwrap();
            assert!(!history.is_due(Duration::from_secs(300)), "the interval begins at the last checkpoint");
        }
    }
}
