//! Domain decomposition: several ranks share the atoms of one system. The home atoms of a rank are in its part of the
//! cell.
//!
//! On rank 0 the type [`Domains`] implements [`super::Backend`] and represents all ranks. `Domains` sends each call to
//! the other ranks, which wait for calls in [`Serving`]. All ranks execute the call together, each with a [`Host`]
//! around its own [`Domain`](field::Domain). In every step positions are sent to the lower neighbours, and forces are
//! sent back, while meshes are computed ([`halo`]). When pair lists are built, the cell is divided anew ([`division`])
//! and atoms migrate between ranks ([`local`]). Sums over ranks are computed only on request.

mod command;
mod division;
mod double;
mod field;
mod halo;
mod local;
mod restrict;
mod serving;
mod share;
#[cfg(test)]
mod tests;

use super::{Backend, Evaluation, Host, Kinetic, Leapfrog, ListLevel, PairCounts, Phases, Workload};
use crate::cell::PeriodicCell;
use crate::constraint::RemovedMotion;
use crate::ensemble::barostat::BoxScaling;
use crate::ensemble::groups::TemperatureGroups;
use crate::ensemble::refreshment::Refreshment;
use crate::ensemble::thermostat::VelocityChange;
use crate::ensemble::volume_trial::VolumeTrial;
use crate::error::Result;
use crate::pair::ListSchedule;
use crate::restraint::{CollectiveRestraint, PositionRestraints, Restraining, RestraintProgress, Restraints};
use crate::system::{CompactSystem, Coupling, State, System};
use crate::vec3::Vec3;
use command::{Command, Order, Shared, collect_evaluation, download, execute, list_positions, upload};
use field::Domain;
use std::sync::Arc;

pub use double::SharedReference;
pub use serving::{Requested, Serving};
pub use share::RankShare;

/// The system of all ranks, as a backend on the first rank.
pub struct Domains {
    shared: Shared,
    host: Host<Domain>,
    evaluation: Evaluation,
    /// positions of all atoms before a failed step
    previous: Vec<Vec3>,
}

impl Domains {
    /// Distributes a system over the ranks; the other ranks must be in [`Serving::serve`]. Returns an error for a
    /// system that domain decomposition does not support.
    pub fn new(serving: &Serving, system: &System, schedule: ListSchedule) -> Result<Self> {
        let compact = Box::new(CompactSystem::new(system));
        let shared = Shared::new(&serving.ranks, |number| Command::Begin(number, compact.clone(), schedule));
        let host = serving.host(*compact, Some(system), schedule)?;
        Ok(Domains { shared, host, evaluation: Evaluation::default(), previous: vec![] })
    }

    /// Sends a command to the other ranks and executes it on this rank.
    fn order(&mut self, order: Order) -> Result<()> {
        self.shared.send(order.clone());
        let done = execute(&mut self.host, order);
        self.after(done)
    }

    /// Returns `done`. If `done` is an error, first collects the last valid positions from all ranks.
    fn after<T>(&mut self, done: Result<T>) -> Result<T> {
        if done.is_err() {
            self.shared.send(Order::PreviousPositions);
            self.host.field().collect(self.host.previous_positions().1, &mut self.previous);
        }
        done
    }
}

impl Backend for Domains {
    fn description(&self) -> String {
        let (ranks, own) = (self.shared.ranks.count(), self.host.description());
        match self.host.field().division() {
            Some(division) => format!("{own} on each of {ranks} ranks, {division}"),
            None => format!("{own} on each of {ranks} ranks"),
        }
    }

    fn upload(&mut self, state: &State) -> Result<()> {
        self.shared.send(Order::Upload);
        let done = upload(&mut self.host, Some(state));
        self.after(done)
    }

    fn download(&self, state: &mut State) -> Result<()> {
        self.shared.send(Order::Download);
        download(&self.host, state)
    }

    fn previous_positions(&self) -> (Option<PeriodicCell>, &[Vec3]) {
        (self.host.previous_positions().0, &self.previous)
    }

    fn cell(&self) -> Result<Option<PeriodicCell>> {
        self.host.cell()
    }

    fn build_lists(&mut self) -> Result<()> {
        self.order(Order::BuildLists)
    }

    fn prune_lists(&mut self, lookahead: f64) -> Result<()> {
        self.order(Order::PruneLists(lookahead))
    }

    fn lists_expired(&mut self, lists: &ListSchedule, must_know: bool) -> Result<bool> {
        self.shared.send(Order::ListsExpired(*lists, must_know));
        let expired = self.host.lists_expired(lists, must_know);
        self.after(expired)
    }

    fn searches(&self) -> u64 {
        self.host.searches()
    }

    fn list_positions(&self, list: ListLevel, state: &mut State) -> Result<()> {
        self.shared.send(Order::ListPositions(list));
        list_positions(&self.host, list, state)
    }

    fn forces(&mut self, workload: Workload) -> Result<()> {
        self.shared.send(Order::Forces(workload));
        let done = self.host.forces(workload);
        let done = done.map(|()| collect_evaluation(&self.host, workload, &mut self.evaluation));
        self.after(done)
    }

    fn restrain(&mut self, restraints: &Restraints, progress: &[RestraintProgress]) -> Result<()> {
        let positions = restraints.positions.iter().map(|one| PositionRestraints::clone(one)).collect();
        let collective = restraints.collective.iter().map(|one| CollectiveRestraint::clone(one)).collect();
        self.order(Order::Restrain(positions, collective, progress.to_vec()))
    }

    fn restraining(&self) -> Option<&Restraining> {
        self.host.restraining()
    }

    fn evaluation(&self) -> &Evaluation {
        &self.evaluation
    }

    fn integrate(&mut self, step: Leapfrog, refreshment: Option<&Refreshment>) -> Result<Kinetic> {
        self.shared.send(Order::Integrate(step, refreshment.cloned()));
        let done = self.host.integrate(step, refreshment);
        self.after(done)
    }

    fn scale_box(&mut self, box_scaling: BoxScaling) -> Result<()> {
        self.order(Order::ScaleBox(box_scaling))
    }

    fn try_volume(&mut self, trial: &VolumeTrial, workload: Workload, lists: &ListSchedule) -> Result<()> {
        self.shared.send(Order::TryVolume(*trial, workload, *lists));
        let done = self.host.try_volume(trial, workload, lists);
        let done = done.map(|()| collect_evaluation(&self.host, workload, &mut self.evaluation));
        self.after(done)
    }

    fn set_temperature_groups(&mut self, groups: &Arc<TemperatureGroups>) -> Result<()> {
        self.order(Order::SetTemperatureGroups(TemperatureGroups::clone(groups)))
    }

    fn change_velocities(&mut self, change: &VelocityChange) -> Result<()> {
        self.order(Order::ChangeVelocities(change.clone()))
    }

    fn coupling(&self) -> Result<Coupling> {
        self.host.coupling()
    }

    fn remove_com_motion(&mut self, motion: RemovedMotion) -> Result<()> {
        self.order(Order::RemoveMotion(motion))
    }

    fn phases(&self) -> Result<Phases> {
        self.host.phases()
    }

    fn pair_counts(&self) -> Result<PairCounts> {
        self.shared.send(Order::PairCounts);
        self.host.pair_counts()
    }
}
