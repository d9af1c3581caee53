//! Estimates of the memory and the run time of a simulation.

use crate::backend::RankShare;
use crate::observe::progress::{counted, duration, three_digits};
use crate::run::{Forecast, Network, Plan, Precision, StageKind, StepTimes};
use crate::simd::Level;
use crate::system::{State, System};
use crate::units::NS_PER_DAY;
use crate::vec3::Vec3;

/// Cost of one step on one processor core, in seconds: per pair within the cutoff (with the pair search), per atom
/// (bonded terms, PME spreading, sums, constraints and integration), and per point of the PME grid.
struct Cost {
    pair: f64,
    atom: f64,
    point: f64,
}

impl Cost {
    /// Returns costs in seconds, measured with AVX-512 in mixed precision on two cores of an AMD EPYC (Zen 4). On these
    /// cores, a step of DHFR (23,558 atoms, 3.5 million pairs, grid of 54³) takes 6.0 ms: 62 % for pairs, 27 % for
    /// atoms, 10 % for the grid. The costs for other instruction sets and for double precision follow from the run
    /// times of two systems on the same machine: DHFR, and 3,000 atoms of water.
    fn of(level: Level, precision: Precision) -> Self {
        match (precision, level) {
            (Precision::Double, _) => Cost { pair: 120e-9, atom: 4e-6, point: 30e-9 },
            (Precision::Mixed, Level::Avx512) => Cost { pair: 2.1e-9, atom: 0.14e-6, point: 7.7e-9 },
            (Precision::Mixed, Level::Avx2) => Cost { pair: 5.5e-9, atom: 0.21e-6, point: 7.7e-9 },
            (Precision::Mixed, Level::Portable) => Cost { pair: 10e-9, atom: 0.25e-6, point: 7.7e-9 },
        }
    }
}

/// Time to distribute the work of one step to threads, in seconds. The time was measured with 22 atoms in vacuum on
/// the machine that [`Cost::of`] describes, and is used for all systems.
const HAND_OVER: f64 = 10e-6;

/// Fraction of the time of pairs that the pair search takes. [`PRUNINGS`] is the number of prunings of the pair list
/// per step, and [`SEARCHES`] is the number of pair searches per step. The constants [`SEARCH`], [`PRUNINGS`] and
/// [`SEARCHES`] were measured for DHFR on the machine that [`Cost::of`] describes.
const SEARCH: f64 = 0.1;
const PRUNINGS: f64 = 0.1;
const SEARCHES: f64 = 0.015;

/// Returns the volume that the atoms occupy, in nm³: the volume of the cell or of the bounding box of the atoms,
/// whichever is smaller.
fn volume(state: &State) -> f64 {
    let extent = |axis: fn(&Vec3) -> f64| {
        let (low, high) = state.positions.iter().map(axis).fold((f64::MAX, f64::MIN), |(a, b), x| (a.min(x), b.max(x)));
        high - low
    };
    let around = extent(|r| r.x) * extent(|r| r.y) * extent(|r| r.z);
    state.cell.map_or(around, |cell| cell.volume().min(around))
}

/// Estimates the number of interacting pairs; each pair counts once. Without a cutoff all pairs interact. With a cutoff
/// the estimate is the number of pairs within `beyond` times the cutoff at the mean density.
fn pairs(system: &System, state: &State, beyond: f64) -> f64 {
    let atoms = system.topology.atoms.len() as f64;
    let settings = &system.settings;
    match settings.cutoff_lj.into_iter().chain(settings.cutoff).reduce(f64::max) {
        Some(reach) => {
            let sphere = 4.0 / 3.0 * std::f64::consts::PI * (beyond * reach).powi(3);
            // atoms on a line or in a plane occupy no volume, and all their pairs count as within the cutoff
            0.5 * atoms * (atoms / volume(state) * sphere).min(atoms)
        }
        None => 0.5 * atoms * atoms,
    }
}

fn grid_points(system: &System) -> f64 {
    system.settings.meshes().map(|mesh| mesh.grid.iter().map(|&n| n as f64).product::<f64>()).sum()
}

/// The processors that compute a run.
#[derive(Clone, Copy)]
pub(super) struct Processors<'a> {
    /// number of threads of each rank
    pub(super) threads: usize,
    pub(super) level: Level,
    /// number of ranks
    pub(super) ranks: usize,
    /// division of the system among ranks; `None` for one rank, and for double precision, whose ranks share the pairs
    /// but do not divide the system
    pub(super) share: Option<&'a RankShare>,
}

impl Processors<'_> {
    /// Returns the times of a step on one rank, in seconds. In double precision the ranks share the pairs.
    fn step_times(&self, plan: &Plan, system: &System, state: &State) -> StepTimes {
        let cost = Cost::of(self.level, plan.run.precision);
        let threads = self.threads as f64;
        let sharing = if plan.run.precision == Precision::Double { self.ranks as f64 } else { 1.0 };
        let pairs = cost.pair * pairs(system, state, 1.0) / (threads * sharing);
        StepTimes {
            pairs: (1.0 - SEARCH) * pairs,
            work: cost.atom * system.topology.atoms.len() as f64 / threads,
            search: SEARCH * pairs,
            mesh: cost.point * grid_points(system) / threads,
            serial: 0.0,
            rest: HAND_OVER,
            prunings: PRUNINGS,
            searches: SEARCHES,
        }
    }

    /// Returns the forecast of the time of a step on all ranks.
    fn forecast(&self, plan: &Plan, system: &System, state: &State) -> Forecast {
        let step = self.step_times(plan, system, state);
        match self.share {
            Some(share) => Forecast::new(&step, share, &Network::CLUSTER),
            None => Forecast::alone(&step),
        }
    }
}

/// Returns the number of steps of all minimisations (an upper bound, because minimisations may converge earlier), and
/// the number of steps of all dynamics stages.
fn steps(plan: &Plan) -> (f64, f64) {
    plan.stages.iter().fold((0.0, 0.0), |(minimisation, dynamics), stage| match &stage.kind {
        StageKind::Minimize(stage) => (minimisation + plan.target(stage.steps) as f64, dynamics),
        StageKind::Dynamics(stage) => (minimisation, dynamics + plan.target(stage.steps) as f64),
    })
}

/// Estimates the wall time of all stages in seconds.
pub(super) fn seconds(plan: &Plan, system: &System, state: &State, processors: Processors<'_>) -> f64 {
    let (minimisation, dynamics) = steps(plan);
    (minimisation + dynamics) * processors.forecast(plan, system, state).seconds()
}

/// Describes the parts of the time of a step on several ranks.
pub(super) fn parts(plan: &Plan, system: &System, state: &State, processors: Processors<'_>) -> String {
    let forecast = processors.forecast(plan, system, state);
    let percent = |seconds: f64| 100.0 * seconds / forecast.seconds();
    let Network { latency, bandwidth } = Network::CLUSTER;
    format!(
        "{:.0} % computation, {:.0} % halo atoms, {:.0} % messages of the PME mesh, {:.0} % orders, if a message takes {:.0} us \
         and the network has {:.0} GB/s; {} limits",
        percent(forecast.compute),
        percent(forecast.halo),
        percent(forecast.mesh),
        percent(forecast.other),
        1e6 * latency,
        1e-9 * bandwidth,
        forecast.limit()
    )
}

/// Describes the estimated duration of all stages.
pub(super) fn time(plan: &Plan, system: &System, state: &State, processors: Processors<'_>) -> String {
    let Processors { threads, level, ranks, .. } = processors;
    let step = processors.forecast(plan, system, state).seconds();
    let timestep = plan.dynamics().next_back().map(|(_, stage)| stage.timestep);
    let speed = timestep.map(|dt| format!(", {} ns/day", three_digits(dt / step * NS_PER_DAY)));
    let threads = counted(threads, "thread");
    let threads = if ranks > 1 { format!("{ranks} ranks of {threads}") } else { threads };
    let machine = match plan.run.precision {
        Precision::Mixed => format!("{threads} with {}", level.name()),
        Precision::Double => format!("{threads} in double precision"),
    };
    let whole = match steps(plan) {
        (0.0, dynamics) => rounded(dynamics * step),
        (minimisation, 0.0) => format!("at most {}", rounded(minimisation * step)),
        (minimisation, dynamics) => {
            format!(
                "{} for dynamics, and at most {} for minimisation",
                rounded(dynamics * step),
                rounded(minimisation * step)
            )
        }
    };
    format!(
        "about {whole} ({} ms per step{}) on {machine} if no other program runs; accurate to a factor of two",
        three_digits(step * 1e3),
        speed.unwrap_or_default()
    )
}

/// Formats an estimated time in seconds, of which the fraction of a second is not known.
fn rounded(seconds: f64) -> String {
    if seconds < 1.0 { "1 s".to_owned() } else { duration(seconds) }
}

/// Memory of the program itself, in bytes: its code, libraries, writers of output, and the page about the run. Runs
/// with 74 to 774 atoms took 25 to 41 MB.
pub(super) const PROGRAM: f64 = 30e6;

/// Estimates the peak memory of a run in bytes as a sum over program, atoms, pair lists and PME grid, correct to a
/// factor of two. The constants were fitted to the resident memory (up to 2 GB) of runs in mixed precision with 22
/// to 155,008 atoms, without a cell or with PME grids of 42³ to 448³ points.
pub(super) fn memory(system: &System, state: &State, threads: usize) -> f64 {
    // bytes per atom: topology, positions, velocities, forces, sorted copies, a copy for checkpoints
    const ATOM: f64 = 1000.0;
    // `POINT` is the number of bytes per grid point for FFT and influence function; `POINT_OF_THREAD` is the number of
    // bytes per grid point and thread for the charge grid with its padding for splines
    const POINT: f64 = 14.0;
    const POINT_OF_THREAD: f64 = 5.0;
    let mesh = (POINT + POINT_OF_THREAD * threads as f64) * grid_points(system);
    PROGRAM + ATOM * system.topology.atoms.len() as f64 + lists(system, state) + mesh
}

/// Estimates the memory in bytes of a rank other than rank 0, correct to a factor of two. `threads` is the number of
/// threads of the rank.
pub(super) fn memory_of_rank(system: &System, state: &State, threads: usize, share: &RankShare) -> f64 {
    // bytes per atom of the domain and its halo. With 1.5 million atoms on 8 ranks, a rank took 225 MB
    const ATOM: f64 = 420.0;
    // bytes per grid point: spectrum before and after each of two transposes, influence function
    const SPECTRUM: f64 = 18.0;
    // bytes per grid point of the planes on which the rank has charges: the charges of each thread, and the potential
    const PLANES: f64 = 5.0;
    let ranks = share.ranks as f64;
    let atoms = share.atoms as f64 / ranks + share.halo_atoms;
    let points = grid_points(system);
    let mesh = (SPECTRUM / ranks + PLANES * (threads + 1) as f64 * share.planes) * points;
    PROGRAM + ATOM * atoms + lists(system, state) / ranks + mesh
}

/// Estimates the memory in bytes of the outer and the inner pair list.
fn lists(system: &System, state: &State) -> f64 {
    // bytes per interacting pair. With a cutoff, the memory per interacting pair is larger, because many atom pairs of
    // a cluster pair are beyond the cutoff
    const PAIR_OF_ALL: f64 = 0.26;
    const PAIR: f64 = 1.0;
    let settings = &system.settings;
    let is_all = settings.cutoff.is_none() && settings.cutoff_lj.is_none();
    let each = if is_all { PAIR_OF_ALL } else { PAIR };
    // the outer list extends 10 % beyond the cutoff
    each * pairs(system, state, 1.1)
}
