//! Tests of the guide in `docs`: its links, its generated reference, and the commands that it shows.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test stops at the first surprise")]

mod files;
mod first_run;
mod links;
mod messages;
mod reference;
mod release;

use std::path::{Path, PathBuf};

use assert_cmd::Command;

/// Folder of the guide.
fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs")
}

fn page(name: &str) -> String {
    std::fs::read_to_string(docs().join(name)).unwrap()
}

fn md(folder: &Path) -> Command {
    let mut command = Command::cargo_bin("md").unwrap();
    command.current_dir(folder).env_remove("MD_SIMD").env("NO_COLOR", "1").env("CUDA_VISIBLE_DEVICES", "");
    command
}
