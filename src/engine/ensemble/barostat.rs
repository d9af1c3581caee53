//! Barostats that scale the cell: all directions alike, x and y alike and z by itself, or each by itself.
//!
//! A coupling at time t finds for each direction α of x, y, z a length factor μ and a velocity factor ν: components α of the
//! cell vectors are multiplied by μ_α, and so are those of positions x(t) and velocities by μ_α and ν_α, but only those of
//! *group centres*. A group is what constraints hold together; an atom without a constraint is one by itself. What is inside
//! a group, its shape and its rotation, stays. There is no shear: right angles stay right, and a skewed cell is stretched as
//! what is in it is, with the other angles that this makes; the reduced form of its vectors stays. In leapfrog the
//! velocities that go on from t are v(t+½); for each centre, R(t) and V(t+½) become μ R(t) and ν V(t+½), hence
//!   R(t+dt) → R(t+dt) + (μ−1) R(t) + (ν−1) V(t+½) dt, component by component.
//!
//! The pressure that belongs to such a scaling is that of the centres, at the time t at which it acts,
//!   P_αα = (2K_αα + W_αα)/V,  2K_αα = ½ Σ M (V_α(t−½)² + V_α(t+½)²),  W_αα = Σ r_α F_α − Σ (r−R)_α F_α,
//! over positions x(t) and the forces F without those of constraints, which do not move a centre; the mean over directions
//! that are scaled alike. For rigid groups its trace is also the atomic pressure with constraint forces, which is the one
//! reported: |r−R| is the same at t−dt, t and t+dt, so that the constraint forces add −2K of the motion inside the group,
//! with the mean of both half steps, and no more. In groups that can bend (CH₃) only the means are equal.
//!
//! Were velocities inside groups scaled too, K and V would be correlated, since P has no part that answers to it; were P
//! of another time than what is scaled, K(t+½) and W(t) would be, since they are independent only at equal times.
//!
//! Work. Along leapfrog ½ Σ m v(t−½)·v(t+½) + U(x(t)) is what harmonic motion conserves exactly; with the mean of both
//! half steps' K in its place it differs by a function of x(t). As U changes by ΔU(t), its gradient changes the force of
//! the next half kick, which adds ½ dt dΔU/dt: ΔU counts at t+½. So the work is, to second order in dt and ln μ, the sum over
//! directions of
//!   (ν²−1) K(t+½) + (μ−ν) (K(t+½) − K×) − ½ ln μ (W(t) + W(t+dt)),  K× = ½ Σ M V(t−½) V(t+½),
//! with K, K× and W the elements αα of those of centres, and W(t+dt) with the scaled positions, from the next force
//! evaluation; dU = −Σ W_αα d ln μ_α along any way of scaling, which the mean of both ends integrates to second order. E − Σ
//! work is conserved; there is no P V term in it, because the energy of the bath's piston is not part of E.
//!
//! So P₀ may change with time. Of E + P₀V the work V dP₀/dt would have to be booked as well; E does not know P₀, and what a
//! change of it does is done by the scalings that follow, whose work is booked.
//!
//! All random numbers can be drawn before pressure and volume are known ([`BoxScaling`]), so that a device which has them to
//! itself need not tell. Trial moves of the volume are in [`super::volume_trial`].

use super::is_due;
use super::schedule::Schedule;
use super::volume_trial::VolumeTrial;
use crate::cell::PeriodicCell;
use crate::error::{Error, Result};
use crate::rng::{Purpose, Stream};
use crate::units::BOLTZMANN;
use crate::vec3::Vec3;
use serde::{Deserialize, Serialize};

/// Largest relative change of an edge in one coupling. A well-coupled liquid changes by less than 1e-4; ten percent
/// would tear lists, grids and constraints.
pub(crate) const LARGEST_CHANGE: f64 = 0.1;

/// Couplings in a relaxation time of [`stochastic_rescale`], at least. Euler's step of Δt makes the variance of the volume
/// too large by Δt/2τ, times the ratio of the modulus that answers at once to 1/β: a few percent here.
pub const LEAST_INTERVALS: f64 = 20.0;

/// Pressure coupling.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Barostat {
    /// algorithm
    pub kind: BarostatKind,
    /// directions that are scaled alike
    pub coupling: PressureCoupling,
    /// along x, y, z, kJ/mol/nm³; the same in directions that are scaled alike
    pub pressure: [Schedule; 3],
    /// of the area of x and y, all interfaces together, kJ/mol/nm²: with semi-isotropic coupling
    pub surface_tension: f64,
    /// ps; zero where trials are made
    pub coupling_time: f64,
    /// isothermal compressibility in nm³/(kJ/mol): a third of it along each of x, y, z; zero where the cell is rigid
    pub compressibility: [f64; 3],
    /// steps between couplings, or trials
    pub every: u32,
}

/// Barostat algorithms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BarostatKind {
    /// stochastic cell rescaling: correct NPT (Bernetti, Bussi 2020); takes its temperature from the thermostat
    CRescale,
    /// trial moves of the volume: correct NPT ([`super::volume_trial`]); temperature as above
    MonteCarlo,
    /// weak coupling: for equilibration (Berendsen 1984)
    Berendsen,
}

/// Which directions a barostat scales alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PressureCoupling {
    /// all: the volume changes
    Isotropic,
    /// x and y: the area and the height change
    SemiIsotropic,
    /// none: three lengths change
    Anisotropic,
}

impl PressureCoupling {
    /// The directions (0 to 2) of each extent of the cell that changes by itself.
    pub fn extents(self) -> &'static [&'static [usize]] {
        match self {
            PressureCoupling::Isotropic => &[&[0, 1, 2]],
            PressureCoupling::SemiIsotropic => &[&[0, 1], &[2]],
            PressureCoupling::Anisotropic => &[&[0], &[1], &[2]],
        }
    }
}

impl Barostat {
    /// It scales the cell after a step of a stage.
    pub fn acts_at(&self, step: u64) -> bool {
        self.kind != BarostatKind::MonteCarlo && step > 0 && is_due(self.every, step)
    }

    /// It makes a trial at the beginning of a step of a stage: of the last before a multiple of `every`, so that output at
    /// multiples shows each state that a trial left.
    pub fn tries_at(&self, step: u64) -> bool {
        self.kind == BarostatKind::MonteCarlo && is_due(self.every, step + 1)
    }

    /// The trial at a step of the run, at a temperature in K, a `time` since the start of the stage and for a time step, both in
    /// ps.
    pub fn trial(&self, temperature: f64, (time, timestep): (f64, f64), (seed, step): (u64, u64)) -> VolumeTrial {
        let mut random = Stream::new(seed, Purpose::Barostat, step, 0);
        let extents = self.coupling.extents().iter().enumerate();
        let free = || extents.clone().filter(|(_, directions)| self.compressibility[directions[0]] > 0.0);
        let chosen = (random.uniform() * free().count() as f64) as usize;
        let (extent, &directions) = free().nth(chosen).expect("a barostat has a direction that is free");
        VolumeTrial {
            extent,
            directions,
            pressure: self.pressure[directions[0]].at(time),
            surface_tension: self.surface_tension,
            compressibility: self.compressibility[directions[0]],
            kt: BOLTZMANN * temperature,
            change: random.between(-1.0, 1.0),
            threshold: random.uniform(),
            timestep,
        }
    }

    /// What it does after a step of the run, at the temperature of the thermostat in K, a `time` since the start of the stage and
    /// for a time step, both in ps.
    pub fn scaling(&self, temperature: f64, (time, timestep): (f64, f64), (seed, step): (u64, u64)) -> BoxScaling {
        let (interval, extents) = (f64::from(self.every) * timestep, self.coupling.extents());
        let relaxation = |index: usize| {
            let target = self.target(extents.get(index)?, time);
            Some(match self.kind {
                BarostatKind::CRescale => stochastic_rescale(target, temperature, interval, (seed, step, index as u32)),
                BarostatKind::Berendsen => berendsen(target, interval),
                BarostatKind::MonteCarlo => Relaxation::default(),
            })
        };
        let relaxations = std::array::from_fn(|index| relaxation(index).unwrap_or_default());
        BoxScaling { coupling: self.coupling, relaxations, surface_tension: self.surface_tension }
    }

    /// Mean square change of ln L₁ − ln L₂ per ps, of lengths of the first and the last extent of the cell, in a material that
    /// does not resist it: a liquid of this volume (nm³) at a temperature in K. That of stochastic rescaling follows from its
    /// noise; that of trial moves is an estimate: a trial of an extent that is adapted to its acceptance changes ε by some 0.8
    /// kTβ/V in the mean square, less what the volume takes back. Not known of weak coupling.
    pub fn shape_diffusion(&self, temperature: f64, volume: f64, timestep: f64) -> Option<f64> {
        let extents = self.coupling.extents();
        let (first, last) = (extents.first()?.len() as f64, extents.last()?.len() as f64);
        let strain = BOLTZMANN * temperature * self.compressibility[extents.first()?[0]] / volume;
        match self.kind {
            BarostatKind::CRescale => Some(2.0 / 3.0 * strain / self.coupling_time * (first.recip() + last.recip())),
            BarostatKind::MonteCarlo => {
                let rate = (f64::from(self.every) * timestep * extents.len() as f64).recip();
                Some(0.8 * strain * rate * (first.powi(-2) + last.powi(-2)))
            }
            BarostatKind::Berendsen => None,
        }
    }

    /// What is asked of an extent of the cell in these directions at a time.
    fn target(&self, directions: &[usize], time: f64) -> Target {
        let (first, share) = (directions[0], directions.len() as f64 / 3.0);
        Target {
            pressure: self.pressure[first].at(time),
            compressibility: share * self.compressibility[first],
            coupling_time: self.coupling_time,
        }
    }
}

/// What is asked of the volume of a cell, or of the area of x and y, or of a length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Target {
    /// external pressure, kJ/mol/nm³
    pub pressure: f64,
    /// −d ln of the extent/dP of the material, nm³ mol/kJ; only the ratio to `coupling_time` matters
    pub compressibility: f64,
    /// τ in ps
    pub coupling_time: f64,
}

/// A change of the cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScaleFactors {
    /// μ along x, y, z, for cell vectors and positions of group centres
    pub lengths: Vec3,
    /// ν, for velocities of group centres
    pub velocities: Vec3,
}

impl ScaleFactors {
    /// Change of the kinetic energy (kJ/mol) of centres that have `kinetic` along x, y, z.
    pub fn kinetic_change(&self, kinetic: Vec3) -> f64 {
        self.velocities.map(|factor| factor * factor - 1.0).dot(kinetic)
    }

    /// Work (kJ/mol) on the motion of centres, of K(t+½) `after` and K× `cross`, see the module head.
    pub fn kinetic_work(&self, after: Vec3, cross: Vec3) -> f64 {
        self.kinetic_change(after) + (self.lengths - self.velocities).dot(after - cross)
    }

    /// Half of the work (kJ/mol) against the forces, of ln μ `changes` and the diagonal of the virial (kJ/mol) of centres.
    /// Added up with the virial before the scaling and after it, see the module head.
    pub fn half_potential_work(changes: Vec3, virial: Vec3) -> f64 {
        -0.5 * virial.dot(changes)
    }
}

/// P = (2K + tr W)/3V in kJ/mol/nm³.
pub fn pressure(kinetic: f64, virial_trace: f64, volume: f64) -> f64 {
    (2.0 * kinetic + virial_trace) / (3.0 * volume)
}

/// P_αα = (2K_αα + W_αα)/V along x, y, z in kJ/mol/nm³.
pub fn directional_pressure(kinetic: Vec3, virial: Vec3, volume: f64) -> Vec3 {
    (kinetic * 2.0 + virial) / volume
}

/// γ = L_z (P_zz − (P_xx + P_yy)/2) in kJ/mol/nm², all interfaces together.
pub fn surface_tension(pressure: Vec3, height: f64) -> f64 {
    height * (pressure.z - 0.5 * (pressure.x + pressure.y))
}

/// A coupling of an extent s of the cell (volume, area or length) of which all is known but the pressure P and the volume V:
/// with x = 1 − a (P₀ − P − e/V) + n/√V, s becomes x² s in stochastic rescaling, and x s otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Relaxation {
    /// a, nm³ mol/kJ
    pub rate: f64,
    /// P₀, kJ/mol/nm³
    pub pressure: f64,
    /// e, kJ/mol
    pub thermal: f64,
    /// n, nm^(3/2)
    pub noise: f64,
    /// √s relaxes, and velocities are divided by μ; else s does, and they stay
    pub stochastic: bool,
}

impl Relaxation {
    /// μ of so many directions at a pressure in kJ/mol/nm³ and a volume in nm³.
    pub fn length_factor(&self, measured: f64, volume: f64, directions: usize) -> Result<f64> {
        let Relaxation { rate, pressure, thermal, noise, stochastic } = *self;
        let x = 1.0 - rate * (pressure - measured - thermal / volume) + noise / volume.sqrt();
        let extent = if stochastic { x * x } else { x };
        let factor = match directions {
            3 => extent.cbrt(),
            2 => extent.sqrt(),
            _ => extent,
        };
        // false for what is not a number
        if (factor - 1.0).abs() <= LARGEST_CHANGE { Ok(factor) } else { Err(torn(factor, measured)) }
    }
}

/// A coupling of which all is known but the pressure and the cell.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct BoxScaling {
    /// directions that are scaled alike
    pub coupling: PressureCoupling,
    /// of each extent of the cell that changes by itself
    pub relaxations: [Relaxation; 3],
    /// γ₀ of x and y, kJ/mol/nm²
    pub surface_tension: f64,
}

impl BoxScaling {
    /// The same in all directions.
    pub fn isotropic(relaxation: Relaxation) -> Self {
        let relaxations = [relaxation, Relaxation::default(), Relaxation::default()];
        BoxScaling { coupling: PressureCoupling::Isotropic, relaxations, surface_tension: 0.0 }
    }

    /// At a pressure along x, y, z in kJ/mol/nm³.
    pub fn factors(&self, measured: Vec3, cell: &PeriodicCell) -> Result<ScaleFactors> {
        let (measured, height) = (measured.to_array(), cell.rows()[2].z);
        let [mut lengths, mut velocities] = [[1.0; 3]; 2];
        for (directions, relaxation) in self.coupling.extents().iter().zip(&self.relaxations) {
            let sum: f64 = directions.iter().map(|&along| measured[along]).sum();
            // γ₀ lowers P₀ of the area to P₀ − γ₀/L
            let pull = if directions.len() == 2 { self.surface_tension / height } else { 0.0 };
            let mean = sum / directions.len() as f64 + pull;
            let factor = relaxation.length_factor(mean, cell.volume(), directions.len())?;
            for &along in *directions {
                lengths[along] = factor;
                velocities[along] = if relaxation.stochastic { 1.0 / factor } else { 1.0 };
            }
        }
        Ok(ScaleFactors { lengths: lengths.into(), velocities: velocities.into() })
    }
}

/// Weak coupling: μⁿ = 1 − (β Δt/τ)(P₀ − P) of n directions; velocities stay. Fluctuations are wrong: for equilibration only.
///
/// `interval` Δt in ps.
/// H. J. C. Berendsen et al., J. Chem. Phys. 81, 3684 (1984), doi:10.1063/1.448118.
pub fn berendsen(target: Target, interval: f64) -> Relaxation {
    let rate = target.compressibility * interval / target.coupling_time;
    Relaxation { rate, pressure: target.pressure, thermal: 0.0, noise: 0.0, stochastic: false }
}

/// Stochastic cell rescaling: first-order relaxation of extents of the cell with the noise that makes it isothermal–isobaric.
///
/// Volume V, or area and height, or three lengths: s with V = Π s, of n directions each. They diffuse in the potential
/// −kT ln p, p(s) Π ds ∝ exp(−(P₀V − γ₀A + F)/kT) Π ds with the free energy F, whose derivative −∂F/∂ε in ε = ln s is V times
/// the pressure P, the mean over the directions of s. The diffusion constant is D = kTβ/(Vτ); the Itô drift that keeps p is
/// D ∂ln(p Π s)/∂ε + ∂D/∂ε = (β/τ)(P − P₀ + γ₀/L), the last for the area only: the two terms kT/V cancel for every s, because
/// D goes as 1/V = 1/Π s. In λ = √s, of which x = λ'/λ is the relative change, this is
///   dλ/λ = −(β/2τ) (P₀ − P − kT/2V) dt + √(kTβ/2τV) dW,
/// where the noise of a single s does not depend on s any more. μⁿ = x²; velocities are divided by μ, so that the scaling
/// keeps the volume of phase space. P has the kinetic part 2K/V of the instantaneous K.
///
/// β of one extent of n directions is n/3 of that of the volume, so that all lengths of a uniform material relax alike. With
/// different pressures in directions that are free there is no potential, and no ensemble: only the means follow.
///
/// `temperature` K, `interval` Δt in ps, at most τ/[`LEAST_INTERVALS`]. The number is that of (seed, step, index).
/// M. Bernetti, G. Bussi, J. Chem. Phys. 153, 114107 (2020), doi:10.1063/5.0020514; V. Del Tatto, P. Raiteri, M. Bernetti,
/// G. Bussi, Appl. Sci. 12, 1139 (2022), doi:10.3390/app12031139.
pub fn stochastic_rescale(
    target: Target,
    temperature: f64,
    interval: f64,
    (seed, step, index): (u64, u64, u32),
) -> Relaxation {
    let kt = BOLTZMANN * temperature;
    let rate = target.compressibility * interval / (2.0 * target.coupling_time);
    let noise = Stream::new(seed, Purpose::Barostat, step, index).gaussian() * (kt * rate).sqrt();
    Relaxation { rate, pressure: target.pressure, thermal: 0.5 * kt, noise, stochastic: true }
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
mod tests;
