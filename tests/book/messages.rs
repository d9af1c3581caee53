//! Tests that the pages about messages quote only messages that the program can print, and that one of these pages
//! quotes every error about an input.

use std::path::Path;

use crate::{docs, page, pages};

/// Returns the source files below a folder in the form of [`shown`]. Unit tests are left out.
fn sources(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let read = |path: std::path::PathBuf| {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        match path.is_dir() {
            _ if name == "tests" => vec![],
            true => sources(&path),
            false if path.extension().is_some_and(|extension| extension == "rs") => {
                vec![shown(&std::fs::read_to_string(path).unwrap())]
            }
            false => vec![],
        }
    };
    entries.flat_map(read).collect()
}

/// Returns a source file in the form in which pages quote its messages: placeholders become `…`, backticks become
/// quotation marks, string literals that continue on the next line are joined, and an escaped quotation mark becomes
/// `”`, so that the end of a message can be found.
fn shown(source: &str) -> String {
    let code = source.split("#[cfg(test)]\nmod tests {").next().unwrap();
    let mut lines = code.split("\\\n");
    let first = lines.next().unwrap().to_owned();
    let joined = lines.fold(first, |text, line| text + line.trim_start());
    let text = joined.replace("\\\"", "”").replace('`', "'").replace("{{", "{").replace("}}", "}");
    let mut parts = text.split('{');
    let mut result = parts.next().unwrap().to_owned();
    for part in parts {
        match part.split_once('}') {
            Some((name, rest)) if !name.contains(|c: char| c.is_whitespace() || c == '"') => {
                result.push('…');
                result.push_str(rest);
            }
            _ => {
                result.push('{');
                result.push_str(part);
            }
        }
    }
    result
}

/// Returns the messages that a page quotes: all code spans in the first column of its tables.
fn quoted(page: &str) -> Vec<String> {
    let cells = page.lines().filter(|line| line.starts_with("| `")).filter_map(|line| line[1..].split(" | ").next());
    cells.flat_map(|cell| cell.split('`').skip(1).step_by(2)).map(|message| message.replace("\\|", "|")).collect()
}

/// Returns the sources of the program in the form of [`shown`].
fn program() -> Vec<String> {
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"))
}

/// Returns all messages that the pages about messages quote.
fn quotations() -> Vec<String> {
    let folder = docs().join("problems");
    let areas = pages().into_iter().filter(|path| path.starts_with(&folder));
    let texts = areas.map(|path| std::fs::read_to_string(path).unwrap()).chain([page("problems.md")]);
    texts.flat_map(|text| quoted(&text)).collect()
}

/// Returns, for each message that a source file passes directly to `Problem::new`, the longest part without
/// placeholders.
fn faults(source: &str) -> Vec<String> {
    let calls = source.split("Problem::new(").skip(1);
    let arguments = calls.map(|call| call.trim_start().trim_start_matches("format!(").trim_start());
    let texts = arguments.filter_map(|argument| argument.strip_prefix('"')?.split('"').next());
    let punctuation = |c: char| c.is_whitespace() || ":;,.”()".contains(c);
    let parts = texts.filter_map(|text| {
        let parts = text.split('…').flat_map(|part| part.split("\\n"));
        parts.map(|part| part.trim_matches(punctuation)).max_by_key(|part| part.len())
    });
    parts.filter(|part| !part.is_empty()).map(|part| part.replace('”', "\"")).collect()
}

#[test]
fn every_quoted_message_is_one_of_the_program() {
    let messages = quotations();
    assert!(messages.len() >= 1000, "{}", messages.len());
    let sources: Vec<String> = program().iter().map(|source| source.replace('”', "\"")).collect();
    let is_missing = |message: &&String| !sources.iter().any(|source| source.contains(message.as_str()));
    let missing: Vec<_> = messages.iter().filter(is_missing).collect();
    assert!(missing.is_empty(), "{missing:#?}");
}

#[test]
fn every_fault_of_an_input_is_explained() {
    let messages = quotations();
    let all: Vec<String> = program().iter().flat_map(|source| faults(source)).collect();
    assert!(all.len() >= 300, "{}", all.len());
    let is_missing = |fault: &&String| !messages.iter().any(|message| message.contains(fault.as_str()));
    let missing: Vec<_> = all.iter().filter(is_missing).collect();
    assert!(missing.is_empty(), "{} of {} are on no page: {missing:#?}", missing.len(), all.len());
}

#[test]
fn messages_are_found_in_sources_and_pages() {
    let source = "Problem::new(format!(\"no `x` of {n:.3} in {}\", a)); Problem::new(\n    \"one \\\n  \\\"two\\\"\")";
    let text = shown(source);
    assert_eq!(faults(&text), ["no 'x' of", "one \"two"]);
    assert_eq!(quoted("| `a b`<br>`c \\| d` | e `f` |\n|---|---|\n| g | `h` |"), ["a b", "c | d"]);
}
