//! Tests that readers of trajectories accept or refuse arbitrary bytes within limits of time and memory.
//!
//! HDF5 is a library in C, so each campaign runs in child processes (this test binary again). A case that crashes,
//! takes too long or takes too much memory is counted, and the campaign continues after it. The following command runs
//! a long campaign: `MD_TEST_FUZZ_CASES=10000 cargo test --release --test trajectory fuzz -- --nocapture`.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use md::observe::trajectory::h5md::{TrajectoryReader, TrajectoryWriter, info, repair, verify};
use md::observe::trajectory::{FrameSource, Precision};

use crate::round_trip::{create, write};

/// Environment variable that passes the first case and the end (exclusive) of the range of cases to the child process.
const CASES: &str = "MD_TEST_FUZZ";
/// Number of cases in the test suite; [`COUNT`] sets another number.
const FEW: u64 = 150;
const COUNT: &str = "MD_TEST_FUZZ_CASES";
/// Time limit of a case in s. The files have some tens of kilobytes.
const SECONDS: u64 = 5;
/// Limit of the address space of the child in bytes. Threads and libraries take some hundred megabytes; a file that
/// claims 2⁶⁰ bytes exceeds the limit.
const ADDRESSES: u64 = 1 << 30;

/// Pseudo-random numbers (xorshift64*; Vigna, doi:10.1145/2845077).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 8
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }

    /// Returns a number between −1 and 1.
    pub(crate) fn signed(&mut self) -> f64 {
        (self.next() >> 3) as f64 / (1u64 << 52) as f64 - 1.0
    }
}

/// Returns the original files: closed files and files that are still open, with compressed and with uncompressed data.
fn originals(directory: &Path) -> Vec<Vec<u8>> {
    let mut found = vec![];
    for (number, precision) in [Precision::Raw, Precision::Lossless, Precision::Decimals3].into_iter().enumerate() {
        let path = directory.join(format!("original{number}.h5md"));
        let (mut writer, atoms) = create(&path, "triclinic", precision, 2);
        write(&mut writer, "triclinic", 0..9, atoms);
        writer.sync().unwrap();
        found.push(std::fs::read(&path).unwrap());
        writer.close().unwrap();
        found.push(std::fs::read(&path).unwrap());
    }
    found
}

/// Returns the offsets of HDF5's metadata blocks. Each block begins with a signature of four letters and ends with a
/// checksum.
fn blocks(bytes: &[u8]) -> Vec<usize> {
    const SIGNATURES: [&[u8; 4]; 7] = [b"OHDR", b"OCHK", b"EAHD", b"EAIB", b"EADB", b"EASB", b"GCOL"];
    (0..bytes.len().saturating_sub(4)).filter(|&at| SIGNATURES.iter().any(|s| bytes[at..].starts_with(*s))).collect()
}

/// Checksum stored for the first chunk of an object header (HDF5 File Format Specification 3.0, IV.A.1.b).
fn header_sum(bytes: &[u8], at: usize) -> Option<usize> {
    let flags = *bytes.get(at + 5)?;
    let start = at + 6 + if flags & 0x20 != 0 { 16 } else { 0 } + if flags & 0x10 != 0 { 4 } else { 0 };
    let width = 1usize << (flags & 3);
    let size = bytes.get(start..start + width)?.iter().rev().fold(0u64, |sum, &byte| sum << 8 | u64::from(byte));
    let end = (start + width).checked_add(usize::try_from(size).ok()?)?;
    (end + 4 <= bytes.len()).then_some(end)
}

/// Bob Jenkins' hashlittle, HDF5's checksum of metadata.
fn hashlittle(data: &[u8]) -> u32 {
    let mut r = [0xdead_beef_u32.wrapping_add(data.len() as u32); 3];
    let mut chunks = data.chunks(12).peekable();
    while let Some(chunk) = chunks.next() {
        for (i, &byte) in chunk.iter().enumerate() {
            r[i / 4] = r[i / 4].wrapping_add(u32::from(byte) << (8 * (i % 4)));
        }
        let [mut a, mut b, mut c] = r;
        if chunks.peek().is_some() {
            (a, c) = (a.wrapping_sub(c) ^ c.rotate_left(4), c.wrapping_add(b));
            (b, a) = (b.wrapping_sub(a) ^ a.rotate_left(6), a.wrapping_add(c));
            (c, b) = (c.wrapping_sub(b) ^ b.rotate_left(8), b.wrapping_add(a));
            (a, c) = (a.wrapping_sub(c) ^ c.rotate_left(16), c.wrapping_add(b));
            (b, a) = (b.wrapping_sub(a) ^ a.rotate_left(19), a.wrapping_add(c));
            (c, b) = (c.wrapping_sub(b) ^ b.rotate_left(4), b.wrapping_add(a));
        } else {
            c = (c ^ b).wrapping_sub(b.rotate_left(14));
            a = (a ^ c).wrapping_sub(c.rotate_left(11));
            b = (b ^ a).wrapping_sub(a.rotate_left(25));
            c = (c ^ b).wrapping_sub(b.rotate_left(16));
            a = (a ^ c).wrapping_sub(c.rotate_left(4));
            b = (b ^ a).wrapping_sub(a.rotate_left(14));
            c = (c ^ b).wrapping_sub(b.rotate_left(24));
        }
        r = [a, b, c];
    }
    r[2]
}

/// Changes a few bytes. In half of the cases the checksums of object headers are corrected, so that the HDF5 library
/// trusts the changed contents.
fn damage(bytes: &mut Vec<u8>, random: &mut Random) {
    const NUMBERS: [u64; 10] = [0, 1, 2, 255, 1 << 20, 1 << 31, 1 << 32, 1 << 60, (1 << 63) + 8, u64::MAX];
    let blocks = blocks(bytes);
    for _ in 0..1 + random.below(4) {
        let block = blocks[random.below(blocks.len())];
        let at = match random.below(4) {
            0 => random.below(bytes.len()),
            _ => block + 4 + random.below(300),
        };
        let width = [1, 1, 2, 4, 8, 8][random.below(6)];
        let Some(place) = bytes.get_mut(at..at + width) else { continue };
        let value = match random.below(3) {
            0 => random.next(),
            _ => NUMBERS[random.below(NUMBERS.len())],
        };
        place.copy_from_slice(&value.to_le_bytes()[..width]);
    }
    match random.below(20) {
        0 => bytes.truncate(random.below(bytes.len())),
        1 => bytes.extend_from_within(..random.below(bytes.len())),
        2 => {
            let (from, to, length) = (random.below(bytes.len()), random.below(bytes.len()), random.below(600));
            let end = (from + length).min(bytes.len());
            if to + (end - from) <= bytes.len() {
                bytes.copy_within(from..end, to);
            }
        }
        _ => {}
    }
    if random.below(2) == 0 {
        for at in blocks {
            if let Some(sum) = header_sum(bytes, at).filter(|_| bytes[at..].starts_with(b"OHDR")) {
                let right = hashlittle(&bytes[at..sum]).to_le_bytes();
                bytes[sum..sum + 4].copy_from_slice(&right);
            }
        }
    }
}

/// Reads the file with all functions for trajectories, and returns whether the file was accepted. An error must be an
/// input error.
fn read_all(path: &Path, bytes: &[u8]) -> bool {
    let renew = || std::fs::write(path, bytes).unwrap();
    renew();
    let mut errors = vec![info(path).err(), verify(path).err()];
    let read = TrajectoryReader::open(path)
        .and_then(|reader| (0..reader.frames()).try_for_each(|i| reader.frame(i).map(drop)));
    errors.push(read.err());
    errors.push(TrajectoryWriter::append(path, None).and_then(TrajectoryWriter::close).err());
    renew();
    errors.push(repair(path).err());
    for error in errors.iter().flatten() {
        assert!([2, 5].contains(&error.exit_code()), "{error}");
    }
    errors.iter().all(Option::is_none)
}

static CASE: AtomicU64 = AtomicU64::new(0);

#[test]
fn child_reads_damaged_files() {
    let Ok(cases) = std::env::var(CASES) else { return };
    let (first, end) = cases.split_once(' ').unwrap();
    let (first, end): (u64, u64) = (first.parse().unwrap(), end.parse().unwrap());
    let limit = libc::rlimit { rlim_cur: ADDRESSES, rlim_max: ADDRESSES };
    // SAFETY: the argument is a plain structure that outlives the call.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_AS, &raw const limit) }, 0);
    std::thread::spawn(|| {
        let mut before = u64::MAX;
        loop {
            std::thread::sleep(Duration::from_secs(SECONDS));
            let now = CASE.load(Ordering::Relaxed);
            if now == before {
                std::process::exit(99);
            }
            before = now;
        }
    });
    let directory = tempfile::tempdir().unwrap();
    let originals = originals(directory.path());
    for case in first..end {
        CASE.store(case, Ordering::Relaxed);
        println!("case: {case}");
        let mut random = Random(case.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let mut bytes = originals[random.below(originals.len())].clone();
        damage(&mut bytes, &mut random);
        let folder = tempfile::tempdir().unwrap();
        let taken = read_all(&folder.path().join("damaged.h5md"), &bytes);
        println!("taken: {}", u8::from(taken));
    }
    println!("end");
}

#[test]
fn damaged_trajectories_are_refused_or_read() {
    let count = std::env::var(COUNT).ok().map_or(FEW, |count| count.parse().unwrap());
    let (mut next, mut taken, mut broken) = (0, 0, vec![]);
    while next < count {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "fuzz::child_reads_damaged_files", "--nocapture", "--test-threads=1"])
            .env(CASES, format!("{next} {count}"))
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        for line in BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok) {
            if let Some(case) = line.split("case: ").nth(1) {
                next = case.trim().parse::<u64>().unwrap();
            } else if line.contains("taken: 1") {
                taken += 1;
            } else if line.contains("end") {
                next = count;
            }
        }
        let status = child.wait().unwrap();
        if !status.success() {
            broken.push(format!("case {next}: {status}"));
            println!("case {next}: {status}");
            next += 1;
        }
    }
    println!("{count} damaged files, {taken} read by all readers, {} crashes", broken.len());
    assert!(broken.is_empty(), "{}", broken.join("\n"));
    assert!(taken > 0 && taken < count, "{taken} of {count} taken");
}
