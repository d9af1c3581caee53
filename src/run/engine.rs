//! Choosing how a run computes: threads, instruction set, backend.

use super::lists::{schedule, single_atom_schedule};
use super::plan::{Device, Plan, Precision, SimdLevel};
use crate::backend::cuda::{self, Cuda, Gpu};
use crate::backend::{Backend, Cpu, CpuOptions, Evaluation, ForceField, Reference, Workload};
use crate::error::{Error, Problem, Result};
use crate::pair::ListSchedule;
use crate::simd::Level;
use crate::system::{State, System};
use std::sync::Arc;

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
        let parts = if plan.run.reproducible { REPRODUCIBLE_PARTS } else { threads };
        Ok(Engine { pool: Arc::new(pool), threads, parts, level, gpu: find_gpu(plan)? })
    }

    /// So many threads and the best instruction set, where there is no plan.
    pub fn on(threads: usize) -> Result<Self> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = pool.map_err(|error| Error::Device(format!("cannot start {threads} threads: {error}")))?;
        Ok(Engine {
            pool: Arc::new(pool),
            threads,
            parts: threads,
            level: Level::detect(),
            gpu: Err("there is no plan".into()),
        })
    }

    /// The GPU on which dynamics of this system runs, or why it does not. Refuses a system that cannot run there.
    pub fn gpu(&self, system: &System) -> Result<std::result::Result<(u32, &str), String>> {
        match &self.gpu {
            Ok((number, name)) => cuda::check(system).map(|()| Ok((*number, name.as_str()))),
            Err(reason) => Ok(Err(reason.clone())),
        }
    }

    /// Parts that the work on this system is cut into, each with sums of its own; a GPU adds all to the same.
    pub fn parts(&self, system: &System) -> Result<usize> {
        Ok(if self.gpu(system)?.is_ok() { 1 } else { self.parts })
    }

    /// The GPU itself, where there is one for this system.
    pub(super) fn cuda(&self, system: &System, lists: &ListSchedule) -> Result<Option<Cuda<Gpu>>> {
        match self.gpu(system)? {
            Ok((number, _)) => Ok(Some(Cuda::new(system, Gpu::open(number)?, lists)?)),
            Err(_) => Ok(None),
        }
    }

    /// List radii and lifetimes for the device that dynamics runs on.
    pub fn lists(&self, plan: &Plan, system: &System, state: &State) -> Result<ListSchedule> {
        Ok(match self.gpu(system)? {
            Ok(_) => single_atom_schedule(plan, system, state),
            Err(_) => schedule(plan, system, state),
        })
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
                if let Some(mut cuda) = self.cuda(system, &self.lists(plan, system, state)?)? {
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
    let most = if plan.run.reproducible { REPRODUCIBLE_PARTS } else { usize::MAX };
    let threads = plan.run.threads.unwrap_or(available.min(most));
    if threads > most {
        return Err(Problem::new(format!(
            "run.reproducible cuts the work into {most} parts: {threads} threads have none"
        ))
        .help(format!("set run.threads to {most} or less, or run.reproducible = false"))
        .into());
    }
    Ok((threads, level))
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
        (Ok(name), Device::Auto) => {
            let reason = "its backend has not been checked on hardware yet; set run.device = \"cuda\" to use it";
            Ok(Err(format!("{name} is here, but {reason}")))
        }
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
