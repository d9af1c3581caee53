//! Checks of a plan and its system before a run starts: errors, warnings and descriptions.

pub(super) mod coincidence;
pub(super) mod lj_modifier;
mod preflight;
mod stage_description;
pub(super) mod topology_methods;
pub(super) mod vibration;
pub(super) mod warnings;

pub use lj_modifier::{describe_conventions, describe_lj_end};
pub use preflight::preflight;
pub use stage_description::describe_stage;
pub use topology_methods::describe_methods;
pub use warnings::{AMBER_CUTOFF, FEW_STEPS, SHRINKING, estimated_acceptances, refuse, warnings};
