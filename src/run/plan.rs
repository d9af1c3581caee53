//! The plan: everything the input file decides, checked, with defaults filled in and without units.
//!
//! Plain data; [`crate::config`] fills it, checkpoints store it. Quantities are in internal units
//! (nm, ps, amu, kJ/mol, K); wall-clock times are [`Duration`]s. Field names are those of the input file.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::reporter::Moment;

pub use crate::constraint::ConstraintKind;
use crate::constraint::RemovedMotion;
use crate::ensemble::barostat::Barostat;
use crate::ensemble::thermostat::Thermostat;
use crate::system::{DispersionCorrection, ListPolicy, Modifier};

/// One whole run: the system, how forces are computed, and the stages in order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// files that describe what is simulated
    pub system: SystemFiles,
    /// how forces are computed
    pub forces: ForceOptions,
    /// seed, device, threads
    pub run: RunOptions,
    /// what is written, where and how often
    pub output: OutputOptions,
    /// done one after the other; empty where the file only serves `md energy` or `md check`
    #[serde(rename = "stage")]
    pub stages: Vec<Stage>,
}

impl Plan {
    /// Steps that a stage of `steps` steps is allowed in all.
    pub fn target(&self, steps: u64) -> u64 {
        self.run.max_steps.map_or(steps, |most| steps.min(most))
    }

    /// Stages of dynamics with their names.
    pub fn dynamics(&self) -> impl DoubleEndedIterator<Item = (&str, &Dynamics)> {
        self.stages.iter().filter_map(|stage| match &stage.kind {
            StageKind::Dynamics(dynamics) => Some((stage.name.as_str(), dynamics)),
            StageKind::Minimize(_) => None,
        })
    }
}

/// Files of the system, absolute paths.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SystemFiles {
    /// atoms and force field: AMBER prmtop/parm7
    pub topology: PathBuf,
    /// positions, and where the format has them velocities and cell
    pub coordinates: PathBuf,
}

/// How forces are computed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ForceOptions {
    /// Coulomb cutoff in nm; `None` = all pairs
    pub cutoff: Option<f64>,
    /// Lennard-Jones cutoff in nm; `None` = all pairs
    pub cutoff_lj: Option<f64>,
    /// Coulomb method
    pub electrostatics: ElectrostaticsSpec,
    /// end of the Lennard-Jones potential
    pub lj_modifier: Modifier,
    /// end of the direct-space Coulomb potential
    pub coulomb_modifier: Modifier,
    /// Lennard-Jones beyond the cutoff
    pub dispersion_correction: DispersionCorrection,
    /// which bonds keep their length
    pub constraints: ConstraintKind,
    /// waters are rigid bodies
    pub rigid_water: bool,
    /// relative tolerance of a constrained distance
    pub constraint_tolerance: f64,
    /// mass of hydrogens after repartitioning, in amu; `None` leaves the masses of the topology
    pub hydrogen_mass: Option<f64>,
    /// when pair lists are rebuilt
    pub list: ListPolicy,
}

/// Treatment of Coulomb interactions as asked for; PME parameters may still have to be derived from the cell.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ElectrostaticsSpec {
    /// no charges
    Off,
    /// 1/r, truncated at the cutoff if there is one
    Plain,
    /// reaction field
    ReactionField {
        /// relative permittivity beyond the cutoff; infinity = conducting
        permittivity: f64,
    },
    /// smooth particle-mesh Ewald
    Pme(PmeSpec),
}

/// How PME parameters are to be found.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PmeSpec {
    /// taken as they are; no tuning
    Explicit {
        /// α in 1/nm
        alpha: f64,
        /// grid points along a, b, c
        grid: [usize; 3],
        /// B-spline order
        order: usize,
    },
    /// α from erfc(α·cutoff) = 1e-5; the accuracy of this spacing is held
    Spacing {
        /// largest distance of grid points in nm
        spacing: f64,
        /// B-spline order
        order: usize,
    },
    /// RMS force error over RMS electrostatic force to stay below
    ForceError(f64),
}

/// Seed, device, threads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunOptions {
    /// key of every random number of the run
    pub seed: u64,
    /// where forces are computed
    pub device: Device,
    /// worker threads; `None` = all cores this process may use
    pub threads: Option<usize>,
    /// the same bits on any number of threads
    pub reproducible: bool,
    /// bind each thread to a processor of its own
    pub pin: bool,
    /// arithmetic
    pub precision: Precision,
    /// how lists and mesh are chosen at the accuracy asked for
    pub tuning: TuningMethod,
    /// forced instruction set; `None` = best available
    pub simd: Option<SimdLevel>,
    /// wall-clock time after which the run stops with a checkpoint (exit 3)
    pub max_time: Option<Duration>,
    /// every stage ends after this many steps in all, even if it asks for more
    pub max_steps: Option<u64>,
}

/// Where forces are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Device {
    /// a GPU that is there and computes what the CPU does, else the CPU
    Auto,
    /// the CPU
    Cpu,
    /// the CUDA device of this number
    Cuda(u32),
}

impl Device {
    /// How devices are spelled.
    pub const SPELLING: &str = "\"auto\", \"cpu\", \"cuda\" or \"cuda:1\"";

    /// A device by its spelling.
    pub fn from_text(text: &str) -> Option<Self> {
        match text {
            "auto" => Some(Device::Auto),
            "cpu" => Some(Device::Cpu),
            "cuda" => Some(Device::Cuda(0)),
            _ => text.strip_prefix("cuda:")?.parse().ok().map(Device::Cuda),
        }
    }
}

/// Arithmetic of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Precision {
    /// everything in f64: the reference backend
    Double,
    /// interactions in f32, sums in f64
    Mixed,
}

/// How lists and mesh are chosen at the accuracy asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TuningMethod {
    /// as is usual: lists for 20 steps, PME of order 4
    Off,
    /// by a cost model, the same on every run
    Model,
    /// by timing what the model takes for the best
    Measure,
}

impl TuningMethod {
    /// The word of the input file.
    pub fn name(self) -> &'static str {
        match self {
            TuningMethod::Off => "off",
            TuningMethod::Model => "model",
            TuningMethod::Measure => "measure",
        }
    }
}

/// Instruction sets of the CPU kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SimdLevel {
    /// no intrinsics
    Portable,
    /// AVX2 with FMA
    Avx2,
    /// AVX-512
    Avx512,
}

/// What is written, where and how often.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OutputOptions {
    /// absolute path of the folder that takes every file of the run
    pub directory: PathBuf,
    /// frames, one entry for each file
    #[serde(rename = "trajectory")]
    pub trajectories: Vec<TrajectoryOptions>,
    /// rows of the energy table; `None` = none are written
    pub energies: Option<EnergyOptions>,
    /// restart points
    pub checkpoint: CheckpointOptions,
}

impl OutputOptions {
    /// Names of the files that grow.
    pub fn names(&self) -> Vec<String> {
        let trajectories = self.trajectories.iter().map(|options| options.file.clone());
        trajectories.chain(self.energies.map(|_| ENERGIES.to_owned())).collect()
    }
}

/// Name of the energy table.
pub const ENERGIES: &str = "energies.csv";

/// Frames of one file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrajectoryOptions {
    /// name in the output folder; its ending decides the format ([`crate::observe::trajectory::Format::of_name`])
    pub file: String,
    /// distance of frames
    pub every: Interval,
    /// frames carry velocities
    pub velocities: bool,
    /// frames carry forces
    pub forces: bool,
    /// positions may be rounded to this many nm; `None` = as f32
    pub precision: Option<f64>,
}

/// Rows of the energy table.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct EnergyOptions {
    /// distance of rows
    pub every: Interval,
}

/// Restart points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckpointOptions {
    /// wall-clock time between them
    pub every: Duration,
}

/// How often something happens in a dynamics stage.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Interval {
    /// simulated time in ps, a whole number of steps in every stage (checked)
    Time(f64),
    /// number of steps
    Steps(u64),
}

impl Interval {
    /// Whether an interval ends at a step of a stage.
    pub fn is_due(self, moment: &Moment) -> bool {
        moment.stage_step.is_multiple_of(self.steps(moment.timestep))
    }

    /// Steps of length `timestep` (ps) in one interval, at least one.
    pub fn steps(self, timestep: f64) -> u64 {
        match self {
            Interval::Time(time) => ((time / timestep).round() as u64).max(1),
            Interval::Steps(steps) => steps,
        }
    }
}

/// One stage of the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stage {
    /// unique among the stages
    pub name: String,
    /// what is done
    pub kind: StageKind,
}

/// What a stage does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StageKind {
    /// energy minimisation
    Minimize(Minimize),
    /// molecular dynamics
    Dynamics(Dynamics),
}

/// Energy minimisation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Minimize {
    /// stops after this many steps
    pub steps: u64,
    /// stops when the largest force on any atom is below this, kJ/mol/nm
    pub force_tolerance: f64,
    /// largest displacement of an atom in the first step, nm
    pub initial_step: f64,
}

/// Molecular dynamics.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Dynamics {
    /// number of steps
    pub steps: u64,
    /// ps
    pub timestep: f64,
    /// velocities at the start of the stage
    pub velocities: Velocities,
    /// temperature coupling
    pub thermostat: Option<Thermostat>,
    /// pressure coupling
    pub barostat: Option<Barostat>,
    /// centre-of-mass motion is removed every so many steps
    pub com_removal: Option<u32>,
}

impl Dynamics {
    /// The motion of the whole that is removed, with or without a periodic cell.
    pub fn removed_motion(&self, periodic: bool) -> RemovedMotion {
        match (self.com_removal, periodic) {
            (None, _) => RemovedMotion::Nothing,
            (Some(_), true) => RemovedMotion::Translation,
            (Some(_), false) => RemovedMotion::TranslationAndRotation,
        }
    }
}

/// Velocities at the start of a stage.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Velocities {
    /// those of the coordinate file, or of the dynamics stage before
    File,
    /// drawn from the Maxwell–Boltzmann distribution
    Generate {
        /// K
        temperature: f64,
    },
}
