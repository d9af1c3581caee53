//! Running a plan: what is asked for, the order of a step, stages, minimisation, checkpoints.

mod engine;
pub mod minimize;
mod plan;
mod simulation;

pub use engine::{Engine, schedule};
pub use plan::*;
pub use simulation::{ListOrigins, Observed, Simulation, Wanted};
