//! Tests of checkpoints: a run can continue after a kill or damage at any moment.

use std::fs;

use md::run::Checkpoint;

use crate::case::{Case, signal, wait_for};

/// Checks that a run with damaged files continues, and that its final results equal those of the undisturbed run, bit
/// for bit.
#[track_caller]
fn continues(case: &Case, directory: &str, steps: &str) -> String {
    let messages = case.ends_with(0, &["--steps", steps, "--output-dir", directory]);
    case.ends_with(0, &["--steps", steps, "--output-dir", "whole"]);
    assert!(case.state(directory) == case.state("whole"));
    let energies = |directory: &str| fs::read(case.path(directory).join("energies.csv")).unwrap();
    assert!(energies(directory) == energies("whole"));
    messages
}

/// Tests that the checkpoint before the last is used if the last was truncated after a kill.
#[test]
fn one_that_is_truncated_after_a_kill_leads_back() {
    let case = Case::endless("checkpoint = { every = \"0.1 s\" }");
    let mut child = case.start(&[]);
    let older = case.path("out/checkpoint.prev.md");
    wait_for("a second checkpoint", || {
        Checkpoint::read(&older).is_ok_and(|found| found.is_some_and(|found| !found.body.is_start()))
    });
    signal(&child, "KILL");
    child.wait().unwrap();
    // a kill between the two renames that replace a checkpoint leaves both names with the same file
    fs::remove_file(case.path("out/checkpoint.md")).unwrap();
    fs::write(case.path("out/checkpoint.md"), b"MDCHECKP?").unwrap();
    let steps = Checkpoint::read(&older).unwrap().unwrap().body.state.step + 100;
    let messages = continues(&case, "out", &steps.to_string());
    assert!(messages.contains("is used instead"), "{messages}");
}

#[test]
fn one_that_cannot_be_read_leads_back_and_is_kept() {
    let case = Case::endless("");
    for steps in ["40", "80"] {
        case.ends_with(0, &["--steps", steps]);
    }
    let checkpoint = case.path("out/checkpoint.md");
    fs::remove_file(&checkpoint).unwrap();
    fs::create_dir(&checkpoint).unwrap();
    fs::write(checkpoint.join("notes"), "of the user").unwrap();
    let messages = continues(&case, "out", "120");
    assert!(messages.contains("cannot be read: ") && messages.contains("is used instead"), "{messages}");
    assert!(case.path("out/checkpoint.damaged.md/notes").exists());
    // if neither checkpoint can be read, the message gives both reasons, and no file is changed
    for name in ["checkpoint.md", "checkpoint.prev.md"] {
        fs::remove_file(case.path("out").join(name)).unwrap();
        fs::create_dir(case.path("out").join(name)).unwrap();
    }
    let messages = case.ends_with(5, &["--steps", "160"]);
    assert_eq!(messages.matches("cannot be read").count(), 2, "{messages}");
}

#[test]
fn the_reason_is_told_where_only_the_start_is_left() {
    let case = Case::endless("");
    case.ends_with(0, &["--steps", "40"]);
    fs::write(case.path("out/checkpoint.md"), b"MDCHECKP?").unwrap();
    let messages = case.ends_with(2, &[]);
    for part in ["no checkpoint to continue from", "checkpoint.md: the file is truncated", "the start of the run"] {
        assert!(messages.contains(part), "{part} in {messages}");
    }
}
