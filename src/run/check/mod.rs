//! Checks of a plan and its system before a run starts: errors, warnings and descriptions.

pub(super) mod coincidence;
pub(super) mod nonbonded;
mod preflight;
mod stage_description;
pub(super) mod topology_methods;
pub(super) mod vibration;
pub(super) mod warnings;

pub use nonbonded::{describe_conventions, describe_cutoffs, describe_electrostatics};
pub use preflight::preflight;
pub use stage_description::describe_stage;
pub use topology_methods::describe_methods;
pub use warnings::{AMBER_CUTOFF, FEW_STEPS, SHRINKING, estimated_acceptances, refuse, warnings};
