//! Single stages of minimisation or dynamics that write no files, for programs that use the library.

use crate::error::{Problem, Result};
use crate::pair::ListSchedule;
use crate::run::dynamics::setup::{Setup, noise_seed};
use crate::run::dynamics::simulation::{Simulation, StageProgress};
use crate::run::dynamics::start::prepare;
use crate::run::engine::Engine;
use crate::run::minimize::energy_surface::ForceSurface;
use crate::run::minimize::{MinimizeSettings, Minimizer, Status};
use crate::run::plan::stage_output::StageOutput;
use crate::run::plan::{Dynamics, Minimize, Plan, Precision, Stage, StageKind, Velocities};
use crate::system::{State, System};

/// Buffer (nm) of the pair lists of a minimisation. Atoms move little in a minimisation, so lists with this buffer have
/// a long lifetime.
const MINIMIZE_BUFFER: f64 = 0.1;
/// Relative rounding error of an energy that is a sum of `f32` terms (precision `mixed`). A sum of `f64` terms
/// (precision `double`) has the error [`DOUBLE_ENERGY_PRECISION`].
const MIXED_ENERGY_PRECISION: f64 = 1e-7;
const DOUBLE_ENERGY_PRECISION: f64 = 1e-12;

/// Returns the pair list schedule of a minimisation.
pub(in crate::run) fn minimize_lists(system: &System) -> ListSchedule {
    ListSchedule::exact(system.settings.longest_cutoff() + MINIMIZE_BUFFER)
}

/// Returns the settings of the minimiser for a stage of minimisation.
pub(in crate::run) fn minimize_settings(options: &Minimize, precision: Precision) -> MinimizeSettings {
    MinimizeSettings {
        force_tolerance: options.force_tolerance,
        max_displacement: options.max_displacement,
        energy_precision: match precision {
            Precision::Double => DOUBLE_ENERGY_PRECISION,
            Precision::Mixed => MIXED_ENERGY_PRECISION,
        },
    }
}

impl Engine {
    /// Minimises the energy of `state`. Sets the positions in `state` to the positions with the lowest energy. The
    /// returned minimiser holds the lowest energy, the largest force and the status. Device and precision are taken
    /// from `plan`; the stages of `plan` are ignored.
    pub fn minimize(&self, plan: &Plan, system: &System, options: &Minimize, state: &mut State) -> Result<Minimizer> {
        let minimizer = self.pool.install(|| {
            let context = self.context(plan, system, minimize_lists(system))?;
            let mut surface = ForceSurface::new(system, context, state, None)?;
            let settings = minimize_settings(options, plan.run.precision);
            let mut minimizer = Minimizer::new(settings, state.positions.clone(), &mut surface)?;
            while minimizer.steps() < options.steps && minimizer.status() == Status::Running {
                minimizer.step(&mut surface)?;
            }
            Ok::<_, crate::error::Error>(minimizer)
        })?;
        state.positions.copy_from_slice(minimizer.positions());
        Ok(minimizer)
    }

    /// Prepares dynamics that start at `state`: applies constraints to the positions, and generates velocities if the
    /// settings in `dynamics` request generated velocities. [`Simulation::step`] then does the steps. Device,
    /// precision, seed and tuning are taken from `plan`; the stages of `plan` are ignored. Random numbers of couplings
    /// depend on the seed and on `state`, so that another state has independent random numbers. Returns an error if
    /// `dynamics` needs the velocities of `state` and `state` has no velocities.
    pub fn simulation<'a>(
        &self,
        plan: &Plan,
        system: &System,
        dynamics: &'a Dynamics,
        state: &mut State,
    ) -> Result<Simulation<'a>> {
        if dynamics.velocities == Velocities::File && state.velocities.len() != state.positions.len() {
            let problem = Problem::new("dynamics need the velocities of the state, but the state has no velocities");
            return Err(problem.help("take Velocities::Generate").into());
        }
        let stage = Stage {
            name: "dynamics".to_owned(),
            kind: StageKind::Dynamics(dynamics.clone()),
            position_restraints: vec![],
            restraints: vec![],
            frozen: None,
            output: StageOutput::default(),
        };
        let plan = Plan { stages: vec![stage], ..plan.clone() };
        let seed = noise_seed(&plan, state);
        let context = self.pool.install(|| {
            prepare(system, dynamics, plan.run.seed, false, state)?;
            self.context(&plan, system, self.lists(&plan, system, state)?)
        })?;
        let setup = Setup::new(system, dynamics, seed, state.cell.is_some())?;
        Simulation::new(context, setup, state, StageProgress { first_time: state.time, ..StageProgress::default() })
    }
}
