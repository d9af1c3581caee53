//! Checked values of keys: typed, in internal units, and with their origin.

use super::key::Key;
use super::place::Place;
use super::raw::Override;
use crate::cell::PeriodicCell;
use crate::ensemble::schedule::Schedule;
use crate::error::Problem;
use crate::run::Interval;

/// Checked value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// a word that the key allows
    Word(&'static str),
    /// text, or absolute path
    Text(String),
    /// list of texts, or of absolute paths
    Texts(Vec<String>),
    /// a periodic cell
    Cell(PeriodicCell),
    /// boolean
    Boolean(bool),
    /// integer
    Integer(i64),
    /// number in internal units
    Number(f64),
    /// list of numbers in internal units
    Numbers(Vec<f64>),
    /// interval as a time or a number of steps
    Interval(Interval),
    /// value that may change with time, in internal units
    Schedule(Schedule),
    /// list of schedules
    Schedules(Vec<Schedule>),
    /// grid points along a, b, c
    Grid([usize; 3]),
    /// settings of other keys
    Settings(Vec<Override>),
    /// nested table of keys
    Table(Table),
    /// list of sections
    Tables(Vec<Table>),
}

/// Checked value, with its origin and its text.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// checked value
    pub value: Value,
    /// origin of the value
    pub place: Place,
    /// value as TOML; empty for a table, whose entries are written one by one
    pub text: String,
}

/// Checked keys of one table. A key with a wrong value is missing from `entries`, like a key that is not set.
#[derive(Clone, Debug)]
pub struct Table {
    /// origin of the table
    pub place: Place,
    /// entries in the order of the table of keys
    pub entries: Vec<(&'static Key, Entry)>,
    /// keys whose wrong values have been reported; these keys are missing from `entries`
    pub failed: Vec<&'static str>,
}

impl PartialEq for Table {
    fn eq(&self, other: &Self) -> bool {
        let pairs =
            |table: &Self| table.entries.iter().map(|(key, entry)| (key.name, entry.clone())).collect::<Vec<_>>();
        pairs(self) == pairs(other)
    }
}

impl Table {
    /// Returns the entry of a key.
    pub fn get(&self, name: &str) -> Option<&Entry> {
        self.entries.iter().find(|(key, _)| key.name == name).map(|(_, entry)| entry)
    }

    /// Whether the input file or an option sets the key, even if its value is invalid; false if the value is a
    /// default.
    pub fn is_given(&self, name: &str) -> bool {
        self.failed.contains(&name) || self.get(name).is_some_and(|entry| entry.place != Place::Default)
    }

    /// Whether the key has a value from the input file, an option or its default, even if the value is invalid.
    pub fn is_set(&self, name: &str) -> bool {
        self.get(name).is_some() || self.failed.contains(&name)
    }

    /// Returns the origin of a key, or the origin of the table if the key is not set.
    pub fn place(&self, name: &str) -> &Place {
        self.get(name).map(|entry| &entry.place).filter(|place| **place != Place::Default).unwrap_or(&self.place)
    }

    /// Returns the word that is the value of a key; `None` if the value is not a word.
    pub fn word(&self, name: &str) -> Option<&'static str> {
        let Value::Word(word) = self.get(name)?.value else { return None };
        Some(word)
    }

    /// Returns the meaning of the word that is the value of a key. `table` has the words of the key and their meanings.
    pub fn meaning<T: Copy>(&self, name: &str, table: &[(&'static str, T)]) -> Option<T> {
        let word = self.word(name)?;
        table.iter().find(|(known, _)| *known == word).map(|(_, meaning)| *meaning)
    }

    /// Returns the text or path that is the value of a key.
    pub fn text(&self, name: &str) -> Option<&str> {
        let Value::Text(text) = &self.get(name)?.value else { return None };
        Some(text)
    }

    /// Returns the list of texts that is the value of a key.
    pub fn texts(&self, name: &str) -> Option<&[String]> {
        let Value::Texts(value) = &self.get(name)?.value else { return None };
        Some(value)
    }

    /// Returns the periodic cell that is the value of a key.
    pub fn cell(&self, name: &str) -> Option<PeriodicCell> {
        let Value::Cell(cell) = self.get(name)?.value else { return None };
        Some(cell)
    }

    /// Returns the boolean that is the value of a key.
    pub fn boolean(&self, name: &str) -> Option<bool> {
        let Value::Boolean(value) = self.get(name)?.value else { return None };
        Some(value)
    }

    /// Returns the integer that is the value of a key.
    pub fn integer(&self, name: &str) -> Option<i64> {
        let Value::Integer(value) = self.get(name)?.value else { return None };
        Some(value)
    }

    /// Returns the number that is the value of a key, in internal units.
    pub fn number(&self, name: &str) -> Option<f64> {
        let Value::Number(value) = self.get(name)?.value else { return None };
        Some(value)
    }

    /// Returns the list of numbers that is the value of a key, in internal units.
    pub fn numbers(&self, name: &str) -> Option<&[f64]> {
        let Value::Numbers(values) = &self.get(name)?.value else { return None };
        Some(values)
    }

    /// Returns the interval that is the value of a key.
    pub fn interval(&self, name: &str) -> Option<Interval> {
        let Value::Interval(value) = self.get(name)?.value else { return None };
        Some(value)
    }

    /// Returns the schedule that is the value of a key.
    pub fn schedule(&self, name: &str) -> Option<&Schedule> {
        let Value::Schedule(value) = &self.get(name)?.value else { return None };
        Some(value)
    }

    /// Returns the list of schedules that is the value of a key.
    pub fn schedules(&self, name: &str) -> Option<&[Schedule]> {
        let Value::Schedules(values) = &self.get(name)?.value else { return None };
        Some(values)
    }

    /// Returns the numbers of grid points along a, b, c that are the value of a key.
    pub fn grid(&self, name: &str) -> Option<[usize; 3]> {
        let Value::Grid(value) = self.get(name)?.value else { return None };
        Some(value)
    }

    /// Returns the settings of other keys that are the value of a key.
    pub fn settings(&self, name: &str) -> Option<&[Override]> {
        let Value::Settings(value) = &self.get(name)?.value else { return None };
        Some(value)
    }

    /// Returns the nested table that is the value of a key.
    pub fn table(&self, name: &str) -> Option<&Table> {
        let Value::Table(table) = &self.get(name)?.value else { return None };
        Some(table)
    }

    /// Returns the tables of the sections `[[name]]`; empty if there are none.
    pub fn tables(&self, name: &str) -> &[Table] {
        match self.get(name).map(|entry| &entry.value) {
            Some(Value::Tables(tables)) => tables,
            _ => &[],
        }
    }
}

/// Records a problem at a key of a table.
pub(super) fn report(problems: &mut Vec<Problem>, table: &Table, key: &str, message: impl Into<String>, help: &str) {
    problems.push(table.place(key).problem(Problem::new(message).help(help)));
}
