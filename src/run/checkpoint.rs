//! What a checkpoint holds: everything the bits of the rest of the run depend on, and what was written so far.

use super::fingerprint::Fingerprint;
use super::minimize::{Minimizer, Status};
use super::plan::{Plan, StageKind};
use crate::context::ListOrigins;
use crate::error::{Problem, Result};
use crate::observe::checkpoint::{self, Restored};
use crate::observe::extent::Mark;
use crate::observe::statistics::Statistics;
use crate::observe::summary::StageSummary;
use crate::observe::tuning::Tuning;
use crate::pair::ListSchedule;
use crate::system::State;
use crate::vec3::Vec3;
use std::collections::BTreeMap;
use std::path::Path;

/// Changes whenever the contents below change.
const VERSION: u32 = 8;

/// A place in a run.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Checkpoint {
    /// identity of the run, the same in all its files
    pub run_id: String,
    /// the plan in force
    pub plan: Plan,
    /// of the system as it is before tuning
    pub system: Fingerprint,
    /// index of the stage
    pub stage: usize,
    /// how far that stage is
    pub place: RunPosition,
    /// positions, velocities, cell, time, coupling; empty before the first step, see [`Checkpoint::start`]
    pub state: State,
    /// what was written so far
    pub written: Written,
    /// averages of this stage
    pub statistics: Statistics,
    /// what the summary says of the stages before
    pub stages: Vec<StageSummary>,
    /// what the first stage of dynamics has chosen for the whole run
    pub tuning: Option<Tuning>,
    /// whether lists were chosen for a GPU; `None` before any were
    pub lists_on_gpu: Option<bool>,
}

/// How much of each output there was when a checkpoint was written, by its name.
pub type Written = BTreeMap<String, Mark>;

/// A place in a stage.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct RunPosition {
    /// steps done
    pub done: u64,
    /// ps at the start of the stage: times follow from it by one rounding, however often a run is interrupted
    pub first_time: f64,
    /// pair lists in mid-life
    pub lists: Option<ListOrigins>,
    /// their radii and lifetimes; set once a stage of dynamics has prepared its start
    pub schedule: Option<ListSchedule>,
    /// a minimisation under way, and where its lists were made
    pub minimizer: Option<(Minimizer, Vec<Vec3>)>,
}

impl RunPosition {
    /// In a minimisation whose lists were made at `origin`.
    pub fn descending(minimizer: Minimizer, origin: &[Vec3]) -> Self {
        RunPosition { done: minimizer.steps(), minimizer: Some((minimizer, origin.to_vec())), ..RunPosition::default() }
    }
}

impl Checkpoint {
    /// Of a run that has begun and has nothing to keep yet: it starts anew from its files.
    pub fn start(run_id: String, plan: &Plan, system: Fingerprint) -> Self {
        Checkpoint {
            run_id,
            plan: plan.clone(),
            system,
            stage: 0,
            place: RunPosition::default(),
            state: State::default(),
            written: Written::default(),
            statistics: Statistics::default(),
            stages: vec![],
            tuning: None,
            lists_on_gpu: None,
        }
    }

    /// True where there is nothing to keep.
    pub fn is_start(&self) -> bool {
        self.state.positions.is_empty()
    }

    /// True when every step of `plan` is done.
    pub fn is_complete(&self, plan: &Plan) -> bool {
        let Some(stage) = plan.stages.get(self.stage).filter(|_| self.stage + 1 == plan.stages.len()) else {
            return false;
        };
        match (&stage.kind, &self.place.minimizer) {
            (StageKind::Minimize(options), Some((minimizer, _))) => {
                minimizer.status() != Status::Running || minimizer.steps() >= plan.target(options.steps)
            }
            (StageKind::Minimize(_), None) => false,
            (StageKind::Dynamics(options), _) => {
                self.place.schedule.is_some() && self.place.done >= plan.target(options.steps)
            }
        }
    }

    /// Write, keeping the one before.
    pub fn write(&self, path: &Path) -> Result<()> {
        checkpoint::write(path, VERSION, self)
    }

    /// Read, falling back to the one before; `None` where there is none.
    pub fn read(path: &Path) -> Result<Option<Restored<Self>>> {
        checkpoint::read(path, VERSION)
    }

    /// The state stored in a file, as the start of another run; only in the file itself, not in the one before.
    pub fn read_state(path: &Path) -> Result<State> {
        let damaged = |reason: String| {
            let problem = Problem::new(format!("no state can be taken from this checkpoint: {reason}")).in_file(path);
            problem.help("take another checkpoint, or the final.rst7 of that run")
        };
        let Self { place, mut state, .. } = match Self::read(path)? {
            Some(Restored { body, warning: None }) if !body.is_start() => body,
            Some(Restored { warning: Some(reason), .. }) => return Err(damaged(reason).into()),
            _ => return Err(damaged("it was written before the first step".to_owned()).into()),
        };
        if let Some((minimizer, _)) = place.minimizer {
            state.positions = minimizer.positions().to_vec();
        }
        Ok(state)
    }
}

/// CRC-32 of a state: equal for runs that agree bit for bit.
pub fn state_hash(state: &State) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&state.step.to_le_bytes());
    hasher.update(bytemuck::cast_slice(&state.positions));
    hasher.update(bytemuck::cast_slice(&state.velocities));
    for row in state.cell.iter().flat_map(|cell| cell.rows()) {
        hasher.update(bytemuck::bytes_of(&row));
    }
    hasher.finalize()
}
