//! Tests of single and repeated signals that stop a run.

use std::process::{Child, Command, Stdio};

use crate::case::{Case, signal, wait_for};

/// Checks that the process ends with the exit code of a stopped run that can be continued.
#[track_caller]
fn stops(case: &Case, child: &mut Child, directory: &str) {
    assert_eq!(child.wait().unwrap().code(), Some(3), "{directory}");
    assert!(case.state(directory).step > 0);
}

#[test]
fn each_signal_of_a_scheduler_stops_with_a_checkpoint() {
    let case = Case::endless("");
    for name in ["HUP", "INT", "QUIT", "TERM", "USR2", "XCPU"] {
        let mut child = case.start(&["--output-dir", name]);
        wait_for("a few rows", || case.rows(name) > 3);
        signal(&child, name);
        stops(&case, &mut child, name);
    }
}

#[test]
fn signals_that_come_together_are_one_request() {
    let case = Case::endless("");
    let mut child = case.start(&[]);
    wait_for("a few rows", || case.rows("out") > 3);
    // a paused process receives all signals when the process continues
    for name in ["STOP", "INT", "TERM", "USR2", "CONT"] {
        signal(&child, name);
    }
    stops(&case, &mut child, "out");
}

#[test]
fn nohup_is_respected() {
    let case = Case::endless("");
    let program = assert_cmd::cargo::cargo_bin("md");
    let mut command = Command::new("sh");
    command.args(["-c", "trap '' HUP; exec \"$0\" run input.toml"]).arg(program);
    let mut child = command.current_dir(case.path("")).stderr(Stdio::null()).spawn().unwrap();
    wait_for("a few rows", || case.rows("out") > 3);
    signal(&child, "HUP");
    let rows = case.rows("out");
    wait_for("more rows", || case.rows("out") > rows + 3);
    signal(&child, "TERM");
    stops(&case, &mut child, "out");
}
