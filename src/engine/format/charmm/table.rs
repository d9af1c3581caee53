//! Parameters by the types of atoms. A later file replaces what an earlier one gave, as `read param append` of CHARMM does; one
//! file must not contradict itself in what a system needs.

use std::collections::HashMap;
use std::hash::Hash;

use super::Parsed;
use super::lines::Row;
use crate::error::Problem;

/// A parameter and where it stands.
#[derive(Debug)]
pub(super) struct Entry<V> {
    value: V,
    /// number of the file in the list of files
    file: usize,
    /// 1-based
    line: usize,
    /// the same file gives another value
    contradiction: Option<Problem>,
}

impl<V: PartialEq> Entry<V> {
    pub(super) fn new(value: V, file: usize, row: Row<'_>) -> Self {
        Entry { value, file, line: row.line.number, contradiction: None }
    }

    /// The value. Fails where one file gives two.
    pub(super) fn get(&self) -> Parsed<&V> {
        self.contradiction.clone().map_or(Ok(&self.value), Err)
    }

    /// The value that was given last.
    pub(super) fn last(&self) -> &V {
        &self.value
    }

    /// Replaces the value by that of `new`, which `row` gives; `what` names it.
    pub(super) fn replace(&mut self, mut new: Self, row: Row<'_>, what: impl FnOnce() -> String) {
        if self.file == new.file && self.value != new.value {
            let message = format!("{} is given twice, with other values in line {}", what(), self.line);
            new.contradiction = Some(row.problem(message).help("remove one of them"));
        } else if self.file == new.file {
            new.contradiction = self.contradiction.take();
        }
        *self = new;
    }
}

/// Parameters by types.
#[derive(Debug)]
pub(super) struct Table<K, V>(HashMap<K, Entry<V>>);

impl<K, V> Default for Table<K, V> {
    fn default() -> Self {
        Table(HashMap::new())
    }
}

impl<K: Eq + Hash, V: PartialEq> Table<K, V> {
    pub(super) fn insert(&mut self, key: K, entry: Entry<V>, row: Row<'_>, what: impl FnOnce() -> String) {
        match self.0.get_mut(&key) {
            Some(old) => old.replace(entry, row, what),
            None => {
                self.0.insert(key, entry);
            }
        }
    }

    /// The value of a key, if there is one. Fails where one file gives two.
    pub(super) fn get(&self, key: &K) -> Parsed<Option<&V>> {
        self.0.get(key).map(Entry::get).transpose()
    }
}
