//! Integration in host memory: the state, leapfrog, constraints and couplings around any [`ForceField`].
//!
//! All of it is `f64` in topology order. Sums run over fixed sections of atoms in order, so that the bits do not depend on
//! the number of threads.

use super::centres::{GroupSums, centre_of, internal_virial, totals};
use super::leapfrog::{LeapfrogKernel, Section, StepResult};
use super::refresh::RefreshKernel;
use super::{
    Backend, Evaluation, External, ExternalForce, ForceField, Kinetic, Leapfrog, ListLevel, PairCounts, Phases,
    Workload,
};
use crate::cell::PeriodicCell;
use crate::constraint::{ConstraintPlan, Motion, SharedVectors};
use crate::ensemble::barostat::{BoxScaling, ScaleFactors, check_minimum_image, pressure};
use crate::ensemble::motion::{remove_translation, remove_translation_and_rotation};
use crate::ensemble::refreshment::Refreshment;
use crate::ensemble::thermostat::{Rescaling, pending, pending_work, scaling_work};
use crate::error::{Error, Result};
use crate::memory;
use crate::pair::ListSchedule;
use crate::restraint::{Applied, Restraining};
use crate::simd::{Level, dispatch};
use crate::system::{Coupling, Molecules, State, System};
use crate::team::Team;
use crate::units::BOLTZMANN;
use crate::vec3::{Mat3, Vec3};
use crate::virtual_sites::SitePlan;
use rayon::prelude::*;
use std::sync::Arc;
use std::time::Instant;

/// Atoms per unit of parallel work.
const ATOMS: usize = 1024;
/// Kinetic energy per atom, sum of both half steps, at which a simulation has blown up: 10⁶ K. kJ/mol
pub(super) const LARGEST_KINETIC: f64 = 3.0 * BOLTZMANN * 1e6;
/// Atoms named in that error, at most.
const NAMED_ATOMS: usize = 5;

/// The state of a run in host memory.
pub struct Host<F> {
    field: F,
    external: Vec<Box<dyn ExternalForce>>,
    restraints: Restraining,
    level: Level,
    team: Arc<Team>,
    masses: Vec<f64>,
    /// 1/mass, zero for massless sites, amu⁻¹
    inverse_masses: Vec<f64>,
    constraints: ConstraintPlan,
    sites: SitePlan,
    /// the longer cutoff, nm; infinite without one
    cutoff: f64,
    cell: Option<PeriodicCell>,
    positions: Vec<Vec3>,
    velocities: Vec<Vec3>,
    /// positions at the start of the last step
    old: Vec<Vec3>,
    /// positions and cell of the last search, and of the last pruning
    searched: (Vec<Vec3>, Option<PeriodicCell>),
    pruned: (Vec<Vec3>, Option<PeriodicCell>),
    evaluation: Evaluation,
    coupling: Coupling,
    /// of the last step, ps
    timestep: f64,
    /// of the present velocities, after the last step and a barostat, kJ/mol
    kinetic_after: f64,
    /// of the last step, one for each section of the constraints
    step_results: Vec<StepResult>,
    /// atoms that constraints hold together
    groups: Molecules,
    /// position and velocity of the centre of mass of each, where a barostat acts
    centres: Vec<[Vec3; 2]>,
    /// velocities that a thermostat has scaled, before the next step
    scaled: Vec<Vec3>,
    /// partial sums over atoms, and over groups
    parts: Vec<[f64; 2]>,
    group_parts: Vec<GroupSums>,
    phases: Phases,
    searches: u64,
}

impl<F: ForceField> Host<F> {
    /// Around a force field of the same system.
    pub fn new(system: &System, field: F, level: Level, team: Arc<Team>) -> Result<Self> {
        let masses: Vec<f64> = system.topology.atoms.iter().map(|atom| atom.mass).collect();
        let constraints = || ConstraintPlan::new(&system.constraints, &masses);
        let (constraints, groups) = rayon::join(constraints, || system.constrained_groups());
        let constraints = constraints?;
        let inverse_masses = masses.iter().map(|&m| if m > 0.0 { 1.0 / m } else { 0.0 }).collect();
        Ok(Host {
            field,
            external: vec![],
            restraints: Restraining::default(),
            level,
            team,
            inverse_masses,
            masses,
            step_results: vec![StepResult::NONE; constraints.sections()],
            constraints,
            sites: SitePlan::new(&system.topology),
            cutoff: system.settings.longest_cutoff(),
            cell: None,
            positions: vec![],
            velocities: vec![],
            old: vec![],
            searched: (vec![], None),
            pruned: (vec![], None),
            evaluation: Evaluation::default(),
            coupling: Coupling::default(),
            timestep: 0.0,
            kinetic_after: 0.0,
            centres: vec![],
            scaled: vec![],
            parts: vec![[0.0; 2]; system.topology.atoms.len().div_ceil(ATOMS)],
            group_parts: vec![GroupSums::default(); groups.len().div_ceil(ATOMS)],
            groups,
            phases: Phases::default(),
            searches: 0,
        })
    }

    /// Leapfrog with constraints, section by section: the data of a section stay in cache from the kick to the constraints.
    fn leapfrog(&mut self, Leapfrog { timestep, virial, .. }: Leapfrog) -> Result<Mat3> {
        std::mem::swap(&mut self.old, &mut self.positions);
        let velocities = SharedVectors::new(&mut self.velocities);
        let motion = &Motion {
            old: &self.old,
            positions: SharedVectors::new(&mut self.positions),
            velocities: Some((velocities, 1.0 / timestep)),
        };
        let (velocities, _) = motion.velocities.as_ref().expect("given above");
        let (plan, forces, level) = (&self.constraints, &self.evaluation.forces, self.level);
        let (masses, inverse_masses) = (&self.masses, &self.inverse_masses);
        self.team.for_each(self.step_results.par_iter_mut().enumerate(), |(section, result)| {
            let part = Section { plan, section, motion, velocities, forces, masses, inverse_masses, timestep };
            *result = if virial {
                dispatch(level, LeapfrogKernel::<true>(part))
            } else {
                dispatch(level, LeapfrogKernel::<false>(part))
            };
        });
        let mut sum = Mat3::ZERO;
        for result in &self.step_results {
            sum += result.constraint_virial?;
        }
        Ok(sum)
    }

    /// Half a step before and after the forces of the last step, kJ/mol.
    fn kinetic_energies(&self) -> [f64; 2] {
        self.step_results
            .iter()
            .fold([0.0; 2], |[before, after], result| [before + result.before, after + result.after])
    }

    /// Sums over group centres for a barostat, at the time of the forces of the last step.
    fn measure_centres(&mut self) -> GroupSums {
        memory::resize(&mut self.centres, self.groups.len(), [Vec3::ZERO; 2]);
        let (groups, masses, timestep) = (&self.groups, &self.masses, self.timestep);
        let (positions, velocities, forces) = (&self.old, &self.velocities, &self.evaluation.forces);
        let chunks = self.centres.par_chunks_mut(ATOMS).zip(&mut self.group_parts).enumerate();
        self.team.for_each(chunks, |(chunk, (centres, part))| {
            *part = GroupSums::default();
            for (k, centre) in centres.iter_mut().enumerate() {
                let atoms = groups.atoms(chunk * ATOMS + k);
                let (mass, momentum, force) = totals(atoms, masses, velocities, forces);
                let before = momentum - force * timestep;
                *centre = [centre_of(atoms, masses, positions), momentum / mass];
                part.before += 0.5 * before.norm_squared() / mass;
                part.after += 0.5 * momentum.norm_squared() / mass;
                part.cross += 0.5 * before.dot(momentum) / mass;
                part.internal_virial += internal_virial(atoms, centre[0], positions, forces);
            }
        });
        self.group_parts.iter().fold(GroupSums::default(), |sum, part| sum + *part)
    }

    /// Trace of the virial of group centres at the present positions and forces, kJ/mol.
    fn centre_virial_trace(&mut self) -> f64 {
        let (groups, masses) = (&self.groups, &self.masses);
        let (positions, forces) = (&self.positions, &self.evaluation.forces);
        self.team.for_each(self.group_parts.par_iter_mut().enumerate(), |(chunk, part)| {
            let range = chunk * ATOMS..((chunk + 1) * ATOMS).min(groups.len());
            let of = |atoms| internal_virial(atoms, centre_of(atoms, masses, positions), positions, forces);
            part.internal_virial = range.map(|group| of(groups.atoms(group))).sum();
        });
        self.evaluation.virial.trace() - self.group_parts.iter().map(|part| part.internal_virial).sum::<f64>()
    }

    /// dt Σ v·F of the velocities `scaled`, and Σ m v·Δv with the change of them by constraints in the last step, kJ/mol.
    fn works_of_step(&mut self) -> [f64; 2] {
        let (masses, timestep) = (&self.masses, self.timestep);
        let velocities = self.scaled.par_chunks(ATOMS).zip(self.velocities.par_chunks(ATOMS));
        let chunks =
            self.parts.par_iter_mut().zip(velocities).zip(self.evaluation.forces.par_chunks(ATOMS)).enumerate();
        self.team.for_each(chunks, |(chunk, ((part, (before, after)), forces))| {
            *part = [0.0; 2];
            for (k, ((v, after), force)) in before.iter().zip(after).zip(forces).enumerate() {
                let by_forces = v.dot(*force) * timestep;
                part[0] += by_forces;
                part[1] += masses[chunk * ATOMS + k] * v.dot(*after - *v) - by_forces;
            }
        });
        self.parts.iter().fold([0.0; 2], |sum, part| [sum[0] + part[0], sum[1] + part[1]])
    }

    /// Before a step: books the rest of the barostat's work, and keeps the velocities for the rest of the thermostat's.
    fn finish_barostat_work(&mut self) {
        let change = std::mem::take(&mut self.coupling.pending_scaling);
        if change != 0.0 {
            self.coupling.barostat_work += ScaleFactors::half_potential_work(change, self.centre_virial_trace());
        }
        if self.coupling.pending_rescaling != 0.0 {
            memory::copy(&self.velocities, &mut self.scaled);
        }
    }

    /// After a step: books the rest of the thermostat's work.
    fn finish_thermostat_work(&mut self) {
        let rescaling = std::mem::take(&mut self.coupling.pending_rescaling);
        if rescaling != 0.0 {
            let [forces, constraints] = self.works_of_step();
            self.coupling.thermostat_work += pending_work(rescaling, forces, constraints);
        }
    }

    /// Multiply the cell, and position and velocity of each centre in [`Self::measure_centres`].
    fn scale_centres(&mut self, ScaleFactors { length_factor, velocity_factor }: ScaleFactors) {
        self.cell = self.cell.map(|cell| cell.scaled(length_factor));
        let (further, faster) = (length_factor - 1.0, velocity_factor - 1.0);
        let (groups, centres, timestep) = (&self.groups, &self.centres, self.timestep);
        let atoms = self.positions.par_iter_mut().zip(&mut self.velocities).with_min_len(ATOMS).enumerate();
        self.team.for_each(atoms, |(atom, (r, v))| {
            let [position, velocity] = centres[groups.of_atom(atom)];
            *r += position * further + velocity * (faster * timestep);
            *v += velocity * faster;
        });
        self.sites.place(&self.team, &mut self.positions);
        self.field.cell_changed(self.cell.as_ref());
    }

    /// Fails with the responsible atoms if the kinetic energy (kJ/mol) is not a number or too large.
    fn check_motion(&self, kinetic: f64) -> Result<()> {
        if kinetic <= LARGEST_KINETIC * self.masses.len() as f64 {
            return Ok(());
        }
        let lost = |atom: &usize| !self.evaluation.forces[*atom].is_finite();
        let atoms = 0..self.masses.len();
        if let Some(atom) = atoms.clone().find(lost) {
            let named: Vec<u32> = atoms.filter(lost).take(NAMED_ATOMS).map(|i| i as u32).collect();
            return Err(Error::unstable(format!("the force on atom {} is not finite", atom + 1), named));
        }
        // NaN counts as the fastest
        let energy = |atom: usize| {
            let energy = self.masses[atom] * self.velocities[atom].norm_squared();
            if energy.is_nan() { f64::INFINITY } else { energy }
        };
        let most = atoms.clone().map(energy).fold(0.0, f64::max);
        let fastest: Vec<u32> =
            atoms.filter(|&i| 2.0 * energy(i) >= most).take(NAMED_ATOMS).map(|i| i as u32).collect();
        let first = fastest.first().map_or(0, |&atom| atom as usize);
        let speed = self.velocities[first].norm();
        Err(Error::unstable(format!("atom {} flies off at {speed:.1e} nm/ps", first + 1), fastest))
    }
}

impl<F: ForceField> Backend for Host<F> {
    fn description(&self) -> String {
        self.field.description()
    }

    fn upload(&mut self, state: &State) -> Result<()> {
        self.cell = state.cell;
        memory::copy(&state.positions, &mut self.positions);
        self.sites.place(&self.team, &mut self.positions);
        memory::copy(&state.velocities, &mut self.velocities);
        memory::copy(&self.positions, &mut self.old);
        self.coupling = state.coupling;
        self.field.cell_changed(self.cell.as_ref());
        Ok(())
    }

    fn download(&self, state: &mut State) -> Result<()> {
        state.cell = self.cell;
        memory::copy(&self.positions, &mut state.positions);
        memory::copy(&self.velocities, &mut state.velocities);
        state.coupling = self.coupling;
        Ok(())
    }

    fn previous_positions(&self) -> (Option<PeriodicCell>, &[Vec3]) {
        (self.cell, &self.old)
    }

    fn cell(&self) -> Result<Option<PeriodicCell>> {
        Ok(self.cell)
    }

    fn build_lists(&mut self) -> Result<()> {
        self.searches += 1;
        self.field.rebuild(self.cell.as_ref(), &self.positions);
        memory::copy(&self.positions, &mut self.searched.0);
        self.searched.1 = self.cell;
        Ok(())
    }

    fn lists_expired(&mut self, lists: &ListSchedule, _: bool) -> Result<bool> {
        let (searched, cell) = &self.searched;
        let scale = match (&self.cell, cell) {
            (Some(now), Some(then)) => (now.volume() / then.volume()).cbrt(),
            _ => 1.0,
        };
        // a maximum does not depend on the order
        let longest_squared = (self.positions.par_iter().with_min_len(ATOMS).zip(searched))
            .map(|(now, then)| (*now - *then * scale).norm_squared())
            .reduce(|| 0.0, f64::max);
        Ok(lists.may_miss(self.cutoff, scale, longest_squared))
    }

    fn searches(&self) -> u64 {
        self.searches
    }

    fn prune_lists(&mut self, lookahead: f64) -> Result<()> {
        let predicted = &mut self.pruned.0;
        if lookahead > 0.0 {
            memory::resize(predicted, self.positions.len(), Vec3::ZERO);
            let flights = predicted.par_iter_mut().zip(&self.positions).zip(&self.velocities);
            self.team.for_each(flights, |((to, from), v)| *to = *from + *v * lookahead);
            self.sites.place(&self.team, predicted);
        } else {
            memory::copy(&self.positions, predicted);
        }
        self.pruned.1 = self.cell;
        self.field.prune(self.cell.as_ref(), &self.pruned.0);
        Ok(())
    }

    fn list_positions(&self, list: ListLevel, state: &mut State) -> Result<()> {
        let (positions, cell) = match list {
            ListLevel::Outer => &self.searched,
            ListLevel::Inner => &self.pruned,
        };
        memory::copy(positions, &mut state.positions);
        state.cell = *cell;
        Ok(())
    }

    fn forces(&mut self, workload: Workload) -> Result<()> {
        let (cell, evaluation) = (self.cell.as_ref(), &mut self.evaluation);
        self.field.evaluate(cell, &self.positions, workload, evaluation)?;
        for force in &mut self.external {
            let External { energy, virial } = force.apply(cell, &self.positions, &mut evaluation.forces);
            evaluation.energies.external += if workload.energy { energy } else { 0.0 };
            if workload.virial {
                evaluation.virial += virial;
            }
        }
        let Applied { positions, collective, virial } =
            self.restraints.apply(cell, &self.positions, &mut evaluation.forces)?;
        if workload.energy {
            evaluation.energies.position_restraint += positions;
            evaluation.energies.restraint += collective;
        }
        if workload.virial {
            evaluation.virial += virial;
        }
        let virial = self.sites.spread(&self.team, &self.positions, &mut evaluation.forces);
        if workload.virial {
            evaluation.virial += virial;
        }
        Ok(())
    }

    fn add_external_force(&mut self, force: Box<dyn ExternalForce>) -> Result<()> {
        self.external.push(force);
        Ok(())
    }

    fn restraining(&self) -> Option<&Restraining> {
        Some(&self.restraints)
    }

    fn restraining_mut(&mut self) -> Option<&mut Restraining> {
        Some(&mut self.restraints)
    }

    fn evaluation(&self) -> &Evaluation {
        &self.evaluation
    }

    fn reciprocal_forces(&self, atoms: &[u32]) -> Option<Vec<Vec3>> {
        let with_sites = self.sites.with_sites(atoms);
        let mut forces = self.field.reciprocal_forces(self.cell.as_ref(), &with_sites)?;
        self.sites.spread_listed(&self.positions, &with_sites, &mut forces);
        let wanted = with_sites.iter().zip(forces).filter(|(atom, _)| atoms.binary_search(atom).is_ok());
        Some(wanted.map(|(_, force)| force).collect())
    }

    fn integrate(&mut self, step: Leapfrog) -> Result<Kinetic> {
        let start = Instant::now();
        if step.pending_work {
            self.finish_barostat_work();
        }
        self.timestep = step.timestep;
        let constraint_virial = self.leapfrog(step)?.scaled(1.0 / step.timestep.powi(2));
        self.sites.place(&self.team, &mut self.positions);
        let [before, after] = self.kinetic_energies();
        self.kinetic_after = after;
        self.check_motion(before + after)?;
        self.restraints.book_work(step.timestep);
        if step.pending_work {
            self.finish_thermostat_work();
        }
        let threads = self.team.threads() as f64;
        let constraints =
            self.step_results.iter().map(|result| result.constraining.as_secs_f64()).sum::<f64>() / threads;
        self.phases.constraints += constraints;
        self.phases.update += start.elapsed().as_secs_f64() - constraints;
        Ok(Kinetic { before, after, constraint_virial })
    }

    fn scale_box(&mut self, box_scaling: BoxScaling) -> Result<()> {
        let Some(cell) = self.cell else { return Ok(()) };
        let GroupSums { before, after, cross, internal_virial } = self.measure_centres();
        let (trace, volume) = (self.evaluation.virial.trace() - internal_virial, cell.volume());
        let scaling = box_scaling.factors(pressure(0.5 * (before + after), trace, volume), volume)?;
        let change = scaling.length_factor.ln();
        self.coupling.barostat_work +=
            scaling.kinetic_work(after, cross) + ScaleFactors::half_potential_work(change, trace);
        self.coupling.pending_scaling = change;
        self.scale_centres(scaling);
        self.kinetic_after += scaling.kinetic_change(after);
        self.cell.map_or(Ok(()), |cell| check_minimum_image(&cell, self.cutoff))
    }

    fn rescale_velocities(&mut self, rescaling: Rescaling) -> Result<()> {
        let factor = rescaling.factor(self.kinetic_after)?;
        self.coupling.thermostat_work += scaling_work(self.kinetic_after, factor);
        self.coupling.pending_rescaling = pending(factor);
        self.team.for_each(self.velocities.par_iter_mut(), |v| *v = *v * factor);
        Ok(())
    }

    fn refresh_velocities(&mut self, refreshment: Refreshment) -> Result<()> {
        let start = Instant::now();
        let velocities = SharedVectors::new(&mut self.velocities);
        let motion = &Motion {
            old: &self.old,
            positions: SharedVectors::new(&mut self.positions),
            // half a step of the move is mended
            velocities: Some((velocities, 2.0 / self.timestep)),
        };
        let (velocities, _) = motion.velocities.as_ref().expect("given above");
        let (plan, forces, level, timestep) = (&self.constraints, &self.evaluation.forces, self.level, self.timestep);
        let (masses, inverse_masses, groups) = (&self.masses, &self.inverse_masses, &self.groups);
        self.team.for_each(self.step_results.par_iter_mut().enumerate(), |(section, result)| {
            let section = Section { plan, section, motion, velocities, forces, masses, inverse_masses, timestep };
            *result = dispatch(level, RefreshKernel { section, groups, refreshment });
        });
        self.step_results.iter().try_for_each(|result| result.constraint_virial.map(|_| ()))?;
        self.sites.place(&self.team, &mut self.positions);
        let [_, after] = self.kinetic_energies();
        self.coupling.thermostat_work += after - self.kinetic_after;
        self.kinetic_after = after;
        self.phases.update += start.elapsed().as_secs_f64();
        Ok(())
    }

    fn coupling(&self) -> Result<Coupling> {
        Ok(self.coupling)
    }

    fn remove_com_motion(&mut self) -> Result<()> {
        if self.cell.is_some() {
            remove_translation(&self.masses, &mut self.velocities);
        } else {
            remove_translation_and_rotation(&self.masses, &self.positions, &mut self.velocities);
        }
        Ok(())
    }

    fn phases(&self) -> Result<Phases> {
        let mut phases = self.field.phases();
        phases.update += self.phases.update;
        phases.constraints += self.phases.constraints;
        Ok(phases)
    }

    fn pair_counts(&self) -> Result<PairCounts> {
        Ok(self.field.pair_counts())
    }
}
