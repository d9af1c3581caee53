//! Tests that an output directory belongs to one run, even if its path or its lock file changes.

use std::fs;

use crate::case::{Case, signal, wait_for};

#[test]
fn a_removed_lock_lets_nobody_in() {
    let case = Case::endless("checkpoint = { every = \"0.01 s\" }");
    let mut child = case.start(&[]);
    wait_for("a few rows", || case.rows("out") > 3);
    fs::remove_file(case.path("out/.md.lock")).unwrap();
    for arguments in [&["--steps", "10"][..], &["--force", "--steps", "10"]] {
        let messages = case.ends_with(2, arguments);
        assert!(messages.contains("in use by another process"), "{messages}");
    }
    // the first run continues and is not affected by the second run
    let rows = case.rows("out");
    wait_for("more rows", || case.rows("out") > rows + 3);
    signal(&child, "TERM");
    assert_eq!(child.wait().unwrap().code(), Some(3));
}

#[test]
fn a_run_whose_folder_was_moved_stops_and_touches_nothing_else() {
    let case = Case::endless("checkpoint = { every = \"0.01 s\" }");
    let mut child = case.start(&[]);
    wait_for("a few rows", || case.rows("out") > 3);
    fs::rename(case.path("out"), case.path("moved")).unwrap();
    fs::create_dir(case.path("out")).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(5));
    assert_eq!(fs::read_dir(case.path("out")).unwrap().count(), 0, "files went into another folder");
    let log = fs::read_to_string(case.path("moved/run.log")).unwrap();
    assert!(log.contains("out: the folder was moved, removed or replaced"), "{log}");
    // the moved directory is intact
    let steps = (case.state("moved").step + 20).to_string();
    for directory in ["moved", "whole"] {
        case.ends_with(0, &["--steps", &steps, "--output-dir", directory]);
    }
    assert!(case.state("moved") == case.state("whole"));
}
