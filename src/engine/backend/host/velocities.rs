//! Velocity changes by thermostats, and the work of these changes.

use super::{ATOMS, ForceField, Host};
use crate::backend::refresh::Refresh;
use crate::constraint::{Drift, SharedVectors};
use crate::ensemble::groups::PerGroup;
use crate::ensemble::nose_hoover::NoseHoover;
use crate::ensemble::refreshment::Refreshment;
use crate::ensemble::rescaling::{Rescaling, pending, pending_work, scaling_work};
use crate::error::Result;
use crate::memory;
use crate::vec3::{Mat3, Vec3};
use rayon::prelude::*;
use smallvec::smallvec;
use std::time::Instant;

/// Scratch memory of velocity rescaling.
#[derive(Default)]
pub(super) struct RescalingScratch {
    /// velocities after their scaling by a thermostat, before the next step
    pub(super) scaled: Vec<Vec3>,
    /// partial sums over the atoms of temperature groups
    parts: Vec<[f64; 2]>,
}

impl<F: ForceField> Host<F> {
    /// Multiplies velocities by one factor per temperature group, which follows from the kinetic energy of the group.
    pub(super) fn rescale(&mut self, rescalings: &[Rescaling]) -> Result<()> {
        let kinetic = self.kinetic_of_groups();
        let factors = rescalings.iter().zip(&kinetic).map(|(rescaling, &kinetic)| rescaling.factor(kinetic));
        let factors: PerGroup<f64> = factors.collect::<Result<_>>()?;
        self.multiply(&kinetic, &factors);
        Ok(())
    }

    /// Multiplies velocities by the factors of Nosé–Hoover chains, one chain per temperature group.
    pub(super) fn rescale_by_chains(&mut self, couplings: &[NoseHoover]) -> Result<()> {
        let kinetic = self.kinetic_of_groups();
        let chains = &mut self.coupling.chains;
        // the chain variables are initially zero
        chains.resize(couplings.len(), Default::default());
        let groups = couplings.iter().zip(&kinetic).zip(chains);
        let factors = groups.map(|((coupling, &kinetic), chain)| coupling.factor(kinetic, chain));
        let factors: PerGroup<f64> = factors.collect::<Result<_>>()?;
        self.multiply(&kinetic, &factors);
        Ok(())
    }

    /// Multiplies the velocities of each temperature group by the factor of the group, and adds the part of the
    /// thermostat's work that is known before the next step. `kinetic` is the kinetic energy of each group in kJ/mol.
    fn multiply(&mut self, kinetic: &[f64], factors: &[f64]) {
        let work: f64 = kinetic.iter().zip(factors).map(|(&kinetic, &factor)| scaling_work(kinetic, factor)).sum();
        self.coupling.thermostat_work += work;
        self.coupling.pending_rescaling.clear();
        self.coupling.pending_rescaling.extend(factors.iter().map(|&factor| pending(factor)));
        let groups = self.temperature_groups.as_deref();
        let atoms = self.velocities.par_iter_mut().with_min_len(ATOMS).enumerate();
        self.team.for_each(atoms, |(atom, v)| *v = *v * factors[groups.map_or(0, |groups| groups.of_atom(atom))]);
    }

    /// Returns the kinetic energy of the present velocities of each temperature group, kJ/mol.
    pub(super) fn kinetic_of_groups(&mut self) -> PerGroup<f64> {
        if self.temperature_groups.is_none() {
            return smallvec![self.kinetic_after];
        }
        let mut parts = std::mem::take(&mut self.rescaling.parts);
        let (masses, velocities) = (&self.atoms.masses, &self.velocities);
        let sums = self.sum_by_group(&mut parts, |atom| [0.5 * masses[atom] * velocities[atom].norm_squared(), 0.0]);
        self.rescaling.parts = parts;
        sums.into_iter().map(|[kinetic, _]| kinetic).collect()
    }

    /// Sums two quantities over the atoms of each temperature group; the order of summation is always the same. `parts`
    /// is scratch memory.
    fn sum_by_group(&self, parts: &mut Vec<[f64; 2]>, of: impl Fn(usize) -> [f64; 2] + Sync) -> PerGroup<[f64; 2]> {
        let (atoms, groups) = (self.atoms.masses.len(), self.temperature_groups.as_deref());
        let count = groups.map_or(1, |groups| groups.degrees_of_freedom().len());
        memory::resize(parts, atoms.div_ceil(ATOMS) * count, [0.0; 2]);
        self.team.for_each(parts.par_chunks_mut(count).enumerate(), |(chunk, sums)| {
            sums.fill([0.0; 2]);
            for atom in chunk * ATOMS..((chunk + 1) * ATOMS).min(atoms) {
                let sum = &mut sums[groups.map_or(0, |groups| groups.of_atom(atom))];
                let [a, b] = of(atom);
                *sum = [sum[0] + a, sum[1] + b];
            }
        });
        let mut sums: PerGroup<[f64; 2]> = smallvec![[0.0; 2]; count];
        for (part, group) in parts.iter().zip((0..count).cycle()) {
            sums[group] = [sums[group][0] + part[0], sums[group][1] + part[1]];
        }
        self.field.sum(sums.as_flattened_mut());
        sums
    }

    /// Adds the rest of the work of a velocity rescaling, after the step that followed the rescaling.
    pub(super) fn finish_thermostat_work(&mut self) {
        if self.coupling.pending_rescaling.is_empty() {
            return;
        }
        let mut parts = std::mem::take(&mut self.rescaling.parts);
        let (masses, timestep, forces) = (&self.atoms.masses, self.timestep, self.evaluation.acting());
        let (scaled, velocities) = (&self.rescaling.scaled, &self.velocities);
        // two sums in kJ/mol for each temperature group: dt Σ v·F with the scaled velocities v and the forces F, and Σ
        // m v·Δv with the change Δv of velocities by constraints in this step
        let works = self.sum_by_group(&mut parts, |atom| {
            let v = scaled[atom];
            let by_forces = v.dot(forces[atom]) * timestep;
            let by_constraints = masses[atom] * v.dot(velocities[atom] - v) - by_forces;
            [by_forces, by_constraints]
        });
        self.rescaling.parts = parts;
        let works = self.coupling.pending_rescaling.drain(..).zip(works);
        let work: f64 = works.map(|(pending, [forces, constraints])| pending_work(pending, forces, constraints)).sum();
        self.coupling.thermostat_work += work;
    }

    /// Partially renews velocities in the middle of the last step.
    pub(super) fn refresh(&mut self, refreshment: &Refreshment) -> Result<()> {
        let start = Instant::now();
        let scaled = self.coupling.pending_scaling != Vec3::ZERO;
        let unrenewed = (scaled && self.has_impulses()).then(|| self.velocities.clone());
        let (positions, velocities) =
            (&SharedVectors::new(&mut self.positions), &SharedVectors::new(&mut self.velocities));
        let refresh = Refresh {
            plan: &self.atoms.constraints,
            drift: Drift { positions, velocities, half: 0.5 * self.timestep },
            masses: &self.atoms.masses,
            inverse_masses: &self.atoms.inverse_masses,
            groups: &self.atoms.groups,
            temperature_groups: self.temperature_groups.as_deref(),
            refreshment,
            home: self.field.home(),
        };
        let level = self.level;
        self.team.for_each(self.step_results.par_iter_mut().enumerate(), |(section, result)| {
            match refresh.apply(level, section) {
                Ok(renewed) => result.renewed = renewed,
                Err(failure) => result.constraint_virial = Err(failure),
            }
        });
        let failed = self.step_results.iter().find_map(|result| result.constraint_virial.err());
        self.moved(failed.map_or(Ok(Mat3::ZERO), |failure| Err(self.named(failure).into())))?;
        self.atoms.sites.place(&self.team, &mut self.positions);
        let mut renewed = [self.step_results.iter().map(|result| result.renewed).sum::<f64>()];
        self.field.sum(&mut renewed);
        self.book_refreshment(renewed[0]);
        self.book_lead(unrenewed.as_deref());
        self.phases.update += start.elapsed().as_secs_f64();
        Ok(())
    }

    /// Adds the work of a velocity refreshment. `renewed` is the kinetic energy after the refreshment, kJ/mol.
    pub(super) fn book_refreshment(&mut self, renewed: f64) {
        self.coupling.thermostat_work += renewed - self.kinetic_after;
        self.kinetic_after = renewed;
    }
}
