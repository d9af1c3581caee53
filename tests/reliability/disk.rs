//! Possible contents of a disk after a loss of power, derived from the journal of the calls that changed files.
//!
//! A sync of a file makes the bytes and the length of the file permanent. A sync of a folder makes the names in the
//! folder permanent. Changes after the last sync may or may not be on the disk. All names have their state at a single
//! moment after the last sync, as in file systems with a journal. Each sector of a file, and the length of the file,
//! may have its state at a different moment.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use crate::journal::Call;

/// Bytes that a disk writes atomically.
const SECTOR: usize = 512;

/// The calls that changed one file, including calls after the file was renamed.
#[derive(Default)]
struct File<'a> {
    calls: Vec<(usize, &'a Call)>,
}

impl File<'_> {
    /// Returns the contents of the file directly before call number `time`.
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

    /// Returns the number of the last sync before call number `time`. The disk may hold the contents of the file at any
    /// moment from this sync on.
    fn synced(&self, time: usize) -> usize {
        let mut syncs = self.calls.iter().filter(|(at, call)| call.kind == "sync" && *at < time);
        syncs.next_back().map_or(0, |(at, _)| *at)
    }
}

/// All calls that changed a disk.
pub(crate) struct Disk<'a> {
    calls: &'a [Call],
    files: Vec<File<'a>>,
    /// index of the file that each call created or changed
    file_of: Vec<Option<usize>>,
}

impl<'a> Disk<'a> {
    /// Replays the calls that changed a folder which was empty at the start.
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

    /// Returns the names in the folder directly before call number `time`. A name belongs to a file, or to a symbolic
    /// link with a target.
    fn names(&self, time: usize) -> BTreeMap<&'a Path, Result<usize, &'a Path>> {
        let mut names: BTreeMap<&Path, Result<usize, &Path>> = BTreeMap::new();
        for (call, file) in self.calls.iter().zip(&self.file_of).take(time) {
            match (call.kind.as_str(), file) {
                ("create", Some(file)) => drop(names.insert(&call.path, Ok(*file))),
                ("symlink", _) => drop(names.insert(&call.other, Err(&call.path))),
                ("unlink", _) => drop(names.remove(call.path.as_path())),
                ("link", _) => drop(names.insert(&call.other, names[call.path.as_path()])),
                // renaming between two names of the same file does nothing
                ("rename", _) if names.get(call.other.as_path()) != names.get(call.path.as_path()) => {
                    let file = names.remove(call.path.as_path()).unwrap();
                    names.insert(&call.other, file);
                }
                _ => {}
            }
        }
        names
    }

    /// Writes into `folder` a possible state after a loss of power before call number `time`. `pick(n)` chooses one of
    /// `n` possible states of a name or sector, ordered from the oldest. The first state is the one that is certainly
    /// on the disk, and the last state is the one that the program requested.
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
