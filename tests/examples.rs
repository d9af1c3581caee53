//! Tests of the examples that run simulations or read their results. The tests compare the results with known values.

#![allow(
    clippy::unwrap_used,
    dead_code,
    reason = "a test stops at the first surprise; nobody calls an example's `main`"
)]

#[path = "../examples/custom_reporter.rs"]
mod custom_reporter;
#[path = "../examples/read_trajectory.rs"]
mod read_trajectory;

use std::path::Path;

use md::observe::trajectory::{StoredFrame, open};
use md::run::Outcome;

#[test]
fn a_custom_reporter_and_a_reader_see_the_same_run() {
    let folder = tempfile::tempdir().unwrap();
    let input = Path::new(env!("CARGO_MANIFEST_DIR")).join("inputs/ala2-vacuum/input.toml");
    let outcome = custom_reporter::run_with_distance(&input, folder.path(), [5, 15], 1000).unwrap();
    assert_eq!(outcome, Outcome::Finished);
    let table = std::fs::read_to_string(folder.path().join("distance.txt")).unwrap();
    let rows: Vec<(f64, f64)> = table
        .lines()
        .map(|line| line.split_once(' ').unwrap())
        .map(|(time, distance)| (time.parse().unwrap(), distance.parse().unwrap()))
        .collect();
    // the file has a row for every tenth step from 0 to 1000
    assert_eq!(rows.len(), 101);
    let path = folder.path().join("trajectory.h5md");
    let centers = read_trajectory::centers(&path).unwrap();
    assert_eq!(centers.iter().map(|(time, _)| *time).collect::<Vec<_>>(), [0.0, 1.0, 2.0]);
    let (mut trajectory, mut frame) = (open(&path).unwrap(), StoredFrame::default());
    for (index, (_, center)) in centers.into_iter().enumerate() {
        trajectory.read(index, &mut frame).unwrap();
        let (time, distance) = rows[50 * index];
        let expected = (frame.positions[5] - frame.positions[15]).norm();
        // the printed text has six decimals, and the trajectory stores positions in f32
        assert!(time == frame.time && (distance - expected).abs() < 2e-6, "{distance} for {expected} at {time} ps");
        assert!((center * 22.0 - frame.positions.iter().copied().sum()).norm() < 1e-9);
    }
    let lines = read_trajectory::radius_of_gyration(&path, "all").unwrap();
    assert!(lines[0].starts_with("mean         0."), "{lines:?}");
}

/// Writes an executable script to a folder that comes first in `PATH`.
fn write_program(folder: &Path, name: &str, text: &str) {
    use std::os::unix::fs::PermissionsExt;
    let path = folder.join(name);
    std::fs::write(&path, format!("#!/bin/bash\n{text}\n")).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// Runs the Slurm scripts with replacements for the commands of Slurm. Each replacement records its arguments.
#[test]
fn scripts_for_slurm_queue_again_what_has_stopped() {
    let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/slurm");
    for (script, run) in [("array.sh", "md run --replica 7 a b.toml"), ("mpi.sh", "md run a b.toml")] {
        for (code, ended) in [(0, 0), (3, 3), (4, 4), (143, 143)] {
            let folder = tempfile::tempdir().unwrap();
            write_program(folder.path(), "srun", &format!("echo srun \"$@\" >>calls; exit {code}"));
            write_program(folder.path(), "scontrol", "echo scontrol \"$@\" >>calls");
            let path = format!("{}:{}", folder.path().display(), std::env::var("PATH").unwrap());
            let mut command = std::process::Command::new("bash");
            command.arg(scripts.join(script)).arg("a b.toml").current_dir(folder.path()).env("PATH", path);
            command.env("SLURM_JOB_ID", "42").env("SLURM_ARRAY_TASK_ID", "7").env("SLURM_CPUS_PER_TASK", "8");
            assert_eq!(command.status().unwrap().code(), Some(ended), "{script}");
            let calls = std::fs::read_to_string(folder.path().join("calls")).unwrap();
            let mut lines = calls.lines();
            let first = lines.next().unwrap();
            assert!(first.starts_with("srun --cpus-per-task=8 ") && first.ends_with(run), "{first}");
            assert_eq!(lines.next(), (code == 3).then_some("scontrol requeue 42"), "{script}");
        }
        let missing = std::process::Command::new("bash").arg(scripts.join(script)).output().unwrap();
        assert!(
            !missing.status.success() && String::from_utf8_lossy(&missing.stderr).contains("the input file is missing")
        );
    }
}
