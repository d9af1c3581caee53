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

/// The same, and Σ v·F if it is wanted; in one loop, in which neither sum waits for the other.
#[inline(always)]
fn kinetic_and_power(velocities: &[Vec3], masses: &[f64], forces: &[Vec3], work: bool) -> [f64; 2] {
    if !work {
        return [kinetic(velocities, masses), 0.0];
    }
    let atoms = velocities.iter().zip(masses).zip(forces);
    atoms.fold([0.0; 2], |[kinetic, power], ((v, m), force)| {
        [kinetic + 0.5 * m * v.norm_squared(), power + v.dot(*force)]
    })
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
    /// the work of the forces is wanted
    pub(super) work: bool,
}

/// Its result.
#[derive(Clone)]
pub(super) struct StepResult {
    /// kinetic energies half a step before and after, kJ/mol
    pub(super) before: f64,
    pub(super) after: f64,
    /// ½ dt Σ F·(v(t−½) + v(t+½)) where it is wanted, kJ/mol
    pub(super) force_work: f64,
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
        force_work: 0.0,
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
        let Section { plan, section, motion, velocities, forces, masses, inverse_masses, timestep, work } = self.0;
        let atoms = plan.atoms(section);
        let (masses, forces) = (&masses[atoms.clone()], &forces[atoms.clone()]);
        let [before, power_before] = {
            // SAFETY: sections share no atom, each is moved by one thread, and these slices end here
            let (positions, velocities) =
                unsafe { (motion.positions.slice(atoms.clone()), velocities.slice(atoms.clone())) };
            let (old, inverse_masses) = (&motion.old[atoms.clone()], &inverse_masses[atoms.clone()]);
            let before = kinetic_and_power(velocities, masses, forces, work);
            for (i, (r, v)) in positions.iter_mut().zip(velocities).enumerate() {
                *v += forces[i] * (inverse_masses[i] * timestep);
                *r = old[i] + *v * timestep;
            }
            before
        };
        let start = Instant::now();
        // SAFETY: as above
        let constraint_virial = unsafe { plan.apply::<S, VIRIAL>(section, motion) };
        let constraining = start.elapsed();
        // SAFETY: as above
        let [after, power_after] = kinetic_and_power(unsafe { velocities.slice(atoms) }, masses, forces, work);
        let force_work = 0.5 * timestep * (power_before + power_after);
        let mut result = StepResult { before, after, force_work, renewed: after, constraint_virial, constraining };
        if let Some(refresh) = self.1 {
            match refresh.apply::<S>(&self.0) {
                Ok(renewed) => result.renewed = renewed,
                Err(failure) => result.constraint_virial = Err(failure),
            }
        }
        result
    }
}
