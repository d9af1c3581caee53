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

use std::ffi::OsString;
use std::path::Path;

use toml::{Table, Value};

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
    }
}
