//! Home atoms of this process, which change when atoms migrate between processes.

use super::{Atoms, Host};
use crate::backend::ForceField;
use crate::backend::leapfrog::StepResult;
use crate::ensemble::groups::TemperatureGroups;
use crate::error::Result;
use crate::memory;
use crate::system::System;
use std::sync::Arc;

impl<F: ForceField> Host<F> {
    /// Replaces the home atoms by the atoms of `system`.
    pub(in crate::backend) fn adopt(&mut self, system: &System) -> Result<()> {
        self.atoms = Atoms::new(system)?;
        self.step_results.clear();
        self.step_results.resize(self.atoms.constraints.sections(), StepResult::NONE);
        self.centers.resize(self.atoms.masses.len(), self.atoms.groups.len());
        self.take_part();
        Ok(())
    }

    /// Moves atoms to their new home processes, together with all vectors of these atoms that later steps need.
    pub(super) fn migrate(&mut self) -> Result<()> {
        let (now, before) = (&mut self.evaluation, &mut self.trial);
        let others = &mut [
            &mut self.velocities,
            &mut now.forces,
            &mut now.impulse.forces,
            &mut now.impulse.acting,
            &mut self.cycle.slow,
            &mut self.cycle.changes,
            &mut before.positions,
            &mut before.evaluation.forces,
            &mut before.evaluation.impulse.forces,
            &mut before.evaluation.impulse.acting,
        ];
        let migrated = self.field.migrate(self.cell.as_ref(), &mut self.positions, others);
        if !matches!(migrated, Ok(None)) {
            // also after an error, because the home atoms may have changed before the error was found
            memory::copy(&self.positions, &mut self.old);
        }
        match migrated? {
            Some(system) => self.adopt(&system),
            None => Ok(()),
        }
    }

    /// Restricts the temperature groups and restraints of the whole system to the home atoms.
    pub(super) fn take_part(&mut self) {
        let home = self.field.home();
        let part = |all: &Arc<TemperatureGroups>| match home {
            Some(home) => Arc::new(all.part(home.atoms)),
            None => Arc::clone(all),
        };
        self.temperature_groups = self.all_temperature_groups.as_ref().map(part);
        self.take_home_restraints();
    }
}
