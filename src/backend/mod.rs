//! How the phases of a step are computed. One trait of phases, one implementation per device.
//!
//! A backend owns the running copy of the state in whatever order and layout it likes; everything that crosses
//! this interface is in topology order. It is chosen once per run.

mod centres;
mod cpu;
pub(crate) mod cuda;
mod dispersion;
mod energies;
mod evaluator;
mod host;
mod phases;
mod potential;
mod reference;
mod work;

pub use cpu::{Cpu, CpuOptions};
pub use dispersion::DispersionTail;
pub use energies::Energies;
pub use evaluator::Evaluator;
pub use host::Host;
pub use phases::Phases;
pub use reference::{ListsMade, Reference, Sampled, check_system, sample};
pub use work::{PairCounts, StepCounts, Work, useful_pairs};

use crate::cell::PeriodicCell;
use crate::ensemble::barostat::Dilation;
use crate::ensemble::thermostat::Rescaling;
use crate::error::Result;
use crate::pair::ListSchedule;
use crate::system::{Coupling, State};
use crate::vec3::{Mat3, Vec3};

/// What a force evaluation must produce beside forces. Decided once per step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Workload {
    /// every energy term; told to the host, as is the virial then
    pub energy: bool,
    /// the virial W = Σ r⊗F; a device may keep it to itself, for [`Backend::dilate`] and the work that follows it
    pub virial: bool,
}

/// The result of one force evaluation, in topology order.
#[derive(Clone, Debug, Default)]
pub struct Evaluation {
    /// kJ/mol/nm
    pub forces: Vec<Vec3>,
    /// kJ/mol, zeros unless asked for
    pub energies: Energies,
    /// W = Σ r⊗F in kJ/mol (no ½), zeros unless asked for
    pub virial: Mat3,
}

/// One step's move.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Advance {
    /// ps
    pub timestep: f64,
    /// the host wants the virial of the constraint forces
    pub virial: bool,
    /// the host wants kinetic energies, and that virial; without, what is returned means nothing
    pub kinetic: bool,
    /// [`Backend::dilate`] or [`Backend::couple`] follows
    pub coupled: bool,
    /// one of them came after the move before: the rest of its work is to be booked, with the forces of now, which for
    /// [`Backend::dilate`] must have been asked for with their virial
    pub unsettled: bool,
}

/// What a move knows of kinetic energy, kJ/mol; that at the time of the forces is the mean of both half steps.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Kinetic {
    /// of the velocities half a step before
    pub before: f64,
    /// of the velocities half a step after
    pub after: f64,
    /// Σ r⊗F of the constraint forces, kJ/mol, zero unless asked for
    pub constraint_virial: Mat3,
}

/// A moment whose positions a restart needs to make the same lists again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// the last search
    Search,
    /// the last pruning
    Prune,
}

/// The phases of a step on some device. The running state lives here; [`Backend::upload`] and [`Backend::download`]
/// exchange it in topology order. A device may work behind the host's back: an error of a phase that returns none surfaces
/// at a later one that does.
pub trait Backend {
    /// Device, threads and instruction set, for the log.
    fn description(&self) -> String;
    /// Take over positions, velocities, cell and the work of couplings so far.
    fn upload(&mut self, state: &State) -> Result<()>;
    /// Copy positions, velocities, cell and the work of couplings into `state`.
    fn download(&self, state: &mut State) -> Result<()>;
    /// Cell (as far as it is known) and positions before the last move: the last good ones when a move has failed.
    fn before_move(&self) -> (Option<PeriodicCell>, &[Vec3]);
    /// The lattice now.
    fn cell(&self) -> Option<PeriodicCell>;
    /// Sort the atoms and search the outer pair list; a prune must follow.
    fn rebuild_pairs(&mut self);
    /// Whether a pair may be missing from `lists`, which end by displacement: then how many of the last moves have for that
    /// reason not been made, with all that came after them, and must be asked for again when the lists are new. A device
    /// that works behind the host's back looks now and then, and when the host must know, but makes no move with such lists.
    fn overdue(&mut self, lists: &ListSchedule, must_know: bool) -> Result<Option<u64>>;
    /// Reduce the outer list to the inner one, for where atoms are after `foresight` (ps) if nothing acts on them.
    fn prune_pairs(&mut self, foresight: f64);
    /// Copy positions and cell of some moment into `state`.
    fn list_positions(&self, moment: Moment, state: &mut State) -> Result<()>;
    /// Forces at the current positions.
    fn forces(&mut self, workload: Workload) -> Result<()>;
    /// The result of the last [`Backend::forces`]; its forces and virial are there if energies were asked for.
    fn evaluation(&self) -> &Evaluation;
    /// The reciprocal-space part of the last [`Backend::forces`] on some atoms, kJ/mol/nm, where it can be told apart.
    fn reciprocal_forces(&self, _atoms: &[u32]) -> Option<Vec<Vec3>> {
        None
    }
    /// Leapfrog with constraints.
    fn advance(&mut self, advance: Advance) -> Result<Kinetic>;
    /// Scale the cell and the group centres by what follows from the volume and the pressure of the centres at the time of
    /// the last forces ([`crate::ensemble::barostat`]), and add the work of that to the barostat's, the rest with the next
    /// [`Backend::advance`]. Forces must have been asked for with their virial.
    fn dilate(&mut self, dilation: Dilation) -> Result<()>;
    /// Multiply all velocities by the factor that follows from their kinetic energy ([`crate::ensemble::thermostat`]), and
    /// add the work of that to the thermostat's, the rest with the next [`Backend::advance`]. [`Backend::dilate`] comes
    /// before.
    fn couple(&mut self, rescaling: Rescaling) -> Result<()>;
    /// What couplings have done so far.
    fn coupling(&self) -> Result<Coupling>;
    /// Remove the motion of the centre of mass, and the rotation where there is no cell.
    fn remove_motion(&mut self);
    /// Seconds spent so far, when all work asked for has been done.
    fn phases(&self) -> Phases;
    /// Sizes of the present pair lists.
    fn pair_counts(&self) -> PairCounts {
        PairCounts::default()
    }
}

/// Computes forces for positions in topology order: what [`Host`] steps with.
pub trait ForceField: Send {
    /// Device, threads and instruction set, for the log.
    fn description(&self) -> String;
    /// New outer pair list.
    fn rebuild(&mut self, cell: Option<&PeriodicCell>, positions: &[Vec3]);
    /// New inner pair list.
    fn prune(&mut self, cell: Option<&PeriodicCell>, positions: &[Vec3]);
    /// The cell has changed a little since the lists were made.
    fn cell_changed(&mut self, cell: Option<&PeriodicCell>);
    /// Forces, and what else is asked for.
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
}

impl ForceField for Reference {
    fn description(&self) -> String {
        "CPU reference, double precision".into()
    }
    fn rebuild(&mut self, _: Option<&PeriodicCell>, _: &[Vec3]) {}
    fn prune(&mut self, _: Option<&PeriodicCell>, _: &[Vec3]) {}
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
