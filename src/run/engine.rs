//! Choosing how a run computes: threads, instruction set, list schedule, backend.

use super::plan::{Device, Plan, Precision, SimdLevel, StageKind, Velocities};
use crate::backend::cuda::{self, Cuda, Gpu};
use crate::backend::{Backend, Cpu, CpuOptions, Evaluation, ForceField, Reference, Workload};
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

/// Threads and instruction set of a run.
pub struct Engine {
    /// every parallel part of a run happens in here
    pub pool: Arc<rayon::ThreadPool>,
    /// number of threads
    pub threads: usize,
    /// instruction set
    pub level: Level,
    /// number and name of the GPU, or why none is used
    gpu: std::result::Result<(u32, String), String>,
}

impl Engine {
    /// As the plan asks, or what the machine has.
    pub fn new(plan: &Plan) -> Result<Self> {
        let (threads, level) = processors(plan)?;
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).thread_name(|index| format!("md-{index}"));
        let pool = if plan.run.pin { pinned(pool, threads)?.build() } else { pool.build() }
            .map_err(|error| Error::Device(format!("cannot start {threads} threads: {error}")))?;
        Ok(Engine { pool: Arc::new(pool), threads, level, gpu: find_gpu(plan)? })
    }

    /// The GPU on which dynamics of this system runs, or why it does not. Refuses a system that cannot run on the GPU that
    /// was asked for.
    pub fn gpu(&self, plan: &Plan, system: &System) -> Result<std::result::Result<(u32, &str), String>> {
        let (number, name) = match &self.gpu {
            Ok((number, name)) => (*number, name.as_str()),
            Err(reason) => return Ok(Err(reason.clone())),
        };
        match cuda::check(system) {
            Ok(()) => Ok(Ok((number, name))),
            Err(error) if plan.run.device == Device::Auto => Ok(Err(error.to_string())),
            Err(error) => Err(error),
        }
    }

    /// The GPU itself, where there is one for this system.
    pub(super) fn cuda(&self, plan: &Plan, system: &System, lists: &ListSchedule) -> Result<Option<Cuda<Gpu>>> {
        match self.gpu(plan, system)? {
            Ok((number, _)) => Ok(Some(Cuda::new(system, Gpu::open(number)?, lists)?)),
            Err(_) => Ok(None),
        }
    }

    /// List radii and lifetimes for the device that dynamics runs on.
    pub fn lists(&self, plan: &Plan, system: &System, state: &State) -> Result<ListSchedule> {
        Ok(schedule_for(plan, system, state, self.gpu(plan, system)?.is_ok()))
    }

    /// The fast force field with the given lists.
    pub fn cpu(&self, system: &System, schedule: ListSchedule) -> Result<Cpu> {
        Ok(Cpu::new(system, CpuOptions { threads: self.threads, level: self.level, schedule })?)
    }

    /// Forces, energies and virial of one state.
    pub fn single_point(&self, plan: &Plan, system: &System, state: &State) -> Result<Evaluation> {
        let (cell, positions) = (state.cell.as_ref(), &state.positions);
        let workload = Workload { energy: true, virial: true };
        self.pool.install(|| match plan.run.precision {
            Precision::Double => Ok(Reference::new(system)?.evaluate(cell, positions, workload)),
            Precision::Mixed => {
                if let Some(mut cuda) = self.cuda(plan, system, &self.lists(plan, system, state)?)? {
                    cuda.upload(state)?;
                    cuda.rebuild_pairs();
                    cuda.prune_pairs();
                    cuda.forces(workload)?;
                    return Ok(cuda.evaluation().clone());
                }
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
    Ok((plan.run.threads.unwrap_or(available), level))
}

/// Refuses a device that is not there.
pub fn check_device(plan: &Plan) -> Result<()> {
    find_gpu(plan).map(|_| ())
}

/// The GPU that a plan asks for, or why it asks for none; refuses one that is not there.
fn find_gpu(plan: &Plan) -> Result<std::result::Result<(u32, String), String>> {
    let number = match (plan.run.device, plan.run.precision) {
        (Device::Cpu, _) => return Ok(Err("as asked for".into())),
        (_, Precision::Double) => return Ok(Err("double precision runs on the CPU only".into())),
        (Device::Cuda(number), Precision::Mixed) => number,
        (Device::Auto, Precision::Mixed) => 0,
    };
    match (cuda::find(number), plan.run.device) {
        (Ok(name), _) => Ok(Ok((number, name))),
        (Err(error), Device::Auto) => Ok(Err(error.to_string())),
        (Err(error), _) => {
            let help = "set run.device to \"cpu\" or leave it out";
            Err(Error::Device(format!("device cuda:{number} was asked for: {error}; {help}")))
        }
    }
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
    schedule_for(plan, system, state, false)
}

/// `gpu`: for lists of single atoms.
fn schedule_for(plan: &Plan, system: &System, state: &State, gpu: bool) -> ListSchedule {
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
            let estimate = BufferEstimate::new(system, volume, temperature, timestep);
            let estimate = if gpu { estimate.of_single_atoms() } else { estimate };
            estimate.schedule(tolerance, interval, largest)
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
