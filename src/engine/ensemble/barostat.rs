//! Barostats that scale the cell isotropically, semi-isotropically (x and y alike, z independent) or anisotropically.
//!
//! At time t the barostat computes a length factor μ_α and a velocity factor ν_α for each direction α of x, y, z. The
//! components α of the cell vectors are multiplied by μ_α. Atoms are moved in groups: the component α of the position
//! of a *group center* at t is multiplied by μ_α, and the component α of the velocity of the group center is multiplied
//! by ν_α. A group is a set of atoms connected by constraints; an atom without a constraint is a group of its own. The
//! scaling does not change the shape or the rotation of a group. The scaling has no shear, so that an orthorhombic cell
//! stays orthorhombic. Stretching a triclinic cell changes the cell angles, but the cell vectors stay in the reduced
//! form. Leapfrog continues from x(t) with the half-step velocities v(t+½dt), written v(t+½) below. The position R(t)
//! and the velocity V(t+½) of each group center become μ R(t) and ν V(t+½). With the length factor μ and the velocity
//! factor ν, the scaling therefore changes the position R(t+dt) of a group center to R(t+dt) + (μ−1) R(t) + (ν−1)
//! V(t+½) dt, component by component.
//!
//! The barostat uses the pressure of the group centers at the time t of the scaling. Along direction α the pressure of
//! the group centers is P_αα = (2K_αα + W_αα)/V, where V is the volume of the cell. The kinetic term is 2K_αα = ½ Σ M
//! (V_α(t−½)² + V_α(t+½)²), with the mass M of each group and the velocity component V_α of the group center. The
//! virial of the group centers is W_αα = Σ r_α F_α − Σ (r−R)_α F_α. The position R of the group center and the position
//! r of an atom of the group are those at the time t. The forces F exclude constraint forces, because constraint forces
//! do not move a group center. If several directions are scaled alike, the barostat uses the mean of the pressures
//! along these directions. The pressure in the output is not the pressure of the group centers, but the atomic
//! pressure, which includes constraint forces. If all groups are rigid, all distances |r−R| are the same at t−dt, t and
//! t+dt. The virial of the constraint forces is therefore exactly −2K′, where K′ is the kinetic energy of the motion
//! inside the groups, averaged over both half steps. The trace of the atomic pressure then equals the trace of the
//! pressure of the centers. For groups that can bend (CH₃), only the time averages of the atomic pressure and of the
//! pressure of the centers are equal.
//!
//! If a run removes the motion of the center of mass, the average kinetic energy of the group centers is smaller by ½
//! kT in each direction, and the average pressure is smaller by kT/V, as in GROMACS. With this
//! removal, the volume of a system of N groups has the distribution that a system of N − 1 groups has without it.
//! Monte Carlo volume moves count all N groups.
//!
//! The barostat scales only the velocities of group centers, and does not scale the velocities of atoms relative to
//! their group center. The pressure P does not contain the kinetic energy of the relative velocities. A scaling of the
//! relative velocities would therefore correlate their kinetic energy with the volume. A scaling must use the pressure
//! at the time t at which positions are scaled. The kinetic energy K and the virial W are independent only at equal
//! times, and a pressure from another time would correlate K(t+½) and W(t).
//!
//! Work of a scaling. For harmonic motion leapfrog conserves ½ Σ m v(t−½)·v(t+½) + U(x(t)) exactly, where U is the
//! potential energy. The term ½ Σ m v(t−½)·v(t+½) differs from the mean of the kinetic energies K(t−½) and K(t+½) by a
//! function of x(t). A scaling by length factors μ and velocity factors ν changes U by ΔU(t). The gradient of ΔU also
//! changes the force of the next half kick, which changes the energy by ½ dt dΔU/dt. The change ΔU(t) and the change by
//! the half kick add up to ΔU at t+½. The work is therefore a sum over the directions x, y and z. To second order in dt
//! and ln μ, the term of each direction is
//!
//! (ν²−1) K(t+½) + (μ−ν) (K(t+½) − K×) − ½ ln μ (W(t) + W(t+dt)).
//!
//! The symbols K and K× = ½ Σ M V(t−½) V(t+½) are the αα elements of kinetic energies of the group centers, which have
//! the masses M and the velocities V. The symbol W is the αα element of the virial of the group centers. W(t+dt) is
//! computed in the next force evaluation, at the scaled positions. Since dU = −Σ W_αα d ln μ_α along any path of
//! scaling, the change of U follows from the mean of W(t) and W(t+dt) with an error of third order in ln μ. The total
//! energy E minus the sum of all work is conserved. The conserved quantity contains no term of pressure times volume,
//! because the energy of the piston is not part of E.
//!
//! The target pressure P₀ may change with time, because the total energy E does not depend on P₀. A change of P₀
//! affects only later scalings, whose work is part of the conserved quantity. A conserved quantity that contains E +
//! P₀V would need the additional work V dP₀/dt.
//!
//! All random numbers of a coupling are drawn before pressure and volume are known ([`BoxScaling`]), so that a device
//! can scale the box without sending its pressure and volume to the host. Monte Carlo volume moves are in
//! [`super::volume_trial`].

use super::schedule::Schedule;
use super::volume_trial::VolumeTrial;
use super::{CouplingStep, is_due};
use crate::cell::PeriodicCell;
use crate::error::{Error, Result};
use crate::rng::{Purpose, RandomKey, Stream};
use crate::units::BOLTZMANN;
use crate::vec3::Vec3;
use serde::{Deserialize, Serialize};

/// Largest relative change of a cell edge in one scaling by a barostat. In one scaling of a well-coupled liquid, the
/// cell edges change by less than a relative 1e-4. A change of ten percent would invalidate pair lists, PME grids and
/// constraints.
pub(crate) const LARGEST_CHANGE: f64 = 0.1;

/// Minimum number of couplings per relaxation time τ of [`stochastic_rescale`]. An Euler step of Δt makes the variance
/// of the volume too large by the fraction Bβ Δt/2τ, where B is the instantaneous bulk modulus and β the
/// compressibility that the barostat uses. The error of the variance is a few percent with the minimum number of
/// couplings.
pub const LEAST_INTERVALS: f64 = 20.0;

/// Pressure coupling of a stage: algorithm, target pressure and time constants.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Barostat {
    /// barostat algorithm
    pub kind: BarostatKind,
    /// directions that are scaled alike
    pub coupling: PressureCoupling,
    /// target pressure along x, y, z, kJ/mol/nm³; the values are equal for directions that are scaled alike
    pub pressure: [Schedule; 3],
    /// surface tension of the xy plane, all interfaces together, kJ/mol/nm²; only for semi-isotropic coupling
    pub surface_tension: f64,
    /// relaxation time, ps; zero for Monte Carlo volume moves
    pub coupling_time: f64,
    /// isothermal compressibility of the volume for a pressure along x, y and z, nm³ mol/kJ; the compressibility of
    /// each cell length is a third of this value; zero for a direction in which the cell is rigid
    pub compressibility: [f64; 3],
    /// steps between couplings or volume moves
    pub every: u32,
}

/// Barostat algorithms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BarostatKind {
    /// stochastic cell rescaling, which samples the NPT ensemble at the temperature of the thermostat (Bernetti,
    /// Bussi 2020)
    CRescale,
    /// Monte Carlo volume moves, which sample the NPT ensemble at the temperature of the thermostat
    /// ([`super::volume_trial`])
    MonteCarlo,
    /// weak coupling: for equilibration (Berendsen 1984)
    Berendsen,
}

/// Properties of a barostat algorithm, from which checks, messages and help texts are generated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BarostatFacts {
    /// name of the algorithm in the input file
    pub word: &'static str,
    /// name in messages, with an article
    pub name: &'static str,
    /// whether the algorithm samples the isothermal-isobaric ensemble, with noise at the temperature of the thermostat
    pub is_isobaric: bool,
    /// minimum number of couplings per coupling time; `None` if the algorithm has no coupling time
    pub min_couplings: Option<f64>,
}

impl BarostatKind {
    /// All kinds of barostats, in the order of the help text.
    pub const ALL: [BarostatKind; 3] = [BarostatKind::CRescale, BarostatKind::MonteCarlo, BarostatKind::Berendsen];

    /// Returns the properties of the algorithm.
    pub const fn facts(self) -> BarostatFacts {
        match self {
            BarostatKind::CRescale => BarostatFacts {
                word: "c-rescale",
                name: "stochastic cell rescaling",
                is_isobaric: true,
                min_couplings: Some(LEAST_INTERVALS),
            },
            BarostatKind::MonteCarlo => BarostatFacts {
                word: "monte-carlo",
                name: "a Monte Carlo barostat",
                is_isobaric: true,
                min_couplings: None,
            },
            BarostatKind::Berendsen => BarostatFacts {
                word: "berendsen",
                name: "Berendsen's weak coupling of the pressure",
                is_isobaric: false,
                min_couplings: Some(1.0),
            },
        }
    }
}

/// Coupling type: the directions that a barostat scales alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PressureCoupling {
    /// x, y and z are scaled alike: the volume changes
    Isotropic,
    /// x and y are scaled alike: the xy area and the height change independently
    SemiIsotropic,
    /// no two directions are scaled alike: the three lengths change independently
    Anisotropic,
}

impl PressureCoupling {
    /// Returns the extents of the cell that change independently: the volume, or the xy area and the height, or the
    /// three lengths. Each extent is the list of its directions (0 to 2).
    pub fn extents(self) -> &'static [&'static [usize]] {
        match self {
            PressureCoupling::Isotropic => &[&[0, 1, 2]],
            PressureCoupling::SemiIsotropic => &[&[0, 1], &[2]],
            PressureCoupling::Anisotropic => &[&[0], &[1], &[2]],
        }
    }
}

impl Barostat {
    /// Whether the barostat scales the cell at the end of step `step` of a stage, where steps are numbered from 0: the
    /// barostat acts when the number of steps done becomes a multiple of `every`.
    pub fn acts_at(&self, step: u64) -> bool {
        self.kind != BarostatKind::MonteCarlo && is_due(self.every, step + 1)
    }

    /// Whether the barostat makes a Monte Carlo volume move at the beginning of step `step` of a stage. The volume move
    /// takes place at the last step before a multiple of `every`, so that output at multiples of `every` shows the
    /// state after the volume move.
    pub fn tries_at(&self, step: u64) -> bool {
        self.kind == BarostatKind::MonteCarlo && is_due(self.every, step + 1)
    }

    /// Draws the random numbers of the Monte Carlo volume move at a step of the run. `temperature` is in K.
    pub fn trial(&self, temperature: f64, CouplingStep { time, timestep, key }: CouplingStep) -> VolumeTrial {
        let mut random = Stream::new(key.seed, Purpose::Barostat, key.step, 0);
        let extents = self.coupling.extents().iter().enumerate();
        let free = || extents.clone().filter(|(_, directions)| self.compressibility[directions[0]] > 0.0);
        let chosen = (random.uniform() * free().count() as f64) as usize;
        let (extent, &directions) = free().nth(chosen).expect("a barostat scales at least one direction");
        VolumeTrial {
            extent,
            directions: [0, 1, 2].map(|direction| directions.contains(&direction)),
            pressure: self.pressure[directions[0]].at(time),
            surface_tension: self.surface_tension,
            compressibility: self.compressibility[directions[0]],
            kt: BOLTZMANN * temperature,
            change: random.between(-1.0, 1.0),
            threshold: random.uniform(),
            timestep,
        }
    }

    /// Draws the random numbers of the box scaling after a step of the run. `temperature` is the temperature of the
    /// thermostat in K.
    pub fn scaling(&self, temperature: f64, CouplingStep { time, timestep, key }: CouplingStep) -> BoxScaling {
        let (interval, extents) = (f64::from(self.every) * timestep, self.coupling.extents());
        let relaxation = |index: usize| {
            let target = self.target(extents.get(index)?, time);
            Some(match self.kind {
                BarostatKind::CRescale => stochastic_rescale(target, temperature, interval, key, index as u32),
                BarostatKind::Berendsen => berendsen(target, interval),
                BarostatKind::MonteCarlo => Relaxation::default(),
            })
        };
        let relaxations = std::array::from_fn(|index| relaxation(index).unwrap_or_default());
        BoxScaling { coupling: self.coupling, relaxations, surface_tension: self.surface_tension }
    }

    /// Mean-square change of ln L₁ − ln L₂ per ps, where L₁ is a cell length of the first extent of the cell, and L₂ is
    /// a cell length of the last extent. The material is assumed to be a liquid, which does not resist changes of
    /// shape. `volume` is in nm³ and `temperature` in K. For stochastic rescaling the value follows from the noise of
    /// the algorithm. For Monte Carlo volume moves the value is an estimate. A move with an adapted maximum size
    /// changes the logarithm of an extent; the mean square of the change is about 0.8 kTβ/V, where β is the
    /// compressibility and V the volume. The relaxation of the volume reduces this mean-square change. Returns `None`
    /// for weak coupling, for which the value is unknown.
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

    /// Target pressure and compressibility of an extent of the cell at a time. `directions` are the directions of the
    /// extent.
    fn target(&self, directions: &[usize], time: f64) -> Target {
        let (first, share) = (directions[0], directions.len() as f64 / 3.0);
        Target {
            pressure: self.pressure[first].at(time),
            compressibility: share * self.compressibility[first],
            coupling_time: self.coupling_time,
        }
    }
}

/// Target pressure, compressibility and relaxation time of an extent of the cell (the volume, the xy area or a length).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Target {
    /// external pressure, kJ/mol/nm³
    pub pressure: f64,
    /// compressibility −d ln s/dP of the material for the extent s (volume, area or length), nm³ mol/kJ; only the ratio
    /// to `coupling_time` matters
    pub compressibility: f64,
    /// relaxation time τ, ps
    pub coupling_time: f64,
}

/// Scale factors of one coupling.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScaleFactors {
    /// length factors μ along x, y, z, for cell vectors and positions of group centers
    pub lengths: Vec3,
    /// velocity factors ν along x, y, z, for velocities of group centers
    pub velocities: Vec3,
}

impl ScaleFactors {
    /// Change of the kinetic energy (kJ/mol) of the group centers by the scaling. `kinetic` is the kinetic energy
    /// (kJ/mol) of the group centers along x, y, z before the scaling.
    pub fn kinetic_change(&self, kinetic: Vec3) -> f64 {
        self.velocities.map(|factor| factor * factor - 1.0).dot(kinetic)
    }

    /// Kinetic part (kJ/mol) of the work of the scaling on the group centers. `after` is the kinetic energy K(t+½) of
    /// the centers before the scaling. `cross` is K× = ½ Σ M V(t−½) V(t+½) with the masses M and velocities V of the
    /// centers. Both `after` and `cross` are in kJ/mol along x, y, z.
    pub fn kinetic_work(&self, after: Vec3, cross: Vec3) -> f64 {
        self.kinetic_change(after) + (self.lengths - self.velocities).dot(after - cross)
    }

    /// Half of the work (kJ/mol) that the scaling does against the forces. `changes` is ln μ along x, y, z, where μ are
    /// the length factors. `virial` is the diagonal of the virial of the group centers (kJ/mol). The whole work is the
    /// sum of the values of this function for the virials before and after the scaling.
    pub fn half_potential_work(changes: Vec3, virial: Vec3) -> f64 {
        -0.5 * virial.dot(changes)
    }
}

/// Pressure P = (2K + tr W)/3V in kJ/mol/nm³, from the kinetic energy K (kJ/mol), the trace of the virial W (kJ/mol)
/// and the volume V (nm³).
pub fn pressure(kinetic: f64, virial_trace: f64, volume: f64) -> f64 {
    (2.0 * kinetic + virial_trace) / (3.0 * volume)
}

/// Pressure P_αα = (2K_αα + W_αα)/V along x, y, z in kJ/mol/nm³, from the kinetic energy K and the virial W along x, y,
/// z (kJ/mol) and the volume V (nm³).
pub fn directional_pressure(kinetic: Vec3, virial: Vec3, volume: f64) -> Vec3 {
    (kinetic * 2.0 + virial) / volume
}

/// Surface tension γ = L_z (P_zz − (P_xx + P_yy)/2) of all interfaces together, in kJ/mol/nm², from the pressure P
/// along x, y, z (kJ/mol/nm³) and the height L_z of the cell (nm).
pub fn surface_tension(pressure: Vec3, height: f64) -> f64 {
    height * (pressure.z - 0.5 * (pressure.x + pressure.y))
}

/// Relaxation law of an extent s of the cell (volume, area or length), as a function of pressure P and volume V.
/// Stochastic rescaling changes s to x² s, and weak coupling changes s to x s, where x = 1 − a (P₀ − P − e/V) + n/√V.
/// The fields `rate`, `pressure`, `thermal` and `noise` are a, P₀, e and n.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Relaxation {
    /// rate a: relative change of √s or s per unit of pressure, nm³ mol/kJ
    pub rate: f64,
    /// target pressure P₀, kJ/mol/nm³
    pub pressure: f64,
    /// thermal energy e, which counts as the pressure e/V, kJ/mol
    pub thermal: f64,
    /// noise coefficient n, which contributes n/√V to x, nm^(3/2)
    pub noise: f64,
    /// true for stochastic rescaling: √s of the extent s relaxes, and velocities are divided by the length factor;
    /// false for weak coupling: s relaxes, and velocities are unchanged
    pub stochastic: bool,
}

impl Relaxation {
    /// Length factor μ of an extent of `directions` directions (1 to 3). `measured` is the pressure in kJ/mol/nm³, and
    /// `volume` is in nm³.
    pub fn length_factor(&self, measured: f64, volume: f64, directions: usize) -> Result<f64> {
        let Relaxation { rate, pressure, thermal, noise, stochastic } = *self;
        let x = 1.0 - rate * (pressure - measured - thermal / volume) + noise / volume.sqrt();
        let extent = if stochastic { x * x } else { x };
        let factor = match directions {
            3 => extent.cbrt(),
            2 => extent.sqrt(),
            _ => extent,
        };
        // the comparison is false for NaN, so that NaN is an error
        if (factor - 1.0).abs() <= LARGEST_CHANGE { Ok(factor) } else { Err(torn(factor, measured)) }
    }
}

/// Box scaling by a barostat as a function of pressure and cell. All random numbers of the scaling are already drawn.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct BoxScaling {
    /// directions that are scaled alike
    pub coupling: PressureCoupling,
    /// relaxation of each independent extent of the cell
    pub relaxations: [Relaxation; 3],
    /// surface tension γ₀ of the xy plane, kJ/mol/nm²
    pub surface_tension: f64,
}

impl BoxScaling {
    /// Makes an isotropic scaling with one relaxation for the volume.
    pub fn isotropic(relaxation: Relaxation) -> Self {
        let relaxations = [relaxation, Relaxation::default(), Relaxation::default()];
        BoxScaling { coupling: PressureCoupling::Isotropic, relaxations, surface_tension: 0.0 }
    }

    /// Scale factors for a measured pressure along x, y, z in kJ/mol/nm³.
    pub fn factors(&self, measured: Vec3, cell: &PeriodicCell) -> Result<ScaleFactors> {
        let (measured, height) = (measured.to_array(), cell.rows()[2].z);
        let [mut lengths, mut velocities] = [[1.0; 3]; 2];
        for (directions, relaxation) in self.coupling.extents().iter().zip(&self.relaxations) {
            let sum: f64 = directions.iter().map(|&along| measured[along]).sum();
            // the surface tension γ₀ lowers the target pressure P₀ of the xy area to P₀ − γ₀/L, where L is the height
            // of the cell; adding γ₀/L to the measured pressure has the same effect
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

/// Weak coupling: μⁿ = 1 − (β Δt/τ)(P₀ − P), where μ is the length factor of an extent of n directions, and P is the
/// pressure. The compressibility β, the target pressure P₀ and the relaxation time τ are those of `target`. Velocities
/// are unchanged. The fluctuations of the volume are wrong, so that weak coupling is suitable only for equilibration.
///
/// `interval` is Δt in ps. H. J. C. Berendsen et al., J. Chem. Phys. 81, 3684 (1984), doi:10.1063/1.448118.
pub fn berendsen(target: Target, interval: f64) -> Relaxation {
    let rate = target.compressibility * interval / target.coupling_time;
    Relaxation { rate, pressure: target.pressure, thermal: 0.0, noise: 0.0, stochastic: false }
}

/// Stochastic cell rescaling: first-order relaxation of extents of the cell, with the noise that samples the
/// isothermal–isobaric ensemble.
///
/// The extents s of the cell are the volume V, or the area and the height, or the three lengths, so that V = Π s. Each
/// extent has n directions. The extents diffuse in the potential −kT ln p, with the probability density p(s) Π ds ∝
/// exp(−(P₀V − γ₀A + F)/kT) Π ds, where A is the xy area, γ₀ the surface tension and F the free energy. The derivative
/// −∂F/∂ε with ε = ln s is V times the pressure P, averaged over the directions of s. The diffusion constant is D =
/// kTβ/(Vτ), with the compressibility β and the relaxation time τ. The Itô drift that conserves p is D ∂ln(p Π s)/∂ε +
/// ∂D/∂ε = (β/τ)(P − P₀ + γ₀/L), where L is the height of the cell. The term γ₀/L is present only if s is the area. The
/// term ∂D/∂ε of the Itô drift is −D for every s, because D is proportional to 1/V = 1/Π s. The term ∂D/∂ε therefore
/// cancels the contribution D of ln Π s to the drift. The variable λ = √s, whose relative change is x = λ'/λ, follows
/// the stochastic differential equation dλ/λ = −(β/2τ) (P₀ − P − kT/2V) dt + √(kTβ/2τV) dW. If s is the only extent,
/// the noise of λ does not depend on s. The length factor μ of an extent of n directions follows from μⁿ = x², where x
/// is the relative change of √s. Velocities are divided by μ, so that the scaling conserves the phase-space volume. The
/// pressure P contains the kinetic part 2K/V with the instantaneous kinetic energy K.
///
/// The compressibility β of an extent of n directions is n/3 of the compressibility of the volume, so that all lengths
/// of a uniform material relax alike. If the target pressures of independent directions differ, no potential of the
/// cell corresponds to these pressures. With different target pressures no ensemble is sampled, and only the average
/// pressures are correct.
///
/// `temperature` is in K. `interval` is Δt in ps, at most τ/[`LEAST_INTERVALS`]. The random number depends on (seed,
/// step, index) only. M. Bernetti, G. Bussi, J. Chem. Phys. 153, 114107 (2020), doi:10.1063/5.0020514; V. Del Tatto,
/// P. Raiteri, M. Bernetti, G. Bussi, Appl. Sci. 12, 1139 (2022), doi:10.3390/app12031139.
pub fn stochastic_rescale(
    target: Target,
    temperature: f64,
    interval: f64,
    RandomKey { seed, step }: RandomKey,
    index: u32,
) -> Relaxation {
    let kt = BOLTZMANN * temperature;
    let rate = target.compressibility * interval / (2.0 * target.coupling_time);
    let noise = Stream::new(seed, Purpose::Barostat, step, index).gaussian() * (kt * rate).sqrt();
    Relaxation { rate, pressure: target.pressure, thermal: 0.5 * kt, noise, stochastic: true }
}

/// Returns the error for a scaling whose `length_factor` differs too much from 1. `measured` is the pressure in
/// kJ/mol/nm³.
pub(crate) fn torn(length_factor: f64, measured: f64) -> Error {
    let what = format!(
        "the barostat would scale the cell by a factor of {length_factor:.3} at a pressure of {:.0} bar; equilibrate at \
         constant volume first, or use a longer coupling_time",
        measured / crate::units::BAR
    );
    Error::unstable(what, [])
}

/// Checks whether the cutoff (nm) is still valid for a cell whose size has changed. Returns an error if an atom would
/// interact with two periodic images of another atom.
pub(crate) fn check_minimum_image(cell: &PeriodicCell, cutoff: f64) -> Result<()> {
    let half = cell.max_cutoff();
    if cutoff <= half {
        return Ok(());
    }
    let what = format!(
        "the cell has shrunk: the cutoff of {cutoff} nm is longer than half of the shortest dimension of the cell \
         ({half:.3} nm); start from a larger cell or a denser system"
    );
    Err(Error::unstable(what, []))
}

#[cfg(test)]
mod tests;
