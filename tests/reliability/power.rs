//! A loss of power before the n-th call that changes files.

use md::rng::{Purpose, Stream};

use crate::calls::{Setup, exhaustive, sample, try_all};
use crate::case::Case;
use crate::disk::Disk;

/// What a disk may hold is drawn so many times for each call where all calls are tried.
const IMAGES: u64 = 3;

fn image(disk: &Disk<'_>, time: usize, pick: impl FnMut(usize) -> usize) -> Case {
    let case = Case::new();
    std::fs::create_dir(case.out()).unwrap();
    disk.restore(time, pick, &case.out());
    case
}

/// The journal misses no call: what follows from it is the folder, byte for byte.
#[test]
fn the_journal_is_complete() {
    let setup = Setup::fresh();
    let case = Case::new();
    let (_, calls) = case.watch(&setup.preload, None);
    let replayed = image(&Disk::new(&calls), calls.len(), |n| n - 1);
    let mut names = 0;
    for entry in std::fs::read_dir(case.out()).unwrap().map(Result::unwrap) {
        let replayed = replayed.out().join(entry.file_name());
        assert_eq!(std::fs::read(&replayed).unwrap(), std::fs::read(entry.path()).unwrap(), "{replayed:?}");
        names += 1;
    }
    assert_eq!(std::fs::read_dir(replayed.out()).unwrap().count(), names);
}

#[test]
fn power_lost() {
    let setup = Setup::fresh();
    let disk = Disk::new(&setup.calls);
    let images = if exhaustive() { IMAGES } else { 1 };
    for number in 0..images {
        try_all(&format!("Fresh | power lost, image {number}"), &sample(setup.calls.len(), 24), |time| {
            let certain = image(&disk, time, |_| 0).steps_left();
            let mut numbers = Stream::new(number, Purpose::Test, time as u64, 0);
            let case = image(&disk, time, |n| (numbers.uniform() * n as f64) as usize);
            let describe = |reason: String| format!("at call {time}, {}: {reason}", setup.calls[time - 1].describe());
            if case.steps_left() > certain {
                return Err(describe(format!("{} steps left instead of {certain}", case.steps_left())));
            }
            case.recovers(&setup.expected).map_err(describe)
        });
    }
}
