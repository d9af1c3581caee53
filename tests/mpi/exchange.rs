//! Replica exchange over ranks: every replica visits the same sequence of states on any number of ranks.

use std::path::Path;
use std::process::{Command, Stdio};

use super::{ends_with, job_fails, over, process_of, said};
use crate::case::{Case, signal, wait_for};
use crate::swaps::{LANGEVIN, TEMPERATURES, assert_same_exchange, input, status};
use md::observe::exchange::read;
use md::observe::status::RunState;

/// Returns a case with four replicas. Each rank runs its replicas one after the other.
fn case() -> Case {
    Case::new("peptide-vacuum", &input(1, LANGEVIN, TEMPERATURES, 1))
}

#[test]
fn replicas_swap_alike_on_any_number_of_ranks() {
    let case = case();
    case.ends_with(0, &["--output-dir", "whole", "--quiet"]);
    for ranks in [2, 3] {
        let directory = format!("on-{ranks}");
        let text = ends_with(0, &case, ranks, &["--output-dir", &directory]);
        for part in ["replica-4: finished, 0.2 ps", "1 (300 K) - 2 (330 K)", "10 attempts"] {
            assert_eq!(text.matches(part).count(), 1, "{part} in {text}");
        }
        assert_same_exchange(&case, ["whole", &directory]);
        let [one, several] = ["whole", &directory].map(|name| std::fs::read(case.path(name).join("exchange.csv")));
        assert_eq!(one.unwrap(), several.unwrap());
    }
    // the run is done in parts whose last steps are before, at and after an exchange attempt; with five ranks one rank
    // is idle
    for (ranks, steps) in [(3, "10"), (2, "25"), (5, "55"), (1, "60"), (2, "100")] {
        ends_with(0, &case, ranks, &["--output-dir", "parts", "--steps", steps]);
    }
    assert_same_exchange(&case, ["whole", "parts"]);
    assert!(ends_with(0, &case, 3, &["--output-dir", "parts"]).contains("already finished"));
}

#[test]
fn a_replica_whose_checkpoint_is_older_learns_what_is_written_on_another_rank() {
    let case = case();
    case.ends_with(0, &["--output-dir", "whole", "--quiet"]);
    let copy =
        |from: &Path, to: &Path| assert!(Command::new("cp").arg("-r").args([from, to]).status().unwrap().success());
    ends_with(0, &case, 2, &["--output-dir", "parts", "--steps", "35"]);
    let [behind, kept] = ["parts/replica-2", "older"].map(|name| case.path(name));
    copy(&behind, &kept);
    ends_with(0, &case, 3, &["--output-dir", "parts", "--steps", "80"]);
    std::fs::remove_dir_all(&behind).unwrap();
    copy(&kept, &behind);
    ends_with(0, &case, 2, &["--output-dir", "parts"]);
    assert_same_exchange(&case, ["whole", "parts"]);
}

#[test]
fn a_replica_that_fails_on_one_rank_stops_those_of_all() {
    let temperatures = "temperature = [\"300 K\", \"3e8 K\", \"310 K\"]";
    let case = Case::new("peptide-vacuum", &input(1, LANGEVIN, temperatures, 1));
    for _ in 0..2 {
        let text = ends_with(4, &case, 2, &[]);
        for part in ["replica-2: failed: step ", "error: replica-2: step "] {
            assert_eq!(text.matches(part).count(), 1, "{part} in {text}");
        }
        assert!(text.contains("with a checkpoint, because replica-2 has failed"), "{text}");
        let states: Vec<_> = status(&case, "out").replicas.iter().map(|replica| replica.state).collect();
        // the third replica may not have started yet
        assert_eq!(states[..2], [RunState::Stopped, RunState::Failed]);
        assert!([RunState::Stopped, RunState::Waiting].contains(&states[2]), "{states:?}");
    }
}

/// Tests a run that is stopped and killed repeatedly, and continues each time on another number of ranks. The
/// checkpoints of its replicas then belong to different steps.
#[test]
fn ranks_that_are_stopped_and_killed_go_on_with_the_same_bits() {
    let often = "checkpoint = { every = \"0.01 s\" }\n[[stage]]\nname = \"a\"";
    let text = input(1, LANGEVIN, TEMPERATURES, 1).replacen("[[stage]]\nname = \"a\"", often, 1);
    let case = Case::new("peptide-vacuum", &text.replace("steps = 100", "duration = \"20 ns\""));
    let attempts = || read(&case.path("out/exchange.csv")).map_or(0, |(_, rows)| rows.len());
    let replicas = ["out/replica-1", "out/replica-2", "out/replica-3"];
    for (ranks, end, whose) in [(2, "USR2", None), (3, "TERM", Some(1)), (2, "KILL", Some(1)), (3, "KILL", Some(0))] {
        let before = attempts();
        let mut command = over(&case, ranks, "run", &["--quiet"]);
        let mut launcher = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        wait_for("some attempts", || attempts() > before + 3);
        let processes = replicas.map(|replica| process_of(&case, replica));
        match whose {
            None => signal(&launcher, end),
            Some(which) => {
                let [option, process] = [format!("-{end}"), processes[which].to_string()];
                assert!(Command::new("kill").args([option, process]).status().unwrap().success());
            }
        }
        if end == "KILL" {
            job_fails(&mut launcher, &processes);
        } else {
            assert_eq!(launcher.wait().unwrap().code(), Some(3), "{ranks} ranks, {end}");
            assert_eq!(status(&case, "out").state, RunState::Stopped);
        }
    }
    let last = (10 * attempts() + 50).to_string();
    ends_with(0, &case, 2, &["--steps", &last]);
    case.ends_with(0, &["--steps", &last, "--output-dir", "whole", "--quiet"]);
    assert_same_exchange(&case, ["whole", "out"]);
}

#[test]
fn check_says_where_replicas_stay() {
    let output = over(&case(), 3, "check", &[]).output().unwrap();
    let text = said(&output);
    assert!(output.status.success(), "{text}");
    for part in [
        "4 replicas, 1 at once on each of 3 ranks with 1 thread each",
        "replica-2 330 K, seed 2, on rank 1",
        "replica-4 400 K, seed 4, on rank 0",
        "MB for 2 replicas on each rank",
    ] {
        assert_eq!(text.matches(part).count(), 1, "{part} in {text}");
    }
}
