//! The protocol of `src/engine/team.rs` over all interleavings, by `loom`.
//!
//! This is a model: the fields and steps of `Shared`, `Open`, `serve` and `next` by their names, without what carries
//! items. Members look once before they sleep, as though their patience were at its end. `loom` knows no total order of
//! `SeqCst` accesses, so that a fence stands between the two accesses whose order the protocol needs.

use loom::cell::UnsafeCell;
use loom::sync::atomic::Ordering::SeqCst;
use loom::sync::atomic::{AtomicBool, AtomicUsize, fence};
use loom::sync::{Arc, Condvar, Mutex};
use loom::thread;

/// Thread switches that are not forced, per execution: bugs of such protocols need one or two
/// (Musuvathi and Qadeer 2007, doi:10.1145/1250734.1250785).
const PREEMPTIONS: usize = 3;

struct Shared {
    region: AtomicUsize,
    inside: AtomicUsize,
    /// number of the region whose work this is; none of any region once that is over
    work: UnsafeCell<usize>,
    asleep: AtomicUsize,
    condvar: Condvar,
    mutex: Mutex<()>,
    dismissed: AtomicBool,
    /// as it must be: members look whether the region is open still after they have counted themselves in
    looks_again: bool,
}

/// No region has this number.
const NO_WORK: usize = usize::MAX;

impl Shared {
    /// What the leader does in a region.
    fn run(&self) {
        let region = self.region.load(SeqCst) + 1;
        self.work.with_mut(|work| {
            // SAFETY: `loom` tells if anybody else is there
            unsafe { *work = region }
        });
        self.region.fetch_add(1, SeqCst);
        self.ring();
        // close
        self.region.fetch_add(1, SeqCst);
        fence(SeqCst);
        while self.inside.load(SeqCst) != 0 {
            thread::yield_now();
        }
        self.work.with_mut(|work| {
            // SAFETY: as above
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

    /// The life of a member.
    fn serve(&self) {
        let mut last = 0;
        while let Some(region) = self.next(last) {
            self.inside.fetch_add(1, SeqCst);
            fence(SeqCst);
            if !self.looks_again || self.region.load(SeqCst) == region {
                // SAFETY: `loom` tells if the leader is there
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

/// A leader, so many members and regions, then the end of the team.
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

/// Without the second look a member enters a region that was closed after it had found it open.
#[test]
#[should_panic]
fn a_member_that_does_not_look_again_is_found_out() {
    model(1, 2, false);
}
