//! `md`: molecular dynamics of biomolecular systems.
//!
//! ARCHITECTURE is written here as the layers land.

pub mod backend;
pub mod cell;
pub mod cli;
pub mod compute;
pub mod config;
pub mod constraint;
pub mod ensemble;
pub mod error;
pub mod format;
pub mod observe;
pub mod pair;
pub mod pme;
pub mod rng;
pub mod run;
pub mod simd;
pub mod system;
pub mod term;
pub mod units;
pub mod vec3;
