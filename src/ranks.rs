//! Ranks: processes that compute together, started by a launcher of MPI (`mpirun`, `srun`). This is all of MPI that the
//! program uses, bytes from rank to rank, and the only module that knows the library.
//!
//! A program by itself is one rank, in a build without the feature `mpi` always. The functions of [`Ranks`] are collective
//! unless they say otherwise: every rank must call them, in the same order, from the thread that started them. A failure of the
//! network or of another rank ends all processes, by the library or the launcher: no function returns it.

use crate::error::{Error, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;
use world::World;

/// This process among those that the launcher started.
pub struct Ranks {
    rank: usize,
    count: usize,
    /// the others; none where there is one rank
    world: Option<World>,
}

impl Ranks {
    /// One rank.
    pub fn alone() -> Self {
        Ranks { rank: 0, count: 1, world: None }
    }

    /// All processes of the launcher; once per process. Fails in a build without MPI.
    pub fn start() -> Result<Self> {
        let world = World::start()?;
        Ok(Ranks { rank: world.rank(), count: world.count(), world: Some(world).filter(|world| world.count() > 1) })
    }

    /// Number of this process, from 0.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Whether this is rank 0, which alone speaks to the user.
    pub fn is_first(&self) -> bool {
        self.rank == 0
    }

    /// Waits until every rank has come here.
    pub fn barrier(&self) {
        if let Some(world) = &self.world {
            world.barrier();
        }
    }

    /// The bytes of each rank, in their order.
    pub fn gather_bytes(&self, own: &[u8]) -> Vec<Vec<u8>> {
        match &self.world {
            None => vec![own.to_vec()],
            Some(world) => world.gather(own),
        }
    }

    /// The value of each rank, in their order. Ranks are the same program, or this panics.
    pub fn gather<T: Serialize + DeserializeOwned>(&self, own: &T) -> Vec<T> {
        self.gather_bytes(&encode(own)).iter().map(|bytes| decode(bytes)).collect()
    }

    /// Succeeds where `result` does on every rank; otherwise all fail with the error of the first that has one.
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

    /// Sends a short message to another rank, which [`Ranks::receive`]s it. Messages of one rank to another keep their order.
    /// Not collective.
    pub fn send<T: Serialize>(&self, to: usize, message: &T) {
        if let Some(world) = &self.world {
            world.send(to, &encode(message));
        }
    }

    /// A message that has arrived, and the rank that sent it; does not wait. Not collective.
    pub fn receive<T: DeserializeOwned>(&self) -> Option<(usize, T)> {
        let (from, bytes) = self.world.as_ref()?.receive()?;
        Some((from, decode(&bytes)))
    }
}

fn encode<T: Serialize>(value: &T) -> Vec<u8> {
    postcard::to_stdvec(value).expect("plain data can be written")
}

fn decode<T: DeserializeOwned>(bytes: &[u8]) -> T {
    postcard::from_bytes(bytes).expect("ranks are the same program")
}

/// The MPI library.
#[cfg(feature = "mpi")]
mod world {
    use crate::error::{Error, Result};
    use mpi::Threading;
    use mpi::datatype::PartitionMut;
    use mpi::environment::Universe;
    use mpi::point_to_point::{MatchedReceiveVec, Source};
    use mpi::topology::SimpleCommunicator;
    use mpi::traits::{Communicator, CommunicatorCollectives, Destination};

    /// The ranks that were started together.
    pub(super) struct World {
        communicator: SimpleCommunicator,
        /// ends MPI when dropped
        _universe: Universe,
    }

    impl World {
        pub(super) fn start() -> Result<Self> {
            let (universe, provided) = mpi::initialize_with_threading(Threading::Funneled)
                .ok_or_else(|| Error::Internal("MPI was started twice".into()))?;
            if provided < Threading::Funneled {
                return Err(Error::Device("this MPI library does not work in programs with threads".into()));
            }
            Ok(World { communicator: universe.world(), _universe: universe })
        }

        pub(super) fn rank(&self) -> usize {
            number(self.communicator.rank())
        }

        pub(super) fn count(&self) -> usize {
            number(self.communicator.size())
        }

        pub(super) fn barrier(&self) {
            self.communicator.barrier();
        }

        pub(super) fn gather(&self, own: &[u8]) -> Vec<Vec<u8>> {
            let mut lengths = vec![0; self.count()];
            self.communicator.all_gather_into(&count(own.len()), &mut lengths);
            let mut starts = vec![0; lengths.len()];
            for rank in 1..lengths.len() {
                starts[rank] = starts[rank - 1] + lengths[rank - 1];
            }
            let mut all = vec![0u8; lengths.iter().map(|&length| number(length)).sum()];
            self.communicator
                .all_gather_varcount_into(own, &mut PartitionMut::new(&mut all[..], &lengths[..], &starts[..]));
            let part = |(start, length): (&i32, &i32)| all[number(*start)..][..number(*length)].to_vec();
            starts.iter().zip(&lengths).map(part).collect()
        }

        pub(super) fn send(&self, to: usize, bytes: &[u8]) {
            self.communicator.process_at_rank(count(to)).send(bytes);
        }

        pub(super) fn receive(&self) -> Option<(usize, Vec<u8>)> {
            let (bytes, status) = self.communicator.any_process().immediate_matched_probe()?.matched_receive_vec();
            Some((number(status.source_rank()), bytes))
        }
    }

    impl Drop for World {
        /// A rank that panics cannot end together with the others, as MPI demands: it ends all of them.
        fn drop(&mut self) {
            if std::thread::panicking() {
                self.communicator.abort(i32::from(Error::Internal(String::new()).exit_code()));
            }
        }
    }

    /// Ranks and lengths of messages are small.
    fn count(number: usize) -> i32 {
        i32::try_from(number).expect("less than 2 GB go from rank to rank")
    }

    fn number(count: i32) -> usize {
        usize::try_from(count).expect("MPI counts from 0")
    }
}

/// No library: there is no value of this type.
#[cfg(not(feature = "mpi"))]
mod world {
    use crate::error::{Problem, Result};

    pub(super) enum World {}

    impl World {
        pub(super) fn start() -> Result<Self> {
            let help = "build it with `cargo build --release --features mpi`, or start it without mpirun or srun";
            Err(Problem::new("this md was built without MPI").help(help).into())
        }

        pub(super) fn rank(&self) -> usize {
            match *self {}
        }

        pub(super) fn count(&self) -> usize {
            match *self {}
        }

        pub(super) fn barrier(&self) {
            match *self {}
        }

        pub(super) fn gather(&self, _own: &[u8]) -> Vec<Vec<u8>> {
            match *self {}
        }

        pub(super) fn send(&self, _to: usize, _bytes: &[u8]) {
            match *self {}
        }

        pub(super) fn receive(&self) -> Option<(usize, Vec<u8>)> {
            match *self {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Problem;

    #[test]
    fn one_rank_is_all_ranks() {
        let ranks = Ranks::alone();
        assert_eq!((ranks.rank(), ranks.count(), ranks.is_first()), (0, 1, true));
        assert_eq!(ranks.gather(&("a".to_owned(), 7)), [("a".to_owned(), 7)]);
        assert_eq!(ranks.gather_bytes(&[1, 2]), [[1, 2]]);
        assert_eq!(ranks.agree(Ok(3)).unwrap(), 3);
        assert!(ranks.receive::<u8>().is_none());
        ranks.barrier();
    }

    #[test]
    fn an_error_arrives_as_it_was() {
        let problem = Problem::new("what").in_file("input.toml".as_ref()).at_line(3).at_span(4..9).help("how");
        let error = Ranks::alone().agree::<()>(Err(problem.clone().into())).unwrap_err();
        assert!(matches!(&error, Error::Input(problems) if problems[..] == [problem]), "{error:?}");
        for error in [Error::unstable("hot", [3, 4]), Error::io("a/b".as_ref(), "full"), Error::Device("cold".into())] {
            let again: Error = decode(&encode(&error));
            assert_eq!(format!("{again:?}"), format!("{error:?}"));
        }
    }
}
