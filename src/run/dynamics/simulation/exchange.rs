//! Tests of replica exchange for one replica whose temperature changes between two steps, on an emulated device and on
//! the host.

use super::*;
use crate::backend::{Host, Reference};
use crate::ensemble::exchange::scale_velocities;
use crate::ensemble::thermostat::ThermostatKind;
use crate::run::plan::Velocities;
use crate::simd::Level;
use crate::team::Team;
use crate::testing::Sample;

const TIMESTEP: f64 = 0.002;
/// Number of steps before the exchange. The couplings act at the end of the last of these steps. Half of the work of
/// the couplings is not counted yet when the exchange takes place.
const BEFORE: u64 = 2;
/// Factor by which velocities are scaled when the temperature changes from 300 K to 363 K: √1.21.
const FACTOR: f64 = 1.1;
/// Allowed relative difference between the energies on the emulated device and on the host. The limit for energies is
/// 10⁻⁶ of the sum of the absolute energy terms. The energy of the test system is about a third of the sum of the
/// absolute energy terms, because positive and negative terms cancel. The relative difference of the energies may
/// therefore be 3·10⁻⁶.
const ENERGY: f64 = 3e-6;
/// Fluctuation of the conserved energy within a few leapfrog steps, relative to the kinetic energy.
const FLUCTUATION: f64 = 2e-3;

fn dynamics(kind: ThermostatKind, temperature: f64, every: u32) -> Dynamics {
    Dynamics {
        timestep: TIMESTEP,
        velocities: Velocities::File,
        thermostat: Some(Thermostat::new(kind, temperature, 0.1, every)),
        barostat: (kind == ThermostatKind::VRescale).then(|| tests::barostat(2)),
        com_removal: None,
        ..Dynamics::default()
    }
}

/// Returns the conserved energy and the kinetic energy (kJ/mol) of the last step before the exchange and of the two
/// steps after the exchange. If `seen` is false, the energies of the first step after the exchange are not computed.
fn run<B: Backend>(sample: &Sample, backend: B, of: [&Dynamics; 2], seen: bool) -> [[f64; 2]; 3] {
    let context = Context::new(Box::new(backend), sample.schedule());
    let setup = Setup::new(&sample.system, of[0], 7, true).unwrap();
    let mut simulation = Simulation::new(context, setup, &sample.state, StageProgress::default()).unwrap();
    let step = |simulation: &mut Simulation<'_, B>, energies: bool| {
        let Observed { conserved, kinetic, .. } = simulation.step(Wanted { energies }, |_| Ok(())).unwrap();
        [conserved, kinetic]
    };
    let mut last = [0.0; 2];
    for _ in 0..BEFORE {
        last = step(&mut simulation, true);
    }
    simulation.flush().unwrap();
    let (potential, volume) = simulation.potential().unwrap();
    assert!(potential < 0.0 && volume > 1.0);
    let mut state = State::default();
    simulation.download(&mut state).unwrap();
    let masses: Vec<f64> = sample.system.topology.atoms.iter().map(|atom| atom.mass).collect();
    scale_velocities(&mut state, &masses, FACTOR, 1);
    simulation.exchange(&state, of[1]).unwrap();
    [last, step(&mut simulation, seen), step(&mut simulation, true)]
}

#[test]
fn the_conserved_energy_goes_on_where_velocities_are_scaled() {
    let sample = Sample::load("peptide-charged").rigid();
    for kind in [ThermostatKind::VRescale, ThermostatKind::Langevin] {
        let (cold, hot) = (dynamics(kind, 300.0, 2), dynamics(kind, 363.0, 2));
        let host = Host::new(&sample.system, Reference::new(&sample.system).unwrap(), Level::Portable, Team::single());
        let device = run(&sample, sample.emulated(0), [&cold, &hot], true);
        let host = run(&sample, host.unwrap(), [&cold, &hot], true);
        for ([conserved, kinetic], [ours, _]) in host.into_iter().zip(device) {
            let scale = conserved.abs() + kinetic;
            assert!((conserved - ours).abs() < ENERGY * scale, "{kind:?}: {ours} on the device, {conserved}");
            assert!(
                (conserved - host[0][0]).abs() < FLUCTUATION * kinetic,
                "{kind:?}: {conserved} after {}",
                host[0][0]
            );
        }
        let gain = host[1][1] - host[0][1];
        assert!(gain > 0.15 * host[0][1], "{kind:?}: a gain of {gain} kJ/mol is too small for this test");
    }
}

#[test]
fn the_work_of_the_step_after_an_exchange_does_not_depend_on_output() {
    let sample = Sample::load("peptide-charged").rigid();
    let (cold, hot) = (dynamics(ThermostatKind::Langevin, 300.0, 1), dynamics(ThermostatKind::Langevin, 363.0, 1));
    let reference = || Reference::new(&sample.system).unwrap();
    let host = || Host::new(&sample.system, reference(), Level::Portable, Team::single()).unwrap();
    let device = [true, false].map(|seen| run(&sample, sample.emulated(0), [&cold, &hot], seen)[2]);
    let host = [true, false].map(|seen| run(&sample, host(), [&cold, &hot], seen)[2]);
    for [[seen, kinetic], [unseen, _]] in [device, host] {
        // the velocities are the same, and the work is a sum of a thousand products with relative errors of 10⁻¹⁶
        assert!((seen - unseen).abs() < 1e-9 * kinetic, "{seen} and {unseen} kJ/mol");
    }
}
