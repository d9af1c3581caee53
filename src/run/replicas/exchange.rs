//! Where the replicas of an exchange meet, and how they take turns.
//!
//! Each replica has a thread, a device and files of its own for the whole run, and belongs to one slot of one rank; those of a
//! slot take turns between attempts, so that any number of them can wait for each other. What is exchanged is the state: a replica
//! keeps its atoms, its pair lists and its trajectory, and gets the temperature, pressure or Hamiltonian of its neighbour.
//!
//! Offers go to rank 0, states come back ([`super::desk`]). Every outcome is written to `exchange.csv` before anyone goes on with
//! it ([`super::record`]), and is a pure function of the offers. So checkpoints need not be of the same moment: a replica whose
//! checkpoint is older repeats its steps and takes the outcomes that stand there. A checkpoint is only written when the rows
//! before it are on disk ([`Member::sync`]).

use super::EnsembleJob;
use super::desk::Note;
use super::record::Proposal;
use super::spread::Tell;
use crate::ensemble::exchange::Offer;
use crate::error::{Error, Problem, Result};
use crate::observe::exchange::EXCHANGE;
use crate::run::plan::{Dynamics, StageKind};
use crate::system::System;
use std::sync::mpsc::channel;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Time between two looks of a replica that waits at what else may end it.
const LOOK: Duration = Duration::from_millis(100);

/// A thermodynamic state, for the stage in which replicas swap them.
pub struct ThermodynamicState<'a> {
    /// couplings
    pub dynamics: &'a Dynamics,
    /// Hamiltonian, before tuning
    pub system: Arc<System>,
}

/// A replica in an exchange.
#[derive(Clone, Copy)]
pub struct Member<'a> {
    /// where it meets the others
    pub(super) hub: &'a Hub,
    /// which one it is
    pub(super) replica: usize,
    /// in which it takes turns
    pub(super) slot: usize,
    /// all states
    pub(super) states: &'a [ThermodynamicState<'a>],
    /// to the desk of its rank
    pub(super) tell: &'a Tell,
}

/// Where the replicas of a rank meet, and learn what has come of attempts.
pub struct Hub {
    meeting: Mutex<Meeting>,
    changed: Condvar,
}

struct Meeting {
    /// so far
    attempts: u64,
    /// states after each attempt that somebody may still have to learn of, up to the last
    known: Vec<Vec<usize>>,
    /// slots in use
    busy: Vec<bool>,
}

impl Meeting {
    /// The outcome of an attempt, if it is known.
    fn outcome(&self, attempt: u64) -> Option<&[usize]> {
        let back = usize::try_from(self.attempts.checked_sub(attempt)?).ok()?;
        let index = self.known.len().checked_sub(back + 1)?;
        self.known.get(index).map(Vec::as_slice)
    }
}

impl Hub {
    /// After attempts with these states, for a rank with so many slots.
    pub(super) fn new(known: Vec<Vec<usize>>, slots: usize) -> Self {
        let meeting = Meeting { attempts: known.len() as u64, known, busy: vec![false; slots] };
        Hub { meeting: Mutex::new(meeting), changed: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, Meeting> {
        self.meeting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until there is something to find; nothing if `stop` says so, which is asked now and then.
    fn wait<T>(
        &self,
        find: impl Fn(&mut Meeting) -> Option<T>,
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

    /// Waits for the turn of a replica in its slot; false if it is to stop instead.
    fn take_turn(&self, slot: usize, stop: &mut dyn FnMut() -> Result<bool>) -> Result<bool> {
        let take = |meeting: &mut Meeting| (!std::mem::replace(&mut meeting.busy[slot], true)).then_some(());
        self.wait(take, stop).map(|taken| taken.is_some())
    }

    fn end_turn(&self, slot: usize) {
        self.lock().busy[slot] = false;
        self.changed.notify_all();
    }

    /// The next attempt has led to these states. It needed all replicas, which know of all before.
    pub(super) fn learn(&self, states: Vec<usize>) {
        let mut meeting = self.lock();
        meeting.attempts += 1;
        meeting.known.clear();
        meeting.known.push(states);
        self.changed.notify_all();
    }
}

impl<'a> Member<'a> {
    /// A state.
    pub(in crate::run) fn state(&self, index: usize) -> &'a ThermodynamicState<'a> {
        &self.states[index]
    }

    /// Whether states differ in their Hamiltonians.
    pub(in crate::run) fn has_hamiltonians(&self) -> bool {
        self.states.windows(2).any(|pair| !Arc::ptr_eq(&pair[0].system, &pair[1].system))
    }

    /// Its state before the first attempt.
    pub(in crate::run) fn first_state(&self) -> usize {
        self.replica
    }

    /// The state of this replica after an attempt, if that is known.
    pub(in crate::run) fn known(&self, attempt: u64) -> Option<usize> {
        self.hub.lock().outcome(attempt).map(|states| states[self.replica])
    }

    /// Refuses a replica that goes on after so many attempts in a state, where the record says otherwise.
    pub(in crate::run) fn check(&self, attempts: u64, state: usize) -> Result<()> {
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

    /// Offers, and waits until all replicas have, out of turn. Gives the new state; nothing if `stop` says that the run is to
    /// stop instead.
    pub(in crate::run) fn meet(
        &self,
        (attempt, step, time): (u64, u64, f64),
        offer: Offer,
        stop: &mut dyn FnMut() -> Result<bool>,
    ) -> Result<Option<usize>> {
        let Member { hub, replica, slot, .. } = *self;
        self.say(Note::Offered(Proposal { replica, attempt, step, time, offer }))?;
        hub.end_turn(slot);
        let outcome = hub.wait(|meeting| meeting.outcome(attempt).map(|states| states[replica]), stop);
        // its last files are written in turn, too: whatever has happened, it comes soon
        hub.take_turn(slot, &mut || Ok(false))?;
        outcome
    }

    /// Waits until the outcomes of all attempts so far are on disk.
    pub(in crate::run) fn sync(&self) -> Result<()> {
        let (answer, done) = channel();
        self.say(Note::Sync(answer))?;
        done.recv().unwrap_or_else(|_| Err(no_desk()))
    }

    fn say(&self, note: Note) -> Result<()> {
        self.tell.send(note).map_err(|_| no_desk())
    }

    /// Does the work of this replica in its turn; nothing if `stop` says that it is to stop before that comes.
    pub(super) fn in_turn<T>(&self, stop: impl Fn() -> bool, work: impl FnOnce() -> Result<T>) -> Result<Option<T>> {
        /// Lets the others go on, however the work ends.
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

/// Where the thread that serves replicas has panicked.
fn no_desk() -> Error {
    Error::Internal("the desk of this rank does not listen".into())
}

/// The states of an ensemble: that of replica k is the state k.
pub(super) fn states<'a>(job: &'a EnsembleJob<'_>) -> Vec<ThermodynamicState<'a>> {
    let state = |replica: &'a super::ReplicaJob<'_>| {
        let stage = replica.plan.stages.last()?;
        let StageKind::Dynamics(dynamics) = &stage.kind else { return None };
        Some(ThermodynamicState { dynamics, system: Arc::clone(&replica.start.system) })
    };
    job.replicas.iter().filter_map(state).collect()
}

/// The states of an ensemble in words: what its replicas set.
pub(super) fn state_names(job: &EnsembleJob<'_>) -> Vec<String> {
    let name = |replica: &super::ReplicaJob<'_>| {
        let parts = replica.status.description.split(", ").filter(|part| !part.starts_with("seed "));
        parts.collect::<Vec<_>>().join(", ")
    };
    job.replicas.iter().map(name).collect()
}
