//! Thermostats that renew each velocity in part: friction and noise.
//!
//! In the middle of the move from x(t) to x(t+dt) velocities become
//!   v' = α v + √(1−α²) √(kT/m) R,
//! R normal: the exact solution of the Ornstein–Uhlenbeck process dv = −γ v dt + √(2γkT/m) dW over the time τ with
//! α = exp(−γτ). The first half of the move is done with v, the second with v'. As leapfrog has moved atoms all the way with
//! v, the second half is mended: x(t+dt) += ½ dt (v' − v), with constraints, as in GROMACS' integrator `sd`. With γ > 0 at
//! every step this is the middle scheme of Langevin dynamics, whose positions have the canonical distribution of a harmonic
//! potential at any stable time step, and whose v(t−½) and v(t+½) both have that of Maxwell and Boltzmann. Both also hold when
//! velocities are renewed every few steps only, over that much longer τ.
//! Z. Zhang, X. Liu, K. Yan, M. E. Tuckerman, J. Liu, J. Phys. Chem. A 123, 6056 (2019), doi:10.1021/acs.jpca.9b02771.
//!
//! The work of it is the change of the kinetic energy of these half-step velocities, all of it at once: both E(t) and E(t+dt),
//! with the mean of K before and after the kick of their forces, count the velocities that the kick has really met.
//!
//! Constraints. Between two refreshments leapfrog moves along chords: a bond r that turns by the angle θ has r·v = ±½ v² dt at the
//! ends of the move, opposite before and after a kick, so that the forces of constraints do no work on the mean of both. The
//! velocity v' is no chord: it has another part along r, some θ of it, which the constraints of the next kick replace. Their
//! work C = K(t+½) − K(t−½) − ½ dt Σ F·(v(t−½) + v(t+½)), F without them, is therefore booked with that of the refreshment, at
//! every kick, the first half of it before t and the second after. What is left is the work of the other forces alone: that of
//! rigid bodies without forces is exact, and with forces it is as without constraints. Without C the conserved energy would
//! drift by about ¼ γ kT ⟨θ²⟩ for each direction in which a bond turns.
//!
//! Momentum is not conserved.

use super::groups::PerGroup;
use super::rescaling::Bath;
use crate::rng::{Purpose, Stream};
use crate::units::BOLTZMANN;

/// A partial refreshment of velocities.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Refreshment {
    /// of each temperature group
    pub renewals: PerGroup<Renewal>,
    /// seed and step of the random numbers
    pub key: (u64, u64),
}

/// What of the velocities of a temperature group is renewed.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Renewal {
    /// α
    pub kept: f64,
    /// chance of atoms that constraints hold together to be refreshed
    pub probability: f64,
    /// T, K
    pub temperature: f64,
}

impl Renewal {
    /// Langevin dynamics with the friction coefficient γ = 1/τ over `interval` (ps).
    pub fn langevin(Bath { temperature, coupling_time, .. }: Bath, interval: f64) -> Self {
        Renewal { kept: (-interval / coupling_time).exp(), probability: 1.0, temperature }
    }

    /// Collisions with a bath at the rate 1/τ over `interval` (ps), after which nothing of a velocity is left. Atoms that
    /// constraints hold together collide as one, so that their velocities stay canonical.
    /// H. C. Andersen, J. Chem. Phys. 72, 2384 (1980), doi:10.1063/1.439486.
    pub fn andersen(Bath { temperature, coupling_time, .. }: Bath, interval: f64) -> Self {
        Renewal { kept: 0.0, probability: 1.0 - (-interval / coupling_time).exp(), temperature }
    }

    /// Variance (nm²/ps²) of the noise for each amu⁻¹: (1−α²) kT.
    pub fn variance(&self) -> f64 {
        (1.0 - self.kept * self.kept) * BOLTZMANN * self.temperature
    }

    /// Whether it acts on atoms that constraints hold together, by the number of these.
    pub fn acts_on(&self, (seed, step): (u64, u64), atoms: u32) -> bool {
        Stream::new(seed, Purpose::Collision, step, atoms).uniform() < self.probability
    }
}
