//! Which replica runs where: the one place that decides it.

use crate::error::{Error, Problem, Result};
use crate::run::engine::REPRODUCIBLE_PARTS;
use crate::run::job::Outcome;
use crate::run::plan::Plan;
use crate::run::threads::{check_threads, pinned};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

/// Time between two looks at replicas of which nothing is heard.
const LOOK: Duration = Duration::from_millis(500);

/// Replicas side by side on this machine. Each runs in a slot, which takes the next one when it has finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spread {
    /// slots
    pub at_once: usize,
    /// threads of each slot: the same for all, so that results do not depend on the slot
    pub threads: usize,
}

/// What happens to a replica.
#[derive(Debug)]
pub(super) enum Event {
    Begun,
    Warning(String),
    Ended(Result<Outcome>),
}

/// Tells what happens to the replica of this index.
pub(super) type Tell = Sender<(usize, Event)>;

impl Spread {
    /// Of so many replicas with this plan, whose threads are those of all; as many side by side as `at_once` says, or else as
    /// there are threads.
    pub fn new(plan: &Plan, at_once: Option<usize>, replicas: usize) -> Result<Self> {
        let available = thread::available_parallelism().map_or(1, usize::from);
        let all = plan.run.threads.unwrap_or(available);
        check_threads(all)?;
        let at_once = at_once.unwrap_or(all).min(replicas).max(1);
        if at_once > all {
            let message =
                format!("ensemble.at_once: {at_once} replicas side by side need a thread each, and there are {all}");
            return Err(Problem::new(message).help("lower ensemble.at_once, or raise run.threads").into());
        }
        let most = if plan.run.reproducible { REPRODUCIBLE_PARTS } else { usize::MAX };
        let spread = Spread { at_once, threads: (all / at_once).min(most) };
        if plan.run.pin {
            pinned(spread.threads, at_once - 1)?;
        }
        Ok(spread)
    }

    /// In words.
    pub fn describe(&self) -> String {
        let plural = if self.threads == 1 { "" } else { "s" };
        format!("{} at once with {} thread{plural} each", self.at_once, self.threads)
    }

    /// Does `work` on the replica of each index in its slot, in order, until one is stopped or `is_stopped`; a panic is an
    /// error of that replica. `watch` is told what happens, and now and then called with nothing.
    pub(super) fn run(
        &self,
        replicas: usize,
        is_stopped: impl Fn() -> bool + Sync,
        work: impl Fn(usize, usize, &Tell) -> Result<Outcome> + Sync,
        mut watch: impl FnMut(Option<(usize, Event)>),
    ) -> Result<()> {
        let (next, stopped) = (AtomicUsize::new(0), AtomicBool::new(false));
        let serve = |slot: usize, tell: Tell| {
            while !stopped.load(Ordering::Relaxed) && !is_stopped() {
                let index = next.fetch_add(1, Ordering::Relaxed);
                if index >= replicas {
                    break;
                }
                // nobody listens only where the watching thread has panicked
                let _ = tell.send((index, Event::Begun));
                let end = catch_unwind(AssertUnwindSafe(|| work(index, slot, &tell)));
                let end = end.unwrap_or_else(|panic| Err(Error::Internal(format!("panic: {}", words(&*panic)))));
                if matches!(end, Ok(Outcome::Stopped)) {
                    stopped.store(true, Ordering::Relaxed);
                }
                let _ = tell.send((index, Event::Ended(end)));
            }
        };
        thread::scope(|scope| {
            let (tell, events) = channel();
            let start = |slot: usize| {
                let (tell, serve) = (tell.clone(), &serve);
                let thread = thread::Builder::new().name(format!("md-slot-{slot}"));
                thread.spawn_scoped(scope, move || serve(slot, tell)).map(|_| ())
            };
            let started = (0..self.at_once).try_for_each(start);
            // those that did start end as if asked to
            stopped.fetch_or(started.is_err(), Ordering::Relaxed);
            drop(tell);
            loop {
                match events.recv_timeout(LOOK) {
                    Ok(event) => watch(Some(event)),
                    Err(RecvTimeoutError::Timeout) => watch(None),
                    Err(RecvTimeoutError::Disconnected) => break,
                }
            }
            started.map_err(|error| Error::Device(format!("cannot start a thread for each replica: {error}")))
        })
    }
}

/// What a panic says.
fn words(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("without words")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::plan::RunOptions;
    use std::sync::Barrier;

    fn plan(run: RunOptions) -> Plan {
        Plan { run, ..Plan::default() }
    }

    #[test]
    fn threads_are_shared_equally() {
        let threads = |threads| plan(RunOptions { threads: Some(threads), ..RunOptions::default() });
        let spread = |all, at_once, replicas| {
            Spread::new(&threads(all), at_once, replicas).map(|spread| (spread.at_once, spread.threads))
        };
        assert_eq!(spread(8, None, 4).unwrap(), (4, 2));
        assert_eq!(spread(8, None, 100).unwrap(), (8, 1));
        assert_eq!(spread(8, Some(3), 100).unwrap(), (3, 2));
        assert_eq!(spread(8, Some(3), 2).unwrap(), (2, 4));
        let refusal = spread(2, Some(3), 4).unwrap_err().to_string();
        assert!(refusal.contains("3 replicas side by side need a thread each, and there are 2"), "{refusal}");
        // more than run.reproducible can use
        let run = RunOptions { threads: Some(8), reproducible: true, ..RunOptions::default() };
        assert_eq!(Spread::new(&plan(run), Some(1), 1).unwrap().threads, 8);
    }

    /// The ends that the watching thread hears of, by replica.
    fn ends(
        spread: Spread,
        replicas: usize,
        work: impl Fn(usize, usize, &Tell) -> Result<Outcome> + Sync,
    ) -> Vec<Option<Result<Outcome>>> {
        let mut ends: Vec<_> = (0..replicas).map(|_| None).collect();
        let watch = |event| {
            if let Some((index, Event::Ended(end))) = event {
                ends[index] = Some(end);
            }
        };
        spread.run(replicas, || false, work, watch).unwrap();
        ends
    }

    #[test]
    fn a_panic_ends_its_replica_only() {
        let work = |index: usize, _: usize, _: &Tell| {
            assert!(index != 1, "replica {index} has a defect");
            Ok(Outcome::Finished)
        };
        let ends = ends(Spread { at_once: 2, threads: 1 }, 5, work);
        for (index, end) in ends.into_iter().enumerate() {
            match end.unwrap() {
                Err(error) => assert!(index == 1 && error.to_string().contains("panic: replica 1 has a defect")),
                Ok(outcome) => assert!(index != 1 && outcome == Outcome::Finished),
            }
        }
    }

    #[test]
    fn as_many_as_slots_run_at_once_each_in_its_own() {
        // each pair of replicas waits for the other: they would wait for ever if they ran one by one, or in one slot
        let (both, slots) = (Barrier::new(2), [AtomicBool::new(false), AtomicBool::new(false)]);
        let work = |_: usize, slot: usize, _: &Tell| {
            both.wait();
            assert!(!slots[slot].swap(true, Ordering::SeqCst), "two in slot {slot}");
            both.wait();
            slots[slot].store(false, Ordering::SeqCst);
            both.wait();
            Ok(Outcome::Finished)
        };
        assert!(ends(Spread { at_once: 2, threads: 1 }, 4, work).iter().all(|end| matches!(end, Some(Ok(_)))));
    }

    #[test]
    fn none_begins_after_one_was_stopped() {
        let work = |index, _: usize, _: &Tell| Ok(if index == 1 { Outcome::Stopped } else { Outcome::Finished });
        let ends = ends(Spread { at_once: 1, threads: 1 }, 4, work);
        assert!(matches!(ends[..], [Some(Ok(Outcome::Finished)), Some(Ok(Outcome::Stopped)), None, None]), "{ends:?}");
    }
}
