//! What a checkpoint holds in addition to state and position in the run, and when the last one was written.

use crate::observe::statistics::Statistics;
use crate::observe::summary::StageSummary;
use crate::observe::tuning::Tuning;
use crate::run::checkpoint::{Checkpoint, RunPosition, Written};
use crate::run::fingerprint::Fingerprint;
use crate::run::plan::Plan;
use crate::system::State;
use std::time::{Duration, Instant};

/// Longest interval of the first two checkpoints of a process: until there are two, one damaged file takes the run back
/// to its start.
const FIRST_CHECKPOINTS: Duration = Duration::from_secs(5);

/// What a run has done so far.
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
    /// written by this process
    checkpoints: u64,
}

impl History {
    /// Of a new run, or of one that continues from `checkpoint`.
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

    /// Whether a checkpoint is due, with one after each `every`.
    pub(super) fn is_due(&self, every: Duration) -> bool {
        let every = if self.checkpoints < 2 { every.min(FIRST_CHECKPOINTS) } else { every };
        self.last_checkpoint.elapsed() > every
    }

    /// A checkpoint. The state is moved into it: a copy may take longer than a step.
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

    /// A checkpoint was written.
    pub(super) fn written(&mut self) {
        self.last_checkpoint = Instant::now();
        self.checkpoints += 1;
    }
}
