//! Checks that need more than the input file: the files it names.

use std::path::Path;

use super::key::{Kind, nearest};
use super::value::{Table, Value};
use crate::error::Problem;

/// Reports every file that is named but not there, with the nearest name in its folder.
pub(super) fn missing_files(table: &Table, problems: &mut Vec<Problem>) {
    for (key, entry) in &table.entries {
        match (&key.kind, &entry.value) {
            (_, Value::Table(nested)) => missing_files(nested, problems),
            (Kind::File, Value::Text(text)) if Path::new(text).exists() && !Path::new(text).is_file() => {
                let problem = Problem::new(format!("{}: {text} is not a regular file", key.name));
                problems.push(entry.place.problem(problem.help("folders, pipes and devices are not read")));
            }
            (Kind::File, Value::Text(text)) if !Path::new(text).is_file() => {
                let problem = Problem::new(format!("{}: there is no file {text}", key.name));
                problems.push(entry.place.problem(match neighbour(Path::new(text)) {
                    Some(name) => problem.help(format!("did you mean \"{name}\"?")),
                    None => problem.help("paths are relative to the folder of the input file"),
                }));
            }
            _ => {}
        }
    }
}

/// The file in the same folder whose name is nearest.
fn neighbour(path: &Path) -> Option<String> {
    let entries = std::fs::read_dir(path.parent()?).ok()?;
    let names: Vec<String> = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
    nearest(path.file_name()?.to_str()?, names.iter().map(String::as_str)).map(str::to_owned)
}
