//! Checks of a plan and its system before the run begins.

use crate::error::Result;
use crate::run::check::warnings::refuse;
use crate::run::dynamics::frozen::frozen_system;
use crate::run::dynamics::restraints::restraints;
use crate::run::dynamics::setup::Setup;
use crate::run::plan::Plan;
use crate::system::{State, System};

/// Returns an error if the plan, the system or the start state has a fault that can be found before the run begins.
pub fn preflight(plan: &Plan, system: &System, start: &State) -> Result<()> {
    refuse(plan, system)?;
    restraints(plan, system, start)?;
    for stage in &plan.stages {
        let system = frozen_system(stage, system)?;
        if let Some(dynamics) = stage.dynamics() {
            Setup::new(&system, dynamics, plan.run.seed, start.cell.is_some())
                .map_err(|problem| stage.at_key(problem, &["thermostat", "groups"]))?;
        }
    }
    Ok(())
}
