//! Scheduler of replicas. The scheduler of rank 0 assigns replicas to the slots of all ranks and receives the events of
//! all replicas. The schedulers of the other ranks forward the requests and events of their slots to rank 0.
//!
//! In replica exchange a replica stays on one rank, and the scheduler of this rank assigns the replica to a slot. At an
//! exchange attempt all replicas send their energies to rank 0. Rank 0 decides and records the outcome, and sends it to
//! all ranks. When one replica stops, all replicas stop. Otherwise the remaining replicas would wait forever for the
//! energies of the stopped replica.

use crate::error::{Error, Result};
use crate::ranks::Ranks;
use crate::run::control::signals::Requests;
use crate::run::replicas::record::{Proposal, Record};
use crate::run::replicas::swap::Barrier;
use crate::run::session::job::Outcome;
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::iter::StepBy;
use std::ops::Range;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

/// Interval between updates of the status of replicas that send no messages.
const LOOK: Duration = Duration::from_millis(500);
/// Interval between checks for messages of other ranks. The scheduler sleeps between the checks, because a wait
/// inside the MPI library would occupy a processor that the slots need.
const POLL: Duration = Duration::from_millis(10);
/// Interval between checks for messages of other ranks while all slots of this rank wait for an exchange attempt.
const SHORT_POLL: Duration = Duration::from_micros(200);

/// Message of a slot to the scheduler of its rank.
pub(super) enum Message {
    /// the slot is free and requests the index of its next replica; the answer is `None` if no replica is left
    Free(Sender<Option<usize>>),
    /// the replica with this index reports an event
    Happened(usize, Event),
    /// a replica sends its energies and volume for an exchange attempt
    Offered(Proposal),
    /// a replica waits until the outcomes of all previous exchange attempts are on disk
    Sync(Sender<Result<()>>),
}

/// Event that a replica reports: its start, a warning or its end.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Event {
    Begun,
    Warning(String),
    Ended(Result<Outcome>),
}

/// Message between the schedulers of two ranks.
#[derive(Serialize, Deserialize)]
enum RankMessage {
    /// sent to rank 0: a slot of the sending rank is free
    Free,
    /// sent to rank 0: the replica with this index reports an event
    Happened(usize, Event),
    /// sent to rank 0: a replica sends its energies for an exchange attempt
    Offered(Proposal),
    /// sent by rank 0: states of all replicas after an exchange attempt
    Decided(Vec<usize>),
    /// sent to rank 0: a replica waits until the outcomes of all previous exchange attempts are on disk
    Sync,
    /// sent by rank 0: answer to the oldest unanswered `Sync`, after all previous outcomes are on disk; an error if the
    /// file could not be written
    Synced(Result<()>),
    /// sent to rank 0: all slots of the sending rank have ended
    Left,
    /// sent to rank 0, and from rank 0 to all other ranks: no further replica begins, and running replicas stop
    Stop,
    /// sent by rank 0: answer to the oldest unanswered `Free`, the next replica of the slot; `None` if no replica is
    /// left
    Next(Option<usize>),
    /// sent by rank 0: the slots of all ranks have ended
    Over,
}

/// Indices of the replicas that a scheduler assigns.
pub(super) type Assignment = StepBy<Range<usize>>;

/// Barrier and record of a replica exchange, for the scheduler of a rank.
pub(super) struct Swapping<'a> {
    /// barrier at which the replicas of this rank wait
    pub(super) barrier: &'a Barrier,
    /// record of the replica exchange on rank 0; `None` on all other ranks
    pub(super) record: Option<&'a RefCell<Record>>,
}

/// Scheduler of the slots of one rank.
pub(super) struct Scheduler<'a, W> {
    ranks: &'a Ranks,
    requests: &'a Requests,
    /// callback on rank 0, which the scheduler calls with each event, and at regular intervals with `None`
    on_event: W,
    /// indices of the replicas that are not assigned yet; `None` if rank 0 assigns the replicas of this rank
    assignment: Option<Assignment>,
    /// barrier and record of the replica exchange; `None` without replica exchange
    swapping: Option<Swapping<'a>>,
    /// number of replicas of this rank that have sent their energies for the next exchange attempt
    offered: usize,
    /// number of replicas that this scheduler assigns
    members: usize,
    /// whether no further replica may begin
    stopped: bool,
    /// whether the other ranks have been told that no further replica may begin
    stop_is_known: bool,
    /// number of ranks on which a slot is still in use
    at_work: usize,
    /// slots of this rank that wait for a replica from rank 0
    waiting: VecDeque<Sender<Option<usize>>>,
    /// replicas of this rank that wait for `Synced` from rank 0
    syncing: VecDeque<Sender<Result<()>>>,
    /// error that prevented an exchange attempt, for example because a file could not be written
    failure: Option<Error>,
}

impl<'a, W: FnMut(Option<(usize, Event)>)> Scheduler<'a, W> {
    /// Creates the scheduler of a rank, which forwards requests to stop to all ranks. In replica exchange `assignment`
    /// contains the replicas of this rank. Without replica exchange `assignment` contains all replicas, and rank 0
    /// assigns the replicas.
    pub(super) fn new(
        ranks: &'a Ranks,
        requests: &'a Requests,
        assignment: Assignment,
        swapping: Option<Swapping<'a>>,
        on_event: W,
    ) -> Self {
        let members = assignment.len();
        Scheduler {
            ranks,
            requests,
            on_event,
            assignment: Some(assignment).filter(|_| ranks.is_first() || swapping.is_some()),
            swapping,
            offered: 0,
            members,
            stopped: false,
            stop_is_known: ranks.count() == 1,
            at_work: ranks.count(),
            waiting: VecDeque::new(),
            syncing: VecDeque::new(),
            failure: None,
        }
    }

    /// Stops the assignment of replicas on all ranks.
    pub(super) fn stop(&mut self) {
        self.stopped = true;
    }

    /// Answers the messages of the slots of this rank until all slots have ended. Rank 0 also answers the messages of
    /// the other ranks. The channel `messages` is closed when the last slot has ended.
    pub(super) fn serve(mut self, messages: &Receiver<Message>) -> Result<()> {
        let (mut looked, mut is_here) = (Instant::now(), true);
        while self.at_work > 0 {
            match messages.recv_timeout(self.pause()) {
                Ok(message) => self.handle(message),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) if is_here => {
                    is_here = false;
                    self.left();
                }
                Err(RecvTimeoutError::Disconnected) => thread::sleep(POLL),
            }
            while let Some((from, message)) = self.ranks.receive() {
                self.handle_of_rank(from, message);
            }
            self.stopped |= self.requests.stop();
            if self.stopped && self.swapping.is_some() {
                self.requests.ask_to_stop();
            }
            // ranks other than rank 0 send no messages after their slots have ended
            if self.stopped && !self.stop_is_known && (is_here || self.ranks.is_first()) {
                self.stop_is_known = true;
                self.send_to_others(&RankMessage::Stop);
            }
            if self.ranks.is_first() && looked.elapsed() > LOOK {
                looked = Instant::now();
                (self.on_event)(None);
            }
        }
        if self.ranks.is_first() {
            self.send_to_others(&RankMessage::Over);
        }
        self.failure.map_or(Ok(()), Err)
    }

    /// Returns how long the scheduler sleeps until its next check for messages of other ranks.
    fn pause(&self) -> Duration {
        match self.ranks.count() {
            1 => LOOK,
            _ if self.offered > 0 && self.offered == self.members => SHORT_POLL,
            _ => POLL,
        }
    }

    fn handle(&mut self, message: Message) {
        match message {
            Message::Free(answer) => self.free(answer),
            Message::Happened(index, event) => self.happened(index, event),
            Message::Offered(proposal) => {
                self.offered += 1;
                self.offer(proposal);
            }
            Message::Sync(answer) if self.ranks.is_first() => {
                // the error is ignored, because sending fails only if the replica has panicked
                let _ = answer.send(self.sync());
            }
            Message::Sync(answer) => {
                self.syncing.push_back(answer);
                self.ranks.send(0, &RankMessage::Sync);
            }
        }
    }

    /// Sends a message from rank 0 to all other ranks, or from another rank to rank 0.
    fn send_to_others(&self, message: &RankMessage) {
        let to = if self.ranks.is_first() { 1..self.ranks.count() } else { 0..1 };
        to.for_each(|rank| self.ranks.send(rank, message));
    }

    fn free(&mut self, answer: Sender<Option<usize>>) {
        if self.assignment.is_some() {
            // the error is ignored, because sending fails only if the slot has panicked
            let _ = answer.send(self.take());
        } else {
            self.waiting.push_back(answer);
            self.ranks.send(0, &RankMessage::Free);
        }
    }

    /// Takes the next replica that is not assigned yet; `None` if no replica is left, or after a request to stop.
    fn take(&mut self) -> Option<usize> {
        self.stopped |= self.requests.stop();
        self.assignment.as_mut().filter(|_| !self.stopped)?.next()
    }

    fn happened(&mut self, index: usize, event: Event) {
        if self.ranks.is_first() {
            self.stopped |= match event {
                Event::Ended(Ok(outcome)) => outcome == Outcome::Stopped,
                Event::Ended(Err(_)) => self.swapping.is_some(),
                Event::Begun | Event::Warning(_) => false,
            };
            (self.on_event)(Some((index, event)));
        } else {
            self.ranks.send(0, &RankMessage::Happened(index, event));
        }
    }

    /// Forwards the energies and volume of a replica to rank 0. On rank 0, adds the energies and the volume to the
    /// record, which decides the attempt when the energies of all replicas are known.
    fn offer(&mut self, proposal: Proposal) {
        let Some(record) = self.swapping.as_ref().and_then(|swapping| swapping.record) else {
            return self.ranks.send(0, &RankMessage::Offered(proposal));
        };
        let decided = record.borrow_mut().add(&proposal);
        match decided {
            Ok(None) => {}
            Ok(Some(states)) => {
                self.send_to_others(&RankMessage::Decided(states.clone()));
                self.learn(states);
            }
            Err(error) => {
                self.failure.get_or_insert(error);
                self.stop();
            }
        }
    }

    fn learn(&mut self, states: Vec<usize>) {
        self.offered = 0;
        if let Some(Swapping { barrier, .. }) = self.swapping {
            barrier.learn(states);
        }
    }

    fn sync(&self) -> Result<()> {
        let record = self.swapping.as_ref().and_then(|swapping| swapping.record);
        record.map_or(Ok(()), |record| record.borrow().sync())
    }

    fn left(&mut self) {
        if self.ranks.is_first() {
            self.at_work -= 1;
        } else {
            self.ranks.send(0, &RankMessage::Left);
        }
    }

    fn handle_of_rank(&mut self, from: usize, message: RankMessage) {
        match message {
            RankMessage::Free => self.ranks.send(from, &RankMessage::Next(self.take())),
            RankMessage::Happened(index, event) => self.happened(index, event),
            RankMessage::Offered(proposal) => self.offer(proposal),
            RankMessage::Decided(states) => self.learn(states),
            RankMessage::Sync => self.ranks.send(from, &RankMessage::Synced(self.sync())),
            RankMessage::Synced(done) => {
                // the error is ignored, because sending fails only if the replica has panicked
                let _ = self.syncing.pop_front().map(|answer| answer.send(done));
            }
            RankMessage::Left => self.at_work -= 1,
            RankMessage::Stop => {
                self.stop();
                self.stop_is_known |= !self.ranks.is_first();
                self.requests.ask_to_stop();
            }
            RankMessage::Next(index) => {
                // the error is ignored, because sending fails only if the slot has panicked
                let _ = self.waiting.pop_front().map(|answer| answer.send(index));
            }
            RankMessage::Over => self.at_work = 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ensemble::exchange::{Conditions, Exchange, Offer};
    use crate::run::replicas::placement::{MessageSender, ReplicaPlacement};
    use crate::run::replicas::swap::Member;
    use crate::run::session::{Attempt, ExchangeMember};

    #[test]
    fn an_attempt_that_cannot_be_made_stops_those_that_wait_for_it() {
        let folder = tempfile::tempdir().unwrap();
        let states = vec![Conditions { temperature: 300.0, pressure: None }; 2];
        let exchange = Exchange { every: 10, seed: 1, states };
        let (record, known) = Record::at(&folder.path().join("exchange.csv"), exchange).unwrap();
        let (record, barrier) = (RefCell::new(record), Barrier::new(known, 2));
        let (ranks, requests, mut ends) = (Ranks::alone(), Requests::default(), 0);
        let swapping = Swapping { barrier: &barrier, record: Some(&record) };
        let on_event = |event| ends += usize::from(matches!(event, Some((_, Event::Ended(Ok(Outcome::Stopped))))));
        let scheduler = Scheduler::new(&ranks, &requests, (0..2).step_by(1), Some(swapping), on_event);
        let work = |replica: usize, slot: usize, messages: &MessageSender| {
            let member = Member { barrier: &barrier, replica, slot, states: &[], messages };
            for attempt in 1..4 {
                // replica 1 does not take part in the third attempt
                let mine = if (attempt, replica) == (3, 1) { 4 } else { attempt };
                let state = member.meet(Attempt { number: mine, step: 0, time: 0.0 }, Offer::default(), &mut || {
                    Ok(requests.stop())
                })?;
                // two replicas with equal thermodynamic states always swap at odd attempts
                let expected = (attempt < 3).then_some(1 - replica);
                assert_eq!(state, expected, "attempt {attempt} of {replica}");
            }
            member.sync().map(|()| Outcome::Stopped)
        };
        let error = ReplicaPlacement::run(2, scheduler, work).unwrap_err().to_string();
        assert!(error.contains("attempt 4 is out of sequence: the last attempt was 2"), "{error}");
        assert_eq!((ends, record.borrow().statistics().attempts), (2, 2));
    }
}
