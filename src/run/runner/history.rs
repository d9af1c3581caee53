//! What a run has behind it: all that a checkpoint holds beside the state, and when the last one was written.

use crate::observe::statistics::Statistics;
use crate::observe::summary::StageSummary;
use crate::observe::tuning::Tuning;
use crate::run::checkpoint::{Checkpoint, RunPosition, Written};
use crate::run::fingerprint::Fingerprint;
use crate::run::plan::Plan;
use crate::system::State;
use std::time::{Duration, Instant};

/// The first two checkpoints of a process are no further apart than this: until there are two, one damaged file takes a
/// run back to where it began.
const FIRST_CHECKPOINTS: Duration = Duration::from_secs(5);

/// What a run has behind it.
pub(super) struct History {
    pub(super) run_id: String,
    /// of the system before tuning
    fingerprint: Fingerprint,
    /// averages of this stage
    pub(super) statistics: Statistics,
    /// what the summary says of the stages before
    pub(super) stages: Vec<StageSummary>,
    pub(super) tuning: Option<Tuning>,
    /// as in [`Checkpoint`]
    pub(super) lists_on_gpu: Option<bool>,
    last_checkpoint: Instant,
    /// by this process
    checkpoints: u64,
}

impl History {
    /// Of a run that begins, or goes on from `checkpoint`.
    pub(super) fn new(run_id: String, fingerprint: Fingerprint, checkpoint: Option<&Checkpoint>) -> Self {
        History {
            run_id,
            fingerprint,
            statistics: checkpoint.map(|checkpoint| checkpoint.statistics.clone()).unwrap_or_default(),
            stages: checkpoint.map(|checkpoint| checkpoint.stages.clone()).unwrap_or_default(),
            tuning: checkpoint.and_then(|checkpoint| checkpoint.tuning.clone()),
            lists_on_gpu: checkpoint.and_then(|checkpoint| checkpoint.lists_on_gpu),
            last_checkpoint: Instant::now(),
            checkpoints: 0,
        }
    }

    /// Whether it is time for a checkpoint, one being due `every` so often.
    pub(super) fn is_due(&self, every: Duration) -> bool {
        let every = if self.checkpoints < 2 { every.min(FIRST_CHECKPOINTS) } else { every };
        self.last_checkpoint.elapsed() > every
    }

    /// A checkpoint of now. The state is moved into it: a copy would take longer than many a step.
    pub(super) fn checkpoint(
        &self,
        plan: &Plan,
        stage: usize,
        place: RunPosition,
        state: State,
        written: Written,
    ) -> Checkpoint {
        Checkpoint {
            run_id: self.run_id.clone(),
            plan: plan.clone(),
            system: self.fingerprint.clone(),
            stage,
            place,
            state,
            written,
            statistics: self.statistics.clone(),
            stages: self.stages.clone(),
            tuning: self.tuning.clone(),
            lists_on_gpu: self.lists_on_gpu,
        }
    }

    /// One was written.
    pub(super) fn written(&mut self) {
        self.last_checkpoint = Instant::now();
        self.checkpoints += 1;
    }
}
