//! Impulses of reciprocal space: [`crate::ensemble::multiple_time_steps`].

use super::{ATOMS, Host};
use crate::backend::{ForceField, Impulse};
use crate::error::Result;
use crate::memory;
use crate::vec3::{Mat3, Vec3};
use rayon::prelude::*;

impl<F: ForceField> Host<F> {
    /// After all other forces: those that act, with an impulse of this weight, and those that are measured.
    pub(super) fn add_impulse(&mut self, weight: f64, virial: bool) {
        let Impulse { forces, acting, weight: of_impulse } = &mut self.evaluation.impulse;
        let by_sites = self.sites.spread(&self.team, &self.positions, forces);
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

    /// After a step: what the virial of its constraint forces has of the impulse beyond its weight of one, kJ/mol.
    pub(super) fn surplus_of_impulse(&mut self) -> Result<Mat3> {
        let Impulse { forces, weight, .. } = &self.evaluation.impulse;
        if forces.is_empty() || *weight == 1.0 {
            return Ok(Mat3::ZERO);
        }
        let (changes, inverse_masses) = (&mut self.accelerations, &self.inverse_masses);
        memory::resize(changes, forces.len(), Vec3::ZERO);
        let free = |atom: usize| forces[atom] * inverse_masses[atom];
        let atoms = changes.par_iter_mut().enumerate().with_min_len(ATOMS);
        self.team.for_each(atoms, |(atom, change)| *change = free(atom));
        self.constraints.project(&self.old, changes)?;
        let answers = self.old.iter().zip(changes).zip(&self.masses).enumerate();
        let virial = answers
            .fold(Mat3::ZERO, |sum, (atom, ((&r, change), &mass))| sum + Mat3::outer(r, (*change - free(atom)) * mass));
        Ok(virial.scaled(weight - 1.0))
    }
}
