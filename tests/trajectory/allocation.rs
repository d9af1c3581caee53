//! Tests that the thread of a run allocates no memory when it passes a frame to the writer, after the first frames.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use md::observe::trajectory::{Frame, Precision};

use crate::round_trip::create;
use crate::sample;

struct Counting;

thread_local! {
    /// number of allocations of this thread
    static COUNT: Cell<u64> = const { Cell::new(0) };
    /// number of bytes that this thread holds, and the maximum of this number
    static HELD: Cell<[i64; 2]> = const { Cell::new([0; 2]) };
}

fn hold(bytes: i64) {
    HELD.with(|held| {
        let [now, most] = held.get();
        held.set([now + bytes, most.max(now + bytes)]);
    });
}

/// Returns the maximum memory (bytes) that this thread holds during `act`, beyond the memory that it held before.
pub(crate) fn most_held<R>(act: impl FnOnce() -> R) -> i64 {
    let before = HELD.with(|held| {
        let [now, _] = held.get();
        held.set([now; 2]);
        now
    });
    act();
    HELD.with(|held| held.get()[1]) - before
}

// SAFETY: every call is passed on to the system's allocator; the counter itself allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.with(|count| count.set(count.get() + 1));
        hold(layout.size() as i64);
        // SAFETY: the caller's guarantees are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        hold(-(layout.size() as i64));
        // SAFETY: the caller's guarantees are passed on.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn a_steady_frame_allocates_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let (mut writer, atoms) = create(&directory.path().join("a.h5md"), "orthorhombic", Precision::Decimals3, 200);
    let (positions, _) = sample::unwrapped("orthorhombic", 0, atoms);
    let (velocities, forces) = (sample::velocities(0, atoms), sample::forces(0, atoms));
    let mut write = |step: u64| {
        let frame = Frame {
            step,
            time: step as f64,
            cell: sample::cell("orthorhombic", 0),
            positions: &positions,
            velocities: &velocities,
            forces: &forces,
            observables: &sample::values(0),
        };
        writer.write(&frame).unwrap();
    };
    // in the first calls that block, the standard library allocates data for parking the thread
    (0..20).for_each(&mut write);
    let before = COUNT.with(Cell::get);
    (20..60).for_each(&mut write);
    assert_eq!(COUNT.with(Cell::get) - before, 0);
    // an allocation checks that the counter works
    drop(std::hint::black_box(vec![1u8]));
    assert_eq!(COUNT.with(Cell::get) - before, 1);
}
