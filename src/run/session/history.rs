//! Data of a run that checkpoints store: averages, stage summaries and tuning, and the time of the last checkpoint.

use crate::observe::statistics::Statistics;
use crate::observe::summary::StageSummary;
use crate::observe::tuning::Tuning;
use crate::run::checkpoint::fingerprint::Fingerprint;
use crate::run::checkpoint::{Checkpoint, RunPosition, Written};
use crate::run::plan::Plan;
use crate::system::State;
use std::time::{Duration, Instant};

/// Maximum wall time before the first checkpoint of a process, and between the first and the second checkpoint. The
/// second checkpoint follows soon, because damage to a single checkpoint file would force the run to start again.
const FIRST_CHECKPOINTS: Duration = Duration::from_secs(5);

/// Results of the completed part of a run, which checkpoints store.
pub(super) struct History {
    pub(super) run_id: String,
    /// fingerprint of the system as it was before tuning changed Coulomb cutoff and mesh
    fingerprint: Fingerprint,
    /// running averages of the current stage
    pub(super) statistics: Statistics,
    /// summaries of all stages before the current stage
    pub(super) stages: Vec<StageSummary>,
    pub(super) tuning: Option<Tuning>,
    /// whether pair lists were chosen for a GPU, as in [`Checkpoint`]
    pub(super) lists_on_gpu: Option<bool>,
    last_checkpoint: Instant,
    /// number of checkpoints written by this process
    checkpoints: u64,
}

impl History {
    /// Creates the history of a new run, or of a run that continues from `checkpoint`.
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

    /// Whether a checkpoint is due now. `every` is the interval between checkpoints in the plan.
    pub(super) fn is_due(&self, every: Duration) -> bool {
        let every = if self.checkpoints < 2 { every.min(FIRST_CHECKPOINTS) } else { every };
        self.last_checkpoint.elapsed() > every
    }

    /// Creates a checkpoint. The state is moved into the checkpoint, because copying the state may take longer than a
    /// step.
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

    /// Records that a checkpoint was written now.
    pub(super) fn written(&mut self) {
        self.last_checkpoint = Instant::now();
        self.checkpoints += 1;
    }
}
