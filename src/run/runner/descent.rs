//! The stages of a run that minimise.

use super::Session;
use crate::backend::{Evaluator, ForceField, Reference};
use crate::error::Result;
use crate::pair::ListSchedule;
use crate::run::checkpoint::Place;
use crate::run::job::Outcome;
use crate::run::lists::schedule;
use crate::run::minimize::{MinimizeSettings, Minimizer, Status};
use crate::run::plan::{Minimize, Precision};
use crate::run::surface::ForceSurface;
use crate::system::State;
use std::sync::Arc;

/// How far (nm) beyond the cutoff the lists of a minimisation reach: atoms move little, lists last long.
const MINIMIZE_BUFFER: f64 = 0.1;
/// Relative rounding of an energy summed from f32 terms, and from f64 terms.
const MIXED_ENERGY_PRECISION: f64 = 1e-7;
const DOUBLE_ENERGY_PRECISION: f64 = 1e-12;

impl Session<'_> {
    pub(super) fn minimize(
        &mut self,
        index: usize,
        options: &Minimize,
        state: &mut State,
        place: Place,
    ) -> Result<Outcome> {
        let (plan, system) = (self.job.plan, Arc::clone(&self.job.system));
        match plan.run.precision {
            Precision::Double => {
                let field = Reference::new(&system)?;
                self.descend(index, options, state, place, field, DOUBLE_ENERGY_PRECISION)
            }
            Precision::Mixed => {
                let cutoff = schedule(plan, &system, state)
                    .inner
                    .min(system.settings.cutoff.unwrap_or(f64::INFINITY).max(system.settings.cutoff_lj.unwrap_or(0.0)));
                let radius = cutoff + MINIMIZE_BUFFER;
                let lists = ListSchedule { rebuild: 1, prune: 1, outer: radius, inner: radius, foresight: 0.0 };
                if self.engine.agreement().is_some()
                    && let Some(gpu) = self.engine.cuda(&system, &lists)?
                {
                    return self.descend(index, options, state, place, Evaluator::new(gpu), MIXED_ENERGY_PRECISION);
                }
                if self.engine.is_undecided() {
                    self.log.note("atoms overlap, and their forces are beyond what a GPU sums: on the CPU")?;
                }
                let field = self.engine.cpu(&system, lists)?;
                self.descend(index, options, state, place, field, MIXED_ENERGY_PRECISION)
            }
        }
    }

    fn descend(
        &mut self,
        index: usize,
        options: &Minimize,
        state: &mut State,
        place: Place,
        field: impl ForceField,
        energy_precision: f64,
    ) -> Result<Outcome> {
        let target = self.job.plan.target(options.steps);
        let settings = MinimizeSettings {
            force_tolerance: options.force_tolerance,
            max_displacement: options.initial_step,
            energy_precision,
        };
        let (stored, origin) = place.minimizer.unzip();
        let origin = origin.unwrap_or_default();
        let mut surface = ForceSurface::new(&self.job.system, field, state.cell, MINIMIZE_BUFFER, origin)?;
        let mut minimizer = match stored {
            Some(minimizer) => minimizer,
            None => Minimizer::new(settings, state.positions.clone(), &mut surface)?,
        };
        let name = &self.status.stage;
        let (energy, device) = (minimizer.energy(), surface.description());
        self.log.note(&format!("{name}: energy {energy:.6e} kJ/mol at the start, on {device}"))?;
        while minimizer.steps() < target && minimizer.status() == Status::Running {
            if self.poll(minimizer.steps(), target, state.time)? {
                self.checkpoint(index, state, Place::descending(minimizer, surface.origin()))?;
                return Ok(Outcome::Stopped);
            }
            minimizer.step(&mut surface)?;
            self.steps += 1;
            if self.checkpoint_is_due() {
                self.checkpoint(index, state, Place::descending(minimizer.clone(), surface.origin()))?;
            }
        }
        let (force, atom) = minimizer.max_force();
        let ending = match minimizer.status() {
            Status::Running => "stopped at the number of steps",
            Status::Converged => "converged",
            Status::Stalled => "cannot get lower in this arithmetic",
        };
        self.log.note(&format!(
            "{}: {ending} after {} steps: energy {:.6e} kJ/mol, largest force {force:.4e} kJ/mol/nm on atom {}",
            self.status.stage,
            minimizer.steps(),
            minimizer.energy(),
            atom + 1
        ))?;
        self.note_place((minimizer.steps(), target, state.time));
        state.positions.copy_from_slice(minimizer.positions());
        self.checkpoint(index, state, Place::descending(minimizer, surface.origin()))?;
        Ok(Outcome::Finished)
    }
}
