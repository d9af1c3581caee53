//! Thermostats that partially refresh the velocity of each atom: friction and noise, or collisions.
//!
//! In the middle of the drift from x(t) to x(t+dt) velocities v become v' = α v + √(1−α²) √(kT/m) R, where R is a
//! normal random number. The velocity v' is the exact solution, after the time τ, of the Ornstein–Uhlenbeck process dv
//! = −γ v dt + √(2γkT/m) dW with the friction coefficient γ, and α = exp(−γτ). The first half of the drift uses v, and
//! the second half uses v'. Leapfrog has moved the atoms with v in both halves of the drift. The second half of the
//! drift is therefore corrected: ½ dt (v' − v) is added to x(t+dt), and the constraints of the second half are
//! satisfied ([`crate::constraint::Drift`]). A refreshment with γ > 0 at every step is the middle scheme of Langevin
//! dynamics. In a harmonic potential the positions have the canonical distribution at any stable time step, and v(t−½)
//! and v(t+½) both have the Maxwell–Boltzmann distribution. The distributions of positions and velocities stay correct
//! if velocities are refreshed only every few steps, with a correspondingly longer time τ. Z. Zhang, X. Liu, K. Yan, M.
//! E. Tuckerman, J. Liu, J. Phys. Chem. A 123, 6056 (2019), doi:10.1021/acs.jpca.9b02771.
//!
//! Constraints in the middle of a drift. Leapfrog moves the ends of a bond along chords. In the middle of the chord the
//! mean bond ½ (r(t) + r(t+dt)) is exactly perpendicular to the old velocity v, and constraint forces make the new
//! velocity v' perpendicular to the mean bond. With constraint forces along the bond at the time t, as in GROMACS'
//! integrator `sd`, the new velocity v' would keep a component along the bond. The component along the bond is of the
//! order of the angle θ by which the bond rotates in a step. For free rotors, the remaining component along the bond
//! makes the rotation too hot by a fraction 0.4 ⟨θ²⟩, which is 0.9 K at 300 K for rigid water at 4 fs with hydrogens of
//! 1 amu. The fraction was computed with friction coefficients from 0.2/dt to 2/dt. With constraint forces along the
//! mean bond the temperature of free rotors is exact.
//!
//! The work of a refreshment is the change of the kinetic energy by the refreshment, and is added to the work of the
//! thermostat at once. Constraint forces are perpendicular to the velocities before and after the refreshment, and
//! therefore do no work. The kinetic energy at time t is the mean of the kinetic energies before and after the kick at
//! t. The total energy at t therefore contains the kinetic energy before the refreshment, and the total energy at t+dt
//! contains the kinetic energy after the refreshment.
//!
//! Refreshments do not conserve momentum.

use super::groups::PerGroup;
use super::rescaling::Bath;
use crate::rng::{Purpose, RandomKey, Stream};
use crate::units::BOLTZMANN;

/// A partial refreshment of velocities.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Refreshment {
    /// partial refreshment of each temperature group
    pub renewals: PerGroup<Renewal>,
    /// seed and step of the random numbers
    pub key: RandomKey,
}

/// Parameters of a partial refreshment of the velocities of a temperature group.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Renewal {
    /// α, the fraction of a velocity that is kept
    pub kept: f64,
    /// probability that a group of atoms connected by constraints is refreshed
    pub probability: f64,
    /// temperature T of the heat bath, K
    pub temperature: f64,
}

impl Renewal {
    /// Langevin dynamics with the friction coefficient γ = 1/τ over `interval` (ps).
    pub fn langevin(Bath { temperature, coupling_time, .. }: Bath, interval: f64) -> Self {
        Renewal { kept: (-interval / coupling_time).exp(), probability: 1.0, temperature }
    }

    /// Andersen collisions with a bath at the rate 1/τ over `interval` (ps). A collision replaces the whole velocity.
    /// Atoms connected by constraints collide at the same time, so that their velocities stay canonical. H. C.
    /// Andersen, J. Chem. Phys. 72, 2384 (1980), doi:10.1063/1.439486.
    pub fn andersen(Bath { temperature, coupling_time, .. }: Bath, interval: f64) -> Self {
        Renewal { kept: 0.0, probability: 1.0 - (-interval / coupling_time).exp(), temperature }
    }

    /// Variance of the noise times the atomic mass, (1−α²) kT, in amu nm²/ps².
    pub fn variance(&self) -> f64 {
        (1.0 - self.kept * self.kept) * BOLTZMANN * self.temperature
    }

    /// Whether a group of atoms connected by constraints is refreshed. `first` is the index of the first atom of this
    /// group.
    // a call takes less time than drawing the random number, so inlining gains little and would enlarge the kernels
    #[inline(never)]
    pub fn acts_on(&self, RandomKey { seed, step }: RandomKey, first: u32) -> bool {
        Stream::new(seed, Purpose::Collision, step, first).uniform() < self.probability
    }
}
