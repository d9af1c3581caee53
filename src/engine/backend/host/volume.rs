//! Monte Carlo volume moves on the CPU: the operations of [`crate::backend::volume_move`].

use super::{ATOMS, Host};
use crate::backend::centers::center_of;
use crate::backend::volume_move::VolumeMoves;
use crate::backend::{Evaluation, ForceField};
use crate::cell::PeriodicCell;
use crate::error::Result;
use crate::memory;
use crate::restraint::Samples;
use crate::system::TrialMoves;
use crate::vec3::Vec3;
use rayon::prelude::*;

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
    fn set_cell(&mut self, cell: PeriodicCell) {
        self.cell = Some(cell);
        self.field.cell_changed(self.cell.as_ref());
    }

    /// Exchanges positions and evaluation with those of the cell that is not in use.
    fn exchange_states(&mut self) {
        std::mem::swap(&mut self.positions, &mut self.trial.positions);
        std::mem::swap(&mut self.evaluation, &mut self.trial.evaluation);
    }
}

impl<F: ForceField> VolumeMoves for Host<F> {
    fn trial_moves(&mut self) -> &mut [TrialMoves; 3] {
        &mut self.coupling.trials
    }

    fn molecules(&self) -> usize {
        self.atoms.molecules.len()
    }

    fn cutoff(&self) -> f64 {
        self.cutoff
    }

    fn stretch(&mut self, factors: Vec3) -> Result<f64> {
        let (molecules, masses, further) = (&self.atoms.molecules, &self.atoms.masses, factors - Vec3::splat(1.0));
        let (TrialScratch { positions: stretched, centers, .. }, now) = (&mut self.trial, &self.positions);
        memory::resize(centers, molecules.len(), Vec3::ZERO);
        let each = centers.par_iter_mut().with_min_len(ATOMS).enumerate();
        self.team.for_each(each, |(molecule, center)| *center = center_of(molecules.atoms(molecule), masses, now));
        memory::resize(stretched, now.len(), Vec3::ZERO);
        let atoms = stretched.par_iter_mut().zip(now).with_min_len(ATOMS).enumerate();
        self.team.for_each(atoms, |(atom, (to, r))| *to = *r + centers[molecules.of_atom(atom)].stretched(further));
        self.atoms.sites.place(&self.team, stretched);
        let atoms = stretched.par_iter().with_min_len(ATOMS).zip(now);
        let squared = atoms.map(|(then, now)| (*then - now.stretched(factors)).norm_squared()).reduce(|| 0.0, f64::max);
        Ok(squared.sqrt())
    }

    fn prune_within(&mut self, radius: f64) -> Result<()> {
        // without a cutoff the list holds all pairs, and the difference of the two infinite distances is NaN
        self.field.prune(self.cell.as_ref(), &self.positions, (radius - self.cutoff).max(0.0));
        Ok(())
    }

    fn enter(&mut self, cell: PeriodicCell) -> Result<()> {
        self.trial.restraints.clone_from(self.restraints.all_samples());
        self.exchange_states();
        self.set_cell(cell);
        Ok(())
    }

    fn leave(&mut self, cell: PeriodicCell) -> Result<()> {
        self.exchange_states();
        self.restraints.restore(&self.trial.restraints);
        self.set_cell(cell);
        Ok(())
    }

    fn power_of_change(&mut self) -> Result<f64> {
        let TrialScratch { evaluation, parts, .. } = &mut self.trial;
        memory::resize(parts, self.velocities.len().div_ceil(ATOMS), 0.0);
        let forces = self.evaluation.acting().par_chunks(ATOMS).zip(evaluation.acting().par_chunks(ATOMS));
        let chunks = parts.par_iter_mut().zip(self.velocities.par_chunks(ATOMS)).zip(forces);
        self.team.for_each(chunks, |((part, velocities), (after, before))| {
            let forces = after.iter().zip(before);
            *part = velocities.iter().zip(forces).map(|(v, (after, before))| v.dot(*after - *before)).sum();
        });
        Ok(parts.iter().sum())
    }

    fn add_barostat_work(&mut self, work: f64) -> Result<()> {
        self.coupling.barostat_work += work;
        Ok(())
    }
}

#[cfg(test)]
mod tests;
