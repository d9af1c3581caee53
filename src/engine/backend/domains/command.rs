//! Commands of the first rank, and their execution, in which all ranks take part.

use super::field::Domain;
use crate::backend::{Backend, Distribution, Evaluation, Host, Leapfrog, ListLevel, Workload};
use crate::cell::PeriodicCell;
use crate::constraint::RemovedMotion;
use crate::ensemble::barostat::BoxScaling;
use crate::ensemble::groups::TemperatureGroups;
use crate::ensemble::refreshment::Refreshment;
use crate::ensemble::thermostat::VelocityChange;
use crate::ensemble::volume_trial::VolumeTrial;
use crate::error::Result;
use crate::pair::ListSchedule;
use crate::ranks::{Purpose, Ranks};
use crate::restraint::{CollectiveRestraint, PositionRestraints, RestraintProgress, Restraints};
use crate::system::{CompactSystem, State, System};
use crate::vec3::Vec3;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Commands of the first rank, which all ranks execute. The first rank may hold several systems at the same time, each
/// of which has a number.
#[derive(Serialize, Deserialize)]
pub(super) enum Command {
    /// create this system on every rank, with pair lists of this schedule
    Begin(u64, Box<CompactSystem>, ListSchedule),
    /// create the double-precision force field of this system on every rank
    BeginReference(u64, Box<System>),
    /// execute an order for a system
    Execute(u64, Order),
    /// compute a share of the pairs in double precision, for this cell and these positions of all atoms
    Pairs(u64, Option<PeriodicCell>, Vec<Vec3>),
    /// drop a system on every rank
    End(u64),
    /// gather the counts of messages and bytes that each rank has sent
    Traffic,
    /// gather what the user has requested from each rank with signals
    Requested,
    /// end [`Serving::serve`](super::Serving::serve)
    Quit,
}

/// Orders for a system that is divided into domains.
#[derive(Clone, Serialize, Deserialize)]
pub(super) enum Order {
    Upload,
    Download,
    BuildLists,
    PruneLists(f64),
    ListsExpired(ListSchedule, bool),
    ListPositions(ListLevel),
    PreviousPositions,
    Forces(Workload),
    Integrate(Leapfrog, Option<Refreshment>),
    ScaleBox(BoxScaling),
    TryVolume(VolumeTrial, Workload, ListSchedule),
    SetTemperatureGroups(TemperatureGroups),
    /// set the restraints of a stage, and the state from which the restraints continue
    Restrain(Vec<PositionRestraints>, Vec<CollectiveRestraint>, Vec<RestraintProgress>),
    ChangeVelocities(VelocityChange),
    RemoveMotion(RemovedMotion),
    PairCounts,
}

/// Number of systems that this process has created on several ranks.
static SYSTEMS: AtomicU64 = AtomicU64::new(0);

/// A system that the first rank has created on every rank. Dropping it drops the system on the other ranks.
pub(super) struct Shared {
    pub(super) number: u64,
    /// all ranks, for sending commands to the other ranks
    pub(super) ranks: Ranks,
}

impl Shared {
    /// Sends the system in the command that `begin` returns for its number. The other ranks must be in
    /// [`Serving::serve`](super::Serving::serve).
    pub(super) fn new(ranks: &Ranks, begin: impl FnOnce(u64) -> Command) -> Self {
        let (ranks, number) = (ranks.for_purpose(Purpose::Commands), SYSTEMS.fetch_add(1, Relaxed));
        ranks.broadcast(&begin(number));
        Shared { number, ranks }
    }

    /// Sends an order for this system to the other ranks.
    pub(super) fn send(&self, order: Order) {
        self.ranks.broadcast(&Command::Execute(self.number, order));
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.ranks.broadcast(&Command::End(self.number));
    }
}

/// Executes an order for a system. All ranks call this function together.
pub(super) fn execute(host: &mut Host<Domain>, order: Order) -> Result<()> {
    match order {
        Order::Upload => upload(host, None),
        Order::Download => download(host, &mut State::default()),
        Order::BuildLists => host.build_lists(),
        Order::PruneLists(lookahead) => host.prune_lists(lookahead),
        Order::ListsExpired(lists, must_know) => host.lists_expired(&lists, must_know).map(|_| ()),
        Order::ListPositions(list) => list_positions(host, list, &mut State::default()),
        Order::PreviousPositions => {
            host.field().collect(host.previous_positions().1, &mut vec![]);
            Ok(())
        }
        Order::Forces(workload) => {
            host.forces(workload).map(|()| collect_evaluation(host, workload, &mut Evaluation::default()))
        }
        Order::Integrate(step, refreshment) => host.integrate(step, refreshment.as_ref()).map(|_| ()),
        Order::ScaleBox(scaling) => host.scale_box(scaling),
        Order::TryVolume(trial, workload, lists) => {
            let done = host.try_volume(&trial, workload, &lists);
            done.map(|()| collect_evaluation(host, workload, &mut Evaluation::default()))
        }
        Order::SetTemperatureGroups(groups) => host.set_temperature_groups(&Arc::new(groups)),
        Order::Restrain(positions, collective, progress) => {
            let (positions, collective) = (positions.into_iter().map(Arc::new), collective.into_iter().map(Arc::new));
            let restraints = Restraints { positions: positions.collect(), collective: collective.collect() };
            host.restrain(&restraints, &progress)
        }
        Order::ChangeVelocities(change) => host.change_velocities(&change),
        Order::RemoveMotion(motion) => host.remove_com_motion(motion),
        Order::PairCounts => host.pair_counts().map(|_| ()),
    }
}

/// Distributes a state over the ranks. `state` holds all atoms on the first rank, and is `None` on the other ranks. All
/// ranks call this function together.
pub(super) fn upload(host: &mut Host<Domain>, state: Option<&State>) -> Result<()> {
    if let Some(system) = host.field_mut().divide(state)? {
        let adopted = host.adopt(&system);
        host.field().agree(adopted.err())?;
    }
    let own = host.field().part_of(state);
    host.upload(&own)
}

pub(super) fn download(host: &Host<Domain>, state: &mut State) -> Result<()> {
    let mut own = State::default();
    host.download(&mut own)?;
    host.field().collect(&own.positions, &mut state.positions);
    host.field().collect(&own.velocities, &mut state.velocities);
    host.field().collect(&own.cycle.slow, &mut state.cycle.slow);
    host.field().collect(&own.cycle.changes, &mut state.cycle.changes);
    (state.cycle.length, state.cycle.step) = (own.cycle.length, own.cycle.step);
    (state.cell, state.coupling) = (own.cell, own.coupling);
    Ok(())
}

pub(super) fn list_positions(host: &Host<Domain>, list: ListLevel, state: &mut State) -> Result<()> {
    let mut own = State::default();
    host.list_positions(list, &mut own)?;
    host.field().collect(&own.positions, &mut state.positions);
    state.cell = own.cell;
    Ok(())
}

/// Stores the energies and the virial of the last evaluation on each rank. If energies are requested, the function also
/// collects the forces on all atoms on the first rank; otherwise it frees the forces of an earlier evaluation. All
/// ranks call this function together.
pub(super) fn collect_evaluation(host: &Host<Domain>, workload: Workload, out: &mut Evaluation) {
    let Evaluation { forces, energies, virial, .. } = host.evaluation();
    (out.energies, out.virial) = (*energies, *virial);
    if workload.energy {
        host.field().collect(forces, &mut out.forces);
    } else {
        out.forces = vec![];
    }
}
