//! Contents of a checkpoint: all data with which a run continues bit for bit, and the lengths of the output files.

pub(super) mod fingerprint;

pub use fingerprint::Fingerprint;

use crate::context::ListOrigins;
use crate::error::{Problem, Result};
use crate::image::Image;
use crate::observe::checkpoint::{self, Restored};
use crate::observe::extent::Mark;
use crate::observe::statistics::Statistics;
use crate::observe::summary::StageSummary;
use crate::observe::tuning::Tuning;
use crate::pair::ListSchedule;
use crate::restraint::RestraintProgress;
use crate::run::minimize::{Minimizer, Status};
use crate::run::plan::{Plan, StageKind, is_plain_name};
use crate::system::State;
use crate::vec3::Vec3;
use std::collections::BTreeMap;
use std::path::Path;

/// Version of the definition of [`Checkpoint`]; checkpoint files of other versions are refused.
const VERSION: u32 = 16;

/// State of a run at a step, with all data that are needed to continue the run.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Checkpoint {
    /// identity of the run, the same in all files of the run
    pub run_id: String,
    /// plan of the run when the checkpoint was written
    pub plan: Plan,
    /// fingerprint of the system as it was before tuning changed Coulomb cutoff and mesh
    pub system: Fingerprint,
    /// seed of the random numbers of thermostats and barostats, which follows from the seed of the plan and the initial
    /// state of the run; zero before the first step
    pub noise_seed: u64,
    /// index, from 0, of the stage in which the checkpoint was written
    pub stage: usize,
    /// position of the run within the current stage
    pub position: RunPosition,
    /// positions, velocities, cell, time, and work of the couplings that is not fully counted yet; empty before the
    /// first step, see [`Checkpoint::start`]
    pub state: State,
    /// lengths of the output files when the checkpoint was written
    pub written: Written,
    /// running averages of the stage in which the checkpoint was written
    pub statistics: Statistics,
    /// summaries of all stages before the current stage
    pub stages: Vec<StageSummary>,
    /// pair list schedule, Coulomb cutoff and PME grid that the tuning in the first stage of dynamics chose for the
    /// whole run
    pub tuning: Option<Tuning>,
    /// whether the pair list schedule was chosen for a GPU; `None` before a schedule was chosen
    pub lists_on_gpu: Option<bool>,
}

/// Lengths of the output files when the checkpoint was written, by file name.
pub type Written = BTreeMap<String, Mark>;

/// Position of a run within a stage.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct RunPosition {
    /// number of steps done since the start of the stage
    pub done: u64,
    /// time at the start of the stage, ps. The time of a step is `first_time` plus the number of steps in the stage
    /// times the time step, so that restarts add no rounding errors.
    pub first_time: f64,
    /// positions from which the current pair lists were built
    pub lists: Option<ListOrigins>,
    /// radii and lifetimes of the pair lists; `None` before a stage of dynamics has prepared its start
    pub schedule: Option<ListSchedule>,
    /// minimisation in progress, and the positions from which its pair lists were built; `None` in a stage of dynamics
    pub minimizer: Option<(Minimizer, Vec<Vec3>)>,
    /// progress of the restraints in the stage, for example the center at the start of the stage and the work that each
    /// restraint has done
    pub restraints: Vec<RestraintProgress>,
    /// periodic images of the atoms of each position restraint of the stage, chosen at the start of the stage
    pub images: Vec<Vec<Image>>,
    /// index, from 0, of the thermodynamic state of this replica in a replica exchange; `None` without replica
    /// exchange
    pub exchanged: Option<usize>,
}

impl Checkpoint {
    /// Creates the checkpoint of a run that has no results yet and starts from its input files.
    pub fn start(run_id: String, plan: &Plan, system: Fingerprint) -> Self {
        Checkpoint {
            run_id,
            plan: plan.clone(),
            system,
            noise_seed: 0,
            stage: 0,
            position: RunPosition::default(),
            state: State::default(),
            written: Written::default(),
            statistics: Statistics::default(),
            stages: vec![],
            tuning: None,
            lists_on_gpu: None,
        }
    }

    /// Whether this is the checkpoint of the start of a run, which contains no results.
    pub fn is_start(&self) -> bool {
        self.state.positions.is_empty()
    }

    /// Whether every step of every stage in `plan` is done.
    pub fn is_complete(&self, plan: &Plan) -> bool {
        let Some(stage) = plan.stages.get(self.stage).filter(|_| self.stage + 1 == plan.stages.len()) else {
            return false;
        };
        match (&stage.kind, &self.position.minimizer) {
            (StageKind::Minimize(options), Some((minimizer, _))) => {
                minimizer.status() != Status::Running || minimizer.steps() >= plan.target(options.steps)
            }
            (StageKind::Minimize(_), None) => false,
            (StageKind::Dynamics(options), _) => {
                self.position.schedule.is_some() && self.position.done >= plan.target(options.steps)
            }
        }
    }

    /// Writes the checkpoint to `path`. An existing checkpoint at `path` is kept as the previous checkpoint.
    pub fn write(&self, path: &Path) -> Result<()> {
        checkpoint::write(path, VERSION, self)
    }

    /// Reads a checkpoint, or the previous checkpoint if the file is damaged; `None` if neither file exists. Returns an
    /// error if the checkpoint names output files outside its folder.
    pub fn read(path: &Path) -> Result<Option<Restored<Self>>> {
        let found: Option<Restored<Self>> = checkpoint::read(path, VERSION)?;
        let names = found.iter().flat_map(|Restored { body: Self { plan, written, .. }, .. }| {
            let trajectories = plan.output.trajectories.iter().map(|options| &options.file);
            trajectories.chain(written.keys())
        });
        if let Some(name) = { names }.find(|name| !is_plain_name(name)) {
            let message = format!("the checkpoint names {name:?}, which is not a plain file name");
            let help = "the checkpoint was changed after md wrote it; use the checkpoint of another run, or run again \
                        from the beginning with `md run --force`";
            return Err(Problem::new(message).in_file(path).help(help).into());
        }
        Ok(found)
    }

    /// Reads the state in a checkpoint file, as the initial state of another run. Returns an error if the file is
    /// damaged, and does not read the previous checkpoint instead.
    pub fn read_state(path: &Path) -> Result<State> {
        let damaged = |reason: String| {
            let problem =
                Problem::new(format!("this checkpoint contains no state to start from: {reason}")).in_file(path);
            problem.help("use another checkpoint, or the file final.rst7 of the same run")
        };
        let Self { position, mut state, .. } = match Self::read(path)? {
            Some(Restored { body, warning: None, .. }) if !body.is_start() => body,
            Some(Restored { warning: Some(reason), .. }) => return Err(damaged(reason).into()),
            _ => return Err(damaged("the checkpoint was written before the first step".to_owned()).into()),
        };
        if let Some((minimizer, _)) = position.minimizer {
            state.positions = minimizer.positions().to_vec();
        }
        Ok(state)
    }
}

/// Returns the CRC-32 of a state. States that agree bit for bit have the same CRC-32.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::plan::{Interval, TrajectoryOptions};

    #[test]
    fn files_that_a_checkpoint_names_are_in_its_folder() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("checkpoint.md");
        let options = |file: &str| TrajectoryOptions {
            file: file.to_owned(),
            every: Interval::Steps(1),
            velocities: false,
            forces: false,
            images: false,
            precision: None,
            select: None,
        };
        for (name, is_plain) in [
            ("t.trr", true),
            ("../../ev.trr", false),
            ("/tmp/ev.trr", false),
            ("sub/ev.trr", false),
            ("..", false),
            (".md.lock", false),
            ("", false),
        ] {
            let mut planned = Checkpoint::start("run".to_owned(), &Plan::default(), Fingerprint::default());
            let mut written = planned.clone();
            planned.plan.output.trajectories.push(options(name));
            written.written.insert(name.to_owned(), Mark::default());
            for checkpoint in [planned, written] {
                checkpoint.write(&path).unwrap();
                match Checkpoint::read(&path) {
                    Ok(found) => assert!(is_plain && found.unwrap().body == checkpoint, "{name}"),
                    Err(error) => {
                        let message = error.to_string();
                        assert!(!is_plain && message.contains("not a plain file name"), "{name}: {message}");
                    }
                }
            }
        }
    }
}
