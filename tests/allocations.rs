//! Tests that a step without output allocates no memory on any thread.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test stops at the first surprise and shows its figures"
)]

use std::alloc::{GlobalAlloc, Layout, System as Heap};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use md::backend::{Backend, Host, Reference};
use md::config::Config;
use md::context::Context;
use md::pair::ListSchedule;
use md::prepare::{ConstrainedTerms, Prepared};
use md::run::{Engine, Precision, Setup, Simulation, StageKind, StageProgress, Wanted, load, schedule};
use md::system::State;

struct Counting;

static COUNT: AtomicU64 = AtomicU64::new(0);

// SAFETY: every call is passed on to the system allocator, and the counter itself allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller guarantees the conditions of `GlobalAlloc`, and the call passes them on unchanged.
        unsafe { Heap.alloc(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        COUNT.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller guarantees the conditions of `GlobalAlloc`, and the call passes them on unchanged.
        unsafe { Heap.realloc(pointer, layout, size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller guarantees the conditions of `GlobalAlloc`, and the call passes them on unchanged.
        unsafe { Heap.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Input whose steps use every phase of the engine: PME, bonded terms, rigid waters, constrained bonds, thermostat and
/// barostat, and removal of the center-of-mass motion.
const INPUT: &str = "[run]\nthreads = 2\n[forces]\ncutoff = \"0.8 nm\"\n\
    [[stage]]\nname = \"a\"\nkind = \"dynamics\"\nduration = \"1 ns\"\ntimestep = \"2 fs\"\ncom_removal = 5\n\
    thermostat = { temperature = \"300 K\", coupling_time = \"0.1 ps\", every = 5 }\n\
    barostat = { pressure = \"1 bar\", coupling_time = \"2 ps\", every = 5 }";
/// Number of steps before allocations are counted, and number of steps in which allocations are counted. Before the
/// count, buffers reach their final sizes, and threads allocate what the operating system needs to put threads to
/// sleep.
const WARM_UP: u64 = 200;
/// Value of [`WARM_UP`] in double precision, which is slow.
const SHORT_WARM_UP: u64 = 40;

/// Step number, number of allocations, and whether pair lists were rebuilt or pruned, for each step.
type Counts = Vec<(u64, u64, bool)>;

fn allocations(lists: &str, stage: &str, precision: Precision) -> Counts {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/systems/peptide-charged");
    let files = "topology = \"peptide-charged.prmtop.xz\"\ncoordinates = \"peptide-charged.rst7.xz\"";
    let input = INPUT.replace("\n[[stage]]", &format!("\n{lists}\n[[stage]]")) + stage;
    let plan = Config::parse(&format!("[system]\n{files}\n{input}"), &folder.join("input.toml"), &[]).unwrap().plan;
    let Prepared { system, state, .. } = load(&plan, ConstrainedTerms::Drop).unwrap();
    let engine = Engine::new(&plan).unwrap();
    let lists = schedule(&plan, &system, &state);
    let StageKind::Dynamics(dynamics) = &plan.stages[0].kind else { unreachable!() };
    let setup = Setup::new(&system, dynamics, 1, true).unwrap();
    Arc::clone(&engine.pool).install(|| match precision {
        Precision::Mixed => count(engine.cpu(&system, lists).unwrap(), setup, &state, lists, WARM_UP),
        Precision::Double => {
            let field = Reference::new(&system).unwrap();
            let host = Box::new(Host::new(&system, field, engine.level, engine.team()).unwrap());
            count(host, setup, &state, lists, SHORT_WARM_UP)
        }
    })
}

fn count(
    backend: Box<impl Backend + ?Sized>,
    setup: Setup<'_>,
    state: &State,
    lists: ListSchedule,
    steps: u64,
) -> Counts {
    let mut simulation = Simulation::new(Context::new(backend, lists), setup, state, StageProgress::default()).unwrap();
    let mut found = Vec::with_capacity(steps as usize);
    for step in 0..2 * steps {
        let (before, searches) = (COUNT.load(Ordering::Relaxed), simulation.searches());
        // energies are computed in every seventh step
        simulation.step(Wanted { energies: step % 7 == 0 }, |_| Ok(())).unwrap();
        let count = COUNT.load(Ordering::Relaxed) - before;
        let pruned = !lists.is_exact() && step.is_multiple_of(u64::from(lists.prune));
        if step >= steps {
            found.push((step, count, pruned || simulation.searches() > searches));
        }
    }
    found
}

#[test]
fn quiet_steps_allocate_nothing() {
    let exact = "list = { buffer = \"0.1 nm\" }";
    let impulses = "\nmultiple_time_steps = { every = 5 }";
    for (lists, stage, precision) in [
        ("", "", Precision::Mixed),
        (exact, "", Precision::Mixed),
        (exact, "", Precision::Double),
        ("", impulses, Precision::Mixed),
        (exact, impulses, Precision::Double),
    ] {
        let found = allocations(lists, stage, precision);
        let quiet: Vec<_> = found.iter().filter(|(_, _, lists)| !lists).collect();
        let busy: u64 = found.iter().filter(|(_, _, lists)| *lists).map(|(_, count, _)| count).sum();
        println!("{} quiet steps; {busy} allocations in the other {}", quiet.len(), found.len() - quiet.len());
        assert!(quiet.len() > found.len() / 2);
        let allocating: Vec<_> = quiet.iter().filter(|(_, count, _)| *count > 0).collect();
        assert!(allocating.is_empty(), "step, allocations: {allocating:?}");
    }
    // an allocation checks that the counter works
    let before = COUNT.load(Ordering::Relaxed);
    drop(std::hint::black_box(vec![1u8]));
    assert!(COUNT.load(Ordering::Relaxed) > before);
}
