//! Build script that sets the source revision `MD_REVISION` and the version with the revision, `MD_VERSION`.
//!
//! The revision is the value of `MD_COMMIT` in the environment, or else the git commit of the checkout that is built,
//! or else empty. Tests and the programs they start inherit `MD_REVISION` and `MD_VERSION`. This script must
//! therefore read neither of them: a build started by a test would rebuild everything.

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

/// Returns the commit that is checked out. `None` if this package is only a part of another checkout.
fn revision() -> Option<String> {
    git(&["rev-parse", "--show-prefix"]).filter(String::is_empty)?;
    // every commit and checkout adds a line to this log
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
