//! Tests that flushed frames are never lost, even if the writer is killed at any moment or the disk is full.
//!
//! The writer runs in a child process: this test binary runs again with only the test that writes.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use md::observe::trajectory::Precision;
use md::observe::trajectory::h5md::{TrajectoryWriter, info, repair};

use crate::round_trip::{assert_contents, create, write};
use crate::sample;

/// Environment variable with the path for the child; if the variable is not set, the child's test does nothing.
const PATH: &str = "MD_TEST_TRAJECTORY";
/// Environment variable with the kind of storage that the child uses.
const STORAGE: &str = "MD_TEST_STORAGE";
const KIND: &str = "triclinic";

/// Returns the precision and the number of waters for a kind of storage.
fn storage(name: &str) -> (Precision, usize) {
    match name {
        "raw" => (Precision::Raw, 60),
        "lossless" => (Precision::Lossless, 60),
        "divided" => (Precision::Lossless, sample::DIVIDED),
        _ => (Precision::Decimals3, 60),
    }
}

/// The child process: creates or continues the trajectory, writes frames without end, and prints the number of frames
/// on disk.
#[test]
fn child_writes_until_stopped() {
    let (Ok(path), Ok(name)) = (std::env::var(PATH), std::env::var(STORAGE)) else { return };
    let path = PathBuf::from(path);
    let (precision, waters) = storage(&name);
    let atoms = sample::topology(waters).atoms.len();
    let mut writer = if path.exists() {
        TrajectoryWriter::append(&path, None).unwrap()
    } else {
        create(&path, KIND, precision, waters).0
    };
    let start = writer.sync().unwrap().count as usize;
    println!("on disk: {start}");
    for frame in start.. {
        let mut result = sample::with_frame(KIND, frame, atoms, |f| writer.write(f));
        // most frames are written without waiting for the disk, so that the kill interrupts a write
        if frame % 4 == 3 {
            result = result.and_then(|()| writer.sync()).map(|extent| println!("on disk: {}", extent.count));
        }
        match result {
            Ok(()) => {}
            Err(error) => {
                println!("error: {error}");
                std::process::exit(i32::from(error.exit_code()));
            }
        }
    }
}

fn writer_command(program: &mut Command, path: &Path, name: &str) -> Child {
    program
        .args(["--exact", "crash::child_writes_until_stopped", "--nocapture", "--test-threads=1"])
        .env(PATH, path)
        .env(STORAGE, name)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Returns the last number of frames on disk that the child has printed.
fn last_reported(lines: impl Iterator<Item = String>) -> usize {
    lines.filter_map(|line| line.split("on disk: ").nth(1)?.trim().parse().ok()).last().unwrap_or(0)
}

#[test]
fn a_killed_writer_leaves_every_flushed_frame() {
    for (round, name) in ["raw", "lossless", "divided", "decimals-3"].into_iter().enumerate() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("trajectory.h5md");
        let mut before = 0;
        for kill in 0..5u64 {
            let mut child = writer_command(&mut Command::new(std::env::current_exe().unwrap()), &path, name);
            let mut output = BufReader::new(child.stdout.take().unwrap());
            // the test waits until the file is open and then for a few frames; the moment of the kill varies by less
            // than a frame
            let mut line = String::new();
            while !line.contains("on disk:") {
                line.clear();
                assert!(output.read_line(&mut line).unwrap() > 0, "the child ended by itself");
            }
            std::thread::sleep(Duration::from_micros(1_000 + 7_919 * (5 * round as u64 + kill) % 20_000));
            child.kill().unwrap();
            child.wait().unwrap();
            let reported = last_reported(std::iter::once(line).chain(output.lines().map_while(Result::ok)));

            // the kernel may end a write that spans two pages after the first page: HDF5 then finds a wrong checksum in
            // its own data, and only the repair, which has the journal, can read the file
            let crashed = info(&path).inspect_err(|error| println!("{name}: {error}")).ok();
            assert!(crashed.as_ref().is_none_or(|crashed| !crashed.closed));
            assert!(hdf5::File::open(&path).is_err(), "plain readers took a file that was not closed");
            let saved = repair(&path).unwrap().frames;
            let repaired = info(&path).unwrap();
            assert_eq!(saved, repaired.frames);
            assert!(repaired.closed);
            assert!(crashed.is_none_or(|crashed| crashed.frames == repaired.frames));
            let frames = repaired.frames as usize;
            assert!(frames >= reported && frames >= before, "{name}: {frames} frames, {reported} were on disk");
            assert_contents(&path, KIND, storage(name).0, frames, repaired.atoms);
            before = frames;
        }
        println!("{name}: five kills, {before} frames");
    }
}

#[test]
fn a_crashed_file_is_continued_without_a_separate_repair() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("trajectory.h5md");
    let (mut writer, atoms) = create(&path, KIND, Precision::Raw, 3);
    write(&mut writer, KIND, 0..4, atoms);
    let four = writer.sync().unwrap();
    write(&mut writer, KIND, 4..5, atoms);
    writer.sync().unwrap();
    let crashed = directory.path().join("crashed.h5md");
    std::fs::copy(&path, &crashed).unwrap();
    drop(writer);
    let mut writer = TrajectoryWriter::append(&crashed, Some(four)).unwrap();
    write(&mut writer, KIND, 4..8, atoms);
    writer.close().unwrap();
    assert_contents(&crashed, KIND, Precision::Raw, 8, atoms);
}

/// Simulates a full disk by a limit on the size of files. SIGXFSZ is ignored, so a write beyond the limit fails and
/// does not kill the process.
#[cfg(unix)]
#[test]
fn a_full_disk_is_an_error_and_loses_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("trajectory.h5md");
    let mut shell = Command::new("sh");
    // the limit is in blocks of 512 bytes: half a megabyte, some 40 frames
    shell.args(["-c", "trap '' XFSZ; ulimit -f 1000; exec \"$0\" \"$@\""]).arg(std::env::current_exe().unwrap());
    let mut child = writer_command(&mut shell, &path, "raw");
    let lines: Vec<String> = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok).collect();
    let status = child.wait().unwrap();
    let error = lines.iter().find(|line| line.contains("error:")).unwrap();
    assert_eq!(status.code(), Some(5), "{error}");
    assert!(error.contains("trajectory.h5md"), "{error}");
    let reported = last_reported(lines.iter().cloned());
    assert!(reported > 5);
    let saved = repair(&path).unwrap().frames;
    let repaired = info(&path).unwrap();
    assert_eq!(saved, repaired.frames);
    assert!((reported..reported + 4).contains(&(repaired.frames as usize)), "{reported} {repaired:?}");
    assert_contents(&path, KIND, Precision::Raw, repaired.frames as usize, repaired.atoms);
}
