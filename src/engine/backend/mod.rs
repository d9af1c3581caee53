//! How forces and steps are computed: one trait of primitives ([`Backend`]), one implementation per device.
//!
//! A backend owns the running copy of the state in an order and layout of its own; everything that crosses this interface is
//! in topology order. It is chosen once per run.

mod centres;
pub mod choice;
mod cpu;
pub mod cuda;
mod dispersion;
mod domains;
mod energies;
mod external;
mod home;
mod host;
mod leapfrog;
mod phases;
mod potential;
mod reference;
mod refresh;
mod work;

pub use cpu::{Cpu, CpuOptions};
pub use dispersion::DispersionTail;
pub use domains::{Domains, Serving, describe_division};
pub use energies::Energies;
pub use external::{External, ExternalForce};
pub use home::Home;
pub use host::Host;
pub use phases::Phases;
pub use reference::{ListsMade, Reference, Sampled, check_system, sample};
pub use work::{PairCounts, StepCounts, Work, useful_pairs};

use crate::cell::PeriodicCell;
use crate::ensemble::barostat::BoxScaling;
use crate::ensemble::groups::{PerGroup, TemperatureGroups};
use crate::ensemble::multiple_time_steps::LongRange;
use crate::ensemble::refreshment::Refreshment;
use crate::ensemble::thermostat::VelocityChange;
use crate::ensemble::volume_trial::VolumeTrial;
use crate::error::{Error, Problem, Result};
use crate::pair::ListSchedule;
use crate::restraint::{Restraining, RestraintProgress, Restraints};
use crate::system::{Coupling, State, System};
use crate::vec3::{Mat3, Vec3};
use std::sync::Arc;

/// What a force evaluation computes in addition to forces. Decided once per step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Workload {
    /// every energy term; the host gets them, and then the virial, too
    pub energy: bool,
    /// the virial W = Σ r⊗F; without `energy` a device may keep it for [`Backend::scale_box`] and the work that follows
    pub virial: bool,
    /// what becomes of reciprocal space; it may be skipped where neither of the above is asked for
    pub long_range: LongRange,
}

impl Workload {
    /// Nothing but forces, all of them.
    pub const FORCES: Self = Workload { energy: false, virial: false, long_range: LongRange::Ordinary };
}

/// The result of one force evaluation, in topology order.
#[derive(Clone, Debug, Default)]
pub struct Evaluation {
    /// kJ/mol/nm
    pub forces: Vec<Vec3>,
    /// kJ/mol, zeros unless requested
    pub energies: Energies,
    /// W = Σ r⊗F in kJ/mol (no ½), zeros unless requested
    pub virial: Mat3,
    /// reciprocal space where it is kept apart
    pub impulse: Impulse,
}

impl Evaluation {
    /// The forces that act in the step, kJ/mol/nm.
    pub fn acting(&self) -> &[Vec3] {
        if self.impulse.acting.is_empty() { &self.forces } else { &self.impulse.acting }
    }
}

/// Forces of reciprocal space that are kept apart ([`LongRange::Apart`]); empty where they are not.
#[derive(Clone, Debug, Default)]
pub struct Impulse {
    /// with which they act
    pub weight: f64,
    /// they alone, kJ/mol/nm; part of [`Evaluation::forces`]
    pub forces: Vec<Vec3>,
    /// all forces, those of reciprocal space with their weight, kJ/mol/nm
    pub acting: Vec<Vec3>,
}

impl Impulse {
    /// There is none.
    fn clear(&mut self) {
        self.forces.clear();
        self.acting.clear();
    }
}

/// One step of the leapfrog integrator.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Leapfrog {
    /// ps
    pub timestep: f64,
    /// return the virial of the constraint forces
    pub virial: bool,
    /// return kinetic energies and that virial; without, the returned values are undefined
    pub kinetic: bool,
    /// [`Backend::scale_box`] or [`Backend::change_velocities`] follows
    pub coupled: bool,
    /// one of them followed the previous step: the rest of its work is booked now, with the present forces, which after
    /// [`Backend::scale_box`] must have been evaluated with their virial
    pub pending_work: bool,
    /// velocities are refreshed in this stage: the work of constraint forces is booked as the thermostat's
    /// ([`crate::ensemble::refreshment`])
    pub refreshed: bool,
}

/// Kinetic energies of a step, kJ/mol; that at the time of the forces is the mean of both half steps.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Kinetic {
    /// of the velocities half a step before
    pub before: f64,
    /// of the velocities half a step after
    pub after: f64,
    /// along x, y, z at the time of the forces; zero unless the virial is requested, and from a device that only scales cells
    /// isotropically
    pub along: Vec3,
    /// Σ r⊗F of the constraint forces, kJ/mol, zero unless requested
    pub constraint_virial: Mat3,
    /// of each temperature group, at the time of the forces; empty without groups
    pub of_groups: PerGroup<f64>,
    /// work of the constraint forces of this step, of which the second half is done after the time of the forces; zero
    /// unless it is booked
    pub constraint_work: f64,
}

/// The two pair lists. A restart needs the positions that each was made from, to make the same lists again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum ListLevel {
    /// made by the last search
    Outer,
    /// made by the last pruning
    Inner,
}

/// The primitives of a device for one system. It holds the running state; [`Backend::upload`] and [`Backend::download`]
/// exchange it in topology order. A device may work asynchronously: all work is done before a result is read, and an error
/// is reported there at the latest.
pub trait Backend: Send {
    /// Device, threads and instruction set, for the log.
    fn description(&self) -> String;
    /// Take over positions, velocities, cell and the work of couplings so far.
    fn upload(&mut self, state: &State) -> Result<()>;
    /// Copy positions, velocities, cell and the work of couplings into `state`.
    fn download(&self, state: &mut State) -> Result<()>;
    /// Cell (as far as the host knows it) and positions before the last step: the last valid ones after a failed step.
    fn previous_positions(&self) -> (Option<PeriodicCell>, &[Vec3]);
    /// The lattice now.
    fn cell(&self) -> Result<Option<PeriodicCell>>;
    /// Sort the atoms and search the outer pair list; a pruning must follow.
    fn build_lists(&mut self) -> Result<()>;
    /// Reduce the outer list to the inner one, for where atoms are after `lookahead` (ps) if nothing acts on them.
    fn prune_lists(&mut self, lookahead: f64) -> Result<()>;
    /// Whether a pair may be missing from `lists`, which expire by displacement. An asynchronous device checks from time to
    /// time, and always with `must_know`. It makes no step with expired lists: it builds new ones at the step where they
    /// expired, and replays the steps since then.
    fn lists_expired(&mut self, lists: &ListSchedule, must_know: bool) -> Result<bool>;
    /// Outer lists built so far.
    fn searches(&self) -> u64;
    /// Copy the positions and the cell that a list was made from into `state`.
    fn list_positions(&self, list: ListLevel, state: &mut State) -> Result<()>;
    /// Forces at the current positions.
    fn forces(&mut self, workload: Workload) -> Result<()>;
    /// Adds a force of the user's own to all forces from now on. A backend that cannot take any refuses it.
    fn add_external_force(&mut self, _force: Box<dyn ExternalForce>) -> Result<()> {
        let problem = Problem::new("this device takes no external forces");
        Err(problem.help("set run.device = \"cpu\"").into())
    }
    /// The restraints of a stage, which act in [`Backend::forces`] from now on. The stage begins, or goes on after what has
    /// been `progress`. A backend refuses those that it does not have.
    fn restrain(&mut self, restraints: &Restraints, _progress: &[RestraintProgress]) -> Result<()> {
        if restraints.is_empty() {
            return Ok(());
        }
        Err(Problem::new("this device has no restraints").help("set run.device = \"cpu\"").into())
    }
    /// They, with the work of the last step that returned kinetic energies; `None` from a backend that cannot restrain.
    fn restraining(&self) -> Option<&Restraining> {
        None
    }
    /// Their centres and force constants are those of this time from now on, ps since the start of the stage.
    fn set_restraint_time(&mut self, _time: f64) {}
    /// What a checkpoint must hold of them, after all work is done.
    fn restraint_progress(&self) -> Result<Vec<RestraintProgress>> {
        Ok(self.restraining().map_or_else(Vec::new, |restraining| restraining.progress().to_vec()))
    }
    /// The result of the last [`Backend::forces`]; forces and virial are valid if energies were requested.
    fn evaluation(&self) -> &Evaluation;
    /// The reciprocal-space part of the last [`Backend::forces`] on some atoms, kJ/mol/nm, where it is known separately.
    fn reciprocal_forces(&self, _atoms: &[u32]) -> Option<Vec<Vec3>> {
        None
    }
    /// Leapfrog with constraints.
    fn integrate(&mut self, step: Leapfrog) -> Result<Kinetic>;
    /// [`Backend::integrate`], and then [`Backend::change_velocities`] by a refreshment, to the bit.
    fn integrate_and_refresh(&mut self, step: Leapfrog, refreshment: &Refreshment) -> Result<Kinetic> {
        let kinetic = self.integrate(step)?;
        self.change_velocities(&VelocityChange::Refresh(refreshment.clone()))?;
        Ok(kinetic)
    }
    /// Scale the box and the group centres by what follows from the volume and the pressure of the centres at the time of
    /// the last forces ([`crate::ensemble::barostat`]), and add the work of that to the barostat's, the rest with the next
    /// [`Backend::integrate`]. Forces must have been asked for with their virial.
    fn scale_box(&mut self, scaling: BoxScaling) -> Result<()>;
    /// Forces at the current positions after a trial move of the volume ([`crate::ensemble::volume_trial`]): those of what was
    /// accepted, as `workload` says, which has energies, too. The inner list, which is pruned here, holds all pairs of both
    /// volumes; a pruning must follow. A backend that cannot do it refuses.
    fn try_volume(&mut self, _trial: &VolumeTrial, _workload: Workload, _lists: &ListSchedule) -> Result<()> {
        let problem = Problem::new("this device has no barostat that makes trial moves");
        Err(problem.help("set run.device = \"cpu\", or take barostat kind \"c-rescale\"").into())
    }
    /// Atoms that share a heat bath, from now on; all do until then. A backend that cannot do it refuses.
    fn set_temperature_groups(&mut self, _groups: &Arc<TemperatureGroups>) -> Result<()> {
        Err(Problem::new("this device has one temperature group").help("set run.device = \"cpu\"").into())
    }
    /// Change velocities as a thermostat asks ([`crate::ensemble::thermostat`]), and add the work of that to the thermostat's;
    /// that of factors, the rest with the next [`Backend::integrate`]. [`Backend::scale_box`] comes before. A backend refuses
    /// what it cannot do.
    fn change_velocities(&mut self, change: &VelocityChange) -> Result<()>;
    /// The work of the couplings so far.
    fn coupling(&self) -> Result<Coupling>;
    /// Remove the motion of the centre of mass, and the rotation where there is no cell.
    fn remove_com_motion(&mut self) -> Result<()>;
    /// Seconds spent so far, after all work is done.
    fn phases(&self) -> Result<Phases>;
    /// Sizes of the present pair lists.
    fn pair_counts(&self) -> Result<PairCounts>;
}

/// Computes forces for positions in topology order, on the CPU: what [`Host`] integrates with.
pub trait ForceField: Send {
    /// Device, threads and instruction set, for the log.
    fn description(&self) -> String;
    /// New outer pair list.
    fn rebuild(&mut self, cell: Option<&PeriodicCell>, positions: &[Vec3]);
    /// New inner pair list, further by a `margin` (nm) than the schedule says.
    fn prune(&mut self, cell: Option<&PeriodicCell>, positions: &[Vec3], margin: f64);
    /// The cell has changed a little since the lists were made.
    fn cell_changed(&mut self, cell: Option<&PeriodicCell>);
    /// Forces, and what else is asked for; those of reciprocal space go to [`Impulse::forces`] where they are kept apart.
    fn evaluate(
        &mut self,
        cell: Option<&PeriodicCell>,
        positions: &[Vec3],
        workload: Workload,
        out: &mut Evaluation,
    ) -> Result<()>;
    /// The reciprocal-space part of the last [`ForceField::evaluate`] on some atoms, kJ/mol/nm, where it can be told apart.
    fn reciprocal_forces(&self, _cell: Option<&PeriodicCell>, _atoms: &[u32]) -> Option<Vec<Vec3>> {
        None
    }
    /// Seconds spent so far.
    fn phases(&self) -> Phases;
    /// Sizes of the present pair lists.
    fn pair_counts(&self) -> PairCounts {
        PairCounts::default()
    }
    /// Before new outer lists: brings the atoms to where they are at home now, where several processes share them. Returns the
    /// system of those that are at home here, if these may be others than before.
    fn migrate(
        &mut self,
        _cell: Option<&PeriodicCell>,
        _positions: &mut Vec<Vec3>,
        _velocities: &mut Vec<Vec3>,
    ) -> Result<Option<System>> {
        Ok(None)
    }
    /// What is at home here, where several processes share the atoms.
    fn home(&self) -> Option<Home<'_>> {
        None
    }
    /// Replaces sums over the atoms at home by those over all.
    fn sum(&self, _values: &mut [f64]) {}
    /// The largest of all processes' values.
    fn largest(&self, value: f64) -> f64 {
        value
    }
    /// Fails where a step of one of the processes has failed.
    fn agree(&self, failure: Option<Error>) -> Result<()> {
        failure.map_or(Ok(()), Err)
    }
}

impl ForceField for Reference {
    fn description(&self) -> String {
        "CPU reference, double precision".into()
    }
    fn rebuild(&mut self, _: Option<&PeriodicCell>, _: &[Vec3]) {}
    fn prune(&mut self, _: Option<&PeriodicCell>, _: &[Vec3], _: f64) {}
    fn cell_changed(&mut self, _: Option<&PeriodicCell>) {}
    fn evaluate(
        &mut self,
        cell: Option<&PeriodicCell>,
        positions: &[Vec3],
        workload: Workload,
        out: &mut Evaluation,
    ) -> Result<()> {
        self.evaluate_into(cell, positions, workload, out);
        Ok(())
    }
    fn phases(&self) -> Phases {
        Phases::default()
    }
}
