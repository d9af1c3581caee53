//! Tests with moving restraints that drag particles through a heat bath. The mean work of the restraints is known.

use super::*;
use crate::backend::Host;
use crate::ensemble::schedule::Schedule;
use crate::ensemble::thermostat::ThermostatKind;
use crate::pair::ListSchedule;
use crate::restraint::{
    CollectiveRestraint, Group, Held, PositionRestraints, Potential, ReferenceScaling, Restraints, Variable, Well,
};
use crate::rng::{Purpose, Stream};
use crate::run::dynamics::simulation::ideal_gas::gas;
use crate::run::dynamics::simulation::refreshment::Wells;
use crate::run::plan::{Dynamics, Velocities};
use crate::simd::Level;
use crate::system::Constraints;
use crate::team::Team;
use crate::vec3::{Vec3, vec3};
use std::sync::Arc;

const TEMPERATURE: f64 = 300.0;
const TIMESTEP: f64 = 0.002;
const MASS: f64 = 16.0;
/// Force constant of the restraint, kJ/mol/nm². The oscillation of the dragged particle has 20 steps per radian.
const FORCE_CONSTANT: f64 = MASS * 625.0;
/// Four parameters of the test: speed of the restraint centers in nm/ps, friction in 1/ps, number of steps, and number
/// of pairs of particles.
const SPEED: f64 = 1.5;
const FRICTION: f64 = 20.0;
const STEPS: u64 = 400;
const PAIRS: usize = 4000;
/// Number of standard errors by which a mean may deviate from its expected value; the random seed is fixed.
const STANDARD_ERRORS: f64 = 4.0;

/// Returns the work of each restraint, kJ/mol. A restraint drags a particle away from a frozen particle. The dragged
/// particle starts in equilibrium.
fn works() -> Vec<f64> {
    let mut system = crate::system::System { constraints: Constraints::default(), ..gas() };
    let atom = system.topology.atoms[0];
    // a frozen atom has mass zero
    let frozen = crate::system::Atom { mass: 0.0, ..atom };
    system.topology.connectivity.clear();
    system.topology.atoms = (0..2 * PAIRS).map(|i| if i % 2 == 0 { frozen } else { atom }).collect();
    let (kt, mut random) = (BOLTZMANN * TEMPERATURE, Stream::new(3, Purpose::Test, 0, 0));
    let mut state = State { velocities: vec![Vec3::ZERO; 2 * PAIRS], ..State::default() };
    for pair in 0..PAIRS {
        let origin = vec3(0.0, pair as f64, 0.0);
        let offset = 1.0 + random.gaussian() * (kt / FORCE_CONSTANT).sqrt();
        state.positions.extend([origin, origin + vec3(offset, 0.0, 0.0)]);
        state.velocities[2 * pair + 1] = vec3(random.gaussian(), 0.0, 0.0) * (kt / MASS).sqrt();
    }
    let molecules = system.topology.molecules();
    let restraint = |pair: u32| {
        let group = |atom: u32| Group::new(&[atom], |_| 1.0, &molecules, None).unwrap();
        let well = Well {
            center: Some(1.0),
            rate: SPEED,
            below: Some(0.0),
            above: Some(0.0),
            force_constant: FORCE_CONSTANT,
            linear_beyond: None,
        };
        let variable = Variable::Distance([group(2 * pair), group(2 * pair + 1)], [true, false, false]);
        Arc::new(CollectiveRestraint { variable, potential: Potential::Well(well) })
    };
    let collective = (0..PAIRS as u32).map(restraint).collect();
    let kind = ThermostatKind::Langevin;
    let thermostat = Thermostat::new(kind, TEMPERATURE, 1.0 / FRICTION, 1);
    let dynamics = Dynamics {
        timestep: TIMESTEP,
        velocities: Velocities::File,
        thermostat: Some(thermostat),
        com_removal: None,
        ..Dynamics::default()
    };
    let host = Host::new(&system, Wells::NONE, Level::detect(), Team::single()).unwrap();
    let lists = ListSchedule { rebuild: 1000, prune: 1000, outer: 0.5, inner: 0.5, lookahead: 0.0 };
    let mut context = Context::new(Box::new(host), lists);
    context.restrain(&Restraints { collective, ..Restraints::default() }, &[]).unwrap();
    let setup = Setup::new(&system, &dynamics, 5, false).unwrap();
    let mut simulation = Simulation::new(context, setup, &state, StageProgress::default()).unwrap();
    let mut observed = Observed::default();
    for step in 0..=STEPS {
        observed = simulation.step(Wanted { energies: step == STEPS }, |_| Ok(())).unwrap();
    }
    let works: Vec<f64> = simulation.backend().restraining().unwrap().samples().iter().map(|s| s.work).collect();
    assert!((observed.restraint_work - works.iter().sum::<f64>()).abs() < 1e-9 * observed.restraint_work.abs());
    let mut after = state.clone();
    simulation.download(&mut after).unwrap();
    let held = |state: &State| state.positions.iter().step_by(2).copied().collect::<Vec<Vec3>>();
    assert_eq!(held(&after), held(&state), "frozen atoms moved");
    works
}

/// Integrates the Langevin equation for the mean position x of a particle of mass m, m x″ = −m γ x′ − k (x − v t), with
/// the friction γ, the force constant k and the speed v of the restraint center. Returns the mean work, kJ/mol.
fn mean_work() -> f64 {
    const FINE: u64 = 100;
    let dt = TIMESTEP / FINE as f64;
    let (mut x, mut v, mut work) = (0.0, 0.0, 0.0);
    for step in 0..STEPS * FINE {
        // force on the coordinate x in the middle of the step
        let force = -FORCE_CONSTANT * (x + 0.5 * v * dt - SPEED * (step as f64 + 0.5) * dt);
        work += SPEED * force * dt;
        v += (force / MASS - FRICTION * v) * dt;
        x += v * dt;
    }
    work
}

#[test]
fn works_have_the_mean_of_langevins_equation_and_the_spread_of_jarzynskis() {
    let works = works();
    let n = works.len() as f64;
    let mean = works.iter().sum::<f64>() / n;
    let variance = works.iter().map(|w| (w - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let error = (variance / n).sqrt();
    let expected = mean_work();
    assert!(error < 0.03 * expected, "{error} of {expected}");
    assert!((mean - expected).abs() < STANDARD_ERRORS * error, "{mean} +- {error}, expected {expected}");
    // the work W in a harmonic well has a normal distribution, and the free energy does not change. For a normal
    // distribution, Jarzynski's equality ⟨exp(−W/kT)⟩ = 1 makes the mean work equal to half of the variance of the work
    // divided by kT (Jarzynski, Phys. Rev. Lett. 78, 2690 (1997), doi:10.1103/PhysRevLett.78.2690)
    let dissipated = 0.5 * variance / (BOLTZMANN * TEMPERATURE);
    let spread = dissipated * (2.0 / n).sqrt();
    assert!((mean - dissipated).abs() < STANDARD_ERRORS * (error + spread), "{mean} {dissipated} +- {spread}");
}

#[test]
fn a_force_constant_that_changes_does_its_work() {
    // three atoms oscillate about reference positions, while the force constant of their position restraints becomes a
    // hundred times as large
    let mut system = crate::system::System { constraints: Constraints::default(), ..gas() };
    system.topology.atoms = vec![system.topology.atoms[0]; 3];
    system.topology.connectivity.clear();
    let velocities = vec![vec3(0.5, 0.0, 0.2), vec3(-0.3, 0.8, 0.0), vec3(0.1, 0.1, 1.1)];
    let state = State { positions: vec![Vec3::ZERO; 3], velocities, ..State::default() };
    let restraints = PositionRestraints {
        force_constant: Schedule::new(vec![(0.1, 100.0), (1.7, 10_000.0)]).unwrap(),
        flat_radius: 0.0,
        scaling: ReferenceScaling::None,
        cell: None,
        center: Vec3::ZERO,
        held: (0..3).map(|atom| Held::new(atom, vec3(0.02, 0.0, -0.01))).collect(),
    };
    let dynamics =
        Dynamics { timestep: TIMESTEP, velocities: Velocities::File, com_removal: None, ..Dynamics::default() };
    let host = Host::new(&system, Wells::NONE, Level::detect(), Team::single()).unwrap();
    let lists = ListSchedule { rebuild: 1000, prune: 1000, outer: 0.5, inner: 0.5, lookahead: 0.0 };
    let mut context = Context::new(Box::new(host), lists);
    context.restrain(&Restraints { positions: vec![Arc::new(restraints)], ..Restraints::default() }, &[]).unwrap();
    let setup = Setup::new(&system, &dynamics, 5, false).unwrap();
    let mut simulation = Simulation::new(context, setup, &state, StageProgress::default()).unwrap();
    let wanted = Wanted { energies: true };
    let first = simulation.step(wanted, |_| Ok(())).unwrap();
    let (mut last, mut furthest) = (first.clone(), 0.0f64);
    for _ in 0..1000 {
        last = simulation.step(wanted, |_| Ok(())).unwrap();
        furthest = furthest.max((last.conserved - first.conserved).abs());
    }
    // The work of the restraints is as large as the total energy. The conserved energy is computed with the mean of the
    // kinetic energies at the half steps before and after a step, and oscillates with a relative amplitude of (ω
    // dt)²/4. Leapfrog exactly conserves a shadow energy. In the stiff well at the end, where the angular frequency ω
    // is 25/ps, the shadow energy differs from the conserved energy by the fraction (ω dt)²/12. In the soft well at the
    // start the difference is negligible. The two fractions (ω dt)²/4 and (ω dt)²/12 add up to (ω dt)²/3; terms of
    // higher order are small.
    assert!(last.restraint_work > 2.0 * first.kinetic, "{} of {}", last.restraint_work, first.kinetic);
    let energy = last.kinetic + last.energies.position_restraint;
    assert!(furthest < 0.35 * (25.0 * TIMESTEP).powi(2) * energy, "{furthest} of {energy}");
}
