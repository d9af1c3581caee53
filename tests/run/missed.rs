//! What the lists of a run miss: the difference of its forces from those of complete lists, along the way.

use std::path::Path;
use std::sync::Arc;

use md::backend::{Backend, Cpu, CpuOptions, Evaluation, ForceField, Host, Workload};
use md::cell::PeriodicCell;
use md::config::{Config, drop_constrained_terms, load};
use md::constraint::{RemovedMotion, degrees_of_freedom};
use md::pair::ListSchedule;
use md::run::{Dynamics, Engine, Plan, Simulation, StageKind, Wanted, schedule};
use md::system::{Electrostatics, State, System};
use md::team::Team;
use md::units::BAR;
use md::vec3::Vec3;

/// Samples are averaged in so many blocks, whose scatter gives the standard error.
const BLOCKS: usize = 10;

/// Mean and standard error.
#[derive(Clone, Copy, Debug)]
struct Mean {
    value: f64,
    error: f64,
}

impl Mean {
    fn of(samples: &[f64]) -> Self {
        let size = samples.len() / BLOCKS;
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let blocks: Vec<f64> = samples.chunks_exact(size).map(mean).collect();
        let value = mean(&blocks);
        let scatter = blocks.iter().map(|block| (block - value).powi(2)).sum::<f64>();
        Mean { value, error: (scatter / blocks.len() as f64 / (blocks.len() - 1) as f64).sqrt() }
    }
}

/// What lists miss.
#[derive(Clone, Copy, Debug)]
struct Missed {
    /// power of the missing forces, which is the drift that they cause, kT/ns per degree of freedom
    drift: Mean,
    /// too much pressure, bar
    pressure: Mean,
    /// RMS of the missing forces, kJ/mol/nm
    force: f64,
}

/// Runs `steps` steps from `start` and looks at every `every`-th of them.
fn missed((plan, system): (&Plan, &System), start: &State, lists: ListSchedule, steps: u64, every: u64) -> Missed {
    let engine = Engine::new(plan).unwrap();
    let cutoff = system.settings.cutoff_lj.unwrap();
    let free = degrees_of_freedom(&system.topology, &system.constraints, RemovedMotion::Translation);
    let volume = start.cell.unwrap().volume();
    let (mut powers, mut pressures, mut squares) = (vec![], vec![], 0.0);
    Arc::clone(&engine.pool).install(|| {
        let backend = Host::new(system, engine.cpu(system, lists).unwrap(), engine.level, engine.team()).unwrap();
        let options = CpuOptions { parts: 1, level: engine.level, schedule: ListSchedule::exact(cutoff) };
        let mut complete = Cpu::new(system, options, Team::single()).unwrap();
        let rules = (lists, 1, free);
        let mut simulation = Simulation::new(backend, dynamics(plan), rules, start, (0, 0.0), None).unwrap();
        let (mut now, mut missing, mut whole) = (State::default(), Vec::<Vec3>::new(), Evaluation::default());
        for step in 0..steps {
            let (sampled, follows) = (step % every == 0, step % every == 1);
            let look = |simulation: &Simulation<'_, Host<Cpu>>| {
                if !sampled && !follows {
                    return Ok(());
                }
                let before = std::mem::take(&mut now.velocities);
                simulation.download(&mut now).unwrap();
                if follows {
                    // velocities at the time of the forces are the mean of both half steps
                    let velocities = before.iter().zip(&now.velocities).map(|(v, w)| (*v + *w) * 0.5);
                    powers.push(missing.iter().zip(velocities).map(|(f, v)| f.dot(v)).sum());
                    return Ok(());
                }
                let (cell, positions) = (now.cell.as_ref(), &now.positions);
                complete.rebuild(cell, positions);
                complete.prune(cell, positions);
                complete.evaluate(cell, positions, Workload { energy: true, virial: true }, &mut whole).unwrap();
                let used = simulation.backend().evaluation();
                missing = used.forces.iter().zip(&whole.forces).map(|(a, b)| *a - *b).collect();
                squares += missing.iter().map(|f| f.norm_squared()).sum::<f64>() / missing.len() as f64;
                pressures.push((used.virial.trace() - whole.virial.trace()) / (3.0 * volume * BAR));
                Ok(())
            };
            simulation.step(Wanted { energies: sampled }, look).unwrap();
        }
    });
    let kinetic =
        0.5 * system.topology.atoms.iter().zip(&start.velocities).map(|(a, v)| a.mass * v.norm_squared()).sum::<f64>();
    let unit = 1e-3 * 2.0 * kinetic / free as f64 * free as f64;
    powers.iter_mut().for_each(|power: &mut f64| *power /= unit);
    Missed {
        drift: Mean::of(&powers),
        pressure: Mean::of(&pressures),
        force: (squares / pressures.len() as f64).sqrt(),
    }
}

fn dynamics(plan: &Plan) -> &Dynamics {
    let StageKind::Dynamics(dynamics) = &plan.stages[0].kind else { unreachable!() };
    dynamics
}

/// A system of `tests/systems`, at constant energy, with lists as they are without any settings.
fn system(name: &str, timestep: f64, forces: &str) -> (Plan, System, State) {
    let folder = std::env::var("EXPLORE_DIR")
        .map_or_else(|_| Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/systems"), std::path::PathBuf::from)
        .join(name);
    let text = format!(
        "[system]\ntopology = \"{name}.prmtop.xz\"\ncoordinates = \"{name}.rst7.xz\"\n[run]\nthreads = 1\n[forces]\n{forces}\n\
         [[stage]]\nkind = \"dynamics\"\nsteps = 1000\ntimestep = \"{timestep} fs\"\n"
    );
    let plan = Config::parse(&text, &folder.join("input.toml"), &[]).unwrap().plan;
    let (mut system, state) = load(&plan).unwrap();
    drop_constrained_terms(&mut system.topology, &system.constraints);
    (plan, system, state)
}

#[test]
fn explore() {
    let Ok(text) = std::env::var("EXPLORE") else { return };
    for line in text.split(';') {
        let w: Vec<&str> = line.split_whitespace().collect();
        let n = |k: usize| w[k].parse::<f64>().unwrap();
        let (name, timestep, heat, height) = (w[0], n(1), n(2), n(3));
        let (plan, mut system, mut start) = system(name, timestep, "cutoff = \"0.9 nm\"");
        start.velocities.iter_mut().for_each(|v| *v = *v * heat.sqrt());
        if height > 1.0 {
            let [a, b, c] = start.cell.unwrap().lengths_angles().0;
            start.cell = Some(PeriodicCell::orthorhombic([a, b, height * c]));
            if let Electrostatics::Pme(pme) = &mut system.settings.electrostatics {
                pme.grid[2] = (pme.grid[2] as f64 * height) as usize;
            }
        }
        let mut lists = schedule(&plan, &system, &start);
        if w.len() > 6 {
            lists.rebuild = n(6) as u32;
            lists.prune = n(7) as u32;
            lists.outer = n(8);
            lists.inner = n(9);
            lists.foresight = n(10);
        }
        let now = missed((&plan, &system), &start, lists, n(4) as u64, n(5) as u64);
        println!(
            "{line}: {lists:?}\n   drift {:.4} +- {:.4} kT/ns/dof, pressure {:.3} +- {:.3} bar, force {:.4}",
            now.drift.value, now.drift.error, now.pressure.value, now.pressure.error, now.force
        );
    }
}
