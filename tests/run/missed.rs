//! Tests of pairs that the lists of a run miss. Along a trajectory, forces from these lists are compared with forces
//! from complete lists.

use std::path::Path;
use std::sync::Arc;

use md::backend::{Cpu, CpuOptions, Evaluation, ForceField, Workload};
use md::cell::PeriodicCell;
use md::config::Config;
use md::constraint::{RemovedMotion, degrees_of_freedom};
use md::context::Context;
use md::ensemble::velocities::{kinetic_energy, maxwell_boltzmann, temperature};
use md::pair::ListSchedule;
use md::prepare::{ConstrainedTerms, Prepared};
use md::run::{Dynamics, Engine, Plan, Setup, Simulation, StageKind, StageProgress, Wanted, load, schedule};
use md::system::{Atom, Electrostatics, State, System};
use md::team::Team;
use md::units::BAR;
use md::vec3::Vec3;

/// Number of blocks of samples, whose scatter gives the standard error.
const BLOCKS: usize = 10;

/// A mean and its standard error.
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

/// Errors that result from the pairs that lists miss.
#[derive(Clone, Copy, Debug)]
struct Missed {
    /// power of the missing forces, which equals the energy drift that the missing forces cause, kT/ns per degree of
    /// freedom
    drift: Mean,
    /// pressure error, bar
    pressure: Mean,
    /// RMS of the missing forces, kJ/mol/nm
    force: f64,
}

/// Runs `steps` steps from `start`, and measures the errors in every `every`-th step.
fn missed(plan: &Plan, system: &System, start: &State, lists: ListSchedule, steps: u64, every: u64) -> Missed {
    let engine = Engine::new(plan).unwrap();
    let cutoff = system.settings.cutoff_lj.unwrap();
    let volume = start.cell.unwrap().volume();
    let (mut powers, mut pressures, mut squares) = (Vec::<f64>::new(), vec![], 0.0);
    Arc::clone(&engine.pool).install(|| {
        let context = Context::new(engine.cpu(system, lists).unwrap(), lists);
        let options = CpuOptions { parts: 1, level: engine.level, schedule: ListSchedule::exact(cutoff) };
        let mut complete = Cpu::new(system, options, Team::single()).unwrap();
        let setup = Setup::new(system, dynamics(plan), 1, true).unwrap();
        let mut simulation = Simulation::new(context, setup, start, StageProgress::default()).unwrap();
        let (mut now, mut missing, mut whole) = (State::default(), Vec::<Vec3>::new(), Evaluation::default());
        for step in 0..steps {
            let (sampled, follows) = (step % every == 0, step % every == 1);
            let look = |simulation: &Simulation<'_>| {
                if !sampled && !follows {
                    return Ok(());
                }
                let before = std::mem::take(&mut now.velocities);
                simulation.download(&mut now).unwrap();
                if follows {
                    // velocities at the time of the forces are the mean of the two half-step velocities
                    let velocities = before.iter().zip(&now.velocities).map(|(v, w)| (*v + *w) * 0.5);
                    powers.push(missing.iter().zip(velocities).map(|(f, v)| f.dot(v)).sum());
                    return Ok(());
                }
                let (cell, positions) = (now.cell.as_ref(), &now.positions);
                complete.rebuild(cell, positions);
                complete.prune(cell, positions, 0.0);
                complete
                    .evaluate(cell, positions, Workload { energy: true, virial: true, ..Workload::FORCES }, &mut whole)
                    .unwrap();
                let used = simulation.backend().evaluation();
                missing = used.forces.iter().zip(&whole.forces).map(|(a, b)| *a - *b).collect();
                squares += missing.iter().map(|f| f.norm_squared()).sum::<f64>() / missing.len() as f64;
                pressures.push((used.virial.trace() - whole.virial.trace()) / (3.0 * volume * BAR));
                Ok(())
            };
            simulation.step(Wanted { energies: sampled }, look).unwrap();
        }
    });
    // converts kJ/mol/ps to kT/ns per degree of freedom: 1000 ps/ns, and 2K = f kT for f degrees of freedom
    let masses: Vec<f64> = system.topology.atoms.iter().map(|atom| atom.mass).collect();
    let unit = 1e-3 * 2.0 * kinetic_energy(&masses, &start.velocities);
    powers.iter_mut().for_each(|power| *power /= unit);
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

/// Returns a system of `tests/systems` with default settings, a stage with the given time step (fs), and the settings
/// `more`.
fn system(name: &str, timestep: f64, more: &str) -> (Plan, System, State) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/systems").join(name);
    let text = format!(
        "[system]\ntopology = \"{name}.prmtop.xz\"\ncoordinates = \"{name}.rst7.xz\"\n[run]\nthreads = 1\n\
         [[stage]]\nkind = \"dynamics\"\nsteps = 1000\ntimestep = \"{timestep} fs\"\n{more}"
    );
    let plan = Config::parse(&text, &folder.join("input.toml"), &[]).unwrap().plan;
    let Prepared { system, state, .. } = load(&plan, ConstrainedTerms::Drop).unwrap();
    (plan, system, state)
}

const COLD: &str = "velocities = \"generate\"\ntemperature = \"94 K\"\n";

/// Returns argon after 20 ps at 94 K. The positions in the file are displaced from a lattice, and this potential energy
/// heats the argon by 45 K.
fn argon() -> (System, State) {
    let bath = format!("{COLD}thermostat = {{ temperature = \"94 K\", coupling_time = \"0.1 ps\" }}");
    let (heated, argon, mut state) = system("argon", 5.0, &bath);
    let drawn = |(atom, parameters): (usize, &Atom)| maxwell_boltzmann(1, 0, atom as u32, parameters.mass, 94.0);
    state.velocities = argon.topology.atoms.iter().enumerate().map(drawn).collect();
    let engine = Engine::new(&heated).unwrap();
    let lists = ListSchedule::exact(1.0);
    Arc::clone(&engine.pool).install(|| {
        let context = Context::new(engine.cpu(&argon, lists).unwrap(), lists);
        let setup = Setup::new(&argon, dynamics(&heated), 1, true).unwrap();
        let mut simulation = Simulation::new(context, setup, &state, StageProgress::default()).unwrap();
        for _ in 0..4000 {
            simulation.step(Wanted::default(), |_| Ok(())).unwrap();
        }
        simulation.flush().unwrap();
        simulation.download(&mut state).unwrap();
    });
    (argon, state)
}

/// Maximum drift in kT/ns per degree of freedom; lists without a buffer reach −0.5.
const DRIFT: f64 = 0.01;
/// Maximum pressure error in bar, the default of `list.pressure_tolerance`.
const PRESSURE: f64 = 0.5;
/// Number of steps between samples. No list lifetime is a multiple of this number, so that lists of every age are
/// sampled.
const EVERY: u64 = 7;

#[test]
fn lists_leave_energy_and_pressure_of_argon_alone() {
    let (argon, start) = argon();
    for timestep in [2.0, 5.0] {
        let plan = system("argon", timestep, COLD).0;
        let lists = schedule(&plan, &argon, &start);
        let own = missed(&plan, &argon, &start, lists, 6000, EVERY);
        println!("{timestep} fs: {lists:?} {own:?}");
        assert!(own.drift.value.abs() + own.drift.error < DRIFT && own.pressure.value.abs() < PRESSURE, "{own:?}");
        // lists without a buffer miss pairs, which the comparison must show
        let bare = ListSchedule { rebuild: 100, prune: 25, outer: 0.9, inner: 0.9, lookahead: 0.012 * timestep };
        let bare = missed(&plan, &argon, &start, bare, 3000, EVERY);
        println!("{timestep} fs, without a buffer: {bare:?}");
        assert!(bare.drift.value < -10.0 * DRIFT && bare.pressure.value > 10.0 * own.pressure.value, "{bare:?}");
        assert!(bare.force > own.force, "{bare:?}");
    }
}

/// Maximum difference (nm) between list radii of water in a full box and in a box with some vacuum.
const SAME_RADIUS: f64 = 0.01;

#[test]
fn lists_are_those_of_the_temperature_of_the_start() {
    const LIVES: &str = "[forces]\nlist = { interval = 40 }";
    let (plan, water, mut start) = system("water", 2.0, LIVES);
    let masses: Vec<f64> = water.topology.atoms.iter().map(|atom| atom.mass).collect();
    let free = degrees_of_freedom(&water.topology, &water.constraints, RemovedMotion::Translation);
    let heat = 560.0 / temperature(kinetic_energy(&masses, &start.velocities), free);
    start.velocities.iter_mut().for_each(|v| *v = *v * heat.sqrt());
    let bath =
        |kelvin: f64| format!("thermostat = {{ temperature = \"{kelvin} K\", coupling_time = \"0.1 ps\" }}\n{LIVES}");
    let radii = |plan: &Plan, start: &State| {
        let lists = schedule(plan, &water, start);
        [lists.outer, lists.inner]
    };
    let still = State { velocities: vec![Vec3::ZERO; start.velocities.len()], ..start.clone() };
    let (own, cold) = (radii(&plan, &start), radii(&plan, &still));
    let hot = radii(&system("water", 2.0, &bath(560.0)).0, &still);
    println!("{own:?} nm, with a bath of 560 K {hot:?}, without either {cold:?}");
    assert!((0..2).all(|list| (own[list] - hot[list]).abs() < 1e-3), "velocities of 560 K count as a bath does");
    assert!(own[0] > cold[0] + SAME_RADIUS);
}

#[test]
fn lists_of_a_slab_in_vacuum_are_those_of_the_liquid() {
    let (plan, mut water, start) = system("water", 2.0, "");
    let bulk = schedule(&plan, &water, &start);
    let [a, b, c] = start.cell.unwrap().lengths_angles().0;
    let slab = State { cell: Some(PeriodicCell::orthorhombic([a, b, 3.0 * c])), ..start };
    if let Electrostatics::Pme(pme) = &mut water.settings.electrostatics {
        pme.grid[2] *= 3;
    }
    let lists = schedule(&plan, &water, &slab);
    println!("{bulk:?} {lists:?}");
    assert_eq!((lists.rebuild, lists.prune), (bulk.rebuild, bulk.prune));
    assert!((lists.outer - bulk.outer).abs() < SAME_RADIUS && (lists.inner - bulk.inner).abs() < SAME_RADIUS);
    // 8 ps, so that the statistical error of the drift is a fifth of the limit
    let missed = missed(&plan, &water, &slab, lists, 4000, EVERY);
    println!("{missed:?}");
    assert!(missed.drift.value.abs() < DRIFT, "{missed:?}");
}
