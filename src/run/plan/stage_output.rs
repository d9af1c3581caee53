//! Intervals of each output in each stage: an interval of the stage itself, or else the interval of `[output]`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::run::plan::{CheckpointOptions, ENERGIES, Interval, OutputOptions, Plan, RESTRAINTS, StepInfo};

/// Output settings of a stage that replace those of the run. An output that has no entry keeps the interval of the
/// run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StageOutput {
    /// intervals of trajectories and tables by file name; `None` = nothing is written
    pub every: BTreeMap<String, Option<Interval>>,
    /// checkpoint settings; `None` = those of the run
    pub checkpoint: Option<CheckpointOptions>,
}

impl StageOutput {
    /// Returns the interval of the trajectory or table of this name in the stage; `None` = nothing is written.
    pub fn interval(&self, run: &OutputOptions, name: &str) -> Option<Interval> {
        self.every.get(name).copied().unwrap_or_else(|| run.every(name))
    }
}

/// Intervals of one output, one for each stage of a run; `None` = nothing is written in the stage.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Intervals(Vec<Option<Interval>>);

impl Intervals {
    /// Returns the interval in the stage of this index.
    pub fn of_stage(&self, index: usize) -> Option<Interval> {
        self.0.get(index).copied().flatten()
    }

    /// Whether something is written at a step.
    pub fn is_due(&self, step: &StepInfo) -> bool {
        self.of_stage(step.stage as usize - 1).is_some_and(|every| every.is_due(step))
    }

    /// Returns the intervals with `None` for the stages for which `writes` is false.
    pub fn only_where(mut self, mut writes: impl FnMut(usize) -> bool) -> Self {
        self.0.iter_mut().enumerate().filter(|(index, _)| !writes(*index)).for_each(|(_, every)| *every = None);
        self
    }
}

impl OutputOptions {
    /// Returns the interval of the trajectory or table of this name in stages that have no interval of their own;
    /// `None` = nothing is written.
    pub fn every(&self, name: &str) -> Option<Interval> {
        match name {
            ENERGIES => self.energies.map(|options| options.every),
            RESTRAINTS => self.restraints.map(|options| options.every),
            _ => self.trajectories.iter().find(|options| options.file == name).map(|options| options.every),
        }
    }
}

impl Plan {
    /// Returns the intervals of the trajectory or table of this name.
    pub fn intervals(&self, name: &str) -> Intervals {
        Intervals(self.stages.iter().map(|stage| stage.output.interval(&self.output, name)).collect())
    }

    /// Returns the checkpoint settings of the stage of this index.
    pub fn checkpoints(&self, index: usize) -> CheckpointOptions {
        self.stages.get(index).and_then(|stage| stage.output.checkpoint).unwrap_or(self.output.checkpoint)
    }
}
