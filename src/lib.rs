//! `md`: molecular dynamics of biomolecular systems.
//!
//! ARCHITECTURE is written here as the layers land.

pub mod backend;
pub mod cell;
pub mod compute;
pub mod error;
pub mod format;
pub mod pme;
pub mod system;
pub mod term;
pub mod units;
pub mod vec3;
