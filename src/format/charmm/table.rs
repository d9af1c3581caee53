//! Parameters by the types of atoms. A later file replaces what an earlier one gave, as `read param append` of CHARMM does; one
//! file must not contradict itself.

use std::collections::HashMap;
use std::hash::Hash;

use super::Parsed;
use super::lines::Row;

/// A parameter and where it stands.
#[derive(Debug)]
pub(super) struct Entry<V> {
    pub(super) value: V,
    /// number of the file in the list of files
    file: usize,
    /// 1-based
    line: usize,
}

impl<V: PartialEq> Entry<V> {
    pub(super) fn new(value: V, file: usize, row: Row<'_>) -> Self {
        Entry { value, file, line: row.line.number }
    }

    /// Replaces the value by that of `new`, which `row` gives; `what` names it.
    pub(super) fn replace(&mut self, new: Self, row: Row<'_>, what: impl FnOnce() -> String) -> Parsed<()> {
        if self.file == new.file && self.value != new.value {
            let message = format!("{} is given twice, with other values in line {}", what(), self.line);
            return Err(row.problem(message).help("remove one of them"));
        }
        *self = new;
        Ok(())
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
    pub(super) fn insert(
        &mut self,
        key: K,
        entry: Entry<V>,
        row: Row<'_>,
        what: impl FnOnce() -> String,
    ) -> Parsed<()> {
        match self.0.get_mut(&key) {
            Some(old) => old.replace(entry, row, what),
            None => {
                self.0.insert(key, entry);
                Ok(())
            }
        }
    }

    pub(super) fn get(&self, key: &K) -> Option<&V> {
        self.0.get(key).map(|entry| &entry.value)
    }
}
