//! Communication between ranks with the MPI library. No other module uses MPI.

use crate::error::{Error, Result};
use crate::ranks::{Network, Ranks};
use mpi::Threading;
use mpi::datatype::PartitionMut;
use mpi::environment::Universe;
use mpi::point_to_point::{MatchedReceiveVec, Source, send_receive_into};
use mpi::request::Request;
use mpi::topology::{Color, SimpleCommunicator};
use mpi::traits::{Communicator, CommunicatorCollectives, Destination};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Initialises MPI and returns the handle of this process among all ranks that the launcher started. This function can
/// be called only once per process.
pub(super) fn start() -> Result<Ranks> {
    let library = Library::start()?;
    Ok(Ranks::over(library.rank(), library.count(), Arc::new(library)))
}

/// MPI communicator. All communicators share a mutex, which allows only one thread at a time to call the MPI library.
struct Library {
    communicator: SimpleCommunicator,
    /// whether all ranks are on one machine
    is_local: bool,
    environment: Arc<Mutex<Universe>>,
}

// SAFETY: MPI handles may be used by any thread, one thread at a time, if the library provides `Threading::Serialized`.
// `start` requests `Threading::Serialized`, and the mutex admits one thread at a time.
unsafe impl Send for Library {}
// SAFETY: the mutex admits one thread at a time to the MPI library, as for `Send`
unsafe impl Sync for Library {}

impl Library {
    fn start() -> Result<Self> {
        let (universe, provided) = mpi::initialize_with_threading(Threading::Serialized)
            .ok_or_else(|| Error::Internal("MPI was started twice".into()))?;
        if provided < Threading::Serialized {
            return Err(Error::Device("this MPI library does not support programs with threads".into()));
        }
        Ok(Self::of(universe.world(), Arc::new(Mutex::new(universe))))
    }

    /// All ranks of the communicator call this function together. No other thread may call the MPI library.
    fn of(communicator: SimpleCommunicator, environment: Arc<Mutex<Universe>>) -> Self {
        let is_local = communicator.split_shared(0).size() == communicator.size();
        Library { communicator, is_local, environment }
    }

    fn rank(&self) -> usize {
        let _turn = self.turn();
        number(self.communicator.rank())
    }

    fn count(&self) -> usize {
        let _turn = self.turn();
        number(self.communicator.size())
    }

    /// Waits until no other thread calls the MPI library. Other threads wait until the returned guard is dropped.
    fn turn(&self) -> MutexGuard<'_, Universe> {
        self.environment.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Network for Library {
    fn is_copied(&self) -> bool {
        self.is_local
    }

    fn barrier(&self) {
        let _turn = self.turn();
        self.communicator.barrier();
    }

    fn gather(&self, own: &[u8]) -> Vec<Vec<u8>> {
        let (_turn, communicator) = (self.turn(), &self.communicator);
        let mut lengths = vec![0; number(communicator.size())];
        communicator.all_gather_into(&count(own.len()), &mut lengths);
        let mut starts = vec![0; lengths.len()];
        for rank in 1..lengths.len() {
            starts[rank] = starts[rank - 1] + lengths[rank - 1];
        }
        let mut all = vec![0u8; lengths.iter().map(|&length| number(length)).sum()];
        if all.is_empty() {
            // an empty array of Rust has the address 1, which Open MPI would interpret as MPI_IN_PLACE
            return vec![vec![]; lengths.len()];
        }
        communicator.all_gather_varcount_into(own, &mut PartitionMut::new(&mut all[..], &lengths[..], &starts[..]));
        let part = |(start, length): (&i32, &i32)| all[number(*start)..][..number(*length)].to_vec();
        starts.iter().zip(&lengths).map(part).collect()
    }

    fn gather_equal(&self, own: &[u8], all: &mut [u8]) {
        let _turn = self.turn();
        self.communicator.all_gather_into(own, all);
    }

    fn send(&self, to: usize, bytes: &[u8]) {
        let _turn = self.turn();
        self.communicator.process_at_rank(count(to)).send(bytes);
    }

    fn receive(&self) -> Option<(usize, Vec<u8>)> {
        let _turn = self.turn();
        let (bytes, status) = self.communicator.any_process().immediate_matched_probe()?.matched_receive_vec();
        Some((number(status.source_rank()), bytes))
    }

    fn receive_from(&self, from: usize) -> Vec<u8> {
        let _turn = self.turn();
        self.communicator.process_at_rank(count(from)).receive_vec().0
    }

    fn exchange(&self, to: usize, bytes: &[u8], from: usize, received: &mut [u8]) {
        let _turn = self.turn();
        let [to, from] = [to, from].map(|rank| self.communicator.process_at_rank(count(rank)));
        send_receive_into(bytes, &to, received, &from);
    }

    fn exchange_during(&self, sent: &[(usize, &[u8])], received: &mut [(usize, &mut [u8])], work: &mut dyn FnMut()) {
        // each message meets the receive that was posted for it, because all ranks post receives and send messages in
        // the same order
        mpi::request::scope(|scope| {
            let turn = self.turn();
            let process = |rank| self.communicator.process_at_rank(count(rank));
            let mut requests = vec![];
            for (from, received) in received {
                requests.push(process(*from).immediate_receive_into(scope, &mut **received));
            }
            let sends: Vec<_> = sent.iter().map(|(to, bytes)| process(*to).immediate_send(scope, *bytes)).collect();
            drop(turn);
            work();
            let _turn = self.turn();
            requests.into_iter().for_each(Request::wait_without_status);
            sends.into_iter().for_each(Request::wait_without_status);
        });
    }

    fn split(&self, group: usize) -> Arc<dyn Network> {
        let _turn = self.turn();
        let communicator = self.communicator.split_by_color(Color::with_value(count(group)));
        let communicator = communicator.expect("every rank belongs to a group");
        Arc::new(Self::of(communicator, Arc::clone(&self.environment)))
    }

    fn abort(&self) -> ! {
        self.communicator.abort(i32::from(Error::Internal(String::new()).exit_code()))
    }
}

impl Drop for Library {
    /// Aborts all ranks if this rank panics, because MPI can be finalised only by all ranks together.
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.abort();
        }
    }
}

/// Converts a rank or the length of a message to the integer type of MPI.
fn count(number: usize) -> i32 {
    i32::try_from(number).expect("a message between ranks is shorter than 2 GB")
}

fn number(count: i32) -> usize {
    usize::try_from(count).expect("MPI counts from 0")
}
