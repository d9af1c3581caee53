//! Distribution of replicas over MPI ranks and slots. A slot runs one replica at a time.

use crate::error::{Error, Problem, Result};
use crate::observe::progress::counted;
use crate::ranks::Ranks;
use crate::run::engine::REPRODUCIBLE_PARTS;
use crate::run::engine::rank_processors::{ProcessorSet, ProcessorShare};
use crate::run::engine::threads::{check_threads, pinned};
use crate::run::plan::Plan;
use crate::run::replicas::scheduler::{Assignment, Event, Message, Scheduler};
use crate::run::session::job::Outcome;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Sender, channel};
use std::thread;

/// Distribution of replicas over MPI ranks, and over the slots of each rank. A slot runs one replica at a time; when
/// this replica has ended, the slot takes the next waiting replica. In replica exchange, each replica keeps its rank
/// and slot for the whole run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplicaPlacement {
    /// number of MPI ranks, or of groups of ranks that compute a replica together
    pub ranks: usize,
    /// number of ranks in a group
    pub ranks_per_replica: usize,
    /// number of slots of each rank
    pub at_once: usize,
    /// number of threads of each slot; all slots have the same number, so that results do not depend on the slot
    pub threads: usize,
    /// index of this MPI rank, or of its group
    rank: usize,
    /// number of slots of lower ranks that may use the same processors as this rank
    others: usize,
    /// warnings about an assignment of processors that makes the ranks slow
    pub warnings: Vec<String>,
}

/// Number of replicas that share a rank, and number of ranks that share a replica.
#[derive(Clone, Copy, Debug)]
pub struct Sharing {
    /// number of replicas that each rank runs in parallel; `None` = one per thread
    pub at_once: Option<usize>,
    /// number of ranks that compute a replica together
    pub ranks_per_replica: usize,
    /// whether replicas exchange states, so that they wait for each other
    pub is_exchange: bool,
}

/// Channel on which slots and replicas of this rank send messages to the scheduler.
pub(super) type MessageSender = Sender<Message>;

impl ReplicaPlacement {
    /// Distributes `replicas` replicas. The number of threads in `plan` is the number of threads of a rank. Each rank
    /// runs `at_once` replicas in parallel; the default is one replica per thread, or one replica if several ranks
    /// compute a replica. Every rank must call this function.
    pub fn new(plan: &Plan, sharing: Sharing, replicas: usize, ranks: &Ranks) -> Result<Self> {
        let share = ProcessorShare::new(&ranks.gather(&ProcessorSet::here()), plan.run.threads);
        ranks.agree(Self::on(ranks.rank(), share, plan, sharing, replicas))
    }

    /// Distributes `replicas` replicas, with the arguments of [`Self::new`]. `rank` is the index of this rank.
    fn on(rank: usize, share: ProcessorShare, plan: &Plan, sharing: Sharing, replicas: usize) -> Result<Self> {
        let Sharing { at_once, ranks_per_replica, is_exchange } = sharing;
        let (all, others, mut warnings) = (share.threads, share.places[rank], share.warnings);
        check_threads(all)?;
        let (groups, left) = (share.places.len() / ranks_per_replica, share.places.len() % ranks_per_replica);
        if groups == 0 || left > 0 {
            let ranks = share.places.len();
            let message =
                format!("ensemble.ranks_per_replica is {ranks_per_replica}, but the number of ranks is {ranks}");
            let help = format!(
                "start a multiple of {ranks_per_replica} ranks, for example mpirun -n {}",
                2 * ranks_per_replica
            );
            return Err(Problem::new(message).help(help).of_key(&["ensemble", "ranks_per_replica"]).into());
        }
        if ranks_per_replica > 1 && is_exchange && groups < replicas {
            let message = format!(
                "replica exchange of {replicas} replicas needs a group of {ranks_per_replica} ranks for each replica"
            );
            let help =
                format!("start at least {} ranks, so that each replica has a group", replicas * ranks_per_replica);
            return Err(Problem::new(message).help(help).into());
        }
        let (ranks, rank) = (groups, rank / ranks_per_replica);
        let given = if ranks_per_replica > 1 { 1 } else { at_once.unwrap_or(all) };
        let at_once = given.min(replicas.div_ceil(ranks)).max(1);
        if at_once > all {
            let message =
                format!("ensemble.at_once = {given} needs at least {at_once} threads, but only {all} are available");
            let help = "lower ensemble.at_once, or raise run.threads";
            return Err(Problem::new(message).help(help).of_key(&["ensemble", "at_once"]).into());
        }
        if ranks > replicas {
            let what = if ranks_per_replica > 1 { "groups of ranks" } else { "ranks" };
            warnings.push(format!(
                "{} of {ranks} {what} are idle, because the number of replicas is {replicas}",
                ranks - replicas
            ));
        }
        let most = if plan.run.reproducible { REPRODUCIBLE_PARTS } else { usize::MAX };
        let threads = (all / at_once).min(most);
        let others = others * at_once;
        let spread = ReplicaPlacement { ranks, ranks_per_replica, at_once, threads, rank, others, warnings };
        if plan.run.pin {
            pinned(spread.threads, spread.before(at_once - 1))?;
        }
        Ok(spread)
    }

    /// Describes the ranks to which a replica is assigned in replica exchange; empty if there is only one rank.
    pub fn place_of(&self, replica: usize) -> String {
        let first = replica % self.ranks * self.ranks_per_replica;
        match self.ranks_per_replica {
            1 if self.ranks == 1 => String::new(),
            1 => format!(", on rank {first}"),
            size => format!(", on ranks {first} to {}", first + size - 1),
        }
    }

    /// Returns the indices of the replicas that are assigned to this rank in a replica exchange with `replicas`
    /// replicas. In replica exchange each replica has its own thread, since replicas wait for each other.
    pub(super) fn own(&self, replicas: usize) -> Assignment {
        (self.rank.min(replicas)..replicas).step_by(self.ranks)
    }

    /// Returns the slot to which a replica of this rank is assigned.
    pub(super) fn slot_of(&self, replica: usize) -> usize {
        replica / self.ranks % self.at_once
    }

    /// Returns the number of slots before `slot`, on this rank and on lower ranks, that may use the same processors.
    pub(super) fn before(&self, slot: usize) -> usize {
        self.others + slot
    }

    /// Describes the distribution of replicas over ranks and slots, for the log.
    pub fn describe(&self) -> String {
        let ReplicaPlacement { ranks, ranks_per_replica, at_once, threads, .. } = self;
        let threads = counted(*threads, "thread");
        match ranks {
            _ if *ranks_per_replica > 1 => {
                format!("{ranks} at once, each on a group of {ranks_per_replica} ranks with {threads} each")
            }
            1 => format!("{at_once} at once with {threads} each"),
            _ => format!("{at_once} at once on each of {ranks} ranks with {threads} each"),
        }
    }

    /// Calls `work` for each replica that the scheduler assigns to a slot of this rank, in `threads` threads. If `work`
    /// panics, the replica ends with an error. Every rank must call this function. The function returns when all
    /// replicas have ended.
    pub(super) fn run<W: FnMut(Option<(usize, Event)>)>(
        threads: usize,
        mut scheduler: Scheduler<'_, W>,
        work: impl Fn(usize, usize, &MessageSender) -> Result<Outcome> + Sync,
    ) -> Result<()> {
        // sending a message fails only if the scheduler has panicked
        let serve = |slot: usize, messages: MessageSender| -> Option<()> {
            loop {
                let (answer, next) = channel();
                messages.send(Message::Free(answer)).ok()?;
                let index = next.recv().ok()??;
                messages.send(Message::Happened(index, Event::Begun)).ok()?;
                let end = catch_unwind(AssertUnwindSafe(|| work(index, slot, &messages)));
                let end = end.unwrap_or_else(|panic| Err(Error::Internal(format!("panic: {}", words(&*panic)))));
                messages.send(Message::Happened(index, Event::Ended(end))).ok()?;
            }
        };
        thread::scope(|scope| {
            let (messages, received) = channel();
            let start = |slot: usize| {
                let (messages, serve) = (messages.clone(), &serve);
                let thread = thread::Builder::new().name(format!("md-slot-{slot}"));
                thread.spawn_scoped(scope, move || serve(slot, messages)).map(|_| ())
            };
            let started = (0..threads).try_for_each(start);
            drop(messages);
            if started.is_err() {
                // if a thread cannot start, the scheduler stops the other threads in the same way as after a request to
                // stop
                scheduler.stop();
            }
            let served = scheduler.serve(&received);
            started.map_err(|error| Error::Device(format!("cannot start a thread for each replica: {error}")))?;
            served
        })
    }
}

/// Returns the message with which a thread panicked.
fn words(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("without words")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::control::signals::Requests;
    use crate::run::plan::RunOptions;
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicBool, Ordering};

    fn plan(run: RunOptions) -> Plan {
        Plan { run, ..Plan::default() }
    }

    /// Distributes replicas and returns the [`ReplicaPlacement`] of the last rank. `places` has, for each rank, the
    /// number of lower ranks on the same processors.
    fn spread(run: RunOptions, at_once: Option<usize>, replicas: usize, places: &[usize]) -> Result<ReplicaPlacement> {
        let share = ProcessorShare { threads: run.threads.unwrap(), places: places.to_vec(), warnings: vec![] };
        let sharing = Sharing { at_once, ranks_per_replica: 1, is_exchange: false };
        ReplicaPlacement::on(places.len() - 1, share, &plan(run), sharing, replicas)
    }

    #[test]
    fn ranks_are_divided_into_groups() {
        let run = RunOptions { threads: Some(3), ..RunOptions::default() };
        let on = |ranks: usize, size: usize, replicas: usize, is_exchange: bool| {
            let share = ProcessorShare { threads: 3, places: (0..ranks).collect(), warnings: vec![] };
            let sharing = Sharing { at_once: None, ranks_per_replica: size, is_exchange };
            ReplicaPlacement::on(ranks - 1, share, &plan(run.clone()), sharing, replicas)
        };
        let groups = on(6, 2, 5, false).unwrap();
        assert_eq!((groups.ranks, groups.rank, groups.at_once, groups.threads, groups.before(0)), (3, 2, 1, 3, 5));
        assert_eq!(groups.describe(), "3 at once, each on a group of 2 ranks with 3 threads each");
        let refusal = |ranks, size, is_exchange| on(ranks, size, 3, is_exchange).unwrap_err().to_string();
        assert!(refusal(5, 2, false).contains("ranks_per_replica is 2, but the number of ranks is 5"));
        assert!(refusal(1, 2, false).contains("mpirun -n 4"));
        // replicas that exchange states wait for each other, so each replica needs its own group of ranks
        assert!(on(6, 2, 3, true).is_ok() && refusal(4, 2, true).contains("start at least 6 ranks"));
    }

    #[test]
    fn threads_are_shared_equally() {
        let threads = |threads| RunOptions { threads: Some(threads), ..RunOptions::default() };
        let numbers = |all, at_once, replicas| {
            spread(threads(all), at_once, replicas, &[0]).map(|spread| (spread.at_once, spread.threads))
        };
        assert_eq!(numbers(8, None, 4).unwrap(), (4, 2));
        assert_eq!(numbers(8, None, 100).unwrap(), (8, 1));
        assert_eq!(numbers(8, Some(3), 100).unwrap(), (3, 2));
        assert_eq!(numbers(8, Some(3), 2).unwrap(), (2, 4));
        let refusal = numbers(2, Some(3), 4).unwrap_err().to_string();
        assert!(refusal.contains("at_once = 3 needs at least 3 threads, but only 2 are available"), "{refusal}");
        let refusal = numbers(1, Some(5), 2).unwrap_err().to_string();
        assert!(refusal.contains("at_once = 5 needs at least 2 threads, but only 1 are available"), "{refusal}");
        // with `run.reproducible` a slot has at most 16 threads; the 8 threads of this test are below this limit
        let run = RunOptions { reproducible: true, ..threads(8) };
        assert_eq!(spread(run, Some(1), 1, &[0]).unwrap().threads, 8);
    }

    #[test]
    fn replicas_are_shared_by_ranks() {
        let threads = RunOptions { threads: Some(4), ..RunOptions::default() };
        let three = spread(threads.clone(), None, 5, &[0, 0, 1]).unwrap();
        assert_eq!((three.ranks, three.at_once, three.threads, three.before(1)), (3, 2, 2, 3));
        assert_eq!(three.describe(), "2 at once on each of 3 ranks with 2 threads each");
        assert_eq!(three.warnings, [""; 0]);
        // in replica exchange replicas are assigned to ranks and slots for the whole run. The tested rank is the last
        // of three ranks and has two slots
        assert_eq!(three.own(9).collect::<Vec<_>>(), [2, 5, 8]);
        assert_eq!(
            [2, 5, 8].map(|replica| (three.place_of(replica), three.slot_of(replica))),
            [0, 1, 0].map(|slot| (", on rank 2".to_owned(), slot))
        );
        assert_eq!(three.own(1).len(), 0);
        let idle = spread(threads, None, 1, &[0, 0, 0]).unwrap();
        assert_eq!((idle.at_once, idle.threads), (1, 4));
        assert_eq!(idle.warnings, ["2 of 3 ranks are idle, because the number of replicas is 1"]);
    }

    /// Runs replicas in `at_once` slots of one rank. Returns how each replica ended, according to the events that the
    /// scheduler reports.
    fn ends(
        at_once: usize,
        replicas: usize,
        work: impl Fn(usize, usize, &MessageSender) -> Result<Outcome> + Sync,
    ) -> Vec<Option<Result<Outcome>>> {
        let mut ends: Vec<_> = (0..replicas).map(|_| None).collect();
        let on_event = |event| {
            if let Some((index, Event::Ended(end))) = event {
                ends[index] = Some(end);
            }
        };
        let (ranks, requests) = (Ranks::alone(), Requests::default());
        ReplicaPlacement::run(
            at_once,
            Scheduler::new(&ranks, &requests, (0..replicas).step_by(1), None, on_event),
            work,
        )
        .unwrap();
        ends
    }

    #[test]
    fn a_panic_ends_its_replica_only() {
        let work = |index: usize, _: usize, _: &MessageSender| {
            assert!(index != 1, "replica {index} has a defect");
            Ok(Outcome::Finished)
        };
        let ends = ends(2, 5, work);
        for (index, end) in ends.into_iter().enumerate() {
            match end.unwrap() {
                Err(error) => assert!(index == 1 && error.to_string().contains("panic: replica 1 has a defect")),
                Ok(outcome) => assert!(index != 1 && outcome == Outcome::Finished),
            }
        }
    }

    #[test]
    fn as_many_as_slots_run_at_once_each_in_its_own() {
        // each of the two replicas waits for the other, so the test would never end if the replicas ran one after the
        // other
        let (both, slots) = (Barrier::new(2), [AtomicBool::new(false), AtomicBool::new(false)]);
        let work = |_: usize, slot: usize, _: &MessageSender| {
            both.wait();
            assert!(!slots[slot].swap(true, Ordering::SeqCst), "two in slot {slot}");
            both.wait();
            slots[slot].store(false, Ordering::SeqCst);
            both.wait();
            Ok(Outcome::Finished)
        };
        assert!(ends(2, 4, work).iter().all(|end| matches!(end, Some(Ok(_)))));
    }

    #[test]
    fn none_begins_after_one_was_stopped() {
        let work =
            |index, _: usize, _: &MessageSender| Ok(if index == 1 { Outcome::Stopped } else { Outcome::Finished });
        let ends = ends(1, 4, work);
        assert!(matches!(ends[..], [Some(Ok(Outcome::Finished)), Some(Ok(Outcome::Stopped)), None, None]), "{ends:?}");
    }
}
