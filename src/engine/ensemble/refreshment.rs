//! Thermostats that partially refresh the velocity of each atom: friction and noise, or collisions.
//!
//! In the middle of the drift from x(t) to x(t+dt) velocities v become v' = α v + √(1−α²) √(kT/m) R, where R is a
//! normal random number. This is the exact solution of the Ornstein–Uhlenbeck process dv = −γ v dt + √(2γkT/m) dW with
//! the friction coefficient γ over the time τ, and α = exp(−γτ). The first half of the drift uses v, and the second
//! half uses v'. Leapfrog has made both halves of the drift with v. The second half is therefore corrected: ½ dt (v' −
//! v) is added to x(t+dt), and constraints are applied, as in GROMACS' integrator `sd`. With γ > 0 at every step this
//! is the middle scheme of Langevin dynamics. In a harmonic potential the positions have the canonical distribution at
//! any stable time step, and v(t−½) and v(t+½) both have the Maxwell–Boltzmann distribution. These distributions stay
//! correct if velocities are refreshed only every few steps, with a correspondingly longer τ. Z. Zhang, X. Liu, K. Yan,
//! M. E. Tuckerman, J. Liu, J. Phys. Chem. A 123, 6056 (2019), doi:10.1021/acs.jpca.9b02771.
//!
//! The work of a refreshment is the kinetic energy after the refreshment minus the kinetic energy before it, and is
//! counted at once. The kinetic energy at time t is the mean of the kinetic energies before and after the kick at t.
//! Therefore the total energy at t contains the kinetic energy before the refreshment, and the total energy at t+dt
//! contains the kinetic energy after the refreshment.
//!
//! Work of constraints. Between two refreshments leapfrog moves atoms along chords. A bond r with the relative velocity
//! v that rotates by the angle θ in a step has r·v = ±½ v² dt at the ends of the drift. The signs before and after a
//! kick are opposite, so that the work of the constraint forces cancels. The refreshed velocity v' is not along a
//! chord: it has an additional component along r of order θ, which the constraints of the next kick remove. The work of
//! the constraints in the kick at t is C = K(t+½) − K(t−½) − ½ dt Σ F·(v(t−½) + v(t+½)), where K is the kinetic energy
//! and F excludes constraint forces. C is therefore counted at every kick together with the work of the refreshment:
//! one half of C before t and the other half after t. The total work is exact for rigid bodies without forces, and
//! otherwise as accurate as without constraints. Without C the conserved energy would drift by about ¼ γ kT ⟨θ²⟩ for
//! each direction in which a bond rotates, where γ is the friction coefficient.
//!
//! Refreshments do not conserve momentum.

use super::groups::PerGroup;
use super::rescaling::Bath;
use crate::rng::{Purpose, Stream};
use crate::units::BOLTZMANN;

/// A partial refreshment of velocities.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Refreshment {
    /// partial refreshment of each temperature group
    pub renewals: PerGroup<Renewal>,
    /// seed and step of the random numbers
    pub key: (u64, u64),
}

/// Partial refreshment of the velocities of a temperature group.
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
    /// Atoms connected by constraints collide together, so that their velocities stay canonical.
    /// H. C. Andersen, J. Chem. Phys. 72, 2384 (1980), doi:10.1063/1.439486.
    pub fn andersen(Bath { temperature, coupling_time, .. }: Bath, interval: f64) -> Self {
        Renewal { kept: 0.0, probability: 1.0 - (-interval / coupling_time).exp(), temperature }
    }

    /// Variance of the noise times the atomic mass, (1−α²) kT, in amu nm²/ps².
    pub fn variance(&self) -> f64 {
        (1.0 - self.kept * self.kept) * BOLTZMANN * self.temperature
    }

    /// Whether a group of atoms connected by constraints is refreshed. `atoms` is the index of the group.
    #[inline(never)] // the call costs less than the random number, and kernels stay small
    pub fn acts_on(&self, (seed, step): (u64, u64), atoms: u32) -> bool {
        Stream::new(seed, Purpose::Collision, step, atoms).uniform() < self.probability
    }
}
