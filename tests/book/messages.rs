//! The page about messages quotes messages that the program has.

use std::path::Path;

use crate::page;

/// Text of all sources below a folder. Texts that are continued on the next line are joined.
fn sources(folder: &Path) -> String {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let read = |path: std::path::PathBuf| match path.is_dir() {
        true => sources(&path),
        false if path.extension().is_some_and(|extension| extension == "rs") => std::fs::read_to_string(path).unwrap(),
        false => String::new(),
    };
    entries.map(read).collect()
}

#[test]
fn every_quoted_message_is_one_of_the_program() {
    let source = sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
    let mut parts = source.split("\\\n");
    let first = parts.next().unwrap().to_owned();
    let joined = parts.fold(first, |text, part| text + part.trim_start());
    let page = page("problems.md");
    let quoted: Vec<&str> = page.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()).collect();
    assert!(quoted.len() >= 15, "{quoted:?}");
    let missing: Vec<_> = quoted.into_iter().filter(|message| !joined.contains(message)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
