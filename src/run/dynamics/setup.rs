//! Settings of a stage of dynamics (integration, couplings, random seed), without the settings of the force
//! computation.

use crate::constraint::{RemovedMotion, degrees_of_freedom};
use crate::ensemble::groups::TemperatureGroups;
use crate::ensemble::thermostat::Thermostat;
use crate::error::Problem;
use crate::run::dynamics::frozen::FrozenGroups;
use crate::run::plan::Dynamics;
use crate::select::select;
use crate::system::System;
use std::sync::Arc;

/// Settings of a stage of dynamics (integration, couplings, random seed), without the settings of the force
/// computation.
#[derive(Clone)]
pub struct Setup<'a> {
    /// time step, thermostat, barostat and other settings of the integration
    pub dynamics: &'a Dynamics,
    /// seed of all random numbers of the run
    pub seed: u64,
    /// motion of the whole system that is removed
    pub removed_motion: RemovedMotion,
    /// number of degrees of freedom that remain after constraints and the removal of center-of-mass motion
    pub degrees_of_freedom: usize,
    /// temperature groups of the thermostat: sets of atoms that share a heat bath
    pub temperature_groups: Arc<TemperatureGroups>,
    /// frozen groups of atoms that constraints would connect
    pub frozen: FrozenGroups,
}

impl<'a> Setup<'a> {
    /// Creates the setup for a system without frozen groups, with or without a periodic cell. Returns an error if a
    /// selection of the thermostat does not fit the system.
    pub fn new(system: &System, dynamics: &'a Dynamics, seed: u64, periodic: bool) -> Result<Self, Problem> {
        let removed = dynamics.removed_motion(periodic);
        let selections = dynamics.thermostat.iter().flat_map(Thermostat::selections);
        let groups: Result<Vec<_>, Problem> = selections.map(|text| select(&system.topology, text)).collect();
        let groups = groups.and_then(|groups| TemperatureGroups::new(system, removed, &groups)).map_err(|problem| {
            let message = format!("thermostat.groups: {}", problem.message);
            Problem { message, ..problem }
        })?;
        Ok(Setup {
            dynamics,
            seed,
            removed_motion: removed,
            degrees_of_freedom: degrees_of_freedom(&system.topology, &system.constraints, removed),
            temperature_groups: Arc::new(groups),
            frozen: FrozenGroups::default(),
        })
    }
}
