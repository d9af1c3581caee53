//! Execution of a plan: stages of dynamics and minimisation, output, checkpoints.
//!
//! [`run`] runs the stages of a [`Job`], and [`run_replicas`] runs every replica of an ensemble. Only
//! [`Simulation::step`] defines the order of operations in a step, so a reader of the code may begin with this
//! function.

mod check;
mod checkpoint;
mod control;
mod dynamics;
mod engine;
pub mod minimize;
mod output;
mod plan;
mod replicas;
mod session;

pub use crate::observe::energies::Observed;
pub use check::{
    AMBER_CUTOFF, FEW_STEPS, SHRINKING, describe_conventions, describe_cutoffs, describe_electrostatics,
    describe_methods, describe_stage, estimated_acceptances, preflight, refuse, warnings,
};
pub use checkpoint::{Checkpoint, Fingerprint, RunPosition, Written, state_hash};
pub use control::Requests;
pub use dynamics::{Setup, Simulation, StageProgress, Wanted, frozen_system, restraints};
pub use engine::{
    Engine, Forecast, Network, Placement, StepTimes, check_device, check_ranks, describe_device, describe_lists,
    processors, release_ranks, schedule,
};
pub use output::{Quantities, Report, Reporter, RunInfo, part_name, parts};
pub use plan::*;
pub use replicas::{Barrier, EnsembleJob, ReplicaJob, ReplicaPlacement, Sharing, Start, run_replicas};
pub use session::{
    Attempt, ExchangeMember, Job, Measured, Measurement, Outcome, ThermodynamicState, describe_degrees_of_freedom,
    load, load_without_stages, measure, run,
};
