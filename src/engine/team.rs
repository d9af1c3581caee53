//! Parallel regions with low latency: a thread team whose workers spin between regions.
//!
//! A time step has about a dozen parallel regions of 20 to 3000 µs each. Rayon's workers sleep after about ten idle
//! microseconds. Waking a worker takes 5 µs, or 30 to 50 µs in a virtual machine. In rayon the wake-up of a worker
//! delays the start of a region, and also the end of the region if the waiting thread sleeps. The workers of a [`Team`]
//! spin between the regions of a step, and sleep only after a timeout.
//!
//! The work of a region is a parallel iterator of rayon, split into a few pieces per thread. The piece with a given
//! index goes to the same thread in every region, because the cache of this thread may still hold the data of the
//! piece. Idle threads take over pieces of busy threads.
//!
//! A cache line that one processor has written reaches another processor after 50 to 300 ns, and writes of several
//! processors to the same line wait for each other. For this reason every thread has separate cache lines for the count
//! of its pieces and for a mark that the thread is inside a region. At the start and the end of a region, no cache line
//! is written by more than one thread.

use crossbeam_utils::CachePadded;
use rayon::iter::IndexedParallelIterator;
use rayon::iter::plumbing::{Producer, ProducerCallback};
use std::any::Any;
use std::cell::UnsafeCell;
use std::hint::spin_loop;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread::{JoinHandle, yield_now};
use std::time::{Duration, Instant};

/// Number of pieces of a region per thread. Several pieces per thread balance the load.
const PIECES_PER_THREAD: usize = 4;
/// Maximum number of pieces of a region, and hence of threads that take part.
const MOST_PIECES: usize = 128;
/// Factor by which [`Claims`] multiplies the number of a region; the factor is larger than the number of pieces.
const REGION: usize = 2 * MOST_PIECES;
/// Time without work after which a spinning worker sleeps. The timeout is longer than the pauses within a step, and so
/// short that little CPU time is wasted.
const SPIN_TIMEOUT: Duration = Duration::from_micros(100);
/// Number of polls between two readings of the clock; the polls take about a microsecond.
const SPIN_LIMIT: usize = 32;

/// Thread team: the calling thread and its workers.
pub struct Team {
    shared: Arc<Shared>,
    workers: Vec<JoinHandle<()>>,
    /// claimed pieces of each thread, including the leader
    claims: Box<[CachePadded<Claims>]>,
    /// lock that the leader holds while the leader runs a region
    turn: Mutex<()>,
}

/// Function that one thread of a team runs in a region; the arguments are the number of the thread and the number of
/// the region.
type Work = dyn Fn(usize, usize) + Sync;

/// State shared by leader and workers.
struct Shared {
    /// region number, which is odd while a region is open; no number is used twice
    region: CachePadded<AtomicUsize>,
    /// number of the region whose work each worker may read or run; zero if the worker is outside of a region
    inside: Box<[CachePadded<AtomicUsize>]>,
    /// pointer to the work of the open region
    work: UnsafeCell<*const Work>,
    stopped: AtomicBool,
    /// number of workers that wait for `condvar`
    asleep: AtomicUsize,
    condvar: Condvar,
    mutex: Mutex<()>,
    /// first panic of a worker in the current region
    panic: CachePadded<Mutex<Option<Box<dyn Any + Send>>>>,
}

// SAFETY: the only field that is not `Sync` is `work`. At any time at most one thread is the leader, which holds the
// lock `turn`. The leader writes `work` while no region is open and no worker is inside a region. Workers store the
// number of the region in `inside`, check that the region is still open, and only then read `work`. The leader waits
// for all workers inside the region before the leader writes `work` again. `work` points to a `Sync` value.
unsafe impl Sync for Shared {}
// SAFETY: see the implementation of `Sync`; the value behind `work` may be used from any thread.
unsafe impl Send for Shared {}

impl Team {
    /// Creates a team of `threads` threads, including the calling thread. Each new thread first calls `start` with
    /// its number (from 1).
    pub fn new(threads: usize, start: impl Fn(usize) + Send + Clone + 'static) -> std::io::Result<Self> {
        let mut team = Team::of(threads.max(1));
        for number in 1..threads {
            let (shared, start) = (Arc::clone(&team.shared), start.clone());
            let serve = move || {
                start(number);
                shared.serve(number);
            };
            team.workers.push(std::thread::Builder::new().name(format!("md-team-{number}")).spawn(serve)?);
        }
        Ok(team)
    }

    /// Creates a team of the calling thread only.
    pub fn single() -> Arc<Self> {
        Arc::new(Team::of(1))
    }

    /// Creates a team for `threads` threads, whose workers have not been started.
    fn of(threads: usize) -> Self {
        let claims = (0..threads).map(|_| CachePadded::default()).collect();
        Team { shared: Shared::new(threads - 1), workers: vec![], claims, turn: Mutex::new(()) }
    }

    /// Returns the number of threads, including the calling thread.
    pub fn threads(&self) -> usize {
        1 + self.workers.len()
    }

    /// Calls `work` on each item, as `items.for_each(work)` does. The calling thread does all the work alone if the
    /// thread is already inside a region of the same team, or if another thread leads a region.
    pub fn for_each<I: IndexedParallelIterator>(&self, items: I, work: impl Fn(I::Item) + Sync) {
        let turn = match self.turn.try_lock() {
            _ if self.workers.is_empty() => None,
            Ok(turn) => Some(turn),
            // a leader that panics closes its region first, so a poisoned lock can be used
            Err(TryLockError::Poisoned(turn)) => Some(turn.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        };
        let length = items.len();
        items.with_producer(Region { team: self, turn, length, work });
    }

    /// Calls `work` on every thread at the same time, and returns when all threads are done.
    fn run(&self, _turn: MutexGuard<'_, ()>, work: &(dyn Fn(usize, usize) + Sync)) {
        let shared = &*self.shared;
        // SAFETY: see the implementation of `Sync` for `Shared`. The lifetime can be erased, because no thread reads
        // `work` after this function: `Open` closes the region and waits for all workers before this function returns,
        // even after a panic
        unsafe { *shared.work.get() = std::mem::transmute::<*const (dyn Fn(usize, usize) + Sync), *const Work>(work) };
        // an earlier region in which both a worker and the leader panicked may have left the panic of the worker
        *locked(&shared.panic) = None;
        let open = Open::new(shared);
        work(0, open.region);
        drop(open);
        if let Some(panic) = locked(&shared.panic).take() {
            resume_unwind(panic);
        }
    }
}

impl Drop for Team {
    fn drop(&mut self) {
        self.shared.stopped.store(true, SeqCst);
        self.shared.wake_sleeping();
        for worker in self.workers.drain(..) {
            // the worker's panics have been propagated already
            let _ = worker.join();
        }
    }
}

/// Guard of an open region. Dropping the guard closes the region.
struct Open<'a> {
    shared: &'a Shared,
    region: usize,
}

impl<'a> Open<'a> {
    fn new(shared: &'a Shared) -> Self {
        let region = shared.region.fetch_add(1, SeqCst) + 1;
        shared.wake_sleeping();
        Open { shared, region }
    }
}

impl Drop for Open<'_> {
    /// Closes the region, and waits until no worker is inside.
    fn drop(&mut self) {
        self.shared.region.fetch_add(1, SeqCst);
        for inside in &self.shared.inside {
            while spin_until(|| (inside.load(SeqCst) != self.region).then_some(())).is_none() {
                yield_now();
            }
        }
    }
}

impl Shared {
    fn new(workers: usize) -> Arc<Self> {
        Arc::new(Shared {
            region: CachePadded::default(),
            inside: (0..workers).map(|_| CachePadded::default()).collect(),
            work: UnsafeCell::new(&|_: usize, _: usize| ()),
            stopped: AtomicBool::new(false),
            asleep: AtomicUsize::new(0),
            condvar: Condvar::new(),
            mutex: Mutex::new(()),
            panic: CachePadded::default(),
        })
    }

    /// Runs the work of every region until the team is released: the main loop of a worker.
    fn serve(&self, number: usize) {
        let (mut last, inside) = (0, &self.inside[number - 1]);
        while let Some(region) = self.next(last) {
            inside.store(region, SeqCst);
            // the region is still open (its number is odd)
            if self.region.load(SeqCst) == region {
                // SAFETY: see the implementation of `Sync` for `Shared`
                let work = unsafe { &**self.work.get() };
                if let Err(panic) = catch_unwind(AssertUnwindSafe(|| work(number, region))) {
                    locked(&self.panic).get_or_insert(panic);
                }
            }
            inside.store(0, SeqCst);
            last = region;
        }
    }

    /// Waits for the next open region after `last`, and returns its number; `None` when the team is released.
    fn next(&self, last: usize) -> Option<usize> {
        let start = Instant::now();
        loop {
            let found = spin_until(|| self.called(last));
            if found.is_some() {
                return found.filter(|_| !self.stopped.load(SeqCst));
            }
            if start.elapsed() < SPIN_TIMEOUT {
                // yield, because other threads may need this processor
                yield_now();
                continue;
            }
            let mut mutex = locked(&self.mutex);
            self.asleep.fetch_add(1, SeqCst);
            while self.called(last).is_none() {
                mutex = self.condvar.wait(mutex).unwrap_or_else(PoisonError::into_inner);
            }
            self.asleep.fetch_sub(1, SeqCst);
        }
    }

    /// Returns the number of the open region. `None` if no region is open, or if the open region is region `last`,
    /// whose work this thread has already done. When the team is released, an arbitrary number is returned.
    fn called(&self, last: usize) -> Option<usize> {
        let region = self.region.load(SeqCst);
        (region % 2 == 1 && region != last || self.stopped.load(SeqCst)).then_some(region)
    }

    /// Wakes sleeping workers. A worker increments `asleep` before its last check of the region number. For this reason
    /// either the worker sees the new region, or the caller of `wake_sleeping` sees that the worker is asleep.
    fn wake_sleeping(&self) {
        if self.asleep.load(SeqCst) > 0 {
            let _guard = locked(&self.mutex);
            self.condvar.notify_all();
        }
    }
}

/// Polls `find` for about a microsecond.
fn spin_until<T>(find: impl Fn() -> Option<T>) -> Option<T> {
    (0..SPIN_LIMIT).find_map(|_| {
        let found = find();
        if found.is_none() {
            spin_loop();
        }
        found
    })
}

/// Locks a mutex and ignores poisoning, for data that stay valid after a panic.
pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Counter of the pieces of one thread that have been claimed in a region. Any thread of the team may claim a piece.
#[derive(Default)]
struct Claims(AtomicUsize);

impl Claims {
    /// Claims one of `pieces` in a region, and returns the index of the piece; `None` if all pieces have been claimed.
    /// The counter is the number of the region times [`REGION`] plus the number of claimed pieces, so that a new region
    /// does not need to reset the counter.
    fn claim(&self, region: usize, pieces: Range<usize>) -> Option<usize> {
        let claimed = |counter: usize| if counter / REGION == region { counter % REGION } else { 0 };
        let claim = |counter| (claimed(counter) < pieces.len()).then(|| region * REGION + claimed(counter) + 1);
        // a failed claim only reads the counter, so that the counter stays in the caches of all threads
        let counter = self.0.fetch_update(SeqCst, SeqCst, claim).ok()?;
        Some(pieces.start + claimed(counter))
    }
}

/// Pieces of a region, each of which is taken by the thread that has claimed it.
struct Pieces<P>([UnsafeCell<Option<P>>; MOST_PIECES]);

// SAFETY: no piece is accessed by two threads, because every piece is claimed once ([`Claims::claim`])
unsafe impl<P: Send> Sync for Pieces<P> {}

impl<P> Pieces<P> {
    /// Takes a piece that this thread has claimed.
    ///
    /// # Safety
    ///
    /// The caller has claimed the piece `index`.
    unsafe fn take(&self, index: usize) -> Option<P> {
        // SAFETY: the caller has claimed the piece, so that no other thread accesses it
        unsafe { (*self.0[index].get()).take() }
    }
}

/// State of a call of [`Team::for_each`].
struct Region<'a, W> {
    team: &'a Team,
    turn: Option<MutexGuard<'a, ()>>,
    length: usize,
    work: W,
}

impl<T, W: Fn(T) + Sync> ProducerCallback<T> for Region<'_, W> {
    type Output = ();

    fn callback<P: Producer<Item = T>>(self, producer: P) {
        let Region { team, turn, length, work } = self;
        let threads = team.threads();
        let count = length.min(PIECES_PER_THREAD * threads).min(MOST_PIECES);
        let Some(turn) = turn.filter(|_| count > 1) else {
            return producer.into_iter().for_each(work);
        };
        let mut pieces = Pieces([const { UnsafeCell::new(None) }; MOST_PIECES]);
        let mut rest = producer;
        for (k, piece) in pieces.0[..count - 1].iter_mut().enumerate() {
            let (first, others) = rest.split_at(length * (k + 1) / count - length * k / count);
            *piece.get_mut() = Some(first);
            rest = others;
        }
        *pieces.0[count - 1].get_mut() = Some(rest);
        team.run(turn, &|thread, region| {
            // a thread first claims its own pieces, and then the pieces of the next threads
            for owner in (thread..threads).chain(0..thread) {
                let own = owner * count / threads..(owner + 1) * count / threads;
                while let Some(index) = team.claims[owner].claim(region, own.clone()) {
                    // SAFETY: this thread has just claimed the piece
                    if let Some(piece) = unsafe { pieces.take(index) } {
                        piece.into_iter().for_each(&work);
                    }
                }
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rayon::prelude::*;

    fn team(threads: usize) -> Team {
        Team::new(threads, |_| ()).expect("threads")
    }

    #[test]
    fn every_item_is_met_once_whatever_the_numbers() {
        for threads in [1, 2, 3, 7] {
            let team = team(threads);
            for length in [0, 1, 2, 3, 5, 8, 29, 1000] {
                let mut items = vec![0usize; length];
                for round in 0..20 {
                    let others: Vec<usize> = (0..length).map(|k| k + round).collect();
                    team.for_each(items.par_iter_mut().zip(&others).enumerate(), |(k, (item, other))| {
                        *item += 1000 * k + other;
                    });
                }
                for (k, &item) in items.iter().enumerate() {
                    assert_eq!(item, 20 * (1001 * k) + 190, "item {k} of {length} on {threads} threads");
                }
            }
        }
    }

    #[test]
    fn threads_work_at_the_same_time() {
        let team = team(3);
        let arrived = AtomicUsize::new(0);
        // each of three items waits for the others, so that one thread alone would never finish
        team.for_each((0..3).into_par_iter(), |_| {
            arrived.fetch_add(1, SeqCst);
            while arrived.load(SeqCst) < 3 {
                yield_now();
            }
        });
    }

    #[test]
    fn members_come_back_after_a_sleep() {
        let team = team(2);
        for _ in 0..5 {
            threads_of(&team, 2);
            while team.shared.asleep.load(SeqCst) == 0 {
                yield_now();
            }
        }
    }

    /// Runs `count` work items that wait for each other.
    fn threads_of(team: &Team, count: usize) {
        let arrived = AtomicUsize::new(0);
        team.for_each((0..count).into_par_iter(), |_| {
            arrived.fetch_add(1, SeqCst);
            while arrived.load(SeqCst) < count {
                yield_now();
            }
        });
    }

    #[test]
    fn nobody_works_in_a_region_that_is_closed() {
        let team = team(4);
        for round in 0..50_000 {
            // each region has separate work and ends before most workers arrive
            let sum = AtomicUsize::new(0);
            team.for_each((0..3).into_par_iter(), |k| {
                sum.fetch_add(round + k, SeqCst);
            });
            assert_eq!(sum.into_inner(), 3 * round + 3);
        }
    }

    #[test]
    fn a_region_within_a_region_is_done_by_its_thread() {
        let team = team(2);
        let sum = AtomicUsize::new(0);
        team.for_each((0..10usize).into_par_iter(), |a| {
            team.for_each((0..10usize).into_par_iter(), |b| {
                sum.fetch_add(a * b, SeqCst);
            });
        });
        assert_eq!(sum.into_inner(), 45 * 45);
    }

    #[test]
    fn several_leaders_do_not_disturb_each_other() {
        let team = team(2);
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        let mut items = vec![0u32; 50];
                        team.for_each(items.par_iter_mut(), |item| *item += 1);
                        assert!(items.iter().all(|&item| item == 1));
                    }
                });
            }
        });
    }

    #[test]
    fn panics_reach_the_caller_and_the_team_goes_on() {
        let team = team(2);
        for panicking in [0, 1] {
            let arrived = AtomicUsize::new(0);
            let work = |k: usize| {
                arrived.fetch_add(1, SeqCst);
                while arrived.load(SeqCst) < 2 {
                    yield_now();
                }
                assert!(k != panicking, "on purpose");
            };
            let region = AssertUnwindSafe(|| team.for_each((0..2).into_par_iter(), work));
            assert!(catch_unwind(region).is_err(), "item {panicking}");
        }
        threads_of(&team, 2);
    }
}
