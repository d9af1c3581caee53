//! The dynamic variables of a simulation, all independent.

use crate::cell::PeriodicCell;
use crate::vec3::Vec3;

/// Variables of thermostat and barostat, and the work they have done.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Coupling {
    /// energy put into the system by the thermostat so far, kJ/mol
    pub thermostat_work: f64,
    /// energy put into the system by the barostat so far, kJ/mol
    pub barostat_work: f64,
    /// ln of the length factor of a box scaling whose work is counted only by half so far
    pub pending_scaling: f64,
    /// 1 − 1/λ of a velocity rescaling whose work is counted only in part so far
    pub pending_rescaling: f64,
    /// energy put into the system by the moving centres of restraints in the stages before this one, kJ/mol
    pub restraint_work: f64,
}

/// Positions, velocities, cell and time, in topology order.
///
/// Two atoms 0.4 nm apart in a cubic cell, at rest at step and time zero:
///
/// ```
/// use md::cell::PeriodicCell;
/// use md::system::State;
/// use md::vec3::{Vec3, vec3};
///
/// let cell = Some(PeriodicCell::orthorhombic([2.0; 3]));
/// let positions = vec![Vec3::ZERO, vec3(0.4, 0.0, 0.0)];
/// let state = State { cell, velocities: vec![Vec3::ZERO; 2], positions, ..State::default() };
/// assert_eq!((state.step, state.time), (0, 0.0));
/// ```
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct State {
    /// steps done since the start of the run (all stages)
    pub step: u64,
    /// ps
    pub time: f64,
    /// lattice, `None` = no periodic boundary
    pub cell: Option<PeriodicCell>,
    /// nm, unwrapped
    pub positions: Vec<Vec3>,
    /// nm/ps, at the half step before `time` (leapfrog)
    pub velocities: Vec<Vec3>,
    /// thermostat and barostat
    pub coupling: Coupling,
}
