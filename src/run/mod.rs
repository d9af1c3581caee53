//! Running a plan: what is asked for, the order of a step, stages, minimisation, checkpoints.

pub mod minimize;
pub mod plan;

pub use plan::Plan;
