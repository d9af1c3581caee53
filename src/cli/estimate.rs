//! Estimates of memory and time of a run.

use crate::observe::progress::{duration, three_digits};
use crate::run::{Plan, Precision, StageKind};
use crate::simd::Level;
use crate::system::{State, System};
use crate::vec3::Vec3;

/// Seconds of one processor core for a step's pairs within the cutoff (their search included), atoms (bonded terms,
/// spreading, sums, constraints, integration) and points of the PME grid.
struct Cost {
    pair: f64,
    atom: f64,
    point: f64,
}

impl Cost {
    /// Measured on two cores of an AMD EPYC (Zen 4). With AVX-512 a step of DHFR (23,558 atoms, 3.5 million pairs, grid of
    /// 54³) takes 6.0 ms, 62 % of it for pairs, 27 % for atoms, 10 % for the grid. The other rows scale this one by runs of
    /// the same system and of 3,000 atoms of water on the same machine.
    fn of(level: Level, precision: Precision) -> Self {
        match (precision, level) {
            (Precision::Double, _) => Cost { pair: 120e-9, atom: 4e-6, point: 30e-9 },
            (Precision::Mixed, Level::Avx512) => Cost { pair: 2.1e-9, atom: 0.14e-6, point: 7.7e-9 },
            (Precision::Mixed, Level::Avx2) => Cost { pair: 5.5e-9, atom: 0.21e-6, point: 7.7e-9 },
            (Precision::Mixed, Level::Portable) => Cost { pair: 10e-9, atom: 0.25e-6, point: 7.7e-9 },
        }
    }
}

/// Seconds of a step to distribute work to threads, for any system (22 atoms in vacuum, machine as above).
const HAND_OVER: f64 = 10e-6;

/// The volume that atoms fill, in nm³: that of the cell, or of a box around them where that is smaller.
fn volume(state: &State) -> f64 {
    let extent = |axis: fn(&Vec3) -> f64| {
        let (low, high) = state.positions.iter().map(axis).fold((f64::MAX, f64::MIN), |(a, b), x| (a.min(x), b.max(x)));
        high - low
    };
    let around = extent(|r| r.x) * extent(|r| r.y) * extent(|r| r.z);
    state.cell.map_or(around, |cell| cell.volume().min(around))
}

/// Pairs that interact, counted once: all, or those within the cutoff at the mean density.
fn pairs(system: &System, state: &State, beyond: f64) -> f64 {
    let atoms = system.topology.atoms.len() as f64;
    let settings = &system.settings;
    match settings.cutoff_lj.into_iter().chain(settings.cutoff).reduce(f64::max) {
        Some(reach) => {
            let sphere = 4.0 / 3.0 * std::f64::consts::PI * (beyond * reach).powi(3);
            // atoms on a line or in a plane fill no volume: then all are near
            0.5 * atoms * (atoms / volume(state) * sphere).min(atoms)
        }
        None => 0.5 * atoms * atoms,
    }
}

fn grid_points(system: &System) -> f64 {
    system.settings.meshes().map(|mesh| mesh.grid.iter().map(|&n| n as f64).product::<f64>()).sum()
}

/// Seconds of a step on so many threads.
fn step_seconds(plan: &Plan, system: &System, state: &State, (threads, level): (usize, Level)) -> f64 {
    let cost = Cost::of(level, plan.run.precision);
    let atoms = system.topology.atoms.len() as f64;
    let work = cost.pair * pairs(system, state, 1.0) + cost.atom * atoms + cost.point * grid_points(system);
    work / threads as f64 + HAND_OVER
}

/// Seconds of all stages on so many threads.
pub(super) fn seconds(plan: &Plan, system: &System, state: &State, processors: (usize, Level)) -> f64 {
    let steps = plan.stages.iter().map(|stage| match &stage.kind {
        StageKind::Minimize(minimize) => plan.target(minimize.steps) as f64,
        StageKind::Dynamics(dynamics) => plan.target(dynamics.steps) as f64,
    });
    steps.sum::<f64>() * step_seconds(plan, system, state, processors)
}

/// How long all stages take on so many threads, in words.
pub(super) fn time(plan: &Plan, system: &System, state: &State, (threads, level): (usize, Level)) -> String {
    let step = step_seconds(plan, system, state, (threads, level));
    let timestep = plan.dynamics().next_back().map(|(_, stage)| stage.timestep);
    let speed = timestep.map(|dt| format!(", {} ns/day", three_digits(dt * 1e-3 * 86_400.0 / step)));
    let machine = match plan.run.precision {
        Precision::Mixed => format!("{threads} threads with {}", level.name()),
        Precision::Double => format!("{threads} threads in double precision"),
    };
    format!(
        "about {} ({} ms per step{}) on {machine}, if nothing else runs there; right to a factor of two",
        duration(seconds(plan, system, state, (threads, level))),
        three_digits(step * 1e3),
        speed.unwrap_or_default()
    )
}

/// Bytes that the program itself takes.
pub(super) const PROGRAM: f64 = 14e6;

/// Bytes a run holds at its peak, right to a factor of two: program, atoms, pair lists and the PME grid. The figures were
/// fitted to runs in mixed precision of 22 to 155,008 atoms, with grids of 42³ to 448³ points and without a cell (14 MB to
/// 2 GB resident).
pub(super) fn memory(system: &System, state: &State, threads: usize) -> f64 {
    // description, positions, velocities, forces, sorted copies, a copy for checkpoints
    const ATOM: f64 = 1000.0;
    // outer and inner list: where all pairs interact the blocks of an entry are full, else they are mostly not
    const PAIR_OF_ALL: f64 = 0.26;
    const PAIR: f64 = 1.0;
    // transform and influence function; charges, padded by splines, of each thread
    const POINT: f64 = 14.0;
    const POINT_OF_THREAD: f64 = 5.0;
    let settings = &system.settings;
    let is_all = settings.cutoff.is_none() && settings.cutoff_lj.is_none();
    // lists reach a tenth beyond the cutoff
    let lists = if is_all { PAIR_OF_ALL } else { PAIR } * pairs(system, state, 1.1);
    let mesh = (POINT + POINT_OF_THREAD * threads as f64) * grid_points(system);
    PROGRAM + ATOM * system.topology.atoms.len() as f64 + lists + mesh
}
