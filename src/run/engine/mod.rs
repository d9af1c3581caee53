//! Choice of the resources that compute a run: threads, instruction set, backend.

pub(super) mod lists;
pub(super) mod rank_processors;
mod ranks;
pub(super) mod reference_check;
mod scaling;
mod self_check;
pub(super) mod threads;
pub(super) mod tuning;

pub use lists::{describe_lists, schedule};
pub use ranks::{check_ranks, release_ranks};
pub use scaling::{Forecast, Network, StepTimes};

use crate::run::engine::lists::{ListChoices, single_atom_schedule};
use crate::run::engine::self_check::{Verdict, compare};
use crate::run::engine::threads::{check_threads, pinned, start};
use crate::run::plan::{Device, Plan, Precision, RunOptions};
// unit tests of whole runs use an emulated GPU
#[cfg(test)]
use crate::backend::choice::emulated_gpu as gpu;
#[cfg(not(test))]
use crate::backend::choice::gpu;
use crate::backend::choice::{cpu, double_precision};
use crate::backend::cuda::{self, Programs};
use crate::backend::{Backend, CpuOptions, Domains, Evaluation, GPU, Workload};
use crate::compute::cuda::title;
use crate::context::Context;
use crate::error::{Error, Problem, Result};
use crate::pair::ListSchedule;
use crate::ranks::Ranks;
use crate::restraint::Restraints;
use crate::simd::Level;
use crate::system::{State, System};
use crate::team::Team;
use std::path::Path;
use std::sync::{Arc, Mutex};

/// Number of chunks of work with `reproducible = true`. With a fixed number of chunks, results do not depend on the
/// number of threads. More threads than chunks do not make a run faster. More chunks would make a run slower, because
/// each chunk has its own force buffer, and several buffers contain forces on the same atoms.
pub(in crate::run) const REPRODUCIBLE_PARTS: usize = 16;

/// Resources that compute a run: threads, CPU instruction set, GPU, MPI ranks.
pub struct Engine {
    /// rayon thread pool of the run
    pub pool: Arc<rayon::ThreadPool>,
    /// team of worker threads that share the work of a step
    team: Arc<Team>,
    /// number of threads that share the work of a step
    pub threads: usize,
    /// number of chunks into which the work of a step is divided; rounding errors depend on this number
    pub(in crate::run) parts: usize,
    /// instruction set of the CPU kernels
    pub level: Level,
    /// whether the engine chooses the device (`device = "auto"`)
    automatic: bool,
    /// cache of compiled GPU kernels
    programs: Programs,
    accelerator: Accelerator,
    /// MPI ranks that share the atoms of a system
    pub(in crate::run) ranks: Ranks,
    /// warnings about an assignment of processors that makes the ranks slow
    pub(in crate::run) warnings: Vec<String>,
}

/// GPU of the engine, or the reason why there is none.
enum Accelerator {
    /// the run uses no GPU; the text is the reason
    None(String),
    /// a GPU that may be used once its results have been compared with the results of the CPU
    Gpu {
        number: u32,
        name: String,
        /// text for the log that states how closely the results of the GPU agree with the results of the CPU; `None`
        /// before the comparison
        agreement: Option<String>,
    },
}

/// Device (CPU or GPU) that computes the forces and steps of a system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Placement<'a> {
    /// the CPU computes the system; the text is the reason
    Cpu(String),
    /// a GPU computes the system
    Gpu {
        /// index of the device in the CUDA driver
        number: u32,
        /// model name of the GPU
        name: &'a str,
    },
}

impl Placement<'_> {
    /// Whether the system is computed on a GPU.
    pub fn is_gpu(&self) -> bool {
        matches!(self, Placement::Gpu { .. })
    }
}

impl Engine {
    /// Creates an engine with the threads, instruction set and device of the plan. Settings that the plan leaves open
    /// are chosen to suit the machine.
    pub fn new(plan: &Plan) -> Result<Self> {
        Self::beside(plan, 0)
    }

    /// Creates an engine like [`Engine::new`] for a run that shares the machine with `others` other runs, all with the
    /// same number of threads. If threads are bound to processors, this engine leaves the first processors to the other
    /// runs.
    pub fn beside(plan: &Plan, others: usize) -> Result<Self> {
        let (threads, level) = processors(plan)?;
        let processors = if plan.run.pin { pinned(threads, others)? } else { vec![] };
        let (pool, team) = start(threads, processors)?;
        let parts = if plan.run.reproducible { REPRODUCIBLE_PARTS } else { threads };
        let automatic = plan.run.device == Device::Auto;
        let accelerator = find_gpu(plan)?;
        let (programs, ranks) = (Programs::default(), Ranks::alone());
        Ok(Engine { pool, team, threads, parts, level, automatic, programs, accelerator, ranks, warnings: vec![] })
    }

    /// Sets the folder in which compiled GPU kernels are cached; the folder need not exist yet.
    pub fn with_cache(self, folder: Option<&Path>) -> Self {
        Engine { programs: Programs::new(folder.map(|folder| folder.join("kernels"))), ..self }
    }

    /// Creates an engine for the CPU without a plan, with this number of threads and the best instruction set.
    pub fn on(threads: usize) -> Result<Self> {
        let run = RunOptions { device: Device::Cpu, threads: Some(threads), ..RunOptions::default() };
        Self::new(&Plan { run, ..Plan::default() })
    }

    /// Compares forces and energies of GPU and CPU at a state, unless they were compared before. If the results differ
    /// and the plan requests the GPU, returns an error. If the results differ and the engine chose the GPU, switches to
    /// the CPU and returns the reason. GPU and CPU cannot be compared at a state with overlapping atoms. If atoms
    /// overlap, the caller must call this function again with a later state.
    pub fn verify(&mut self, plan: &Plan, system: &System, state: &State) -> Result<Option<String>> {
        let Accelerator::Gpu { number, agreement: None, .. } = self.accelerator else { return Ok(None) };
        if let Err(problem) = cuda::check(system) {
            return match self.automatic {
                // no warning is given if the GPU works but does not support this system
                true => self.give_up_gpu(&problem.message).map(|_| None),
                false => Err(problem.into()),
            };
        }
        let verdict = self.pool.install(|| {
            let (gpu_lists, cpu_lists) = (single_atom_schedule(plan, system, state), schedule(plan, system, state));
            let mut gpu = Context::new(gpu(system, number, &self.programs, &gpu_lists)?, gpu_lists);
            let mut cpu = Context::new(self.cpu(system, cpu_lists)?, cpu_lists);
            compare(&mut gpu, &mut cpu, state)
        });
        self.conclude(verdict)
    }

    /// Applies the result of a comparison of GPU and CPU. Returns the reason if the GPU must not be used.
    fn conclude(&mut self, verdict: Result<Verdict>) -> Result<Option<String>> {
        let error = match (verdict, &mut self.accelerator) {
            (Ok(Verdict::Agrees(how)), Accelerator::Gpu { agreement, .. }) => {
                *agreement = Some(how);
                return Ok(None);
            }
            (Ok(Verdict::Differs(how)), _) => Error::Device(format!(
                "{how}: this GPU or its driver is faulty, or md has a defect; please report this message"
            )),
            (Ok(_), _) => return Ok(None),
            (Err(error), _) => error,
        };
        if self.automatic { self.give_up_gpu(&error.to_string()).map(Some) } else { Err(error) }
    }

    /// Switches to the CPU for the rest of the run and returns the reason.
    fn give_up_gpu(&mut self, reason: &str) -> Result<String> {
        let name = match &self.accelerator {
            Accelerator::None(_) => "",
            Accelerator::Gpu { name, .. } => name,
        };
        let reason = format!("{name} is available, but {reason}");
        self.accelerator = Accelerator::None(reason.clone());
        Ok(reason)
    }

    /// Whether there is a GPU whose results have not been compared with those of the CPU yet.
    pub fn is_undecided(&self) -> bool {
        matches!(self.accelerator, Accelerator::Gpu { agreement: None, .. })
    }

    /// Describes how closely the results of the GPU agree with those of the CPU; `None` before the comparison.
    pub fn agreement(&self) -> Option<&str> {
        match &self.accelerator {
            Accelerator::None(_) => None,
            Accelerator::Gpu { agreement, .. } => agreement.as_deref(),
        }
    }

    /// Returns the device that computes this system. Returns an error if the plan requests the GPU and the GPU does not
    /// support the system. With `device = "auto"`, a GPU is used only after [`Engine::verify`] has accepted it.
    pub fn placement(&self, system: &System) -> Result<Placement<'_>> {
        match &self.accelerator {
            Accelerator::None(reason) => Ok(Placement::Cpu(reason.clone())),
            Accelerator::Gpu { name, agreement: None, .. } if self.automatic => {
                Ok(Placement::Cpu(format!("{name} is available, but has not been compared with the CPU yet")))
            }
            Accelerator::Gpu { number, name, .. } => {
                cuda::check(system)?;
                Ok(Placement::Gpu { number: *number, name })
            }
        }
    }

    /// Returns the number of chunks into which the work of a step is divided for this system; 1 on a GPU. Each chunk
    /// has its own buffer of forces and energies.
    pub fn parts(&self, system: &System) -> Result<usize> {
        Ok(if self.placement(system)?.is_gpu() { 1 } else { self.parts })
    }

    /// Creates the context of a system on the device of the plan, with pair lists of the schedule `lists`.
    pub fn context(&self, plan: &Plan, system: &System, lists: ListSchedule) -> Result<Context> {
        let backend: Box<dyn Backend> = match (plan.run.precision, self.placement(system)?) {
            (Precision::Double, _) => double_precision(system, &self.serving())?,
            (Precision::Mixed, Placement::Gpu { number, .. }) => gpu(system, number, &self.programs, &lists)?,
            (Precision::Mixed, Placement::Cpu(_)) if self.ranks.count() > 1 => {
                Box::new(Domains::new(&self.serving(), system, lists)?)
            }
            (Precision::Mixed, Placement::Cpu(_)) => self.cpu(system, lists)?,
        };
        Ok(Context::new(backend, lists))
    }

    /// Returns the pair list schedules among which a run may choose on the device that computes dynamics.
    pub(in crate::run) fn choices<'a>(
        &self,
        plan: &Plan,
        system: &'a System,
        state: &State,
    ) -> Result<ListChoices<'a>> {
        let choices = ListChoices::new(plan, system, state);
        Ok(if self.placement(system)?.is_gpu() { choices.of_single_atoms() } else { choices })
    }

    /// Returns radii and lifetimes of the pair lists for the device that computes dynamics.
    pub fn lists(&self, plan: &Plan, system: &System, state: &State) -> Result<ListSchedule> {
        Ok(self.choices(plan, system, state)?.by(plan.run.tuning))
    }

    /// Returns the team of worker threads that share the work of a step.
    pub fn team(&self) -> Arc<Team> {
        Arc::clone(&self.team)
    }

    /// Creates the fast CPU backend for a system, with pair lists of `schedule`.
    pub fn cpu(&self, system: &System, schedule: ListSchedule) -> Result<Box<dyn Backend>> {
        let Engine { parts, level, .. } = *self;
        cpu(system, CpuOptions { parts, level, schedule }, self.team())
    }

    /// Computes forces, energies and virial of one state. A GPU is used only if the plan requests a GPU. The GPU is not
    /// verified first, because the verification calls this function.
    pub fn single_point(&self, plan: &Plan, system: &System, state: &State) -> Result<Evaluation> {
        self.restrained_point(plan, system, state, &Restraints::default())
    }

    /// Computes forces, energies and virial of one state with the restraints of a stage ([`super::restraints`]), at
    /// the time at which the stage starts.
    pub fn restrained_point(
        &self,
        plan: &Plan,
        system: &System,
        state: &State,
        restraints: &Restraints,
    ) -> Result<Evaluation> {
        self.pool.install(|| {
            let mut context = self.context(plan, system, self.lists(plan, system, state)?)?;
            context.restrain(restraints, &[])?;
            context.set_state(state)?;
            context.forces(Workload { energy: true, virial: true, ..Workload::FORCES }).cloned()
        })
    }
}

/// Runs `work` on the first thread of a pool. If threads are bound to processors, no worker of the team uses the
/// processor of the first thread.
pub(in crate::run) fn run_on_first_thread<R: Send>(pool: &rayon::ThreadPool, work: impl FnOnce() -> R + Send) -> R {
    let work = Mutex::new(Some(work));
    let take = || work.lock().ok()?.take();
    let results = pool.broadcast(|thread| if thread.index() == 0 { take().map(|work| work()) } else { None });
    results.into_iter().flatten().next().expect("every pool has a first thread")
}

/// Returns the number of threads and the instruction set of a plan. Settings that the plan leaves open are chosen to
/// suit the machine. Returns an error if the machine lacks a resource that the plan requests. Starts no threads.
pub fn processors(plan: &Plan) -> Result<(usize, Level)> {
    check_device(plan)?;
    let available = std::thread::available_parallelism().map_or(1, usize::from);
    let level = plan.run.simd.unwrap_or_else(Level::detect);
    if !level.is_available() {
        return Err(Problem::new(format!("this processor does not support {}", level.name()))
            .help("remove run.simd to use the best instruction set of this processor")
            .of_key(&["run", "simd"])
            .into());
    }
    let most = if plan.run.reproducible { REPRODUCIBLE_PARTS } else { usize::MAX };
    let threads = plan.run.threads.unwrap_or(available.min(most));
    if threads > most {
        return Err(Problem::new(format!(
            "run.reproducible divides the work into {most} chunks, so at most {most} threads can be used; run.threads is \
             {threads}"
        ))
        .help(format!("set run.threads to {most} or less, or run.reproducible = false"))
        .of_key(&["run", "threads"])
        .into());
    }
    check_threads(threads)?;
    Ok((threads, level))
}

/// Returns an error if the device of the plan does not exist.
pub fn check_device(plan: &Plan) -> Result<()> {
    find_gpu(plan).map(|_| ())
}

/// Describes the device that a run of this system would use, and why, for `md check`. Returns an error if the plan
/// requests a GPU that does not exist or does not support the system.
pub fn describe_device(plan: &Plan, system: &System) -> Result<String> {
    let automatic = plan.run.device == Device::Auto;
    match find_gpu(plan)? {
        Accelerator::None(reason) if automatic => Ok(format!("CPU, chosen automatically: {reason}")),
        Accelerator::None(reason) => Ok(format!("CPU, {reason}")),
        Accelerator::Gpu { number, name, .. } => match cuda::check(system) {
            Ok(()) if automatic => Ok(format!("{}, if its forces agree with those of the CPU", title(&name, number))),
            Ok(()) => Ok(title(&name, number)),
            Err(problem) if automatic => {
                Ok(format!("CPU, chosen automatically: {name} is available, but {}", problem.message))
            }
            Err(problem) => Err(problem.into()),
        },
    }
}

/// Finds the GPU of a plan, or the reason why the run uses no GPU. Returns an error if the plan requests a GPU that
/// does not exist or does not support a feature of the plan.
fn find_gpu(plan: &Plan) -> Result<Accelerator> {
    let number = match (plan.run.device, plan.run.precision) {
        (Device::Cpu, _) => return Ok(Accelerator::None("as asked for".into())),
        (_, Precision::Double) => return Ok(Accelerator::None("double precision is available only on the CPU".into())),
        (Device::Cuda(number), Precision::Mixed) => number,
        (Device::Auto, Precision::Mixed) => 0,
    };
    if let Some(why) = GPU.refusal(plan.features()) {
        return match plan.run.device {
            Device::Auto => Ok(Accelerator::None(why)),
            _ => Err(Problem::new(why).help("set run.device = \"cpu\"").of_key(&["run", "device"]).into()),
        };
    }
    match (cuda::find(number), plan.run.device) {
        (Ok(name), _) => Ok(Accelerator::Gpu { number, name, agreement: None }),
        (Err(error), Device::Auto) => Ok(Accelerator::None(error.to_string())),
        (Err(error), _) => {
            let help = "set run.device to \"cpu\" or leave it out";
            Err(Error::Device(format!("device cuda:{number} cannot be used: {error}; {help}")))
        }
    }
}

#[cfg(test)]
impl Engine {
    /// Creates an engine with the emulated GPU of the given number. `automatic` is true if the engine chose the GPU,
    /// and false if the plan requested the GPU.
    pub(in crate::run) fn with_gpu(number: u32, automatic: bool) -> Self {
        let accelerator = Accelerator::Gpu { number, name: "A GPU".into(), agreement: None };
        Engine { automatic, accelerator, ..Engine::on(1).expect("a thread") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ensemble::multiple_time_steps::MultipleTimeSteps;
    use crate::ensemble::thermostat::{Thermostat, ThermostatKind};
    use crate::run::plan::RunOptions;
    use crate::run::plan::stage_output::StageOutput;
    use crate::run::plan::{Dynamics, Stage, StageKind};
    use crate::testing::Sample;

    fn engine(automatic: bool) -> Engine {
        Engine::with_gpu(0, automatic)
    }

    fn placement(engine: &Engine) -> Placement<'_> {
        engine.placement(&Sample::load("argon").system).expect("argon can be computed anywhere")
    }

    #[test]
    fn auto_takes_a_gpu_that_agrees() {
        let mut engine = engine(true);
        assert!(!placement(&engine).is_gpu(), "not before it has been compared");
        assert_eq!(engine.conclude(Ok(Verdict::Undecided)).unwrap(), None);
        assert!(!placement(&engine).is_gpu());
        assert_eq!(engine.conclude(Ok(Verdict::Agrees("forces are right".into()))).unwrap(), None);
        assert!(placement(&engine).is_gpu());
        assert_eq!(engine.agreement(), Some("forces are right"));
    }

    #[test]
    fn a_gpu_is_not_given_what_it_lacks() {
        let (sample, plan) = (Sample::load("ions"), Plan::default());
        let refusal = engine(false).placement(&sample.system).expect_err("no such ions on a GPU").to_string();
        assert!(refusal.contains("12-6-4") && refusal.contains("run.device = \"cpu\""), "{refusal}");
        let mut automatic = engine(true);
        assert_eq!(automatic.verify(&plan, &sample.system, &sample.state).unwrap(), None);
        let placement = automatic.placement(&sample.system).unwrap();
        assert!(matches!(&placement, Placement::Cpu(why) if why.contains("12-6-4")), "{placement:?}");
    }

    #[test]
    fn a_gpu_is_not_given_a_method_that_it_lacks() {
        let thermostat = Thermostat::new(ThermostatKind::Andersen, 300.0, 1.0, 1);
        let dynamics = Dynamics { thermostat: Some(thermostat), ..Dynamics::default() };
        let impulses = Some(MultipleTimeSteps { every: 2 });
        let multiple = Dynamics { multiple_time_steps: impulses, ..Dynamics::default() };
        for (dynamics, what) in [(dynamics, "Andersen's thermostat"), (multiple, "multiple time steps")] {
            let stages = vec![Stage {
                name: "hot".into(),
                kind: StageKind::Dynamics(dynamics),
                position_restraints: vec![],
                restraints: vec![],
                frozen: None,
                output: StageOutput::default(),
            }];
            let plan = |device| Plan {
                stages: stages.clone(),
                run: RunOptions { device, ..RunOptions::default() },
                ..Plan::default()
            };
            let found = find_gpu(&plan(Device::Auto)).unwrap();
            assert!(matches!(&found, Accelerator::None(why) if why.contains("\"hot\"") && why.contains(what)));
            let refusal = find_gpu(&plan(Device::Cuda(0))).map(|_| ()).expect_err(what).to_string();
            assert!(refusal.contains("\"hot\"") && refusal.contains("run.device"), "{refusal}");
        }
    }

    #[test]
    fn auto_leaves_a_gpu_that_differs_or_fails_and_says_why() {
        for verdict in [Ok(Verdict::Differs("off by 3".into())), Err(Error::Device("off by 3: no memory".into()))] {
            let mut engine = engine(true);
            let reason = engine.conclude(verdict).unwrap().expect("a reason");
            assert!(reason.starts_with("A GPU is available, but off by 3"), "{reason}");
            assert_eq!(placement(&engine), Placement::Cpu(reason));
        }
    }

    #[test]
    fn a_gpu_that_was_asked_for_must_agree() {
        let mut engine = engine(false);
        assert!(placement(&engine).is_gpu());
        let error = engine.conclude(Ok(Verdict::Differs("off by 3".into()))).expect_err("no other device");
        assert!(error.exit_code() == 6 && error.to_string().contains("please report"), "{error}");
    }
}
