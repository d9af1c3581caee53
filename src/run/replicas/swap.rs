//! Replica exchange: replicas wait for each other at exchange attempts, and several replicas share a slot.
//!
//! Each replica has its own thread, device and files for the whole run, and belongs to one slot of one rank. Only one
//! replica of a slot runs at a time; the other replicas of the slot wait for their turn or for an exchange attempt. A
//! slot can therefore have any number of replicas. States are exchanged, not atoms: a replica keeps its atoms, its pair
//! lists and its trajectory, and gets the temperature, pressure or Hamiltonian of its neighbour.
//!
//! ```text
//! replica --offer--> scheduler of its rank ------------> scheduler of rank 0: decides, writes exchange.csv
//! replica <--state-- barrier of its rank <-- scheduler of its rank <-- scheduler of rank 0
//! ```
//!
//! The module [`super::scheduler`] contains the scheduler, and [`super::record`] writes `exchange.csv`. The outcome of
//! an attempt is a pure function of the energies that the replicas send. Every outcome is written to `exchange.csv`
//! before any replica continues. Checkpoints of different replicas may therefore belong to different steps: a replica
//! with an older checkpoint repeats its steps and uses the recorded outcomes. A checkpoint is written only after the
//! rows of all earlier attempts are on disk ([`Member::sync`]).

use crate::ensemble::exchange::Offer;
use crate::error::{Error, Problem, Result};
use crate::observe::files::EXCHANGE;
use crate::run::replicas::EnsembleJob;
use crate::run::replicas::placement::MessageSender;
use crate::run::replicas::record::Proposal;
use crate::run::replicas::scheduler::Message;
use crate::run::session::{Attempt, ExchangeMember, ThermodynamicState};
use std::sync::mpsc::channel;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Interval at which a waiting replica checks for a request to stop.
const LOOK: Duration = Duration::from_millis(100);

/// Interface of one replica to the replica exchange.
#[derive(Clone, Copy)]
pub(super) struct Member<'a> {
    /// barrier that the replicas of this rank share
    pub(super) barrier: &'a Barrier,
    /// index of the replica
    pub(super) replica: usize,
    /// slot in which the replica runs
    pub(super) slot: usize,
    /// all thermodynamic states of the replica exchange
    pub(super) states: &'a [ThermodynamicState<'a>],
    /// channel to the scheduler of this rank
    pub(super) messages: &'a MessageSender,
}

/// Barrier at which the replicas of a rank wait for the outcomes of exchange attempts.
pub struct Barrier {
    state: Mutex<BarrierState>,
    changed: Condvar,
}

struct BarrierState {
    /// number of exchange attempts whose outcome is known
    attempts: u64,
    /// states of all replicas after recent exchange attempts. An entry is removed after every replica has read the
    /// entry
    known: Vec<Vec<usize>>,
    /// whether a replica occupies the slot, for each slot of the rank
    busy: Vec<bool>,
}

impl BarrierState {
    /// Returns the states of all replicas after exchange attempt number `attempt`; `None` if the attempt is not decided
    /// yet or its outcome was removed.
    fn outcome(&self, attempt: u64) -> Option<&[usize]> {
        let back = usize::try_from(self.attempts.checked_sub(attempt)?).ok()?;
        let index = self.known.len().checked_sub(back + 1)?;
        self.known.get(index).map(Vec::as_slice)
    }
}

impl Barrier {
    /// Creates the barrier of a rank with `slots` slots. `known` has the states of all replicas after each attempt that
    /// the record contains.
    pub(super) fn new(known: Vec<Vec<usize>>, slots: usize) -> Self {
        let state = BarrierState { attempts: known.len() as u64, known, busy: vec![false; slots] };
        Barrier { state: Mutex::new(state), changed: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, BarrierState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until `find` returns a value. Calls `stop` at intervals, and returns `None` if `stop` returns true.
    fn wait<T>(
        &self,
        find: impl Fn(&mut BarrierState) -> Option<T>,
        stop: &mut dyn FnMut() -> Result<bool>,
    ) -> Result<Option<T>> {
        loop {
            {
                let mut state = self.lock();
                if let Some(found) = find(&mut state) {
                    return Ok(Some(found));
                }
                let waited = self.changed.wait_timeout(state, LOOK).unwrap_or_else(PoisonError::into_inner);
                state = waited.0;
                if let Some(found) = find(&mut state) {
                    return Ok(Some(found));
                }
            }
            if stop()? {
                return Ok(None);
            }
        }
    }

    /// Waits until the slot is free and occupies it. Returns false if `stop` returns true first.
    fn take_turn(&self, slot: usize, stop: &mut dyn FnMut() -> Result<bool>) -> Result<bool> {
        let take = |state: &mut BarrierState| (!std::mem::replace(&mut state.busy[slot], true)).then_some(());
        self.wait(take, stop).map(|taken| taken.is_some())
    }

    fn end_turn(&self, slot: usize) {
        self.lock().busy[slot] = false;
        self.changed.notify_all();
    }

    /// Stores the states after the next attempt and wakes the waiting replicas. The outcomes of earlier attempts are
    /// removed, because every replica reads the outcome of an attempt before the replica takes part in the next
    /// attempt.
    pub(super) fn learn(&self, states: Vec<usize>) {
        let mut state = self.lock();
        state.attempts += 1;
        state.known.clear();
        state.known.push(states);
        self.changed.notify_all();
    }
}

impl ExchangeMember for Member<'_> {
    fn state(&self, index: usize) -> &ThermodynamicState<'_> {
        &self.states[index]
    }

    fn has_hamiltonians(&self) -> bool {
        self.states.windows(2).any(|pair| !Arc::ptr_eq(&pair[0].system, &pair[1].system))
    }

    fn first_state(&self) -> usize {
        self.replica
    }

    fn known(&self, attempt: u64) -> Option<usize> {
        self.barrier.lock().outcome(attempt).map(|states| states[self.replica])
    }

    fn check(&self, attempts: u64, state: usize) -> Result<()> {
        let recorded = self.barrier.lock().attempts;
        let known = if attempts == 0 { Some(self.first_state()) } else { self.known(attempts) };
        if recorded >= attempts && known.is_none_or(|known| known == state) {
            return Ok(());
        }
        let replica = self.replica + 1;
        let message = format!(
            "according to its checkpoint, replica-{replica} was in state {} after exchange attempt {attempts}, but \
             {EXCHANGE} contains another state",
            state + 1
        );
        let help = "restore the checkpoints and exchange.csv of the same run, or use --force to rename the folder \
                    with the old output and start again from the beginning";
        Err(Problem::new(message).help(help).into())
    }

    fn meet(
        &self,
        Attempt { number: attempt, step, time }: Attempt,
        offer: Offer,
        stop: &mut dyn FnMut() -> Result<bool>,
    ) -> Result<Option<usize>> {
        let Member { barrier, replica, slot, .. } = *self;
        self.send(Message::Offered(Proposal { replica, attempt, step, time, offer }))?;
        barrier.end_turn(slot);
        let outcome = barrier.wait(|state| state.outcome(attempt).map(|states| states[replica]), stop);
        // a replica must also occupy its slot while it writes its last files, so this wait for the slot cannot be
        // interrupted by a request to stop. The wait is short, because every replica releases its slot, even after an
        // error
        barrier.take_turn(slot, &mut || Ok(false))?;
        outcome
    }

    fn sync(&self) -> Result<()> {
        let (answer, done) = channel();
        self.send(Message::Sync(answer))?;
        done.recv().unwrap_or_else(|_| Err(no_scheduler()))
    }
}

impl Member<'_> {
    fn send(&self, message: Message) -> Result<()> {
        self.messages.send(message).map_err(|_| no_scheduler())
    }

    /// Waits until the slot of this replica is free, and calls `work`. Returns `None` if `stop` returns true before
    /// the slot is free.
    pub(super) fn in_turn<T>(&self, stop: impl Fn() -> bool, work: impl FnOnce() -> Result<T>) -> Result<Option<T>> {
        /// Guard that releases the slot of a replica when dropped, even after an error or a panic.
        struct Turn<'a>(Member<'a>);
        impl Drop for Turn<'_> {
            fn drop(&mut self) {
                self.0.barrier.end_turn(self.0.slot);
            }
        }
        if !self.barrier.take_turn(self.slot, &mut || Ok(stop()))? {
            return Ok(None);
        }
        let _turn = Turn(*self);
        work().map(Some)
    }
}

/// Returns the error that is reported if the thread of the scheduler has panicked.
fn no_scheduler() -> Error {
    Error::Internal("the scheduler thread of this rank has stopped".into())
}

/// Returns the thermodynamic states of an ensemble. State k has the settings in the plan of replica k.
pub(super) fn states<'a>(job: &'a EnsembleJob<'_>) -> Vec<ThermodynamicState<'a>> {
    let state = |replica: &'a crate::run::replicas::ReplicaJob<'_>| {
        let dynamics = replica.plan.stages.last()?.dynamics()?;
        Some(ThermodynamicState { dynamics, system: Arc::clone(&replica.start.system) })
    };
    job.replicas.iter().filter_map(state).collect()
}

/// Describes each thermodynamic state by the settings of its replica, without the seed.
pub(super) fn state_names(job: &EnsembleJob<'_>) -> Vec<String> {
    let name = |replica: &crate::run::replicas::ReplicaJob<'_>| {
        let parts = replica.status.description.split(", ").filter(|part| !part.starts_with("seed "));
        parts.collect::<Vec<_>>().join(", ")
    };
    job.replicas.iter().map(name).collect()
}
