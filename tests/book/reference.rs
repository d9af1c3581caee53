//! Tests that the reference pages of commands and keys, in the guide and for `man`, equal the text that the program
//! generates.
//!
//! `MD_WRITE_DOCS=1 cargo test --test book reference` writes both pages again.

use std::fmt::Write;

use md::config::{KeyEntry, key_entries};

use crate::{docs, md, page, pages, with_ending};

/// Compares a page of the guide with its generated text, or writes the page if `MD_WRITE_DOCS` is set.
fn assert_page(name: &str, text: &str) {
    if std::env::var_os("MD_WRITE_DOCS").is_some() {
        std::fs::write(docs().join(name), text).unwrap();
    }
    let found = page(name);
    let differs = found.lines().zip(text.lines()).find(|(a, b)| a != b);
    assert!(found == text, "docs/{name} is out of date ({differs:?}); MD_WRITE_DOCS=1 writes it again");
}

#[test]
fn keys_are_those_of_the_program() {
    let mut text = String::from(
        "# Keys of the input file\n\nThe input of `md run` is a [TOML](https://toml.io) file. Quantities are texts with \
         their unit. `md help KEY` prints the entry of a key.\n",
    );
    for KeyEntry { path, about, value, default, only, example } in key_entries() {
        let depth = if path.contains('.') { "###" } else { "##" };
        let _ = writeln!(text, "\n{depth} `{path}`\n\n{}\n\n- value: {}", escaped(about), escaped(&value));
        let _ = writeln!(text, "- default: {}", escaped(&default));
        if let Some(only) = only {
            let _ = writeln!(text, "- only with `{only}`");
        }
        let _ = writeln!(text, "- example: `{example}`");
    }
    assert_page("keys.md", &text);
}

/// Tests that every key exists that the sources or the guide name. A dotted path counts as a key if it begins with a
/// table of the input file: for example, the table `forces.list` makes `forces.list.tolerance` a key.
#[test]
fn keys_in_messages_and_pages_exist() {
    let keys: Vec<_> = key_entries().into_iter().map(|entry| entry.path).collect();
    let is_table = |path: &str| {
        path.contains('.') && keys.iter().any(|key| key.strip_prefix(path).is_some_and(|rest| rest.starts_with('.')))
    };
    let mut files = pages();
    files.extend(with_ending(docs().with_file_name("src"), "rs"));
    let mut found = 0;
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        // a word before a parenthesis is the call of a method
        let words = text.split_inclusive(|c: char| !c.is_ascii_alphanumeric() && !"._".contains(c));
        for word in words.filter(|word| !word.ends_with('(')) {
            let word = word.trim_matches(|c: char| !c.is_ascii_alphanumeric());
            let Some((table, _)) = word.rsplit_once('.').filter(|(table, _)| is_table(table)) else { continue };
            assert!(keys.iter().any(|key| *key == word), "{}: {table} has no key {word}", file.display());
            found += 1;
        }
    }
    assert!(found > 100, "{found}");
}

#[test]
fn commands_are_those_of_the_program() {
    let folder = tempfile::tempdir().unwrap();
    let help = |arguments: &[&str]| {
        let output = md(folder.path()).args(arguments).env("COLUMNS", "100").output().unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stdout)
            .unwrap()
            .lines()
            .map(|line| line.trim_end().to_owned() + "\n")
            .collect::<String>()
    };
    let all = help(&["--help"]);
    let mut text = format!("# Commands\n\nEach entry is the text of `md COMMAND --help`.\n\n```text\n{all}```\n");
    let mut add = |words: &[&str], depth: &str| {
        let _ =
            write!(text, "\n{depth} md {}\n\n```text\n{}```\n", words.join(" "), help(&[words, &["--help"]].concat()));
    };
    for name in commands(&all) {
        add(&[name], "##");
        if name == "analyze" {
            md::analysis::observables::OBSERVABLES.iter().for_each(|entry| add(&["analyze", entry.name], "###"));
        }
    }
    assert_page("commands.md", &text);
}

/// Returns the names of the commands from the output of `md --help`, where each name is indented by two blanks.
fn commands(help: &str) -> Vec<&str> {
    let names =
        help.lines().filter_map(|line| line.strip_prefix("  ")).filter(|line| line.starts_with(char::is_lowercase));
    names.filter_map(|line| line.split_whitespace().next()).collect()
}

#[test]
fn manual_pages_have_every_command_and_every_key() {
    let folder = tempfile::tempdir().unwrap();
    md(folder.path()).args(["man", "pages"]).assert().success();
    let page = |name: &str| std::fs::read_to_string(folder.path().join("pages/man1").join(name)).unwrap();
    let help = String::from_utf8(md(folder.path()).arg("--help").output().unwrap().stdout).unwrap();
    let commands = commands(&help);
    assert!(commands.contains(&"run") && commands.contains(&"report"), "{commands:?}");
    for command in commands {
        assert!(page("md.1").contains(&format!("md\\-{command}(1)")), "{command}");
        assert!(page(&format!("md-{command}.1")).contains(".SH NAME"), "{command}");
    }
    let keys = page("../man5/md-input.5");
    for KeyEntry { path, .. } in key_entries() {
        assert!(keys.contains(&format!("\\fB{path}\\fR")), "{path}");
    }
}

/// Escapes `text` so that Markdown shows it unchanged.
fn escaped(text: &str) -> String {
    let escape = |(index, part): (usize, &str)| match index % 2 {
        0 => part.replace('<', "\\<").replace('*', "\\*").replace('_', "\\_"),
        // a code span
        _ => part.to_owned(),
    };
    text.split('`').enumerate().map(escape).collect::<Vec<_>>().join("`")
}
