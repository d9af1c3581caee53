//! Thermostats, barostats, initial velocities and the motion of the whole: arithmetic, shared by all backends.
//!
//! Couplings are pure functions of scalars (kinetic energy, virial, volume, a random key) that return a factor and the
//! work it does; who owns the atoms applies it. Nothing here has state: random numbers come from
//! (seed, purpose, step), so that a restarted run draws the same ones.

pub mod barostat;
pub mod motion;
pub mod thermostat;
pub mod velocities;
