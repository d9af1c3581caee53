//! A partial refreshment of velocities in the middle of a move, for one section of the atoms.

use super::leapfrog::{Section, kinetic};
use crate::constraint::{ConstraintFailure, Motion};
use crate::ensemble::groups::TemperatureGroups;
use crate::ensemble::refreshment::Refreshment;
use crate::rng::{NORMALS, Purpose, normals};
use crate::simd::{Kernel, Simd};
use crate::system::Molecules;
use crate::vec3::vec3;

/// v' = α v + √(1−α²) √(kT/m) R and x(t+dt) += ½ dt (v' − v), then the constraints of that half move.
#[derive(Clone, Copy)]
pub(super) struct Refresh<'a> {
    /// of half of the last move
    pub(super) motion: &'a Motion<'a>,
    /// atoms that constraints hold together
    pub(super) groups: &'a Molecules,
    /// atoms that share a heat bath; `None` where all do
    pub(super) temperature_groups: Option<&'a TemperatureGroups>,
    pub(super) refreshment: &'a Refreshment,
}

impl Refresh<'_> {
    /// For one section, after its move. Returns the kinetic energy of the new velocities, kJ/mol.
    #[inline(always)]
    pub(super) fn apply(self, moved: &Section<'_>) -> Result<f64, ConstraintFailure> {
        let Section { plan, section, velocities, masses, inverse_masses, timestep, .. } = *moved;
        let motion = self.motion;
        let (key, half) = (self.refreshment.key, 0.5 * timestep);
        let atoms = plan.atoms(section);
        {
            // SAFETY: sections share no atom, each is moved by one thread, and these slices end here
            let (positions, velocities) =
                unsafe { (motion.positions.slice(atoms.clone()), velocities.slice(atoms.clone())) };
            let moved = positions.chunks_mut(NORMALS).zip(velocities.chunks_mut(NORMALS));
            for (first, (positions, velocities)) in atoms.clone().step_by(NORMALS).zip(moved) {
                let [x, y, z] = normals((key.0, Purpose::Noise, key.1), first as u32);
                // α − 1 and the width of the noise; both are zero where nothing acts
                let (mut lost, mut widths) = ([0.0; NORMALS], [0.0; NORMALS]);
                for lane in 0..positions.len() {
                    let atom = first + lane;
                    let bath = self.temperature_groups.map_or(0, |groups| groups.of_atom(atom));
                    let renewal = &self.refreshment.renewals[bath];
                    if renewal.probability >= 1.0 || renewal.acts_on(key, self.groups.of_atom(atom) as u32) {
                        (lost[lane], widths[lane]) = (renewal.kept - 1.0, renewal.variance() * inverse_masses[atom]);
                    }
                }
                widths.iter_mut().for_each(|width| *width = width.sqrt());
                for (lane, (r, v)) in positions.iter_mut().zip(velocities).enumerate() {
                    let noise = vec3(f64::from(x[lane]), f64::from(y[lane]), f64::from(z[lane]));
                    let change = *v * lost[lane] + noise * widths[lane];
                    *v += change;
                    *r += change * half;
                }
            }
        }
        // SAFETY: as above
        unsafe { plan.apply::<false>(section, motion) }?;
        // SAFETY: as above
        Ok(kinetic(unsafe { velocities.slice(atoms.clone()) }, &masses[atoms]))
    }
}

/// [`Refresh`] on its own.
pub(super) struct RefreshKernel<'a>(pub(super) Refresh<'a>, pub(super) Section<'a>);

impl Kernel for RefreshKernel<'_> {
    type Output = Result<f64, ConstraintFailure>;

    #[inline(always)]
    fn run<S: Simd>(self) -> Self::Output {
        self.0.apply(&self.1)
    }
}
