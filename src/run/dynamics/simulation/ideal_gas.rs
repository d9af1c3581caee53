//! Tests with an ideal gas of rigid dimers at constant pressure, where kinetic energy and volume must be independent.

use super::*;
use crate::backend::Host;
use crate::cell::PeriodicCell;
use crate::ensemble::barostat::{BarostatKind, PressureCoupling};
use crate::ensemble::schedule::Schedule;
use crate::ensemble::thermostat::ThermostatKind;
use crate::ensemble::velocities::maxwell_boltzmann;
use crate::pair::ListSchedule;
use crate::rng::{Purpose, Stream};
use crate::run::dynamics::simulation::refreshment::{MASS, Wells, atoms};
use crate::run::plan::{Dynamics, Velocities};
use crate::simd::Level;
use crate::system::{
    Atom, Constraint, Constraints, DispersionCorrection, Electrostatics, ForceSettings, ListPolicy, LjModifier,
    Modifier, Name, Nonbonded, System, Topology,
};
use crate::team::Team;
use crate::vec3::{Vec3, vec3};

pub(super) const DIMERS: u32 = 32;
const TEMPERATURE: f64 = 300.0;
/// Pressure, kJ/mol/nm³. The compressibility of an ideal gas is the inverse of its pressure.
const PRESSURE: f64 = 1.0;
const TIMESTEP: f64 = 0.002;
/// Two parameters of the collisions: the number of steps between two collision steps, and the inverse of the fraction
/// of dimers that collide in a collision step. On average, one of 8 dimers collides in a collision step.
const COLLISIONS: (u64, u32) = (5, 8);
const STEPS: u64 = 200_000;
/// Number of standard errors by which a mean may deviate from its expected value; the random seed is fixed.
const STANDARD_ERRORS: f64 = 4.0;

pub(super) fn gas() -> System {
    let name = Name::new("O");
    let atom = |k: u32| Atom { name, type_name: name, element: 8, mass: 16.0, charge: 0.0, lj_type: 0, residue: k / 2 };
    let bonds = (0..DIMERS).map(|k| Constraint { atoms: [2 * k, 2 * k + 1], length: 0.12 }).collect();
    System {
        topology: Topology {
            atoms: (0..2 * DIMERS).map(atom).collect(),
            connectivity: (0..DIMERS).map(|k| [2 * k, 2 * k + 1]).collect(),
            ..Topology::default()
        },
        nonbonded: Nonbonded { types: 1, c6: vec![0.0], c12: vec![0.0], ..Nonbonded::default() },
        constraints: Constraints { bonds, ..Constraints::default() },
        settings: ForceSettings {
            cutoff: Some(0.5),
            cutoff_lj: Some(0.5),
            electrostatics: Electrostatics::Off,
            lj_modifier: LjModifier::None,
            coulomb_modifier: Modifier::None,
            dispersion_correction: DispersionCorrection::Off,
            list: ListPolicy::Drift { tolerance: 0.005, pressure_tolerance: f64::INFINITY, interval: None },
        },
    }
}

/// Draws new velocities for some randomly chosen dimers. Without random collisions each dimer of the ideal gas would
/// keep its fraction of the kinetic energy.
fn collide(state: &mut State, step: u64) {
    let mut random = Stream::new(5, Purpose::Test, step, 0);
    for first in (0..2 * DIMERS).step_by(2) {
        if random.uniform() * f64::from(COLLISIONS.1) >= 1.0 {
            continue;
        }
        let [i, j] = [first as usize, first as usize + 1];
        let [a, b] = [first, first + 1].map(|atom| maxwell_boltzmann(3, step, atom, 16.0, TEMPERATURE));
        let bond = state.positions[j] - state.positions[i];
        // the relative velocity along the bond is removed, because it would change the bond length. The direction of
        // the bond is nearly constant, because the bond turns by only 10⁻² rad within a step
        let along = bond * (0.5 * (b - a).dot(bond) / bond.norm_squared());
        (state.velocities[i], state.velocities[j]) = (a + along, b - along);
    }
}

/// Creates a barostat that acts at every step, with a coupling time of `couplings` steps.
fn barostat(kind: BarostatKind, couplings: f64) -> Barostat {
    Barostat {
        kind,
        coupling: PressureCoupling::Isotropic,
        pressure: [PRESSURE; 3].map(Schedule::from),
        surface_tension: 0.0,
        coupling_time: couplings * TIMESTEP,
        compressibility: [1.0 / PRESSURE; 3],
        every: 1,
    }
}

/// Returns the edge (nm) of a cube whose volume is the mean volume of the gas.
fn edge() -> f64 {
    (f64::from(DIMERS) * BOLTZMANN * TEMPERATURE / PRESSURE).cbrt()
}

/// Returns kinetic energy (kJ/mol) and volume (nm³) at each step. The thermostat is ten times slower than the barostat,
/// so that the thermostat does not hide a correlation between kinetic energy and volume.
fn sample(barostat: Barostat, couplings: f64) -> Vec<[f64; 2]> {
    let system = gas();
    let thermostat = Thermostat::new(ThermostatKind::VRescale, TEMPERATURE, 10.0 * couplings * TIMESTEP, 1);
    let dynamics = Dynamics {
        steps: STEPS,
        timestep: TIMESTEP,
        velocities: Velocities::File,
        thermostat: Some(thermostat),
        barostat: Some(barostat),
        com_removal: None,
        ..Dynamics::default()
    };
    let mut state = State {
        cell: Some(PeriodicCell::orthorhombic([edge(); 3])),
        positions: (0..2 * DIMERS).map(|k| vec3(0.12 * f64::from(k % 2), f64::from(k / 2), 0.0)).collect(),
        velocities: vec![Vec3::ZERO; 2 * DIMERS as usize],
        ..State::default()
    };
    (0..100).for_each(|step| collide(&mut state, step));
    let host = Host::new(&system, Wells::NONE, Level::Portable, Team::single()).unwrap();
    let lists = ListSchedule { rebuild: 1000, prune: 1000, outer: 0.5, inner: 0.5, lookahead: 0.0 };
    // collisions do not conserve momentum, so each dimer has five degrees of freedom (three of translation, two of
    // rotation)
    let setup = Setup::new(&system, &dynamics, 7, true).unwrap();
    let context = Context::new(Box::new(host), lists);
    let mut simulation = Simulation::new(context, setup, &state, StageProgress::default()).unwrap();
    let mut values = vec![];
    for step in 0..STEPS {
        let observed = simulation.step(Wanted { energies: true }, |_| Ok(())).unwrap();
        values.push([observed.kinetic, observed.cell.unwrap().volume()]);
        if step.is_multiple_of(COLLISIONS.0) {
            simulation.download(&mut state).unwrap();
            collide(&mut state, 1000 + step);
            simulation.context.set_state(&state).unwrap();
        }
    }
    values
}

/// Returns the correlation coefficient of kinetic energy and volume.
fn correlation(values: &[[f64; 2]]) -> f64 {
    let n = values.len() as f64;
    let mean = [0, 1].map(|k| values.iter().map(|v| v[k]).sum::<f64>() / n);
    let moment = |i: usize, j: usize| values.iter().map(|v| (v[i] - mean[i]) * (v[j] - mean[j])).sum::<f64>();
    moment(0, 1) / (moment(0, 0) * moment(1, 1)).sqrt()
}

/// Computes the function `of` for each block of steps, and returns the mean of its values and the standard error of the
/// mean.
fn mean_of_blocks(values: &[[f64; 2]], of: impl Fn(&[[f64; 2]]) -> f64) -> [f64; 2] {
    let blocks: Vec<f64> = values.chunks(values.len() / 20).map(of).collect();
    let mean = blocks.iter().sum::<f64>() / 20.0;
    [mean, (blocks.iter().map(|b| (b - mean).powi(2)).sum::<f64>() / (20.0 * 19.0)).sqrt()]
}

#[test]
fn kinetic_energy_and_volume_are_independent() {
    // a barostat that wrongly scales rotational velocities, on which the pressure does not depend, gives a
    // correlation of −0.2
    let couplings = barostat::LEAST_INTERVALS;
    let values = sample(barostat(BarostatKind::CRescale, couplings), couplings);
    let [mean, error] = mean_of_blocks(&values, correlation);
    assert!(error < 0.02 && mean.abs() < STANDARD_ERRORS * error, "{mean} +- {error}");
}

#[test]
fn the_volume_follows_the_schedule_of_the_pressure_and_the_work_is_booked() {
    const ATOMS: usize = 4000;
    let (system, mut state) = atoms(ATOMS, Vec3::ZERO);
    (0..).zip(&mut state.velocities).for_each(|(atom, v)| *v = maxwell_boltzmann(3, 0, atom, MASS, TEMPERATURE));
    let ideal = ATOMS as f64 * BOLTZMANN * TEMPERATURE;
    state.cell = Some(PeriodicCell::orthorhombic([(ideal / PRESSURE).cbrt(); 3]));
    let pressure = Schedule::new(vec![(1.0, PRESSURE), (9.0, 2.0 * PRESSURE)]).unwrap();
    for kind in [BarostatKind::CRescale, BarostatKind::MonteCarlo] {
        let annealed = std::array::from_fn(|_| pressure.clone());
        let dynamics = Dynamics {
            timestep: TIMESTEP,
            velocities: Velocities::File,
            thermostat: Some(Thermostat::new(ThermostatKind::VRescale, TEMPERATURE, 0.05, 1)),
            barostat: Some(Barostat { pressure: annealed, ..barostat(kind, 25.0) }),
            com_removal: None,
            ..Dynamics::default()
        };
        let host = Host::new(&system, Wells::NONE, Level::Portable, Team::single()).unwrap();
        let lists = ListSchedule { rebuild: 1000, prune: 1000, outer: 0.5, inner: 0.5, lookahead: 0.0 };
        let setup = Setup::new(&system, &dynamics, 7, true).unwrap();
        let context = Context::new(Box::new(host), lists);
        let mut simulation = Simulation::new(context, setup, &state, StageProgress::default()).unwrap();
        let mut conserved = None;
        for step in 0..=5000 {
            let now = simulation.step(Wanted { energies: true }, |_| Ok(())).unwrap();
            let first = *conserved.get_or_insert(now.conserved);
            assert!((now.conserved - first).abs() < 1e-9 * now.kinetic, "{kind:?} at {step}");
            let time = step as f64 * TIMESTEP;
            if step % 500 == 0 && step > 0 {
                // the reference pressure rises by an eighth of `PRESSURE` per ps, and the volume follows the pressure
                // with a delay of 0.05 ps. The volume of N atoms has a relative width of 1/√N
                let ratio = now.cell.unwrap().volume() * pressure.at(time) / ideal;
                let width = (ATOMS as f64).sqrt().recip();
                assert!((ratio - 1.0).abs() < STANDARD_ERRORS * width + 0.01, "{kind:?} at {time} ps: {ratio}");
            }
        }
    }
}

#[test]
fn area_of_dimers_follows_the_ensemble() {
    // at fixed height L and surface tension γ₀, the area A of N dimers at pressure P₀ has a Γ(N+1) distribution: p(A) ∝
    // A^N exp(−(P₀L − γ₀)A/kT). The kinetic energy is independent of the area
    let (shape, couplings) = (f64::from(DIMERS) + 1.0, 40.0);
    let surface_tension = 0.2 * PRESSURE * edge();
    let scale = (PRESSURE * edge() - surface_tension) / (BOLTZMANN * TEMPERATURE * edge());
    for kind in [BarostatKind::CRescale, BarostatKind::MonteCarlo] {
        let coupling = PressureCoupling::SemiIsotropic;
        let compressibility = [1.0 / PRESSURE, 1.0 / PRESSURE, 0.0];
        let values =
            sample(Barostat { coupling, compressibility, surface_tension, ..barostat(kind, couplings) }, couplings);
        let [mean, error] = mean_of_blocks(&values, |part| mean_of(part, |v| v[1] * scale));
        assert!((mean - shape).abs() < STANDARD_ERRORS * error, "{kind:?}: {mean} +- {error} for {shape}");
        // the standard error is small enough to detect an area distribution whose exponent is wrong by one, or in which
        // the surface tension is missing
        assert!(error < 0.015 * shape, "{kind:?}: {error}");
        let [variance, error] = mean_of_blocks(&values, |part| mean_of(part, |v| (v[1] * scale - shape).powi(2)));
        // the integration of the barostat by Euler's method increases the variance of the area by the fraction ½ dt/τ,
        // where τ is the relaxation time
        assert!(
            (variance - shape).abs() < STANDARD_ERRORS * error + shape / couplings,
            "{kind:?}: {variance} +- {error}"
        );
        let [mean, error] = mean_of_blocks(&values, correlation);
        assert!(error < 0.03 && mean.abs() < STANDARD_ERRORS * error, "{kind:?}: {mean} +- {error}");
    }
}

fn mean_of(part: &[[f64; 2]], of: impl Fn(&[f64; 2]) -> f64) -> f64 {
    part.iter().map(of).sum::<f64>() / part.len() as f64
}
