//! Counters of the bytes and messages that a rank sends, by purpose.
//!
//! The counters count the payloads that a rank passes to the [`super::Network`]. A gather over n ranks counts as
//! ⌈log₂ n⌉ messages with n − 1 times the bytes of the rank, as MPI libraries gather small arrays
//! ([`super::rounds`]). An empty message counts as a message. The counters do not count barriers, splits, message
//! headers, or the lengths of gathered arrays.

use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicU64, Ordering};

/// Purpose of messages between ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// positions of halo atoms, in each evaluation of forces and in each pruning of pair lists
    HaloPositions,
    /// forces on halo atoms
    HaloForces,
    /// atoms that move to another domain, and groups of atoms that enter a halo; sent with each pair search
    Migration,
    /// transposes of the PME mesh, and planes of charges and potentials
    Mesh,
    /// energies, virials, kinetic energies and all other reductions
    Sums,
    /// commands of rank 0 to other ranks, with the data of the commands
    Commands,
    /// positions, velocities and forces of all atoms, and signals of users, sent to rank 0
    Output,
}

/// Number of purposes.
const PURPOSES: usize = Purpose::NAMED.len();

impl Purpose {
    /// All purposes with their names, in the order of their declaration.
    pub const NAMED: [(Purpose, &'static str); 7] = [
        (Purpose::HaloPositions, "halo positions"),
        (Purpose::HaloForces, "halo forces"),
        (Purpose::Migration, "migration"),
        (Purpose::Mesh, "mesh"),
        (Purpose::Sums, "sums"),
        (Purpose::Commands, "commands"),
        (Purpose::Output, "output"),
    ];
}

/// Bytes and messages that a rank has sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sent {
    /// number of bytes
    pub bytes: u64,
    /// number of messages
    pub messages: u64,
}

/// Bytes and messages that a rank has sent for each purpose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Traffic([Sent; PURPOSES]);

impl Traffic {
    /// Returns the numbers of bytes and messages that the rank has sent for a purpose.
    pub fn of(&self, purpose: Purpose) -> Sent {
        self.0[purpose as usize]
    }

    /// Adds the bytes and messages that were sent between the readings `before` and `after` of the counters.
    pub fn add_difference(&mut self, after: &Traffic, before: &Traffic) {
        for (sum, (after, before)) in self.0.iter_mut().zip(after.0.iter().zip(&before.0)) {
            sum.bytes += after.bytes - before.bytes;
            sum.messages += after.messages - before.messages;
        }
    }
}

/// Counters of one rank, with bytes and messages of each purpose.
#[derive(Debug, Default)]
pub(super) struct Counters([[AtomicU64; 2]; PURPOSES]);

impl Counters {
    /// Counts `messages` messages with `bytes` bytes together.
    pub(super) fn count(&self, purpose: Purpose, messages: usize, bytes: usize) {
        let [of_bytes, of_messages] = &self.0[purpose as usize];
        of_bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        of_messages.fetch_add(messages as u64, Ordering::Relaxed);
    }

    pub(super) fn read(&self) -> Traffic {
        let read = |[bytes, messages]: &[AtomicU64; 2]| Sent {
            bytes: bytes.load(Ordering::Relaxed),
            messages: messages.load(Ordering::Relaxed),
        };
        Traffic(self.0.each_ref().map(read))
    }
}

#[cfg(test)]
mod tests {
    use super::super::Ranks;
    use super::*;

    #[test]
    fn names_are_in_the_order_of_the_counters() {
        let order = Purpose::NAMED.map(|(purpose, _)| purpose as usize);
        assert_eq!(order, std::array::from_fn(|index| index));
    }

    /// Returns the numbers of bytes and messages that one rank sends for `purpose` in `work`.
    fn counted(ranks: &Ranks, purpose: Purpose, work: impl Fn(&Ranks)) -> [u64; 2] {
        let mut difference = Traffic::default();
        let before = ranks.sent();
        work(&ranks.for_purpose(purpose));
        difference.add_difference(&ranks.sent(), &before);
        let all = Purpose::NAMED.map(|(purpose, _)| difference.of(purpose));
        let others = all.iter().enumerate().filter(|(index, _)| *index != purpose as usize);
        assert!(others.map(|(_, sent)| *sent).all(|sent| sent == Sent::default()), "{difference:?}");
        [all[purpose as usize].bytes, all[purpose as usize].messages]
    }

    #[test]
    fn payloads_are_counted_once_for_each_receiver() {
        for count in [2, 4] {
            let (others, rounds) = (count as u64 - 1, if count == 2 { 1 } else { 2 });
            Ranks::threads(count, |ranks| {
                let (above, below) = ((ranks.rank() + 1) % count, (ranks.rank() + count - 1) % count);
                let sum = counted(&ranks, Purpose::Sums, |ranks| ranks.sum(&mut [1.0, 2.0, 3.0]));
                assert_eq!(sum, [24 * others, rounds]);
                let pulse = counted(&ranks, Purpose::HaloForces, |ranks| {
                    ranks.exchange(above, &[1; 10], below, &mut [0; 10]);
                });
                assert_eq!(pulse, [10, 1]);
                // the first of two messages states the length of the second message in 8 bytes; the second message has
                // the length of the list in one byte, and the three bytes of the list
                let any = counted(&ranks, Purpose::Migration, |ranks| {
                    ranks.exchange_any(above, &vec![1u8, 2, 3], below);
                });
                assert_eq!(any, [8 + 4, 2]);
                // a number below 128 is encoded in one byte; of four ranks, rank 0 sends a message for all ranks to the
                // ranks 1 and 2, and rank 2 passes the message on to rank 3
                let order = counted(&ranks, Purpose::Commands, |ranks| {
                    if ranks.is_first() {
                        ranks.broadcast(&7u32);
                        ranks.send(1, &8u32);
                    } else {
                        assert_eq!(ranks.receive_broadcast::<u32>(), Some(7));
                    }
                });
                let sent = if ranks.is_first() { rounds + 1 } else { u64::from(count == 4 && ranks.rank() == 2) };
                assert_eq!(order, [sent; 2]);
                // messages without a purpose and barriers are not counted
                let nothing = counted(&ranks, Purpose::Mesh, |_| {
                    ranks.gather(&1);
                    ranks.barrier();
                });
                assert_eq!(nothing, [0, 0]);
            });
        }
    }

    #[test]
    fn groups_count_apart_and_a_single_rank_counts_nothing() {
        Ranks::threads(4, |ranks| {
            let group = ranks.split(ranks.rank() % 2);
            group.for_purpose(Purpose::Sums).sum(&mut [1.0]);
            assert_eq!(group.clone().sent().of(Purpose::Sums), Sent { bytes: 8, messages: 1 });
            assert_eq!(ranks.sent(), Traffic::default());
        });
        let alone = Ranks::alone();
        alone.for_purpose(Purpose::Sums).sum(&mut [1.0]);
        assert_eq!(alone.sent(), Traffic::default());
    }
}
