//! Barostats that scale the cell uniformly.
//!
//! A coupling finds the length factor μ: the cell and the positions (or, with constraints, the positions of molecule
//! centres, see the caller) are multiplied by μ, and by [`Scaling::velocity_factor`] the velocities. All random numbers
//! can be drawn before pressure and volume are known ([`Dilation`]), so that a device which has them to itself need not
//! tell.
//!
//! Pressure in kJ/mol/nm³ is P = (2K + tr W)/3V with the virial W = Σ r⊗F ([`pressure`]).
//!
//! Work: multiplying velocities by 1/μ changes K by exactly (μ⁻² − 1) K, and multiplying positions by μ changes the
//! potential energy by ΔU = −tr W ln μ + O(ln²μ), because dU/d ln μ = Σ r·dU/dr = −tr W. Where W is known after the
//! scaling too (the next force evaluation), the mean of both removes the second order. Where constraints undo the
//! scaling inside a group of atoms, tr W holds their centripetal part, −2K of the motion inside the group, which does no
//! work then: tr W + 2K takes the place of tr W. That is exact for rigid groups (waters); in the few that can bend (CH₃)
//! a part of the bending counts as scaled. E − Σ(ΔK + ΔU) is conserved;
//! there is no P V term in it, because the energy of the bath's piston is not part of E.

use crate::cell::PeriodicCell;
use crate::error::{Error, Result};
use crate::rng::{Purpose, Stream};
use crate::units::BOLTZMANN;

/// Largest relative change of an edge in one coupling. A well-coupled liquid changes by less than 1e-4; ten percent
/// would tear lists, grids and constraints.
pub(crate) const LARGEST_CHANGE: f64 = 0.1;

/// What a barostat is asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Target {
    /// external pressure, kJ/mol/nm³
    pub pressure: f64,
    /// isothermal compressibility of the material, nm³ mol/kJ; only the ratio to `coupling_time` matters
    pub compressibility: f64,
    /// τ in ps
    pub coupling_time: f64,
}

/// A change of the cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scaling {
    /// μ, for the cell vectors and positions
    pub length_factor: f64,
    /// for the velocities
    pub velocity_factor: f64,
}

impl Scaling {
    /// Work (kJ/mol) on velocities of kinetic energy `kinetic`: ΔK.
    pub fn kinetic_work(&self, kinetic: f64) -> f64 {
        (self.velocity_factor.powi(2) - 1.0) * kinetic
    }

    /// Half of the work (kJ/mol) against all forces that scale, of virial trace `trace` (kJ/mol): ½ΔU. Added up with
    /// the trace before and after the scaling, see the module head.
    pub fn half_potential_work(length_factor_ln: f64, trace: f64) -> f64 {
        -0.5 * trace * length_factor_ln
    }
}

/// P = (2K + tr W)/3V in kJ/mol/nm³.
pub fn pressure(kinetic: f64, virial_trace: f64, volume: f64) -> f64 {
    (2.0 * kinetic + virial_trace) / (3.0 * volume)
}

/// A coupling of which all is known but the pressure P and the volume V: with x = 1 − a (P₀ − P − e/V) + n/√V,
/// μ³ = x² where √V is what relaxes, and x where V is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dilation {
    /// a, nm³ mol/kJ
    pub rate: f64,
    /// P₀, kJ/mol/nm³
    pub pressure: f64,
    /// e, kJ/mol
    pub thermal: f64,
    /// n, nm^(3/2)
    pub noise: f64,
    /// √V relaxes, and velocities are divided by μ; else V does, and they stay
    pub stochastic: bool,
}

impl Dilation {
    /// At a pressure in kJ/mol/nm³ and a volume in nm³.
    pub fn scaling(&self, measured: f64, volume: f64) -> Result<Scaling> {
        let Dilation { rate, pressure, thermal, noise, stochastic } = *self;
        let x = 1.0 - rate * (pressure - measured - thermal / volume) + noise / volume.sqrt();
        let length_factor = if stochastic { x * x } else { x }.cbrt();
        // false for what is not a number
        if (length_factor - 1.0).abs() <= LARGEST_CHANGE {
            let velocity_factor = if stochastic { 1.0 / length_factor } else { 1.0 };
            return Ok(Scaling { length_factor, velocity_factor });
        }
        Err(torn(length_factor, measured))
    }
}

/// Weak coupling: μ³ = 1 − (β Δt/τ)(P₀ − P); velocities stay. Fluctuations are wrong: for equilibration only.
///
/// `interval` Δt in ps.
/// H. J. C. Berendsen et al., J. Chem. Phys. 81, 3684 (1984), doi:10.1063/1.448118.
pub fn berendsen(target: Target, interval: f64) -> Dilation {
    let rate = target.compressibility * interval / target.coupling_time;
    Dilation { rate, pressure: target.pressure, thermal: 0.0, noise: 0.0, stochastic: false }
}

/// Stochastic cell rescaling: first-order relaxation of the volume with the noise that makes it isothermal–isobaric.
///
/// The volume diffuses in the potential −kT ln p(V), p(V) ∝ exp(−(P₀V + A(V))/kT), with P = −dA/dV. In ε = ln V the
/// diffusion constant is D = kTβ/(Vτ); the Itô drift that keeps p(V) is D ∂ln(pV)/∂ε + ∂D/∂ε = (β/τ)(P − P₀), the two
/// terms kT/V cancelling. In λ = √V the noise does not depend on V any more, which is why λ is what is integrated:
///   dλ = −(βλ/2τ) (P₀ − P − kT/2V) dt + √(kTβ/2τ) dW.
/// μ³ = (λ'/λ)²; velocities are divided by μ, so that the scaling keeps the volume of phase space. P has the kinetic part
/// 2K/3V of the instantaneous K.
///
/// `temperature` K, `interval` Δt in ps, well below τ divided by β times the bulk modulus. The number is that of
/// (seed, step).
/// M. Bernetti, G. Bussi, J. Chem. Phys. 153, 114107 (2020), doi:10.1063/5.0020514.
pub fn stochastic_rescale(target: Target, temperature: f64, interval: f64, (seed, step): (u64, u64)) -> Dilation {
    let kt = BOLTZMANN * temperature;
    let rate = target.compressibility * interval / (2.0 * target.coupling_time);
    let noise = Stream::new(seed, Purpose::Barostat, step, 0).gaussian() * (kt * rate).sqrt();
    Dilation { rate, pressure: target.pressure, thermal: 0.5 * kt, noise, stochastic: true }
}

/// Why a cell is not scaled by `length_factor` at a pressure in kJ/mol/nm³.
pub(crate) fn torn(length_factor: f64, measured: f64) -> Error {
    let what = format!(
        "the barostat would scale the cell by {length_factor:.3} at a pressure of {:.0} bar; equilibrate at constant \
         volume first, or use a longer coupling_time",
        measured / crate::units::BAR
    );
    Error::unstable(what, [])
}

/// The cell may move while grid and cutoff (nm) stay: an error where an atom would meet two images of another.
pub(crate) fn check_room(cell: &PeriodicCell, cutoff: f64) -> Result<()> {
    let half = cell.max_cutoff();
    if cutoff <= half {
        return Ok(());
    }
    let what = format!(
        "the cell has shrunk so far that the cutoff of {cutoff} nm exceeds half of it ({half:.3} nm); start from a \
         larger cell or a denser system"
    );
    Err(Error::unstable(what, []))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ensemble::thermostat::{Bath, scaling_work, velocity_rescale};

    /// Standard errors allowed; the seed is fixed.
    const STANDARD_ERRORS: f64 = 4.0;
    const TEMPERATURE: f64 = 300.0;

    /// Volumes (in units of kT/P₀) of an ideal gas of `count` atoms under thermostat and barostat.
    fn ideal_gas(count: usize, steps: u64, interval: f64) -> Vec<f64> {
        let kt = BOLTZMANN * TEMPERATURE;
        let pressure0 = 0.06;
        // β = 1/P₀ is the compressibility of the ideal gas: the volume relaxes with τ = 1 ps
        let target = Target { pressure: pressure0, compressibility: 1.0 / pressure0, coupling_time: 1.0 };
        let mut volume = count as f64 * kt / pressure0;
        let mut kinetic = 1.5 * count as f64 * kt;
        (0..steps)
            .map(|step| {
                let bath = Bath { degrees_of_freedom: 3 * count, temperature: TEMPERATURE };
                let factor = velocity_rescale(bath, interval, 0.05, 23, step).factor(kinetic).unwrap();
                kinetic += scaling_work(kinetic, factor);
                let measured = pressure(kinetic, 0.0, volume);
                let dilation = stochastic_rescale(target, TEMPERATURE, interval, (23, step));
                let scaling = dilation.scaling(measured, volume).unwrap();
                kinetic += scaling.kinetic_work(kinetic);
                volume *= scaling.length_factor.powi(3);
                volume * pressure0 / kt
            })
            .collect()
    }

    #[test]
    fn ideal_gas_has_the_volumes_of_the_ensemble() {
        // p(V) ∝ V^N exp(−P₀V/kT) is a Γ(N+1) distribution: mean and variance N + 1 in units of kT/P₀; the drift term
        // kT/2V of λ is what tells N + 1 from N
        for count in [50usize, 400] {
            let (interval, steps) = (0.01, 4_000_000u64);
            let values = ideal_gas(count, steps, interval);
            // relaxation time 1 ps: 1/(2·1 ps) independent values per ps for the mean, twice as many for the variance
            let independent = steps as f64 * interval / 2.0;
            let n = values.len() as f64;
            let shape = count as f64 + 1.0;
            let mean = values.iter().sum::<f64>() / n;
            let variance = values.iter().map(|v| (v - shape).powi(2)).sum::<f64>() / n;
            assert!((mean - shape).abs() < STANDARD_ERRORS * (shape / independent).sqrt(), "mean {mean} of {shape}");
            // Γ: fourth central moment 3 k (k + 2); Euler's step adds a relative Δt/2τ to the variance
            let error = ((3.0 * shape * (shape + 2.0) - shape * shape) / (2.0 * independent)).sqrt();
            let discretisation = shape * interval;
            assert!(
                (variance - shape).abs() < STANDARD_ERRORS * error + discretisation,
                "variance {variance} of {shape}"
            );
        }
    }

    #[test]
    fn work_is_exact_to_second_order() {
        // harmonic pairs U = Σ ½ k r²: U(μ) = μ² U, tr W(μ) = −2 μ² U
        let (kinetic, potential) = (100.0, 40.0);
        for change in [1e-3, 1e-4] {
            let scaling = Scaling { length_factor: 1.0 + change, velocity_factor: 1.0 / (1.0 + change) };
            let exact = kinetic * ((1.0 + change).powi(-2) - 1.0) + potential * ((1.0 + change).powi(2) - 1.0);
            let half = |trace: f64| Scaling::half_potential_work(scaling.length_factor.ln(), trace);
            let after = -2.0 * potential * scaling.length_factor.powi(2);
            let error = scaling.kinetic_work(kinetic) + half(-2.0 * potential) + half(after) - exact;
            // the trapezoid of e^{2x} over x = ln μ exceeds its integral by (2/3) x³
            assert!((error / change.powi(3) - 2.0 / 3.0 * potential).abs() < 0.1 * potential, "{error}");
        }
    }

    #[test]
    fn weak_coupling_in_closed_form() {
        let target = Target { pressure: 1.0, compressibility: 0.1, coupling_time: 2.0 };
        let scaling = berendsen(target, 0.02).scaling(3.0, 30.0).unwrap();
        assert!((scaling.length_factor.powi(3) - (1.0 + 0.1 * 0.01 * 2.0)).abs() < 1e-15);
        assert_eq!(scaling.velocity_factor, 1.0);
    }

    #[test]
    fn a_cell_that_would_be_torn_is_refused() {
        let target = Target { pressure: 1.0, compressibility: 1.0, coupling_time: 1.0 };
        for measured in [1e6, -1e6, f64::NAN] {
            assert!(berendsen(target, 0.1).scaling(measured, 1.0).is_err());
            assert!(stochastic_rescale(target, 300.0, 0.1, (1, 1)).scaling(measured, 1.0).is_err());
        }
    }
}
