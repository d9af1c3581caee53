//! Restraints of collective variables over the steps of a stage: centres that move, and their work.
//!
//! A moving centre ξ₀(t) = ξ₀ + v t makes the energy depend on time. Take it for one more coordinate, of infinite mass, which
//! moves at v whatever acts on it: its momentum p obeys dp/dt = −∂U/∂ξ₀, and K + U + v p is conserved. W = −v p is the work
//! that the centre has done, dW/dt = v ∂U/∂ξ₀ = v f with the force f = −∂U/∂ξ on the variable. Leapfrog of this coordinate
//! along with the others kicks p with the forces of whole steps:
//!
//! W(t+½) = W(t−½) + v f(t) dt, and W(t) is the mean of both, zero at the start of the stage.
//!
//! This is the trapezoidal rule for ∫ v f dt. Leapfrog conserves K + U − W as it does the energy where nothing moves: with a
//! fluctuation of order dt² and no drift. The force constant k of position restraints may change with time, too, which does
//! the work ∂U/∂k dk in the same way.

use super::{Configuration, PositionRestraints, Potential, Restraints, Variable, VariableKind};
use crate::cell::PeriodicCell;
use crate::error::{Error, Problem, Result};
use crate::image::Image;
use crate::vec3::{Mat3, Vec3};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A restraint of a collective variable.
#[derive(Clone, Debug, PartialEq)]
pub struct CollectiveRestraint {
    /// what is restrained
    pub variable: Variable,
    /// its energy
    pub potential: Potential,
}

/// What the rest of a stage depends on, of one restraint.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RestraintProgress {
    /// lattice images of the molecules of its groups, as they were gathered at the start of the stage; `None` before
    images: Option<Vec<Image>>,
    /// the centre at the start of the stage, once it is known
    center: Option<f64>,
    /// W half a step after the last step, kJ/mol; `None` before the first
    work: Option<f64>,
}

impl RestraintProgress {
    /// The work done in the stage, kJ/mol: half a step after its last step.
    pub fn work(&self) -> f64 {
        self.work.unwrap_or(0.0)
    }
}

/// A restraint at a step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RestraintSample {
    /// ξ, nm or rad
    pub value: f64,
    /// ξ₀ of that time, nm or rad; NaN of a constant force
    pub center: f64,
    /// f = −∂U/∂ξ, kJ/mol/nm or kJ/mol/rad
    pub force: f64,
    /// U, kJ/mol
    pub energy: f64,
    /// W of that time since the start of the stage, kJ/mol; known after the step
    pub work: f64,
}

/// All restraints at a step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Samples {
    /// of collective variables
    pub collective: Vec<RestraintSample>,
    /// ∂U/∂k of each of the position restraints, nm²
    slopes: Vec<f64>,
    /// W of the position restraints of that time since the start of the stage, kJ/mol; known after the step
    work: f64,
}

/// Energies (kJ/mol) and virial of restraints.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Applied {
    /// of positions
    pub positions: f64,
    /// of collective variables
    pub collective: f64,
    /// Σ r⊗F
    pub virial: Mat3,
}

/// The restraints of a stage in progress.
#[derive(Clone, Debug, Default)]
pub struct Restraining {
    restraints: Restraints,
    /// of each collective restraint, and of all position restraints together
    progress: Vec<RestraintProgress>,
    samples: Samples,
    /// ps since the start of the stage
    time: f64,
}

impl Restraining {
    /// Of a stage that begins, or goes on after what has been `progress`.
    pub fn new(restraints: Restraints, progress: &[RestraintProgress]) -> Self {
        let count = restraints.collective.len();
        let begins = vec![RestraintProgress::default(); count + 1];
        let progress = if progress.is_empty() { begins } else { progress.to_vec() };
        let slopes = vec![0.0; restraints.positions.len()];
        let samples = Samples { collective: vec![RestraintSample::default(); count], slopes, work: 0.0 };
        Restraining { restraints, progress, samples, time: 0.0 }
    }

    /// Centres are those of this time from now on, ps since the start of the stage.
    pub fn set_time(&mut self, time: f64) {
        self.time = time;
    }

    /// The time set last, ps since the start of the stage.
    pub fn time(&self) -> f64 {
        self.time
    }

    /// Those of positions.
    pub fn position_restraints(&self) -> &[Arc<PositionRestraints>] {
        &self.restraints.positions
    }

    /// Whether the force constant of some position restraint changes with time.
    pub fn changes(&self) -> bool {
        self.restraints.positions.iter().any(|restraints| restraints.force_constant.points().len() > 1)
    }

    /// The work of position restraints in the stage, half a step after its last, kJ/mol; `None` before the first.
    pub fn work_of_positions(&self) -> Option<f64> {
        self.progress.last().and_then(|progress| progress.work)
    }

    /// From a device that books it by itself: that work, and the work at the last step.
    pub fn set_work_of_positions(&mut self, after: f64, at_step: f64) {
        if let Some(progress) = self.progress.last_mut() {
            progress.work = Some(after);
        }
        self.samples.work = at_step;
    }

    /// For a checkpoint.
    pub fn progress(&self) -> &[RestraintProgress] {
        &self.progress
    }

    /// Collective restraints at the last [`Self::apply`].
    pub fn samples(&self) -> &[RestraintSample] {
        &self.samples.collective
    }

    /// All restraints at the last [`Self::apply`].
    pub fn all_samples(&self) -> &Samples {
        &self.samples
    }

    /// Takes back what [`Self::apply`] has found since these samples.
    pub fn restore(&mut self, samples: &Samples) {
        self.samples.clone_from(samples);
    }

    /// Adds forces (kJ/mol/nm) on atoms at `positions` (nm, not wrapped). Fails where a force may be that of the wrong
    /// periodic image.
    pub fn apply(&mut self, cell: Option<&PeriodicCell>, positions: &[Vec3], forces: &mut [Vec3]) -> Result<Applied> {
        let mut applied = Applied::default();
        for (restraints, slope) in self.restraints.positions.iter().zip(&mut self.samples.slopes) {
            let k = restraints.force_constant.at(self.time);
            let (half_squares, virial) = restraints.apply(k, cell, positions, forces);
            *slope = half_squares;
            applied.positions += k * half_squares;
            applied.virial += virial;
        }
        let running = self.progress.iter_mut().zip(&mut self.samples.collective);
        for (index, (restraint, (progress, sample))) in self.restraints.collective.iter().zip(running).enumerate() {
            let CollectiveRestraint { variable, potential } = restraint.as_ref();
            let images = progress.images.get_or_insert_with(|| variable.gather(cell, positions));
            let at = Configuration { cell, positions, images };
            let found = variable.find(at);
            let center = match potential {
                Potential::Well(well) => {
                    *progress.center.get_or_insert(well.center.unwrap_or(found.value)) + well.rate * self.time
                }
                Potential::Force(_) => f64::NAN,
            };
            let periodic = variable.kind() == VariableKind::Torsion;
            let (energy, force) = potential.at(found.value, center, periodic);
            if found.ambiguous && force != 0.0 {
                return Err(too_far(index, found.value));
            }
            applied.virial += variable.push(&found, force, at, forces);
            applied.collective += energy;
            *sample = RestraintSample { value: found.value, center, force, energy, work: sample.work };
        }
        Ok(applied)
    }

    /// The work of all restraints in the stage at the time of the last step, kJ/mol.
    pub fn work(&self) -> f64 {
        self.samples.collective.iter().map(|sample| sample.work).sum::<f64>() + self.samples.work
    }

    /// After a step of `timestep` (ps): the work of the centres that have moved, and of the force constants that have changed,
    /// with the forces of the last [`Self::apply`].
    pub fn book_work(&mut self, timestep: f64) {
        if let (Some(progress), false) = (self.progress.last_mut(), self.restraints.positions.is_empty()) {
            let change = |from: f64, to: f64| -> f64 {
                let restraints = self.restraints.positions.iter().zip(&self.samples.slopes);
                let k = |restraints: &PositionRestraints, time: f64| restraints.force_constant.at(self.time + time);
                restraints.map(|(restraints, slope)| (k(restraints, to) - k(restraints, from)) * slope).sum()
            };
            let work = progress.work.map_or(0.0, |before| before + change(-0.5 * timestep, 0.0));
            progress.work = Some(work + change(0.0, 0.5 * timestep));
            self.samples.work = work;
        }
        let running = self.progress.iter_mut().zip(&mut self.samples.collective);
        for (restraint, (progress, sample)) in self.restraints.collective.iter().zip(running) {
            let Potential::Well(well) = restraint.potential else { continue };
            let half = 0.5 * well.rate * sample.force * timestep;
            sample.work = progress.work.map_or(0.0, |before| before + half);
            progress.work = Some(sample.work + half);
        }
    }

    /// True where something is restrained.
    pub fn acts(&self) -> bool {
        !self.restraints.is_empty()
    }

    /// Adds the forces of the last [`Self::apply`] again, which was at the same positions.
    pub fn again(&self, cell: Option<&PeriodicCell>, positions: &[Vec3], forces: &mut [Vec3]) {
        for restraints in &self.restraints.positions {
            restraints.apply(restraints.force_constant.at(self.time), cell, positions, forces);
        }
        let running = self.progress.iter().zip(&self.samples.collective);
        for (restraint, (progress, sample)) in self.restraints.collective.iter().zip(running) {
            let at = Configuration { cell, positions, images: progress.images.as_deref().unwrap_or_default() };
            let found = restraint.variable.find(at);
            restraint.variable.push(&found, sample.force, at, forces);
        }
    }
}

/// Not an instability: a minimisation is not to go around it.
fn too_far(index: usize, value: f64) -> Error {
    let message = format!(
        "restraint {} of the stage reaches so far through the periodic cell (its value is {value:.4}) that the nearest images \
         of its groups are not certain",
        index + 1
    );
    Problem::new(message).help("take a larger cell, or fewer components in along").into()
}
