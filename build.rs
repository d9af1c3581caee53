//! Names the source revision for the program, as `MD_REVISION`: what `MD_COMMIT` in the environment says, or git of the checkout
//! that is built, or nothing; and as `MD_VERSION` the version with it. Tests and what they start inherit both variables, so that
//! neither may be one that this script reads: a build by a test would do everything again.

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-env-changed=MD_COMMIT");
    println!("cargo::rerun-if-changed=build.rs");
    let commit = std::env::var("MD_COMMIT").ok().or_else(revision).unwrap_or_default();
    let version = std::env::var("CARGO_PKG_VERSION").unwrap_or_default();
    let shown = if commit.is_empty() { version } else { format!("{version} ({commit})") };
    println!("cargo::rustc-env=MD_REVISION={commit}");
    println!("cargo::rustc-env=MD_VERSION={shown}");
}

/// What is checked out, where this package is a checkout of its own and not a part of somebody else's.
fn revision() -> Option<String> {
    git(&["rev-parse", "--show-prefix"]).filter(String::is_empty)?;
    // every commit and checkout adds a line
    let log = Path::new(&git(&["rev-parse", "--absolute-git-dir"])?).join("logs/HEAD");
    if log.exists() {
        println!("cargo::rerun-if-changed={}", log.display());
    }
    git(&["rev-parse", "--short", "HEAD"])
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
}
