//! Trial moves of the volume: [`crate::ensemble::volume_trial`].

use super::{ATOMS, Host};
use crate::backend::centres::centre_of;
use crate::backend::{Backend, Evaluation, ForceField, Workload};
use crate::cell::PeriodicCell;
use crate::ensemble::barostat::check_minimum_image;
use crate::ensemble::volume_trial::VolumeTrial;
use crate::error::Result;
use crate::memory;
use crate::pair::ListSchedule;
use crate::restraint::Samples;
use crate::vec3::Vec3;
use rayon::prelude::*;

/// What a trial may take of the buffer of the outer list, which is there for the motion of atoms.
const BUFFER_SHARE: f64 = 0.25;

/// What trials need in addition to the state.
#[derive(Default)]
pub(super) struct TrialScratch {
    /// positions, and the evaluation there, before a trial
    positions: Vec<Vec3>,
    evaluation: Evaluation,
    /// restraints there
    restraints: Samples,
    /// centres of mass of molecules
    centres: Vec<Vec3>,
    /// of Σ v·F
    parts: Vec<f64>,
}

impl<F: ForceField> Host<F> {
    /// Stretches cell and molecules, evaluates what `workload` says with fresh inner lists, and accepts or restores.
    pub(super) fn try_stretch(&mut self, trial: &VolumeTrial, workload: Workload, lists: &ListSchedule) -> Result<()> {
        let Some(cell) = self.cell else { return Ok(()) };
        let before = self.evaluation.energies.potential();
        let change = trial.change_of(&mut self.coupling.trials[trial.extent], cell.volume());
        let factors = trial.factors(change);
        let stretched = cell.stretched(factors);
        check_minimum_image(&stretched, self.cutoff)?;
        memory::copy(&self.positions, &mut self.trial.positions);
        self.trial.restraints.clone_from(self.restraints.all_samples());
        std::mem::swap(&mut self.evaluation, &mut self.trial.evaluation);
        self.stretch_molecules(factors);
        self.set_cell(stretched);
        let far = self.uses_up_buffer(factors, lists);
        if far {
            self.build_lists()?;
        }
        self.prune_lists(0.0)?;
        self.forces(workload)?;
        let energy = self.evaluation.energies.potential() - before;
        let accepted = trial.is_accepted(change, energy, [&cell, &stretched], self.molecules.len());
        if accepted {
            self.coupling.barostat_work += energy + 0.5 * trial.timestep * self.power_of_change();
        } else {
            std::mem::swap(&mut self.positions, &mut self.trial.positions);
            std::mem::swap(&mut self.evaluation, &mut self.trial.evaluation);
            self.restraints.restore(&self.trial.restraints);
            self.set_cell(cell);
        }
        VolumeTrial::count(&mut self.coupling.trials[trial.extent], accepted);
        if far { self.build_lists() } else { Ok(()) }
    }

    /// Whether a trial takes more than [`BUFFER_SHARE`] of the buffer of the outer list. Atoms far from the centre of their
    /// molecule move against the stretched surroundings.
    fn uses_up_buffer(&self, factors: Vec3, lists: &ListSchedule) -> bool {
        let atoms = self.positions.par_iter().with_min_len(ATOMS).zip(&self.trial.positions);
        let squared = atoms.map(|(now, then)| (*now - then.stretched(factors)).norm_squared()).reduce(|| 0.0, f64::max);
        let slack = factors.x.min(factors.y).min(factors.z) * lists.outer - self.cutoff - 2.0 * squared.sqrt();
        slack < (1.0 - BUFFER_SHARE) * (lists.outer - self.cutoff)
    }

    fn set_cell(&mut self, cell: PeriodicCell) {
        self.cell = Some(cell);
        self.field.cell_changed(self.cell.as_ref());
    }

    /// Moves every molecule with its centre of mass.
    fn stretch_molecules(&mut self, factors: Vec3) {
        let (molecules, masses, further) = (&self.molecules, &self.masses, factors - Vec3::splat(1.0));
        let TrialScratch { positions: before, centres, .. } = &mut self.trial;
        memory::resize(centres, molecules.len(), Vec3::ZERO);
        let each = centres.par_iter_mut().with_min_len(ATOMS).enumerate();
        self.team.for_each(each, |(molecule, centre)| *centre = centre_of(molecules.atoms(molecule), masses, before));
        let atoms = self.positions.par_iter_mut().with_min_len(ATOMS).enumerate();
        self.team.for_each(atoms, |(atom, r)| *r += centres[molecules.of_atom(atom)].stretched(further));
        self.sites.place(&self.team, &mut self.positions);
    }

    /// Σ v·ΔF of the change of the forces by an accepted trial, kJ/mol/ps.
    fn power_of_change(&mut self) -> f64 {
        let TrialScratch { evaluation, parts, .. } = &mut self.trial;
        memory::resize(parts, self.velocities.len().div_ceil(ATOMS), 0.0);
        let forces = self.evaluation.acting().par_chunks(ATOMS).zip(evaluation.acting().par_chunks(ATOMS));
        let chunks = parts.par_iter_mut().zip(self.velocities.par_chunks(ATOMS)).zip(forces);
        self.team.for_each(chunks, |((part, velocities), (after, before))| {
            let forces = after.iter().zip(before);
            *part = velocities.iter().zip(forces).map(|(v, (after, before))| v.dot(*after - *before)).sum();
        });
        parts.iter().sum()
    }
}

#[cfg(test)]
mod tests;
