//! The dynamic variables of a simulation, all independent.

use crate::cell::PeriodicCell;
use crate::vec3::Vec3;

/// Variables of thermostat and barostat, and the work they have done.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Coupling {
    /// energy put into the system by the thermostat so far, kJ/mol
    pub thermostat_work: f64,
    /// energy put into the system by the barostat so far, kJ/mol
    pub barostat_work: f64,
    /// ln of the length factors along x, y, z of a box scaling whose work is counted only by half so far
    pub pending_scaling: Vec3,
    /// 1 − 1/λ of each temperature group, of a velocity rescaling whose work is counted only in part so far; empty without
    pub pending_rescaling: Vec<f64>,
    /// velocities (1/ps) of the Nosé–Hoover chain of each temperature group; empty before the first coupling
    pub chains: Vec<[f64; 3]>,
    /// trial moves of the extents of the cell
    pub trials: [TrialMoves; 3],
    /// energy put into the system by the moving centres of restraints in the stages before this one, kJ/mol
    pub restraint_work: f64,
}

/// The present cycle of impulses in a stage that renews velocities, as far as the work of the thermostat depends on it
/// ([`crate::ensemble::multiple_time_steps`]). Empty without impulses, and where no velocities are renewed.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ImpulseCycle {
    /// n, steps from one impulse to the next
    pub length: u32,
    /// j, steps from the impulse to the last step
    pub step: u32,
    /// S₀, slow forces at the impulse, kJ/mol/nm
    pub slow: Vec<Vec3>,
    /// Σ (j+½) Δⱼ of the velocity changes Δⱼ by the thermostat since the impulse, nm/ps
    pub changes: Vec<Vec3>,
}

/// Trial moves of a Monte Carlo barostat along one extent of the cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct TrialMoves {
    /// largest change of the logarithm; zero before the first
    pub largest: f64,
    /// trials in this stage
    pub tried: u64,
    /// of these
    pub accepted: u64,
    /// of those tried, refused since the cell would be too small for the cutoff
    pub too_small: u64,
}

/// Positions, velocities, cell and time, in topology order.
///
/// Two atoms 0.4 nm apart in a cubic cell, at rest at step and time zero:
///
/// ```
/// use md_engine::cell::PeriodicCell;
/// use md_engine::system::State;
/// use md_engine::vec3::{Vec3, vec3};
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
    /// nm/ps, at the half step before `time` (leapfrog); empty for atoms at rest, as of coordinates without velocities
    pub velocities: Vec<Vec3>,
    /// thermostat and barostat
    pub coupling: Coupling,
    /// multiple time steps
    pub cycle: ImpulseCycle,
}
