//! What is done with a system: minimisation.

pub mod minimize;
