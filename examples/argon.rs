//! Simulates liquid argon, built in code: 864 atoms as in A. Rahman, Phys. Rev. 136, A405 (1964), minimised, melted
//! and simulated.
//!
//!     cargo run --release --example argon
#![allow(clippy::print_stdout, reason = "an example shows its result")]

use md::cell::PeriodicCell;
use md::ensemble::thermostat::{Thermostat, ThermostatKind};
use md::prepare::{AtomSpec, Prepared};
use md::run::{Dynamics, Engine, Minimize, Plan, Velocities, Wanted};
use md::system::{LennardJones, System};
use md::units::BOLTZMANN;
use md::vec3::vec3;

/// Temperature in K.
const TEMPERATURE: f64 = 94.4;
/// Number of unit cells of the face-centered cubic lattice along each edge, and edge of a unit cell in nm. The density
/// is 1.374 g/cm³.
const CELLS: i32 = 6;
const EDGE: f64 = 0.57802;

fn main() -> md::error::Result<()> {
    let mut builder = System::builder();
    builder.title("liquid argon").cell(PeriodicCell::orthorhombic([f64::from(CELLS) * EDGE; 3]));
    let lj_type = builder.lj_type("Ar", LennardJones::from_sigma_epsilon(0.34, 120.0 * BOLTZMANN));
    for corner in 0..CELLS.pow(3) {
        let [x, y, z] = [corner % CELLS, corner / CELLS % CELLS, corner / CELLS.pow(2)].map(f64::from);
        for [dx, dy, dz] in [[0.0, 0.0, 0.0], [0.5, 0.5, 0.0], [0.5, 0.0, 0.5], [0.0, 0.5, 0.5]] {
            let position = vec3(x + dx, y + dy, z + dz) * EDGE;
            builder.residue("AR").atom(AtomSpec {
                name: "AR",
                element: 18,
                mass: 39.948,
                charge: 0.0,
                lj_type,
                position,
            });
        }
    }
    let Prepared { system, mut state, .. } = builder.build()?;
    let (atoms, plan) = (state.positions.len() as f64, Plan::default());
    let engine = Engine::new(&plan)?;
    let lattice = engine.minimize(&plan, &system, &Minimize::default(), &mut state)?;
    println!("lattice energy {:.3} kJ/mol per atom", lattice.energy() / atoms);

    // run at twice the temperature to melt the lattice; the kinetic energy then halves, because half of it turns into
    // potential energy
    let kind = ThermostatKind::VRescale;
    let thermostat = Some(Thermostat::new(kind, TEMPERATURE, 0.5, 10));
    let velocities = Velocities::Generate { temperature: 2.0 * TEMPERATURE };
    let dynamics = Dynamics { timestep: 0.005, velocities, thermostat, ..Dynamics::default() };
    let mut simulation = engine.simulation(&plan, &system, &dynamics, &mut state)?;
    println!("{:>8} {:>10} {:>16}", "time/ps", "T/K", "U/N in kJ/mol");
    let (mut sum, mut rows) = (0.0, 0);
    for step in 0..=12_000 {
        let energies = step % 200 == 0;
        let observed = simulation.step(Wanted { energies }, |_| Ok(()))?;
        let potential = observed.energies.potential() / atoms;
        if energies && step >= 4000 {
            (sum, rows) = (sum + potential, rows + 1);
        }
        if step % 2000 == 0 {
            println!("{:>8.1} {:>10.2} {potential:>16.4}", f64::from(step) * dynamics.timestep, observed.temperature);
        }
    }
    println!("mean potential energy {:.4} kJ/mol per atom", sum / f64::from(rows));
    Ok(())
}
