//! Integration in host memory: the state, leapfrog, constraints and couplings, with the forces of any [`ForceField`].
//!
//! All data are `f64` in topology order. Sums are accumulated in fixed order over fixed sections of atoms, so the
//! results are the same bit for bit for any number of threads.

use super::leapfrog::{Section, StepResult};
use super::refresh::Refresh;
use super::{
    Backend, Evaluation, External, ExternalForce, ForceField, Kinetic, Leapfrog, ListLevel, PairCounts, Phases,
    Workload, volume_move,
};
use crate::cell::PeriodicCell;
use crate::constraint::{ConstraintPlan, Drift, Motion, RemovedMotion, SharedVectors};
use crate::ensemble::barostat::BoxScaling;
use crate::ensemble::groups::{PerGroup, TemperatureGroups};
use crate::ensemble::motion::{momentum, remove_translation_and_rotation, remove_velocity};
use crate::ensemble::multiple_time_steps::LongRange;
use crate::ensemble::refreshment::Refreshment;
use crate::ensemble::thermostat::VelocityChange;
use crate::ensemble::volume_trial::VolumeTrial;
use crate::error::{Error, Result};
use crate::memory;
use crate::pair::ListSchedule;
use crate::restraint::{Applied, Restraining, RestraintProgress, Restraints};
use crate::simd::Level;
use crate::system::{Coupling, ImpulseCycle, Molecules, State, System};
use crate::team::Team;
use crate::vec3::{Mat3, Vec3};
use crate::virtual_sites::SitePlan;
use rayon::prelude::*;
use restraints::CollectiveAtoms;
use scaling::Centers;
use std::sync::Arc;
use std::time::Instant;
use velocities::RescalingScratch;
use volume::{SharedMolecules, TrialScratch};

pub(super) mod failure;
mod home;
mod impulse;
mod restraints;
mod scaling;
mod volume;

mod velocities;

/// Number of atoms per parallel task.
const ATOMS: usize = 1024;

/// Data of the home atoms that change only when atoms migrate to other processes.
#[derive(Default)]
struct Atoms {
    /// masses, amu
    masses: Vec<f64>,
    /// 1/mass, zero for massless sites, amu⁻¹
    inverse_masses: Vec<f64>,
    constraints: ConstraintPlan,
    sites: SitePlan,
    /// constraint groups (atoms connected by constraints)
    groups: Molecules,
    /// whole molecules, or the parts of molecules among the home atoms of this process; a Monte Carlo volume move
    /// scales the centers of mass of whole molecules
    molecules: Molecules,
    /// parts of those molecules that may have atoms in several processes; `None` before the first volume move
    shared: Option<SharedMolecules>,
}

impl Atoms {
    fn new(system: &System) -> Result<Self> {
        let masses: Vec<f64> = system.topology.atoms.iter().map(|atom| atom.mass).collect();
        let constraints = || ConstraintPlan::new(&system.constraints, &masses);
        let (constraints, groups) = rayon::join(constraints, || system.constrained_groups());
        Ok(Atoms {
            inverse_masses: masses.iter().map(|&m| if m > 0.0 { 1.0 / m } else { 0.0 }).collect(),
            constraints: constraints?,
            sites: SitePlan::new(&system.topology),
            groups,
            molecules: system.topology.molecules(),
            shared: None,
            masses,
        })
    }
}

/// Positions and cell from which a pair list was built.
#[derive(Default)]
struct ListOrigin {
    positions: Vec<Vec3>,
    cell: Option<PeriodicCell>,
}

/// The state of a run in host memory.
pub struct Host<F> {
    field: F,
    external: Vec<Box<dyn ExternalForce>>,
    restraints: Restraining,
    /// atoms of collective variables; used only if several processes hold the atoms of the system
    collective: CollectiveAtoms,
    level: Level,
    team: Arc<Team>,
    atoms: Atoms,
    /// the longer of the Coulomb and Lennard-Jones cutoffs, nm; infinite without a cutoff
    cutoff: f64,
    cell: Option<PeriodicCell>,
    positions: Vec<Vec3>,
    velocities: Vec<Vec3>,
    /// positions at the start of the last step
    old: Vec<Vec3>,
    /// positions and cells from which the outer and the inner list were built, indexed by [`ListLevel`]
    lists: [ListOrigin; 2],
    evaluation: Evaluation,
    coupling: Coupling,
    cycle: ImpulseCycle,
    /// scratch memory: changes of the accelerations by constraints
    accelerations: Vec<Vec3>,
    /// time step of the last step, ps
    timestep: f64,
    /// kinetic energy of the present velocities, which includes changes by the barostat after the last step, kJ/mol
    kinetic_after: f64,
    /// results of the last step, one per section of the constraint plan (a range of consecutive atoms; no constraint
    /// connects two sections)
    step_results: Vec<StepResult>,
    /// temperature groups of the home atoms (the next field holds those of the whole system); `None` if all atoms share
    /// one heat bath
    temperature_groups: Option<Arc<TemperatureGroups>>,
    all_temperature_groups: Option<Arc<TemperatureGroups>>,
    centers: Centers,
    rescaling: RescalingScratch,
    trial: TrialScratch,
    /// error of the last step in this process, which has not yet been reported to the other processes
    failure: Option<Error>,
    phases: Phases,
    searches: u64,
}

impl<F: ForceField> Host<F> {
    /// Creates a host backend for `system` with a force field of the same system.
    pub fn new(system: &System, field: F, level: Level, team: Arc<Team>) -> Result<Self> {
        let mut host = Host {
            field,
            external: vec![],
            restraints: Restraining::default(),
            collective: CollectiveAtoms::default(),
            level,
            team,
            atoms: Atoms::default(),
            step_results: vec![],
            cutoff: system.settings.longest_cutoff(),
            cell: None,
            positions: vec![],
            velocities: vec![],
            old: vec![],
            lists: Default::default(),
            evaluation: Evaluation::default(),
            coupling: Coupling::default(),
            cycle: ImpulseCycle::default(),
            accelerations: vec![],
            timestep: 0.0,
            kinetic_after: 0.0,
            centers: Centers::default(),
            rescaling: RescalingScratch::default(),
            trial: TrialScratch::default(),
            temperature_groups: None,
            all_temperature_groups: None,
            failure: None,
            phases: Phases::default(),
            searches: 0,
        };
        host.adopt(system)?;
        Ok(host)
    }

    /// Returns the force field.
    pub(super) fn field(&self) -> &F {
        &self.field
    }

    /// Returns a mutable reference to the force field.
    pub(super) fn field_mut(&mut self) -> &mut F {
        &mut self.field
    }

    /// Integrates a leapfrog step with constraints, section by section. The data of a section stay in cache from the
    /// velocity update (kick) through the constraints to an optional velocity refreshment. Returns the virial of the
    /// constraint forces times the square of the time step, amu nm².
    fn leapfrog(&mut self, step: Leapfrog, refreshment: Option<&Refreshment>) -> Result<Mat3> {
        std::mem::swap(&mut self.old, &mut self.positions);
        let timestep = step.timestep;
        let velocities = SharedVectors::new(&mut self.velocities);
        let motion = &Motion {
            old: &self.old,
            positions: SharedVectors::new(&mut self.positions),
            velocities: Some((velocities, 1.0 / timestep)),
        };
        let (velocities, _) = motion.velocities.as_ref().expect("given above");
        let (plan, forces, level) = (&self.atoms.constraints, self.evaluation.acting(), self.level);
        let (masses, inverse_masses) = (&self.atoms.masses, &self.atoms.inverse_masses);
        let refresh = refreshment.map(|refreshment| Refresh {
            plan,
            drift: Drift { positions: &motion.positions, velocities, half: 0.5 * timestep },
            masses,
            inverse_masses,
            groups: &self.atoms.groups,
            temperature_groups: self.temperature_groups.as_deref(),
            refreshment,
            home: self.field.home(),
        });
        self.team.for_each(self.step_results.par_iter_mut().enumerate(), |(section, result)| {
            let part = Section { plan, section, motion, velocities, forces, masses, inverse_masses, timestep };
            *result = part.advance(level, step.virial, refresh);
        });
        let mut sum = Mat3::ZERO;
        for result in &self.step_results {
            sum += result.constraint_virial.map_err(|failure| self.named(failure))?;
        }
        Ok(sum)
    }

    /// Returns three kinetic energies of the last step in kJ/mol: half a step before the time of the forces, half a
    /// step after the time of the forces, and after a velocity refreshment.
    fn kinetic_energies(&self) -> [f64; 3] {
        self.step_results.iter().fold([0.0; 3], |[before, after, renewed], result| {
            [before + result.before, after + result.after, renewed + result.renewed]
        })
    }

    /// Integrates one step, optionally with a velocity refreshment in the middle of the step.
    fn move_atoms(&mut self, step: Leapfrog, refreshment: Option<&Refreshment>) -> Result<Kinetic> {
        let start = Instant::now();
        if step.pending_work {
            self.finish_barostat_work();
            if !self.coupling.pending_rescaling.is_empty() {
                memory::copy(&self.velocities, &mut self.rescaling.scaled);
            }
        }
        self.timestep = step.timestep;
        self.follow_impulses(step.refreshed);
        let along = if step.virial { self.kinetic_along() } else { Vec3::ZERO };
        let grouped = step.kinetic && self.temperature_groups.is_some();
        let mut of_groups = if grouped { self.kinetic_of_groups() } else { PerGroup::new() };
        let virial = self.leapfrog(step, refreshment);
        let mut constraint_virial = self.moved(virial)?.scaled(1.0 / step.timestep.powi(2));
        if step.virial {
            let surplus = self.surplus_of_impulse();
            constraint_virial += self.delayed(surplus, Mat3::ZERO)?.scaled(-1.0);
            self.field.sum(constraint_virial.0.as_flattened_mut());
        }
        self.atoms.sites.place(&self.team, &mut self.positions);
        let mut sums = self.kinetic_energies();
        if step.kinetic || step.coupled || step.pending_work || refreshment.is_some() {
            self.field.sum(&mut sums);
        }
        let [before, after, renewed] = sums;
        let along = if step.virial { (along + self.kinetic_along()) * 0.5 } else { Vec3::ZERO };
        if grouped {
            of_groups.iter_mut().zip(self.kinetic_of_groups()).for_each(|(sum, after)| *sum = 0.5 * (*sum + after));
        }
        self.kinetic_after = after;
        self.restraints.book_work(step.timestep);
        if step.pending_work {
            self.finish_thermostat_work();
        }
        if refreshment.is_some() {
            self.book_refreshment(renewed);
            self.book_lead(None);
        }
        let threads = self.team.threads() as f64;
        let constraints =
            self.step_results.iter().map(|result| result.constraining.as_secs_f64()).sum::<f64>() / threads;
        self.phases.constraints += constraints;
        self.phases.update += start.elapsed().as_secs_f64() - constraints;
        Ok(Kinetic { before, after, along, constraint_virial, of_groups })
    }
}

impl<F: ForceField> Backend for Host<F> {
    fn description(&self) -> String {
        self.field.description()
    }

    fn upload(&mut self, state: &State) -> Result<()> {
        self.cell = state.cell;
        memory::copy(&state.positions, &mut self.positions);
        self.atoms.sites.place(&self.team, &mut self.positions);
        memory::copy(&state.velocities, &mut self.velocities);
        memory::copy(&self.positions, &mut self.old);
        self.coupling.clone_from(&state.coupling);
        self.cycle.clone_from(&state.cycle);
        self.field.cell_changed(self.cell.as_ref());
        Ok(())
    }

    fn download(&self, state: &mut State) -> Result<()> {
        state.cell = self.cell;
        memory::copy(&self.positions, &mut state.positions);
        memory::copy(&self.velocities, &mut state.velocities);
        state.coupling.clone_from(&self.coupling);
        state.cycle.clone_from(&self.cycle);
        Ok(())
    }

    fn previous_positions(&self) -> (Option<PeriodicCell>, &[Vec3]) {
        (self.cell, &self.old)
    }

    fn cell(&self) -> Result<Option<PeriodicCell>> {
        Ok(self.cell)
    }

    fn build_lists(&mut self) -> Result<()> {
        self.check_steps()?;
        self.searches += 1;
        self.migrate()?;
        self.field.rebuild(self.cell.as_ref(), &self.positions);
        let start = Instant::now();
        let origin = &mut self.lists[ListLevel::Outer as usize];
        memory::copy(&self.positions, &mut origin.positions);
        origin.cell = self.cell;
        self.phases.search += start.elapsed().as_secs_f64();
        Ok(())
    }

    fn lists_expired(&mut self, lists: &ListSchedule, must_know: bool) -> Result<bool> {
        if must_know {
            self.check_steps()?;
        }
        if !lists.is_exact() {
            return Ok(false);
        }
        let ListOrigin { positions: searched, cell } = &self.lists[ListLevel::Outer as usize];
        let scale = match (&self.cell, cell) {
            (Some(now), Some(then)) => now.stretch_since(then),
            _ => Vec3::splat(1.0),
        };
        // the loop may be parallel, because a maximum does not depend on the order of evaluation
        let longest_squared = (self.positions.par_iter().with_min_len(ATOMS).zip(searched))
            .map(|(now, then)| (*now - then.stretched(scale)).norm_squared())
            .reduce(|| 0.0, f64::max);
        let longest_squared = self.field.largest(longest_squared);
        Ok(lists.may_miss(self.cutoff, scale.x.min(scale.y).min(scale.z), longest_squared))
    }

    fn searches(&self) -> u64 {
        self.searches
    }

    fn prune_lists(&mut self, lookahead: f64) -> Result<()> {
        let start = Instant::now();
        let ListOrigin { positions: predicted, cell } = &mut self.lists[ListLevel::Inner as usize];
        *cell = self.cell;
        if lookahead > 0.0 && !self.velocities.is_empty() {
            memory::resize(predicted, self.positions.len(), Vec3::ZERO);
            let flights = predicted.par_iter_mut().zip(&self.positions).zip(&self.velocities);
            self.team.for_each(flights, |((to, from), v)| *to = *from + *v * lookahead);
            self.atoms.sites.place(&self.team, predicted);
        } else {
            memory::copy(&self.positions, predicted);
        }
        self.phases.search += start.elapsed().as_secs_f64();
        self.field.prune(self.cell.as_ref(), predicted, 0.0);
        Ok(())
    }

    fn list_positions(&self, list: ListLevel, state: &mut State) -> Result<()> {
        let ListOrigin { positions, cell } = &self.lists[list as usize];
        memory::copy(positions, &mut state.positions);
        state.cell = *cell;
        Ok(())
    }

    fn forces(&mut self, workload: Workload) -> Result<()> {
        self.restraints.set_time(workload.restraint_time);
        let (cell, evaluation) = (self.cell.as_ref(), &mut self.evaluation);
        self.field.evaluate(cell, &self.positions, workload, evaluation)?;
        for force in &mut self.external {
            let External { energy, virial } = force.apply(cell, &self.positions, &mut evaluation.forces);
            evaluation.energies.external += if workload.energy { energy } else { 0.0 };
            if workload.virial {
                evaluation.virial += virial;
            }
        }
        let Applied { positions, collective, virial } = self.add_restraints()?;
        let evaluation = &mut self.evaluation;
        if workload.energy {
            evaluation.energies.position_restraint += positions;
            evaluation.energies.restraint += collective;
        }
        if workload.virial {
            evaluation.virial += virial;
        }
        let virial = self.atoms.sites.spread(&self.team, &self.positions, &mut evaluation.forces);
        if workload.virial {
            evaluation.virial += virial;
        }
        if let LongRange::Apart { weight } = workload.long_range {
            self.add_impulse(f64::from(weight), workload.virial);
        }
        self.sum_evaluation(workload)
    }

    fn add_external_force(&mut self, force: Box<dyn ExternalForce>) -> Result<()> {
        self.external.push(force);
        Ok(())
    }

    fn restrain(&mut self, restraints: &Restraints, progress: &[RestraintProgress]) -> Result<()> {
        self.restraints = Restraining::new(restraints.clone(), progress);
        if self.field.home().is_some() {
            self.collective = CollectiveAtoms::of(&self.restraints);
            self.take_home_restraints();
        }
        Ok(())
    }

    fn restraining(&self) -> Option<&Restraining> {
        Some(&self.restraints)
    }

    fn evaluation(&self) -> &Evaluation {
        &self.evaluation
    }

    fn reciprocal_forces(&self, atoms: &[u32]) -> Option<Vec<Vec3>> {
        let with_sites = self.atoms.sites.with_sites(atoms);
        let mut forces = self.field.reciprocal_forces(self.cell.as_ref(), &with_sites)?;
        self.atoms.sites.spread_listed(&self.positions, &with_sites, &mut forces);
        let wanted = with_sites.iter().zip(forces).filter(|(atom, _)| atoms.binary_search(atom).is_ok());
        Some(wanted.map(|(_, force)| force).collect())
    }

    fn integrate(&mut self, step: Leapfrog, refreshment: Option<&Refreshment>) -> Result<Kinetic> {
        self.move_atoms(step, refreshment)
    }

    fn scale_box(&mut self, box_scaling: BoxScaling) -> Result<()> {
        self.scale(box_scaling)
    }

    fn try_volume(&mut self, trial: &VolumeTrial, workload: Workload, lists: &ListSchedule) -> Result<()> {
        let cell = self.cell;
        let done = volume_move::try_volume(self, trial, workload, lists);
        self.trial.clear();
        if done.is_err() {
            // the positions before the step, which an error message describes, belong to this cell
            self.cell = cell;
        }
        done
    }

    fn set_temperature_groups(&mut self, groups: &Arc<TemperatureGroups>) -> Result<()> {
        self.all_temperature_groups = Some(Arc::clone(groups));
        self.take_part();
        Ok(())
    }

    fn change_velocities(&mut self, change: &VelocityChange) -> Result<()> {
        match change {
            VelocityChange::Rescale(rescalings) => self.rescale(rescalings),
            VelocityChange::NoseHoover(chains) => self.rescale_by_chains(chains),
            VelocityChange::Refresh(refreshment) => self.refresh(refreshment),
        }
    }

    fn coupling(&self) -> Result<Coupling> {
        Ok(self.coupling.clone())
    }

    fn remove_com_motion(&mut self, motion: RemovedMotion) -> Result<()> {
        let removed = match motion {
            RemovedMotion::Nothing => 0.0,
            RemovedMotion::Translation => {
                let mut momentum = momentum(&self.atoms.masses, &self.velocities);
                self.field.sum(&mut momentum);
                remove_velocity(momentum, &self.atoms.masses, &mut self.velocities)
            }
            RemovedMotion::TranslationAndRotation => {
                remove_translation_and_rotation(&self.atoms.masses, &self.positions, &mut self.velocities)
            }
        };
        self.coupling.thermostat_work -= removed;
        self.kinetic_after -= removed;
        Ok(())
    }

    fn phases(&self) -> Result<Phases> {
        let mut phases = self.field.phases();
        phases.search += self.phases.search;
        phases.update += self.phases.update;
        phases.constraints += self.phases.constraints;
        Ok(phases)
    }

    fn pair_counts(&self) -> Result<PairCounts> {
        Ok(self.field.pair_counts())
    }
}
