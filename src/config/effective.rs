//! Effective configuration: the given values and all defaults, as TOML from which the same plan can be read.

use std::fmt::Write;

use super::keys::ROOT;
use super::place::Place;
use super::value::{Entry, Table, Value};

/// Returns the whole configuration as text.
pub(super) fn write(root: &Table) -> String {
    let mut text = String::from(
        "# Effective configuration: all settings of the input file, and the defaults of all other keys.\n",
    );
    for key in ROOT {
        match root.get(key.name).map(|entry| &entry.value) {
            Some(Value::Table(table)) => section(&mut text, &format!("[{}]", key.name), table),
            Some(Value::Tables(tables)) => {
                tables.iter().for_each(|table| section(&mut text, &format!("[[{}]]", key.name), table));
            }
            _ => {}
        }
    }
    text
}

fn section(text: &mut String, header: &str, table: &Table) {
    // writing to a String cannot fail
    let _ = writeln!(text, "\n{header}");
    for (key, entry) in &table.entries {
        let note = if entry.place == Place::Default { "  # default" } else { "" };
        let _ = writeln!(text, "{} = {}{note}", key.name, value(entry));
    }
}

fn value(entry: &Entry) -> String {
    match &entry.value {
        Value::Table(table) => braces(table),
        Value::Tables(tables) => match tables.as_slice() {
            [table] => braces(table),
            tables => format!("[{}]", tables.iter().map(braces).collect::<Vec<_>>().join(", ")),
        },
        _ => entry.text.clone(),
    }
}

fn braces(table: &Table) -> String {
    let members: Vec<String> =
        table.entries.iter().map(|(key, entry)| format!("{} = {}", key.name, value(entry))).collect();
    format!("{{ {} }}", members.join(", "))
}
