//! Monte Carlo volume moves on the CPU: the operations of [`crate::backend::volume_move`].

use super::{ATOMS, Atoms, Host};
use crate::backend::centers::center_of;
use crate::backend::volume_move::VolumeMoves;
use crate::backend::{Distribution, Evaluation, ForceField, Home};
use crate::cell::PeriodicCell;
use crate::error::Result;
use crate::memory;
use crate::restraint::Samples;
use crate::system::{Molecules, TrialMoves};
use crate::vec3::{Vec3, vec3};
use rayon::prelude::*;
use std::collections::HashMap;

/// Scratch memory of volume moves.
#[derive(Default)]
pub(super) struct TrialScratch {
    /// positions and evaluation that are set aside: those of the state in the scaled cell before
    /// [`VolumeMoves::enter`], and those of the state in the original cell after [`VolumeMoves::enter`]
    pub(super) positions: Vec<Vec3>,
    pub(super) evaluation: Evaluation,
    /// restraint samples before the move
    restraints: Samples,
    /// centers of mass of molecules
    centers: Vec<Vec3>,
    /// partial sums of the power Σ v·F, kJ/mol/ps
    parts: Vec<f64>,
}

impl TrialScratch {
    /// Discards the positions and the evaluation that were set aside. The memory is kept for the next move.
    pub(super) fn clear(&mut self) {
        let Evaluation { forces, impulse, .. } = &mut self.evaluation;
        for vectors in [&mut self.positions, forces, &mut impulse.forces, &mut impulse.acting] {
            vectors.clear();
        }
    }
}

/// Parts, in this process, of molecules that may have atoms in several processes.
pub(super) struct SharedMolecules {
    /// two indices of each part of a shared molecule in this process: the index of the part among all parts of
    /// molecules in this process, and the index of the molecule among all shared molecules
    places: Vec<[u32; 2]>,
    /// Σ m r (amu nm) and Σ m (amu) over the atoms, with mass m and position r, for each molecule that several
    /// processes may share
    sums: Vec<[f64; 4]>,
}

impl SharedMolecules {
    /// Returns the parts of molecules among the home atoms, and the list of the parts that belong to shared molecules.
    /// A molecule that is a single rank group is never shared.
    pub(super) fn parts_at(Home { atoms, system, .. }: Home<'_>) -> (Molecules, Self) {
        let mut first = HashMap::new();
        let link = |(index, &atom): (u32, &u32)| {
            let (molecule, _) = system.molecule_of(atom);
            [*first.entry(molecule).or_insert(index), index]
        };
        let links: Vec<[u32; 2]> = (0..).zip(atoms).map(link).collect();
        let parts = Molecules::from_bonds(atoms.len(), &links);
        let place = |part: usize| {
            let (_, shared) = system.molecule_of(atoms[parts.atoms(part)[0] as usize]);
            Some([part as u32, shared?])
        };
        let places = (0..parts.len()).filter_map(place).collect();
        (parts, SharedMolecules { places, sums: vec![[0.0; 4]; system.shared_molecules()] })
    }

    /// Replaces the centers of mass of parts of molecules by the centers of mass of the whole molecules. All processes
    /// call this function together.
    fn complete(
        &mut self,
        field: &impl Distribution,
        parts: &Molecules,
        masses: &[f64],
        positions: &[Vec3],
        centers: &mut [Vec3],
    ) {
        self.sums.fill([0.0; 4]);
        for &[part, molecule] in &self.places {
            let sum = &mut self.sums[molecule as usize];
            for &atom in parts.atoms(part as usize) {
                let (mass, r) = (masses[atom as usize], positions[atom as usize]);
                let moment = r * mass;
                *sum = [sum[0] + moment.x, sum[1] + moment.y, sum[2] + moment.z, sum[3] + mass];
            }
        }
        field.sum(self.sums.as_flattened_mut());
        for &[part, molecule] in &self.places {
            let [x, y, z, mass] = self.sums[molecule as usize];
            centers[part as usize] = vec3(x, y, z) / mass;
        }
    }
}

impl<F: ForceField> Host<F> {
    fn set_cell(&mut self, cell: PeriodicCell) {
        self.cell = Some(cell);
        self.field.cell_changed(self.cell.as_ref());
    }

    /// Exchanges positions and evaluation with the positions and the evaluation that are set aside.
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
        self.field.home().map_or(self.atoms.molecules.len(), |home| home.system.molecules())
    }

    fn cutoff(&self) -> f64 {
        self.cutoff
    }

    fn fits(&self, cell: &PeriodicCell) -> bool {
        self.field.fits(cell)
    }

    fn stretch(&mut self, factors: Vec3) -> Result<f64> {
        if let (Some(home), None) = (self.field.home(), &self.atoms.shared) {
            let (parts, shared) = SharedMolecules::parts_at(home);
            (self.atoms.molecules, self.atoms.shared) = (parts, Some(shared));
        }
        let (Atoms { molecules, masses, shared, sites, .. }, further) = (&mut self.atoms, factors - Vec3::splat(1.0));
        let molecules = &*molecules;
        let (TrialScratch { positions: stretched, centers, .. }, now) = (&mut self.trial, &self.positions);
        memory::resize(centers, molecules.len(), Vec3::ZERO);
        let each = centers.par_iter_mut().with_min_len(ATOMS).enumerate();
        self.team.for_each(each, |(molecule, center)| *center = center_of(molecules.atoms(molecule), masses, now));
        if let Some(shared) = shared {
            shared.complete(&self.field, molecules, masses, now, centers);
        }
        memory::resize(stretched, now.len(), Vec3::ZERO);
        let atoms = stretched.par_iter_mut().zip(now).with_min_len(ATOMS).enumerate();
        self.team.for_each(atoms, |(atom, (to, r))| *to = *r + centers[molecules.of_atom(atom)].stretched(further));
        sites.place(&self.team, stretched);
        let atoms = stretched.par_iter().with_min_len(ATOMS).zip(now);
        let squared = atoms.map(|(then, now)| (*then - now.stretched(factors)).norm_squared()).reduce(|| 0.0, f64::max);
        Ok(self.field.largest(squared).sqrt())
    }

    fn prune_within(&mut self, radius: f64) -> Result<()> {
        // without a cutoff the list holds all pairs; `radius` and the cutoff are then infinite, and `max` turns their
        // difference, which is NaN, into zero
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
        let mut power = [parts.iter().sum()];
        self.field.sum(&mut power);
        Ok(power[0])
    }

    fn add_barostat_work(&mut self, work: f64) -> Result<()> {
        self.coupling.barostat_work += work;
        Ok(())
    }
}

#[cfg(test)]
mod tests;
