//! A system on a device: positions in, forces out.
//!
//! A [`Context`] owns a backend and knows the age of its pair lists: it builds, prunes and renews them before the force
//! evaluation that needs them. Dynamics, minimisation, single points and comparisons all get their forces here.

use crate::backend::{Backend, Evaluation, ExternalForce, Kinetic, Leapfrog, ListLevel, Workload};
use crate::ensemble::refreshment::Refreshment;
use crate::ensemble::volume_trial::VolumeTrial;
use crate::error::Result;
use crate::pair::ListSchedule;
use crate::restraint::{RestraintProgress, Restraints};
use crate::system::State;

/// Positions and cell that the present pair lists were made from: what a restart needs to make the same lists again.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ListOrigins {
    /// at the last search
    pub rebuilt: State,
    /// at the last pruning
    pub pruned: State,
}

/// A backend, and the age of its pair lists.
///
/// Energy of two atoms of argon at the minimum of their potential, which is −ε:
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
    /// steps since the outer list was built; none where there is none yet
    age: Option<u64>,
    backend: Box<B>,
}

impl<B: Backend + ?Sized> Context<B> {
    /// Around a backend that has no lists yet and was made for this schedule.
    pub fn new(backend: Box<B>, schedule: ListSchedule) -> Self {
        Context { schedule, age: None, backend }
    }

    /// Radii and lifetimes of the pair lists.
    pub fn schedule(&self) -> &ListSchedule {
        &self.schedule
    }

    /// The backend, for everything else that is done with the state.
    pub fn backend(&self) -> &B {
        &self.backend
    }

    /// As [`Context::backend`].
    pub fn backend_mut(&mut self) -> &mut B {
        &mut self.backend
    }

    /// Adds a force of the user's own, which acts from the next evaluation on; a GPU refuses it.
    pub fn add_external_force(&mut self, force: impl ExternalForce + 'static) -> Result<()> {
        self.backend.add_external_force(Box::new(force))
    }

    /// The restraints of a stage from the next evaluation on; a GPU refuses those of collective variables. The stage begins, or
    /// goes on after what has been `progress`.
    pub fn restrain(&mut self, restraints: &Restraints, progress: &[RestraintProgress]) -> Result<()> {
        self.backend.restrain(restraints, progress)
    }

    /// Take over positions, velocities, cell and couplings. Lists stay as they are.
    pub fn set_state(&mut self, state: &State) -> Result<()> {
        self.backend.upload(state)
    }

    /// Make the lists of a checkpoint again, which were built `age` steps ago. The state is to be set after that.
    pub fn restore_lists(&mut self, origins: &ListOrigins, age: u64) -> Result<()> {
        self.backend.upload(&origins.rebuilt)?;
        self.backend.build_lists()?;
        self.backend.upload(&origins.pruned)?;
        // these are the positions that were predicted
        self.backend.prune_lists(0.0)?;
        self.age = Some(if self.schedule.is_exact() { age } else { age % u64::from(self.schedule.rebuild) });
        Ok(())
    }

    /// What a checkpoint must hold in addition to the state to make the present lists again; nothing where the next forces
    /// need new ones.
    pub fn list_origins(&self) -> Result<Option<ListOrigins>> {
        if self.search_is_scheduled() {
            return Ok(None);
        }
        let mut origins = ListOrigins::default();
        self.backend.list_positions(ListLevel::Outer, &mut origins.rebuilt)?;
        self.backend.list_positions(ListLevel::Inner, &mut origins.pruned)?;
        Ok(Some(origins))
    }

    /// Build the outer list if that is due, and tell whether a pruning is due, too, as it is then. An asynchronous device may
    /// check lists that expire by displacement later, unless the host `must_know` that they are valid.
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

    /// Forces at the current positions, with valid lists.
    pub fn forces(&mut self, workload: Workload) -> Result<&Evaluation> {
        if self.update_outer_list(workload.energy)? {
            self.backend.prune_lists(self.schedule.lookahead)?;
        }
        self.backend.forces(workload)?;
        Ok(self.backend.evaluation())
    }

    /// Forces after a trial move of the volume. The energies of both volumes count all pairs, as those of lists that were
    /// pruned for positions of some other time do not: the inner list is pruned for both, and again as usual after the trial.
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

    /// One step of the leapfrog integrator with the last forces.
    pub fn integrate(&mut self, step: Leapfrog) -> Result<Kinetic> {
        self.age = self.age.map(|age| age + 1);
        self.backend.integrate(step)
    }

    /// The same with a refreshment in its middle.
    pub fn integrate_and_refresh(&mut self, step: Leapfrog, refreshment: &Refreshment) -> Result<Kinetic> {
        self.age = self.age.map(|age| age + 1);
        self.backend.integrate_and_refresh(step, refreshment)
    }

    /// Wait for all work, and replay steps that a device has skipped.
    pub fn flush(&mut self) -> Result<()> {
        if self.schedule.is_exact() && self.age.is_some_and(|age| age > 0) {
            self.backend.lists_expired(&self.schedule, true)?;
        }
        Ok(())
    }

    fn search_is_scheduled(&self) -> bool {
        let expires = |age| !self.schedule.is_exact() && age >= u64::from(self.schedule.rebuild);
        self.age.is_none_or(expires)
    }
}
