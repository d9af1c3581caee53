//! Tests of pairs that are missing from pair lists. Pair lists that expire by displacement must never miss a pair. Pair
//! lists with a fixed lifetime must have equally large errors at the start and at the end of the lifetime.

use std::path::Path;
use std::sync::Arc;

use md::backend::{Cpu, CpuOptions, Evaluation, ForceField, Workload};
use md::config::Config;
use md::context::Context;
use md::pair::ListSchedule;
use md::prepare::{ConstrainedTerms, Prepared};
use md::run::{Engine, Plan, Setup, Simulation, StageKind, StageProgress, Wanted, load, schedule};
use md::system::{State, System};
use md::team::Team;
use md::vec3::Vec3;

const BUFFER: f64 = 0.06;
/// Input with reaction field and an infinite dielectric constant: forces vanish at the cutoff, so that the rounding of
/// distances near the cutoff does not matter. If a list misses an O–O pair whose distance is 0.001 nm below the cutoff,
/// the force has an error of 138·0.8²·3·0.001/0.8³ ≈ 0.5 kJ/mol/nm.
const INPUT: &str = "[run]\nthreads = 1\n[forces]\ncutoff = \"0.8 nm\"\nelectrostatics = \"reaction-field\"\n\
    permittivity = \"infinity\"\nlist = { buffer = \"0.06 nm\" }\n\
    [[stage]]\nname = \"a\"\nkind = \"dynamics\"\nduration = \"1 ps\"\ntimestep = \"2 fs\"\n\
    thermostat = { temperature = \"300 K\", coupling_time = \"0.1 ps\" }\n\
    barostat = { pressure = \"2000 bar\", coupling_time = \"0.5 ps\" }";
/// Alternative barostats: a semi-isotropic barostat that shrinks the cell along z, and a Monte Carlo barostat that
/// changes each box length separately.
const OTHERS: [&str; 2] = [
    "coupling = \"semi-isotropic\", pressure = [\"1 bar\", \"4000 bar\"], coupling_time = \"0.5 ps\"",
    "kind = \"monte-carlo\", coupling = \"anisotropic\", pressure = \"2000 bar\", every = 5",
];
/// Largest difference (kJ/mol/nm) between sums in different orders. The tolerance allows for forces of 5000 kJ/mol/nm
/// in f32 with a relative error of 2⁻²⁴, some hundred terms that add up like a random walk, and Lennard-Jones pairs at
/// the cutoff, 0.06 kJ/mol/nm each.
const ROUNDING: f64 = 0.15;
const STEPS: usize = 150;

/// System of 258 waters, with the settings of `input`.
fn water(input: &str) -> (Plan, System, State) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/systems/water");
    let text = format!("[system]\ntopology = \"water.prmtop.xz\"\ncoordinates = \"water.rst7.xz\"\n{input}");
    let plan = Config::parse(&text, &folder.join("input.toml"), &[]).unwrap().plan;
    let Prepared { system, state, .. } = load(&plan, ConstrainedTerms::Drop).unwrap();
    (plan, system, state)
}

fn largest_difference(state: &State, fresh: &mut Cpu, evaluation: &Evaluation) -> f64 {
    let cell = state.cell.as_ref();
    let mut expected = Evaluation::default();
    fresh.cell_changed(cell);
    fresh.rebuild(cell, &state.positions);
    fresh.prune(cell, &state.positions, 0.0);
    fresh.evaluate(cell, &state.positions, Workload::default(), &mut expected).unwrap();
    let differences = expected.forces.iter().zip(&evaluation.forces).map(|(a, b)| (*a - *b).norm());
    differences.fold(0.0, f64::max)
}

#[test]
fn forces_along_a_run_are_those_of_fresh_lists() {
    along_a_run(INPUT);
    for barostat in OTHERS {
        let input = INPUT.replace("pressure = \"2000 bar\", coupling_time = \"0.5 ps\"", barostat);
        assert!(input != INPUT);
        along_a_run(&input);
    }
}

fn along_a_run(input: &str) {
    let (plan, system, state) = water(input);
    let engine = Engine::new(&plan).unwrap();
    let lists = schedule(&plan, &system, &state);
    assert!(lists.is_exact() && (lists.outer - 0.8 - BUFFER).abs() < 1e-12);
    let StageKind::Dynamics(dynamics) = &plan.stages[0].kind else { unreachable!() };
    let deviations = |lists: ListSchedule, searches: u64| {
        let context = Context::new(engine.cpu(&system, lists).unwrap(), lists);
        let options = CpuOptions { parts: 1, level: engine.level, schedule: ListSchedule::exact(0.8) };
        let mut fresh = Cpu::new(&system, options, Team::single()).unwrap();
        let setup = Setup::new(&system, dynamics, 1, true).unwrap();
        let mut simulation = Simulation::new(context, setup, &state, StageProgress::default()).unwrap();
        let (mut now, mut worst) = (State::default(), 0.0f64);
        for _ in 0..STEPS {
            let look = |simulation: &Simulation<'_>| {
                simulation.download(&mut now).unwrap();
                let evaluation = simulation.backend().evaluation();
                worst = worst.max(largest_difference(&now, &mut fresh, evaluation));
                Ok(())
            };
            simulation.step(Wanted::default(), look).unwrap();
        }
        println!("searches {}, largest deviation {worst:.4} kJ/mol/nm", simulation.searches());
        assert!(simulation.searches() >= searches && simulation.searches() < STEPS as u64 / 2);
        worst
    };
    Arc::clone(&engine.pool).install(|| {
        assert!(deviations(lists, 3) < ROUNDING);
        // lists that are never rebuilt miss pairs, and the comparison must detect this
        let stale = ListSchedule { rebuild: STEPS as u32, prune: STEPS as u32, ..lists };
        assert!(deviations(stale, 1) > 10.0 * ROUNDING);
    });
}

/// Settings with lists for a fixed number of steps, at the default tolerance.
const TOLERANT: &str = "[run]\nthreads = 1\n[forces]\ncutoff = \"0.8 nm\"\n\
    [[stage]]\nname = \"a\"\nkind = \"dynamics\"\nduration = \"1 ps\"\ntimestep = \"2 fs\"";
/// Number of list lifetimes that are simulated, enough that the powers at different ages differ by several times their
/// errors.
const LIVES: u32 = 300;

/// Returns the mean power (kJ/mol/ps) of the forces that lists miss, for each age of the inner list in steps.
fn powers(lists: ListSchedule) -> Vec<f64> {
    let (plan, system, state) = water(TOLERANT);
    let engine = Engine::new(&plan).unwrap();
    let StageKind::Dynamics(dynamics) = &plan.stages[0].kind else { unreachable!() };
    Arc::clone(&engine.pool).install(|| {
        let context = Context::new(engine.cpu(&system, lists).unwrap(), lists);
        let options = CpuOptions { parts: 1, level: engine.level, schedule: ListSchedule::exact(0.9) };
        let mut fresh = Cpu::new(&system, options, Team::single()).unwrap();
        let setup = Setup::new(&system, dynamics, 1, true).unwrap();
        let mut simulation = Simulation::new(context, setup, &state, StageProgress::default()).unwrap();
        let mut powers = vec![0.0; lists.prune as usize];
        let (mut now, mut missing) = (State::default(), vec![]);
        for step in 0..=LIVES * lists.prune {
            let look = |simulation: &Simulation<'_>| {
                let before = std::mem::take(&mut now.velocities);
                simulation.download(&mut now).unwrap();
                if step > 0 {
                    // velocities at the time of the forces are the mean of the two half-step velocities
                    let powers_of = missing.iter().zip(before.iter().zip(&now.velocities));
                    let power: f64 = powers_of.map(|(f, (v, w)): (&Vec3, (&Vec3, _))| f.dot((*v + *w) * 0.5)).sum();
                    powers[((step - 1) % lists.prune) as usize] += power / f64::from(LIVES);
                }
                let mut whole = Evaluation::default();
                fresh.rebuild(now.cell.as_ref(), &now.positions);
                fresh.prune(now.cell.as_ref(), &now.positions, 0.0);
                fresh.evaluate(now.cell.as_ref(), &now.positions, Workload::default(), &mut whole).unwrap();
                let used = &simulation.backend().evaluation().forces;
                missing = used.iter().zip(&whole.forces).map(|(a, b)| *a - *b).collect();
                Ok(())
            };
            simulation.step(Wanted::default(), look).unwrap();
        }
        powers
    })
}

#[test]
fn what_inner_lists_miss_cancels_over_their_life() {
    // with a buffer of 0.1 nm the outer list misses no pair
    let lists = ListSchedule { rebuild: 20, prune: 5, outer: 0.9, inner: 0.8, lookahead: 0.004 };
    let [blind, seeing] = [ListSchedule { lookahead: 0.0, ..lists }, lists].map(powers);
    println!("kJ/mol/ps by age: without lookahead {blind:.2?}, with it {seeing:.2?}");
    let total = |powers: &[f64]| powers.iter().sum::<f64>().abs();
    // with lookahead, errors in the first and in the last steps of a lifetime have opposite signs; without lookahead,
    // the first steps have no errors
    assert!(seeing[0] * seeing[4] < 0.0 && seeing[0].abs() > 3.0 * blind[0].abs());
    assert!(total(&seeing) < 0.3 * total(&blind));
}
