//! Thermostats, barostats, initial velocities and the motion of the whole: arithmetic, shared by all backends.
//!
//! Couplings are pure functions of scalars (kinetic energy, virial, volume, a random key) that return a factor and the
//! work it does; who owns the atoms applies it. Nothing here has state: random numbers come from
//! (seed, purpose, step), so that a restarted run draws the same ones.

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

/// What happens every so many steps happens at this one.
pub fn is_due(every: u32, step: u64) -> bool {
    step.is_multiple_of(u64::from(every.max(1)))
}
