//! Tests of a loss of power before the n-th call that changes files.

use md::observe::trajectory::Format;
use md::rng::{Purpose, Stream};

use crate::calls::{Setup, Start, exhaustive, sample, try_all};
use crate::case::{Case, of_extension};
use crate::disk::Disk;

/// Number of random disk images for each call, if all calls are tried.
const IMAGES: u64 = 3;
/// Number of calls that are sampled from the whole run, and also from its last calls, unless every call is tried.
const SAMPLES: usize = 8;
/// Number of calls at the end of the run of which [`SAMPLES`] are tried.
const LAST_CALLS: usize = 24;

fn image(format: &'static Format, disk: &Disk<'_>, time: usize, pick: impl FnMut(usize) -> usize) -> Case {
    let case = Case::new(format);
    std::fs::create_dir(case.out()).unwrap();
    disk.restore(time, pick, &case.out());
    case
}

/// Tests that the journal is complete: replaying the journal reproduces the folder byte for byte.
#[test]
fn the_journal_is_complete() {
    let h5md = of_extension("h5md");
    let case = Case::new(h5md);
    let (_, calls) = case.watch(None);
    let replayed = image(h5md, &Disk::new(&calls), calls.len(), |n| n - 1);
    let mut names = 0;
    for entry in std::fs::read_dir(case.out()).unwrap().map(Result::unwrap) {
        let replayed = replayed.out().join(entry.file_name());
        assert_eq!(std::fs::read(&replayed).unwrap(), std::fs::read(entry.path()).unwrap(), "{replayed:?}");
        names += 1;
    }
    assert_eq!(std::fs::read_dir(replayed.out()).unwrap().count(), names);
}

fn power_lost(extension: &str) {
    let format = of_extension(extension);
    let setup = Setup::of(Start::Fresh, extension);
    let disk = Disk::new(&setup.calls);
    let images = if exhaustive() { IMAGES } else { 1 };
    let part = if exhaustive() || extension == "h5md" { 1 } else { 4 };
    let times: Vec<usize> = sample(setup.calls.len(), LAST_CALLS, SAMPLES, 0).into_iter().step_by(part).collect();
    for number in 0..images {
        try_all(&format!("{extension} | Fresh | power lost, image {number}"), &times, |time| {
            let certain = image(format, &disk, time, |_| 0).steps_left();
            let mut numbers = Stream::new(number, Purpose::Test, time as u64, 0);
            let case = image(format, &disk, time, |n| (numbers.uniform() * n as f64) as usize);
            let describe = |reason: String| format!("at call {time}, {}: {reason}", setup.calls[time - 1].describe());
            if case.steps_left() > certain {
                return Err(describe(format!("{} steps left instead of {certain}", case.steps_left())));
            }
            case.recovers(&setup.expected).map_err(describe)
        });
    }
}

#[test]
fn power_lost_in_h5md() {
    power_lost("h5md");
}

#[test]
fn power_lost_in_other_formats() {
    ["xtc", "dcd", "trr", "nc", "pdb"].into_iter().for_each(power_lost);
}
