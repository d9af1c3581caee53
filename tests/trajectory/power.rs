//! Tests of a loss of power: the disk may hold any part of the data that was written after the last sync. Sectors may
//! be written in any order.
//!
//! A child (this test binary again) writes a trajectory while a library, loaded before the C library, records every
//! write. The test builds possible disk contents from the file at a sync. Each sector has either its contents at the
//! sync, or its contents after some later write.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use md::observe::extent::Extent;
use md::observe::trajectory::Precision;
use md::observe::trajectory::h5md::{TrajectoryWriter, info};

use crate::round_trip::{create, write};
use crate::sample;

/// Environment variable with the path for the child; if the variable is not set, the child's test does nothing.
const PATH: &str = "MD_TEST_RECORD";
const KIND: &str = "triclinic";
const WATERS: usize = 12;
/// Numbers of frames after which the child syncs: the first frames, a few frames, and the number at which HDF5's chunk
/// index gets another level.
const SYNCS: [usize; 5] = [0, 1, 9, 60, 150];
/// Number of frames between the last sync and the close.
const TAIL: usize = 30;
/// Bytes that a disk writes atomically.
const SECTOR: u64 = 512;
/// Bytes that the operating system passes to the disk in one piece.
const PAGE: u64 = 4096;
/// Number of simulated disk images after each sync.
const IMAGES: u64 = 40;

#[test]
fn child_is_recorded() {
    let Ok(path) = std::env::var(PATH) else { return };
    let path = PathBuf::from(path);
    let (mut writer, atoms) = create(&path, KIND, Precision::Decimals3, WATERS);
    let log = path.with_extension("log");
    let recorded = || std::fs::metadata(&log).map_or(0, |log| log.len());
    let mut frames = 0;
    for (number, until) in SYNCS.into_iter().enumerate() {
        write(&mut writer, KIND, frames..until, atoms);
        frames = until;
        let extent = writer.sync().unwrap();
        std::fs::copy(&path, path.with_extension(format!("{number}"))).unwrap();
        let _ = std::fs::copy(journal(&path), path.with_extension(format!("{number}.journal")));
        println!("synced: {} {} {}", extent.count, extent.checksum, recorded());
    }
    write(&mut writer, KIND, frames..frames + TAIL, atoms);
    writer.close().unwrap();
    println!("synced: 0 0 {}", recorded());
}

fn journal(path: &Path) -> PathBuf {
    path.with_file_name(format!(".{}.journal", path.file_name().unwrap().to_str().unwrap()))
}

/// A write that the library has recorded.
struct Write<'a> {
    offset: u64,
    bytes: &'a [u8],
}

fn writes(mut log: &[u8]) -> Vec<Write<'_>> {
    let mut found = vec![];
    while !log.is_empty() {
        let number = |at: usize| u64::from_le_bytes(log[at..at + 8].try_into().unwrap());
        let (offset, length) = (number(0), number(8) as usize);
        found.push(Write { offset, bytes: &log[16..16 + length] });
        log = &log[16 + length..];
    }
    found
}

/// Pseudo-random number (splitmix64; Steele et al., doi:10.1145/2660193.2660195).
fn random(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Builds the file at a sync with a part of the later writes. The loss of power is at a random write. Each page (or
/// sector) has its contents at the sync, its contents at the loss of power, or its contents at a random time in
/// between. One image in four contains only the large writes, and one in four only the small writes.
fn image(at_sync: &[u8], writes: &[Write<'_>], seed: u64) -> Vec<u8> {
    let mut image = at_sync.to_vec();
    let end = random(seed) % (writes.len() as u64 + 1);
    let unit = if seed.is_multiple_of(2) { SECTOR } else { PAGE };
    let version = |place: u64| match random(seed ^ (place << 20)) {
        n if n % 4 == 0 => 0,
        n if n % 4 == 1 => end,
        n => (n >> 8) % (end + 1),
    };
    for (time, write) in (1..=end).zip(writes) {
        let is_large = write.bytes.len() as u64 > SECTOR;
        if random(seed + 1) % 4 == u64::from(is_large) {
            continue;
        }
        for (i, &byte) in write.bytes.iter().enumerate() {
            let at = write.offset + i as u64;
            if time <= version(at / unit) {
                image.resize(image.len().max(at as usize + 1), 0);
                image[at as usize] = byte;
            }
        }
    }
    image
}

/// Returns all numbers in the first `frames` frames of the file, as bits.
fn numbers(path: &Path, frames: usize) -> Vec<Vec<u64>> {
    let file = hdf5::File::open(path).unwrap();
    let names = ["coordinates", "velocities", "particles/trajectory/force/value", "particles/trajectory/image/value"];
    let small = ["cell_lengths", "cell_angles", "particles/trajectory/box/edges/value", "particles/system/force/step"];
    let scalars = ["time", "temperature", "potentialEnergy", "kineticEnergy", "observables/pressure/value"];
    let read = |name: &&str| {
        let dataset = file.dataset(name).unwrap();
        let per_frame: usize = dataset.shape()[1..].iter().product();
        let values = dataset.read_raw::<f64>().unwrap();
        values[..frames * per_frame].iter().map(|value| value.to_bits()).collect()
    };
    names.iter().chain(&small).chain(&scalars).map(read).collect()
}

/// Runs the child process. Returns, for each sync, the extent of the trajectory and the length of the log of writes.
fn recorded(directory: &Path) -> Vec<(Extent, usize)> {
    let library = directory.join("record.so");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/trajectory/record.c");
    let built = Command::new("cc").args(["-shared", "-fPIC", "-O1", "-o"]).arg(&library).arg(source).status();
    assert!(built.unwrap().success(), "the C compiler that also builds HDF5");
    let path = directory.join("trajectory.h5md");
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "power::child_is_recorded", "--nocapture", "--test-threads=1"])
        .env(PATH, &path)
        .env("MD_TEST_LOG", path.with_extension("log"))
        .env("LD_PRELOAD", library)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let numbers = |line: String| {
        let words: Vec<u64> = line.split("synced: ").nth(1)?.split(' ').map(|word| word.parse().unwrap()).collect();
        Some((Extent { count: words[0], checksum: words[1] as u32 }, words[2] as usize))
    };
    let found = lines.filter_map(numbers).collect();
    assert!(child.wait().unwrap().success());
    found
}

#[test]
fn a_loss_of_power_loses_no_counted_frame() {
    let directory = tempfile::tempdir().unwrap();
    let syncs = recorded(directory.path());
    assert_eq!(syncs.len(), SYNCS.len() + 1);
    let path = directory.path().join("trajectory.h5md");
    let log = std::fs::read(path.with_extension("log")).unwrap();
    let undisturbed = numbers(&path, SYNCS[4] + TAIL);
    let (mut failed, mut differing) = (vec![], 0);
    for (number, until) in syncs.windows(2).enumerate() {
        let (extent, frames) = (until[0].0, SYNCS[number]);
        assert_eq!(extent.count as usize, frames);
        let after = writes(&log[until[0].1..until[1].1]);
        let at_sync = std::fs::read(path.with_extension(format!("{number}"))).unwrap();
        for seed in 0..IMAGES {
            let torn = directory.path().join("torn/trajectory.h5md");
            let _ = std::fs::remove_dir_all(torn.parent().unwrap());
            std::fs::create_dir(torn.parent().unwrap()).unwrap();
            let image = image(&at_sync, &after, 1000 * number as u64 + seed);
            differing += usize::from(image != at_sync);
            std::fs::write(&torn, &image).unwrap();
            let _ = std::fs::copy(path.with_extension(format!("{number}.journal")), journal(&torn));
            let mut writer = match TrajectoryWriter::append(&torn, Some(extent)) {
                Ok(writer) => writer,
                Err(error) => {
                    failed.push(format!("sync {number}, image {seed}: {error}"));
                    continue;
                }
            };
            let atoms = sample::topology(WATERS).atoms.len();
            write(&mut writer, KIND, frames..frames + TAIL, atoms);
            let end = writer.close().unwrap();
            assert_eq!((end.count as usize, info(&torn).unwrap().frames), (frames + TAIL, end.count));
            let found = numbers(&torn, frames + TAIL);
            let same = found.iter().zip(&undisturbed).all(|(found, expected)| *found == expected[..found.len()]);
            assert!(same, "sync {number}, image {seed}: frames differ");
            assert!(!journal(&torn).exists(), "a closed trajectory needs no journal");
        }
    }
    assert!(failed.is_empty(), "{} images could not be continued:\n{}", failed.len(), failed.join("\n"));
    assert!(differing as u64 > 3 * IMAGES, "only {differing} images differ from the sync");
}
