//! Running a simulation: what is to be done ([`Plan`]).

pub mod plan;

pub use plan::Plan;
