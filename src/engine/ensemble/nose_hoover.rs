//! Nosé–Hoover chains.
//!
//! A chain has M thermostats with velocities v₁ … v_M (1/ps) and masses Q₁ = f kT τ²/4π², Qⱼ = kT τ²/4π² for j > 1,
//! with the number of degrees of freedom f and the coupling time τ. Each thermostat is driven by its predecessor in the
//! chain, Q₁ v̇₁ = 2K − f kT and Qⱼ v̇ⱼ = Qⱼ₋₁ vⱼ₋₁² − kT, and is slowed by its successor, which adds −vⱼ vⱼ₊₁ to v̇ⱼ.
//! K is the kinetic energy K(t+½) of the half-step velocities, which the thermostat scales. The velocities v of atoms
//! decay as v̇ = −v₁ v, where v₁ is the velocity of the first thermostat. A coupling solves the equations of the chain
//! over a time Δt, separately from the motion of the atoms. The equations are solved by the reversible splitting of
//! Martyna et al. with Suzuki–Yoshida weights. The coupling and leapfrog together leave the canonical distribution
//! stationary. The work is computed as for any velocity factor ([`super::rescaling`]). The energy minus the work is
//! conserved: the negative work takes the place of the energy of the chain in the conserved quantity.
//!
//! The coupling time τ is the period of small oscillations of the temperature, like tau-t of GROMACS. The thermostat is
//! deterministic, so that stiff degrees of freedom, or a few degrees of freedom without coupling to other degrees of
//! freedom, may not be sampled. Stochastic velocity rescaling draws the kinetic energy from its canonical distribution
//! even for systems with stiff or uncoupled degrees of freedom.
//!
//! G. J. Martyna, M. L. Klein, M. E. Tuckerman, J. Chem. Phys. 97, 2635 (1992), doi:10.1063/1.463940; G. J. Martyna,
//! M. E. Tuckerman, D. J. Tobias, M. L. Klein, Mol. Phys. 87, 1117 (1996), doi:10.1080/00268979600100761.

use super::rescaling::{Bath, check_factor};
use crate::error::Result;
use crate::units::BOLTZMANN;
use std::f64::consts::TAU;

/// Number of thermostats in a chain, the default of OpenMM.
pub const CHAIN_LENGTH: usize = 3;

/// Velocities of the thermostats of a chain, 1/ps.
pub type Chain = [f64; CHAIN_LENGTH];

/// Minimum number of couplings per period τ of the oscillations of the temperature. The splitting between chain and
/// leapfrog changes the period by the fraction (2π Δt/τ)²/24 for couplings at intervals of Δt. The change of the period
/// is below half a percent with the minimum number of couplings.
pub const LEAST_COUPLINGS: f64 = 20.0;

/// Number of substeps of a coupling. Each substep has three parts with fourth-order Suzuki–Yoshida weights.
const SUBSTEPS: usize = 4;

/// A Nosé–Hoover thermostat step over an interval Δt.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct NoseHoover {
    /// heat bath: number of degrees of freedom f, temperature, and coupling time τ
    pub bath: Bath,
    /// interval Δt of the coupling, ps
    pub interval: f64,
}

impl NoseHoover {
    /// Returns the scale factor λ for a kinetic energy in kJ/mol, and advances the chain by Δt.
    pub fn factor(&self, kinetic: f64, chain: &mut Chain) -> Result<f64> {
        let Bath { degrees_of_freedom, temperature, coupling_time } = self.bath;
        let kt = BOLTZMANN * temperature;
        if degrees_of_freedom == 0.0 || kinetic == 0.0 {
            return Ok(1.0);
        }
        let unit = kt * (coupling_time / TAU).powi(2);
        let mass = |link: usize| if link == 0 { degrees_of_freedom * unit } else { unit };
        let mut twice = 2.0 * kinetic;
        let drive = |link: usize, chain: &Chain, twice: f64| match link {
            0 => (twice - degrees_of_freedom * kt) / mass(0),
            _ => (mass(link - 1) * chain[link - 1].powi(2) - kt) / mass(link),
        };
        let kick = |link: usize, chain: &mut Chain, twice: f64, time: f64| {
            let slowed = chain.get(link + 1).map_or(1.0, |next| (-0.5 * time * next).exp());
            chain[link] = (chain[link] * slowed + time * drive(link, chain, twice)) * slowed;
        };
        let outer = (2.0 - 2f64.cbrt()).recip();
        let mut factor = 1.0;
        for weight in [outer, 1.0 - 2.0 * outer, outer].repeat(SUBSTEPS) {
            let time = weight * self.interval / SUBSTEPS as f64;
            (0..CHAIN_LENGTH).rev().for_each(|link| kick(link, chain, twice, 0.5 * time));
            let slowed = (-time * chain[0]).exp();
            factor *= slowed;
            twice *= slowed * slowed;
            (0..CHAIN_LENGTH).for_each(|link| kick(link, chain, twice, 0.5 * time));
        }
        check_factor(factor, kinetic)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn coupling(interval: f64) -> NoseHoover {
        NoseHoover { bath: Bath { degrees_of_freedom: 300.0, temperature: 300.0, coupling_time: 1.0 }, interval }
    }

    /// Conserved energy of a chain, including the work of its scale factors, kJ/mol.
    fn energy(bath: Bath, chain: &Chain, scaled: f64, kinetic: f64) -> f64 {
        let kt = BOLTZMANN * bath.temperature;
        let unit = kt * (bath.coupling_time / TAU).powi(2);
        let masses = [bath.degrees_of_freedom * unit, unit, unit];
        let moving: f64 = chain.iter().zip(masses).map(|(v, mass)| 0.5 * mass * v * v).sum();
        kinetic + moving + scaled
    }

    #[test]
    fn the_chain_takes_what_it_gives() {
        let coupling = coupling(0.02);
        let kt = BOLTZMANN * 300.0;
        let (mut chain, mut kinetic, mut positions) = ([0.1, -0.3, 0.5], 400.0, 0.0);
        let first = energy(coupling.bath, &chain, positions, kinetic);
        for _ in 0..500 {
            let before = chain;
            let factor = coupling.factor(kinetic, &mut chain).unwrap();
            kinetic *= factor * factor;
            // the positions ξ of the thermostats contribute f kT ξ₁ + kT ξ₂ + kT ξ₃, where ξ₁ = −ln λ, and ξ₂ and ξ₃
            // are integrated by the trapezoidal rule
            positions -= 300.0 * kt * factor.ln();
            positions += kt * (1..CHAIN_LENGTH).map(|k| 0.01 * (before[k] + chain[k])).sum::<f64>();
        }
        let last = energy(coupling.bath, &chain, positions, kinetic);
        assert!((last - first).abs() < 0.02 * kt, "{first} {last}");
    }

    #[test]
    fn it_is_reversible() {
        let (mut chain, kinetic) = ([0.4, 0.2, -0.7], 500.0);
        let start = chain;
        let forth = coupling(0.05).factor(kinetic, &mut chain).unwrap();
        let back = coupling(-0.05).factor(kinetic * forth * forth, &mut chain).unwrap();
        assert!((forth * back - 1.0).abs() < 1e-12);
        assert!(start.iter().zip(chain).all(|(a, b)| (a - b).abs() < 1e-12));
    }

    #[test]
    fn rates_are_those_of_the_equations() {
        let coupling = coupling(1e-6);
        let kt = BOLTZMANN * 300.0;
        let unit = kt * (1.0 / TAU).powi(2);
        let (start, kinetic) = ([0.4, -2.0, 3.0], 500.0);
        let mut chain = start;
        let factor = coupling.factor(kinetic, &mut chain).unwrap();
        let [a, b, c] = start;
        let expected = [
            (2.0 * kinetic - 300.0 * kt) / (300.0 * unit) - a * b,
            (300.0 * unit * a * a - kt) / unit - b * c,
            (unit * b * b - kt) / unit,
        ];
        for link in 0..CHAIN_LENGTH {
            let rate = (chain[link] - start[link]) / 1e-6;
            assert!((rate - expected[link]).abs() < 1e-3 * expected[link].abs(), "{link}: {rate}, {expected:?}");
        }
        assert!((factor.ln() / -1e-6 - a).abs() < 1e-4);
    }
}
