//! Tests that all pages about methods have the same sections, and that their tables of keys state the defaults of the
//! program.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::{docs, page, pages};

/// Headings that every page about a method must have, in this order.
const SECTIONS: [&str; 5] = ["Keys", "When to use it", "Example", "What is checked", "Cite"];

/// Returns the paths of all pages about methods.
fn methods() -> Vec<PathBuf> {
    pages().into_iter().filter(|path| path.starts_with(docs().join("methods"))).collect()
}

/// Returns a text without Markdown syntax.
fn plain(text: &str) -> String {
    text.chars().filter(|c| !"`\\".contains(*c)).collect::<String>().trim().to_owned()
}

/// Returns the default of every key, as stated on the reference page of keys.
fn defaults() -> BTreeMap<String, String> {
    let text = page("keys.md");
    let (mut found, mut key) = (BTreeMap::new(), String::new());
    for line in text.lines() {
        if line.starts_with("## ") || line.starts_with("### ") {
            key = plain(line.trim_start_matches('#'));
        } else if let Some(default) = line.strip_prefix("- default: ") {
            found.insert(key.clone(), plain(default));
        }
    }
    found
}

/// Returns the keys in the tables of a page, with their defaults. A row begins with a link to a key and ends with the
/// default.
fn rows(text: &str) -> Vec<(String, String)> {
    let rows = text.lines().filter_map(|line| line.strip_prefix("| [`"));
    rows.filter_map(|row| {
        let (key, rest) = row.split_once("`](../keys.md#")?;
        let default = rest.trim_end().trim_end_matches('|').rsplit(" | ").next()?;
        Some((key.to_owned(), plain(default)))
    })
    .collect()
}

#[test]
fn tables_of_keys_have_the_defaults_of_the_program() {
    let (defaults, mut count) = (defaults(), 0);
    for path in methods() {
        for (key, default) in rows(&std::fs::read_to_string(&path).unwrap()) {
            assert_eq!(defaults.get(&key), Some(&default), "{}: {key}", path.display());
            count += 1;
        }
    }
    assert!(count > 100, "{count} keys");
}

#[test]
fn every_method_has_every_section() {
    for path in methods() {
        let text = std::fs::read_to_string(&path).unwrap();
        let found: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("## ")).collect();
        assert_eq!(found, SECTIONS, "{}", path.display());
    }
}
