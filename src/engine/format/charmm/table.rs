//! Tables of parameters by atom types. A later file replaces the values of an earlier file, like CHARMM's `read param
//! append`. It is an error if a single file gives two different values for a parameter that a system needs.

use std::collections::HashMap;
use std::hash::Hash;

use super::Parsed;
use super::lines::Row;
use crate::error::Problem;

/// Value of a parameter, with the file and the line that state the value.
#[derive(Debug)]
pub(super) struct Entry<V> {
    value: V,
    /// index of the file in the list of parameter files
    file: usize,
    /// 1-based line number
    line: usize,
    /// error to report when the parameter is used, if the same file gives two different values
    contradiction: Option<Problem>,
}

impl<V: PartialEq> Entry<V> {
    pub(super) fn new(value: V, file: usize, row: Row<'_>) -> Self {
        Entry { value, file, line: row.line.number, contradiction: None }
    }

    /// Returns the value of the parameter. Returns an error if one file gives two different values.
    pub(super) fn get(&self) -> Parsed<&V> {
        self.contradiction.clone().map_or(Ok(&self.value), Err)
    }

    /// Returns the last of the values that the files state for the parameter.
    pub(super) fn last(&self) -> &V {
        &self.value
    }

    /// Replaces the value by `new`. `row` is the row of the new value, and `what` names the parameter in the error.
    pub(super) fn replace(&mut self, mut new: Self, row: Row<'_>, what: impl FnOnce() -> String) {
        if self.file == new.file && self.value != new.value {
            let message = format!("{} is given twice, with different values in line {}", what(), self.line);
            new.contradiction = Some(row.problem(message).help("remove one of them"));
        } else if self.file == new.file {
            new.contradiction = self.contradiction.take();
        }
        *self = new;
    }
}

/// Table of parameters by atom types.
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

    /// Returns the value of a key; `None` if no file has the key. If one file gives two different values for the key,
    /// returns an error.
    pub(super) fn get(&self, key: &K) -> Parsed<Option<&V>> {
        self.0.get(key).map(Entry::get).transpose()
    }
}
