//! Domain decomposition: several ranks share the atoms of one system. The home atoms of a rank are in its part of the
//! cell.
//!
//! On rank 0 the type [`Domains`] implements [`super::Backend`] and represents all ranks. `Domains` sends each call to
//! the other ranks, which wait for calls in [`Serving`]. All ranks execute the call together, each with a [`Host`]
//! around its own [`Domain`]. In every step positions are sent to the lower neighbours, and forces are sent back
//! ([`halo`]). Atoms migrate between ranks when pair lists are built ([`local`]). Sums over ranks are computed only on
//! request.

mod division;
mod double;
mod field;
mod halo;
mod local;
mod restrict;
mod share;
#[cfg(test)]
mod tests;

use super::{
    Backend, Cpu, CpuOptions, Distribution, Evaluation, Host, Kinetic, Leapfrog, ListLevel, PairCounts, Phases,
    Reference, Workload, check_system,
};
use crate::cell::PeriodicCell;
use crate::constraint::RemovedMotion;
use crate::ensemble::barostat::BoxScaling;
use crate::ensemble::groups::TemperatureGroups;
use crate::ensemble::refreshment::Refreshment;
use crate::ensemble::thermostat::VelocityChange;
use crate::ensemble::volume_trial::VolumeTrial;
use crate::error::Result;
use crate::pair::ListSchedule;
use crate::ranks::{Purpose, Ranks, Traffic};
use crate::restraint::{CollectiveRestraint, PositionRestraints, Restraining, RestraintProgress, Restraints};
use crate::simd::Level;
use crate::system::{CompactSystem, Coupling, State, System};
use crate::team::Team;
use crate::vec3::Vec3;
use field::Domain;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

pub use double::SharedReference;
pub use share::RankShare;

/// Commands of the first rank, which all ranks execute. The first rank may hold several systems at the same time, each
/// of which has a number.
#[derive(Serialize, Deserialize)]
enum Command {
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
    /// end [`Serving::serve`]
    Quit,
}

/// Orders for a system that is divided into domains.
#[derive(Clone, Serialize, Deserialize)]
enum Order {
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
struct Shared {
    number: u64,
    /// all ranks, for sending commands to the other ranks
    ranks: Ranks,
}

impl Shared {
    /// Sends the system in the command that `begin` returns for its number. The other ranks must be in
    /// [`Serving::serve`].
    fn new(ranks: &Ranks, begin: impl FnOnce(u64) -> Command) -> Self {
        let (ranks, number) = (ranks.for_purpose(Purpose::Commands), SYSTEMS.fetch_add(1, Relaxed));
        ranks.broadcast(&begin(number));
        Shared { number, ranks }
    }

    /// Sends an order for this system to the other ranks.
    fn send(&self, order: Order) {
        self.ranks.broadcast(&Command::Execute(self.number, order));
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.ranks.broadcast(&Command::End(self.number));
    }
}

/// Systems of the first rank that another rank holds, by number.
#[derive(Default)]
struct Served {
    domains: HashMap<u64, Host<Domain>>,
    /// force fields whose pairs are shared in double precision
    references: HashMap<u64, Reference>,
}

/// A rank's resources for domain decomposition.
#[derive(Clone)]
pub struct Serving {
    /// all ranks
    pub ranks: Ranks,
    /// number of work partitions
    pub parts: usize,
    /// SIMD instruction set
    pub level: Level,
    /// worker threads
    pub team: Arc<Team>,
}

impl Serving {
    /// Executes the commands that the first rank sends, until the first rank calls [`Serving::release`]. All other
    /// ranks call this function. Errors are not returned from this function, because the first rank has the same errors
    /// and reports them.
    pub fn serve(&self) {
        let mut served = Served::default();
        let commands = self.ranks.for_purpose(Purpose::Commands);
        while let Some(command) = commands.receive_broadcast() {
            match command {
                Command::Begin(number, system, schedule) => {
                    served.domains.extend(self.host(*system, None, schedule).ok().map(|host| (number, host)));
                }
                Command::BeginReference(number, system) => {
                    served.references.extend(Reference::new(&system).ok().map(|reference| (number, reference)));
                }
                // the first rank has the same error and reports it
                Command::Execute(number, order) => match served.domains.get_mut(&number) {
                    Some(host) => _ = execute(host, order),
                    None => self.ranks.abort(),
                },
                Command::Pairs(number, cell, positions) => match served.references.get_mut(&number) {
                    Some(reference) => {
                        reference.compute_share(&self.ranks.for_purpose(Purpose::Output), cell.as_ref(), &positions);
                    }
                    None => self.ranks.abort(),
                },
                Command::End(number) => {
                    served.domains.remove(&number);
                    served.references.remove(&number);
                }
                Command::Traffic => _ = self.ranks.gather(&self.ranks.sent()),
                Command::Quit => break,
            }
        }
    }

    /// Makes the other ranks return from [`Serving::serve`].
    pub fn release(ranks: &Ranks) {
        ranks.broadcast(&Command::Quit);
    }

    /// Returns the counts of messages and bytes that each rank has sent so far, with the command of this function that
    /// a rank has sent to other ranks. The other ranks must be in [`Serving::serve`]. Returns an empty list for a
    /// single rank.
    pub fn traffic(ranks: &Ranks) -> Vec<Traffic> {
        if ranks.count() == 1 {
            return vec![];
        }
        ranks.for_purpose(Purpose::Commands).broadcast(&Command::Traffic);
        ranks.gather(&ranks.sent())
    }

    /// Creates a host for a system, initially without home atoms. `whole` is the system with all its atoms on the first
    /// rank, and `None` on the other ranks. All ranks call this function together.
    fn host(&self, system: CompactSystem, whole: Option<&System>, schedule: ListSchedule) -> Result<Host<Domain>> {
        let Serving { ranks, parts, level, team } = self;
        ranks.agree(whole.map_or(Ok(()), check_system).map_err(Into::into))?;
        let options = CpuOptions { parts: *parts, level: *level, schedule };
        let parameters = system.without_atoms();
        let mut cpu = Cpu::without_totals(&parameters, &system.lj_type_counts(), options, Arc::clone(team), ranks);
        if let Some(whole) = whole {
            cpu.count_totals(whole);
        }
        let domain = Domain::new(ranks, system, cpu, schedule.outer);
        Host::new(&parameters, domain, *level, Arc::clone(team))
    }
}

/// Executes a command. All ranks call this function together.
fn execute(host: &mut Host<Domain>, order: Order) -> Result<()> {
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
fn upload(host: &mut Host<Domain>, state: Option<&State>) -> Result<()> {
    if let Some(system) = host.field_mut().divide(state)? {
        let adopted = host.adopt(&system);
        host.field().agree(adopted.err())?;
    }
    let own = host.field().part_of(state);
    host.upload(&own)
}

fn download(host: &Host<Domain>, state: &mut State) -> Result<()> {
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

fn list_positions(host: &Host<Domain>, list: ListLevel, state: &mut State) -> Result<()> {
    let mut own = State::default();
    host.list_positions(list, &mut own)?;
    host.field().collect(&own.positions, &mut state.positions);
    state.cell = own.cell;
    Ok(())
}

/// Stores the energies and the virial of the last evaluation on each rank. If energies are requested, the function also
/// collects the forces on all atoms on the first rank; otherwise it frees the forces of an earlier evaluation. All
/// ranks call this function together.
fn collect_evaluation(host: &Host<Domain>, workload: Workload, out: &mut Evaluation) {
    let Evaluation { forces, energies, virial, .. } = host.evaluation();
    (out.energies, out.virial) = (*energies, *virial);
    if workload.energy {
        host.field().collect(forces, &mut out.forces);
    } else {
        out.forces = vec![];
    }
}

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
