//! A system on a device (CPU or GPU), which computes forces from positions.
//!
//! A [`Context`] owns a backend and tracks the age of the pair lists. The context builds or prunes the lists before a
//! force evaluation that needs new lists. Dynamics, minimisation, single points and comparisons all get their forces
//! from a `Context`.

use crate::backend::{Backend, Evaluation, ExternalForce, Kinetic, Leapfrog, ListLevel, Workload};
use crate::ensemble::refreshment::Refreshment;
use crate::ensemble::volume_trial::VolumeTrial;
use crate::error::Result;
use crate::pair::ListSchedule;
use crate::restraint::{RestraintProgress, Restraints};
use crate::system::State;

/// States from which the current pair lists were built. A restart builds the same lists again from these states.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ListOrigins {
    /// state at the last pair search
    pub rebuilt: State,
    /// state at the last pruning
    pub pruned: State,
}

/// Backend together with the age of its pair lists.
///
/// The example computes the energy of two argon atoms at the minimum of their potential, which is −ε:
///
/// ```
/// use md_engine::backend::{Host, Reference, Workload};
/// use md_engine::context::Context;
/// use md_engine::pair::ListSchedule;
/// use md_engine::{simd::Level, team::Team};
/// # use md_engine::prepare::{AtomSpec, Prepared};
/// # use md_engine::system::{LennardJones, System};
/// # let mut builder = System::builder();
/// # builder.lj_type("Ar", LennardJones::from_sigma_epsilon(0.34, 0.998));
/// # for x in [0.0, 0.34 * 2f64.powf(1.0 / 6.0)] {
/// #     let position = md_engine::vec3::vec3(x, 0.0, 0.0);
/// #     builder.atom(AtomSpec { name: "AR", element: 18, mass: 39.948, position, ..AtomSpec::default() });
/// # }
/// let Prepared { system, state, .. } = builder.build()?;
/// let backend = Host::new(&system, Reference::new(&system)?, Level::detect(), Team::single())?;
/// let mut context = Context::new(Box::new(backend), ListSchedule::exact(1.0));
/// context.set_state(&state)?;
/// let evaluation = context.forces(Workload { energy: true, virial: false, ..Workload::FORCES })?;
/// assert!((evaluation.energies.potential() + 0.998).abs() < 1e-12);
/// # Ok::<(), md_engine::error::Error>(())
/// ```
pub struct Context<B: Backend + ?Sized = dyn Backend> {
    schedule: ListSchedule,
    /// steps since the outer pair list was built; `None` before the first build
    age: Option<u64>,
    backend: Box<B>,
}

impl<B: Backend + ?Sized> Context<B> {
    /// Wraps a backend that was created for the pair-list schedule `schedule` and has no pair lists yet.
    pub fn new(backend: Box<B>, schedule: ListSchedule) -> Self {
        Context { schedule, age: None, backend }
    }

    /// Returns the radii and lifetimes of the pair lists.
    pub fn schedule(&self) -> &ListSchedule {
        &self.schedule
    }

    /// Returns the backend, for operations on the state that `Context` does not provide.
    pub fn backend(&self) -> &B {
        &self.backend
    }

    /// Returns a mutable reference to the backend, see [`Context::backend`].
    pub fn backend_mut(&mut self) -> &mut B {
        &mut self.backend
    }

    /// Adds a user-defined force, which acts from the next force evaluation on. With a GPU the force is computed on the
    /// host, and the GPU waits for the force in every step. Returns an error if the system is divided among several
    /// ranks, which does not support user-defined forces.
    pub fn add_external_force(&mut self, force: impl ExternalForce + 'static) -> Result<()> {
        // the force must not act in earlier steps, which the device may still have to repeat
        self.flush()?;
        self.backend.add_external_force(Box::new(force))
    }

    /// Sets the restraints of a stage, which act from the next evaluation on. `progress` is the state of the
    /// restraints from which a stage is resumed, and is empty at the start of a stage. Returns an error for
    /// restraints that the backend does not support.
    pub fn restrain(&mut self, restraints: &Restraints, progress: &[RestraintProgress]) -> Result<()> {
        self.backend.restrain(restraints, progress)
    }

    /// Sets positions, velocities, cell, thermostat and barostat variables. Pair lists are kept.
    pub fn set_state(&mut self, state: &State) -> Result<()> {
        self.backend.upload(state)
    }

    /// Rebuilds the pair lists of a checkpoint. The lists were built `age` steps before the checkpoint. The caller
    /// must call [`Context::set_state`] afterwards.
    pub fn restore_lists(&mut self, origins: &ListOrigins, age: u64) -> Result<()> {
        self.backend.upload(&origins.rebuilt)?;
        self.backend.build_lists()?;
        self.backend.upload(&origins.pruned)?;
        // `origins.pruned` already holds the predicted positions of the original pruning, so that this pruning must not
        // predict positions a second time
        self.backend.prune_lists(0.0)?;
        self.age = Some(if self.schedule.is_exact() { age } else { age % u64::from(self.schedule.rebuild) });
        Ok(())
    }

    /// Returns the states from which a restart rebuilds the current pair lists. A checkpoint stores these states next
    /// to the current state. `None` if the next force evaluation needs new lists.
    pub fn list_origins(&self) -> Result<Option<ListOrigins>> {
        if self.search_is_scheduled() {
            return Ok(None);
        }
        let mut origins = ListOrigins::default();
        self.backend.list_positions(ListLevel::Outer, &mut origins.rebuilt)?;
        self.backend.list_positions(ListLevel::Inner, &mut origins.pruned)?;
        Ok(Some(origins))
    }

    /// Builds the outer pair list if it has expired. Returns whether the inner list must be pruned next, which is
    /// always necessary after a build of the outer list. If displacements limit the lifetime of the lists, an
    /// asynchronous device may check the displacements later. With `must_know` the displacements are checked before
    /// this function returns.
    fn update_outer_list(&mut self, must_know: bool) -> Result<bool> {
        let (schedule, age) = (self.schedule, self.age.unwrap_or(0));
        let exact = schedule.is_exact();
        if self.search_is_scheduled() || (exact && self.backend.lists_expired(&schedule, must_know)?) {
            self.backend.build_lists()?;
            self.age = Some(0);
            return Ok(true);
        }
        Ok(!exact && age.is_multiple_of(u64::from(schedule.prune)))
    }

    /// Computes forces at the current positions with valid pair lists.
    pub fn forces(&mut self, workload: Workload) -> Result<&Evaluation> {
        if self.update_outer_list(workload.energy)? {
            self.backend.prune_lists(self.schedule.lookahead)?;
        }
        self.backend.forces(workload)?;
        Ok(self.backend.evaluation())
    }

    /// Computes forces after a Monte Carlo volume move. The energies of the old and the new volume must include all
    /// pairs. An inner list that was pruned for predicted positions misses some pairs. The inner list is therefore
    /// pruned before each of the two energy evaluations, and pruned again as usual after the volume move.
    pub fn forces_after_trial(&mut self, workload: Workload, trial: &VolumeTrial) -> Result<&Evaluation> {
        let workload = Workload { energy: true, ..workload };
        self.update_outer_list(true)?;
        if self.schedule.is_exact() {
            self.backend.build_lists()?;
        }
        self.backend.try_volume(trial, workload, &self.schedule)?;
        self.backend.prune_lists(self.schedule.lookahead)?;
        Ok(self.backend.evaluation())
    }

    /// Advances the leapfrog integrator by one step, with the forces of the last force evaluation. With a
    /// `refreshment` the thermostat partially refreshes the velocities in the middle of the step.
    pub fn integrate(&mut self, step: Leapfrog, refreshment: Option<&Refreshment>) -> Result<Kinetic> {
        self.age = self.age.map(|age| age + 1);
        self.backend.integrate(step, refreshment)
    }

    /// Waits until the device has finished all work, and repeats steps that the device has skipped. Returns an error if
    /// a step has failed.
    pub fn flush(&mut self) -> Result<()> {
        if self.age.is_some_and(|age| age > 0) {
            self.backend.lists_expired(&self.schedule, true)?;
        }
        Ok(())
    }

    fn search_is_scheduled(&self) -> bool {
        let expires = |age| !self.schedule.is_exact() && age >= u64::from(self.schedule.rebuild);
        self.age.is_none_or(expires)
    }
}
