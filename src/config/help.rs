//! Reference text for keys, from the table of keys.

use std::fmt::Write;

use super::key::Key;
use super::keys;

/// What is known about the key of a dotted path; otherwise the nearest paths.
pub fn describe(path: &str) -> Result<String, Vec<String>> {
    // a bare name stands for every key of that name
    let wanted = path.trim_matches(['[', ']']);
    let matches: Vec<(String, &Key)> = keys::all()
        .into_iter()
        .filter(|(full, _)| full == wanted || (!wanted.contains('.') && full.ends_with(&format!(".{wanted}"))))
        .collect();
    if matches.is_empty() {
        let all = keys::all();
        let distance = |full: &str| {
            let last = full.rsplit('.').next().unwrap_or(full);
            strsim::damerau_levenshtein(full, wanted).min(strsim::damerau_levenshtein(last, wanted))
        };
        let mut near: Vec<(usize, String)> = all.into_iter().map(|(full, _)| (distance(&full), full)).collect();
        near.sort();
        return Err(near.into_iter().take(3).map(|(_, full)| full).collect());
    }
    Ok(matches.iter().map(|(full, key)| entry(full, key)).collect::<Vec<_>>().join("\n"))
}

fn entry(path: &str, key: &Key) -> String {
    let mut text = String::new();
    // writing to a String cannot fail
    let _ = writeln!(text, "{path}\n    {}", key.doc);
    let _ = writeln!(text, "    value:   {}", key.expected());
    let _ = writeln!(text, "    default: {}", key.default.describe());
    if let Some((name, word)) = key.only {
        let _ = writeln!(text, "    only with {name} = \"{word}\"");
    }
    let _ = writeln!(text, "    example: {} = {}", key.name, key.example);
    for child in key.children() {
        let _ = writeln!(text, "    {:<22} {}", child.name, child.doc);
    }
    text
}

/// All keys, one line each.
pub fn overview() -> String {
    let mut text = String::new();
    for (path, key) in keys::all() {
        let _ = writeln!(text, "{path:<36} {}", key.doc);
    }
    text
}
