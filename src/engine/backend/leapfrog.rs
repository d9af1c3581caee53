//! Leapfrog step with constraints, for one section of the atoms.

use super::refresh::Refresh;
use crate::constraint::{ConstraintFailure, ConstraintPlan, Motion, SharedVectors};
use crate::simd::{Kernel, Level, Simd, dispatch};
use crate::vec3::{Mat3, Vec3};
use std::time::{Duration, Instant};

/// Returns the kinetic energy Σ ½ m v² in kJ/mol.
#[inline(always)]
pub(super) fn kinetic(velocities: &[Vec3], masses: &[f64]) -> f64 {
    let masses = &masses[..velocities.len()];
    let mut sum = 0.0;
    for i in 0..velocities.len() {
        sum += 0.5 * masses[i] * velocities[i].norm_squared();
    }
    sum
}

/// Leapfrog step of one section of the atoms, with forces F and masses m: v(t+½dt) = v(t−½dt) + F dt/m and x(t+dt) =
/// x(t) + v(t+½dt) dt. The constraints are applied after the unconstrained update.
#[derive(Clone, Copy)]
pub(super) struct Section<'a> {
    pub(super) plan: &'a ConstraintPlan,
    pub(super) section: usize,
    pub(super) motion: &'a Motion<'a>,
    pub(super) velocities: &'a SharedVectors<'a>,
    pub(super) forces: &'a [Vec3],
    pub(super) masses: &'a [f64],
    pub(super) inverse_masses: &'a [f64],
    pub(super) timestep: f64,
}

/// The result of a step for one section.
#[derive(Clone)]
pub(super) struct StepResult {
    /// kinetic energies half a step before and half a step after the time of the forces, kJ/mol
    pub(super) before: f64,
    pub(super) after: f64,
    /// kinetic energy of the velocities that a thermostat renewed in the middle of the step, kJ/mol
    pub(super) renewed: f64,
    /// virial of the constraints times the square of the time step: Σ r⊗(m Δx) in amu nm², with the displacement Δx of
    /// an atom by constraints. The error holds the atoms whose constraints failed
    pub(super) constraint_virial: std::result::Result<Mat3, ConstraintFailure>,
    /// wall time spent on constraints
    pub(super) constraining: Duration,
}

impl StepResult {
    /// The result before the first step.
    pub(super) const NONE: Self = StepResult {
        before: 0.0,
        after: 0.0,
        renewed: 0.0,
        constraint_virial: Ok(Mat3::ZERO),
        constraining: Duration::ZERO,
    };
}

impl Section<'_> {
    /// Integrates the section. The function computes the virial of the constraints if `virial` is true, and refreshes
    /// velocities if `refresh` is given.
    pub(super) fn advance(&self, level: Level, virial: bool, refresh: Option<Refresh<'_>>) -> StepResult {
        dispatch(level, LeapfrogKernel { section: *self, virial, refresh })
    }
}

/// Kernel of [`Section::advance`].
struct LeapfrogKernel<'a> {
    section: Section<'a>,
    virial: bool,
    refresh: Option<Refresh<'a>>,
}

impl Kernel for LeapfrogKernel<'_> {
    type Output = StepResult;

    #[inline(always)]
    fn run<S: Simd>(self) -> StepResult {
        let Section { plan, section, motion, velocities, forces, masses, inverse_masses, timestep } = self.section;
        let atoms = plan.atoms(section);
        let (masses, forces) = (&masses[atoms.clone()], &forces[atoms.clone()]);
        let before = {
            // SAFETY: sections share no atom, one thread handles each section, and these slices are dropped at the end
            // of this block
            let (positions, velocities) =
                unsafe { (motion.positions.slice(atoms.clone()), velocities.slice(atoms.clone())) };
            let (old, inverse_masses) = (&motion.old[atoms.clone()], &inverse_masses[atoms.clone()]);
            let before = kinetic(velocities, masses);
            for i in 0..positions.len() {
                velocities[i] += forces[i] * (inverse_masses[i] * timestep);
                positions[i] = old[i] + velocities[i] * timestep;
            }
            before
        };
        let start = Instant::now();
        // SAFETY: sections share no atom, and one thread handles each section
        let constraint_virial = unsafe { plan.apply(S::LEVEL, section, motion, self.virial) };
        let constraining = start.elapsed();
        // SAFETY: sections share no atom, and one thread handles each section
        let after = kinetic(unsafe { velocities.slice(atoms) }, masses);
        let mut result = StepResult { before, after, renewed: after, constraint_virial, constraining };
        if let Some(refresh) = self.refresh {
            match refresh.apply(S::LEVEL, section) {
                Ok(renewed) => result.renewed = renewed,
                Err(failure) => result.constraint_virial = Err(failure),
            }
        }
        result
    }
}
