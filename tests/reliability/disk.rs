//! What a disk holds after a loss of power, from the journal of what was asked of it.
//!
//! A sync of a file makes its bytes and length last, a sync of a folder its names. What was asked later may be on the
//! disk or not: the names as they were at some moment since, as in file systems with a journal; every sector of a file,
//! and its length, each as it was at some moment of its own.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use crate::journal::Call;

/// Bytes that a disk writes at once.
const SECTOR: usize = 512;

/// A file's calls; names come and go.
#[derive(Default)]
struct File<'a> {
    calls: Vec<(usize, &'a Call)>,
}

impl File<'_> {
    /// Its contents after the calls before number `time`.
    fn contents(&self, time: usize) -> Vec<u8> {
        let mut bytes = vec![];
        for (_, call) in self.calls.iter().take_while(|(at, _)| *at < time) {
            match call.kind.as_str() {
                "truncate" => bytes.resize(call.length, 0),
                "write" => {
                    bytes.resize(bytes.len().max(call.offset + call.length), 0);
                    bytes[call.offset..call.offset + call.length].copy_from_slice(&call.bytes);
                }
                _ => {}
            }
        }
        bytes
    }

    /// The first moment whose contents are still possible at `time`.
    fn synced(&self, time: usize) -> usize {
        let mut syncs = self.calls.iter().filter(|(at, call)| call.kind == "sync" && *at < time);
        syncs.next_back().map_or(0, |(at, _)| *at)
    }
}

/// Everything asked of a disk.
pub(crate) struct Disk<'a> {
    calls: &'a [Call],
    files: Vec<File<'a>>,
    /// the file that each call made or changed
    file_of: Vec<Option<usize>>,
}

impl<'a> Disk<'a> {
    /// All of it began with an empty folder.
    pub(crate) fn new(calls: &'a [Call]) -> Self {
        let (mut files, mut by_inode, mut file_of) = (vec![], HashMap::new(), vec![]);
        for (at, call) in calls.iter().enumerate() {
            if call.kind == "create" {
                by_inode.insert(call.inode, files.len());
                files.push(File::default());
            }
            let of_file = matches!(call.kind.as_str(), "create" | "write" | "truncate" | "sync");
            let file = by_inode.get(&call.inode).copied().filter(|_| of_file);
            if let Some(file) = file {
                files[file].calls.push((at, call));
            }
            file_of.push(file);
        }
        Disk { calls, files, file_of }
    }

    /// The names after the calls before number `time`: of files, or of what a link points at.
    fn names(&self, time: usize) -> BTreeMap<&'a Path, Result<usize, &'a Path>> {
        let mut names: BTreeMap<&Path, Result<usize, &Path>> = BTreeMap::new();
        for (call, file) in self.calls.iter().zip(&self.file_of).take(time) {
            match (call.kind.as_str(), file) {
                ("create", Some(file)) => drop(names.insert(&call.path, Ok(*file))),
                ("symlink", _) => drop(names.insert(&call.other, Err(&call.path))),
                ("unlink", _) => drop(names.remove(call.path.as_path())),
                ("link", _) => drop(names.insert(&call.other, names[call.path.as_path()])),
                // nothing happens to two names of one file
                ("rename", _) if names.get(call.other.as_path()) != names.get(call.path.as_path()) => {
                    let file = names.remove(call.path.as_path()).unwrap();
                    names.insert(&call.other, file);
                }
                _ => {}
            }
        }
        names
    }

    /// Writes into `folder` what may be left after a loss of power before call number `time`. Of `n` possibilities,
    /// the oldest first, `pick` chooses one: always the first is what is certain, always the last is what was asked.
    pub(crate) fn restore(&self, time: usize, mut pick: impl FnMut(usize) -> usize, folder: &Path) {
        let root = &self.calls[0].path;
        let names_synced = self.calls[..time].iter().rposition(|call| call.kind == "sync" && call.path == *root);
        let names_synced = names_synced.unwrap_or(0);
        for (path, file) in self.names(names_synced + pick(time - names_synced + 1)) {
            let path = folder.join(path.file_name().unwrap());
            let file = match file {
                Ok(file) => &self.files[file],
                Err(target) => {
                    std::os::unix::fs::symlink(target, path).unwrap();
                    continue;
                }
            };
            let synced = file.synced(time);
            let mut moment = || synced + pick(time - synced + 1);
            let moments = [synced, moment(), moment(), time].map(|time| file.contents(time));
            let mut bytes = vec![0; moments[pick(moments.len())].len()];
            for (at, sector) in bytes.chunks_mut(SECTOR).enumerate() {
                let from = moments[pick(moments.len())].get(SECTOR * at..).unwrap_or_default();
                let length = from.len().min(sector.len());
                sector[..length].copy_from_slice(&from[..length]);
            }
            std::fs::write(path, bytes).unwrap();
        }
    }
}
