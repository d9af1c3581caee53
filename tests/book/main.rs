//! Tests of the guide in `docs`: its links, its generated reference, and the commands that it shows.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test stops at the first surprise")]

mod blocks;
mod commands;
mod fences;
mod files;
#[path = "../helix/mod.rs"]
mod helix;
mod links;
mod messages;
mod methods;
mod reference;
mod release;

use std::path::{Path, PathBuf};

use assert_cmd::Command;

/// Folder of the guide.
fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs")
}

/// Returns the paths of all pages of the guide, including pages in subfolders.
fn pages() -> Vec<PathBuf> {
    with_ending(docs(), "md")
}

/// Returns, sorted, all files in a folder and its subfolders with the extension `ending`.
fn with_ending(folder: PathBuf, ending: &str) -> Vec<PathBuf> {
    let (mut found, mut folders) = (vec![], vec![folder]);
    while let Some(folder) = folders.pop() {
        for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == ending) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn page(name: &str) -> String {
    std::fs::read_to_string(docs().join(name)).unwrap()
}

/// Returns a command that runs `md` in the given folder.
fn md(folder: &Path) -> Command {
    isolated(Command::cargo_bin("md").unwrap(), folder)
}

/// Returns the command with a folder to run in, and without variables that change what `md` does and prints.
fn isolated(mut command: Command, folder: &Path) -> Command {
    command.current_dir(folder).env_remove("MD_SIMD").env("NO_COLOR", "1").env("CUDA_VISIBLE_DEVICES", "");
    command
}
