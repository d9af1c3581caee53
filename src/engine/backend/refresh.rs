//! Partial velocity refreshment in the middle of a step, for one section of the atoms: see
//! [`crate::ensemble::refreshment`].

use super::Home;
use super::leapfrog::kinetic;
use crate::arrays::map;
use crate::constraint::{ConstraintFailure, ConstraintPlan, Drift};
use crate::ensemble::groups::TemperatureGroups;
use crate::ensemble::refreshment::{Refreshment, Renewal};
use crate::rng::{Lanes, NORMALS, Purpose, indices_from, normals};
use crate::simd::{Kernel, Level, Simd, dispatch};
use crate::system::Molecules;
use crate::vec3::vec3;

/// Partial refreshment of velocities: v' = α v + √(1−α²) √(kT/m) R and x(t+dt) += ½ dt (v' − v), with the fraction α of
/// a velocity that is kept, the temperature T, the mass m and normal random numbers R. Afterwards the constraints are
/// applied to the second half of the drift ([`Drift`]).
#[derive(Clone, Copy)]
pub(super) struct Refresh<'a> {
    pub(super) plan: &'a ConstraintPlan,
    /// positions at the end of the drift, and velocities
    pub(super) drift: Drift<'a>,
    pub(super) masses: &'a [f64],
    pub(super) inverse_masses: &'a [f64],
    /// constraint groups: atoms connected by constraints
    pub(super) groups: &'a Molecules,
    /// temperature groups; `None` if all atoms share one heat bath
    pub(super) temperature_groups: Option<&'a TemperatureGroups>,
    pub(super) refreshment: &'a Refreshment,
    /// home atoms, whose topology indices select the random numbers of atoms and groups; `None` if this process holds
    /// all atoms
    pub(super) home: Option<Home<'a>>,
}

impl Refresh<'_> {
    /// Refreshes the velocities of a section after its leapfrog step. Returns the kinetic energy of the new
    /// velocities, kJ/mol.
    pub(super) fn apply(self, level: Level, section: usize) -> Result<f64, ConstraintFailure> {
        dispatch(level, RefreshKernel(self, section))
    }

    #[inline(always)]
    fn renew<S: Simd>(self, section: usize) -> Result<f64, ConstraintFailure> {
        let plan = self.plan;
        let Drift { positions, velocities, half } = self.drift;
        let key = self.refreshment.key;
        let atoms = plan.atoms(section);
        {
            // SAFETY: sections share no atom, one thread handles each section, and these slices are dropped at the end
            // of this block
            let (positions, velocities) = unsafe { (positions.slice(atoms.clone()), velocities.slice(atoms.clone())) };
            let mut done = 0;
            while done < positions.len() {
                let (first, end) = (atoms.start + done, positions.len().min(done + NORMALS));
                let (positions, velocities) = (&mut positions[done..end], &mut velocities[done..end]);
                done = end;
                let [x, y, z] = normals(key, Purpose::Noise, self.numbers(first));
                let [lost, widths] = self.factors(first, positions.len());
                for lane in 0..positions.len() {
                    let noise = vec3(f64::from(x[lane]), f64::from(y[lane]), f64::from(z[lane]));
                    let change = velocities[lane] * lost[lane] + noise * widths[lane];
                    velocities[lane] += change;
                    positions[lane] += change * half;
                }
            }
        }
        // SAFETY: sections share no atom, and one thread handles each section
        unsafe { plan.finish_drift(S::LEVEL, section, &self.drift) }?;
        // SAFETY: sections share no atom, and one thread handles each section
        Ok(kinetic(unsafe { velocities.slice(atoms.clone()) }, &self.masses[atoms]))
    }

    /// Returns the topology indices of the home atoms from `first` on; lanes behind the last atom hold arbitrary
    /// values.
    #[inline(always)]
    #[allow(clippy::manual_memcpy, reason = "the compiler may fail to inline the copy method of slices")]
    fn numbers(&self, first: usize) -> Lanes<u32> {
        let Some(home) = self.home else { return indices_from(first as u32) };
        let mut numbers = [0; NORMALS];
        let known = &home.atoms[first..];
        for lane in 0..known.len().min(NORMALS) {
            numbers[lane] = known[lane];
        }
        numbers
    }

    /// Returns whether `renewal` renews the velocity of an atom in this step.
    #[inline(always)]
    fn acts_on(&self, renewal: &Renewal, atom: usize) -> bool {
        let number = || {
            let first = self.groups.atoms(self.groups.of_atom(atom))[0];
            self.home.map_or(first, |home| home.atoms[first as usize])
        };
        renewal.probability >= 1.0 || renewal.acts_on(self.refreshment.key, number())
    }

    /// Returns two factors for each of the `count` atoms from index `first` on: α − 1, where α is the fraction of the
    /// velocity that is kept, and the standard deviation of the noise. Both factors are zero for an atom that is not
    /// refreshed.
    #[inline(always)]
    fn factors(&self, first: usize, count: usize) -> [[f64; NORMALS]; 2] {
        let renewals = self.refreshment.renewals.as_slice();
        let (mut lost, mut widths) = ([0.0; NORMALS], [0.0; NORMALS]);
        let inverse_masses = &self.inverse_masses[first..first + count];
        if let (None, [Renewal { probability: 1.0.., .. }]) = (self.temperature_groups, renewals) {
            // with one heat bath that refreshes all atoms, the loop needs no branches
            lost = [renewals[0].kept - 1.0; NORMALS];
            let variance = renewals[0].variance();
            for lane in 0..inverse_masses.len() {
                widths[lane] = variance * inverse_masses[lane];
            }
        } else {
            for lane in 0..inverse_masses.len() {
                let (atom, inverse) = (first + lane, inverse_masses[lane]);
                let renewal = &renewals[self.temperature_groups.map_or(0, |groups| groups.of_atom(atom))];
                if self.acts_on(renewal, atom) {
                    (lost[lane], widths[lane]) = (renewal.kept - 1.0, renewal.variance() * inverse);
                }
            }
        }
        [lost, map(widths, f64::sqrt)]
    }
}

/// Kernel of [`Refresh::apply`].
struct RefreshKernel<'a>(Refresh<'a>, usize);

impl Kernel for RefreshKernel<'_> {
    type Output = Result<f64, ConstraintFailure>;

    #[inline(always)]
    fn run<S: Simd>(self) -> Self::Output {
        self.0.renew::<S>(self.1)
    }
}
