//! Output files of a run, their contents and their intervals.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::error::Problem;
use crate::observe::files::{ENERGIES, MINIMISATION, RESTRAINTS};
use crate::observe::trajectory::{Format, Holds, Precision};
use crate::run::plan::StepInfo;
use crate::select::select;
use crate::system::Topology;

/// Output files of a run and the intervals at which they are written.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OutputOptions {
    /// absolute path of the folder to which all files of the run are written
    pub directory: PathBuf,
    /// options of each trajectory file of the run
    #[serde(rename = "trajectory")]
    pub trajectories: Vec<TrajectoryOptions>,
    /// interval between rows of the energy table; `None` = no table is written
    pub energies: Option<Interval>,
    /// interval between rows of the table of collective restraints; `None` = no table is written
    pub restraints: Option<Interval>,
    /// settings of the checkpoints
    pub checkpoint: CheckpointOptions,
    /// whether the final structure is also written as `final.gro`
    pub final_gro: bool,
}

impl OutputOptions {
    /// Returns the file names of all trajectories and tables that the run may write.
    pub fn names(&self) -> Vec<String> {
        let trajectories = self.trajectories.iter().map(|options| options.file.clone());
        let tables = [self.energies.map(|_| ENERGIES), self.restraints.map(|_| RESTRAINTS), Some(MINIMISATION)];
        trajectories.chain(tables.into_iter().flatten().map(str::to_owned)).collect()
    }

    /// Returns the interval of the trajectory or table `name` in the settings of the whole run; `None` = nothing is
    /// written.
    pub fn every(&self, name: &str) -> Option<Interval> {
        match name {
            ENERGIES => self.energies,
            RESTRAINTS => self.restraints,
            MINIMISATION => Some(Interval::Steps(1)),
            _ => self.trajectories.iter().find(|options| options.file == name).map(|options| options.every),
        }
    }
}

/// Whether a name is allowed for a file in the output folder. The name must contain no folder, and must not begin
/// with a dot, because the output folder has hidden files of md.
pub fn is_plain_name(name: &str) -> bool {
    !name.starts_with('.') && Path::new(name).file_name().is_some_and(|own| own == name)
}

/// Options of one trajectory file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrajectoryOptions {
    /// file name in the output folder; its extension determines the format ([`crate::observe::trajectory::Format`])
    pub file: String,
    /// interval between frames
    pub every: Interval,
    /// whether frames contain velocities
    pub velocities: bool,
    /// whether frames contain forces
    pub forces: bool,
    /// whether frames of a periodic system contain image counts: for each atom, the numbers of lattice vectors that
    /// were subtracted from its position to make molecules whole
    pub images: bool,
    /// resolution in nm to which positions may be rounded; `None` = positions are stored as `f32` without rounding
    pub precision: Option<f64>,
    /// selection of the atoms that are written, in the language of [`crate::select`]; `None` = all atoms
    pub select: Option<String>,
}

impl TrajectoryOptions {
    /// Returns all optional fields of a frame (all but the positions). Each item of the result has the key of the field
    /// in the input file, whether the field is requested, and whether the format can store the field.
    pub(crate) fn fields(&self, holds: &Holds) -> [(&'static str, bool, bool); 3] {
        [
            ("velocities", self.velocities, holds.velocities),
            ("forces", self.forces, holds.forces),
            ("images", self.images, holds.images),
        ]
    }

    /// Returns the indices of the atoms that are written; `None` if all atoms are written.
    pub fn selected(&self, system: &Topology) -> Result<Option<Vec<u32>>, Problem> {
        let found = self.select.as_ref().map(|text| select(system, text)).transpose();
        found.map_err(|problem| {
            let message = format!("{}: select: {}", self.file, problem.message);
            Problem { message, ..problem }.of_key(&["output", "trajectory"])
        })
    }

    /// Returns the precision with which `format` stores positions. Returns an error if the format cannot store the
    /// requested data.
    pub fn check(&self, format: &Format) -> Result<Precision, Problem> {
        if let Some((name, ..)) = self.fields(&format.holds).into_iter().find(|(_, asked, held)| *asked && !held) {
            return Err(cannot(format, &self.file, name));
        }
        format.precision(self.precision).ok_or_else(|| match self.precision {
            None => cannot(format, &self.file, "positions with full precision"),
            Some(step) => cannot(format, &self.file, &format!("positions to {step} nm")),
        })
    }
}

fn cannot(format: &Format, file: &str, what: &str) -> Problem {
    Problem::new(format!("{file}: {} files cannot store {what}", format.name))
        .help("remove this setting, or write trajectory.h5md instead of this file or in addition to it")
}

/// Options of checkpoints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckpointOptions {
    /// wall-clock time between checkpoints
    pub every: Duration,
}

impl Default for CheckpointOptions {
    fn default() -> Self {
        CheckpointOptions { every: Duration::from_secs(300) }
    }
}

/// Interval between output events in a stage of dynamics.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Interval {
    /// interval as simulated time in ps, rounded to whole steps in each stage
    Time(f64),
    /// interval as a number of steps
    Steps(u64),
}

impl Interval {
    /// Whether output is due at a step, because the number of the step within the stage is a multiple of the interval.
    pub fn is_due(self, step: &StepInfo) -> bool {
        step.stage_step.is_multiple_of(self.steps(step.timestep))
    }

    /// Returns the number of steps of length `timestep` (ps) in the interval, which is at least one.
    pub fn steps(self, timestep: f64) -> u64 {
        match self {
            Interval::Time(time) => ((time / timestep).round() as u64).max(1),
            Interval::Steps(steps) => steps,
        }
    }
}
