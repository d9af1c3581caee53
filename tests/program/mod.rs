//! Runs the program `md`, for tests of its output.

use std::path::Path;
use std::process::Command;

use assert_cmd::cargo::CommandCargoExt;

/// Runs `md` in a folder. Returns standard output, or exit code and message if the command fails.
pub(crate) fn md(folder: &Path, arguments: &[&str]) -> Result<String, (i32, String)> {
    let output = Command::cargo_bin("md").unwrap().current_dir(folder).args(arguments).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    match output.status.code() {
        Some(0) => Ok(text(output.stdout)),
        code => Err((code.unwrap_or(-1), text(output.stderr))),
    }
}
