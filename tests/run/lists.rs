//! Lists by displacement never miss a pair.

use std::path::Path;
use std::sync::Arc;

use md::backend::{Backend, Cpu, CpuOptions, Evaluation, ForceField, Host, Workload};
use md::config::{Config, drop_constrained_terms, load};
use md::pair::ListSchedule;
use md::run::{Engine, Simulation, StageKind, Wanted, schedule};
use md::system::State;
use md::team::Team;

const BUFFER: f64 = 0.06;
/// Reaction field with a conductor: forces vanish at the cutoff, so that the rounding of a distance there does not
/// matter, and a pair that comes 0.001 nm within it unnoticed misses 138·0.8²·3·0.001/0.8³ ≈ 0.1 kJ/mol/nm (O–O).
const INPUT: &str = "[run]\nthreads = 1\n[forces]\ncutoff = \"0.8 nm\"\nelectrostatics = \"reaction-field\"\n\
    permittivity = \"infinity\"\nlist = { buffer = \"0.06 nm\" }\n\
    [[stage]]\nname = \"a\"\nkind = \"dynamics\"\nduration = \"1 ps\"\ntimestep = \"2 fs\"\n\
    thermostat = { temperature = \"300 K\", coupling_time = \"0.1 ps\" }\n\
    barostat = { pressure = \"2000 bar\", coupling_time = \"0.5 ps\" }";
/// Largest difference (kJ/mol/nm) between sums in another order: forces of 5000 in f32 with 2⁻²⁴ relative, some
/// hundred terms adding up like a random walk, and Lennard-Jones pairs at the cutoff, 0.06 each.
const ROUNDING: f64 = 0.15;
const STEPS: usize = 150;

fn largest_difference(state: &State, fresh: &mut Cpu, evaluation: &Evaluation) -> f64 {
    let cell = state.cell.as_ref();
    let mut expected = Evaluation::default();
    fresh.cell_changed(cell);
    fresh.rebuild(cell, &state.positions);
    fresh.prune(cell, &state.positions);
    fresh.evaluate(cell, &state.positions, Workload::default(), &mut expected).unwrap();
    let differences = expected.forces.iter().zip(&evaluation.forces).map(|(a, b)| (*a - *b).norm());
    differences.fold(0.0, f64::max)
}

#[test]
fn forces_along_a_run_are_those_of_fresh_lists() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/systems/water");
    let text = format!("[system]\ntopology = \"water.prmtop.xz\"\ncoordinates = \"water.rst7.xz\"\n{INPUT}");
    let plan = Config::parse(&text, &folder.join("input.toml"), &[]).unwrap().plan;
    let (mut system, state) = load(&plan).unwrap();
    drop_constrained_terms(&mut system.topology, &system.constraints);
    let engine = Engine::new(&plan).unwrap();
    let lists = schedule(&plan, &system, &state);
    assert!(lists.is_exact() && (lists.outer - 0.8 - BUFFER).abs() < 1e-12);
    let StageKind::Dynamics(dynamics) = &plan.stages[0].kind else { unreachable!() };
    let freedom = md::constraint::degrees_of_freedom(&system.topology, &system.constraints, true);
    let deviations = |lists: ListSchedule, searches: u64| {
        let backend = Host::new(&system, engine.cpu(&system, lists).unwrap(), engine.level, engine.team()).unwrap();
        let options = CpuOptions { parts: 1, level: engine.level, schedule: ListSchedule::exact(0.8) };
        let mut fresh = Cpu::new(&system, options, Team::single()).unwrap();
        let rules = (lists, 1, freedom);
        let mut simulation = Simulation::new(backend, dynamics, rules, &state, (0, 0.0), None).unwrap();
        let (mut now, mut worst) = (State::default(), 0.0f64);
        for _ in 0..STEPS {
            let look = |simulation: &Simulation<'_, Host<Cpu>>| {
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
        // the same lists for the whole run: pairs are missed, and it shows
        let stale = ListSchedule { rebuild: STEPS as u32, prune: STEPS as u32, ..lists };
        assert!(deviations(stale, 1) > 10.0 * ROUNDING);
    });
}
