//! Detection of the Python readers that tests need.

#![allow(clippy::print_stderr, reason = "a skipped test says why")]

use std::process::Command;

/// Whether `python3` has the given modules (separated by commas). If a module is missing, the function prints that the
/// test is skipped, or fails if `MD_REQUIRE_PYTHON=1` is set.
pub(crate) fn python_has(modules: &str) -> bool {
    let required = std::env::var("MD_REQUIRE_PYTHON").is_ok_and(|value| value == "1");
    let probe = Command::new("python3").args(["-c", &format!("import {modules}")]).output();
    let found = probe.is_ok_and(|output| output.status.success());
    assert!(found || !required, "MD_REQUIRE_PYTHON=1, but python3 with {modules} was not found");
    if !found {
        eprintln!("skipped: python3 with {modules} was not found");
    }
    found
}
