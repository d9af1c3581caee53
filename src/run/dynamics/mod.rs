//! Dynamics of one stage: the initial state, restraints and frozen atoms, and the order of operations in a step.

pub(super) mod frozen;
pub(super) mod restraints;
pub(super) mod setup;
pub(super) mod simulation;
pub(super) mod start;

pub use frozen::frozen_system;
pub use restraints::restraints;
pub use setup::Setup;
pub use simulation::{Simulation, StageProgress, Wanted};
