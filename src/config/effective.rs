//! Effective configuration: the given values and all defaults, as TOML from which the same plan can be read.

use std::fmt::Write;

use super::key::{Default, Key};
use super::keys::ROOT;
use super::place::Place;
use super::value::{Entry, Table, Value};

/// Comment after a value that the input file does not set.
const DEFAULT: &str = "  # default";

/// Setting of the input file that differs from its default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GivenSetting {
    /// heading of the section, such as `forces` or `stage 2`
    pub section: String,
    /// name of the key
    pub key: String,
    /// value as TOML
    pub value: String,
    /// default in words
    pub default: String,
}

/// Lists the settings that differ from their defaults in the text of an effective configuration.
pub fn given(effective: &str) -> Vec<GivenSetting> {
    let (mut found, mut section, mut keys, mut tables): (Vec<GivenSetting>, String, &[Key], usize) =
        (vec![], String::new(), &[], 0);
    for line in effective.lines() {
        if let Some(name) = line.strip_prefix('[') {
            let name = name.trim_matches(['[', ']']);
            tables = if line.starts_with("[[") { tables + 1 } else { 0 };
            section = if tables > 0 { format!("{name} {tables}") } else { name.to_owned() };
            keys = ROOT.iter().find(|key| key.name == name).map_or(&[], Key::children);
        } else if let Some((key, value)) = line.split_once(" = ").filter(|_| !line.ends_with(DEFAULT)) {
            let default = keys.iter().find(|known| known.name == key).map_or(Default::Unset, |known| known.default);
            if default.describe() != value {
                let (key, value) = (key.to_owned(), value.to_owned());
                found.push(GivenSetting { section: section.clone(), key, value, default: default.describe() });
            }
        }
    }
    found
}

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
        let note = if entry.place == Place::Default { DEFAULT } else { "" };
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    #[test]
    fn settings_that_differ_from_their_defaults() {
        let text = "[system]\ntopology = \"a.top\"\ncoordinates = \"a.gro\"\n[forces]\ncutoff = \"1.2 nm\"\n[run]\nseed = 1\n\
                    [[stage]]\nkind = \"minimize\"\n[[stage]]\nkind = \"dynamics\"\nduration = \"10 ps\"\ntimestep = \"2 fs\"\n";
        let config = Config::parse(text, "input.toml".as_ref(), &[]).expect("a valid input");
        let found = given(&config.effective);
        let named: Vec<(&str, &str)> =
            found.iter().map(|setting| (setting.section.as_str(), setting.key.as_str())).collect();
        // the seed is not listed, because the file sets the seed to its default value
        assert!(named.contains(&("forces", "cutoff")) && !named.contains(&("run", "seed")), "{named:?}");
        assert!(named.contains(&("stage 2", "duration")) && named.contains(&("stage 1", "kind")), "{named:?}");
        let cutoff = found.iter().find(|setting| setting.key == "cutoff").expect("the cutoff");
        assert_eq!(cutoff.value, "\"1.2 nm\"");
        assert_eq!(cutoff.default, "\"force-field\"");
    }
}
