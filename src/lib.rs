//! `md`: molecular dynamics of biomolecular systems.
//!
//! ARCHITECTURE is written here as the layers land.

pub mod backend;
pub mod cell;
pub mod constraint;
pub mod ensemble;
pub mod error;
pub mod rng;
pub mod run;
pub mod system;
pub mod units;
pub mod vec3;
