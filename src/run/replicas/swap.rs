//! Replica exchange: how the replicas meet at an attempt, and how the replicas of a slot take turns.
//!
//! Each replica has its own thread, device and files for the whole run, and belongs to one slot of one rank. The
//! replicas of a slot take turns between attempts, so that any number of them can wait for each other. States are
//! exchanged, not atoms: a replica keeps its atoms, its pair lists and its trajectory, and gets the temperature,
//! pressure or Hamiltonian of its neighbour.
//!
//! ```text
//! replica --offer--> scheduler of its rank ------------> scheduler of rank 0: decides, writes exchange.csv
//! replica <--state-- hub of its rank <-- scheduler of its rank <-- scheduler of rank 0
//! ```
//!
//! The scheduler is in [`super::scheduler`], the file in [`super::record`]. Every outcome is written to
//! `exchange.csv` before any replica continues with it, and is a pure function of the offers. Checkpoints of
//! different replicas therefore need not be of the same step: a replica whose checkpoint is older repeats its steps
//! and takes the recorded outcomes. A checkpoint is written only after the rows of all earlier attempts are on disk
//! ([`Member::sync`]).

use crate::ensemble::exchange::Offer;
use crate::error::{Error, Problem, Result};
use crate::observe::exchange::EXCHANGE;
use crate::run::plan::StageKind;
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

/// A replica in an exchange.
#[derive(Clone, Copy)]
pub(super) struct Member<'a> {
    /// meeting point with the other replicas of the rank
    pub(super) hub: &'a Barrier,
    /// index of the replica
    pub(super) replica: usize,
    /// slot in which the replica takes turns
    pub(super) slot: usize,
    /// all thermodynamic states
    pub(super) states: &'a [ThermodynamicState<'a>],
    /// channel to the scheduler of the rank
    pub(super) tell: &'a MessageSender,
}

/// Meeting point of the replicas of a rank, where replicas wait for the outcomes of attempts.
pub struct Barrier {
    meeting: Mutex<BarrierState>,
    changed: Condvar,
}

struct BarrierState {
    /// number of attempts so far
    attempts: u64,
    /// states of all replicas after each recent attempt; an attempt is dropped when every replica knows its outcome
    known: Vec<Vec<usize>>,
    /// whether each slot is in use
    busy: Vec<bool>,
}

impl BarrierState {
    /// Returns the states after an attempt; `None` if that outcome is unknown or was dropped.
    fn outcome(&self, attempt: u64) -> Option<&[usize]> {
        let back = usize::try_from(self.attempts.checked_sub(attempt)?).ok()?;
        let index = self.known.len().checked_sub(back + 1)?;
        self.known.get(index).map(Vec::as_slice)
    }
}

impl Barrier {
    /// Creates a meeting point that knows the states after each attempt so far, for a rank with `slots` slots.
    pub(super) fn new(known: Vec<Vec<usize>>, slots: usize) -> Self {
        let meeting = BarrierState { attempts: known.len() as u64, known, busy: vec![false; slots] };
        Barrier { meeting: Mutex::new(meeting), changed: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, BarrierState> {
        self.meeting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until `find` returns a value; `None` if `stop`, which is called at intervals, returns true.
    fn wait<T>(
        &self,
        find: impl Fn(&mut BarrierState) -> Option<T>,
        stop: &mut dyn FnMut() -> Result<bool>,
    ) -> Result<Option<T>> {
        loop {
            {
                let mut meeting = self.lock();
                if let Some(found) = find(&mut meeting) {
                    return Ok(Some(found));
                }
                let waited = self.changed.wait_timeout(meeting, LOOK).unwrap_or_else(PoisonError::into_inner);
                meeting = waited.0;
                if let Some(found) = find(&mut meeting) {
                    return Ok(Some(found));
                }
            }
            if stop()? {
                return Ok(None);
            }
        }
    }

    /// Waits for the turn of a replica in its slot; false if the replica is to stop instead.
    fn take_turn(&self, slot: usize, stop: &mut dyn FnMut() -> Result<bool>) -> Result<bool> {
        let take = |meeting: &mut BarrierState| (!std::mem::replace(&mut meeting.busy[slot], true)).then_some(());
        self.wait(take, stop).map(|taken| taken.is_some())
    }

    fn end_turn(&self, slot: usize) {
        self.lock().busy[slot] = false;
        self.changed.notify_all();
    }

    /// Records the states to which the next attempt has led. All replicas took part in this attempt, so every replica
    /// knows the earlier outcomes, which are dropped.
    pub(super) fn learn(&self, states: Vec<usize>) {
        let mut meeting = self.lock();
        meeting.attempts += 1;
        meeting.known.clear();
        meeting.known.push(states);
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
        self.hub.lock().outcome(attempt).map(|states| states[self.replica])
    }

    fn check(&self, attempts: u64, state: usize) -> Result<()> {
        let recorded = self.hub.lock().attempts;
        let known = if attempts == 0 { Some(self.first_state()) } else { self.known(attempts) };
        if recorded >= attempts && known.is_none_or(|known| known == state) {
            return Ok(());
        }
        let replica = self.replica + 1;
        let message = format!(
            "the checkpoint of replica-{replica} was written after attempt {attempts} in state {}, which is not what \
             {EXCHANGE} says",
            state + 1
        );
        let help = "restore the files of one run, or use --force to move the old output aside and start anew";
        Err(Problem::new(message).help(help).into())
    }

    fn meet(
        &self,
        Attempt { number: attempt, step, time }: Attempt,
        offer: Offer,
        stop: &mut dyn FnMut() -> Result<bool>,
    ) -> Result<Option<usize>> {
        let Member { hub, replica, slot, .. } = *self;
        self.say(Message::Offered(Proposal { replica, attempt, step, time, offer }))?;
        hub.end_turn(slot);
        let outcome = hub.wait(|meeting| meeting.outcome(attempt).map(|states| states[replica]), stop);
        // replicas also take turns to write their last files; slots are released even after an error, so this wait is
        // short
        hub.take_turn(slot, &mut || Ok(false))?;
        outcome
    }

    fn sync(&self) -> Result<()> {
        let (answer, done) = channel();
        self.say(Message::Sync(answer))?;
        done.recv().unwrap_or_else(|_| Err(no_scheduler()))
    }
}

impl Member<'_> {
    fn say(&self, note: Message) -> Result<()> {
        self.tell.send(note).map_err(|_| no_scheduler())
    }

    /// Does the work of this replica in its turn; `None` if `stop` says that the replica is to stop before its turn
    /// comes.
    pub(super) fn in_turn<T>(&self, stop: impl Fn() -> bool, work: impl FnOnce() -> Result<T>) -> Result<Option<T>> {
        /// Ends the turn when dropped, however the work ends.
        struct Turn<'a>(Member<'a>);
        impl Drop for Turn<'_> {
            fn drop(&mut self) {
                self.0.hub.end_turn(self.0.slot);
            }
        }
        if !self.hub.take_turn(self.slot, &mut || Ok(stop()))? {
            return Ok(None);
        }
        let _turn = Turn(*self);
        work().map(Some)
    }
}

/// Returns the error for a scheduler whose thread has panicked.
fn no_scheduler() -> Error {
    Error::Internal("the scheduler thread of this rank has stopped".into())
}

/// Returns the thermodynamic states of an ensemble. State k is that of the plan of replica k.
pub(super) fn states<'a>(job: &'a EnsembleJob<'_>) -> Vec<ThermodynamicState<'a>> {
    let state = |replica: &'a crate::run::replicas::ReplicaJob<'_>| {
        let stage = replica.plan.stages.last()?;
        let StageKind::Dynamics(dynamics) = &stage.kind else { return None };
        Some(ThermodynamicState { dynamics, system: Arc::clone(&replica.start.system) })
    };
    job.replicas.iter().filter_map(state).collect()
}

/// Describes the states of an ensemble by the settings of its replicas, without seeds.
pub(super) fn state_names(job: &EnsembleJob<'_>) -> Vec<String> {
    let name = |replica: &crate::run::replicas::ReplicaJob<'_>| {
        let parts = replica.status.description.split(", ").filter(|part| !part.starts_with("seed "));
        parts.collect::<Vec<_>>().join(", ")
    };
    job.replicas.iter().map(name).collect()
}
