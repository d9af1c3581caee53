//! Tests that readers of topologies, coordinates and trajectories accept or refuse arbitrary bytes within limits of
//! time and memory.
//!
//! Each family of files is changed and read in child processes (this test binary again). A case that panics, crashes,
//! takes too long, or allocates too much is counted, and the campaign continues after it. The following command runs a
//! long campaign: `MD_MUTATIONS=10000 cargo test --release --test reliability mutation -- --nocapture`;
//! `MD_MUTATION_FILES=FOLDER` adds the files of a folder.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use md::rng::{Purpose, Stream};

use crate::heap::most_used;
use crate::mutate::{below, mutate};
use crate::originals::{FAMILIES, Original};

/// Number of cases of each family in the test suite; [`COUNT`] sets another number.
const FEW: u64 = 100;
const COUNT: &str = "MD_MUTATIONS";
/// Environment variable that selects one family by its name.
const ONLY: &str = "MD_MUTATION_FAMILY";
/// Environment variable that passes the family, the first case and the end (exclusive) of the range of cases to the
/// child process.
const CASES: &str = "MD_MUTATION_CASES";
/// Time limit of a case in s.
const SECONDS: u64 = 5;
/// Limit of the address space of the child process in bytes.
const ADDRESSES: u64 = 2 << 30;
/// Factor in the maximum memory of a case: [`TIMES`] times the memory per atom with the undamaged files, plus
/// [`BUFFERS`] bytes.
const TIMES: usize = 10;
const BUFFERS: usize = 1 << 20;

/// Number of failed cases after which a family is abandoned.
const ENOUGH: usize = 20;

static CASE: AtomicU64 = AtomicU64::new(0);

/// Results of the cases of a family.
#[derive(Default)]
struct Tally {
    tried: u64,
    read: u64,
    /// duration of the slowest case in ms
    slowest: u64,
    /// largest memory of a case in bytes
    most_memory: usize,
    broken: Vec<String>,
}

/// Starts a thread that ends the process if a case takes too long.
fn watch_time() {
    std::thread::spawn(|| {
        let mut before = u64::MAX;
        loop {
            std::thread::sleep(Duration::from_secs(SECONDS));
            let now = CASE.load(Relaxed);
            if now == before {
                std::process::exit(99);
            }
            before = now;
        }
    });
}

fn limit_memory() {
    let limit = libc::rlimit { rlim_cur: ADDRESSES, rlim_max: ADDRESSES };
    // SAFETY: the argument is a plain structure that outlives the call.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_AS, &raw const limit) }, 0);
}

#[test]
fn child_reads_changed_files() {
    let Ok(cases) = std::env::var(CASES) else { return };
    let numbers: Vec<u64> = cases.split(' ').map(|number| number.parse().unwrap()).collect();
    let (family, first, end) = (numbers[0] as usize, numbers[1], numbers[2]);
    limit_memory();
    let originals: Vec<Original> = FAMILIES[family].1();
    let folders: Vec<_> = originals.iter().map(Original::copies).collect();
    let good = |(original, folder): (&Original, &tempfile::TempDir)| {
        let (read, memory) = most_used(|| original.read(folder.path()));
        let count = read.unwrap_or_else(|error| panic!("{} is not good: {error}", original.files[0].0));
        assert!(count > 0, "{} holds nothing", original.files[0].0);
        (memory, count)
    };
    let usual: Vec<(usize, usize)> = originals.iter().zip(&folders).map(good).collect();
    println!("originals: {}", originals.len());
    watch_time();
    for case in first..if originals.is_empty() { first } else { end } {
        CASE.store(case, Relaxed);
        println!("case: {case}");
        let mut random = Stream::new(family as u64, Purpose::Test, case, 0);
        let which = below(&mut random, originals.len());
        let (original, folder) = (&originals[which], folders[which].path());
        let (name, bytes) = &original.files[below(&mut random, original.changed)];
        let mut changed = bytes.clone();
        mutate(&mut changed, &mut random);
        std::fs::write(folder.join(name), &changed).unwrap();
        let start = Instant::now();
        let (read, memory) = most_used(|| original.read(folder));
        println!("took: {}", start.elapsed().as_millis());
        if let Err(error) = &read {
            assert!([2, 5].contains(&error.exit_code()), "{error}");
        }
        println!("taken: {}", u8::from(read.is_ok()));
        println!("memory: {memory}");
        let (usual, atoms) = usual[which];
        if memory > TIMES * usual + BUFFERS {
            let times = TIMES * original.claimed_atoms(folder) / atoms;
            assert!(memory <= times.max(TIMES) * usual + BUFFERS, "{memory} bytes, the good files take {usual}");
        }
        // all files are removed, because `md` writes additional files when it repairs a trajectory
        std::fs::read_dir(folder).unwrap().for_each(|entry| std::fs::remove_file(entry.unwrap().path()).unwrap());
        original.files.iter().for_each(|(name, bytes)| std::fs::write(folder.join(name), bytes).unwrap());
    }
    println!("end");
}

/// Runs cases of a family until all cases are done or a case ends the child process. Returns the number of the next
/// case.
fn run_child(family: usize, next: u64, count: u64, tally: &mut Tally) -> u64 {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "mutation::child_reads_changed_files", "--nocapture", "--test-threads=1"])
        .env(CASES, format!("{family} {next} {count}"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let errors = BufReader::new(child.stderr.take().unwrap());
    let errors = std::thread::spawn(move || errors.lines().map_while(Result::ok).collect::<Vec<_>>().join(" "));
    let (mut case, mut started, mut ended) = (next, false, false);
    for line in BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok) {
        let Some((what, value)) = line.rsplit_once(": ") else {
            ended |= line == "end";
            continue;
        };
        match what.rsplit(' ').next() {
            Some("originals") => started = true,
            Some("case") => {
                case = value.parse().unwrap();
                tally.tried += 1;
            }
            Some("taken") => tally.read += u64::from(value == "1"),
            Some("took") => tally.slowest = tally.slowest.max(value.parse().unwrap()),
            Some("memory") => tally.most_memory = tally.most_memory.max(value.parse().unwrap()),
            _ => {}
        }
    }
    let status = child.wait().unwrap();
    if ended && status.success() {
        return count;
    }
    let errors: String = errors.join().unwrap().chars().take(300).collect();
    let broken = format!("{}, case {case}: {status}: {errors}", FAMILIES[family].0);
    println!("{broken}");
    tally.broken.push(broken);
    if started { case + 1 } else { count }
}

#[test]
fn changed_files_are_refused_or_read() {
    let count = std::env::var(COUNT).ok().map_or(FEW, |count| count.parse().unwrap());
    let only = std::env::var(ONLY).ok();
    let mut broken = vec![];
    println!("| family | tried | read | crashed, hung or too large | slowest, ms | most memory, MB |");
    for (family, (name, _)) in FAMILIES.iter().enumerate() {
        if only.as_ref().is_some_and(|only| only != name) {
            continue;
        }
        let (mut tally, mut next) = (Tally::default(), 0);
        while next < count && tally.broken.len() < ENOUGH {
            next = run_child(family, next, count, &mut tally);
        }
        let Tally { tried, read, slowest, most_memory, broken: found } = tally;
        let memory = most_memory as f64 / 1e6;
        println!("| {name} | {tried} | {read} | {} | {slowest} | {memory:.1} |", found.len());
        broken.extend(found);
        if tried > 0 && (read == 0 || read == tried) {
            broken.push(format!("{name}: {read} of {tried} read"));
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}
