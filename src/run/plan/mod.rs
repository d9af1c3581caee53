//! Plan of a run: all settings of the input file, checked, with defaults for keys that the input file does not set.
//!
//! A plan is plain data: [`crate::config`] fills the plan, and checkpoints store it. Quantities are numbers in internal
//! units (nm, ps, amu, kJ/mol, K); wall-clock times are [`Duration`]s. Fields are named as in the input file.

mod features;
pub(super) mod group_columns;
mod impulse_intervals;
mod output;
mod restraint;
pub(super) mod stage_output;
mod step;

pub use impulse_intervals::misplaced;
pub use output::{CheckpointOptions, Interval, OutputOptions, TrajectoryOptions, is_plain_name};
pub use restraint::{PositionRestraint, Restraint};
pub use stage_output::{Intervals, StageOutput};
pub use step::StepInfo;

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::cell::PeriodicCell;
use crate::constraint::RemovedMotion;
use crate::ensemble::barostat::{Barostat, PressureCoupling};
use crate::ensemble::exchange::Exchange;
use crate::ensemble::multiple_time_steps::MultipleTimeSteps;
use crate::ensemble::thermostat::Thermostat;
use crate::error::Problem;
use crate::format::TopologyOptions;
use crate::observe::energies::{CellColumns, Columns};
pub use crate::prepare::{
    ConstraintKind, ElectrostaticsSpec, ForceOptions, LjPmeSpec, PmeSpec, ScaledSolute, Setting, TuningMethod,
};
use crate::run::plan::group_columns::GroupColumns;
use crate::simd::Level;

/// Plan of a whole run: the files of the system, the computation of forces, and the stages in order. The default plan
/// has no files, stages or output, and is meant for a program that builds its own system. All other settings have the
/// defaults of the input file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// topology, coordinate and parameter files of the system
    pub system: SystemFiles,
    /// non-bonded methods, cutoffs and constraints
    pub forces: ForceOptions,
    /// seed, device, threads and limits of the run
    pub run: RunOptions,
    /// output files and their intervals
    pub output: OutputOptions,
    /// stages in the order in which they run; may be empty for `md energy` and `md check`
    #[serde(rename = "stage")]
    pub stages: Vec<Stage>,
    /// replica exchange in the last stage; `None` if replicas do not swap states
    #[serde(default)]
    pub exchange: Option<Exchange>,
}

impl Plan {
    /// Returns the texts of all atom selections of the plan, except the selection of the scaled solute.
    pub fn selections(&self) -> impl Iterator<Item = &str> {
        let written = self.output.trajectories.iter().filter_map(|options| options.select.as_deref());
        self.stages.iter().flat_map(Stage::selections).chain(written)
    }

    /// Returns the columns of the energy table.
    pub fn energy_columns(&self, periodic: bool) -> Columns {
        let directional = |barostat: &Barostat| barostat.coupling != PressureCoupling::Isotropic;
        let cell = match periodic {
            false => CellColumns::Open,
            true if self.dynamics().any(|(_, stage)| stage.barostat.as_ref().is_some_and(directional)) => {
                CellColumns::Directional
            }
            true => CellColumns::Periodic,
        };
        Columns { cell, temperatures: GroupColumns::new(self).names() }
    }

    /// Returns the number of steps that a stage of length `steps` does: the smaller of `steps` and `max_steps`.
    pub fn target(&self, steps: u64) -> u64 {
        self.run.max_steps.map_or(steps, |most| steps.min(most))
    }

    /// Iterates over the stages of dynamics, with their names.
    pub fn dynamics(&self) -> impl DoubleEndedIterator<Item = (&str, &Dynamics)> {
        self.stages.iter().filter_map(|stage| Some((stage.name.as_str(), stage.dynamics()?)))
    }
}

/// Files that describe the system; all paths are absolute.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SystemFiles {
    /// file with atoms and force field, in any format of [`crate::format::known`]
    pub topology: PathBuf,
    /// file with positions, and with velocities and cell if the format has them
    pub coordinates: PathBuf,
    /// folders that are searched, after the folder of the topology, for files that the topology includes
    pub include: Vec<PathBuf>,
    /// preprocessor macros that are defined when the topology file is read
    pub define: Vec<String>,
    /// parameter files of the topology, in the order in which they are read
    pub parameters: Vec<PathBuf>,
    /// periodic cell that replaces the cell of the coordinate file; `None` keeps the cell of the file
    pub cell: Option<PeriodicCell>,
}

impl SystemFiles {
    /// Returns the options for reading the topology file. The option for the number of atoms is not set.
    pub fn topology_options(&self) -> TopologyOptions {
        let SystemFiles { include, define, parameters, .. } = self.clone();
        TopologyOptions { include, define, parameters, ..TopologyOptions::default() }
    }
}

/// Settings of the computation of a run: seed, device, threads, precision, limits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunOptions {
    /// seed of all random numbers of the run; random numbers of couplings also depend on the initial state
    pub seed: u64,
    /// device that computes the forces
    pub device: Device,
    /// number of worker threads; `None` = as many as there are processors that this process may use
    pub threads: Option<usize>,
    /// whether results must be bitwise the same for any number of threads
    pub reproducible: bool,
    /// whether each thread is bound to its own processor
    pub pin: bool,
    /// floating-point precision of interactions and sums
    pub precision: Precision,
    /// method that chooses the pair list schedule, the Coulomb cutoff and the PME grid at the requested accuracy
    pub tuning: TuningMethod,
    /// instruction set of the CPU kernels; `None` = the best that the processor supports
    pub simd: Option<Level>,
    /// wall-clock time after which the run writes a checkpoint and stops (exit code 3)
    pub max_time: Option<Duration>,
    /// maximum number of steps of each stage; a longer stage ends early after this number of steps
    pub max_steps: Option<u64>,
}

impl Default for RunOptions {
    /// Returns the defaults of the input file.
    fn default() -> Self {
        RunOptions {
            seed: 1,
            device: Device::Auto,
            threads: None,
            reproducible: false,
            pin: false,
            precision: Precision::Mixed,
            tuning: TuningMethod::default(),
            simd: None,
            max_time: None,
            max_steps: None,
        }
    }
}

/// Device that computes the forces of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Device {
    /// the GPU if there is one and its results agree with those of the CPU, otherwise the CPU
    Auto,
    /// the CPU, even if there is a GPU
    Cpu,
    /// the CUDA GPU with this device number; an error if it cannot be used
    Cuda(u32),
}

impl Device {
    /// Spellings of devices in the input file, for error messages.
    pub const SPELLING: &str = "\"auto\", \"cpu\", \"cuda\" or \"cuda:1\"";

    /// Parses the spelling of a device in the input file; `None` if the text is not the spelling of a device.
    pub fn from_text(text: &str) -> Option<Self> {
        match text {
            "auto" => Some(Device::Auto),
            "cpu" => Some(Device::Cpu),
            "cuda" => Some(Device::Cuda(0)),
            _ => text.strip_prefix("cuda:")?.parse().ok().map(Device::Cuda),
        }
    }
}

/// Floating-point precision of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Precision {
    /// all arithmetic in `f64`, on the reference backend
    Double,
    /// interactions in `f32`, sums in `f64`
    Mixed,
}

/// Stage of a run: one minimisation or one period of dynamics.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stage {
    /// name of the stage, unique in the run
    pub name: String,
    /// settings of the stage: energy minimisation or dynamics
    pub kind: StageKind,
    /// position restraints, which hold atoms near reference positions
    #[serde(default)]
    pub position_restraints: Vec<PositionRestraint>,
    /// restraints of collective variables (distance, angle, torsion or RMSD)
    #[serde(default)]
    pub restraints: Vec<Restraint>,
    /// selection of the atoms that do not move, in the language of [`crate::select`]; `None` = all atoms move
    #[serde(default)]
    pub frozen: Option<String>,
    /// output settings of this stage, which replace the settings of the whole run
    #[serde(default)]
    pub output: StageOutput,
}

impl Stage {
    /// Adds the key `key` of this stage of the input file to a problem ([`Problem::of_key`]).
    pub(in crate::run) fn at_key(&self, problem: Problem, key: &[&str]) -> Problem {
        problem.of_key(&[&["stage", &self.name], key].concat())
    }

    /// Returns the texts of all atom selections of the stage.
    pub fn selections(&self) -> impl Iterator<Item = &str> {
        let positions = self.position_restraints.iter().map(|restraint| restraint.select.as_str());
        let groups = self.restraints.iter().flat_map(|one| one.groups.iter().chain(one.gather_around.iter().flatten()));
        let groups = groups.map(String::as_str);
        let thermostat = self.thermostat().into_iter().flat_map(Thermostat::selections);
        positions.chain(groups).chain(thermostat).chain(self.frozen.as_deref())
    }

    /// Returns the settings of a stage of dynamics; `None` for a minimisation.
    pub fn dynamics(&self) -> Option<&Dynamics> {
        match &self.kind {
            StageKind::Dynamics(dynamics) => Some(dynamics),
            StageKind::Minimize(_) => None,
        }
    }

    /// Returns the number of steps in the input file.
    pub fn steps(&self) -> u64 {
        match &self.kind {
            StageKind::Minimize(minimize) => minimize.steps,
            StageKind::Dynamics(dynamics) => dynamics.steps,
        }
    }

    /// Returns the thermostat, if the stage has one.
    pub fn thermostat(&self) -> Option<&Thermostat> {
        self.dynamics()?.thermostat.as_ref()
    }
}

/// Kind of a stage, with its settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(clippy::large_enum_variant, reason = "a run has only a few stages")]
pub enum StageKind {
    /// energy minimisation with these settings
    Minimize(Minimize),
    /// molecular dynamics with these settings
    Dynamics(Dynamics),
}

/// Settings of an energy minimisation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Minimize {
    /// maximum number of steps, each of which is one evaluation of energy and forces
    pub steps: u64,
    /// convergence criterion: the minimisation ends when no force on an atom exceeds this value, kJ/mol/nm
    pub force_tolerance: f64,
    /// maximum displacement of any atom in one step, nm; the first step of steepest descent has a tenth of this
    /// length
    pub max_displacement: f64,
}

impl Default for Minimize {
    /// Returns the defaults of the input file.
    fn default() -> Self {
        Minimize { steps: 5000, force_tolerance: 10.0, max_displacement: 0.01 }
    }
}

/// Settings of a stage of molecular dynamics.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Dynamics {
    /// number of steps of the stage
    pub steps: u64,
    /// time step of the integrator, ps
    pub timestep: f64,
    /// source of the velocities at the start of the stage
    pub velocities: Velocities,
    /// thermostat; `None` = no temperature coupling
    pub thermostat: Option<Thermostat>,
    /// barostat; `None` = no pressure coupling
    pub barostat: Option<Barostat>,
    /// multiple time steps, with reciprocal-space forces as impulses; `None` = all forces act at every step
    #[serde(default)]
    pub multiple_time_steps: Option<MultipleTimeSteps>,
    /// steps between removals of center-of-mass motion; `None` = the motion is not removed
    pub com_removal: Option<u32>,
    /// whether a restraint of the stage acts along fixed axes ([`Restraint::has_fixed_axes`]), so that the rotation is
    /// not removed in a system without a cell
    #[serde(default)]
    pub fixed_axes: bool,
}

impl Default for Dynamics {
    /// Returns NVE dynamics with the defaults of the input file. The input file has no defaults for the number of steps
    /// and the time step; this function sets zero steps and a time step of 2 fs.
    fn default() -> Self {
        Dynamics {
            steps: 0,
            timestep: 0.002,
            velocities: Velocities::File,
            thermostat: None,
            barostat: None,
            multiple_time_steps: None,
            com_removal: Some(100),
            fixed_axes: false,
        }
    }
}

impl Dynamics {
    /// Returns the mean number of evaluations of reciprocal space per step: 1 without multiple time steps.
    pub fn meshes(&self) -> f64 {
        self.multiple_time_steps.map_or(1.0, |steps| f64::from(steps.every).recip())
    }

    /// Returns which motion of the whole system is removed: nothing, translation, or translation and rotation. The
    /// rotation is removed only if nothing exerts a torque: neither a periodic cell nor a restraint along fixed axes.
    pub fn removed_motion(&self, periodic: bool) -> RemovedMotion {
        match self.com_removal {
            None => RemovedMotion::Nothing,
            Some(_) if periodic || self.fixed_axes => RemovedMotion::Translation,
            Some(_) => RemovedMotion::TranslationAndRotation,
        }
    }
}

/// Source of the velocities at the start of a stage.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Velocities {
    /// velocities of the coordinate file, or of the preceding stage of dynamics
    File,
    /// velocities drawn from the Maxwell–Boltzmann distribution
    Generate {
        /// temperature of the distribution, K
        temperature: f64,
    },
}
