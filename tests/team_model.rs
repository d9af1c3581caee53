//! Model check of the thread protocol in `src/engine/team.rs` over all interleavings, with `loom`.
//!
//! The model has the fields and steps of `Shared`, `Open`, `serve` and `next` under the same names, but leaves out the
//! distribution of work items. In the model, members check for work once before they sleep, as if their spin time had
//! expired. `loom` does not model the total order of `SeqCst` accesses, so the model has a fence between the two
//! accesses whose order the protocol needs.

use loom::cell::UnsafeCell;
use loom::sync::atomic::Ordering::SeqCst;
use loom::sync::atomic::{AtomicBool, AtomicUsize, fence};
use loom::sync::{Arc, Condvar, Mutex};
use loom::thread;

/// Maximum number of preemptions per execution. Bugs of such protocols need one or two (Musuvathi and Qadeer 2007,
/// doi:10.1145/1250734.1250785).
const PREEMPTIONS: usize = 3;

struct Shared {
    region: AtomicUsize,
    inside: AtomicUsize,
    /// number of the parallel region to which the work belongs; [`NO_WORK`] after the region has ended
    work: UnsafeCell<usize>,
    asleep: AtomicUsize,
    condvar: Condvar,
    mutex: Mutex<()>,
    dismissed: AtomicBool,
    /// whether members check again that the region is open after incrementing the counter of active members, as in the
    /// real protocol
    looks_again: bool,
}

/// Value of `work` that is not the number of any region.
const NO_WORK: usize = usize::MAX;

impl Shared {
    /// Runs a parallel region as the leader of the team.
    fn run(&self) {
        let region = self.region.load(SeqCst) + 1;
        self.work.with_mut(|work| {
            // SAFETY: `loom` reports an error if another thread accesses the cell at the same time
            unsafe { *work = region }
        });
        self.region.fetch_add(1, SeqCst);
        self.ring();
        // the leader closes the region
        self.region.fetch_add(1, SeqCst);
        fence(SeqCst);
        while self.inside.load(SeqCst) != 0 {
            thread::yield_now();
        }
        self.work.with_mut(|work| {
            // SAFETY: `loom` reports an error if another thread accesses the cell at the same time
            unsafe { *work = NO_WORK }
        });
    }

    fn ring(&self) {
        fence(SeqCst);
        if self.asleep.load(SeqCst) > 0 {
            let _door = self.mutex.lock().expect("no panic");
            self.condvar.notify_all();
        }
    }

    /// Runs a member of the team until the team is released.
    fn serve(&self) {
        let mut last = 0;
        while let Some(region) = self.next(last) {
            self.inside.fetch_add(1, SeqCst);
            fence(SeqCst);
            if !self.looks_again || self.region.load(SeqCst) == region {
                // SAFETY: `loom` reports an error if the leader accesses the cell at the same time
                let work = self.work.with(|work| unsafe { *work });
                assert_eq!(work, region, "the work of another region");
            }
            self.inside.fetch_sub(1, SeqCst);
            last = region;
        }
    }

    fn next(&self, last: usize) -> Option<usize> {
        loop {
            if let Some(region) = self.called(last) {
                return Some(region).filter(|_| !self.dismissed.load(SeqCst));
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
        (region % 2 == 1 && region != last || self.dismissed.load(SeqCst)).then_some(region)
    }
}

/// Model-checks a thread team: a leader and `members` other threads run `regions` parallel regions, and then the team
/// is released.
fn model(members: usize, regions: usize, looks_again: bool) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(PREEMPTIONS);
    builder.check(move || {
        let shared = Arc::new(Shared {
            region: AtomicUsize::new(0),
            inside: AtomicUsize::new(0),
            work: UnsafeCell::new(NO_WORK),
            asleep: AtomicUsize::new(0),
            condvar: Condvar::new(),
            mutex: Mutex::new(()),
            dismissed: AtomicBool::new(false),
            looks_again,
        });
        let members: Vec<_> = (0..members)
            .map(|_| {
                let shared = Arc::clone(&shared);
                thread::spawn(move || shared.serve())
            })
            .collect();
        (0..regions).for_each(|_| shared.run());
        shared.dismissed.store(true, SeqCst);
        shared.ring();
        members.into_iter().for_each(|member| member.join().expect("a member ends"));
    });
}

#[test]
fn members_work_in_open_regions_only_and_all_go_home() {
    model(1, 2, true);
    model(2, 1, true);
}

/// Tests that the model detects a missing second check: without it, a member enters a region that was closed after the
/// member had found it open.
#[test]
#[should_panic]
fn a_member_that_does_not_look_again_is_found_out() {
    model(1, 2, false);
}
