//! The energy surface of a system for the minimiser: a force field, lists rebuilt by displacement, constraints.

use super::minimize::Surface;
use crate::backend::{Evaluation, ForceField, Workload};
use crate::cell::PeriodicCell;
use crate::constraint::ConstraintPlan;
use crate::error::Result;
use crate::system::System;
use crate::vec3::Vec3;

/// A force field seen by the minimiser. Constraints act with unit masses, so that projections are Euclidean.
pub(super) struct ForceSurface<F> {
    field: F,
    cell: Option<PeriodicCell>,
    constraints: ConstraintPlan,
    /// an atom may move this far (nm) before lists are made anew
    reach: f64,
    /// where the lists were made; empty before the first evaluation
    origin: Vec<Vec3>,
    evaluation: Evaluation,
}

impl<F: ForceField> ForceSurface<F> {
    /// Around a force field whose lists reach `buffer` nm beyond the cutoff; `origin` is where a stored minimisation
    /// last made its lists.
    pub(super) fn new(
        system: &System,
        field: F,
        cell: Option<PeriodicCell>,
        buffer: f64,
        origin: Vec<Vec3>,
    ) -> Result<Self> {
        let unit_masses = vec![1.0; system.topology.atoms.len()];
        let constraints = ConstraintPlan::new(&system.constraints, &unit_masses)?;
        let reach = 0.5 * buffer;
        let mut surface = ForceSurface { field, cell, constraints, reach, origin, evaluation: Evaluation::default() };
        if !surface.origin.is_empty() {
            surface.make_lists();
        }
        Ok(surface)
    }

    /// Where the lists were made.
    pub(super) fn origin(&self) -> &[Vec3] {
        &self.origin
    }

    fn make_lists(&mut self) {
        self.field.rebuild(self.cell.as_ref(), &self.origin);
        self.field.prune(self.cell.as_ref(), &self.origin);
    }
}

impl<F: ForceField> Surface for ForceSurface<F> {
    fn evaluate(&mut self, positions: &mut [Vec3], forces: &mut [Vec3]) -> Result<f64> {
        let far = |(a, b): (&Vec3, &Vec3)| (*a - *b).norm_squared() > self.reach * self.reach;
        if self.origin.len() != positions.len() || positions.iter().zip(&self.origin).any(far) {
            self.origin.clear();
            self.origin.extend_from_slice(positions);
            self.make_lists();
        }
        let workload = Workload { energy: true, virial: false };
        self.field.evaluate(self.cell.as_ref(), positions, workload, &mut self.evaluation)?;
        forces.copy_from_slice(&self.evaluation.forces);
        Ok(self.evaluation.energies.potential())
    }

    fn satisfy(&mut self, reference: &[Vec3], positions: &mut [Vec3]) -> bool {
        self.constraints.satisfy(reference, positions).is_ok()
    }

    fn project(&mut self, positions: &[Vec3], vectors: &mut [Vec3]) {
        // fails only where a constraint has lost its direction; `satisfy` then refuses the move
        let _ = self.constraints.project(positions, vectors);
    }
}
