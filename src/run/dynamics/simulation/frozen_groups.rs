//! Tests of the pressure of systems with frozen rigid molecules.

use super::*;
use crate::backend::cuda::{Cuda, Emulated};
use crate::backend::{Host, Reference};
use crate::run::dynamics::frozen::{FrozenGroups, frozen_system};
use crate::run::dynamics::start::prepare;
use crate::run::plan::{Stage, StageKind, StageOutput, Velocities};
use crate::simd::Level;
use crate::system::System;
use crate::team::Team;
use crate::testing::Sample;
use crate::units::BAR;
use std::borrow::Cow;

/// Time step, ps. In a step of this length from rest, no atom gets a kinetic energy that contributes to the pressure.
const TIMESTEP: f64 = 1e-5;
/// Tolerance of pressures (bar) in double precision: twice the kinetic energies Σ (F dt)²/4m of atoms at rest whose RMS
/// force is 1000 kJ/mol/nm, for 10⁴ hydrogen atoms per 100 nm³.
const PRESSURE: f64 = 2.0 * 100.0 * 2.0 / 3.0 * 0.25 * (1000.0 * TIMESTEP) * (1000.0 * TIMESTEP) / BAR;
/// Tolerance of pressures (bar) on the emulated device: 2·10⁻⁵ of the virial of forces of 1000 kJ/mol/nm within 10⁴
/// bonds of 0.1 nm per 100 nm³.
const MIXED: f64 = 2e-5 * 100.0 * 1000.0 * 0.1 / 3.0 / BAR;

fn stage(frozen: Option<&str>) -> Stage {
    let dynamics =
        Dynamics { timestep: TIMESTEP, velocities: Velocities::File, com_removal: None, ..Dynamics::default() };
    Stage {
        name: "a".to_owned(),
        kind: StageKind::Dynamics(dynamics),
        position_restraints: vec![],
        restraints: vec![],
        frozen: frozen.map(str::to_owned),
        output: StageOutput::default(),
    }
}

/// Returns the pressure (bar) of a state at rest, with frozen atoms.
fn pressure<B: Backend>(sample: &Sample, frozen: Option<&str>, backend: impl FnOnce(&System) -> B) -> f64 {
    let stage = stage(frozen);
    let system: Cow<System> = frozen_system(&stage, &sample.system).unwrap();
    let context = Context::new(Box::new(backend(&system)), sample.schedule());
    let setup = Setup::new(&system, stage.dynamics().unwrap(), 1, true).unwrap();
    let setup = Setup { frozen: FrozenGroups::new(&sample.system, &system, &sample.state), ..setup };
    let mut simulation = Simulation::new(context, setup, &sample.state, StageProgress::default()).unwrap();
    simulation.step(Wanted { energies: true }, |_| Ok(())).unwrap().pressure / BAR
}

#[test]
fn the_pressure_at_rest_does_not_depend_on_frozen_molecules() {
    for (name, some) in [("water", "resid 1-40"), ("tip4pew", "resid 1-40")] {
        let mut sample = Sample::load(name).rigid();
        sample.state.velocities.iter_mut().for_each(|v| *v = Vec3::ZERO);
        // a deviation of constrained distances, divided by the square of the time step, would be a large constraint
        // force
        sample.system.constraints.tolerance = 1e-13;
        prepare(&sample.system, stage(None).dynamics().unwrap(), 1, false, &mut sample.state).unwrap();
        sample.state.velocities.iter_mut().for_each(|v| *v = Vec3::ZERO);
        let reference = |system: &System| {
            Host::new(system, Reference::new(system).unwrap(), Level::Portable, Team::single()).unwrap()
        };
        let device = |system: &System| Cuda::new(system, Emulated::new(0), &sample.schedule()).unwrap();
        let expected = pressure(&sample, None, reference);
        let found = pressure(&sample, Some(some), reference);
        assert!((found - expected).abs() < PRESSURE, "{name}: {found} bar, not {expected} bar");
        let found = pressure(&sample, Some(some), device);
        assert!((found - expected).abs() < MIXED, "{name}: {found} bar on the device, not {expected} bar");
    }
}
