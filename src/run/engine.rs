//! Choosing how a run computes: threads, instruction set, list schedule, backend.

use super::plan::{Device, Plan, Precision, SimdLevel, StageKind, Velocities};
use crate::backend::{Cpu, CpuOptions, Evaluation, ForceField, Reference, Workload};
use crate::error::{Error, Problem, Result};
use crate::pair::{BufferEstimate, ListSchedule};
use crate::simd::Level;
use std::sync::Arc;

use crate::system::{ListPolicy, State, System};

/// Temperature (K) and time step (ps) of list estimates where no stage names them.
const DEFAULT_TEMPERATURE: f64 = 300.0;
const DEFAULT_TIMESTEP: f64 = 0.002;
/// Atoms per nm³ of a liquid, for estimates without a cell.
const LIQUID_DENSITY: f64 = 100.0;
/// Steps between sortings where every pair is listed anyway.
const UNLIMITED_REBUILD: u32 = 100;

/// Parts the work is cut into where the results shall not depend on the number of threads, and so the most threads that
/// help. More cost more: buffers of neighbouring parts overlap.
const REPRODUCIBLE_PARTS: usize = 16;

/// Threads and instruction set of a run.
pub struct Engine {
    /// every parallel part of a run happens in here
    pub pool: Arc<rayon::ThreadPool>,
    /// number of threads
    pub threads: usize,
    /// parts the work is cut into, on which roundings depend
    parts: usize,
    /// instruction set
    pub level: Level,
}

impl Engine {
    /// As the plan asks, or what the machine has.
    pub fn new(plan: &Plan) -> Result<Self> {
        let (threads, level) = processors(plan)?;
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).thread_name(|index| format!("md-{index}"));
        let pool = if plan.run.pin { pinned(pool, threads)?.build() } else { pool.build() }
            .map_err(|error| Error::Device(format!("cannot start {threads} threads: {error}")))?;
        let parts = if plan.run.reproducible { REPRODUCIBLE_PARTS } else { threads };
        Ok(Engine { pool: Arc::new(pool), threads, parts, level })
    }

    /// So many threads and the best instruction set, where there is no plan.
    pub fn on(threads: usize) -> Result<Self> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = pool.map_err(|error| Error::Device(format!("cannot start {threads} threads: {error}")))?;
        Ok(Engine { pool: Arc::new(pool), threads, level: Level::detect() })
    }

    /// The fast force field with the given lists.
    pub fn cpu(&self, system: &System, schedule: ListSchedule) -> Result<Cpu> {
        let Engine { threads, parts, level, .. } = *self;
        Ok(Cpu::new(system, CpuOptions { threads, parts, level, schedule })?)
    }

    /// Forces, energies and virial of one state.
    pub fn single_point(&self, plan: &Plan, system: &System, state: &State) -> Result<Evaluation> {
        let (cell, positions) = (state.cell.as_ref(), &state.positions);
        let workload = Workload { energy: true, virial: true };
        self.pool.install(|| match plan.run.precision {
            Precision::Double => Ok(Reference::new(system)?.evaluate(cell, positions, workload)),
            Precision::Mixed => {
                let mut field = self.cpu(system, schedule(plan, system, state))?;
                let mut evaluation = Evaluation::default();
                field.rebuild(cell, positions);
                field.prune(cell, positions);
                field.evaluate(cell, positions, workload, &mut evaluation)?;
                Ok(evaluation)
            }
        })
    }
}

/// Threads and instruction set that a plan asks for or the machine has; refuses what it lacks. Starts nothing.
pub fn processors(plan: &Plan) -> Result<(usize, Level)> {
    check_device(plan)?;
    let available = std::thread::available_parallelism().map_or(1, usize::from);
    let level = match plan.run.simd {
        None => Level::detect(),
        Some(SimdLevel::Portable) => Level::Portable,
        Some(SimdLevel::Avx2) => Level::Avx2,
        Some(SimdLevel::Avx512) => Level::Avx512,
    };
    if !level.is_available() {
        return Err(Problem::new(format!("this processor has no {}", level.name()))
            .help("remove run.simd to take the best available")
            .into());
    }
    let most = if plan.run.reproducible { REPRODUCIBLE_PARTS } else { usize::MAX };
    let threads = plan.run.threads.unwrap_or(available.min(most));
    if threads > most {
        return Err(Problem::new(format!("run.reproducible cuts the work into {most} parts: {threads} threads have none"))
            .help(format!("set run.threads to {most} or less, or run.reproducible = false"))
            .into());
    }
    Ok((threads, level))
}

/// Refuses a device for which there is no backend.
pub fn check_device(plan: &Plan) -> Result<()> {
    let Device::Cuda(number) = plan.run.device else { return Ok(()) };
    let message = format!("device cuda:{number} was asked for, but this md has no CUDA backend");
    Err(Error::Device(format!("{message}; set run.device to \"cpu\" or leave it out")))
}

/// Thread i runs on the i-th processor that this process may use.
fn pinned(pool: rayon::ThreadPoolBuilder, threads: usize) -> Result<rayon::ThreadPoolBuilder> {
    let processors = core_affinity::get_core_ids().unwrap_or_default();
    if threads > processors.len() {
        let message = format!("run.pin: {threads} threads need as many processors, and there are {}", processors.len());
        return Err(Problem::new(message).help("lower run.threads, or set run.pin = false").into());
    }
    // a system that refuses leaves the thread free: slower at worst
    Ok(pool.start_handler(move |index| {
        let _ = core_affinity::set_for_current(processors[index]);
    }))
}

/// Radii and lifetimes of the pair lists: from the tolerance and a cost model, the same on every run.
pub fn schedule(plan: &Plan, system: &System, state: &State) -> ListSchedule {
    let settings = &system.settings;
    let (Some(cutoff), Some(cutoff_lj)) = (settings.cutoff, settings.cutoff_lj) else {
        let all = f64::INFINITY;
        return ListSchedule { rebuild: UNLIMITED_REBUILD, prune: UNLIMITED_REBUILD, outer: all, inner: all };
    };
    let atoms = system.topology.atoms.len() as f64;
    let volume = state.cell.map_or(atoms / LIQUID_DENSITY, |cell| cell.volume());
    let (temperature, timestep) = hottest(plan);
    // a pair of images of one atom must not enter a list
    let largest = state.cell.map_or(f64::INFINITY, |cell| 2.0 * cell.max_cutoff() - cutoff.max(cutoff_lj));
    match settings.list {
        ListPolicy::Drift { tolerance, interval } => {
            BufferEstimate::new(system, volume, temperature, timestep).schedule(tolerance, interval, largest)
        }
        ListPolicy::Exact { buffer } => ListSchedule::exact((cutoff.max(cutoff_lj) + buffer).min(largest)),
    }
}

/// The highest temperature (K) and longest time step (ps) of any stage.
fn hottest(plan: &Plan) -> (f64, f64) {
    let mut found: Option<(f64, f64)> = None;
    for stage in &plan.stages {
        if let StageKind::Dynamics(dynamics) = &stage.kind {
            let bath = dynamics.thermostat.as_ref().map_or(0.0, |t| t.temperature);
            let start = match dynamics.velocities {
                Velocities::Generate { temperature } => temperature,
                Velocities::File => 0.0,
            };
            let (temperature, timestep) = found.unwrap_or((0.0, 0.0));
            found = Some((temperature.max(bath).max(start), timestep.max(dynamics.timestep)));
        }
    }
    let (temperature, timestep) = found.unwrap_or((DEFAULT_TEMPERATURE, DEFAULT_TIMESTEP));
    (if temperature > 0.0 { temperature } else { DEFAULT_TEMPERATURE }, timestep)
}
