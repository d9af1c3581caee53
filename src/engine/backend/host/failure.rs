//! Handling of failed steps, including failures in one of several processes.

use super::Host;
use crate::backend::leapfrog::StepResult;
use crate::backend::{Evaluation, ForceField, Workload};
use crate::constraint::ConstraintFailure;
use crate::error::{Error, Result};
use crate::memory;
use crate::units::BOLTZMANN;
use crate::vec3::{Mat3, Vec3};

/// Limit (kJ/mol) of the kinetic energy half a step before the time of the forces plus the kinetic energy half a step
/// after, per atom. The limit corresponds to a temperature of 10⁶ K, which is only reached if the simulation has blown
/// up.
pub(in crate::backend) const LARGEST_KINETIC: f64 = 3.0 * BOLTZMANN * 1e6;
/// Maximum number of atoms that the error names when a simulation has blown up.
const NAMED_ATOMS: usize = 5;

impl<F: ForceField> Host<F> {
    /// Replaces home-atom indices by topology indices in a constraint failure.
    pub(super) fn named(&self, ConstraintFailure { atoms }: ConstraintFailure) -> ConstraintFailure {
        ConstraintFailure { atoms: atoms.map(|atom| self.number(atom)) }
    }

    /// Returns the topology index of a home atom.
    fn number(&self, atom: u32) -> u32 {
        self.field.home().map_or(atom, |home| home.atoms[atom as usize])
    }

    /// Returns the virial of the constraint forces of a step, times the square of the time step. If the atoms are
    /// distributed over several processes, a failed step restores the old positions, and the error is reported at the
    /// next check in which all processes take part.
    pub(super) fn moved(&mut self, virial: Result<Mat3>) -> Result<Mat3> {
        let [before, after, _] = self.kinetic_energies();
        let moved = virial.and_then(|virial| self.check_motion(before + after).map(|()| virial));
        if moved.is_err() && self.field.home().is_some() {
            memory::copy(&self.old, &mut self.positions);
            self.velocities.fill(Vec3::ZERO);
            self.step_results.fill(StepResult::NONE);
        }
        self.delayed(moved, Mat3::ZERO)
    }

    /// Returns `result`. If the atoms are distributed over several processes, an error is reported at the next check in
    /// which all processes take part, and this function returns `instead`.
    pub(super) fn delayed<T>(&mut self, result: Result<T>, instead: T) -> Result<T> {
        match result {
            Err(failure) if self.field.home().is_some() => {
                self.failure.get_or_insert(failure);
                Ok(instead)
            }
            result => result,
        }
    }

    /// Returns an error if a step has failed in any process and the error has not been reported yet.
    pub(super) fn check_steps(&mut self) -> Result<()> {
        self.field.agree(self.failure.take())
    }

    /// Sums energies and virial over all processes. If energies are requested, the function also returns an error if a
    /// step has failed in any process.
    pub(super) fn sum_evaluation(&mut self, workload: Workload) -> Result<()> {
        if workload.energy {
            self.check_steps()?;
        }
        let Evaluation { energies, virial, .. } = &mut self.evaluation;
        if self.field.home().is_some() && (workload.energy || workload.virial) {
            let mut values: Vec<f64> = energies.terms_mut().map(|term| *term).into();
            values.extend_from_slice(virial.0.as_flattened());
            self.field.sum(&mut values);
            let (terms, elements) = values.split_at(energies.terms_mut().len());
            energies.terms_mut().into_iter().zip(terms).for_each(|(to, value)| *to = *value);
            virial.0.as_flattened_mut().copy_from_slice(elements);
        }
        Ok(())
    }

    /// Returns an error that names the responsible atoms if the kinetic energy (kJ/mol) is NaN or too large.
    fn check_motion(&self, kinetic: f64) -> Result<()> {
        if kinetic <= LARGEST_KINETIC * self.atoms.masses.len() as f64 {
            return Ok(());
        }
        let number = |atom: usize| self.number(atom as u32);
        let lost = |atom: &usize| !self.evaluation.forces[*atom].is_finite();
        let atoms = 0..self.atoms.masses.len();
        if let Some(atom) = atoms.clone().find(lost) {
            let named: Vec<u32> = atoms.filter(lost).take(NAMED_ATOMS).map(number).collect();
            return Err(Error::unstable(format!("the force on atom {} is not finite", number(atom) + 1), named));
        }
        // an atom whose energy is NaN counts as the fastest
        let energy = |atom: usize| {
            let energy = self.atoms.masses[atom] * self.velocities[atom].norm_squared();
            if energy.is_nan() { f64::INFINITY } else { energy }
        };
        let most = atoms.clone().map(energy).fold(0.0, f64::max);
        let mut fastest = atoms.filter(|&i| 2.0 * energy(i) >= most).peekable();
        let first = fastest.peek().copied().unwrap_or(0);
        let speed = self.velocities[first].norm();
        let what = format!("atom {} moves at {speed:.1e} nm/ps: the simulation has blown up", number(first) + 1);
        Err(Error::unstable(what, fastest.take(NAMED_ATOMS).map(number).collect::<Vec<u32>>()))
    }
}
