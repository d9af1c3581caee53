//! Running a plan: stages of dynamics and minimisation, output, checkpoints.
//!
//! [`run`] takes a [`Job`] through its stages, [`run_replicas`] those of an ensemble; [`Simulation::step`] alone defines the order of operations in a step. Start
//! reading there.

mod account;
mod checkpoint;
mod coincidence;
mod directory;
mod engine;
mod fingerprint;
mod freeze;
mod group_columns;
mod impulses;
mod instability;
mod job;
mod lists;
mod lj_end;
mod load;
mod measure;
mod methods;
pub mod minimize;
mod outputs;
mod plan;
mod preflight;
mod reference_check;
mod replicas;
mod reporter;
mod restrain;
mod results;
mod resume;
mod runner;
mod self_check;
mod setup;
mod signals;
mod simulation;
mod stage;
mod stage_output;
mod start;
mod surface;
mod threads;
mod timing;
mod tuning;
mod vibration;
mod warnings;

pub use account::describe_degrees_of_freedom;
pub use checkpoint::{Checkpoint, RunPosition, Written, state_hash};
pub use engine::{Engine, Placement, check_device, processors};
pub use fingerprint::Fingerprint;
pub use freeze::frozen_system;
pub use impulses::misplaced;
pub use job::{Job, Outcome};
pub use lists::{describe_lists, schedule};
pub use lj_end::{describe_conventions, describe_lj_end};
pub use load::load;
pub use measure::{Measured, Measurement, measure};
pub use methods::describe_methods;
pub use plan::*;
pub use preflight::preflight;
pub use replicas::{EnsembleJob, Hub, Member, ReplicaJob, Spread, Start, ThermodynamicState, run_replicas};
pub use reporter::{Quantities, Report, Reporter, RunInfo, StepInfo};
pub use restrain::restraints;
pub use runner::run;
pub use setup::Setup;
pub use signals::Requests;
pub use simulation::{Observed, Simulation, StageProgress, Wanted};
pub use stage_output::{Intervals, StageOutput};
pub use warnings::{estimated_acceptances, refuse, warnings};
