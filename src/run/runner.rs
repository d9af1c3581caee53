//! A whole run: stages in order, outputs, checkpoints, and the way back from one.

mod descent;
#[cfg(test)]
mod tests;

use super::checkpoint::{Checkpoint, RunPosition};
use super::directory::Directory;
use super::engine::{Engine, lead};
use super::fingerprint::Fingerprint;
use super::instability::explain;
use super::job::{Job, Outcome};
use super::outputs::Outputs;
use super::plan::{Dynamics, Precision, Stage, StageKind};
use super::reference_check::verify;
use super::results::{are_complete, closed_files, hash_text, write_final};
use super::resume::{Beginning, begin, cut_stages, open_outputs};
use super::simulation::{Observed, Setup, Simulation, StageProgress, Wanted};
use super::start::prepare;
use super::timing::Timing;
use super::tuning::{Tuner, adopt};
use super::warnings::refuse;
use crate::constraint::degrees_of_freedom;
use crate::context::{Context, ListOrigins};
use crate::error::{Error, Result};
use crate::observe::energies::EnergyRow;
use crate::observe::log::{Level, RunLog};
use crate::observe::progress::{Progress, SpeedMeter};
use crate::observe::replace::replace_synced;
use crate::observe::statistics::Statistics;
use crate::observe::status::{RunState, Status};
use crate::observe::summary::{StageSummary, Summary};
use crate::observe::tuning::Tuning;
use crate::pair::ListSchedule;
use crate::system::State;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Wall time between looks at the clock's consumers: status file, progress, deadlines.
const STATUS_INTERVAL: Duration = Duration::from_millis(500);
/// The first two checkpoints of a process are no further apart than this: until there are two, one damaged file takes a
/// run back to where it began.
const FIRST_CHECKPOINTS: Duration = Duration::from_secs(5);
/// Part of the allowed wall time that is kept for the last checkpoint.
const DEADLINE_SHARE: f64 = 0.99;

/// What accompanies a run from stage to stage.
struct Session<'a> {
    job: Job<'a>,
    engine: Engine,
    outputs: Outputs,
    log: RunLog,
    progress: Progress,
    speed: SpeedMeter,
    status: Status,
    last_status: Instant,
    last_checkpoint: Instant,
    /// by this process
    checkpoints: u64,
    timing: Timing,
    run_id: String,
    /// of the system before tuning
    fingerprint: Fingerprint,
    statistics: Statistics,
    stages: Vec<StageSummary>,
    tuning: Option<Tuning>,
    /// as in [`Checkpoint`]
    lists_on_gpu: Option<bool>,
    steps: u64,
    /// the next step is compared with the reference
    unverified: bool,
    /// the last to be dropped: held until all files in it are closed
    directory: Directory,
}

/// Run all stages, from the checkpoint in the output directory if there is one.
pub fn run(
    mut job: Job<'_>,
    mut engine: Engine,
    log: impl FnOnce(&std::path::Path) -> Result<RunLog>,
    progress: Progress,
) -> Result<Outcome> {
    // before a folder is made for it
    refuse(job.plan, &job.system)?;
    let fingerprint = engine.pool.install(|| Fingerprint::new(&job.system));
    let directory = Directory::open(job.plan, job.force)?;
    let Beginning { run_id, checkpoint, warning } = begin(&job, &directory, &fingerprint)?;
    if let Some(checkpoint) = &checkpoint
        && checkpoint.is_complete(job.plan)
        && are_complete(&directory, checkpoint)?
    {
        return Ok(Outcome::Unchanged);
    }
    let mut log = log(&directory.file("run.log"))?;
    let tuning = checkpoint.as_ref().and_then(|c| c.tuning.clone());
    adopt(&mut job.system, tuning.as_ref());
    let (outputs, checkpoint) = open_outputs(&job, &directory, &run_id, checkpoint)?;
    replace_synced(&directory.file("effective.toml"), |out| std::io::Write::write_all(out, job.effective.as_bytes()))?;
    let refusal = engine.verify(job.plan, &job.system, &job.start)?;
    super::account::open(&mut log, job.plan, &job.system, &job.start, &engine)?;
    let cut = checkpoint.iter().flat_map(|checkpoint| cut_stages(job.plan, checkpoint));
    for warning in warning.into_iter().chain(outputs.warnings().to_vec()).chain(refusal).chain(cut) {
        log.warning(&warning)?;
    }
    let now = Instant::now();
    let mut session = Session {
        status: Status::new(run_id.clone(), job.plan.stages.len()),
        run_id,
        fingerprint,
        engine,
        directory,
        outputs,
        log,
        progress,
        speed: SpeedMeter::default(),
        last_status: now,
        last_checkpoint: now,
        checkpoints: 0,
        timing: Timing::default(),
        statistics: Statistics::default(),
        stages: vec![],
        tuning,
        lists_on_gpu: checkpoint.as_ref().and_then(|c| c.lists_on_gpu),
        steps: 0,
        unverified: false,
        job,
    };
    // everything happens inside the pool: entering it costs more than many a phase of a step
    let pool = Arc::clone(&session.engine.pool);
    let end = lead(&pool, || session.all_stages(checkpoint));
    session.progress.finish();
    let end = end.and_then(|(outcome, state)| pool.install(|| session.finish(outcome, &state)).map(|()| outcome));
    if let Err(error) = &end {
        session.fail(error);
    }
    end
}

impl Session<'_> {
    /// Leave word of an error. The error itself, which the caller shows, matters more than a failure to record it.
    fn fail(&mut self, error: &Error) {
        self.status.state = RunState::Failed;
        self.status.seconds_left = None;
        self.status.message = Some(error.to_string());
        let _ = self.log.line(Level::Detail, &format!("failed: {error}"));
        let _ = self.write_status();
        let _ = self.outputs.close();
    }

    fn write_status(&mut self) -> Result<()> {
        self.directory.check()?;
        self.status.write(&self.directory.file("status.json"))
    }

    /// How it ended, and the state in the last checkpoint.
    fn all_stages(&mut self, checkpoint: Option<Checkpoint>) -> Result<(Outcome, State)> {
        let plan = self.job.plan;
        let (first, mut place, mut state) = match checkpoint {
            None => (0, RunPosition::default(), std::mem::take(&mut self.job.start)),
            Some(c) => {
                self.log.note(&format!("continuing stage {} after {} steps", c.stage + 1, c.place.done))?;
                (self.statistics, self.stages) = (c.statistics, c.stages);
                (c.stage, c.place, c.state)
            }
        };
        for (index, stage) in plan.stages.iter().enumerate().skip(first) {
            self.log.section(&format!("Stage {}: {}", index + 1, stage.name))?;
            // in the first stage of a run that goes on, as when it began
            if index > 0 {
                self.verify_gpu(&state)?;
            }
            self.speed.reset();
            self.status.stage.clone_from(&stage.name);
            self.status.stage_number = index + 1;
            let outcome = match &stage.kind {
                StageKind::Minimize(minimize) => self.minimize(index, minimize, &mut state, place)?,
                StageKind::Dynamics(dynamics) => self.dynamics(index, dynamics, &mut state, place)?,
            };
            if outcome == Outcome::Stopped {
                return Ok((outcome, state));
            }
            self.close_stage(stage)?;
            place = RunPosition::default();
        }
        Ok((Outcome::Finished, state))
    }

    /// Compare the GPU with the CPU, where the start of the run did not allow it.
    fn verify_gpu(&mut self, state: &State) -> Result<()> {
        let known = self.engine.agreement().is_some();
        let refusal = self.engine.verify(self.job.plan, &self.job.system, state)?;
        refusal.iter().try_for_each(|reason| self.log.warning(reason))?;
        match self.engine.agreement().filter(|_| !known) {
            Some(how) => self.log.note(&format!("the GPU is used from here on: {how}")),
            None => Ok(()),
        }
    }

    fn close_stage(&mut self, stage: &Stage) -> Result<()> {
        let averages = self.statistics.averages();
        let kind = match stage.kind {
            StageKind::Minimize(_) => "minimize",
            StageKind::Dynamics(_) => {
                self.log.averages(&averages)?;
                "dynamics"
            }
        };
        let steps = self.status.step;
        self.stages.push(StageSummary { name: stage.name.clone(), kind: kind.into(), steps, averages });
        self.statistics = Statistics::default();
        Ok(())
    }

    fn dynamics(&mut self, index: usize, options: &Dynamics, state: &mut State, place: RunPosition) -> Result<Outcome> {
        let plan = self.job.plan;
        if self.statistics == Statistics::default() {
            self.statistics = Statistics::new(EnergyRow::columns(state.cell.is_some()));
        }
        if place.schedule.is_none() {
            prepare(&self.job.system, options, plan.run.seed, state)
                .map_err(|error| explain(error, &self.job.system, state, &self.directory))?;
        }
        let place = self.arrive(place, state)?;
        let lists = place.schedule.map_or_else(|| self.lists(state), Ok)?;
        let system = Arc::clone(&self.job.system);
        let first_time = if place.schedule.is_none() { state.time } else { place.first_time };
        let place = RunPosition { first_time, schedule: Some(lists), ..place };
        let choices = self.engine.choices(plan, &system, state)?;
        self.log.pairs(&[("pair lists", choices.describe(&lists))])?;
        self.timing.lists = Some(lists);
        let context = self.engine.context(plan, &system, lists)?;
        self.integrate(index, options, state, place, context)
    }

    /// A place on the device of now. Where lists were chosen for the other kind of device, GPU or processor, they are
    /// chosen anew, and made where the atoms are.
    fn arrive(&mut self, place: RunPosition, state: &State) -> Result<RunPosition> {
        let on_gpu = self.engine.placement(&self.job.system)?.is_gpu();
        if self.lists_on_gpu.replace(on_gpu).is_none_or(|before| before == on_gpu) {
            return Ok(place);
        }
        self.log.note("the run comes from another kind of device: its pair lists are chosen anew")?;
        let lists = self.engine.lists(self.job.plan, &self.job.system, state)?;
        if let Some(tuning) = &mut self.tuning {
            tuning.chosen.lists = lists;
        }
        if place.schedule.is_none() {
            return Ok(place);
        }
        let origins = ListOrigins { rebuilt: state.clone(), pruned: state.clone() };
        Ok(RunPosition { schedule: Some(lists), lists: Some(origins), ..place })
    }

    /// Lists of a stage that begins. The first stage of dynamics tunes the run.
    fn lists(&mut self, state: &State) -> Result<ListSchedule> {
        let Job { plan, system, alternatives, requests, .. } = &self.job;
        if self.tuning.is_none() {
            self.tuning = Tuner::new((&self.engine, plan), system, state, alternatives)?.tune(requests)?;
            let on_gpu = self.engine.placement(system)?.is_gpu();
            super::account::tuning(&mut self.log, self.tuning.as_ref(), on_gpu)?;
            self.timing.tuning = self.tuning.as_ref().map_or(0.0, |tuning| tuning.seconds);
            self.timing.seconds += self.timing.tuning;
            adopt(&mut self.job.system, self.tuning.as_ref());
        }
        let choices = self.engine.choices(self.job.plan, &self.job.system, state)?;
        Ok(self.tuning.as_ref().map_or_else(|| choices.all()[0], |t| choices.living_as_long_as(&t.chosen.lists)))
    }

    fn integrate(
        &mut self,
        index: usize,
        options: &Dynamics,
        state: &mut State,
        place: RunPosition,
        context: Context,
    ) -> Result<Outcome> {
        let (plan, system) = (self.job.plan, Arc::clone(&self.job.system));
        let removed = options.removed_motion(state.cell.is_some());
        let free = degrees_of_freedom(&system.topology, &system.constraints, removed);
        let RunPosition { done, first_time, lists, schedule, .. } = place;
        let setup = Setup { dynamics: options, seed: plan.run.seed, degrees_of_freedom: free };
        let mut simulation = Simulation::new(context, setup, state, StageProgress { steps: done, first_time, lists })?;
        let here = |simulation: &Simulation<'_>| -> Result<RunPosition> {
            let (done, lists) = (simulation.local_step, simulation.list_origins()?);
            Ok(RunPosition { done, first_time, lists, schedule, minimizer: None })
        };
        let target = self.job.plan.target(options.steps);
        let (name, ps) = (&self.status.stage, target as f64 * options.timestep);
        self.log.note(&format!("{name}: {target} steps, {ps:.3} ps, on {}", simulation.backend().description()))?;
        let every = |interval: Option<super::plan::Interval>| interval.map(|i| i.steps(options.timestep));
        let rows = every(plan.output.energies.map(|e| e.every));
        let frames = every(plan.output.trajectory.map(|t| t.every));
        let due = |interval: Option<u64>, step: u64| interval.is_some_and(|n| step.is_multiple_of(n));
        let before = simulation.backend().phases()?;
        self.timing.start_stage();
        self.unverified = plan.run.precision == Precision::Mixed;
        while simulation.local_step < target {
            let step = simulation.local_step;
            if self.poll(step, target, simulation.time())? {
                self.take(&mut simulation, state)?;
                self.checkpoint(index, state, here(&simulation)?)?;
                self.timing.searches += simulation.searches();
                self.timing.end_stage(&before, &simulation.backend().phases()?, simulation.backend().pair_counts()?);
                return Ok(Outcome::Stopped);
            }
            if step > done && self.checkpoint_is_due() {
                self.take(&mut simulation, state)?;
                self.checkpoint(index, state, here(&simulation)?)?;
            }
            let (row, frame) = (due(rows, step), due(frames, step));
            self.one_step(&mut simulation, index, row, frame)?;
            self.steps += 1;
            self.timing.step(options.timestep);
        }
        self.take(&mut simulation, state)?;
        self.timing.end_stage(&before, &simulation.backend().phases()?, simulation.backend().pair_counts()?);
        self.note_place((simulation.local_step, target, simulation.time()));
        self.timing.searches += simulation.searches();
        let (place, statistics) = (here(&simulation)?, self.statistics.clone());
        let step = simulation.local_step;
        let (row, frame) = (due(rows, step), due(frames, step));
        // the last state has numbers too; they need one more step, which nobody sees
        let is_last = index + 1 == plan.stages.len() && (row || frame);
        let last = if is_last { self.one_step(&mut simulation, index, row, frame) } else { Ok(()) };
        // a run that goes on from here finds that row and frame in its files, and counts the row anew
        let statistics = std::mem::replace(&mut self.statistics, statistics);
        self.checkpoint(index, state, place)?;
        self.statistics = statistics;
        last.map(|()| Outcome::Finished)
    }

    /// The state at the start of the next step.
    fn take(&self, simulation: &mut Simulation<'_>, state: &mut State) -> Result<()> {
        let done = simulation.flush();
        done.map_err(|error| explain(error, &self.job.system, &simulation.before_failure(), &self.directory))?;
        simulation.download(state)
    }

    fn one_step(&mut self, simulation: &mut Simulation<'_>, index: usize, row: bool, frame: bool) -> Result<()> {
        let at = (simulation.step_number(), simulation.time(), index as u32 + 1);
        let (outputs, engine, system) = (&mut self.outputs, &self.engine, &self.job.system);
        let unverified = self.timing.lists.filter(|_| std::mem::take(&mut self.unverified));
        let mut agreement = None;
        let observed = simulation.step(Wanted { energies: row || frame || unverified.is_some() }, |simulation| {
            if let Some(lists) = &unverified {
                agreement = Some(verify(system, lists, simulation.backend(), engine.placement(system)?.is_gpu())?);
            }
            if frame {
                let forces = &simulation.backend().evaluation().forces;
                outputs.hold_frame(|state| simulation.download(state), forces)?;
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
        if row {
            let values = self.outputs.write_row(at, &observed)?;
            self.statistics.add(at.1, &values);
        }
        if frame {
            self.outputs.write_frame(&observed)?;
        }
        Ok(())
    }

    /// Look at the clock now and then; true when the run is to stop.
    fn poll(&mut self, step: u64, target: u64, time: f64) -> Result<bool> {
        self.note_place((step, target, time));
        if self.job.requests.stop() {
            return Ok(true);
        }
        let elapsed = self.job.started.elapsed();
        // one step at least: a command that is repeated until it is done gets there with any limit
        let limit = self.job.plan.run.max_time.filter(|_| self.steps > 0);
        if limit.is_some_and(|most| elapsed > most.mul_f64(DEADLINE_SHARE)) {
            return Ok(true);
        }
        if self.last_status.elapsed() < STATUS_INTERVAL {
            return Ok(false);
        }
        self.last_status = Instant::now();
        self.speed.update(elapsed, step, time);
        let status = &mut self.status;
        status.ns_per_day = self.speed.ns_per_day();
        status.seconds_left = self.speed.seconds_for(target.saturating_sub(step));
        self.write_status()?;
        if let Some(line) = self.progress.update(elapsed, &self.status) {
            self.log.note(&line)?;
        }
        Ok(false)
    }

    /// Steps done of those this stage has, and ps.
    fn note_place(&mut self, place: (u64, u64, f64)) {
        (self.status.step, self.status.steps, self.status.time_ps) = place;
        self.status.wall_seconds = self.job.started.elapsed().as_secs_f64();
    }

    fn checkpoint_is_due(&self) -> bool {
        let every = self.job.plan.output.checkpoint.every;
        let every = if self.checkpoints < 2 { every.min(FIRST_CHECKPOINTS) } else { every };
        self.job.requests.take_checkpoint() || self.last_checkpoint.elapsed() > every
    }

    fn checkpoint(&mut self, stage: usize, state: &mut State, place: RunPosition) -> Result<()> {
        let start = Instant::now();
        self.directory.check()?;
        let written = self.outputs.sync()?;
        // once more: that may have taken a while
        self.directory.check()?;
        let checkpoint = Checkpoint {
            run_id: self.run_id.clone(),
            plan: self.job.plan.clone(),
            system: self.fingerprint.clone(),
            stage,
            place,
            // lent: a copy would take longer than many a step
            state: std::mem::take(state),
            written,
            statistics: self.statistics.clone(),
            stages: self.stages.clone(),
            tuning: self.tuning.clone(),
            lists_on_gpu: self.lists_on_gpu,
        };
        let result = checkpoint.write(&self.directory.file("checkpoint.md"));
        *state = checkpoint.state;
        result?;
        self.last_checkpoint = Instant::now();
        self.checkpoints += 1;
        self.timing.output += start.elapsed().as_secs_f64();
        Ok(())
    }

    /// The end: final structures, then trajectory and energies closed, then the summary that vouches for them, then
    /// the status, and the closing lines. Whatever is missing of it when a run is killed, the same command makes.
    fn finish(&mut self, outcome: Outcome, state: &State) -> Result<()> {
        let finished = outcome == Outcome::Finished;
        self.directory.check()?;
        if finished {
            write_final(&self.directory, &self.job.system, state)?;
        }
        let written = self.outputs.close()?;
        self.status.state = if finished { RunState::Finished } else { RunState::Stopped };
        self.status.seconds_left = self.status.seconds_left.filter(|_| !finished);
        let summary = Summary {
            state: self.status.state,
            run_id: self.run_id.clone(),
            steps: self.steps,
            stages: std::mem::take(&mut self.stages),
            tuning: self.tuning.take(),
            final_state_hash: Some(hash_text(state)),
            files: closed_files(&self.directory, written, finished)?,
            warnings: self.log.warnings().to_vec(),
            wall_seconds: self.job.started.elapsed().as_secs_f64(),
            ..super::account::summary(self.job.plan, &self.job.system, state, &self.engine, &self.timing)
        };
        summary.write(&self.directory.file("summary.json"))?;
        self.write_status()?;
        super::account::close(&mut self.log, &summary, &self.job.plan.output.directory, outcome)
    }
}
