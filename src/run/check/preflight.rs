//! Checks of a plan before it runs.

use crate::error::Result;
use crate::run::check::warnings::refuse;
use crate::run::dynamics::frozen::frozen_system;
use crate::run::dynamics::restraints::restraints;
use crate::run::dynamics::setup::Setup;
use crate::run::plan::{Plan, StageKind};
use crate::system::{State, System};

/// Returns an error if a fault in the plan, the system or the start can be found before the run.
pub fn preflight(plan: &Plan, system: &System, start: &State) -> Result<()> {
    refuse(plan, system)?;
    restraints(plan, system, start)?;
    for stage in &plan.stages {
        let frozen = frozen_system(stage, system)?;
        if let StageKind::Dynamics(dynamics) = &stage.kind {
            Setup::new(frozen.as_ref().unwrap_or(system), dynamics, plan.run.seed, start.cell.is_some())?;
        }
    }
    Ok(())
}
