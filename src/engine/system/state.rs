//! The dynamic variables of a simulation. No variable can be computed from the other variables.

use crate::cell::PeriodicCell;
use crate::vec3::Vec3;

/// Variables of thermostat and barostat, and the work of thermostat and barostat on the system.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Coupling {
    /// energy that the thermostat has added to the system since the start of the run, minus the kinetic energy that the
    /// removal of the motion of the whole system has taken out, kJ/mol
    pub thermostat_work: f64,
    /// energy that the barostat has added to the system since the start of the run, kJ/mol
    pub barostat_work: f64,
    /// logarithms of the length factors along x, y, z of the last box scaling; zero once the second half of the work of
    /// this scaling is included in `barostat_work`
    pub pending_scaling: Vec3,
    /// coefficient 1 − 1/λ for each temperature group, where λ is the product of the velocity scaling factors whose
    /// work is not yet included in `thermostat_work`; empty if all work is included
    pub pending_rescaling: Vec<f64>,
    /// velocities (1/ps) of the Nosé–Hoover chain of each temperature group; empty before the first coupling
    pub chains: Vec<[f64; 3]>,
    /// state of the Monte Carlo volume moves for each extent of the cell
    pub trials: [TrialMoves; 3],
    /// energy that moving restraint centers have added to the system in earlier stages, kJ/mol
    pub restraint_work: f64,
}

/// Data of the current cycle of multiple time steps, which lasts from one impulse to the next. The work of a thermostat
/// that refreshes velocities is computed from the data of the cycle ([`crate::ensemble::multiple_time_steps`]). The
/// data are empty without multiple time steps, or without a thermostat that refreshes velocities.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ImpulseCycle {
    /// number n of steps from one impulse to the next
    pub length: u32,
    /// number j of steps from the impulse to the last step
    pub step: u32,
    /// mesh forces S₀ at the impulse, kJ/mol/nm
    pub slow: Vec<Vec3>,
    /// weighted sum Σ (j+½) Δⱼ over the steps j since the impulse, where Δⱼ are the velocity changes by the thermostat,
    /// nm/ps
    pub changes: Vec<Vec3>,
}

/// State of the Monte Carlo volume moves along one extent of the cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct TrialMoves {
    /// maximum change Δ of the logarithm of the extent; zero before the first move
    pub largest: f64,
    /// number of moves tried in this stage
    pub tried: u64,
    /// number of moves accepted in this stage
    pub accepted: u64,
    /// number of moves rejected because the cell would be too small for the cutoff, included in `tried`
    pub too_small: u64,
}

/// Positions, velocities, cell and time, in topology order.
///
/// The example makes two atoms 0.4 nm apart in a cubic cell, at rest at step and time zero:
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
    /// time since the start of the run, ps
    pub time: f64,
    /// periodic cell; `None` without periodic boundaries
    pub cell: Option<PeriodicCell>,
    /// positions, nm, unwrapped
    pub positions: Vec<Vec3>,
    /// velocities at the half step before `time` (leapfrog), nm/ps; empty if all atoms are at rest, for example after
    /// reading coordinates without velocities
    pub velocities: Vec<Vec3>,
    /// variables of thermostat and barostat
    pub coupling: Coupling,
    /// current cycle of multiple time steps
    pub cycle: ImpulseCycle,
}
