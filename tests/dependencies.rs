//! Checks of the dependencies: permissive licences, a single registry, and package features that are the same with and
//! without the development dependencies. `cargo deny` checks more if it is installed (`deny.toml`).

use std::process::Command;

/// Permissive licences, by their SPDX names.
const LICENCES: [&str; 10] = [
    "0BSD",
    "Apache-2.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "bzip2-1.0.6",
    "ISC",
    "MIT",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// Packages whose licence is a separate file. The licence of HDF5 is BSD with three clauses.
const FILES: [(&str, &str); 1] = [("hdf5-metno-src", "ext/hdf5/LICENSE")];

/// Name of the default registry in the metadata.
const REGISTRY: &str = "crates.io-index";

/// Whether an SPDX expression is allowed: every part that is joined by AND must offer a licence of [`LICENCES`]. The
/// older separator `/` means OR.
fn is_allowed(expression: &str) -> bool {
    let name =
        |licence: &str| licence.split(" WITH ").next().map(str::trim).is_some_and(|name| LICENCES.contains(&name));
    let parts = expression.split(" AND ").map(|part| part.trim_matches(['(', ')']).replace('/', " OR "));
    parts.into_iter().all(|part| part.split(" OR ").any(name))
}

#[test]
fn dependencies_have_permissive_licences_and_one_registry() {
    let metadata = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--offline", "--locked", "--filter-platform"])
        .arg(format!("{}-unknown-linux-gnu", std::env::consts::ARCH))
        .args(if cfg!(feature = "mpi") { &["--features", "mpi"][..] } else { &[] })
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs");
    assert!(metadata.status.success(), "{}", String::from_utf8_lossy(&metadata.stderr));
    let metadata: serde_json::Value = serde_json::from_slice(&metadata.stdout).expect("JSON");
    let packages = metadata["packages"].as_array().expect("a list");
    assert!(packages.len() > 100, "only {} packages", packages.len());
    let mut faults = vec![];
    for package in packages {
        let licence = package["license"].as_str().unwrap_or("none");
        let file = (package["name"].as_str(), package["license_file"].as_str());
        let is_known = FILES.iter().any(|&(name, path)| file == (Some(name), Some(path)));
        // only this package itself has no source
        let source = package["source"].as_str();
        if !(is_allowed(licence) || is_known) || source.is_some_and(|source| !source.contains(REGISTRY)) {
            faults.push(format!("{}: licence {licence}, source {source:?}", package["name"]));
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

/// Lines of `cargo tree`: each package that dependencies of the given kinds need, with its version and features.
fn packages(kinds: &str) -> Vec<String> {
    let tree = Command::new(env!("CARGO"))
        .args(["tree", "--offline", "--locked", "--prefix", "none", "--format", "{p} [{f}]", "--edges", kinds])
        .args(if cfg!(feature = "mpi") { &["--features", "mpi"][..] } else { &[] })
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs");
    assert!(tree.status.success(), "{}", String::from_utf8_lossy(&tree.stderr));
    // cargo appends a mark to a package that it has listed before
    String::from_utf8(tree.stdout).expect("UTF-8").lines().map(|line| line.trim_end_matches(" (*)").into()).collect()
}

/// Tests that development dependencies request no further features of shared packages. Cargo compiles a package with
/// the union of the requested features, so with further features `cargo build` after `cargo test` would compile the
/// package and all its dependents again.
#[test]
fn development_dependencies_add_no_features() {
    let with_tests = packages("normal,build,dev");
    let program = packages("normal,build");
    assert!(program.len() > 100, "only {} packages", program.len());
    let changed: Vec<&String> = program.iter().filter(|package| !with_tests.contains(package)).collect();
    assert!(changed.is_empty(), "name the missing features of these packages in Cargo.toml: {changed:#?}");
}

#[test]
fn expressions_are_understood() {
    for good in
        ["MIT/Apache-2.0", "(MIT OR GPL-3.0) AND Unicode-3.0", "Apache-2.0 WITH LLVM-exception OR GPL-2.0", "Zlib"]
    {
        assert!(is_allowed(good), "{good}");
    }
    for bad in ["GPL-3.0", "MIT AND GPL-3.0", "none", "", "(MIT OR ISC) AND SSPL-1.0"] {
        assert!(!is_allowed(bad), "{bad}");
    }
}
