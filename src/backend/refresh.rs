//! A partial refreshment of velocities in the middle of a move, for one section of the atoms.

use super::leapfrog::{Section, StepResult, kinetic};
use crate::ensemble::refreshment::Refreshment;
use crate::rng::{NORMALS, Purpose, normals};
use crate::simd::{Kernel, Simd};
use crate::system::Molecules;
use crate::vec3::vec3;
use std::time::Duration;

/// v' = α v + √(1−α²) √(kT/m) R and x(t+dt) += ½ dt (v' − v), then the constraints of that half move.
pub(super) struct RefreshKernel<'a> {
    /// with the move of the last step
    pub(super) section: Section<'a>,
    /// atoms that constraints hold together
    pub(super) groups: &'a Molecules,
    pub(super) refreshment: Refreshment,
}

impl Kernel for RefreshKernel<'_> {
    type Output = StepResult;

    #[inline(always)]
    fn run<S: Simd>(self) -> StepResult {
        let Section { plan, section, motion, velocities, masses, inverse_masses, timestep, .. } = self.section;
        let (refreshment, (seed, step)) = (self.refreshment, self.refreshment.key);
        let (kept, variance, half) = (refreshment.kept, refreshment.variance(), 0.5 * timestep);
        let atoms = plan.atoms(section);
        {
            // SAFETY: sections share no atom, each is moved by one thread, and these slices end here
            let (positions, velocities) =
                unsafe { (motion.positions.slice(atoms.clone()), velocities.slice(atoms.clone())) };
            let moved = positions.chunks_mut(NORMALS).zip(velocities.chunks_mut(NORMALS));
            for (first, (positions, velocities)) in atoms.clone().step_by(NORMALS).zip(moved) {
                let [x, y, z] = normals((seed, Purpose::Noise, step), first as u32);
                for (lane, (r, v)) in positions.iter_mut().zip(velocities).enumerate() {
                    let atom = first + lane;
                    if refreshment.acts_on(self.groups.of_atom(atom) as u32) {
                        let width = (variance * inverse_masses[atom]).sqrt();
                        let noise = vec3(f64::from(x[lane]), f64::from(y[lane]), f64::from(z[lane])) * width;
                        let change = *v * (kept - 1.0) + noise;
                        *v += change;
                        *r += change * half;
                    }
                }
            }
        }
        // SAFETY: as above
        let constraint_virial = unsafe { plan.apply::<false>(section, motion) };
        // SAFETY: as above
        let after = kinetic(unsafe { velocities.slice(atoms.clone()) }, &masses[atoms]);
        StepResult { before: 0.0, after, constraint_virial, constraining: Duration::ZERO }
    }
}
