//! Conversion of a TOML file with tables of observables to words of the command line.
//!
//! ```toml
//! trajectory = ["out/trajectory.h5md"]
//! stride = 2
//! [[observable]]
//! name = "rmsd"
//! select = "backbone"
//! per-residue = true
//! ```

use std::ffi::{OsStr, OsString};
use std::path::Path;

use clap::{Args, Command};
use toml::de::{DeTable, DeValue};
use toml::{Table, Value};

use super::{Common, command};
use crate::analysis::observables::ObservableEntry;
use crate::error::nearest;

/// Largest size of the TOML file in bytes.
const LARGEST_FILE: u64 = 1 << 20;

/// Returns the words of the command line that are equivalent to the TOML file at `path`: each table `[[observable]]` is
/// an observable with its options, and each key outside these tables is an option of the whole analysis. Paths stay
/// relative to the current folder.
pub(super) fn words(path: &Path) -> Result<Vec<OsString>, String> {
    let located = |reason: String| format!("{}: {reason}\n", path.display());
    let bytes = crate::format::file::read(path, LARGEST_FILE).map_err(|error| located(error.to_string()))?;
    let text = String::from_utf8(bytes).map_err(|_| located("the file is not text".to_owned()))?;
    let mut table: Table = text.parse().map_err(|error: toml::de::Error| located(error.to_string()))?;
    let faults = unknown_keys(&text);
    if !faults.is_empty() {
        return Err(faults.iter().map(|(line, fault)| format!("{}:{line}: {fault}\n", path.display())).collect());
    }
    let mut words = vec![];
    let Some(Value::Array(observables)) = table.remove("observable") else {
        return Err(located("expected tables [[observable]], each with a name".to_owned()));
    };
    for (index, observable) in observables.into_iter().enumerate() {
        let number = index + 1;
        let Value::Table(mut observable) = observable else {
            return Err(located(format!("observable {number} is not a table")));
        };
        let Some(Value::String(name)) = observable.remove("name") else {
            return Err(located(format!("observable {number} has no name")));
        };
        words.push(name);
        options(observable, &mut words).map_err(|reason| located(format!("observable {number}: {reason}")))?;
    }
    let trajectories = table.remove("trajectory");
    options(table, &mut words).map_err(located)?;
    match trajectories {
        Some(Value::Array(paths)) => {
            let paths = paths.iter().map(|path| path.as_str().map(str::to_owned));
            words.extend(
                paths.collect::<Option<Vec<_>>>().ok_or_else(|| located("trajectory: expected file names".into()))?,
            );
        }
        Some(Value::String(path)) => words.push(path),
        Some(_) => return Err(located("trajectory: expected a file name, or a list of file names".into())),
        None => {}
    }
    Ok(words.into_iter().map(OsString::from).collect())
}

/// Returns the names of the options of a command.
fn long_names(command: &Command) -> Vec<String> {
    command.get_arguments().filter_map(|argument| argument.get_long().map(str::to_owned)).collect()
}

/// Returns the keys that are no options, each with the number of its line and a similar option, or all options.
fn unknown_keys(text: &str) -> Vec<(usize, String)> {
    let Ok(table) = DeTable::parse(text) else { return vec![] };
    let mut faults = vec![];
    let mut check = |table: &DeTable<'_>, place: &str, besides: &[&str], known: &[String]| {
        for (key, _) in table.iter().filter(|(key, _)| !besides.contains(&key.get_ref().as_ref())) {
            let option = key.get_ref().replace('_', "-");
            if !known.contains(&option) {
                let help = match nearest(&option, known.iter().map(String::as_str)) {
                    Some(near) => format!("did you mean {near}?"),
                    None => format!("the options are {}", known.join(", ")),
                };
                let line = 1 + text[..key.span().start].matches('\n').count();
                faults.push((line, format!("{place} no option {option}; {help}")));
            }
        }
    };
    check(
        table.get_ref(),
        "an analysis has",
        &["observable", "trajectory"],
        &long_names(&Common::augment_args(Command::new("all"))),
    );
    let observables = table.get_ref().get("observable").map(|list| list.get_ref());
    let Some(DeValue::Array(observables)) = observables else { return faults };
    for observable in observables.iter() {
        let DeValue::Table(observable) = observable.get_ref() else { continue };
        let Some(DeValue::String(name)) = observable.get("name").map(|name| name.get_ref()) else { continue };
        // an unknown observable has a message of its own
        let Some(entry) = ObservableEntry::named(OsStr::new(name.as_ref())) else { continue };
        check(observable, &format!("{name} has"), &["name"], &long_names(&command(entry)));
    }
    faults.sort();
    faults
}

/// Appends the keys of a table to `words` as options. If the value of a key is a list, the option is repeated for each
/// item of the list.
fn options(table: Table, words: &mut Vec<String>) -> Result<(), String> {
    for (key, value) in table {
        let option = format!("--{}", key.replace('_', "-"));
        let values = match value {
            Value::Array(values) => values,
            value => vec![value],
        };
        for value in values {
            let text = match value {
                Value::Boolean(false) => continue,
                Value::Boolean(true) => {
                    words.push(option.clone());
                    continue;
                }
                Value::String(text) => text,
                Value::Integer(number) => number.to_string(),
                Value::Float(number) => number.to_string(),
                _ => return Err(format!("{key}: expected text, a number, true or false")),
            };
            words.push(format!("{option}={text}"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_become_options() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let text = "trajectory = [\"a.xtc\", \"b.xtc\"]\nstride = 2\n[[observable]]\nname = \"rmsd\"\nper_residue = true\n\
                    mass-weighted = false\n[[observable]]\nname = \"rg\"\nselect = \"name C*\"\n";
        std::fs::write(file.path(), text).unwrap();
        let found = words(file.path()).unwrap();
        assert_eq!(found, ["rmsd", "--per-residue", "rg", "--select=name C*", "--stride=2", "a.xtc", "b.xtc"]);
        std::fs::write(file.path(), "stride = 2").unwrap();
        assert!(words(file.path()).unwrap_err().contains("expected tables [[observable]]"));
        // all unknown keys are named with their lines
        let text = "strid = 2\n[[observable]]\nname = \"rmsd\"\nper_residu = true\n";
        std::fs::write(file.path(), text).unwrap();
        let message = words(file.path()).unwrap_err();
        let place = file.path().display();
        for line in [
            format!("{place}:1: an analysis has no option strid; did you mean stride?\n"),
            format!("{place}:4: rmsd has no option per-residu; did you mean per-residue?\n"),
        ] {
            assert!(message.contains(&line), "{message}");
        }
    }
}
