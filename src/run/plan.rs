//! The plan: everything the input file decides, checked, with defaults filled in and without units.
//!
//! Plain data; [`crate::config`] fills it, checkpoints store it. Quantities are in internal units
//! (nm, ps, amu, kJ/mol, K); wall-clock times are [`Duration`]s. Field names are those of the input file.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::group_columns::GroupColumns;
use super::reporter::StepInfo;
use super::stage_output::StageOutput;
use crate::cell::PeriodicCell;
use crate::constraint::RemovedMotion;
use crate::ensemble::barostat::{Barostat, PressureCoupling};
use crate::ensemble::exchange::Exchange;
use crate::ensemble::multiple_time_steps::MultipleTimeSteps;
use crate::ensemble::schedule::Schedule;
use crate::ensemble::thermostat::Thermostat;
use crate::format::TopologyOptions;
use crate::observe::energies::{CellColumns, Columns};
pub use crate::prepare::{
    ConstraintKind, ElectrostaticsSpec, ForceOptions, LjPmeSpec, PmeSpec, ScaledSolute, Setting, TuningMethod,
};
use crate::restraint::{Components, Potential, ReferenceScaling, VariableKind};

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
    /// in order; may be empty for `md energy` and `md check`
    #[serde(rename = "stage")]
    pub stages: Vec<Stage>,
    /// of a replica that swaps states with others in the last stage
    #[serde(default)]
    pub exchange: Option<Exchange>,
}

impl Default for Plan {
    /// No files, stages or output, otherwise the defaults of the input file: for systems that are made in code.
    fn default() -> Self {
        Plan {
            system: SystemFiles::default(),
            forces: ForceOptions::default(),
            run: RunOptions::default(),
            output: OutputOptions {
                final_gro: false,
                directory: PathBuf::new(),
                trajectories: vec![],
                energies: None,
                restraints: None,
                checkpoint: CheckpointOptions { every: Duration::from_secs(300) },
            },
            stages: vec![],
            exchange: None,
        }
    }
}

impl Plan {
    /// Columns of the energy table.
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

    /// Steps that a stage of `steps` steps does, limited by `max_steps`.
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
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SystemFiles {
    /// atoms and force field, in any format of [`crate::format::known`]
    pub topology: PathBuf,
    /// positions, and where the format has them velocities and cell
    pub coordinates: PathBuf,
    /// folders of files that the topology includes, searched after its own
    pub include: Vec<PathBuf>,
    /// macros of the topology
    pub define: Vec<String>,
    /// parameters of the topology, in their order
    pub parameters: Vec<PathBuf>,
    /// in place of the cell of the coordinates
    pub cell: Option<PeriodicCell>,
}

impl SystemFiles {
    /// What the topology is read with, whatever its coordinates hold.
    pub fn topology_options(&self) -> TopologyOptions {
        let SystemFiles { include, define, parameters, .. } = self.clone();
        TopologyOptions { include, define, parameters, atoms: None }
    }
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
    /// how pair lists and PME grid are chosen at the accuracy asked for
    pub tuning: TuningMethod,
    /// forced instruction set; `None` = best available
    pub simd: Option<SimdLevel>,
    /// wall-clock time after which the run stops with a checkpoint (exit 3)
    pub max_time: Option<Duration>,
    /// every stage ends after this many steps in all, even if it asks for more
    pub max_steps: Option<u64>,
}

impl Default for RunOptions {
    /// The defaults of the input file.
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

/// Where forces are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Device {
    /// the GPU if there is one and its results agree with those of the CPU, else the CPU
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
    /// rows of the tables of restraints, one for each stage that has some; `None` = none are written
    pub restraints: Option<RestraintOptions>,
    /// restart points
    pub checkpoint: CheckpointOptions,
    /// whether the final structure is written as `final.gro`, too
    pub final_gro: bool,
}

impl OutputOptions {
    /// Names of trajectories and tables.
    pub fn names(&self) -> Vec<String> {
        let trajectories = self.trajectories.iter().map(|options| options.file.clone());
        let tables = [self.energies.map(|_| ENERGIES), self.restraints.map(|_| RESTRAINTS)];
        trajectories.chain(tables.into_iter().flatten().map(str::to_owned)).collect()
    }
}

/// Whether a name is that of a file in the output folder: no folders, and no hidden file, which may be one of md's own.
pub fn is_plain_name(name: &str) -> bool {
    !name.starts_with('.') && std::path::Path::new(name).file_name().is_some_and(|own| own == name)
}

/// Names that trajectories cannot have: of the structures at the end, and where a run became unstable.
pub const RESERVED: [&str; 3] = ["final.pdb", "final.gro", "unstable.pdb"];
/// Name of the energy table.
pub const ENERGIES: &str = "energies.csv";
/// Name of the table of collective restraints.
pub const RESTRAINTS: &str = "restraints.csv";

/// Frames of one file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrajectoryOptions {
    /// name in the output folder; its ending decides the format ([`crate::observe::trajectory::Format::of_name`])
    pub file: String,
    /// interval between frames
    pub every: Interval,
    /// frames carry velocities
    pub velocities: bool,
    /// frames carry forces
    pub forces: bool,
    /// frames of a periodic system carry the lattice vectors by which atoms were moved to make molecules whole
    pub images: bool,
    /// positions may be rounded to this many nm; `None` = as f32
    pub precision: Option<f64>,
    /// atoms that are written, in the words of [`crate::select`]; `None` = all
    pub select: Option<String>,
}

/// Rows of the energy table.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct EnergyOptions {
    /// interval between rows
    pub every: Interval,
}

/// Rows of the tables of restraints.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RestraintOptions {
    /// interval between rows
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
    pub fn is_due(self, step: &StepInfo) -> bool {
        step.stage_step.is_multiple_of(self.steps(step.timestep))
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
    /// atoms that are held near reference positions
    #[serde(default)]
    pub position_restraints: Vec<PositionRestraint>,
    /// restraints of collective variables
    #[serde(default)]
    pub restraints: Vec<Restraint>,
    /// atoms that do not move, in the words of [`crate::select`]
    #[serde(default)]
    pub frozen: Option<String>,
    /// what it writes otherwise than the run
    #[serde(default)]
    pub output: StageOutput,
}

impl Stage {
    /// The thermostat, if the stage has one.
    pub fn thermostat(&self) -> Option<&Thermostat> {
        match &self.kind {
            StageKind::Dynamics(dynamics) => dynamics.thermostat.as_ref(),
            StageKind::Minimize(_) => None,
        }
    }
}

/// A restraint of a collective variable.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Restraint {
    /// what is restrained
    pub kind: VariableKind,
    /// its groups of atoms, in the words of [`crate::select`]
    pub groups: Vec<String>,
    /// for each group a selection of the atom that its molecules are gathered around, if there is one
    pub gather_around: Vec<Option<String>>,
    /// of a distance
    pub along: Components,
    /// coordinates of the reference of an RMSD; `None` = those that the run starts from
    pub reference: Option<PathBuf>,
    /// its energy
    pub potential: Potential,
}

/// Position restraints of some atoms.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PositionRestraint {
    /// in the words of [`crate::select`]
    pub select: String,
    /// k of ½ k d², kJ/mol/nm²
    pub force_constant: Schedule,
    /// nm, within which nothing acts
    pub flat_radius: f64,
    /// coordinates of the references; `None` = those that the run starts from
    pub reference: Option<PathBuf>,
    /// how references follow the cell
    pub reference_scaling: ReferenceScaling,
}

/// What a stage does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(clippy::large_enum_variant, reason = "a run has a few of them")]
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

impl Default for Minimize {
    /// The defaults of the input file.
    fn default() -> Self {
        Minimize { steps: 5000, force_tolerance: 10.0, initial_step: 0.01 }
    }
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
    /// impulses of reciprocal space; `None` = all forces act at every step
    #[serde(default)]
    pub multiple_time_steps: Option<MultipleTimeSteps>,
    /// steps between removals of centre-of-mass motion
    pub com_removal: Option<u32>,
}

impl Default for Dynamics {
    /// The defaults of the input file; zero steps of 2 fs, for which it has no default. NVE.
    fn default() -> Self {
        Dynamics {
            steps: 0,
            timestep: 0.002,
            velocities: Velocities::File,
            thermostat: None,
            barostat: None,
            multiple_time_steps: None,
            com_removal: Some(100),
        }
    }
}

impl Dynamics {
    /// Evaluations of reciprocal space for each step.
    pub fn meshes(&self) -> f64 {
        self.multiple_time_steps.map_or(1.0, |steps| f64::from(steps.every).recip())
    }

    /// The centre-of-mass motion that is removed, with or without a periodic cell.
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
