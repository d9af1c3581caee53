//! Barostats that scale the cell uniformly.
//!
//! A coupling at time t finds the length factor μ and the velocity factor ν: cell vectors are multiplied by μ, and so are
//! positions x(t) and velocities by μ and ν, but only those of *group centres*. A group is what constraints hold together;
//! an atom without a constraint is one by itself. What is inside a group, its shape and its rotation, stays. In leapfrog
//! the velocities that go on from t are v(t+½); for each centre, R(t) and V(t+½) become μ R(t) and ν V(t+½), hence
//!   R(t+dt) → R(t+dt) + (μ−1) R(t) + (ν−1) V(t+½) dt.
//!
//! The pressure that belongs to such a scaling is that of the centres, at the time t at which it acts,
//!   P = (2K + tr W)/3V,  2K = ½ Σ M (V(t−½)² + V(t+½)²),  tr W = Σ r·F − Σ (r−R)·F,
//! over positions x(t) and the forces F without those of constraints, which do not move a centre. For rigid groups it is
//! also the atomic pressure with constraint forces, which is the one reported: |r−R| is the same at t−dt, t and t+dt, so
//! that the constraint forces add −2K of the motion inside the group, with the mean of both half steps, and no more. In
//! groups that can bend (CH₃) only the means are equal.
//!
//! Were velocities inside groups scaled too, K and V would be correlated, since P has no part that answers to it; were P
//! of another time than what is scaled, K(t+½) and W(t) would be, since they are independent only at equal times.
//!
//! Work. Along leapfrog ½ Σ m v(t−½)·v(t+½) + U(x(t)) is what harmonic motion conserves exactly; with the mean of both
//! half steps' K in its place it differs by a function of x(t). As U changes by ΔU(t), its gradient changes the force of
//! the next half kick, which adds ½ dt dΔU/dt: ΔU counts at t+½. So the work is, to second order in dt and ln μ,
//!   (ν²−1) K(t+½) + (μ−ν) (K(t+½) − K×) − ½ ln μ (tr W(t) + tr W(t+dt)),  K× = ½ Σ M V(t−½)·V(t+½),
//! with K and W of centres, and tr W(t+dt) with the scaled positions, from the next force evaluation; dU/d ln μ = −tr W.
//! E − Σ work is conserved; there is no P V term in it, because the energy of the bath's piston is not part of E.
//!
//! All random numbers can be drawn before pressure and volume are known ([`BoxScaling`]), so that a device which has them to
//! itself need not tell.

use super::is_due;
use crate::cell::PeriodicCell;
use crate::error::{Error, Result};
use crate::rng::{Purpose, Stream};
use crate::units::BOLTZMANN;
use serde::{Deserialize, Serialize};

/// Largest relative change of an edge in one coupling. A well-coupled liquid changes by less than 1e-4; ten percent
/// would tear lists, grids and constraints.
pub(crate) const LARGEST_CHANGE: f64 = 0.1;

/// Couplings in a relaxation time of [`stochastic_rescale`], at least. Euler's step of Δt makes the variance of the volume
/// too large by Δt/2τ, times the ratio of the modulus that answers at once to 1/β: a few percent here.
pub const LEAST_INTERVALS: f64 = 20.0;

/// Isotropic pressure coupling.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Barostat {
    /// algorithm
    pub kind: BarostatKind,
    /// kJ/mol/nm³
    pub pressure: f64,
    /// ps
    pub coupling_time: f64,
    /// isothermal compressibility in nm³/(kJ/mol)
    pub compressibility: f64,
    /// steps between couplings
    pub every: u32,
}

/// Barostat algorithms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BarostatKind {
    /// stochastic cell rescaling: correct NPT (Bernetti, Bussi 2020); takes its temperature from the thermostat
    CRescale,
    /// weak coupling: for equilibration (Berendsen 1984)
    Berendsen,
}

impl Barostat {
    /// It acts after a step.
    pub fn acts_at(&self, step: u64) -> bool {
        step > 0 && is_due(self.every, step)
    }

    /// What it does after a step of the run, at the temperature of the thermostat in K and for a time step in ps.
    pub fn scaling(&self, temperature: f64, timestep: f64, (seed, step): (u64, u64)) -> BoxScaling {
        let Barostat { kind, pressure, coupling_time, compressibility, every } = *self;
        let (target, interval) = (Target { pressure, compressibility, coupling_time }, f64::from(every) * timestep);
        match kind {
            BarostatKind::CRescale => stochastic_rescale(target, temperature, interval, (seed, step)),
            BarostatKind::Berendsen => berendsen(target, interval),
        }
    }
}

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
pub struct ScaleFactors {
    /// μ, for cell vectors and positions of group centres
    pub length_factor: f64,
    /// ν, for velocities of group centres
    pub velocity_factor: f64,
}

impl ScaleFactors {
    /// Change of the kinetic energy (kJ/mol) of centres that have `kinetic`.
    pub fn kinetic_change(&self, kinetic: f64) -> f64 {
        (self.velocity_factor.powi(2) - 1.0) * kinetic
    }

    /// Work (kJ/mol) on the motion of centres, of K(t+½) `after` and K× `cross`, see the module head.
    pub fn kinetic_work(&self, after: f64, cross: f64) -> f64 {
        self.kinetic_change(after) + (self.length_factor - self.velocity_factor) * (after - cross)
    }

    /// Half of the work (kJ/mol) against the forces, of virial trace `trace` (kJ/mol) of centres. Added up with the trace
    /// before the scaling and after it, see the module head.
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
pub struct BoxScaling {
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

impl BoxScaling {
    /// At a pressure in kJ/mol/nm³ and a volume in nm³.
    pub fn factors(&self, measured: f64, volume: f64) -> Result<ScaleFactors> {
        let BoxScaling { rate, pressure, thermal, noise, stochastic } = *self;
        let x = 1.0 - rate * (pressure - measured - thermal / volume) + noise / volume.sqrt();
        let length_factor = if stochastic { x * x } else { x }.cbrt();
        // false for what is not a number
        if (length_factor - 1.0).abs() <= LARGEST_CHANGE {
            let velocity_factor = if stochastic { 1.0 / length_factor } else { 1.0 };
            return Ok(ScaleFactors { length_factor, velocity_factor });
        }
        Err(torn(length_factor, measured))
    }
}

/// Weak coupling: μ³ = 1 − (β Δt/τ)(P₀ − P); velocities stay. Fluctuations are wrong: for equilibration only.
///
/// `interval` Δt in ps.
/// H. J. C. Berendsen et al., J. Chem. Phys. 81, 3684 (1984), doi:10.1063/1.448118.
pub fn berendsen(target: Target, interval: f64) -> BoxScaling {
    let rate = target.compressibility * interval / target.coupling_time;
    BoxScaling { rate, pressure: target.pressure, thermal: 0.0, noise: 0.0, stochastic: false }
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
/// `temperature` K, `interval` Δt in ps, at most τ/[`LEAST_INTERVALS`]. The number is that of (seed, step).
/// M. Bernetti, G. Bussi, J. Chem. Phys. 153, 114107 (2020), doi:10.1063/5.0020514.
pub fn stochastic_rescale(target: Target, temperature: f64, interval: f64, (seed, step): (u64, u64)) -> BoxScaling {
    let kt = BOLTZMANN * temperature;
    let rate = target.compressibility * interval / (2.0 * target.coupling_time);
    let noise = Stream::new(seed, Purpose::Barostat, step, 0).gaussian() * (kt * rate).sqrt();
    BoxScaling { rate, pressure: target.pressure, thermal: 0.5 * kt, noise, stochastic: true }
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
pub(crate) fn check_minimum_image(cell: &PeriodicCell, cutoff: f64) -> Result<()> {
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
    use crate::ensemble::rescaling::{Bath, scaling_work, velocity_rescale};

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
                let free = 3.0 * count as f64;
                let bath = Bath { degrees_of_freedom: free, temperature: TEMPERATURE, coupling_time: 0.05 };
                let factor = velocity_rescale(bath, interval, (23, step), 0).factor(kinetic).unwrap();
                kinetic += scaling_work(kinetic, factor);
                let measured = pressure(kinetic, 0.0, volume);
                let box_scaling = stochastic_rescale(target, TEMPERATURE, interval, (23, step));
                let scaling = box_scaling.factors(measured, volume).unwrap();
                kinetic += scaling.kinetic_change(kinetic);
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

    /// Error of the work of scaling an oscillator (mass 1, frequency 1, energy ½) at one step of leapfrog, over ln μ; the
    /// invariant of leapfrog tells the exact work.
    fn work_error(timestep: f64, change: f64, velocity_factor: impl Fn(f64) -> f64, phase: f64) -> f64 {
        let invariant = |x: f64, before: f64, after: f64| 0.5 * (before * after + x * x);
        let frequency = 2.0 * (0.5 * timestep).asin() / timestep;
        let at = |time: f64| (phase + frequency * time).cos();
        let (x, before) = (at(0.0), (at(0.0) - at(-timestep)) / timestep);
        let after = before - x * timestep;
        let factor = 1.0 + change;
        let scaling = ScaleFactors { length_factor: factor, velocity_factor: velocity_factor(factor) };
        let faster = scaling.velocity_factor * after;
        let next = x + after * timestep + change * x + (scaling.velocity_factor - 1.0) * after * timestep;
        let exact = invariant(next, faster, faster - next * timestep) - invariant(x, before, after);
        let half = |x: f64| ScaleFactors::half_potential_work(factor.ln(), -x * x);
        let booked = scaling.kinetic_work(0.5 * after * after, 0.5 * before * after) + half(x) + half(next);
        (booked - exact) / factor.ln()
    }

    #[test]
    fn work_is_exact_to_second_order() {
        for phase in (0..12).map(|k| f64::from(k) * std::f64::consts::PI / 6.0 + 0.1) {
            for velocity_factor in [|factor: f64| 1.0 / factor, |_| 1.0] {
                // the error of ΔU(t+½) by both ends is dt²/8 of its second derivative, 4 ln μ at most here; each of the
                // other roundings of second order is less
                let of = |timestep: f64, change: f64| work_error(timestep, change, velocity_factor, phase).abs();
                assert!(of(0.1, 1e-5) < 0.01 && of(0.01, 1e-5) < 1e-4, "at {phase}: {}", of(0.1, 1e-5));
                // e^x and its square by trapezoids: 4/3 ln² μ of an energy of a half each at most
                assert!(of(1e-4, 1e-2) < 2e-4, "at {phase}: {}", of(1e-4, 1e-2));
            }
        }
    }

    #[test]
    fn weak_coupling_in_closed_form() {
        let target = Target { pressure: 1.0, compressibility: 0.1, coupling_time: 2.0 };
        let scaling = berendsen(target, 0.02).factors(3.0, 30.0).unwrap();
        assert!((scaling.length_factor.powi(3) - (1.0 + 0.1 * 0.01 * 2.0)).abs() < 1e-15);
        assert_eq!(scaling.velocity_factor, 1.0);
    }

    #[test]
    fn a_cell_that_would_be_torn_is_refused() {
        let target = Target { pressure: 1.0, compressibility: 1.0, coupling_time: 1.0 };
        for measured in [1e6, -1e6, f64::NAN] {
            assert!(berendsen(target, 0.1).factors(measured, 1.0).is_err());
            assert!(stochastic_rescale(target, 300.0, 0.1, (1, 1)).factors(measured, 1.0).is_err());
        }
    }
}
