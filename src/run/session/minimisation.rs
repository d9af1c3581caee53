//! Execution of the stages of minimisation of a run.

use crate::context::Context;
use crate::error::Result;
use crate::observe::minimisation::MinimisationSample;
use crate::observe::statistics::Average;
use crate::run::checkpoint::RunPosition;
use crate::run::minimize::energy_surface::ForceSurface;
use crate::run::minimize::{Minimizer, Status};
use crate::run::plan::{Minimize, StepInfo};
use crate::run::session::Session;
use crate::run::session::job::Outcome;
use crate::run::session::single_stage::{minimize_lists, minimize_settings};
use crate::system::State;

impl Session<'_> {
    pub(super) fn minimize(
        &mut self,
        index: usize,
        options: &Minimize,
        state: &mut State,
        position: RunPosition,
    ) -> Result<Outcome> {
        let (plan, system) = (self.job.plan, self.system_of(index)?);
        let lists = minimize_lists(&system);
        let mut context = if self.engine.is_undecided() {
            self.log.note(
                "overlapping atoms have forces that are too large for the GPU, so this stage is minimised on the CPU",
            )?;
            Context::new(self.engine.cpu(&system, lists)?, lists)
        } else {
            self.engine.context(plan, &system, lists)?
        };
        self.place_restraints(index, position.minimizer.is_none(), &position.images, state);
        context.restrain(&self.restraints[index], &position.restraints)?;
        let target = self.job.plan.target(options.steps);
        let settings = minimize_settings(options, plan.run.precision);
        let (stored, origin) = position.minimizer.unzip();
        let mut surface = ForceSurface::new(&system, context, state, origin.as_deref())?;
        let mut minimizer = match stored {
            Some(minimizer) => minimizer,
            None => {
                let minimizer = Minimizer::new(settings, state.positions.clone(), &mut surface)?;
                self.report_minimisation(index, state.time, &minimizer)?;
                minimizer
            }
        };
        let name = &self.monitor.status.stage;
        let (energy, device) = (minimizer.energy(), surface.description());
        self.log.note(&format!("{name}: energy {energy:.6e} kJ/mol at the start, on {device}"))?;
        while minimizer.steps() < target && minimizer.status() == Status::Running {
            if self.poll(minimizer.steps(), target, state.time)? {
                self.checkpoint(index, state, position_of(minimizer, &surface)?)?;
                return Ok(Outcome::Stopped);
            }
            minimizer.step(&mut surface)?;
            self.steps += 1;
            self.report_minimisation(index, state.time, &minimizer)?;
            if self.checkpoint_is_due(index) {
                self.checkpoint(index, state, position_of(minimizer.clone(), &surface)?)?;
            }
        }
        let (force, atom) = minimizer.max_force();
        let ending = match minimizer.status() {
            Status::Running => "stopped at the maximum number of steps",
            Status::Converged => "converged",
            Status::Stalled => "reached the limit of floating-point precision",
        };
        self.log.note(&format!(
            "{}: {ending} after {} steps: energy {:.6e} kJ/mol, largest force {force:.4e} kJ/mol/nm on atom {}",
            self.monitor.status.stage,
            minimizer.steps(),
            minimizer.energy(),
            atom + 1
        ))?;
        self.history.minimised =
            vec![sample("minimised energy", "kJ/mol", minimizer.energy()), sample("largest force", "kJ/mol/nm", force)];
        self.monitor.set_progress(minimizer.steps(), target, state.time);
        state.positions.copy_from_slice(minimizer.positions());
        self.checkpoint(index, state, position_of(minimizer, &surface)?)?;
        Ok(Outcome::Finished)
    }

    /// Passes energy and largest force of a minimisation after its last step to the reporters. `time` is the simulated
    /// time (ps) at the start of the stage.
    fn report_minimisation(&mut self, index: usize, time: f64, minimizer: &Minimizer) -> Result<()> {
        let (step, energy, (force, atom)) = (minimizer.steps(), minimizer.energy(), minimizer.max_force());
        let info = StepInfo { step, time, stage: index as u32 + 1, stage_step: step, timestep: 0.0 };
        self.outputs.report_minimisation(info, MinimisationSample { energy, force, atom })
    }
}

/// Returns a quantity that has a single value.
fn sample(name: &str, unit: &str, value: f64) -> Average {
    let (name, unit) = (name.to_owned(), unit.to_owned());
    Average { name, unit, samples: 1, mean: value, fluctuation: 0.0, error: None, drift: 0.0 }
}

/// Returns the position of a run within a stage of minimisation.
fn position_of(minimizer: Minimizer, surface: &ForceSurface) -> Result<RunPosition> {
    let (done, origin, restraints) = (minimizer.steps(), surface.origin()?, surface.restraints());
    Ok(RunPosition { done, minimizer: Some((minimizer, origin)), restraints, ..RunPosition::default() })
}
