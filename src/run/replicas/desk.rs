//! Rank 0 deals out replicas to the slots of all ranks, and hears what happens to them. Other ranks pass on what their slots
//! ask and say.

use crate::error::Result;
use crate::ranks::Ranks;
use crate::run::job::Outcome;
use crate::run::signals::Requests;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

/// Time between two looks at replicas of which nothing is heard.
const LOOK: Duration = Duration::from_millis(500);
/// Time between two looks for messages of other ranks. A wait inside the MPI library would take a processor from the slots.
const POLL: Duration = Duration::from_millis(10);

/// What a slot says on its own rank.
pub(super) enum Note {
    /// it has nothing to do; the answer is the index of its next replica, or none
    Free(Sender<Option<usize>>),
    /// something has happened to the replica of this index
    Happened(usize, Event),
}

/// What happens to a replica.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Event {
    Begun,
    Warning(String),
    Ended(Result<Outcome>),
}

/// What ranks say to each other.
#[derive(Serialize, Deserialize)]
enum Message {
    /// to rank 0: a slot is free
    Free,
    /// to rank 0: something has happened to the replica of this index
    Happened(usize, Event),
    /// to rank 0: no slot is at work any more
    Left,
    /// to rank 0 and from there to all: no further replica begins, and those that run stop
    Stop,
    /// from rank 0: the next replica of the slot that has waited longest, or none
    Next(Option<usize>),
    /// from rank 0: every rank has left
    Over,
}

/// The desk of a rank.
pub(super) struct Desk<'a, W> {
    ranks: &'a Ranks,
    requests: &'a Requests,
    /// on rank 0 is told what happens, and now and then called with nothing
    watch: W,
    /// replicas that nobody has taken begin here
    next: usize,
    replicas: usize,
    /// no further replica begins
    stopped: bool,
    /// and other ranks know
    stop_is_known: bool,
    /// ranks that have not left
    at_work: usize,
    /// slots of this rank for which rank 0 was asked
    waiting: VecDeque<Sender<Option<usize>>>,
}

impl<'a, W: FnMut(Option<(usize, Event)>)> Desk<'a, W> {
    /// Of so many replicas. Requests to stop go to all ranks.
    pub(super) fn new(ranks: &'a Ranks, requests: &'a Requests, replicas: usize, watch: W) -> Self {
        let (stopped, stop_is_known, waiting) = (false, ranks.count() == 1, VecDeque::new());
        Desk { ranks, requests, watch, next: 0, replicas, stopped, stop_is_known, at_work: ranks.count(), waiting }
    }

    /// No further replica begins on any rank.
    pub(super) fn stop(&mut self) {
        self.stopped = true;
    }

    /// Serves the slots of this rank, whose `notes` end with the last of them, and on rank 0 the other ranks, until all have
    /// ended.
    pub(super) fn serve(&mut self, notes: &Receiver<Note>) {
        let (mut looked, mut is_here) = (Instant::now(), true);
        while self.at_work > 0 {
            match notes.recv_timeout(if self.ranks.count() == 1 { LOOK } else { POLL }) {
                Ok(Note::Free(answer)) => self.free(answer),
                Ok(Note::Happened(index, event)) => self.happened(index, event),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) if is_here => {
                    is_here = false;
                    self.left();
                }
                Err(RecvTimeoutError::Disconnected) => thread::sleep(POLL),
            }
            while let Some((from, message)) = self.ranks.receive() {
                self.hear(from, message);
            }
            self.stopped |= self.requests.stop();
            // other ranks say nothing after they have left
            if self.stopped && !self.stop_is_known && (is_here || self.ranks.is_first()) {
                self.stop_is_known = true;
                self.tell_others(&Message::Stop);
            }
            if self.ranks.is_first() && looked.elapsed() > LOOK {
                looked = Instant::now();
                (self.watch)(None);
            }
        }
        if self.ranks.is_first() {
            self.tell_others(&Message::Over);
        }
    }

    /// From rank 0 to all others, from these to rank 0.
    fn tell_others(&self, message: &Message) {
        let to = if self.ranks.is_first() { 1..self.ranks.count() } else { 0..1 };
        to.for_each(|rank| self.ranks.send(rank, message));
    }

    fn free(&mut self, answer: Sender<Option<usize>>) {
        if self.ranks.is_first() {
            // a slot that has panicked does not listen
            let _ = answer.send(self.take());
        } else {
            self.waiting.push_back(answer);
            self.ranks.send(0, &Message::Free);
        }
    }

    /// The next replica.
    fn take(&mut self) -> Option<usize> {
        self.stopped |= self.requests.stop();
        let index = Some(self.next).filter(|&index| index < self.replicas && !self.stopped)?;
        self.next += 1;
        Some(index)
    }

    fn happened(&mut self, index: usize, event: Event) {
        if self.ranks.is_first() {
            self.stopped |= matches!(event, Event::Ended(Ok(Outcome::Stopped)));
            (self.watch)(Some((index, event)));
        } else {
            self.ranks.send(0, &Message::Happened(index, event));
        }
    }

    fn left(&mut self) {
        if self.ranks.is_first() {
            self.at_work -= 1;
        } else {
            self.ranks.send(0, &Message::Left);
        }
    }

    fn hear(&mut self, from: usize, message: Message) {
        match message {
            Message::Free => self.ranks.send(from, &Message::Next(self.take())),
            Message::Happened(index, event) => self.happened(index, event),
            Message::Left => self.at_work -= 1,
            Message::Stop => {
                self.stop();
                self.stop_is_known |= !self.ranks.is_first();
                self.requests.ask_to_stop();
            }
            Message::Next(index) => {
                // a slot that has panicked does not listen
                let _ = self.waiting.pop_front().map(|answer| answer.send(index));
            }
            Message::Over => self.at_work = 0,
        }
    }
}
