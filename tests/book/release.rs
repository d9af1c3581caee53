//! Tests that the version and the names of a release agree in all files that repeat the version or the names.

use crate::page;

#[test]
fn every_file_names_the_same_version() {
    let version = env!("CARGO_PKG_VERSION");
    let root = |name: &str| page(&format!("../{name}"));
    assert!(root("CITATION.cff").contains(&format!("\nversion: {version}\n")));
    let newest = root("CHANGELOG.md").lines().find(|line| line.starts_with("## ")).map(str::to_owned).unwrap();
    assert!(newest.contains(version) || newest.contains("Unreleased"), "{newest}");
    let install = page("install.md");
    for file in [format!("md_engine-{version}-py3-"), format!("md-{version}-x86_64-linux.tar.gz")] {
        assert!(install.contains(&file), "docs/install.md does not name {file}");
    }
}
