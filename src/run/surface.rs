//! The energy surface of a system for the minimiser: a force field, lists rebuilt by displacement, constraints.

use super::minimize::Surface;
use crate::backend::{Evaluation, ForceField, Workload};
use crate::cell::PeriodicCell;
use crate::constraint::ConstraintPlan;
use crate::error::{Error, Result};
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

    /// Device, threads and instruction set, for the log.
    pub(super) fn description(&self) -> String {
        self.field.description()
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
        match self.field.evaluate(self.cell.as_ref(), positions, workload, &mut self.evaluation) {
            // overlapping atoms, whose forces a GPU cannot sum
            Err(Error::Unstable { .. }) => {
                forces.fill(Vec3::splat(f64::NAN));
                return Ok(f64::INFINITY);
            }
            outcome => outcome?,
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::cuda::{Cuda, Emulated, Sample};
    use crate::backend::{Evaluator, Reference};
    use crate::run::minimize::{MinimizeSettings, Minimizer};
    use crate::vec3::vec3;

    /// What lists reach beyond the cutoff, nm.
    const BUFFER: f64 = 0.05;
    const STEPS: u64 = 12;
    /// The project's bar for energies of interactions in `f32`, relative to the sum of the absolute terms.
    const ENERGY: f64 = 1e-6;
    /// Of the fall of the energy: paths that begin alike part as roundings grow, so that one of them is lower.
    const FALL: f64 = 0.2;

    fn gpu(sample: &Sample, origin: Vec<Vec3>) -> ForceSurface<Evaluator<Cuda<Emulated>>> {
        let gpu = Cuda::new(&sample.system, Emulated::new(0), &sample.schedule()).expect("a supported system");
        ForceSurface::new(&sample.system, Evaluator::new(gpu), sample.state.cell, BUFFER, origin).expect("a surface")
    }

    fn descend(mut minimizer: Minimizer, surface: &mut impl Surface, steps: u64) -> Minimizer {
        while minimizer.steps() < steps {
            minimizer.step(surface).expect("a step");
        }
        minimizer
    }

    fn begin(sample: &Sample, surface: &mut impl Surface) -> Minimizer {
        let settings = MinimizeSettings { energy_precision: 1e-7, ..MinimizeSettings::default() };
        Minimizer::new(settings, sample.state.positions.clone(), surface).expect("a start")
    }

    #[test]
    fn a_gpu_descends_as_the_reference_does() {
        for sample in [Sample::load("peptide-charged").rigid(), Sample::load("peptide-vacuum")] {
            let reference = || Reference::new(&sample.system).expect("a supported system");
            let mut exact =
                ForceSurface::new(&sample.system, reference(), sample.state.cell, BUFFER, vec![]).expect("a surface");
            let mut surface = gpu(&sample, vec![]);
            let (start, expected) = (begin(&sample, &mut surface), begin(&sample, &mut exact));
            let (top, fall) = (start.energy(), descend(expected, &mut exact, STEPS).energy());
            let found = descend(start, &mut surface, STEPS);
            assert!(((top - found.energy()) / (top - fall) - 1.0).abs() < FALL, "{} against {fall}", found.energy());
            let workload = Workload { energy: true, virial: false };
            let e = reference().evaluate(sample.state.cell.as_ref(), found.positions(), workload).energies;
            let terms = [e.bond, e.angle, e.urey_bradley, e.proper, e.improper, e.cmap, e.lj, e.coulomb];
            let total: f64 = terms.iter().map(|term| term.abs()).sum();
            assert!((e.potential() - found.energy()).abs() <= ENERGY * total, "{} is {e:?}", found.energy());
        }
    }

    #[test]
    fn a_stored_descent_goes_on_with_the_same_bits() {
        let sample = Sample::load("peptide-charged").rigid();
        let mut surface = gpu(&sample, vec![]);
        let half = descend(begin(&sample, &mut surface), &mut surface, STEPS / 2);
        let mut again = gpu(&sample, surface.origin().to_vec());
        let whole = descend(half.clone(), &mut surface, STEPS);
        assert_eq!(whole.positions(), descend(half, &mut again, STEPS).positions());
    }

    #[test]
    fn a_trial_into_overlapping_atoms_is_infinitely_high() {
        let mut sample = Sample::load("water");
        sample.state.positions[30] = sample.state.positions[300] + vec3(0.02, 0.0, 0.0);
        let mut forces = vec![Vec3::ZERO; sample.state.positions.len()];
        let energy = gpu(&sample, vec![]).evaluate(&mut sample.state.positions, &mut forces).expect("no failure");
        assert_eq!(energy, f64::INFINITY);
    }
}
