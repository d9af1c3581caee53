//! A custom external force: an ideal gas in a harmonic trap, E = ½ k Σ r², whose mean energy is 3/2 N kT.
//!
//!     cargo run --release --example external_force
#![allow(clippy::print_stdout, reason = "an example shows its result")]

use md::backend::External;
use md::cell::PeriodicCell;
use md::ensemble::thermostat::{Thermostat, ThermostatKind};
use md::prepare::{AtomSpec, Prepared};
use md::run::{Dynamics, Engine, Plan, Velocities, Wanted};
use md::system::{LennardJones, System};
use md::units::BOLTZMANN;
use md::vec3::{Vec3, vec3};

/// Temperature in K.
const TEMPERATURE: f64 = 300.0;
/// Force constant k, kJ/mol/nm²: atoms are 0.5 nm from the center on average, with a period of 5 ps.
const TRAP: f64 = 60.0;

/// Adds the forces −k r of the trap, and returns the energy of the trap.
fn trap(_cell: Option<&PeriodicCell>, positions: &[Vec3], forces: &mut [Vec3]) -> External {
    let mut energy = 0.0;
    for (position, force) in positions.iter().zip(forces) {
        *force += *position * -TRAP;
        energy += 0.5 * TRAP * position.norm_squared();
    }
    External { energy, ..External::default() }
}

/// Returns the mean energy of the trap per atom, in kT.
fn mean_energy() -> md::error::Result<f64> {
    let mut builder = System::builder();
    let lj_type = builder.lj_type("ideal", LennardJones::from_sigma_epsilon(0.34, 0.0));
    for index in 0..125 {
        let position = vec3(f64::from(index / 25), f64::from(index / 5 % 5), f64::from(index % 5)) * 0.2;
        let (name, element, mass, charge) = ("AR", 18, 39.948, 0.0);
        builder.residue("AR").atom(AtomSpec { name, element, mass, charge, lj_type, position });
    }
    let Prepared { system, mut state, .. } = builder.build()?;
    let (atoms, plan) = (state.positions.len() as f64, Plan::default());
    let kind = ThermostatKind::VRescale;
    let thermostat = Some(Thermostat::new(kind, TEMPERATURE, 0.5, 10));
    let velocities = Velocities::Generate { temperature: TEMPERATURE };
    // the trap acts on the center of mass, whose motion belongs to the ensemble, so the motion of the center of mass is
    // not removed
    let dynamics = Dynamics { timestep: 0.01, velocities, thermostat, com_removal: None, ..Dynamics::default() };
    let mut simulation = Engine::new(&plan)?.simulation(&plan, &system, &dynamics, &mut state)?;
    simulation.add_external_force(trap)?;
    let (mut sum, mut rows) = (0.0, 0.0);
    for step in 0..100_000 {
        let energies = step % 50 == 0;
        let observed = simulation.step(Wanted { energies }, |_| Ok(()))?;
        if energies && step > 20_000 {
            (sum, rows) = (sum + observed.energies.external, rows + 1.0);
        }
    }
    Ok(sum / rows / (atoms * BOLTZMANN * TEMPERATURE))
}

fn main() -> md::error::Result<()> {
    println!("mean energy {:.4} kT per atom, 1.5 by theory", mean_energy()?);
    Ok(())
}
