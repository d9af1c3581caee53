//! Tests of a fault at the n-th system call that changes files: in a new run, in a run that continues a stopped run,
//! and in a run that continues a killed run.

use std::collections::BTreeMap;
use std::os::unix::process::ExitStatusExt;
use std::process::Output;
use std::sync::OnceLock;
use std::time::Instant;

use md::observe::trajectory::Format;

use crate::case::{Case, EXTENSIONS, Files, Record, describe, of_extension};
use crate::journal::{Call, Fault};

/// Number of system calls that are sampled for each start and fault, unless every call is tried. The same number of
/// calls is sampled among the last calls. The kinds of faults begin at different calls, so that together they try more
/// than fifty calls.
const SAMPLES: usize = 4;
/// Number of moments at which runs are killed.
const MOMENTS: usize = 8;
/// Number of calls from the end of the last step to the end of the process, with a margin.
const LAST_CALLS: usize = 48;

/// State of the output folder at the start of the run with the fault.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Start {
    Fresh,
    Stopped,
    Killed,
}

const STARTS: [Start; 3] = [Start::Fresh, Start::Stopped, Start::Killed];
const FAULTS: [Fault; 7] = [
    Fault::Kill,
    Fault::Torn,
    Fault::Term,
    Fault::Once(libc::ENOSPC),
    Fault::Lasting(libc::ENOSPC),
    Fault::Once(libc::EIO),
    Fault::Lasting(libc::EIO),
];

/// Whether the environment requests all calls or every n-th call, instead of a sample.
pub(crate) fn exhaustive() -> bool {
    stride().is_some()
}

/// Stride of the tried calls: 1 with `MD_RELIABILITY=every`, n with `MD_RELIABILITY=n`, and `None` if only samples are
/// tried.
fn stride() -> Option<usize> {
    let how = std::env::var("MD_RELIABILITY").ok()?;
    Some(if how == "every" { 1 } else { how.parse().expect("every, or a number") })
}

/// Setup of a test: the files in the output folder before the run, and the expected results.
pub(crate) struct Setup {
    format: &'static Format,
    files: Files,
    pub(crate) expected: Record,
    /// calls of an undisturbed run that starts from the same folder
    pub(crate) calls: Vec<Call>,
}

impl Setup {
    fn new(start: Start, format: &'static Format) -> Self {
        let whole = Case::new(format);
        let (output, calls) = whole.watch(None);
        assert!(output.status.success(), "{}", describe(&output));
        let expected = whole.record().unwrap();
        let before = match start {
            Start::Fresh => None,
            Start::Stopped => Some(Fault::Term),
            Start::Killed => Some(Fault::Kill),
        };
        let Some(fault) = before else { return Setup { format, files: Files::new(), expected, calls } };
        // the run is stopped in the middle of the dynamics, after it has written frames
        let start = Case::new(format);
        start.watch(Some((fault, 3 * calls.len() / 5)));
        let files = start.files();
        let (output, calls) = start.watch(None);
        assert!(output.status.success(), "{}", describe(&output));
        Setup { format, files, expected, calls }
    }

    /// Returns the setup for runs with a trajectory of the given format. The tests of this process share the setup.
    pub(crate) fn of(start: Start, extension: &str) -> &'static Self {
        static SETUPS: [[OnceLock<Setup>; EXTENSIONS.len()]; STARTS.len()] =
            [const { [const { OnceLock::new() }; EXTENSIONS.len()] }; STARTS.len()];
        let format = EXTENSIONS.iter().position(|other| *other == extension).unwrap();
        SETUPS[start as usize][format].get_or_init(|| Setup::new(start, of_extension(extension)))
    }
}

/// Checks the exit status of a run with this fault. The run may also end without the fault, because the order of calls
/// from several threads varies.
fn may_end(fault: Fault, output: &Output) -> Result<(), String> {
    let (code, signal) = (output.status.code(), output.status.signal());
    let fits = match fault {
        Fault::Kill | Fault::Torn => signal == Some(9),
        Fault::Term => code == Some(3),
        Fault::Once(_) | Fault::Lasting(_) => code == Some(5) && !output.stderr.is_empty(),
    };
    let panicked = String::from_utf8_lossy(&output.stderr).contains("panicked");
    if !panicked && (fits || code == Some(0)) { Ok(()) } else { Err(describe(output)) }
}

/// Whether the program warned that it could not write the page about the run.
fn lacks_page(output: &Output) -> bool {
    String::from_utf8_lossy(&output.stderr).contains("report.html could not be written")
}

fn try_one(setup: &Setup, fault: Fault, at: usize) -> Result<(), String> {
    let case = Case::with(setup.format, &setup.files);
    let (output, calls) = case.watch(Some((fault, at)));
    let read = || if fault == Fault::Kill { case.has_whole_frames(&setup.expected) } else { Ok(()) };
    let verdict = may_end(fault, &output).and_then(|()| read()).and_then(|()| match output.status.code() {
        // the page about the run is not part of its results: without it the run has ended well, and the next command
        // writes it
        Some(0) if !lacks_page(&output) => case.is_complete(&setup.expected),
        _ => case.recovers(&setup.expected),
    });
    let place = calls.iter().find(|call| call.is_fault).map_or("nowhere".into(), Call::describe);
    verdict.map_err(|reason| format!("at call {at}, {place}: {reason}"))
}

/// Runs the test `one` for each given call number, prints a row of the table of results, and reports all failures
/// together.
pub(crate) fn try_all(name: &str, numbers: &[usize], one: impl Fn(usize) -> Result<(), String>) {
    let failures: Vec<String> = numbers.iter().filter_map(|&at| one(at).err()).collect();
    println!("| {name} | {} | {} |", numbers.len(), numbers.len() - failures.len());
    let mut kinds: BTreeMap<String, Vec<&String>> = BTreeMap::new();
    for failure in &failures {
        let kind = failure.split_once(", ").map_or("", |(_, kind)| kind);
        kinds.entry(kind.chars().filter(|c| !c.is_ascii_digit()).collect()).or_default().push(failure);
    }
    let kinds: Vec<String> = kinds.values().map(|all| format!("{} times {}", all.len(), all[0])).collect();
    assert!(failures.is_empty(), "{name}: {} of {} failed\n{}", failures.len(), numbers.len(), kinds.join("\n"));
}

/// Returns all numbers up to `total`, or a sample of `samples` numbers from the whole range and `samples` numbers from
/// its end. Samples of different `nth`, the index of a kind of fault, have different numbers.
pub(crate) fn sample(total: usize, last: usize, samples: usize, nth: usize) -> Vec<usize> {
    if let Some(stride) = stride() {
        return (1 + nth % stride..=total).step_by(stride).collect();
    }
    let [step, last_step] = [total, last].map(|range| range.div_ceil(samples));
    let [shift, last_shift] = [step, last_step].map(|step| step * nth / FAULTS.len());
    let mut numbers: Vec<usize> = (1 + shift..=total).step_by(step).collect();
    numbers.extend((total.saturating_sub(last).max(1) + last_shift..=total).step_by(last_step));
    numbers.dedup();
    numbers
}

fn at_every_call(start: Start, fault: Fault) {
    let setup = Setup::of(start, "h5md");
    let counted = setup.calls.iter().filter(|call| fault.counts(call)).count();
    let nth = FAULTS.iter().position(|other| *other == fault).unwrap();
    let numbers = sample(counted, LAST_CALLS, SAMPLES, nth);
    try_all(&format!("{start:?} | {fault:?}"), &numbers, |at| try_one(setup, fault, at));
}

/// Tries every fault in runs with a trajectory of another format than H5MD. Each combination of start and fault uses a
/// different call that changes the trajectory file, or all such calls if the environment requests all.
fn in_format(extension: &str) {
    let pairs = STARTS.len() * FAULTS.len();
    for (nth_start, start) in STARTS.into_iter().enumerate() {
        let setup = Setup::of(start, extension);
        for (nth_fault, fault) in FAULTS.into_iter().enumerate() {
            let counted: Vec<&Call> = setup.calls.iter().filter(|call| fault.counts(call)).collect();
            let of_file = (1..=counted.len()).filter(|at| counted[at - 1].is_of(extension)).collect::<Vec<_>>();
            let nth = nth_fault * STARTS.len() + nth_start;
            let numbers = match stride() {
                // each kind of fault begins at a different call, so that all kinds together try more calls
                Some(stride) => (1 + nth % stride..=counted.len()).step_by(stride).collect(),
                None => vec![of_file[nth * of_file.len() / pairs]],
            };
            try_all(&format!("{extension} | {start:?} | {fault:?}"), &numbers, |at| try_one(setup, fault, at));
        }
    }
}

/// Tests SIGKILL at various times within the duration of a run, independent of system calls.
#[test]
fn killed_at_moments() {
    let setup = Setup::of(Start::Fresh, "h5md");
    let moments = if exhaustive() { 50 } else { MOMENTS };
    let start = Instant::now();
    assert!(Case::new(of_extension("h5md")).start().wait().unwrap().success());
    let length = start.elapsed();
    try_all("Fresh | SIGKILL at some moment", &(1..=moments).collect::<Vec<_>>(), |number| {
        let case = Case::new(of_extension("h5md"));
        let mut child = case.start();
        std::thread::sleep(length * number as u32 / moments as u32);
        child.kill().unwrap();
        child.wait().unwrap();
        let verdict = if case.out().exists() { case.recovers(&setup.expected) } else { Ok(()) };
        verdict.map_err(|reason| format!("at moment {number}, {reason}"))
    });
}

macro_rules! tests {
    ($($name:ident: $start:ident, $fault:expr;)*) => { $(
        #[test]
        fn $name() {
            at_every_call(Start::$start, $fault);
        }
    )* };
}

tests! {
    fresh_killed: Fresh, Fault::Kill;
    fresh_torn: Fresh, Fault::Torn;
    fresh_terminated: Fresh, Fault::Term;
    fresh_disk_full_once: Fresh, Fault::Once(libc::ENOSPC);
    fresh_disk_full: Fresh, Fault::Lasting(libc::ENOSPC);
    fresh_disk_error: Fresh, Fault::Once(libc::EIO);
    fresh_disk_lost: Fresh, Fault::Lasting(libc::EIO);
    stopped_killed: Stopped, Fault::Kill;
    stopped_torn: Stopped, Fault::Torn;
    stopped_terminated: Stopped, Fault::Term;
    stopped_disk_full_once: Stopped, Fault::Once(libc::ENOSPC);
    stopped_disk_full: Stopped, Fault::Lasting(libc::ENOSPC);
    stopped_disk_error: Stopped, Fault::Once(libc::EIO);
    stopped_disk_lost: Stopped, Fault::Lasting(libc::EIO);
    killed_killed: Killed, Fault::Kill;
    killed_torn: Killed, Fault::Torn;
    killed_terminated: Killed, Fault::Term;
    killed_disk_full_once: Killed, Fault::Once(libc::ENOSPC);
    killed_disk_full: Killed, Fault::Lasting(libc::ENOSPC);
    killed_disk_error: Killed, Fault::Once(libc::EIO);
    killed_disk_lost: Killed, Fault::Lasting(libc::EIO);
}

#[test]
fn xtc() {
    in_format("xtc");
}

#[test]
fn dcd() {
    in_format("dcd");
}

#[test]
fn trr() {
    in_format("trr");
}

#[test]
fn amber_netcdf() {
    in_format("nc");
}

#[test]
fn pdb() {
    in_format("pdb");
}
