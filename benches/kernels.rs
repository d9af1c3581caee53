//! Benchmarks of the computational kernels: each phase of a step separately, on one thread, for every instruction set
//! of this processor.
//!
//!     cargo bench                      all benchmarks, some minutes
//!     cargo bench -- avx512            one instruction set
//!     cargo bench -- 'pairs|spread'    some phases
//!
//! A reported time is the time of a thousand units of work, so a reported time of 7.1 µs means 7.1 ns per unit.
//! Depending on the phase, a unit is sixteen slots of the pair kernel, an atom, a bonded term, or a water molecule.
//! Phases are timed within whole steps that start from the same state. The CPU caches therefore hold the data that the
//! preceding phase leaves. The Fourier transform is timed separately, and the reported time is the time of one
//! transform.

#![allow(missing_docs, reason = "the macros of criterion create public functions without doc comments")]
#![allow(clippy::expect_used, reason = "a benchmark cannot run without the system that it measures")]

use std::path::Path;
use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use md::backend::{Backend, Cpu, CpuOptions, Host, Leapfrog, Phases, Workload};
use md::bench::{Case, Prepared};
use md::compute::Fft3;
use md::run::schedule;
use md::simd::Level;
use md::team::Team;

/// Number of units of work to which a reported time refers.
const UNITS: f64 = 1000.0;

fn system(name: &str) -> Prepared {
    let inputs = Path::new(env!("CARGO_MANIFEST_DIR")).join("inputs");
    let case = Case::find(name).expect("the benchmark suite has a system with this name");
    case.prepare(&[inputs], &[]).expect("the project contains the input files of the benchmark suite")
}

/// A backend on one thread that can repeat the same step.
struct Steps<'a> {
    prepared: &'a Prepared,
    backend: Host<Cpu>,
}

impl<'a> Steps<'a> {
    fn new(prepared: &'a Prepared, level: Level) -> Self {
        let Prepared { plan, system, state, .. } = prepared;
        let options = CpuOptions { parts: 1, level, schedule: schedule(plan, system, state) };
        let field = Cpu::new(system, options, Team::single()).expect("a supported system");
        let mut backend = Host::new(system, field, level, Team::single()).expect("a supported system");
        backend.upload(state).expect("the state belongs to the same system as the backend");
        backend.build_lists().expect("lists");
        backend.prune_lists(0.0).expect("lists");
        Steps { prepared, backend }
    }

    /// Returns the time (s) that a phase takes in `runs` calls of `work`.
    fn seconds(&mut self, runs: u64, phase: fn(&Phases) -> f64, work: fn(&mut Self)) -> f64 {
        let before = phase(&self.backend.phases().expect("times"));
        (0..runs).for_each(|_| work(self));
        phase(&self.backend.phases().expect("times")) - before
    }

    fn forces(&mut self) {
        self.backend.forces(Workload::default()).expect("finite forces");
    }

    /// Returns to the initial state, for which the pair lists are valid, then computes forces and integrates one step.
    fn step(&mut self) {
        self.backend.upload(&self.prepared.state).expect("a state of that system");
        self.forces();
        let step = Leapfrog { timestep: self.prepared.dynamics.timestep, kinetic: true, ..Leapfrog::default() };
        self.backend.integrate(step, None).expect("a stable step");
    }
}

/// Benchmarks one phase of one system at every instruction set. `units` returns the number of units that the phase
/// processes in a step.
fn phase(
    criterion: &mut Criterion,
    name: &str,
    prepared: &Prepared,
    phase: fn(&Phases) -> f64,
    work: fn(&mut Steps<'_>),
    units: fn(&Steps<'_>) -> f64,
) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("one thread");
    let mut group = criterion.benchmark_group(name);
    for level in Level::available() {
        group.bench_function(level.name(), |bencher| {
            let mut steps = pool.install(|| Steps::new(prepared, level));
            let per_unit = UNITS / units(&steps);
            bencher.iter_custom(|runs| {
                Duration::from_secs_f64(pool.install(|| steps.seconds(runs, phase, work)) * per_unit)
            });
        });
    }
    group.finish();
}

fn atoms(steps: &Steps<'_>) -> f64 {
    steps.prepared.system.topology.atoms.len() as f64
}

fn terms(steps: &Steps<'_>) -> f64 {
    let terms = &steps.prepared.system.topology.bonded;
    let torsions = terms.propers.len() + terms.impropers.len() + terms.harmonic_impropers.len() + terms.cmaps.len();
    (terms.bonds.len() + terms.urey_bradleys.len() + terms.angles.len() + torsions + terms.pairs14.len()) as f64
}

fn protein(criterion: &mut Criterion) {
    let dhfr = system("dhfr");
    let mut run = |name, of, work, units| phase(criterion, name, &dhfr, of, work, units);
    run(
        "pairs, 16 slots",
        |p| p.pairs,
        |steps| steps.forces(),
        |steps| steps.backend.pair_counts().expect("lists").slots as f64 / 16.0,
    );
    run("spread, atom", |p| p.pme_spread, |steps| steps.forces(), atoms);
    run("gather, atom", |p| p.pme_gather, |steps| steps.forces(), atoms);
    run("bonded, term", |p| p.bonded, |steps| steps.forces(), terms);
    run("list search, atom", |p| p.search, |steps| steps.backend.build_lists().expect("lists"), atoms);
    run("list pruning, atom", |p| p.search, |steps| steps.backend.prune_lists(0.0).expect("lists"), atoms);
    run(
        "SETTLE and SHAKE, constraint",
        |p| p.constraints,
        |steps| steps.step(),
        |steps| steps.prepared.system.constraints.count() as f64,
    );
}

fn water(criterion: &mut Criterion) {
    let water = system("water-24k");
    let waters = |steps: &Steps<'_>| steps.prepared.system.constraints.settles.len() as f64;
    phase(criterion, "SETTLE, water", &water, |p| p.constraints, |steps| steps.step(), waters);
}

fn transforms(criterion: &mut Criterion) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("one thread");
    let mut group = criterion.benchmark_group("real FFT forward, call");
    for size in [48, 64, 96] {
        let mut fft = pool.install(|| Fft3::new([size; 3]));
        let mut real = vec![0f32; size * size * size];
        let mut complex = vec![Default::default(); fft.reciprocal_size().iter().product()];
        group.bench_function(format!("{size} x {size} x {size}"), |bencher| {
            bencher.iter(|| pool.install(|| fft.forward(&mut real, &mut complex)));
        });
    }
    group.finish();
}

criterion_group! {
    name = kernels;
    config = Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(2));
    targets = protein, water, transforms
}
criterion_main!(kernels);
