//! Thermostats, barostats, initial velocities and motion of the whole system: the arithmetic that all backends share.
//!
//! Thermostats and barostats are pure functions of scalars (kinetic energy, virial, volume, a random key). Each
//! thermostat or barostat returns a scale factor and the work of the scaling. The caller, which owns the atoms, applies
//! the factor. This module has no state. Random numbers depend only on (seed, purpose, step), so that a restarted run
//! draws the same numbers.

pub mod barostat;
pub mod exchange;
pub mod groups;
pub mod motion;
pub mod multiple_time_steps;
pub mod nose_hoover;
pub mod refreshment;
pub mod rescaling;
pub mod schedule;
pub mod thermostat;
pub mod velocities;
pub mod volume_trial;

use crate::rng::RandomKey;

/// Step of a run at which a thermostat or a barostat acts.
#[derive(Clone, Copy, Debug)]
pub struct CouplingStep {
    /// time since the start of the stage, ps
    pub time: f64,
    /// time step, ps
    pub timestep: f64,
    /// seed and step of the random numbers
    pub key: RandomKey,
}

/// Whether an event that occurs every `every` steps occurs at step `step`.
pub fn is_due(every: u32, step: u64) -> bool {
    step.is_multiple_of(u64::from(every.max(1)))
}
