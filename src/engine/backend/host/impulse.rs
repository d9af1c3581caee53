//! Impulses of the reciprocal-space forces: see [`crate::ensemble::multiple_time_steps`].

use super::{ATOMS, Host};
use crate::backend::{ForceField, Impulse};
use crate::ensemble::multiple_time_steps::{lead_weights, lead_work};
use crate::error::Result;
use crate::memory;
use crate::system::ImpulseCycle;
use crate::vec3::{Mat3, Vec3};
use rayon::prelude::*;

impl<F: ForceField> Host<F> {
    /// Adds the reciprocal-space forces to the sum of all other forces. In the forces that move the atoms, the
    /// reciprocal-space forces are multiplied by `weight`. In the reported forces, the reciprocal-space forces have the
    /// weight one.
    pub(super) fn add_impulse(&mut self, weight: f64, virial: bool) {
        let Impulse { forces, acting, weight: of_impulse } = &mut self.evaluation.impulse;
        let by_sites = self.atoms.sites.spread(&self.team, &self.positions, forces);
        if virial {
            self.evaluation.virial += by_sites;
        }
        *of_impulse = weight;
        memory::resize(acting, forces.len(), Vec3::ZERO);
        let atoms = acting.par_iter_mut().zip(&mut self.evaluation.forces).zip(&*forces).with_min_len(ATOMS);
        self.team.for_each(atoms, |((acting, sum), &slow)| {
            *acting = *sum + slow * weight;
            *sum += slow;
        });
    }

    /// Updates the impulse cycle before a step. If the reciprocal-space forces act as an impulse in this step, the
    /// function adds the remaining part of the thermostat's work since the last impulse. If this stage has velocity
    /// refreshments (`refreshed`), a new impulse cycle begins with this impulse.
    pub(super) fn follow_impulses(&mut self, refreshed: bool) {
        let (impulse, cycle) = (&self.evaluation.impulse, &mut self.cycle);
        if impulse.weight == 0.0 {
            cycle.step += 1;
            if cycle.step >= cycle.length {
                // the previous stage applied impulses, and its last impulse cycle has ended
                *cycle = ImpulseCycle::default();
            }
            return;
        }
        let chunks = impulse.forces.par_chunks(ATOMS).zip(cycle.changes.par_chunks(ATOMS));
        let products = chunks.map(|(forces, changes)| forces.iter().zip(changes).map(|(f, v)| f.dot(*v)).sum::<f64>());
        let mut product = [products.collect::<Vec<f64>>().iter().sum()];
        self.field.sum(&mut product);
        self.coupling.thermostat_work += lead_work(self.timestep, product[0]);
        if !refreshed {
            *cycle = ImpulseCycle::default();
            return;
        }
        (cycle.length, cycle.step) = (impulse.weight as u32, 0);
        memory::copy(&impulse.forces, &mut cycle.slow);
        cycle.changes.clear();
        memory::resize(&mut cycle.changes, impulse.forces.len(), Vec3::ZERO);
    }

    /// Whether the velocity refreshments of this stage do work that depends on impulses.
    pub(super) fn has_impulses(&self) -> bool {
        self.cycle.length > 0
    }

    /// Adds the part of the thermostat's work that depends on the last impulse. The function also sums the velocity
    /// changes from which the remaining part of the work is computed at the next impulse. The function is called after
    /// velocities were renewed in the middle of the last step. The change of a velocity follows from the displacement
    /// in that step, because the atom moves with the old velocity in the first half of the step, and with the new
    /// velocity in the second half. If a barostat has also moved the atoms, `unrenewed` holds the velocities before
    /// they were renewed, and the change is computed from these velocities.
    pub(super) fn book_lead(&mut self, unrenewed: Option<&[Vec3]>) {
        if !self.has_impulses() {
            return;
        }
        let ImpulseCycle { length, step, slow, changes } = &mut self.cycle;
        let [since, until] = lead_weights(*length, *step);
        let (velocities, positions, old, timestep) = (&self.velocities, &self.positions, &self.old, self.timestep);
        let change = |atom: usize| match unrenewed {
            Some(unrenewed) => velocities[atom] - unrenewed[atom],
            None => (velocities[atom] - (positions[atom] - old[atom]) * (1.0 / timestep)) * 2.0,
        };
        let mut parts = vec![0.0; slow.len().div_ceil(ATOMS)];
        let chunks = parts.par_iter_mut().zip(changes.par_chunks_mut(ATOMS)).zip(slow.par_chunks(ATOMS)).enumerate();
        self.team.for_each(chunks, |(chunk, ((part, changes), slow))| {
            for (index, (sum, force)) in changes.iter_mut().zip(slow).enumerate() {
                let change = change(chunk * ATOMS + index);
                *sum += change * since;
                *part += force.dot(change);
            }
        });
        let mut product = [parts.iter().sum()];
        self.field.sum(&mut product);
        self.coupling.thermostat_work -= lead_work(timestep, until * product[0]);
    }

    /// Returns the difference (kJ/mol) between the virial of the constraint forces in the last step and the virial that
    /// these forces would have if the weight of the impulse were one.
    pub(super) fn surplus_of_impulse(&mut self) -> Result<Mat3> {
        let Impulse { forces, weight, .. } = &self.evaluation.impulse;
        if forces.is_empty() || *weight == 1.0 {
            return Ok(Mat3::ZERO);
        }
        let (changes, inverse_masses) = (&mut self.accelerations, &self.atoms.inverse_masses);
        memory::resize(changes, forces.len(), Vec3::ZERO);
        let free = |atom: usize| forces[atom] * inverse_masses[atom];
        let atoms = changes.par_iter_mut().enumerate().with_min_len(ATOMS);
        self.team.for_each(atoms, |(atom, change)| *change = free(atom));
        self.atoms.constraints.project(&self.old, changes)?;
        let answers = self.old.iter().zip(changes).zip(&self.atoms.masses).enumerate();
        let virial = answers
            .fold(Mat3::ZERO, |sum, (atom, ((&r, change), &mass))| sum + Mat3::outer(r, (*change - free(atom)) * mass));
        Ok(virial.scaled(weight - 1.0))
    }
}
