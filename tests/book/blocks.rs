//! Tests of the inputs in the guide and in the README: `md check` must accept every block of TOML.
//!
//! The following rules decide how a block is checked.
//!
//! - A block with the key `observable` is a list of observables for `md analyze`, and is not checked here.
//! - A block with the section `[system]` is a whole input. Its topology is the file of the same name below `inputs`.
//! - Every other block is a fragment of an input, which [`BASE`] completes. The stages of the fragment replace the
//!   stages of the base. Every other key of the fragment is added to the base, or replaces the value of the base.

use std::path::{Path, PathBuf};

use toml::{Table, Value};

use crate::fences::{Block, blocks, blocks_of_all_pages};
use crate::md;

/// Path of the input that completes fragments: a peptide in water, in a periodic cell.
const BASE: &str = "ala2-water/input.toml";

/// Whether the block is a list of observables for `md analyze`.
fn is_analysis(block: &Table) -> bool {
    block.contains_key("observable")
}

/// Folder of the ready-to-run inputs.
fn inputs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("inputs")
}

/// Folder below `inputs` that contains a file with the given name.
fn folder_of(file: &str) -> PathBuf {
    let mut folders = std::fs::read_dir(inputs()).unwrap().map(|entry| entry.unwrap().path());
    folders.find(|folder| folder.join(file).is_file()).unwrap_or_else(|| panic!("no input has {file}"))
}

/// Adds the keys of `part` to `base`. Sections that exist in both inputs are merged; stages and all other values are
/// replaced.
fn merge(base: &mut Table, part: Table) {
    for (key, value) in part {
        match (base.get_mut(&key), value) {
            (Some(Value::Table(old)), Value::Table(new)) => merge(old, new),
            (_, value) => {
                base.insert(key, value);
            }
        }
    }
}

/// Returns the complete input for a block. File names in its `[system]` section become paths of files below `inputs`.
fn completed(block: Table) -> Table {
    let (mut input, folder) = match block.get("system").and_then(|system| system.get("topology")) {
        Some(topology) => {
            let folder = folder_of(topology.as_str().unwrap());
            (block, folder)
        }
        None => {
            let path = inputs().join(BASE);
            let mut base: Table = std::fs::read_to_string(&path).unwrap().parse().unwrap();
            merge(&mut base, block);
            (base, path.parent().unwrap().to_owned())
        }
    };
    let system = input.get_mut("system").and_then(Value::as_table_mut).unwrap();
    for (_, value) in system.iter_mut() {
        if let Some(path) = value.as_str().map(|name| folder.join(name)) {
            *value = Value::from(path.to_string_lossy().into_owned());
        }
    }
    input
}

/// Checks a block with the program. Returns the message of the program if the block is refused.
fn fault(block: &Block) -> Option<String> {
    let at = block.place();
    let table: Table = match block.text.parse() {
        Ok(table) => table,
        Err(error) => return Some(format!("{at}: {error}")),
    };
    if is_analysis(&table) {
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    let input = toml::to_string(&completed(table)).unwrap();
    std::fs::write(folder.path().join("input.toml"), &input).unwrap();
    let output = md(folder.path()).args(["check", "input.toml"]).output().unwrap();
    (!output.status.success()).then(|| format!("{at}: {}\n{input}", String::from_utf8_lossy(&output.stderr)))
}

#[test]
fn every_input_in_the_guide_is_accepted() {
    let blocks = blocks_of_all_pages(&["toml"]);
    assert!(blocks.len() >= 20, "{} blocks", blocks.len());
    let faults: Vec<String> = blocks.iter().filter_map(fault).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n\n"));
}

#[test]
fn a_wrong_input_is_found() {
    let text = "a\n```toml\n[forces]\ncutof = \"0.9 nm\"\n```\n```text\nb\n```\n```toml\n[[observable]]\n```\n";
    let found = blocks(Path::new("page.md"), text, &["toml"]);
    let lines: Vec<usize> = found.iter().map(|block| block.line).collect();
    assert_eq!(lines, [3, 10]);
    let message = fault(&found[0]).unwrap();
    assert!(message.contains("page.md:3") && message.contains("cutof"), "{message}");
    assert!(fault(&found[1]).is_none());
}

#[test]
fn a_fragment_is_completed() {
    let block = "[forces]\ncutoff = \"1 nm\"\n[[stage]]\nkind = \"minimize\"\n".parse().unwrap();
    let input = completed(block);
    assert_eq!(input["forces"]["cutoff"].as_str(), Some("1 nm"));
    assert_eq!(input["forces"]["electrostatics"].as_str(), Some("pme"));
    assert_eq!(input["stage"].as_array().map(Vec::len), Some(1));
    assert!(input["system"]["topology"].as_str().is_some_and(|path| Path::new(path).is_file()));
}
