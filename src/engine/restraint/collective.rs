//! Restraints of collective variables during a stage: moving centers, and the work of the restraints.
//!
//! A moving center ξ₀(t) = ξ₀ + v t makes the energy depend on time. The center can be treated as an additional
//! coordinate of infinite mass, whose velocity v does not depend on forces. The momentum p of the center obeys dp/dt =
//! −∂U/∂ξ₀. The sum K + U + v p is conserved, with the kinetic energy K, the potential energy U, and the velocity v and
//! the momentum p of the center. The work done by a center with the velocity v and the momentum p is W = −v p. The work
//! obeys dW/dt = v ∂U/∂ξ₀ = v f, where f = −∂U/∂ξ is the force on the variable. Leapfrog changes the momentum p of the
//! center at whole steps, together with the momenta of the atoms. The notation t±½ stands for t±½dt.
//!
//! The work at half steps is W(t+½) = W(t−½) + v f(t) dt, where v is the velocity of the center and f is the force on
//! the variable. The work at steps is W(t) = ½ (W(t−½) + W(t+½)), which is zero at the start of the stage.
//!
//! The work W of a moving center is integrated by the trapezoidal rule for ∫ v f dt, where v is the velocity of the
//! center and f is the force on the variable. Leapfrog conserves the total energy minus the work, K + U − W, with a
//! fluctuation of order dt² and without drift. Without moving centers, leapfrog conserves the total energy K + U
//! equally well. The force constant k of position restraints may also change with time. The work of a change of the
//! force constant is ∫ ∂U/∂k dk, which is integrated by the trapezoidal rule, too.

use super::{Configuration, PositionRestraints, Potential, Restraints, Variable, VariableKind};
use crate::cell::PeriodicCell;
use crate::error::{Error, Problem, Result};
use crate::image::Image;
use crate::vec3::{Mat3, Vec3};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A restraint of a collective variable.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CollectiveRestraint {
    /// the restrained variable
    pub variable: Variable,
    /// energy of the restraint as a function of the variable
    pub potential: Potential,
}

/// State of one restraint in a stage, which a checkpoint stores to resume the stage.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RestraintProgress {
    /// lattice images to which the molecules of the variable's groups are shifted, chosen at the start of the stage;
    /// `None` before the first evaluation
    images: Option<Vec<Image>>,
    /// center ξ₀ at the start of the stage, nm or rad; `None` before the first evaluation
    center: Option<f64>,
    /// work W half a step after the last step, kJ/mol; `None` before the first step
    work: Option<f64>,
}

impl RestraintProgress {
    /// Center ξ₀ at the start of the stage, nm or rad; `None` before the first evaluation.
    pub fn first_center(&self) -> Option<f64> {
        self.center
    }

    /// Work that the restraint has done in the stage until half a step after the last step, kJ/mol.
    pub fn work(&self) -> f64 {
        self.work.unwrap_or(0.0)
    }
}

/// Values of one restraint at a step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RestraintSample {
    /// value ξ of the variable, nm or rad
    pub value: f64,
    /// center ξ₀ at the step, nm or rad; NaN for a constant force
    pub center: f64,
    /// force f = −∂U/∂ξ, kJ/mol/nm or kJ/mol/rad
    pub force: f64,
    /// energy U, kJ/mol
    pub energy: f64,
    /// work W since the start of the stage, kJ/mol; set by [`Restraining::book_work`] after the step
    pub work: f64,
}

/// Values of all restraints at a step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Samples {
    /// values of the restraints of collective variables
    pub collective: Vec<RestraintSample>,
    /// derivative ∂U/∂k of the energy U with respect to the force constant k, for each set of position restraints, nm²
    slopes: Vec<f64>,
    /// work W of all position restraints since the start of the stage, kJ/mol; set by [`Restraining::book_work`]
    /// after the step
    work: f64,
}

/// Energies (kJ/mol) and virial (kJ/mol) of restraints.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Applied {
    /// energy of position restraints
    pub positions: f64,
    /// energy of restraints of collective variables
    pub collective: f64,
    /// virial Σ r⊗F
    pub virial: Mat3,
}

/// Restraints of a stage in progress, with the state that a checkpoint stores.
#[derive(Clone, Debug, Default)]
pub struct Restraining {
    restraints: Restraints,
    /// position restraints of the home atoms of this process; atom indices count only the home atoms
    held: Vec<Arc<PositionRestraints>>,
    /// state of each collective restraint, followed by one state for all position restraints together
    progress: Vec<RestraintProgress>,
    samples: Samples,
    /// time since the start of the stage, ps
    time: f64,
}

impl Restraining {
    /// Starts a stage, or resumes it from `progress` if `progress` is not empty.
    pub fn new(restraints: Restraints, progress: &[RestraintProgress]) -> Self {
        let count = restraints.collective.len();
        let begins = vec![RestraintProgress::default(); count + 1];
        let progress = if progress.is_empty() { begins } else { progress.to_vec() };
        let slopes = vec![0.0; restraints.positions.len()];
        let samples = Samples { collective: vec![RestraintSample::default(); count], slopes, work: 0.0 };
        Restraining { held: restraints.positions.clone(), restraints, progress, samples, time: 0.0 }
    }

    /// Restricts the position restraints to the home atoms of this process. `number` converts the index of an atom in
    /// the whole system to the index among the home atoms, and returns `None` for an atom of another process.
    pub fn take_home(&mut self, number: impl Fn(u32) -> Option<u32>) {
        self.held = self.restraints.positions.iter().map(|all| Arc::new(all.part(&number))).collect();
    }

    /// Sets the time (ps since the start of the stage) for which [`Self::apply`] evaluates the restraints.
    pub fn set_time(&mut self, time: f64) {
        self.time = time;
    }

    /// Time (ps since the start of the stage) for which [`Self::apply`] evaluates the restraints.
    pub fn time(&self) -> f64 {
        self.time
    }

    /// Position restraints of the stage, for all atoms of the system.
    pub fn position_restraints(&self) -> &[Arc<PositionRestraints>] {
        &self.restraints.positions
    }

    /// Whether the force constant of any position restraint changes with time.
    pub fn changes(&self) -> bool {
        self.restraints.positions.iter().any(|restraints| restraints.force_constant.points().len() > 1)
    }

    /// Work of position restraints in the stage, half a step after the last completed step, kJ/mol; `None` before the
    /// first step.
    pub fn work_of_positions(&self) -> Option<f64> {
        self.progress.last().and_then(|progress| progress.work)
    }

    /// Sets the work (kJ/mol) of position restraints that a device has computed: `after` is the work half a step after
    /// the last step, and `at_step` is the work at the last step.
    pub fn set_work_of_positions(&mut self, after: f64, at_step: f64) {
        if let Some(progress) = self.progress.last_mut() {
            progress.work = Some(after);
        }
        self.samples.work = at_step;
    }

    /// State of the restraints for a checkpoint.
    pub fn progress(&self) -> &[RestraintProgress] {
        &self.progress
    }

    /// Values of collective restraints at the last call of [`Self::apply`].
    pub fn samples(&self) -> &[RestraintSample] {
        &self.samples.collective
    }

    /// Values of all restraints at the last call of [`Self::apply`].
    pub fn all_samples(&self) -> &Samples {
        &self.samples
    }

    /// Restores the values of an earlier call of [`Self::apply`] and discards the results of later calls.
    pub fn restore(&mut self, samples: &Samples) {
        self.samples.clone_from(samples);
    }

    /// Adds the restraint forces (kJ/mol/nm) on atoms at `positions` (nm, not wrapped). Returns an error if a
    /// distance is so long that the minimum image is ambiguous.
    pub fn apply(&mut self, cell: Option<&PeriodicCell>, positions: &[Vec3], forces: &mut [Vec3]) -> Result<Applied> {
        let mut applied = Applied::default();
        self.add_positions(cell, positions, forces, &mut applied);
        self.add_collective(cell, positions, forces, &mut applied)?;
        Ok(applied)
    }

    /// Does the same as [`Self::apply`], but adds only the forces of position restraints, on the home atoms of this
    /// process.
    pub fn apply_positions(&mut self, cell: Option<&PeriodicCell>, positions: &[Vec3], forces: &mut [Vec3]) -> Applied {
        let mut applied = Applied::default();
        self.add_positions(cell, positions, forces, &mut applied);
        applied
    }

    /// Derivative ∂U/∂k (nm²) of the energy U with respect to the force constant k, for each set of position restraints
    /// at the last call of [`Self::apply`]. If the atoms are distributed over several processes, each process replaces
    /// its values by the sums over all processes.
    pub fn slopes_mut(&mut self) -> &mut [f64] {
        &mut self.samples.slopes
    }

    /// Does the same as [`Self::apply`], but adds only the forces of collective restraints, for a device that computes
    /// position restraints itself. Reads and changes only the elements of `positions` and `forces` that belong to the
    /// atoms in [`Self::collective_atoms`].
    pub fn apply_collective(
        &mut self,
        cell: Option<&PeriodicCell>,
        positions: &[Vec3],
        forces: &mut [Vec3],
    ) -> Result<Applied> {
        let mut applied = Applied::default();
        self.add_collective(cell, positions, forces, &mut applied)?;
        Ok(applied)
    }

    /// Atoms whose positions determine the variables of collective restraints, in ascending order.
    pub fn collective_atoms(&self) -> Vec<u32> {
        let mut atoms: Vec<u32> =
            self.restraints.collective.iter().flat_map(|restraint| restraint.variable.atoms()).collect();
        atoms.sort_unstable();
        atoms.dedup();
        atoms
    }

    fn add_positions(
        &mut self,
        cell: Option<&PeriodicCell>,
        positions: &[Vec3],
        forces: &mut [Vec3],
        applied: &mut Applied,
    ) {
        for (restraints, slope) in self.held.iter().zip(&mut self.samples.slopes) {
            let k = restraints.force_constant.at(self.time);
            let (half_squares, virial) = restraints.apply(k, cell, positions, forces);
            *slope = half_squares;
            applied.positions += k * half_squares;
            applied.virial += virial;
        }
    }

    fn add_collective(
        &mut self,
        cell: Option<&PeriodicCell>,
        positions: &[Vec3],
        forces: &mut [Vec3],
        applied: &mut Applied,
    ) -> Result<()> {
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
                return Err(too_far(index, variable.kind(), found.value));
            }
            applied.virial += variable.push(&found, force, at, forces);
            applied.collective += energy;
            *sample = RestraintSample { value: found.value, center, force, energy, work: sample.work };
        }
        Ok(())
    }

    /// Work of all restraints in the stage at the time of the last step, kJ/mol.
    pub fn work(&self) -> f64 {
        self.samples.collective.iter().map(|sample| sample.work).sum::<f64>() + self.samples.work
    }

    /// Adds the work that moving centers and changing force constants did in a step of `timestep` (ps). Must be
    /// called after the step. The work is computed from the forces of the last call of [`Self::apply`].
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
        self.book_collective_work(timestep);
    }

    /// Does the same as [`Self::book_work`], but adds only the work of moving centers, for a device that adds the work
    /// of position restraints itself.
    pub fn book_collective_work(&mut self, timestep: f64) {
        let running = self.progress.iter_mut().zip(&mut self.samples.collective);
        for (restraint, (progress, sample)) in self.restraints.collective.iter().zip(running) {
            let Potential::Well(well) = restraint.potential else { continue };
            let half = 0.5 * well.rate * sample.force * timestep;
            sample.work = progress.work.map_or(0.0, |before| before + half);
            progress.work = Some(sample.work + half);
        }
    }

    /// Whether the stage has any restraint.
    pub fn acts(&self) -> bool {
        !self.restraints.is_empty()
    }

    /// Adds the forces of the last call of [`Self::apply`] once more, at the positions of that call.
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

/// Returns the error for groups of a variable that are too far apart for the periodic cell. The error is an input
/// error, not an instability, so that an energy minimisation stops instead of trying a shorter step.
fn too_far(index: usize, kind: VariableKind, value: f64) -> Error {
    let number = index + 1;
    let (message, help) = match kind {
        VariableKind::Angle | VariableKind::Torsion => {
            let name = if kind == VariableKind::Angle { "angle" } else { "torsion" };
            let message = format!(
                "restraint {number} of the stage: the groups of the {name} (value {:.2} degrees) are too far apart for \
                 the periodic cell, so that the minimum image is ambiguous",
                value.to_degrees()
            );
            (message, "use a larger cell, or choose groups whose consecutive centers are closer to each other")
        }
        VariableKind::Distance | VariableKind::Rmsd => {
            let message = format!(
                "restraint {number} of the stage: the distance (value {value:.4} nm) is too long for the periodic cell, \
                 so that the minimum image is ambiguous"
            );
            (message, "use a larger cell, or fewer components in `along`; in a triclinic cell choose z or yz")
        }
    };
    Problem::new(message).help(help).into()
}
