//! Where the replicas of an exchange meet, and how they take turns.
//!
//! Each replica has a thread, a device and files of its own for the whole run, and belongs to one slot; those of a slot take
//! turns between attempts, so that any number of them can wait for each other. What is exchanged is the state: a replica keeps
//! its atoms, its pair lists and its trajectory, and gets the temperature, pressure or Hamiltonian of its neighbour.
//!
//! Every outcome is written to `exchange.csv` before anyone goes on with it, and is a pure function of the offers. So
//! checkpoints need not be of the same moment: a replica whose checkpoint is older repeats its steps and takes the outcomes that
//! stand there. A checkpoint is only written when the rows before it are on disk ([`Member::sync`]).

use super::EnsembleJob;
use crate::ensemble::exchange::{Exchange, Offer};
use crate::error::{Error, Problem, Result};
use crate::observe::exchange::{EXCHANGE, ExchangeRow, ExchangeStatistics, ExchangeTable};
use crate::run::plan::{Dynamics, StageKind};
use crate::system::System;
use std::collections::VecDeque;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
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
}

/// Where replicas meet.
pub struct Hub {
    exchange: Exchange,
    meeting: Mutex<Meeting>,
    changed: Condvar,
    /// no attempt takes place any more
    has_ended: AtomicBool,
}

struct Meeting {
    table: ExchangeTable,
    statistics: ExchangeStatistics,
    /// states after each attempt that somebody may still have to learn of, up to the last
    known: VecDeque<Vec<usize>>,
    /// of the next attempt
    offers: Vec<Option<Offer>>,
    /// slots in use
    busy: Vec<bool>,
    /// the replica that has failed first
    failed: Option<usize>,
}

impl Meeting {
    /// The outcome of an attempt, if it is known.
    fn outcome(&self, attempt: u64) -> Option<&[usize]> {
        let back = usize::try_from(self.statistics.attempts.checked_sub(attempt)?).ok()?;
        let index = self.known.len().checked_sub(back + 1)?;
        self.known.get(index).map(Vec::as_slice)
    }

    /// The one place where the offers of all replicas come together; nothing until all are there.
    fn gather(&self) -> Option<Vec<Offer>> {
        self.offers.iter().copied().collect()
    }
}

impl Hub {
    /// The exchange of an ensemble, continued where its replicas are; `None` if there is none.
    pub(super) fn open(job: &EnsembleJob<'_>) -> Result<Option<Self>> {
        let replicas = &job.replicas;
        let Some(exchange) = replicas.first().and_then(|replica| replica.plan.exchange.clone()) else {
            return Ok(None);
        };
        let path = job.directory.join(EXCHANGE);
        if job.force && path.exists() {
            move_aside(&path)?;
        }
        let (mut statistics, mut known) = (ExchangeStatistics::new(replicas.len()), VecDeque::new());
        let table = ExchangeTable::open(&path, replicas.len(), |row| {
            statistics.add(&row);
            known.push_back(row.states);
        })?;
        let begun = |folder: &str| job.directory.join(folder).join("checkpoint.md").exists();
        if let Some(missing) = replicas.iter().find(|replica| statistics.attempts > 0 && !begun(&replica.status.folder))
        {
            let message =
                format!("there have been {} attempts, but {} is gone", statistics.attempts, missing.status.folder);
            let help = "restore that folder, or use --force to move the old output aside and start anew";
            return Err(Problem::new(message).in_file(&path).help(help).into());
        }
        let (offers, busy) = (vec![None; replicas.len()], vec![false; job.spread.at_once]);
        let meeting = Meeting { table, statistics, known, offers, busy, failed: None };
        let (meeting, changed) = (Mutex::new(meeting), Condvar::new());
        Ok(Some(Hub { exchange, meeting, changed, has_ended: AtomicBool::new(false) }))
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

    /// No further attempt takes place: this replica does not come to it, since it was stopped or has failed.
    fn end(&self, replica: usize, failed: bool) {
        if failed {
            self.lock().failed.get_or_insert(replica);
        }
        self.has_ended.store(true, Ordering::Relaxed);
        self.changed.notify_all();
    }

    /// What has come of all attempts, as they stand.
    pub(super) fn statistics(&self) -> ExchangeStatistics {
        self.lock().statistics.clone()
    }

    /// The replica whose failure has ended the exchange.
    pub(super) fn failed(&self) -> Option<usize> {
        self.lock().failed
    }

    /// Adds the offer of a replica, and decides the attempt if it is the last.
    fn offer(&self, replica: usize, (attempt, step, time): (u64, u64, f64), offer: Offer) -> Result<()> {
        let mut meeting = self.lock();
        if attempt != meeting.statistics.attempts + 1 {
            let message = format!("attempt {attempt} follows on {}", meeting.statistics.attempts);
            return Err(Error::Internal(message));
        }
        meeting.offers[replica] = Some(offer);
        let Some(offers) = meeting.gather() else { return Ok(()) };
        let decided = self.exchange.decide(attempt, &meeting.statistics.states(), &offers);
        let row = ExchangeRow { attempt, step, time, states: decided.states, probabilities: decided.probabilities };
        let row = row.rounded();
        meeting.table.write(&row)?;
        meeting.statistics.add(&row);
        meeting.offers.fill(None);
        // all have come so far
        meeting.known.clear();
        meeting.known.push_back(row.states);
        self.changed.notify_all();
        Ok(())
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

    /// No attempt takes place any more.
    pub(in crate::run) fn has_ended(&self) -> bool {
        self.hub.has_ended.load(Ordering::Relaxed)
    }

    /// The state of this replica after an attempt, if that is known.
    pub(in crate::run) fn known(&self, attempt: u64) -> Option<usize> {
        self.hub.lock().outcome(attempt).map(|states| states[self.replica])
    }

    /// Refuses a replica that goes on after so many attempts in a state, where the record says otherwise.
    pub(in crate::run) fn check(&self, attempts: u64, state: usize) -> Result<()> {
        let recorded = self.hub.lock().statistics.attempts;
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
        attempt: (u64, u64, f64),
        offer: Offer,
        stop: &mut dyn FnMut() -> Result<bool>,
    ) -> Result<Option<usize>> {
        let Member { hub, replica, slot, .. } = *self;
        hub.offer(replica, attempt, offer)?;
        hub.end_turn(slot);
        let outcome = hub.wait(|meeting| meeting.outcome(attempt.0).map(|states| states[replica]), stop);
        // its last files are written in turn, too: whatever has happened, it comes soon
        hub.take_turn(slot, &mut || Ok(false))?;
        outcome
    }

    /// Waits until the outcomes of all attempts so far are on disk.
    pub(in crate::run) fn sync(&self) -> Result<()> {
        self.hub.lock().table.sync()
    }

    /// Does the work of this replica in its turn; nothing if `stop` says that it is to stop before that comes.
    pub(super) fn in_turn<T>(
        &self,
        stop: impl Fn() -> bool,
        work: impl FnOnce() -> Result<T>,
        is_through: impl FnOnce(&T) -> bool,
    ) -> Result<Option<T>> {
        /// Lets the others go on, however the work ends.
        struct Turn<'a>(Member<'a>, Option<bool>);
        impl Drop for Turn<'_> {
            fn drop(&mut self) {
                let Turn(member, failed) = self;
                if let Some(failed) = *failed {
                    member.hub.end(member.replica, failed);
                }
                member.hub.end_turn(member.slot);
            }
        }
        if !self.hub.take_turn(self.slot, &mut || Ok(stop() || self.has_ended()))? {
            self.hub.end(self.replica, false);
            return Ok(None);
        }
        // a panic is a failure
        let mut turn = Turn(*self, Some(true));
        let done = work();
        turn.1 = match &done {
            Ok(done) if is_through(done) => None,
            Ok(_) => Some(false),
            Err(_) => Some(true),
        };
        done.map(Some)
    }
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

fn move_aside(path: &Path) -> Result<()> {
    let numbered = |n: u32| path.with_extension(format!("bak{n}.csv"));
    let unused = (1..).map(numbered).find(|path| !path.exists()).expect("there are more numbers than files");
    std::fs::rename(path, unused).map_err(|error| Error::io(path, error))
}
