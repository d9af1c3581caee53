//! Model check of the thread protocol in `src/engine/team.rs` over all interleavings, with `loom`.
//!
//! The model has the fields and steps of `Shared`, `Open`, `serve`, `next` and `Claims` under the same names. The work
//! of a region is a few pieces, and all pieces belong to the leader, so that members can only take over pieces. In the
//! model, members check for work once before they sleep, as if their spin time had expired. `loom` does not model the
//! total order of `SeqCst` accesses, so the model has a fence between the two accesses whose order the protocol needs.

use loom::cell::UnsafeCell;
use loom::sync::atomic::Ordering::SeqCst;
use loom::sync::atomic::{AtomicBool, AtomicUsize, fence};
use loom::sync::{Arc, Condvar, Mutex};
use loom::thread;

/// Maximum number of preemptions per execution. Bugs of such protocols need one or two (Musuvathi and Qadeer 2007,
/// doi:10.1145/1250734.1250785).
const PREEMPTIONS: usize = 3;
/// Maximum number of preemptions per execution for two members, with which a third preemption takes twenty times as
/// long.
const FEWER: usize = 2;

struct Shared {
    region: AtomicUsize,
    /// number of the region in which each member is; zero outside regions
    inside: Vec<AtomicUsize>,
    /// number of the parallel region to which the work belongs; [`NO_WORK`] after the region has ended
    work: UnsafeCell<usize>,
    /// number of the region that has taken each piece
    pieces: [UnsafeCell<usize>; PIECES],
    /// number of the claimed pieces, below the number of the region
    claims: AtomicUsize,
    asleep: AtomicUsize,
    condvar: Condvar,
    mutex: Mutex<()>,
    stopped: AtomicBool,
    /// whether members check again that the region is open after storing its number in `inside`, as in the real
    /// protocol
    looks_again: bool,
}

/// Value of `work` that is not the number of any region.
const NO_WORK: usize = usize::MAX;
/// Number of pieces of a region.
const PIECES: usize = 2;
/// Factor of the number of a region in `claims`, larger than the number of pieces.
const REGION: usize = 4;

impl Shared {
    /// Runs a parallel region as the leader of the team.
    fn run(&self) {
        let region = self.region.load(SeqCst) + 1;
        self.work.with_mut(|work| {
            // SAFETY: `loom` reports an error if another thread accesses the cell at the same time
            unsafe { *work = region }
        });
        self.region.fetch_add(1, SeqCst);
        self.wake_sleeping();
        self.take_pieces(region);
        // the leader closes the region
        self.region.fetch_add(1, SeqCst);
        fence(SeqCst);
        for inside in &self.inside {
            while inside.load(SeqCst) == region {
                thread::yield_now();
            }
        }
        for piece in &self.pieces {
            // SAFETY: `loom` reports an error if another thread accesses the cell at the same time
            assert_eq!(piece.with(|piece| unsafe { *piece }), region, "a piece that no thread has taken");
        }
        self.work.with_mut(|work| {
            // SAFETY: `loom` reports an error if another thread accesses the cell at the same time
            unsafe { *work = NO_WORK }
        });
    }

    fn wake_sleeping(&self) {
        fence(SeqCst);
        if self.asleep.load(SeqCst) > 0 {
            let _guard = self.mutex.lock().expect("no panic");
            self.condvar.notify_all();
        }
    }

    /// Claims and takes pieces of a region until all have been claimed.
    fn take_pieces(&self, region: usize) {
        while let Some(index) = self.claim(region) {
            self.pieces[index].with_mut(|piece| {
                // SAFETY: `loom` reports an error if another thread accesses the cell at the same time
                let taken = unsafe { std::mem::replace(&mut *piece, region) };
                assert!(taken < region, "a piece that was taken before");
            });
        }
    }

    fn claim(&self, region: usize) -> Option<usize> {
        let claimed = |counter: usize| if counter / REGION == region { counter % REGION } else { 0 };
        let claim = |counter| (claimed(counter) < PIECES).then(|| region * REGION + claimed(counter) + 1);
        self.claims.fetch_update(SeqCst, SeqCst, claim).ok().map(claimed)
    }

    /// Runs a member of the team until the team is released.
    fn serve(&self, member: usize) {
        let (mut last, inside) = (0, &self.inside[member]);
        while let Some(region) = self.next(last) {
            inside.store(region, SeqCst);
            fence(SeqCst);
            if !self.looks_again || self.region.load(SeqCst) == region {
                // SAFETY: `loom` reports an error if the leader accesses the cell at the same time
                let work = self.work.with(|work| unsafe { *work });
                assert_eq!(work, region, "the work of another region");
                self.take_pieces(region);
            }
            inside.store(0, SeqCst);
            last = region;
        }
    }

    fn next(&self, last: usize) -> Option<usize> {
        loop {
            if let Some(region) = self.called(last) {
                return Some(region).filter(|_| !self.stopped.load(SeqCst));
            }
            let mut mutex = self.mutex.lock().expect("no panic");
            self.asleep.fetch_add(1, SeqCst);
            fence(SeqCst);
            while self.called(last).is_none() {
                mutex = self.condvar.wait(mutex).expect("no panic");
            }
            self.asleep.fetch_sub(1, SeqCst);
        }
    }

    fn called(&self, last: usize) -> Option<usize> {
        let region = self.region.load(SeqCst);
        (region % 2 == 1 && region != last || self.stopped.load(SeqCst)).then_some(region)
    }
}

/// Model-checks a thread team: a leader and `members` other threads run `regions` parallel regions, and then the team
/// is released.
fn model(members: usize, regions: usize, looks_again: bool, preemptions: usize) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(move || {
        let shared = Arc::new(Shared {
            region: AtomicUsize::new(0),
            inside: (0..members).map(|_| AtomicUsize::new(0)).collect(),
            work: UnsafeCell::new(NO_WORK),
            pieces: std::array::from_fn(|_| UnsafeCell::new(0)),
            claims: AtomicUsize::new(0),
            asleep: AtomicUsize::new(0),
            condvar: Condvar::new(),
            mutex: Mutex::new(()),
            stopped: AtomicBool::new(false),
            looks_again,
        });
        let members: Vec<_> = (0..members)
            .map(|member| {
                let shared = Arc::clone(&shared);
                thread::spawn(move || shared.serve(member))
            })
            .collect();
        (0..regions).for_each(|_| shared.run());
        shared.stopped.store(true, SeqCst);
        shared.wake_sleeping();
        members.into_iter().for_each(|member| member.join().expect("a member ends"));
    });
}

#[test]
fn a_member_works_in_open_regions_only_and_goes_home() {
    model(1, 2, true, PREEMPTIONS);
}

#[test]
fn two_members_share_a_region_and_go_home() {
    model(2, 1, true, FEWER);
}

#[test]
#[ignore = "half a minute on one processor"]
fn two_members_share_a_region_with_more_preemptions() {
    model(2, 1, true, PREEMPTIONS);
}

/// Tests that the model detects a missing second check: without it, a member enters a region that was closed after the
/// member had found it open.
#[test]
#[should_panic(expected = "the work of another region")]
fn a_member_that_does_not_look_again_is_found_out() {
    model(1, 2, false, PREEMPTIONS);
}
