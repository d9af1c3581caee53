//! A step of the leapfrog integrator with constraints, for one section of the atoms.

use super::refresh::Refresh;
use crate::constraint::{ConstraintFailure, ConstraintPlan, Motion, SharedVectors};
use crate::simd::{Kernel, Simd};
use crate::vec3::{Mat3, Vec3};
use std::time::{Duration, Instant};

/// Σ ½ m v²
#[inline(always)]
pub(super) fn kinetic(velocities: &[Vec3], masses: &[f64]) -> f64 {
    velocities.iter().zip(masses).map(|(v, m)| 0.5 * m * v.norm_squared()).sum()
}

/// One section of a step: v(t+½) = v(t−½) + F dt/m, x(t+dt) = x(t) + v(t+½) dt, then the constraints.
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

/// Its result.
#[derive(Clone)]
pub(super) struct StepResult {
    /// kinetic energies half a step before and after, kJ/mol
    pub(super) before: f64,
    pub(super) after: f64,
    /// kinetic energy of velocities that a thermostat has renewed in the middle of the move, kJ/mol
    pub(super) renewed: f64,
    /// Σ r⊗(m Δx) of the constraints
    pub(super) constraint_virial: std::result::Result<Mat3, ConstraintFailure>,
    /// time spent on them
    pub(super) constraining: Duration,
}

impl StepResult {
    /// before the first step
    pub(super) const NONE: Self = StepResult {
        before: 0.0,
        after: 0.0,
        renewed: 0.0,
        constraint_virial: Ok(Mat3::ZERO),
        constraining: Duration::ZERO,
    };
}

/// [`Section`] with or without the virial of the constraints, and with a refreshment where it follows.
pub(super) struct LeapfrogKernel<'a, const VIRIAL: bool>(pub(super) Section<'a>, pub(super) Option<Refresh<'a>>);

impl<const VIRIAL: bool> Kernel for LeapfrogKernel<'_, VIRIAL> {
    type Output = StepResult;

    #[inline(always)]
    fn run<S: Simd>(self) -> StepResult {
        let Section { plan, section, motion, velocities, forces, masses, inverse_masses, timestep } = self.0;
        let atoms = plan.atoms(section);
        let (masses, forces) = (&masses[atoms.clone()], &forces[atoms.clone()]);
        let before = {
            // SAFETY: sections share no atom, each is moved by one thread, and these slices end here
            let (positions, velocities) =
                unsafe { (motion.positions.slice(atoms.clone()), velocities.slice(atoms.clone())) };
            let (old, inverse_masses) = (&motion.old[atoms.clone()], &inverse_masses[atoms.clone()]);
            let before = kinetic(velocities, masses);
            for (i, (r, v)) in positions.iter_mut().zip(velocities).enumerate() {
                *v += forces[i] * (inverse_masses[i] * timestep);
                *r = old[i] + *v * timestep;
            }
            before
        };
        let start = Instant::now();
        // SAFETY: as above
        let constraint_virial = unsafe { plan.apply::<VIRIAL>(section, motion) };
        let constraining = start.elapsed();
        // SAFETY: as above
        let after = kinetic(unsafe { velocities.slice(atoms) }, masses);
        let mut result = StepResult { before, after, renewed: after, constraint_virial, constraining };
        if let Some(refresh) = self.1 {
            match refresh.apply(&self.0) {
                Ok(renewed) => result.renewed = renewed,
                Err(failure) => result.constraint_virial = Err(failure),
            }
        }
        result
    }
}
