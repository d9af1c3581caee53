//! A stage of dynamics. [`Simulation::step`] defines the order of operations in a step.

use crate::backend::{Backend, ExternalForce, Kinetic, Leapfrog, Workload};
use crate::context::{Context, ListOrigins};
use crate::ensemble::barostat::{self, Barostat};
use crate::ensemble::multiple_time_steps::LongRange;
use crate::ensemble::thermostat::{Thermostat, VelocityChange};
use crate::ensemble::volume_trial::VolumeTrial;
use crate::ensemble::{CouplingStep, is_due};
use crate::error::Result;
use crate::observe::energies::Observed;
use crate::restraint::{Restraining, RestraintProgress};
use crate::rng::RandomKey;
use crate::run::dynamics::setup::Setup;
use crate::run::plan::Dynamics;
use crate::system::State;
use crate::units::BOLTZMANN;
use crate::vec3::Vec3;

#[cfg(test)]
mod domains;
#[cfg(test)]
mod exchange;
#[cfg(test)]
mod frozen_groups;
#[cfg(test)]
mod groups;
#[cfg(test)]
mod ideal_gas;
#[cfg(test)]
mod impulses;
#[cfg(test)]
mod pulling;
#[cfg(test)]
mod refreshment;
#[cfg(test)]
mod tests;

/// Quantities that a step computes in addition to the new positions and velocities.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// whether the step computes energies, temperature and pressure; a GPU runs steps without these quantities
    /// asynchronously
    pub energies: bool,
}

/// Couplings (barostat, thermostat) that have changed the state, but whose work is not yet fully counted in the
/// conserved energy.
#[derive(Clone, Copy, Debug)]
struct PendingWork {
    barostat: bool,
    thermostat: bool,
}

impl PendingWork {
    /// Returns the couplings of `state` whose work is pending.
    fn of(State { coupling, .. }: &State) -> Self {
        PendingWork {
            barostat: coupling.pending_scaling != Vec3::ZERO,
            thermostat: !coupling.pending_rescaling.is_empty(),
        }
    }
}

/// Progress of a stage of dynamics, from which a simulation continues.
#[derive(Clone, Debug, Default)]
pub struct StageProgress {
    /// number of steps done since the start of the stage
    pub steps: u64,
    /// simulated time at the start of the stage, ps
    pub first_time: f64,
    /// positions from which the pair lists were built when the checkpoint was written; `None` for a start without a
    /// checkpoint
    pub lists: Option<ListOrigins>,
}

/// Simulation of one stage of dynamics. Steps count from the start of the stage. Create a simulation with
/// [`crate::run::Engine::simulation`].
///
/// In the following example two argon atoms vibrate. Over a hundred steps of 2 fs the conserved energy changes by less
/// than a thousandth of the Lennard-Jones parameter ε.
///
/// ```
/// use md::run::{Dynamics, Engine, Plan, Velocities, Wanted};
/// # use md::prepare::{AtomSpec, Prepared};
/// # use md::system::{LennardJones, System};
/// # let mut builder = System::builder();
/// # builder.lj_type("Ar", LennardJones::from_sigma_epsilon(0.34, 0.998));
/// # for x in [0.0, 0.4] {
/// #     let position = md::vec3::vec3(x, 0.0, 0.0);
/// #     builder.atom(AtomSpec { name: "AR", element: 18, mass: 39.948, position, ..AtomSpec::default() });
/// # }
/// let Prepared { system, mut state, .. } = builder.build()?;
/// let (plan, engine) = (Plan::default(), Engine::on(1)?);
/// let velocities = Velocities::Generate { temperature: 10.0 };
/// let dynamics = Dynamics { velocities, ..Dynamics::default() };
/// let mut simulation = engine.simulation(&plan, &system, &dynamics, &mut state)?;
/// let first = simulation.step(Wanted { energies: true }, |_| Ok(()))?.conserved;
/// for _ in 0..100 {
///     let now = simulation.step(Wanted { energies: true }, |_| Ok(()))?;
///     assert!((now.conserved - first).abs() < 1e-3 * 0.998);
/// }
/// # Ok::<(), md::error::Error>(())
/// ```
pub struct Simulation<'a, B: Backend + ?Sized = dyn Backend> {
    setup: Setup<'a>,
    /// number of steps done since the start of this stage
    pub local_step: u64,
    /// number of steps that the run had done at the start of this stage
    first_step: u64,
    /// simulated time at the start of this stage, ps
    first_time: f64,
    /// step at which the state was last replaced (step 0 or a replica exchange), and the couplings whose work was not
    /// fully counted at that step
    set_pending: (u64, PendingWork),
    context: Context<B>,
}

impl<'a, B: Backend + ?Sized> Simulation<'a, B> {
    /// Creates a simulation that begins a stage at `state`, or continues a stage from `state` and `progress`.
    pub fn new(mut context: Context<B>, setup: Setup<'a>, state: &State, progress: StageProgress) -> Result<Self> {
        let StageProgress { steps, first_time, lists } = progress;
        if let Some(origins) = &lists {
            context.restore_lists(origins, steps)?;
        }
        context.set_state(state)?;
        if setup.temperature_groups.degrees_of_freedom().len() > 1 {
            context.backend_mut().set_temperature_groups(&setup.temperature_groups)?;
        }
        Ok(Simulation {
            setup,
            local_step: steps,
            first_step: state.step - steps,
            first_time,
            // at step 0, work may be pending from the couplings of the previous stage
            set_pending: (0, PendingWork::of(state)),
            context,
        })
    }

    /// Returns the number of steps since the start of the run.
    pub fn step_number(&self) -> u64 {
        self.first_step + self.local_step
    }

    /// Returns the time at the start of the next step, ps.
    pub fn time(&self) -> f64 {
        self.first_time + self.local_step as f64 * self.setup.dynamics.timestep
    }

    /// Returns the time step of the integrator, ps.
    pub fn timestep(&self) -> f64 {
        self.setup.dynamics.timestep
    }

    /// Returns the number of pair searches since this simulation was created.
    pub fn searches(&self) -> u64 {
        self.context.backend().searches()
    }

    /// Returns the backend that computes the forces, for its description and timings.
    pub fn backend(&self) -> &B {
        self.context.backend()
    }

    /// Copies the state at the start of the next step into `state`. All previous steps must be complete
    /// ([`Simulation::flush`]).
    pub fn download(&self, state: &mut State) -> Result<()> {
        self.backend().download(state)?;
        state.step = self.step_number();
        state.time = self.time();
        Ok(())
    }

    /// Returns potential energy (kJ/mol) and volume (nm³, zero without a cell) at the start of the next step.
    pub fn potential(&mut self) -> Result<(f64, f64)> {
        let restraint_time = self.local_step as f64 * self.setup.dynamics.timestep;
        let energies = self.context.forces(Workload { energy: true, restraint_time, ..Workload::FORCES })?.energies;
        Ok((energies.potential(), self.backend().cell()?.map_or(0.0, |cell| cell.volume())))
    }

    /// Continues from `state` after a replica exchange. `state` may differ from the present state only in velocities
    /// and in the work of couplings. `dynamics` may differ from the present settings only in temperatures and
    /// pressures.
    pub fn exchange(&mut self, state: &State, dynamics: &'a Dynamics) -> Result<()> {
        self.context.set_state(state)?;
        self.set_pending = (self.local_step, PendingWork::of(state));
        self.setup.dynamics = dynamics;
        Ok(())
    }

    /// Returns the state before the last step, which failed. The positions in this state are the last good positions.
    pub fn before_failure(&self) -> State {
        let (cell, positions) = self.backend().previous_positions();
        State { step: self.step_number(), time: self.time(), cell, positions: positions.to_vec(), ..State::default() }
    }

    /// Adds an external force to all following steps, see [`Context::add_external_force`].
    pub fn add_external_force(&mut self, force: impl ExternalForce + 'static) -> Result<()> {
        self.context.add_external_force(force)
    }

    /// Returns the positions from which the pair lists were built, see [`Context::list_origins`].
    pub fn list_origins(&self) -> Result<Option<ListOrigins>> {
        self.context.list_origins()
    }

    /// Returns the progress of the restraints, for a checkpoint. All previous steps must be complete
    /// ([`Simulation::flush`]).
    pub fn restraints(&self) -> Result<Vec<RestraintProgress>> {
        self.backend().restraint_progress()
    }

    /// Completes all steps that run asynchronously, see [`Context::flush`]. Call this function before
    /// [`Simulation::download`].
    pub fn flush(&mut self) -> Result<()> {
        self.context.flush()
    }

    /// Performs one step: pair lists, forces, `observe`, leapfrog, couplings, in this order. When `observe` is called,
    /// the positions are those at time t and the velocities are those at t − ½dt. Only this function defines the order
    /// of operations. A device may run steps asynchronously; a step is complete after a quantity of this step has been
    /// requested, or after [`Simulation::flush`].
    pub fn step(&mut self, wanted: Wanted, mut observe: impl FnMut(&Self) -> Result<()>) -> Result<Observed> {
        let (step, energies, dynamics) = (self.local_step, wanted.energies, self.setup.dynamics);
        let (at, freedom) = (self.coupling_step(), self.setup.temperature_groups.degrees_of_freedom());
        let (barostat, thermostat, pending) = (self.barostat_at(step), self.thermostat_at(step), self.pending_at(step));
        let virial = energies || barostat.is_some() || pending.barostat;
        let trial = self.trial();
        let long_range = self.long_range_at(step, virial || trial.is_some());
        let workload = Workload { energy: energies, virial, long_range, restraint_time: at.time };
        match trial {
            Some(trial) => self.context.forces_after_trial(workload, &trial)?,
            None => self.context.forces(workload)?,
        };
        observe(self)?;
        let leapfrog = Leapfrog {
            timestep: dynamics.timestep,
            virial: energies,
            kinetic: energies,
            coupled: barostat.is_some() || thermostat.is_some(),
            pending_work: pending.barostat || pending.thermostat,
            refreshed: dynamics.thermostat.as_ref().is_some_and(|thermostat| thermostat.kind.facts().refreshes),
        };
        let change = thermostat.map(|thermostat| thermostat.change(freedom, at));
        let (refreshment, change) = match change {
            // if no quantity has to be computed between integration and velocity refreshment, one pass over the atoms
            // does both operations; the rest of the work of a rescaling is computed between both
            Some(VelocityChange::Refresh(refreshment)) if !energies && barostat.is_none() && !pending.thermostat => {
                (Some(refreshment), None)
            }
            change => (None, change),
        };
        let kinetic = self.context.integrate(leapfrog, refreshment.as_ref())?;
        let observed = if energies { self.observe(kinetic)? } else { Observed::default() };
        if let Some(barostat) = barostat {
            let scaling = barostat.scaling(self.bath_temperature(), at);
            self.context.backend_mut().scale_box(scaling)?;
        }
        if let Some(change) = change {
            self.context.backend_mut().change_velocities(&change)?;
        }
        if self.setup.dynamics.com_removal.is_some_and(|every| is_due(every, self.local_step)) {
            self.context.backend_mut().remove_com_motion(self.setup.removed_motion)?;
        }
        self.local_step += 1;
        Ok(observed)
    }

    /// Returns the reference temperature of the thermostat at the present time in K, averaged over temperature
    /// groups; zero without a thermostat.
    fn bath_temperature(&self) -> f64 {
        let Setup { dynamics, temperature_groups, .. } = &self.setup;
        let time = self.coupling_step().time;
        let of = |thermostat: &Thermostat| thermostat.mean_temperature(temperature_groups.degrees_of_freedom(), time);
        dynamics.thermostat.as_ref().map_or(0.0, of)
    }

    /// Returns the Monte Carlo volume move with which the next step begins; `None` if no volume move is due.
    fn trial(&self) -> Option<VolumeTrial> {
        let barostat = self.setup.dynamics.barostat.as_ref().filter(|barostat| barostat.tries_at(self.local_step))?;
        Some(barostat.trial(self.bath_temperature(), self.coupling_step()))
    }

    /// Returns time, length and random-number key of the next step, which thermostat and barostat need.
    fn coupling_step(&self) -> CouplingStep {
        let (timestep, key) = (self.timestep(), RandomKey { seed: self.setup.seed, step: self.step_number() });
        CouplingStep { time: self.local_step as f64 * timestep, timestep, key }
    }

    /// Whether the next step begins with a Monte Carlo volume move. The positions of a step that begins with a volume
    /// move are known only after the forces have been computed, because the forces and energies decide whether the move
    /// is accepted.
    pub fn begins_with_trial(&self) -> bool {
        self.trial().is_some()
    }

    /// Whether the cutoff prevents the Monte Carlo barostat from shrinking the cell: most volume moves that would
    /// shrink the cell were rejected in this stage, because the cell would become too small.
    pub(in crate::run) fn is_hindered(&self) -> Result<bool> {
        Ok(self.backend().coupling()?.trials.iter().any(VolumeTrial::is_hindered))
    }

    /// Returns how reciprocal-space forces are applied at a step. A plain integrator applies the forces at every step,
    /// and a multiple-time-step integrator applies the forces as impulses at some steps. `measured` is true if the
    /// energies or the virial at this step are needed.
    fn long_range_at(&self, step: u64, measured: bool) -> LongRange {
        self.setup.dynamics.multiple_time_steps.map_or(LongRange::Ordinary, |steps| steps.at(step, measured))
    }

    /// Returns the barostat if the barostat scales the cell after step number `step` of the stage; otherwise `None`.
    fn barostat_at(&self, step: u64) -> Option<&'a Barostat> {
        self.setup.dynamics.barostat.as_ref().filter(|barostat| barostat.acts_at(step))
    }

    /// Returns the thermostat if the thermostat changes velocities after step number `step` of the stage; otherwise
    /// `None`.
    fn thermostat_at(&self, step: u64) -> Option<&'a Thermostat> {
        self.setup.dynamics.thermostat.as_ref().filter(|thermostat| thermostat.acts_at(step))
    }

    /// Returns the couplings that acted after step number `step` − 1. Half of the work of a coupling is counted one
    /// step after the coupling acts, when the new forces are known.
    fn pending_at(&self, step: u64) -> PendingWork {
        let (set, pending) = self.set_pending;
        match step.checked_sub(1) {
            Some(before) if step != set => PendingWork {
                barostat: self.barostat_at(before).is_some(),
                thermostat: self.thermostat_at(before).is_some_and(|thermostat| !thermostat.kind.facts().refreshes),
            },
            _ => pending,
        }
    }

    fn observe(&self, kinetic: Kinetic) -> Result<Observed> {
        let Kinetic { before, after, along, constraint_virial, of_groups } = kinetic;
        let backend = self.backend();
        let (energies, virial) = (backend.evaluation().energies, backend.evaluation().virial);
        let within = self.setup.frozen.internal_virial(&backend.evaluation().forces).scaled(-1.0);
        let (kinetic, virial, cell) = (0.5 * (before + after), virial + constraint_virial + within, backend.cell()?);
        let (work, free) = (backend.coupling()?, self.setup.degrees_of_freedom);
        let freedom = self.setup.temperature_groups.degrees_of_freedom();
        let restraint_work = work.restraint_work + backend.restraining().map_or(0.0, Restraining::work);
        let works = work.thermostat_work + work.barostat_work + restraint_work;
        Ok(Observed {
            energies,
            kinetic,
            restraint_work,
            conserved: kinetic + energies.potential() - works,
            temperature: 2.0 * kinetic / (free.max(1) as f64 * BOLTZMANN),
            pressure: cell.map_or(0.0, |cell| barostat::pressure(kinetic, virial.trace(), cell.volume())),
            pressure_along: cell
                .map_or(Vec3::ZERO, |cell| barostat::directional_pressure(along, virial.diagonal(), cell.volume())),
            cell,
            group_temperatures: of_groups.iter().zip(freedom).map(|(k, free)| 2.0 * k / (free * BOLTZMANN)).collect(),
        })
    }
}
