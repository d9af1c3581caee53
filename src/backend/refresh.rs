//! A partial refreshment of velocities in the middle of a move, for one section of the atoms.

use super::Home;
use super::leapfrog::{Section, kinetic};
use crate::constraint::{ConstraintFailure, Motion};
use crate::ensemble::groups::TemperatureGroups;
use crate::ensemble::refreshment::{Refreshment, Renewal};
use crate::rng::{Lanes, NORMALS, Purpose, indices_from, normals};
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
    /// by whose numbers random numbers are drawn, where several processes share the atoms
    pub(super) home: Option<Home<'a>>,
}

impl Refresh<'_> {
    /// For one section, after its move. Returns the kinetic energy of the new velocities, kJ/mol.
    #[inline(always)]
    pub(super) fn apply<S: Simd>(self, moved: &Section<'_>) -> Result<f64, ConstraintFailure> {
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
                let [x, y, z] = normals((key.0, Purpose::Noise, key.1), self.numbers(first));
                let [lost, widths] = self.factors(first, positions.len(), inverse_masses);
                for (lane, (r, v)) in positions.iter_mut().zip(velocities).enumerate() {
                    let noise = vec3(f64::from(x[lane]), f64::from(y[lane]), f64::from(z[lane]));
                    let change = *v * lost[lane] + noise * widths[lane];
                    *v += change;
                    *r += change * half;
                }
            }
        }
        // SAFETY: as above
        unsafe { plan.apply::<S, false>(section, motion) }?;
        // SAFETY: as above
        Ok(kinetic(unsafe { velocities.slice(atoms.clone()) }, &masses[atoms]))
    }

    /// Numbers in the topology of the atoms from `first` on; anything behind the last.
    #[inline(always)]
    fn numbers(&self, first: usize) -> Lanes<u32> {
        let Some(home) = self.home else { return indices_from(first as u32) };
        let mut numbers = [0; NORMALS];
        numbers.iter_mut().zip(&home.atoms[first..]).for_each(|(number, atom)| *number = *atom);
        numbers
    }

    /// Whether a renewal acts on an atom.
    #[inline(always)]
    fn acts_on(&self, renewal: &Renewal, atom: usize) -> bool {
        let group = self.groups.of_atom(atom);
        let number = |group: usize| self.home.map_or(group as u32, |home| home.groups[group]);
        renewal.probability >= 1.0 || renewal.acts_on(self.refreshment.key, number(group))
    }

    /// α − 1 and the width of the noise of `count` atoms from `first` on; both are zero where nothing acts.
    #[inline(always)]
    fn factors(&self, first: usize, count: usize, inverse_masses: &[f64]) -> [[f64; NORMALS]; 2] {
        let renewals = &self.refreshment.renewals;
        let (mut lost, mut widths) = ([0.0; NORMALS], [0.0; NORMALS]);
        let inverse_masses = &inverse_masses[first..first + count];
        if let (None, [Renewal { probability: 1.0.., .. }]) = (self.temperature_groups, &renewals[..]) {
            // a loop without branches
            lost = [renewals[0].kept - 1.0; NORMALS];
            widths
                .iter_mut()
                .zip(inverse_masses)
                .for_each(|(width, inverse)| *width = renewals[0].variance() * inverse);
        } else {
            for (lane, inverse) in inverse_masses.iter().enumerate() {
                let atom = first + lane;
                let renewal = &renewals[self.temperature_groups.map_or(0, |groups| groups.of_atom(atom))];
                if self.acts_on(renewal, atom) {
                    (lost[lane], widths[lane]) = (renewal.kept - 1.0, renewal.variance() * inverse);
                }
            }
        }
        [lost, widths.map(f64::sqrt)]
    }
}

/// [`Refresh`] on its own.
pub(super) struct RefreshKernel<'a>(pub(super) Refresh<'a>, pub(super) Section<'a>);

impl Kernel for RefreshKernel<'_> {
    type Output = Result<f64, ConstraintFailure>;

    #[inline(always)]
    fn run<S: Simd>(self) -> Self::Output {
        self.0.apply::<S>(&self.1)
    }
}
