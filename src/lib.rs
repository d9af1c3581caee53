//! `md`: molecular dynamics of biomolecular systems.
//!
//! ARCHITECTURE is written here as the layers land.

pub mod backend;
pub mod cell;
pub mod error;
pub mod observe;
pub mod system;
pub mod units;
pub mod vec3;
