//! Checks of the files that are named in an input file.

use std::path::Path;

use super::key::{Key, Kind};
use super::value::{Table, Value};
use crate::error::{Problem, nearest};
use crate::observe::replace::directory;

/// Reports every file that the input file names and that does not exist. Suggests the file with the most similar name
/// in the same folder.
pub(super) fn missing_files(table: &Table, problems: &mut Vec<Problem>) {
    for (key, entry) in &table.entries {
        match (&key.kind, &entry.value) {
            (_, Value::Table(nested)) => missing_files(nested, problems),
            (_, Value::Tables(nested)) => nested.iter().for_each(|table| missing_files(table, problems)),
            (Kind::File, Value::Text(text)) => {
                problems.extend(missing_file(key, text).map(|problem| entry.place.problem(problem)));
            }
            (Kind::Files, Value::Texts(texts)) => {
                texts.iter().for_each(|text| problems.extend(missing_file(key, text).map(|p| entry.place.problem(p))));
            }
            _ => {}
        }
    }
}

/// Returns the problem of a path that is not a file; `None` if the path is a file.
fn missing_file(key: &Key, text: &str) -> Option<Problem> {
    let path = Path::new(text);
    if path.is_file() {
        return None;
    }
    if path.exists() {
        let problem = Problem::new(format!("{}: {text} is not a regular file", key.name));
        return Some(problem.help("give a file: folders, pipes and devices cannot be read"));
    }
    let problem = Problem::new(format!("{}: the file {text} does not exist", key.name));
    Some(match neighbour(path) {
        Some(name) => problem.help(format!("did you mean \"{name}\"?")),
        None => problem.help("paths are relative to the folder of the input file"),
    })
}

/// Returns the file name that is most similar to that of `path` in the folder of `path`.
pub(super) fn neighbour(path: &Path) -> Option<String> {
    let folder = directory(path);
    let entries = std::fs::read_dir(folder).ok()?;
    let names: Vec<String> = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
    nearest(path.file_name()?.to_str()?, names.iter().map(String::as_str)).map(str::to_owned)
}
