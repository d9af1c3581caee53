//! How often each stage writes each output of a run: as `[output]` says, or as the stage itself does.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::plan::{CheckpointOptions, ENERGIES, Interval, OutputOptions, Plan, RESTRAINTS};
use super::reporter::StepInfo;

/// What a stage writes otherwise than the run. An output that is not named here keeps the interval of the run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StageOutput {
    /// intervals of trajectories and tables by the names of their files; `None` = nothing is written
    pub every: BTreeMap<String, Option<Interval>>,
    /// restart points
    pub checkpoint: Option<CheckpointOptions>,
}

impl StageOutput {
    /// Interval of the trajectory or table of this name in the stage; `None` = nothing is written.
    pub fn interval(&self, run: &OutputOptions, name: &str) -> Option<Interval> {
        self.every.get(name).copied().unwrap_or_else(|| run.every(name))
    }
}

/// The interval of one output in each stage of a run; `None` where nothing is written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Intervals(Vec<Option<Interval>>);

impl Intervals {
    /// In the stage of this index.
    pub fn of_stage(&self, index: usize) -> Option<Interval> {
        self.0.get(index).copied().flatten()
    }

    /// Whether something is written at a step.
    pub fn is_due(&self, step: &StepInfo) -> bool {
        self.of_stage(step.stage as usize - 1).is_some_and(|every| every.is_due(step))
    }

    /// The same, but nothing in stages of which `writes` is false.
    pub fn only_where(mut self, mut writes: impl FnMut(usize) -> bool) -> Self {
        self.0.iter_mut().enumerate().filter(|(index, _)| !writes(*index)).for_each(|(_, every)| *every = None);
        self
    }
}

impl OutputOptions {
    /// Interval of the trajectory or table of this name, where no stage says otherwise; `None` = nothing is written.
    pub fn every(&self, name: &str) -> Option<Interval> {
        match name {
            ENERGIES => self.energies.map(|options| options.every),
            RESTRAINTS => self.restraints.map(|options| options.every),
            _ => self.trajectories.iter().find(|options| options.file == name).map(|options| options.every),
        }
    }
}

impl Plan {
    /// Intervals of the trajectory or table of this name.
    pub fn intervals(&self, name: &str) -> Intervals {
        Intervals(self.stages.iter().map(|stage| stage.output.interval(&self.output, name)).collect())
    }

    /// Restart points of the stage of this index.
    pub fn checkpoints(&self, index: usize) -> CheckpointOptions {
        self.stages.get(index).and_then(|stage| stage.output.checkpoint).unwrap_or(self.output.checkpoint)
    }
}
