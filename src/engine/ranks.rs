//! Ranks: processes that compute together and send bytes to each other through a [`Network`].
//!
//! A program without a launcher is one rank. The functions of [`Ranks`] are collective unless their documentation says
//! otherwise: every rank must call them, in the same order. If the network or another rank fails, the MPI library or
//! the launcher ends all processes. No function of this module returns a failure of the network or of another rank as
//! an error.
//!
//! Each rank counts the bytes and messages that it sends through a handle with a [`Purpose`] ([`Ranks::for_purpose`]).

use crate::error::{Error, Result};
use bytemuck::Pod;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::sync::Arc;

#[cfg(test)]
mod tests;
mod threads;
mod traffic;

pub use traffic::{Purpose, Sent, Traffic};

use traffic::Counters;

/// Transport of bytes between ranks, for example MPI. A failure ends all processes.
pub trait Network: Send + Sync {
    /// Whether the processors themselves copy all messages, because all ranks are on one machine.
    fn is_copied(&self) -> bool;
    /// Waits until every rank has called this function.
    fn barrier(&self);
    /// Returns the bytes of all ranks, in rank order.
    fn gather(&self, own: &[u8]) -> Vec<Vec<u8>>;
    /// Stores the bytes of all ranks, in rank order, in `all`. Each rank has the same number of bytes.
    fn gather_equal(&self, own: &[u8], all: &mut [u8]);
    /// Sends a message, to be received with [`Network::receive`] or [`Network::receive_from`].
    fn send(&self, to: usize, bytes: &[u8]);
    /// Returns a message that has arrived, and the rank that sent it. Does not wait. Returns `None` if no message has
    /// arrived.
    fn receive(&self) -> Option<(usize, Vec<u8>)>;
    /// Waits for the next message of the rank `from`, and returns it.
    fn receive_from(&self, from: usize) -> Vec<u8>;
    /// Sends a message to one rank and at the same time receives `received.len()` bytes from another rank.
    fn exchange(&self, to: usize, bytes: &[u8], from: usize, received: &mut [u8]);
    /// Sends messages to some ranks and receives messages from some ranks, of the lengths of the buffers, while `work`
    /// runs. Calls `work` once. Only another call of this function receives these messages.
    fn exchange_during(&self, sent: &[(usize, &[u8])], received: &mut [(usize, &mut [u8])], work: &mut dyn FnMut());
    /// Returns the network of the ranks that call this function with the same `group`. The order of the ranks does not
    /// change. Messages of the group's network and messages of the whole network do not mix.
    fn split(&self, group: usize) -> Arc<dyn Network>;
    /// Ends the processes of all ranks, because this rank can no longer take part.
    fn abort(&self) -> !;
}

/// Connection of this rank to all other ranks, with counters of the bytes and messages that this rank sends.
#[derive(Clone)]
struct Connection {
    network: Arc<dyn Network>,
    counters: Arc<Counters>,
    /// purpose of the messages that are sent; `None` for messages that are not counted
    purpose: Option<Purpose>,
}

impl Connection {
    /// Counts `messages` messages with `bytes` bytes together, which this rank sends.
    fn count(&self, messages: usize, bytes: usize) {
        if let Some(purpose) = self.purpose {
            self.counters.count(purpose, messages, bytes);
        }
    }

    /// Counts a gather of `bytes` bytes from each of `ranks` ranks.
    fn count_gather(&self, ranks: usize, bytes: usize) {
        self.count(rounds(ranks), (ranks - 1) * bytes);
    }
}

/// Returns the number of rounds of messages, ⌈log₂ n⌉, in which n ranks gather small arrays on all ranks, or rank 0
/// sends a message to all ranks. MPI libraries gather in so many rounds by recursive doubling or by the algorithm of
/// Bruck ([Thakur, Rabenseifner and Gropp, 2005](https://doi.org/10.1177/1094342005051521)).
pub(crate) fn rounds(ranks: usize) -> usize {
    ranks.next_power_of_two().trailing_zeros() as usize
}

/// Returns the ranks to which a rank passes on a message from rank 0 to all of `ranks` ranks: a binomial tree.
fn receivers(rank: usize, ranks: usize) -> impl Iterator<Item = usize> {
    let rounds = if rank == 0 { rounds(ranks) } else { rank.trailing_zeros() as usize };
    (0..rounds).rev().map(move |round| rank + (1 << round)).filter(move |&to| to < ranks)
}

/// Returns the rank from which a rank other than rank 0 receives a message from rank 0 to all ranks.
fn sender(rank: usize) -> usize {
    rank & (rank - 1)
}

/// Handle of a process among the ranks that the launcher started. All clones of a handle refer to the same process and
/// share its counters.
#[derive(Clone)]
pub struct Ranks {
    rank: usize,
    count: usize,
    /// connection to the other ranks; `None` for a single rank
    connection: Option<Connection>,
}

impl Ranks {
    /// Returns the handle of a single rank without a network.
    pub fn alone() -> Self {
        Ranks { rank: 0, count: 1, connection: None }
    }

    /// Creates the handle of rank `rank` among `count` ranks, connected by a network. Messages that are sent through
    /// this handle have no purpose and are not counted.
    pub fn over(rank: usize, count: usize, network: Arc<dyn Network>) -> Self {
        let connection = Connection { network, counters: Arc::default(), purpose: None };
        Ranks { rank, count, connection: Some(connection).filter(|_| count > 1) }
    }

    /// Returns a handle of the same process whose messages are counted for `purpose`. Not collective.
    pub fn for_purpose(&self, purpose: Purpose) -> Self {
        let connection = self.connection.clone();
        Ranks { connection: connection.map(|own| Connection { purpose: Some(purpose), ..own }), ..*self }
    }

    /// Returns the numbers of bytes and messages that this rank has sent so far through handles with a purpose; zero
    /// for a single rank. Not collective.
    pub fn sent(&self) -> Traffic {
        self.connection.as_ref().map_or_else(Traffic::default, |connection| connection.counters.read())
    }

    /// Returns the number of this rank, from 0.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// Returns the number of ranks.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Whether messages travel while the processors compute. Returns false if all ranks are on one machine, whose
    /// processors copy the messages. Not collective.
    pub fn messages_travel(&self) -> bool {
        self.connection.as_ref().is_some_and(|connection| !connection.network.is_copied())
    }

    /// Whether this is rank 0. Only rank 0 writes messages for the user.
    pub fn is_first(&self) -> bool {
        self.rank == 0
    }

    /// Returns the handle of this process among the ranks that call this function with the same `group`. The order of
    /// the ranks does not change. The group has its own counters.
    pub fn split(&self, group: usize) -> Self {
        let groups = self.gather(&group);
        let members: Vec<usize> = (0..self.count).filter(|&rank| groups[rank] == group).collect();
        let rank = members.iter().position(|&rank| rank == self.rank).unwrap_or(0);
        match &self.connection {
            None => self.clone(),
            Some(Connection { network, .. }) => Ranks::over(rank, members.len(), network.split(group)),
        }
    }

    /// Ends the processes of all ranks, because this rank can no longer take part. Does nothing if there is only one
    /// rank. Not collective.
    pub fn abort(&self) {
        if let Some(Connection { network, .. }) = &self.connection {
            network.abort();
        }
    }

    /// Waits until every rank has called this function.
    pub fn barrier(&self) {
        if let Some(Connection { network, .. }) = &self.connection {
            network.barrier();
        }
    }

    /// Returns the bytes of all ranks, in rank order.
    pub fn gather_bytes(&self, own: &[u8]) -> Vec<Vec<u8>> {
        match &self.connection {
            None => vec![own.to_vec()],
            Some(connection) => {
                connection.count_gather(self.count, own.len());
                connection.network.gather(own)
            }
        }
    }

    /// Returns the bytes of all ranks, in rank order, on rank 0. Returns `None` on all other ranks.
    pub fn collect_bytes(&self, own: &[u8]) -> Option<Vec<Vec<u8>>> {
        let Some(connection) = &self.connection else { return Some(vec![own.to_vec()]) };
        if !self.is_first() {
            connection.count(1, own.len());
            connection.network.send(0, own);
            return None;
        }
        let others = (1..self.count).map(|rank| connection.network.receive_from(rank));
        Some(std::iter::once(own.to_vec()).chain(others).collect())
    }

    /// Sends the value that `value(k)` returns on rank 0 to rank k, and returns the value for this rank. The other
    /// ranks do not call `value`.
    pub fn scatter<T: Serialize + DeserializeOwned>(&self, mut value: impl FnMut(usize) -> T) -> T {
        if let Some(connection) = self.connection.as_ref().filter(|_| !self.is_first()) {
            return decode(&connection.network.receive_from(0));
        }
        (1..self.count).for_each(|rank| self.send(rank, &value(rank)));
        value(0)
    }

    /// Returns the values of all ranks, in rank order. Panics if another rank sends a value of another type, which is
    /// impossible if all ranks run the same program.
    pub fn gather<T: Serialize + DeserializeOwned>(&self, own: &T) -> Vec<T> {
        self.gather_bytes(&encode(own)).iter().map(|bytes| decode(bytes)).collect()
    }

    /// Stores the bytes of all ranks, in rank order, in `all`. `own` has the same length on all ranks.
    pub fn gather_equal(&self, own: &[u8], all: &mut [u8]) {
        match &self.connection {
            None => all.copy_from_slice(own),
            Some(connection) => {
                connection.count_gather(self.count, own.len());
                connection.network.gather_equal(own, all);
            }
        }
    }

    /// Returns the numbers of all ranks, in rank order. `own` has the same length on all ranks.
    fn gather_numbers(&self, own: &[f64]) -> Vec<f64> {
        let mut all = vec![0.0; self.count * own.len()];
        self.gather_equal(bytemuck::cast_slice(own), bytemuck::cast_slice_mut(&mut all));
        all
    }

    /// Replaces each number by its sum over all ranks. The sums are the same bit for bit on all ranks.
    pub fn sum(&self, values: &mut [f64]) {
        if self.count == 1 || values.is_empty() {
            return;
        }
        let all = self.gather_numbers(values);
        let parts = all.chunks_exact(values.len());
        values.fill(0.0);
        for part in parts {
            values.iter_mut().zip(part).for_each(|(sum, part)| *sum += part);
        }
    }

    /// Returns the largest value of `own` over all ranks.
    pub fn largest(&self, own: f64) -> f64 {
        self.gather_numbers(&[own]).into_iter().fold(own, f64::max)
    }

    /// Returns `result` if it is `Ok` on every rank. If `result` is an error on any rank, all ranks return the error of
    /// the first rank that failed.
    pub fn agree<T>(&self, result: Result<T>) -> Result<T> {
        let failed = |error: Error| if self.rank == 0 { error } else { error.of(&format!("rank {}", self.rank)) };
        let (value, error) = match result {
            Ok(value) => (Some(value), None),
            Err(error) => (None, Some(failed(error))),
        };
        match self.gather(&error).into_iter().flatten().next() {
            Some(error) => Err(error),
            None => value.ok_or_else(|| Error::Internal("an error was lost".into())),
        }
    }

    /// Sends a message to another rank, which receives it with [`Ranks::receive`] or [`Ranks::receive_from`]. Messages
    /// from one rank to another rank arrive in the order in which they were sent. Not collective.
    pub fn send<T: Serialize>(&self, to: usize, message: &T) {
        if let Some(connection) = &self.connection {
            let bytes = encode(message);
            connection.count(1, bytes.len());
            connection.network.send(to, &bytes);
        }
    }

    /// Sends a message from rank 0 to all other ranks, which receive it with [`Ranks::receive_broadcast`]. Rank 0 sends
    /// ⌈log₂ n⌉ messages to n ranks; the receivers pass the message on. Only rank 0 may call this function.
    pub fn broadcast<T: Serialize>(&self, message: &T) {
        if let Some(connection) = &self.connection {
            self.pass_on(connection, &encode(message));
        }
    }

    /// Waits for the next message that rank 0 sends with [`Ranks::broadcast`], passes it on to other ranks, and returns
    /// it. Returns `None` if there is only one rank. Only ranks other than rank 0 may call this function.
    pub fn receive_broadcast<T: DeserializeOwned>(&self) -> Option<T> {
        let connection = self.connection.as_ref()?;
        let bytes = connection.network.receive_from(sender(self.rank));
        self.pass_on(connection, &bytes);
        Some(decode(&bytes))
    }

    fn pass_on(&self, connection: &Connection, bytes: &[u8]) {
        for to in receivers(self.rank, self.count) {
            connection.count(1, bytes.len());
            connection.network.send(to, bytes);
        }
    }

    /// Returns a message that has arrived, and the rank that sent it. Does not wait. Not collective.
    pub fn receive<T: DeserializeOwned>(&self) -> Option<(usize, T)> {
        let (from, bytes) = self.connection.as_ref()?.network.receive()?;
        Some((from, decode(&bytes)))
    }

    /// Waits for the next message of another rank, and returns it. Returns `None` if there is only one rank. Not
    /// collective.
    pub fn receive_from<T: DeserializeOwned>(&self, from: usize) -> Option<T> {
        Some(decode(&self.connection.as_ref()?.network.receive_from(from)))
    }

    /// Returns, for each exchange, the rank to which this rank sends and the rank from which this rank receives. If
    /// rank a sends to rank b in an exchange, rank b receives from rank a in the same exchange. Not collective.
    pub fn partners(&self) -> impl Iterator<Item = (usize, usize)> + Clone + use<> {
        let Ranks { rank, count, .. } = *self;
        (1..count).map(move |step| ((rank + step) % count, (rank + count - step) % count))
    }

    /// Sends a message to the rank `to` and receives `received.len()` bytes from the rank `from`. All ranks must call
    /// this function at the same time; if rank a sends to rank b, rank b must receive from rank a. An empty message is
    /// not sent.
    pub fn exchange(&self, to: usize, bytes: &[u8], from: usize, received: &mut [u8]) {
        let Some(connection) = &self.connection else { return received.copy_from_slice(bytes) };
        let network = &connection.network;
        if !bytes.is_empty() {
            connection.count(1, bytes.len());
        }
        match (bytes.is_empty(), received.is_empty()) {
            (true, true) => {}
            (false, true) => network.send(to, bytes),
            (true, false) => received.copy_from_slice(&network.receive_from(from)),
            (false, false) => network.exchange(to, bytes, from, received),
        }
    }

    /// Sends consecutive parts of `sent` to other ranks and receives consecutive parts of `received` from other ranks
    /// while `work` runs; `work` may exchange other messages. `to` and `from` yield, for each part, the other rank and
    /// the number of elements. Messages from one rank to another rank arrive in the order in which they were sent. An
    /// empty message is not sent. All ranks must call this function at the same time; if rank a sends to rank b, rank
    /// b must receive from rank a.
    pub fn exchange_during<T: Pod>(
        &self,
        mut sent: &[T],
        to: impl Iterator<Item = (usize, usize)>,
        mut received: &mut [T],
        from: impl Iterator<Item = (usize, usize)>,
        work: impl FnOnce(),
    ) {
        let Some(connection) = &self.connection else { return work() };
        let (mut outgoing, mut incoming) = (vec![], vec![]);
        for (to, length) in to.filter(|(_, length)| *length > 0) {
            let part = sent.split_off(..length).expect("the parts fit into the array");
            outgoing.push((to, bytemuck::cast_slice(part)));
        }
        for (from, length) in from.filter(|(_, length)| *length > 0) {
            let part = received.split_off_mut(..length).expect("the parts fit into the array");
            incoming.push((from, bytemuck::cast_slice_mut(part)));
        }
        connection.count(outgoing.len(), outgoing.iter().map(|(_, bytes): &(usize, &[u8])| bytes.len()).sum());
        let mut work = Some(work);
        let mut once = || work.take().into_iter().for_each(|work| work());
        connection.network.exchange_during(&outgoing, &mut incoming, &mut once);
    }

    /// Sends a value to the rank `to` and returns the value received from the rank `from`. All ranks must call this
    /// function at the same time; if rank a sends to rank b, rank b must receive from rank a.
    pub fn exchange_any<T: Serialize + DeserializeOwned>(&self, to: usize, value: &T, from: usize) -> T {
        let bytes = encode(value);
        let mut length = [0; size_of::<u64>()];
        self.exchange(to, &(bytes.len() as u64).to_le_bytes(), from, &mut length);
        let mut received = vec![0; u64::from_le_bytes(length) as usize];
        self.exchange(to, &bytes, from, &mut received);
        decode(&received)
    }

    /// Sends the value `values[k]`, if any, to rank k. Returns the values that all ranks, including this rank, sent to
    /// this rank, in rank order. Ranks without a value for each other exchange no message.
    pub fn exchange_some<T: Serialize + DeserializeOwned>(&self, mut values: Vec<Option<T>>) -> Vec<Option<T>> {
        let own = values[self.rank].take();
        let to_send: Vec<Vec<u8>> = values.iter().map(|value| value.as_ref().map_or(vec![], encode)).collect();
        let lengths: Vec<u64> = to_send.iter().map(|bytes| bytes.len() as u64).collect();
        let mut all = vec![0u64; self.count * self.count];
        self.gather_equal(bytemuck::cast_slice(&lengths), bytemuck::cast_slice_mut(&mut all));
        let mut received: Vec<Option<T>> = (0..self.count).map(|_| None).collect();
        received[self.rank] = own;
        for (to, from) in self.partners() {
            let mut bytes = vec![0; all[from * self.count + self.rank] as usize];
            self.exchange(to, &to_send[to], from, &mut bytes);
            received[from] = Some(bytes).filter(|bytes| !bytes.is_empty()).map(|bytes| decode(&bytes));
        }
        received
    }
}

fn encode<T: Serialize>(value: &T) -> Vec<u8> {
    postcard::to_stdvec(value).expect("plain data can be serialised")
}

fn decode<T: DeserializeOwned>(bytes: &[u8]) -> T {
    postcard::from_bytes(bytes).expect("all ranks run the same program")
}
