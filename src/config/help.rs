//! Reference text for keys, generated from the table of keys.

use std::fmt::Write;

use super::key::{Key, quoted};
use super::keys;
use crate::error::typing_errors;

/// Returns the help text of the key with the dotted path `path`, wrapped to `width` columns. If no key matches and
/// `path` is a key of another program, the error is the key of `md` with the same purpose. Otherwise the error lists at
/// most three similar paths.
pub fn describe(path: &str, width: usize) -> Result<String, Vec<String>> {
    // a path may consist of the last names only; the path then matches every key that ends with these names
    let wanted = path.trim_matches(['[', ']']);
    let matches: Vec<(String, &Key)> =
        keys::all().into_iter().filter(|(full, _)| full == wanted || full.ends_with(&format!(".{wanted}"))).collect();
    if matches.is_empty() {
        if let Some(path) = keys::of_other_program(wanted) {
            return Err(vec![path.to_owned()]);
        }
        let distance = |full: &str| {
            let last = full.rsplit('.').next().unwrap_or(full);
            strsim::damerau_levenshtein(full, wanted).min(strsim::damerau_levenshtein(last, wanted))
        };
        let all = keys::all().into_iter().map(|(full, _)| (distance(&full), full));
        let mut near: Vec<(usize, String)> = all.filter(|(distance, _)| *distance <= typing_errors(wanted)).collect();
        near.sort();
        return Err(near.into_iter().take(3).map(|(_, full)| full).collect());
    }
    Ok(matches.iter().map(|(full, key)| entry(full, key, width)).collect::<Vec<_>>().join("\n"))
}

/// Documentation of a key for the user.
#[derive(Clone, Debug)]
pub struct KeyEntry {
    /// dotted path of the key
    pub path: String,
    /// meaning of the key
    pub about: &'static str,
    /// accepted values
    pub value: String,
    /// default in words
    pub default: String,
    /// setting of another key that this key requires
    pub only: Option<String>,
    /// example of a line of the input file
    pub example: String,
}

impl KeyEntry {
    fn new(path: &str, key: &Key) -> Self {
        KeyEntry {
            path: path.to_owned(),
            about: key.doc,
            value: key.expected(),
            default: key.default.describe(),
            only: key.only.map(|(name, words)| format!("{name} = {}", quoted(words, " or "))),
            example: format!("{} = {}", key.name, key.example),
        }
    }
}

/// Returns all keys of the input file, in the order of `md help`.
pub fn key_entries() -> Vec<KeyEntry> {
    keys::all().into_iter().map(|(path, key)| KeyEntry::new(&path, key)).collect()
}

fn entry(path: &str, key: &Key, width: usize) -> String {
    let KeyEntry { path, about, value, default, only, example } = KeyEntry::new(path, key);
    let mut text = String::new();
    // writing to a String cannot fail
    let _ = writeln!(text, "{path}\n    {}", wrapped(about, 4, width));
    let _ = writeln!(text, "    value:   {}", wrapped(&value, 13, width));
    let _ = writeln!(text, "    default: {}", wrapped(&default, 13, width));
    if let Some(only) = only {
        let _ = writeln!(text, "    only with {}", wrapped(&only, 14, width));
    }
    let _ = writeln!(text, "    example: {example}");
    for child in key.children() {
        let _ = writeln!(text, "    {:<22} {}", child.name, wrapped(child.doc, 27, width));
    }
    text
}

/// Wraps `text` at blanks to `width` columns, and indents all lines after the first.
fn wrapped(text: &str, indent: usize, width: usize) -> String {
    let mut lines = String::new();
    let mut column = indent;
    for word in text.split(' ') {
        let length = word.chars().count();
        if column > indent && column + 1 + length > width {
            lines.push('\n');
            lines.push_str(&" ".repeat(indent));
            column = indent;
        } else if column > indent {
            lines.push(' ');
            column += 1;
        }
        lines.push_str(word);
        column += length;
    }
    lines
}

/// Lists all keys, each with the first sentence of its description, wrapped to `width` columns.
pub fn overview(width: usize) -> String {
    let mut text = String::new();
    for (path, key) in keys::all() {
        let first = key.doc.split_once(". ").map_or(key.doc, |(first, _)| first);
        let _ = writeln!(text, "{path:<33} {}", wrapped(first.trim_end_matches('.'), 34, width));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_as_wide_as_the_terminal() {
        for width in [60, 100] {
            let text = describe("forces.pme", width).unwrap();
            let is_wide = |line: &&str| line.chars().count() > width && !line.contains("example: ");
            let wide: Vec<&str> = text.lines().filter(is_wide).collect();
            assert!(wide.is_empty(), "{wide:#?}");
            assert!(text.lines().any(|line| line.chars().count() > width - 10));
        }
    }
}
