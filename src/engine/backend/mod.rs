//! Backends compute forces and integration steps. The trait [`Backend`] has one implementation per device.
//!
//! A backend owns the state during a run, in the atom order and memory layout of its device. All arguments and results
//! of the functions of [`Backend`] are in topology order. The backend is chosen once, at the start of a run.

pub mod accuracy;
mod centers;
pub mod choice;
mod cpu;
pub mod cuda;
mod dispersion;
mod distribution;
mod domains;
mod energies;
mod external;
mod feature;
mod host;
mod leapfrog;
mod local_terms;
mod phases;
mod potential;
mod reference;
mod refresh;
#[cfg(test)]
mod tests;
mod volume_move;
mod work;

pub use cpu::{Cpu, CpuOptions};
pub use dispersion::DispersionTail;
pub use distribution::{Distribution, Home};
pub use domains::{Domains, RankShare, Requested, Serving, SharedReference};
pub use energies::Energies;
pub use external::{External, ExternalForce};
pub use feature::{Feature, GPU, Platform, RANKS};
pub use host::Host;
pub use phases::Phases;
pub use reference::{ListsMade, Reference, Sampled, check_system, sample};
pub use work::{PairCounts, StepCounts, Work, useful_pairs};

use crate::cell::PeriodicCell;
use crate::constraint::RemovedMotion;
use crate::ensemble::barostat::{BarostatKind, BoxScaling};
use crate::ensemble::groups::{PerGroup, TemperatureGroups};
use crate::ensemble::multiple_time_steps::LongRange;
use crate::ensemble::refreshment::Refreshment;
use crate::ensemble::thermostat::VelocityChange;
use crate::ensemble::volume_trial::VolumeTrial;
use crate::error::{Error, Problem, Result};
use crate::pair::ListSchedule;
use crate::restraint::{Restraining, RestraintProgress, Restraints};
use crate::system::{Coupling, State};
use crate::vec3::{Mat3, Vec3};
use std::sync::Arc;

/// Quantities that a force evaluation computes in addition to forces. The quantities are chosen once per step.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Workload {
    /// compute every energy term; in this case the host receives the energies and the virial
    pub energy: bool,
    /// compute the virial W = Σ r⊗F; without `energy` the virial may stay on the device, for [`Backend::scale_box`]
    /// and the work of the barostat
    pub virial: bool,
    /// treatment of reciprocal space; reciprocal space may be skipped if neither energy nor virial is requested
    pub long_range: LongRange,
    /// time since the start of the stage (ps) at which centers and force constants of restraints are evaluated
    pub restraint_time: f64,
}

impl Workload {
    /// Workload of a force evaluation at the start of a stage: all forces, without energies and virial.
    pub const FORCES: Self =
        Workload { energy: false, virial: false, long_range: LongRange::Ordinary, restraint_time: 0.0 };
}

/// The result of one force evaluation, in topology order.
#[derive(Clone, Debug, Default)]
pub struct Evaluation {
    /// forces in kJ/mol/nm, one per atom
    pub forces: Vec<Vec3>,
    /// energies in kJ/mol, zeros unless requested
    pub energies: Energies,
    /// W = Σ r⊗F in kJ/mol (without a factor −½), zeros unless requested
    pub virial: Mat3,
    /// reciprocal-space forces if they are kept apart from the other forces
    pub impulse: Impulse,
}

impl Evaluation {
    /// Returns the forces that move the atoms in this step, kJ/mol/nm.
    pub fn acting(&self) -> &[Vec3] {
        if self.impulse.acting.is_empty() { &self.forces } else { &self.impulse.acting }
    }
}

/// Reciprocal-space forces that are kept apart from the other forces ([`LongRange::Apart`]); empty otherwise.
#[derive(Clone, Debug, Default)]
pub struct Impulse {
    /// weight of the reciprocal-space forces in the step; zero if these forces are not kept apart, or do not act in the
    /// step
    pub weight: f64,
    /// reciprocal-space forces without the weight, kJ/mol/nm; these forces are also included in [`Evaluation::forces`]
    pub forces: Vec<Vec3>,
    /// all forces, with the reciprocal-space forces weighted, kJ/mol/nm
    pub acting: Vec<Vec3>,
}

impl Impulse {
    /// Sets the weight to zero and removes all forces.
    fn clear(&mut self) {
        self.weight = 0.0;
        self.forces.clear();
        self.acting.clear();
    }
}

/// Step of the leapfrog integrator.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Leapfrog {
    /// time step in ps
    pub timestep: f64,
    /// return the virial of the constraint forces
    pub virial: bool,
    /// return kinetic energies and the virial of the constraint forces; without this request the returned values are
    /// undefined
    pub kinetic: bool,
    /// a call of [`Backend::scale_box`] or [`Backend::change_velocities`] follows this step
    pub coupled: bool,
    /// [`Backend::scale_box`] or [`Backend::change_velocities`] was called after the previous step. The step adds the
    /// remaining work of the scaling or velocity change, with the present forces. After [`Backend::scale_box`] the
    /// present forces must have been evaluated with their virial
    pub pending_work: bool,
    /// velocities are refreshed in this stage; the impulses of reciprocal-space forces then contribute to the work of
    /// the thermostat ([`crate::ensemble::multiple_time_steps`])
    pub refreshed: bool,
}

/// Kinetic energies of a step, kJ/mol. The kinetic energy at the time of the forces is the mean of `before` and
/// `after`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Kinetic {
    /// kinetic energy half a step before the time of the forces
    pub before: f64,
    /// kinetic energy half a step after the time of the forces
    pub after: f64,
    /// kinetic energy along x, y, z at the time of the forces; zero unless the virial is requested
    pub along: Vec3,
    /// Σ r⊗F of the constraint forces, kJ/mol, zero unless requested
    pub constraint_virial: Mat3,
    /// kinetic energy of each temperature group at the time of the forces; empty without temperature groups
    pub of_groups: PerGroup<f64>,
}

/// The two pair lists. A restart needs the positions at which each list was built, so that the restart can rebuild
/// identical lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum ListLevel {
    /// outer list, built by the last search
    Outer,
    /// inner list, built by the last pruning
    Inner,
}

/// The primitive operations of a device for one system. A backend holds the state during a run; [`Backend::upload`] and
/// [`Backend::download`] exchange the state in topology order. A device may work asynchronously. The device finishes
/// all pending work before it returns a result. An error of the pending work is returned by the call that requests the
/// result, or by an earlier call.
pub trait Backend: Send {
    /// Returns a description of the device, the threads and the instruction set, for the log.
    fn description(&self) -> String;
    /// Copies positions, velocities, cell and the accumulated work of couplings from `state` to the device.
    fn upload(&mut self, state: &State) -> Result<()>;
    /// Copies positions, velocities, cell and the accumulated work of couplings into `state`.
    fn download(&self, state: &mut State) -> Result<()>;
    /// Returns the cell and the positions before the last step. The cell is the last cell that the host has read from
    /// the device. After a failed step the function returns the last valid cell and the last valid positions.
    fn previous_positions(&self) -> (Option<PeriodicCell>, &[Vec3]);
    /// Returns the present cell.
    fn cell(&self) -> Result<Option<PeriodicCell>>;
    /// Sorts the atoms and builds the outer pair list. A call of [`Backend::prune_lists`] must follow.
    fn build_lists(&mut self) -> Result<()>;
    /// Prunes the outer list to the inner list, at the positions that atoms would reach by free flight during
    /// `lookahead` (ps).
    fn prune_lists(&mut self, lookahead: f64) -> Result<()>;
    /// Returns whether the pair lists of the schedule `lists` have expired, that is whether atoms have moved so far
    /// that a pair may be missing. Lists with a fixed lifetime do not expire in this sense. An asynchronous device
    /// checks the lists in every call if `must_know` is true, and otherwise only at some steps. An asynchronous device
    /// makes no step with expired lists: at the step where the lists expired, the device builds new lists and replays
    /// the steps requested since that step. If `must_know` is true, the error of a failed step on any of several ranks
    /// is returned.
    fn lists_expired(&mut self, lists: &ListSchedule, must_know: bool) -> Result<bool>;
    /// Returns the number of outer lists built so far.
    fn searches(&self) -> u64;
    /// Copies the positions and the cell at which a list was built into `state`.
    fn list_positions(&self, list: ListLevel, state: &mut State) -> Result<()>;
    /// Computes the forces at the current positions.
    fn forces(&mut self, workload: Workload) -> Result<()>;
    /// Adds a user-defined force to all later force evaluations. A backend without external forces returns an error.
    fn add_external_force(&mut self, _force: Box<dyn ExternalForce>) -> Result<()> {
        Err(unsupported(Feature::ExternalForces))
    }
    /// Sets the restraints of a stage. The restraints act in every later call of [`Backend::forces`]. The stage starts
    /// from its beginning if `progress` is empty, and otherwise continues from the state `progress`. A backend returns
    /// an error for restraints that it does not support.
    fn restrain(&mut self, restraints: &Restraints, _progress: &[RestraintProgress]) -> Result<()> {
        if restraints.is_empty() {
            return Ok(());
        }
        Err(unsupported(Feature::Restraints))
    }
    /// Returns the active restraints, together with the work of the restraints at the last step that returned kinetic
    /// energies. Returns `None` if the backend does not support restraints.
    fn restraining(&self) -> Option<&Restraining> {
        None
    }
    /// Returns the state of the restraints for a checkpoint. The device finishes pending work first.
    fn restraint_progress(&self) -> Result<Vec<RestraintProgress>> {
        Ok(self.restraining().map_or_else(Vec::new, |restraining| restraining.progress().to_vec()))
    }
    /// Returns the result of the last [`Backend::forces`]. Forces and virial are valid only if energies were requested.
    fn evaluation(&self) -> &Evaluation;
    /// Returns the reciprocal-space forces on `atoms` in the last [`Backend::forces`], kJ/mol/nm. Returns `None` if the
    /// backend does not keep reciprocal-space forces apart from the other forces.
    fn reciprocal_forces(&self, _atoms: &[u32]) -> Option<Vec<Vec3>> {
        None
    }
    /// Makes one leapfrog step with constraints, optionally with a velocity refreshment. A step with a refreshment
    /// gives the same state, bit for bit, as a step without a refreshment followed by [`Backend::change_velocities`].
    fn integrate(&mut self, step: Leapfrog, refreshment: Option<&Refreshment>) -> Result<Kinetic>;
    /// Scales the box and the centers of mass of the constraint groups ([`crate::ensemble::barostat`]). The scale
    /// factors follow from the volume and from the pressure of the group centers at the time of the last forces. The
    /// first part of the barostat's work is added by this function, and the remaining part by the next
    /// [`Backend::integrate`]. The forces must have been evaluated with their virial.
    fn scale_box(&mut self, scaling: BoxScaling) -> Result<()>;
    /// Makes a Monte Carlo volume move ([`crate::ensemble::volume_trial`]) and evaluates `workload`, which must request
    /// energies, at the accepted positions. The function prunes the inner list so that the list holds the pairs within
    /// the cutoff at both volumes. Afterwards the caller must prune the list again. A backend without volume moves
    /// returns an error.
    fn try_volume(&mut self, _trial: &VolumeTrial, _workload: Workload, _lists: &ListSchedule) -> Result<()> {
        Err(unsupported(Feature::Barostat(BarostatKind::MonteCarlo)))
    }
    /// Sets the temperature groups: sets of atoms that share a heat bath. Initially all atoms share one heat bath. A
    /// backend without temperature groups returns an error.
    fn set_temperature_groups(&mut self, _groups: &Arc<TemperatureGroups>) -> Result<()> {
        Err(unsupported(Feature::TemperatureGroups))
    }
    /// Changes velocities for a thermostat ([`crate::ensemble::thermostat`]) and adds the work of the change to the
    /// work of the thermostat. If the velocities are scaled, the rest of the work is added in the next
    /// [`Backend::integrate`]. If [`Backend::scale_box`] is also called after a step, [`Backend::scale_box`] must be
    /// called first. A backend returns an error for a change that it does not support.
    fn change_velocities(&mut self, change: &VelocityChange) -> Result<()>;
    /// Returns the accumulated work and the state of the couplings.
    fn coupling(&self) -> Result<Coupling>;
    /// Removes a motion of the whole system, and subtracts the removed kinetic energy from the work of the thermostat
    /// ([`crate::ensemble::motion`]). The rotation can only be removed without a cell.
    fn remove_com_motion(&mut self, motion: RemovedMotion) -> Result<()>;
    /// Returns the seconds spent so far in each phase. The device finishes pending work first.
    fn phases(&self) -> Result<Phases>;
    /// Returns the sizes of the present pair lists.
    fn pair_counts(&self) -> Result<PairCounts>;
}

/// Returns the error for an unsupported feature that no earlier check of the plan has found.
pub(in crate::backend) fn unsupported(feature: Feature) -> Error {
    let problem = Problem::new(format!("this device does not support {}", feature.name()));
    problem.help("set run.device = \"cpu\"").into()
}

/// Computes forces on the CPU for positions in topology order. [`Host`] integrates the equations of motion with the
/// forces of a force field. A force field without pair lists implements only the description and the evaluation.
pub trait ForceField: Distribution + Send {
    /// Returns a description of the device, the threads and the instruction set, for the log.
    fn description(&self) -> String;
    /// Builds a new outer pair list.
    fn rebuild(&mut self, _cell: Option<&PeriodicCell>, _positions: &[Vec3]) {}
    /// Builds a new inner pair list, with a radius that exceeds the radius of the schedule by `margin` (nm).
    fn prune(&mut self, _cell: Option<&PeriodicCell>, _positions: &[Vec3], _margin: f64) {}
    /// Informs the force field that the cell has changed slightly since the lists were built.
    fn cell_changed(&mut self, _cell: Option<&PeriodicCell>) {}
    /// Computes forces and the other quantities of `workload`. If reciprocal-space forces are kept apart from the other
    /// forces, they are stored in [`Impulse::forces`].
    fn evaluate(
        &mut self,
        cell: Option<&PeriodicCell>,
        positions: &[Vec3],
        workload: Workload,
        out: &mut Evaluation,
    ) -> Result<()>;
    /// Returns the reciprocal-space forces on `atoms` in the last [`ForceField::evaluate`], kJ/mol/nm. Returns `None`
    /// if reciprocal-space forces are not kept apart from the other forces.
    fn reciprocal_forces(&self, _cell: Option<&PeriodicCell>, _atoms: &[u32]) -> Option<Vec<Vec3>> {
        None
    }
    /// Returns the seconds spent so far in each phase.
    fn phases(&self) -> Phases {
        Phases::default()
    }
    /// Returns the sizes of the present pair lists.
    fn pair_counts(&self) -> PairCounts {
        PairCounts::default()
    }
}

impl Distribution for Reference {}

impl ForceField for Reference {
    fn description(&self) -> String {
        "CPU reference, double precision".into()
    }
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
}
