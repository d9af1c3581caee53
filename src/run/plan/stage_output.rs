//! Output intervals of each stage. A stage may set its own interval for an output file; otherwise the interval in
//! `[output]` holds.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::run::plan::{CheckpointOptions, Interval, OutputOptions, Plan, StepInfo};

/// Output settings of a stage that replace the settings of the whole run. Output files that are not listed keep the
/// interval of the whole run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StageOutput {
    /// intervals of this stage by file name of the trajectory or table; `None` = the file is not written in this stage
    pub every: BTreeMap<String, Option<Interval>>,
    /// checkpoint settings of the stage; `None` = the settings of the whole run
    pub checkpoint: Option<CheckpointOptions>,
}

impl StageOutput {
    /// Returns the interval of the trajectory or table `name` in this stage; `None` = nothing is written.
    pub fn interval(&self, run: &OutputOptions, name: &str) -> Option<Interval> {
        self.every.get(name).copied().unwrap_or_else(|| run.every(name))
    }
}

/// Intervals of one output, one for each stage of a run; `None` = nothing is written in the stage.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Intervals(Vec<Option<Interval>>);

impl Intervals {
    /// Returns the interval in the stage with index `index`; `None` = nothing is written.
    pub fn of_stage(&self, index: usize) -> Option<Interval> {
        self.0.get(index).copied().flatten()
    }

    /// Whether the output file is written at a step.
    pub fn is_due(&self, step: &StepInfo) -> bool {
        self.of_stage(step.stage as usize - 1).is_some_and(|every| every.is_due(step))
    }

    /// Sets the interval to `None` in the stages for which `writes` returns false.
    pub fn only_where(mut self, mut writes: impl FnMut(usize) -> bool) -> Self {
        self.0.iter_mut().enumerate().filter(|(index, _)| !writes(*index)).for_each(|(_, every)| *every = None);
        self
    }
}

impl Plan {
    /// Returns the intervals of the trajectory or table `name` in all stages.
    pub fn intervals(&self, name: &str) -> Intervals {
        Intervals(self.stages.iter().map(|stage| stage.output.interval(&self.output, name)).collect())
    }

    /// Returns the checkpoint settings of the stage with index `index`.
    pub fn checkpoints(&self, index: usize) -> CheckpointOptions {
        self.stages.get(index).and_then(|stage| stage.output.checkpoint).unwrap_or(self.output.checkpoint)
    }
}
