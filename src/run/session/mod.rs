//! Execution of a whole run: stages in order, output files, checkpoints, and restart from a checkpoint.

mod dynamics;
mod history;
pub(super) mod job;
pub(super) mod load;
mod log_summary;
mod measure;
mod minimisation;
mod monitor;
mod resume;
mod single_stage;
mod swap;
mod system_summary;
#[cfg(test)]
mod tests;

pub use job::{Attempt, ExchangeMember, Job, Outcome, ThermodynamicState};
pub use load::{load, load_without_stages};
pub use log_summary::describe_degrees_of_freedom;
pub use measure::{Measured, Measurement, measure};

use crate::error::{Error, Result};
use crate::image::Image;
use crate::observe::energies::Observed;
use crate::observe::files::{CHECKPOINT, EFFECTIVE, ENERGIES, LOG, SUMMARY};
use crate::observe::log::{Level, RunLog};
use crate::observe::progress::Progress;
use crate::observe::replace::replace_synced;
use crate::observe::statistics::{Average, Statistics};
use crate::observe::status::{RunState, Status};
use crate::observe::summary::{StageSummary, Summary};
use crate::restraint::{Restraining, Restraints};
use crate::run::check::warnings::refuse;
use crate::run::checkpoint::fingerprint::Fingerprint;
use crate::run::checkpoint::{Checkpoint, RunPosition};
use crate::run::control::timing::Timing;
use crate::run::dynamics::restraints::restraints;
use crate::run::dynamics::setup::noise_seed;
use crate::run::dynamics::simulation::{Simulation, Wanted};
use crate::run::engine::reference_check::verify;
use crate::run::engine::tuning::adopt;
use crate::run::engine::{Engine, run_on_first_thread};
use crate::run::output::Outputs;
use crate::run::output::directory::Directory;
use crate::run::output::instability::explain;
use crate::run::output::reporter::{Quantities, RunInfo};
use crate::run::output::results::{are_complete, closed_files, hash_text, write_final};
use crate::run::plan::stage_output::Intervals;
use crate::run::plan::{Stage, StageKind, StepInfo};
use crate::run::session::resume::{RunStart, cut_stages, find_start, open_outputs};
use crate::system::{State, TrialMoves};
use history::History;
use monitor::Monitor;
use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Fraction of the allowed wall time (`max_time`) after which the run stops. The remaining time is reserved for the
/// last checkpoint.
const DEADLINE_SHARE: f64 = 0.99;
/// Time between two questions for signals that other ranks have received. A batch system leaves at least some seconds
/// between a signal and the end of a job.
const ASK: Duration = Duration::from_millis(500);

/// Run in progress, with the data that pass from one stage to the next.
struct Session<'a> {
    job: Job<'a>,
    engine: Engine,
    outputs: Outputs,
    /// intervals at which energies are sampled for the averages of a stage
    averaged: Intervals,
    log: RunLog,
    monitor: Monitor,
    history: History,
    timing: Timing,
    /// number of steps done by this process
    steps: u64,
    /// whether the next step still has to be compared with the double-precision reference
    unverified: bool,
    /// whether the user was already warned that the cell is as small as the cutoff allows
    told_of_small_cell: bool,
    /// time at which the other ranks were last asked for signals that they have received
    asked: Instant,
    /// collective and position restraints of each stage
    restraints: Vec<Restraints>,
    /// output directory. This field is declared last, because Rust drops fields in the order of their declaration. The
    /// directory therefore stays locked until all files of the run are closed
    directory: Directory,
}

/// Runs all stages of a job. If the output directory contains a checkpoint, the run continues from this checkpoint.
pub fn run(
    mut job: Job<'_>,
    mut engine: Engine,
    log: impl FnOnce(&std::path::Path) -> Result<RunLog>,
    progress: Progress,
) -> Result<Outcome> {
    // a plan that cannot run is refused before the output folder is created
    refuse(job.plan, &job.system)?;
    let restraints = restraints(job.plan, &job.system, &job.start)?;
    let fingerprint = engine.pool.install(|| Fingerprint::of_run(&job.system, &job.plan.stages, &restraints));
    let directory = Directory::open(job.plan, job.force)?;
    let advise = |error| directory.explain(error);
    let RunStart { run_id, checkpoint, warning } = find_start(&job, &directory, &fingerprint).map_err(advise)?;
    let mut outputs = Outputs::new(job.plan, std::mem::take(&mut job.reporters), &job.system)?;
    let system = Arc::clone(&job.system);
    let about = RunInfo {
        run_id: &run_id,
        plan: job.plan,
        system: &system,
        input: job.input,
        periodic: job.start.cell.is_some(),
    };
    if let Some(checkpoint) = &checkpoint
        && checkpoint.is_complete(job.plan)
        && are_complete(&directory, &outputs, &about, checkpoint)?
    {
        return Ok(Outcome::Unchanged);
    }
    let mut log = log(&directory.file(LOG)).map_err(advise)?;
    let checkpoint = open_outputs(&mut outputs, &job, &directory, &about, checkpoint).map_err(advise)?;
    drop(system);
    let cut = checkpoint.as_ref().map_or(vec![], |checkpoint| cut_stages(job.plan, checkpoint));
    let next = match checkpoint {
        Some(checkpoint) => Checkpoint { plan: job.plan.clone(), system: fingerprint, ..checkpoint },
        None => Checkpoint::start(run_id.clone(), job.plan, fingerprint),
    };
    adopt(&mut job.system, next.tuning.as_ref());
    replace_synced(&directory.file(EFFECTIVE), |out| out.write_all(job.effective.as_bytes())).map_err(advise)?;
    let refusal = engine.verify(job.plan, &job.system, &job.start)?;
    log_summary::write_header(&mut log, &job, &engine).map_err(advise)?;
    let slow = engine.warnings.clone();
    for warning in warning.into_iter().chain(outputs.warnings().to_vec()).chain(refusal).chain(cut).chain(slow) {
        log.warning(&warning).map_err(advise)?;
    }
    let mut session = Session {
        monitor: Monitor::new(Status::new(run_id.clone(), job.plan.stages.len()), progress, job.started),
        history: History::new(next),
        engine,
        directory,
        outputs,
        averaged: job.plan.intervals(ENERGIES),
        log,
        timing: Timing::default(),
        steps: 0,
        unverified: false,
        told_of_small_cell: false,
        asked: Instant::now(),
        restraints,
        job,
    };
    // the whole run is executed inside the thread pool, because entering the pool takes longer than some phases of a
    // step
    let pool = Arc::clone(&session.engine.pool);
    let end = run_on_first_thread(&pool, || session.all_stages());
    session.monitor.finish();
    let end = end.and_then(|(outcome, state)| pool.install(|| session.finish(outcome, &state)).map(|()| outcome));
    let end = end.map_err(|error| session.directory.explain(error));
    end.inspect_err(|error| session.fail(error))
}

impl<'a> Session<'a> {
    /// Writes an error to the status file and the log. A failure to write the status file or the log is ignored,
    /// because the caller shows the original error.
    fn fail(&mut self, error: &Error) {
        self.monitor.status.state = RunState::Failed;
        self.monitor.status.seconds_left = None;
        self.monitor.status.message = Some(error.to_string());
        let _ = self.log.line(Level::Detail, &format!("failed: {error}"));
        let _ = self.monitor.write(&self.directory);
        let _ = self.outputs.close();
    }

    /// Runs all stages that are not done yet. Returns the outcome of the run, and the state of the last checkpoint.
    fn all_stages(&mut self) -> Result<(Outcome, State)> {
        let (plan, next) = (self.job.plan, &mut self.history.next);
        let (first, mut position) = (next.stage, std::mem::take(&mut next.position));
        let is_start = next.is_start();
        if is_start {
            next.noise_seed = noise_seed(plan, &self.job.start);
        }
        let mut state = std::mem::take(if is_start { &mut self.job.start } else { &mut next.state });
        if !is_start {
            self.log.note(&format!("continuing stage {} after {} steps", first + 1, position.done))?;
        }
        for (index, stage) in plan.stages.iter().enumerate().skip(first) {
            self.log.section(&format!("Stage {}: {}", index + 1, stage.name))?;
            // the GPU was already verified before the first stage began
            if index > 0 {
                self.verify_gpu(&state)?;
            }
            self.monitor.begin_stage(&stage.name, index + 1);
            self.monitor.set_progress(position.done, plan.target(stage.steps()), state.time);
            let outcome = match &stage.kind {
                StageKind::Minimize(minimize) => self.minimize(index, minimize, &mut state, position)?,
                StageKind::Dynamics(dynamics) => self.dynamics(index, dynamics, &mut state, position)?,
            };
            if outcome == Outcome::Stopped {
                return Ok((outcome, state));
            }
            self.close_stage(stage, &state)?;
            position = RunPosition::default();
        }
        Ok((Outcome::Finished, state))
    }

    /// Compares the GPU with the CPU, if the comparison was not possible at the first state of the run.
    fn verify_gpu(&mut self, state: &State) -> Result<()> {
        let known = self.engine.agreement().is_some();
        let refusal = self.engine.verify(self.job.plan, &self.job.system, state)?;
        refusal.iter().try_for_each(|reason| self.log.warning(reason))?;
        match self.engine.agreement().filter(|_| !known) {
            Some(how) => self.log.note(&format!("the GPU is used from this stage on: {how}")),
            None => Ok(()),
        }
    }

    fn close_stage(&mut self, stage: &Stage, state: &State) -> Result<()> {
        self.history.count_last_row();
        let mut averages = self.history.next.statistics.averages();
        // an average has no samples in a stage without energy output, and is NaN for temperature groups that the stage
        // does not have
        averages.retain(|average| average.samples > 0 && !average.mean.is_nan());
        averages.append(&mut self.history.minimised);
        let kind = match stage.kind {
            StageKind::Minimize(_) => "minimize",
            StageKind::Dynamics(_) => {
                // a minimisation keeps the counts of the moves of the stage before it
                let moves = state.coupling.trials.iter().enumerate();
                averages.extend(moves.filter_map(|(extent, moves)| acceptance(extent, moves)));
                self.log.averages(&averages)?;
                "dynamics"
            }
        };
        let steps = self.monitor.status.step;
        self.history.next.stages.push(StageSummary { name: stage.name.clone(), kind: kind.into(), steps, averages });
        self.history.next.statistics = Statistics::default();
        Ok(())
    }

    /// Copies the state at the start of the next step from the device to `state`.
    fn download(&self, simulation: &mut Simulation<'_>, state: &mut State) -> Result<()> {
        self.flush(simulation)?;
        simulation.download(state)
    }

    /// Completes all steps that run asynchronously. If a step has failed, the error describes the unstable atoms.
    fn flush(&self, simulation: &mut Simulation<'_>) -> Result<()> {
        let done = simulation.flush();
        done.map_err(|error| explain(error, &self.job.system, &simulation.before_failure(), &self.directory))
    }

    /// Returns the quantities of a step that the reporters and the averages of the stage need.
    fn wants(&self, info: &StepInfo) -> Quantities {
        let energies = self.averaged.is_due(info);
        self.outputs.wants(info).or(Quantities { energies, ..Quantities::default() })
    }

    /// Warns once if a Monte Carlo barostat cannot shrink the cell, because the cell has the smallest size that the
    /// cutoff allows.
    fn tell_of_small_cell(&mut self, simulation: &Simulation<'_>) -> Result<()> {
        if self.told_of_small_cell || !simulation.begins_with_trial() || !simulation.is_hindered()? {
            return Ok(());
        }
        self.told_of_small_cell = true;
        self.log.warning(
            "most Monte Carlo volume moves that shrink the cell are rejected, because the cell would become narrower \
             than twice the cutoff. The mean volume is therefore too large for this pressure; start from a larger or \
             denser system, or shorten the cutoff",
        )
    }

    fn one_step(&mut self, simulation: &mut Simulation<'_>, index: usize) -> Result<()> {
        let info = step_info(simulation, index);
        let wanted = self.wants(&info);
        if self.averaged.is_due(&info) {
            // this step computes the row again
            self.history.last_row = None;
        }
        self.history.count_last_row();
        let unverified = self.timing.lists.filter(|_| std::mem::take(&mut self.unverified));
        let energies = wanted.energies || wanted.forces || unverified.is_some();
        let state = wanted.positions || wanted.velocities;
        let early = state && !energies && !simulation.begins_with_trial();
        if early {
            // if no reporter needs forces, the state is downloaded before the step
            self.flush(simulation)?;
            self.outputs.hold_state(|state| simulation.download(state))?;
        }
        self.tell_of_small_cell(simulation)?;
        let (outputs, engine, system) = (&mut self.outputs, &self.engine, &self.job.system);
        let mut agreement = None;
        let observed = simulation.step(Wanted { energies }, |simulation| {
            if let Some(lists) = &unverified {
                let on_gpu = engine.placement(system)?.is_gpu();
                agreement = Some(verify(system, lists, simulation.backend(), on_gpu)?);
            }
            if state && !early {
                outputs.hold_state(|state| simulation.download(state))?;
            }
            if wanted.forces {
                outputs.hold_forces(&simulation.backend().evaluation().forces);
            }
            Ok(())
        });
        let explained = |error| explain(error, &self.job.system, &simulation.before_failure(), &self.directory);
        let observed: Observed = observed.map_err(explained)?;
        match agreement {
            Some((Level::Warning, how)) => self.log.warning(&how)?,
            Some((level, how)) => self.log.line(level, &how)?,
            None => {}
        }
        if wanted.any() {
            let restraints = simulation.backend().restraining().map_or(&[][..], Restraining::samples);
            let row = self.outputs.report(info, energies.then_some(&observed), restraints)?;
            if let Some(row) = row.filter(|_| self.averaged.is_due(&info)) {
                self.history.next.statistics.add(info.time, &row);
            }
        }
        Ok(())
    }

    /// Updates the status file if the update interval has passed. `step` is the number of steps done in the stage, out
    /// of `steps`, and `time` is the simulated time (ps). Returns true if the run has to stop.
    fn poll(&mut self, step: u64, steps: u64, time: f64) -> Result<bool> {
        self.monitor.set_progress(step, steps, time);
        if self.asked.elapsed() > ASK {
            self.asked = Instant::now();
            self.engine.collect_requests(&self.job.requests);
        }
        if self.job.requests.stop() {
            return Ok(true);
        }
        // each command does at least one step, so that repeated commands finish the run even if the limit of the wall
        // time is short
        let limit = self.job.plan.run.max_time.filter(|_| self.steps > 0);
        if limit.is_some_and(|most| self.job.started.elapsed() > most.mul_f64(DEADLINE_SHARE)) {
            return Ok(true);
        }
        if let Some(line) = self.monitor.update(&self.directory)? {
            self.log.note(&line)?;
        }
        Ok(false)
    }

    fn checkpoint_is_due(&self, stage: usize) -> bool {
        self.job.requests.take_checkpoint() || self.history.is_due(self.job.plan.checkpoints(stage).every)
    }

    /// Chooses the periodic images of the position restraints of a stage at its start. In a continued stage, sets the
    /// images of the checkpoint.
    fn place_restraints(&mut self, stage: usize, is_start: bool, images: &[Vec<Image>], state: &State) {
        let restraints = &mut self.restraints[stage];
        if is_start {
            restraints.choose_images(&self.job.system.topology, state);
        } else {
            restraints.set_images(images);
        }
    }

    fn checkpoint(&mut self, stage: usize, state: &mut State, position: RunPosition) -> Result<()> {
        let position = RunPosition { images: self.restraints[stage].images(), ..position };
        let start = Instant::now();
        self.directory.check()?;
        self.job.exchange.map_or(Ok(()), |member| member.sync())?;
        let written = self.outputs.sync()?;
        // the directory is checked again, because flushing the files to disk may have taken long
        self.directory.check()?;
        self.history.write(&self.directory.file(CHECKPOINT), stage, position, state, written)?;
        self.timing.output += start.elapsed().as_secs_f64();
        Ok(())
    }

    /// Completes the run. Writes the final structures and closes trajectories and tables. Finally writes the summary
    /// with the checksums of all files, the status file and the last lines of the log. If the process is killed during
    /// these operations, a second call of the same command writes the missing files.
    fn finish(&mut self, outcome: Outcome, state: &State) -> Result<()> {
        let finished = outcome == Outcome::Finished;
        self.directory.check()?;
        if finished {
            write_final(&self.directory, &self.job.plan.output, &self.job.system, state)?;
        }
        let written = self.outputs.close()?;
        self.monitor.status.state = if finished { RunState::Finished } else { RunState::Stopped };
        self.monitor.status.seconds_left = self.monitor.status.seconds_left.filter(|_| !finished);
        let summary = Summary {
            state: self.monitor.status.state,
            run_id: self.history.next.run_id.clone(),
            steps: self.steps,
            stages: std::mem::take(&mut self.history.next.stages),
            tuning: self.history.next.tuning.take(),
            final_state_hash: Some(hash_text(state)),
            files: closed_files(&self.directory, &self.job.plan.output, written, finished)?,
            warnings: self.log.warnings().to_vec(),
            wall_seconds: self.job.started.elapsed().as_secs_f64(),
            ..log_summary::summary(self.job.plan, &self.job.system, state, &self.engine, &self.timing)
        };
        summary.write(&self.directory.file(SUMMARY))?;
        self.monitor.write(&self.directory)?;
        log_summary::write_timing(&mut self.log, &summary, &self.job.plan.output.directory, outcome)
    }
}

/// Describes the next step of a simulation, in the stage with index `index`.
fn step_info(simulation: &Simulation<'_>, index: usize) -> StepInfo {
    StepInfo {
        step: simulation.step_number(),
        time: simulation.time(),
        stage: index as u32 + 1,
        stage_step: simulation.local_step,
        timestep: simulation.timestep(),
    }
}

/// Returns the acceptance ratio of the Monte Carlo volume moves of a stage that scale the cell length with index
/// `extent`; `None` without moves. The standard error of the acceptance ratio is estimated under the assumption that
/// the moves are independent.
fn acceptance(extent: usize, moves: &TrialMoves) -> Option<Average> {
    let (tried, accepted) = (moves.tried as f64, moves.accepted as f64);
    let mean = accepted / tried;
    let fluctuation = (mean * (1.0 - mean)).sqrt();
    (moves.tried > 0).then(|| Average {
        name: format!("accepted trials of extent {}", extent + 1),
        unit: "1".into(),
        samples: moves.tried,
        mean,
        fluctuation,
        error: Some(fluctuation / tried.sqrt()),
        drift: 0.0,
    })
}
