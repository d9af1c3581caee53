//! Monte Carlo volume moves: see [`crate::ensemble::volume_trial`].

use super::{ATOMS, Host};
use crate::backend::centers::center_of;
use crate::backend::{Backend, Evaluation, ForceField, Workload};
use crate::cell::PeriodicCell;
use crate::ensemble::volume_trial::VolumeTrial;
use crate::error::Result;
use crate::memory;
use crate::pair::ListSchedule;
use crate::restraint::Samples;
use crate::vec3::Vec3;
use rayon::prelude::*;

/// Share of the outer list's buffer that a volume move may use. The rest of the buffer is left for the motion of
/// atoms.
const BUFFER_SHARE: f64 = 0.25;

/// Scratch memory of volume moves.
#[derive(Default)]
pub(super) struct TrialScratch {
    /// positions and evaluation in the cell that is not in use: first the scaled cell, then the original cell
    positions: Vec<Vec3>,
    evaluation: Evaluation,
    /// restraint samples before the move
    restraints: Samples,
    /// centers of mass of molecules
    centers: Vec<Vec3>,
    /// partial sums of Σ v·F
    parts: Vec<f64>,
}

impl<F: ForceField> Host<F> {
    /// Evaluates `workload` in the present cell and in the scaled cell with scaled molecule centers, and keeps the
    /// accepted state. A scaled cell that violates the minimum-image condition is rejected.
    pub(super) fn try_stretch(&mut self, trial: &VolumeTrial, workload: Workload, lists: &ListSchedule) -> Result<()> {
        let Some(cell) = self.cell else { return self.forces(workload) };
        let change = trial.change_of(&mut self.coupling.trials[trial.extent], cell.volume());
        let factors = trial.factors(change);
        let stretched = cell.stretched(factors);
        if self.cutoff > stretched.max_cutoff() {
            VolumeTrial::refuse_too_small(&mut self.coupling.trials[trial.extent]);
            self.prune_lists(0.0)?;
            return self.forces(workload);
        }
        self.stretch_molecules(factors);
        let reach = self.reach_after(factors);
        // without a cutoff the list holds all pairs, and the difference of the two infinite distances is NaN
        self.field.prune(Some(&cell), &self.positions, (reach - self.cutoff).max(0.0));
        self.forces(workload)?;
        let before = self.evaluation.energies.potential();
        self.trial.restraints.clone_from(self.restraints.all_samples());
        std::mem::swap(&mut self.evaluation, &mut self.trial.evaluation);
        std::mem::swap(&mut self.positions, &mut self.trial.positions);
        self.set_cell(stretched);
        let far = reach - self.cutoff > BUFFER_SHARE * (lists.outer - self.cutoff);
        if far {
            self.build_lists()?;
            self.prune_lists(0.0)?;
        }
        self.forces(workload)?;
        let energy = self.evaluation.energies.potential() - before;
        let accepted = trial.is_accepted(change, energy, [&cell, &stretched], self.atoms.molecules.len());
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

    /// Returns the largest present distance (nm) of two atoms that are within the cutoff of each other after scaling.
    /// Atoms far from the center of their molecule move relative to the scaled surroundings, and the distance allows
    /// for that.
    fn reach_after(&self, factors: Vec3) -> f64 {
        let atoms = self.trial.positions.par_iter().with_min_len(ATOMS).zip(&self.positions);
        let squared = atoms.map(|(then, now)| (*then - now.stretched(factors)).norm_squared()).reduce(|| 0.0, f64::max);
        (self.cutoff + 2.0 * squared.sqrt()) / factors.x.min(factors.y).min(factors.z)
    }

    fn set_cell(&mut self, cell: PeriodicCell) {
        self.cell = Some(cell);
        self.field.cell_changed(self.cell.as_ref());
    }

    /// Computes the positions after a volume move, which moves each molecule rigidly with its center of mass.
    fn stretch_molecules(&mut self, factors: Vec3) {
        let (molecules, masses, further) = (&self.atoms.molecules, &self.atoms.masses, factors - Vec3::splat(1.0));
        let (TrialScratch { positions: stretched, centers, .. }, now) = (&mut self.trial, &self.positions);
        memory::resize(centers, molecules.len(), Vec3::ZERO);
        let each = centers.par_iter_mut().with_min_len(ATOMS).enumerate();
        self.team.for_each(each, |(molecule, center)| *center = center_of(molecules.atoms(molecule), masses, now));
        memory::resize(stretched, now.len(), Vec3::ZERO);
        let atoms = stretched.par_iter_mut().zip(now).with_min_len(ATOMS).enumerate();
        self.team.for_each(atoms, |(atom, (to, r))| *to = *r + centers[molecules.of_atom(atom)].stretched(further));
        self.atoms.sites.place(&self.team, stretched);
    }

    /// Returns Σ v·ΔF (kJ/mol/ps), where ΔF is the change of the force on an atom by an accepted volume move.
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
