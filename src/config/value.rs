//! Values of keys after checking: typed, in internal units, each with the place it came from.

use std::ops::Range;
use std::rc::Rc;

use super::key::Key;
use super::raw::Override;
use crate::cell::PeriodicCell;
use crate::ensemble::schedule::Schedule;
use crate::error::Problem;
use crate::run::Interval;

/// Where a value was written.
#[derive(Clone, Debug, PartialEq)]
pub enum Place {
    /// bytes of the input file
    File(Range<usize>),
    /// an option of the command line, as typed
    Option(Rc<str>),
    /// nowhere: a default
    Default,
}

impl Place {
    /// A problem at this place.
    pub fn problem(&self, problem: Problem) -> Problem {
        match self {
            Place::File(span) => problem.at_span(span.clone()),
            Place::Option(typed) => Problem { message: format!("{typed}: {}", problem.message), ..problem },
            Place::Default => problem,
        }
    }
}

/// A checked value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// one of the key's words
    Word(&'static str),
    /// text, or an absolute path
    Text(String),
    /// texts, or absolute paths
    Texts(Vec<String>),
    /// a periodic cell
    Cell(PeriodicCell),
    /// yes or no
    Boolean(bool),
    /// whole number
    Integer(i64),
    /// number, internal units
    Number(f64),
    /// numbers, internal units
    Numbers(Vec<f64>),
    /// time or steps
    Interval(Interval),
    /// what changes with time, internal units
    Schedule(Schedule),
    /// several of these
    Schedules(Vec<Schedule>),
    /// points along a, b, c
    Grid([usize; 3]),
    /// settings of other keys
    Settings(Vec<Override>),
    /// nested keys
    Table(Table),
    /// sections
    Tables(Vec<Table>),
}

/// A value, where it came from, and how it is written.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// the value
    pub value: Value,
    /// its place
    pub place: Place,
    /// the value as TOML; empty for tables, which print their entries
    pub text: String,
}

/// The checked keys of one table. A key whose value was wrong is absent, as is one that is not set.
#[derive(Clone, Debug)]
pub struct Table {
    /// the table itself
    pub place: Place,
    /// in the order of the table of keys
    pub entries: Vec<(&'static Key, Entry)>,
    /// keys that are written, but wrongly: reported, and absent from `entries`
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
    /// The entry of a key.
    pub fn get(&self, name: &str) -> Option<&Entry> {
        self.entries.iter().find(|(key, _)| key.name == name).map(|(_, entry)| entry)
    }

    /// True when the user, not a default, set the key, rightly or wrongly.
    pub fn is_given(&self, name: &str) -> bool {
        self.failed.contains(&name) || self.get(name).is_some_and(|entry| entry.place != Place::Default)
    }

    /// True when the key is written, rightly or wrongly, or has a default here.
    pub fn is_set(&self, name: &str) -> bool {
        self.get(name).is_some() || self.failed.contains(&name)
    }

    /// The place of a key, or of the table where the key is not written.
    pub fn place(&self, name: &str) -> &Place {
        self.get(name).map(|entry| &entry.place).filter(|place| **place != Place::Default).unwrap_or(&self.place)
    }

    /// A word.
    pub fn word(&self, name: &str) -> Option<&'static str> {
        match self.get(name)?.value {
            Value::Word(word) => Some(word),
            _ => None,
        }
    }

    /// What a word means, by the table from which its key has its words.
    pub fn meaning<T: Copy>(&self, name: &str, table: &[(&'static str, T)]) -> Option<T> {
        let word = self.word(name)?;
        table.iter().find(|(known, _)| *known == word).map(|(_, meaning)| *meaning)
    }

    /// Text or path.
    pub fn text(&self, name: &str) -> Option<&str> {
        match &self.get(name)?.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Texts.
    pub fn texts(&self, name: &str) -> Option<&[String]> {
        match &self.get(name)?.value {
            Value::Texts(value) => Some(value),
            _ => None,
        }
    }

    /// A periodic cell.
    pub fn cell(&self, name: &str) -> Option<PeriodicCell> {
        match self.get(name)?.value {
            Value::Cell(cell) => Some(cell),
            _ => None,
        }
    }

    /// Yes or no.
    pub fn boolean(&self, name: &str) -> Option<bool> {
        match self.get(name)?.value {
            Value::Boolean(value) => Some(value),
            _ => None,
        }
    }

    /// Whole number.
    pub fn integer(&self, name: &str) -> Option<i64> {
        match self.get(name)?.value {
            Value::Integer(value) => Some(value),
            _ => None,
        }
    }

    /// Number in internal units.
    pub fn number(&self, name: &str) -> Option<f64> {
        match self.get(name)?.value {
            Value::Number(value) => Some(value),
            _ => None,
        }
    }

    /// Numbers in internal units.
    pub fn numbers(&self, name: &str) -> Option<&[f64]> {
        match &self.get(name)?.value {
            Value::Numbers(values) => Some(values),
            _ => None,
        }
    }

    /// Time or steps.
    pub fn interval(&self, name: &str) -> Option<Interval> {
        match self.get(name)?.value {
            Value::Interval(value) => Some(value),
            _ => None,
        }
    }

    /// What changes with time.
    pub fn schedule(&self, name: &str) -> Option<&Schedule> {
        match &self.get(name)?.value {
            Value::Schedule(value) => Some(value),
            _ => None,
        }
    }

    /// Several that change with time.
    pub fn schedules(&self, name: &str) -> Option<&[Schedule]> {
        match &self.get(name)?.value {
            Value::Schedules(values) => Some(values),
            _ => None,
        }
    }

    /// Grid points.
    pub fn grid(&self, name: &str) -> Option<[usize; 3]> {
        match self.get(name)?.value {
            Value::Grid(value) => Some(value),
            _ => None,
        }
    }

    /// Settings of other keys.
    pub fn settings(&self, name: &str) -> Option<&[Override]> {
        match &self.get(name)?.value {
            Value::Settings(value) => Some(value),
            _ => None,
        }
    }

    /// Nested keys.
    pub fn table(&self, name: &str) -> Option<&Table> {
        match &self.get(name)?.value {
            Value::Table(table) => Some(table),
            _ => None,
        }
    }

    /// Sections.
    pub fn tables(&self, name: &str) -> &[Table] {
        match self.get(name).map(|entry| &entry.value) {
            Some(Value::Tables(tables)) => tables,
            _ => &[],
        }
    }
}
