//! Execution of the stages of dynamics of a run.

use crate::constraint::largest_deviation;
use crate::context::{Context, ListOrigins};
use crate::error::Result;
use crate::observe::energies::{EnergyRecord, read_last_row};
use crate::observe::files::ENERGIES;
use crate::pair::ListSchedule;
use crate::restraint::RestraintProgress;
use crate::run::checkpoint::RunPosition;
use crate::run::dynamics::frozen::{FrozenGroups, frozen_system, stop};
use crate::run::dynamics::restraints::check_motions;
use crate::run::dynamics::setup::Setup;
use crate::run::dynamics::simulation::{Simulation, StageProgress};
use crate::run::dynamics::start::prepare;
use crate::run::engine::tuning::{Tuner, adopt};
use crate::run::output::directory::parts;
use crate::run::output::instability::explain;
use crate::run::plan::{Dynamics, Precision, Stage, StepInfo};
use crate::run::session::job::{Job, Outcome};
use crate::run::session::swap::Swaps;
use crate::run::session::{Session, log_summary, step_info};
use crate::system::{Constraints, State, System};
use std::borrow::Cow;
use std::sync::Arc;

/// Frees the positions and velocities of a state that the backend of a simulation holds too. Downloading the state from
/// the backend brings them back.
fn release(state: &mut State) {
    (state.positions, state.velocities) = (vec![], vec![]);
}

impl<'a> Session<'a> {
    /// Runs a stage of dynamics, from its start or from a position within the stage.
    pub(super) fn dynamics(
        &mut self,
        index: usize,
        options: &'a Dynamics,
        state: &mut State,
        position: RunPosition,
    ) -> Result<Outcome> {
        let plan = self.job.plan;
        self.take_state(index, position.exchanged);
        let statistics = std::mem::take(&mut self.history.next.statistics);
        self.history.next.statistics = statistics.with_columns(plan.energy_columns(state.cell.is_some()).all());
        self.history.last_row = if position.done > 0 { self.last_row(index, state.step) } else { None };
        if position.schedule.is_none() {
            let system = self.system_of(index)?;
            stop(&self.job.system, &system, state);
            // velocities of a stage with the same time step satisfy the constraints already
            let same_step = |before: &Stage| before.dynamics().is_some_and(|other| other.timestep == options.timestep);
            let continues = index.checked_sub(1).is_some_and(|before| same_step(&plan.stages[before]));
            prepare(&system, options, plan.run.seed, continues, state)
                .map_err(|error| explain(error, &self.job.system, state, &self.directory))?;
        }
        self.place_restraints(index, position.schedule.is_none(), &position.images, state);
        check_motions(&plan.stages[index], &self.restraints[index], &position.restraints, state)?;
        let position = self.adapt_to_device(position, state)?;
        let lists = position.schedule.map_or_else(|| self.lists(state), Ok)?;
        let system = self.system_of(index)?;
        let first_time = if position.schedule.is_none() { state.time } else { position.first_time };
        let position = RunPosition { first_time, schedule: Some(lists), ..position };
        // list errors are estimated for the system without frozen atoms, even if the stage freezes some atoms
        let whole = Arc::clone(&self.job.system);
        let choices = self.engine.choices(plan, &whole, state)?;
        self.log.pairs(&[("pair lists", choices.describe(&lists))])?;
        self.timing.lists = Some(lists);
        let mut context = self.engine.context(plan, &system, lists)?;
        context.restrain(&self.restraints[index], &position.restraints)?;
        self.integrate(index, options, state, position, &system, context)
    }

    /// Returns the last row of the energy table, if it is the row of step `step` in the stage with index `index`.
    fn last_row(&self, index: usize, step: u64) -> Option<EnergyRecord> {
        let last = read_last_row(&parts(&self.job.plan.output.directory, ENERGIES))?;
        let [row] = last.rows.as_slice() else { return None };
        let place = [row[EnergyRecord::STAGE], row[EnergyRecord::STEP]];
        (place == [(index + 1) as f64, step as f64]).then_some(last)
    }

    /// Writes a checkpoint during a stage. `state` is memory for the state of the simulation, and `position` returns
    /// the position in the run.
    fn save<'s>(
        &mut self,
        simulation: &mut Simulation<'s>,
        index: usize,
        state: &mut State,
        position: impl FnOnce(&Simulation<'s>) -> Result<RunPosition>,
    ) -> Result<()> {
        self.download(simulation, state)?;
        self.checkpoint(index, state, position(simulation)?)?;
        release(state);
        Ok(())
    }

    /// Returns the system of the stage with index `index`, in which the frozen atoms of the stage have mass zero.
    pub(super) fn system_of(&self, index: usize) -> Result<Arc<System>> {
        self.in_stage(index, &self.job.system)
    }

    /// Returns `system` with the frozen atoms of the stage with index `index` set to mass zero.
    pub(super) fn in_stage(&self, index: usize, system: &Arc<System>) -> Result<Arc<System>> {
        Ok(match frozen_system(&self.job.plan.stages[index], system)? {
            Cow::Borrowed(_) => Arc::clone(system),
            Cow::Owned(frozen) => Arc::new(frozen),
        })
    }

    /// Adapts the position within the stage to the present device. If the kind of device (GPU or CPU) has changed since
    /// the list schedule was chosen, chooses a new schedule and discards the positions from which the old lists were
    /// built.
    fn adapt_to_device(&mut self, position: RunPosition, state: &State) -> Result<RunPosition> {
        let on_gpu = self.engine.placement(&self.job.system)?.is_gpu();
        if self.history.next.lists_on_gpu.replace(on_gpu).is_none_or(|before| before == on_gpu) {
            return Ok(position);
        }
        self.log.note(
            "the run continues on a different kind of device (GPU or CPU), so a new pair list schedule is chosen",
        )?;
        let lists = self.engine.lists(self.job.plan, &self.job.system, state)?;
        if let Some(tuning) = &mut self.history.next.tuning {
            tuning.chosen.lists = lists;
        }
        if position.schedule.is_none() {
            return Ok(position);
        }
        let origins = ListOrigins { rebuilt: state.clone(), pruned: state.clone() };
        Ok(RunPosition { schedule: Some(lists), lists: Some(origins), ..position })
    }

    /// Returns the pair list schedule of a new stage. In the first stage of dynamics this function tunes the run.
    fn lists(&mut self, state: &State) -> Result<ListSchedule> {
        let Job { plan, system, alternatives, requests, .. } = &self.job;
        if self.history.next.tuning.is_none() {
            self.history.next.tuning = Tuner::new(&self.engine, plan, system, state, alternatives)?.tune(requests)?;
            let on_gpu = self.engine.placement(system)?.is_gpu();
            log_summary::write_tuning(&mut self.log, self.history.next.tuning.as_ref(), on_gpu)?;
            self.timing.tuning = self.history.next.tuning.as_ref().map_or(0.0, |tuning| tuning.seconds);
            self.timing.seconds += self.timing.tuning;
            adopt(&mut self.job.system, self.history.next.tuning.as_ref());
        }
        let choices = self.engine.choices(self.job.plan, &self.job.system, state)?;
        let tuned = self.history.next.tuning.as_ref();
        Ok(tuned.map_or_else(|| choices.all()[0], |t| choices.with_lifetimes_of(&t.chosen.lists)))
    }

    fn integrate(
        &mut self,
        index: usize,
        options: &'a Dynamics,
        state: &mut State,
        position: RunPosition,
        system: &System,
        context: Context,
    ) -> Result<Outcome> {
        let plan = self.job.plan;
        let mut swaps = Swaps::new(&self.job, index, &position)?;
        let RunPosition { done, first_time, lists, schedule, .. } = position;
        let options = swaps.as_ref().map_or(options, Swaps::dynamics);
        let setup = Setup::new(system, options, self.history.next.noise_seed, state.cell.is_some())?;
        let setup = Setup { frozen: FrozenGroups::new(&self.job.system, system, state), ..setup };
        let mut simulation = Simulation::new(context, setup, state, StageProgress { steps: done, first_time, lists })?;
        release(state);
        let reached = |simulation: &Simulation<'_>, swaps: Option<&Swaps<'_>>| -> Result<RunPosition> {
            let (done, lists) = (simulation.local_step, simulation.list_origins()?);
            let (restraints, exchanged) = (simulation.restraints()?, swaps.map(Swaps::state));
            Ok(RunPosition { done, first_time, lists, schedule, restraints, exchanged, ..RunPosition::default() })
        };
        let target = self.job.plan.target(options.steps);
        let (name, ps) = (&self.monitor.status.stage, target as f64 * options.timestep);
        self.log.note(&format!("{name}: {target} steps, {ps:.3} ps, on {}", simulation.backend().description()))?;
        self.log_swaps(swaps.as_ref())?;
        let (before, sent) = (simulation.backend().phases()?, self.engine.traffic());
        self.timing.start_stage();
        self.unverified = plan.run.precision == Precision::Mixed;
        let mut stopped = false;
        while simulation.local_step < target {
            let step = simulation.local_step;
            stopped = self.poll(step, target, simulation.time())?;
            if stopped {
                break;
            }
            if step > done && self.checkpoint_is_due(index) {
                self.save(&mut simulation, index, state, |simulation| reached(simulation, swaps.as_ref()))?;
            }
            stopped = self.exchange(&mut simulation, target, state, &mut swaps)?;
            if stopped {
                break;
            }
            self.one_step(&mut simulation, index)?;
            self.steps += 1;
            self.timing.step(options);
        }
        self.timing.add_traffic(&sent, &self.engine.traffic());
        self.download(&mut simulation, state)?;
        self.log_constraints(system, state)?;
        self.timing.end_stage(&before, &simulation.backend().phases()?, simulation.backend().pair_counts()?);
        self.timing.searches += simulation.searches();
        self.monitor.set_progress(simulation.local_step, target, simulation.time());
        let (position, statistics) = (reached(&simulation, swaps.as_ref())?, self.history.next.statistics.clone());
        let work: f64 = position.restraints.iter().map(RestraintProgress::work).sum();
        let is_end = !stopped && index + 1 == plan.stages.len();
        // an exchange attempt at the last step of a stage is made before the final checkpoint; a continued run repeats
        // the attempt with the recorded outcome
        stopped |= is_end && self.exchange(&mut simulation, target, &mut state.clone(), &mut swaps)?;
        // the report of the final state needs forces, which require one more step; the positions after this step are
        // discarded
        let is_last = !stopped && self.reports_end(&step_info(&simulation, index), plan.stages.get(index + 1));
        let last = if is_last { self.one_step(&mut simulation, index) } else { Ok(()) };
        // averages in the checkpoint lack the last row, which a continued run computes again or reads from its table
        let statistics = std::mem::replace(&mut self.history.next.statistics, statistics);
        self.checkpoint(index, state, position)?;
        self.history.next.statistics = statistics;
        state.coupling.restraint_work += if stopped { 0.0 } else { work };
        last.map(|()| if stopped { Outcome::Stopped } else { Outcome::Finished })
    }

    /// Whether the end of a stage has to be reported before the stage `next` begins. If the next stage is dynamics, its
    /// first step usually reports the same state.
    fn reports_end(&self, end: &StepInfo, next: Option<&Stage>) -> bool {
        let Some(next) = next else { return self.wants(end).any() };
        let start = next.dynamics().map(|dynamics| {
            let (stage, timestep) = (end.stage + 1, dynamics.timestep);
            StepInfo { stage, stage_step: 0, timestep, ..*end }
        });
        self.outputs.are_lost(end, start.as_ref())
    }

    fn log_constraints(&mut self, system: &System, state: &State) -> Result<()> {
        let Constraints { bonds, tolerance, .. } = &system.constraints;
        if bonds.is_empty() {
            return Ok(());
        }
        let (deviation, bonds) = (largest_deviation(&system.constraints, &state.positions), bonds.len());
        self.log.note(&format!(
            "constraints: largest relative deviation {deviation:.1e} over {bonds} bonds and angles (tolerance {tolerance:.0e})"
        ))
    }
}
