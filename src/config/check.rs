//! Checks of the files that are named in an input file.

use std::path::Path;

use super::key::{Key, Kind};
use super::place::Place;
use super::value::{Table, Value};
use crate::error::{Problem, nearest};
use crate::observe::replace::directory;

/// File that an input file names.
pub(super) struct NamedFile<'a> {
    pub(super) path: &'a str,
    key: &'a Key,
    place: &'a Place,
}

/// Returns every file that the input file names.
pub(super) fn named_files(table: &Table) -> Vec<NamedFile<'_>> {
    let mut found = vec![];
    for (key, entry) in &table.entries {
        match (&key.kind, &entry.value) {
            (_, Value::Table(nested)) => found.extend(named_files(nested)),
            (_, Value::Tables(nested)) => found.extend(nested.iter().flat_map(named_files)),
            (Kind::File, Value::Text(path)) => found.push(NamedFile { path, key, place: &entry.place }),
            (Kind::Files, Value::Texts(paths)) => {
                found.extend(paths.iter().map(|path| NamedFile { path, key, place: &entry.place }));
            }
            _ => {}
        }
    }
    found
}

/// Returns the problem of every named file that does not exist. The advice is the file with the most similar name in
/// the same folder.
pub(super) fn missing_files(files: &[NamedFile<'_>]) -> impl Iterator<Item = Problem> {
    files.iter().filter_map(|file| missing_file(file.key, file.path).map(|problem| file.place.problem(problem)))
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
    let files = entries.flatten().filter(|entry| entry.path().is_file());
    let names: Vec<String> = files.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    nearest(path.file_name()?.to_str()?, names.iter().map(String::as_str)).map(str::to_owned)
}
