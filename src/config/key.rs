//! Keys of the input file: name, kind of value, default, description.
//!
//! The tables of keys are in [`super::keys`]. Parser, defaults, suggestions, `md help` and the effective
//! configuration are all derived from these tables.

use super::value::Table;
use crate::units::Dimension;

/// Key of the input file.
#[derive(Debug)]
pub struct Key {
    /// name of the key inside its table
    pub name: &'static str,
    /// kind of value
    pub kind: Kind,
    /// words that are accepted in addition to values of `kind`
    pub words: &'static [&'static str],
    /// value if the file does not set the key. The default may depend only on keys that precede this key in the same
    /// table
    pub default: Default,
    /// condition under which the key is allowed
    pub only: Option<Condition>,
    /// example of a value, in the syntax of the input file
    pub example: &'static str,
    /// description for the user
    pub doc: &'static str,
}

/// Name and words of an earlier key in the same table. The condition is met if the earlier key has one of these words.
pub type Condition = (&'static str, &'static [&'static str]);

/// Kind of the value of a key.
#[derive(Debug)]
pub enum Kind {
    /// word from the list that the key allows
    Word,
    /// any text
    Text,
    /// text that names a file, which must exist; paths are relative to the folder of the input file
    File,
    /// text that names a folder; paths are relative to the folder of the input file
    Folder,
    /// a list of texts
    Texts,
    /// a list of texts that name folders; paths are relative to the folder of the input file
    Folders,
    /// a list of texts that name files, which must exist; paths are relative to the folder of the input file
    Files,
    /// three edges of a periodic cell, and optionally its three angles
    Cell,
    /// `true` or `false`
    Boolean,
    /// an integer between two limits, both included
    Integer(i64, i64),
    /// a number without a dimension
    Number(Range),
    /// text with number and unit
    Quantity(Dimension, Range),
    /// a quantity, or a list of pairs of a time (counted from the start of the stage) and a quantity
    Schedule(Dimension, Range),
    /// a quantity for all directions, or a list with one quantity for each separately coupled direction
    Quantities(Dimension, Range),
    /// a schedule as in [`Kind::Schedule`], or a list with one schedule or quantity for each separately coupled
    /// direction
    Schedules(Dimension, Range),
    /// a quantity of the first dimension, or of the second dimension if the condition is met
    QuantityBy([Dimension; 2], Condition, Range),
    /// a time interval, or a number of steps
    Interval,
    /// three integers: grid points along a, b, c
    Grid,
    /// dotted keys of the whole file in braces, with their values
    Settings,
    /// keys in braces, or a section at the top level
    Table(&'static [Key]),
    /// any number of sections `[[name]]`
    Tables(&'static [Key]),
    /// keys in braces, or a list of such tables
    OneOrMore(&'static [Key]),
}

/// Allowed values of a number, in internal units.
#[derive(Clone, Copy, Debug)]
pub struct Range {
    /// exclusive lower bound
    pub above: f64,
    /// inclusive upper bound
    pub at_most: f64,
    /// description of the range in words, with usual units
    pub words: &'static str,
}

impl Range {
    /// Range of every finite number.
    pub const ANY: Self = Self { above: f64::NEG_INFINITY, at_most: f64::INFINITY, words: "any number" };
    /// Range of every finite number above zero.
    pub const POSITIVE: Self = Self { above: 0.0, at_most: f64::INFINITY, words: "greater than zero" };

    /// Whether `value` is in the range.
    pub fn contains(self, value: f64) -> bool {
        value > self.above && value <= self.at_most
    }
}

/// Default of a key.
#[derive(Clone, Copy)]
pub enum Default {
    /// no default: the file must set the key
    Required,
    /// the key stays unset
    Unset,
    /// fixed value, as written in TOML
    Is(&'static str),
    /// description of the default in words, and the function that computes the default from earlier keys; the function
    /// returns `None` to leave the key unset
    Rule(&'static str, fn(&Table) -> Option<String>),
}

impl std::fmt::Debug for Default {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.describe())
    }
}

impl Default {
    /// Describes the default in words.
    pub fn describe(&self) -> String {
        match self {
            Default::Required => "none; the key must be set".to_owned(),
            Default::Unset => "not set".to_owned(),
            Default::Is("{}") => "see its keys".to_owned(),
            Default::Is(text) => (*text).to_owned(),
            Default::Rule(words, _) => (*words).to_owned(),
        }
    }
}

/// Returns a key whose other fields have their usual values: no words, no default, no condition and no description.
pub(super) const fn key(name: &'static str, kind: Kind, example: &'static str) -> Key {
    Key { name, kind, words: &[], default: Default::Unset, only: None, example, doc: "" }
}

/// Returns a key whose value is one of `words`.
pub(super) const fn word(name: &'static str, words: &'static [&'static str], example: &'static str) -> Key {
    key(name, Kind::Word, example).words(words)
}

impl Key {
    /// Sets the words that are accepted in addition to values of the kind of the key.
    pub(super) const fn words(self, words: &'static [&'static str]) -> Self {
        Self { words, ..self }
    }

    /// Sets the default.
    pub(super) const fn default(self, default: Default) -> Self {
        Self { default, ..self }
    }

    /// Allows the key only under a condition.
    pub(super) const fn only(self, condition: Condition) -> Self {
        Self { only: Some(condition), ..self }
    }

    /// Sets the description for the user.
    pub(super) const fn doc(self, doc: &'static str) -> Self {
        Self { doc, ..self }
    }

    /// Returns the dimension of the value; `None` if the value has no dimension. `table` contains the earlier keys.
    pub(super) fn dimension(&self, table: &Table) -> Option<Dimension> {
        match self.kind {
            Kind::QuantityBy([usual, other], (name, words), _) => {
                Some(if table.word(name).is_some_and(|word| words.contains(&word)) { other } else { usual })
            }
            Kind::Quantity(dimension, _)
            | Kind::Quantities(dimension, _)
            | Kind::Schedule(dimension, _)
            | Kind::Schedules(dimension, _) => Some(dimension),
            _ => None,
        }
    }

    /// Describes the accepted values: `text with a length, for example "0.9 nm", or "none"`.
    pub fn expected(&self) -> String {
        let quantity = |dimension: &Dimension| format!("{}, for example \"{}\"", dimension.name(), dimension.example());
        let times = |dimension: &Dimension| {
            format!("a list of times and values, [[\"0 ps\", \"{}\"], ...]", dimension.example())
        };
        let kind = match &self.kind {
            Kind::Word => String::new(),
            Kind::Text | Kind::File | Kind::Folder => "text in quotes".to_owned(),
            Kind::Texts | Kind::Folders | Kind::Files => {
                format!("a list of texts in quotes, for example {}", self.example)
            }
            Kind::Cell => format!("three lengths, or three lengths and three angles, for example {}", self.example),
            Kind::Boolean => "true or false".to_owned(),
            Kind::Integer(low, i64::MAX) => format!("a whole number, at least {low}"),
            Kind::Integer(low, high) => format!("a whole number from {low} to {high}"),
            Kind::Number(_) => "a number".to_owned(),
            Kind::Quantity(dimension, _) => format!("text with {}", quantity(dimension)),
            Kind::Schedule(dimension, _) => format!("text with {}, or {}", quantity(dimension), times(dimension)),
            Kind::Schedules(dimension, _) => {
                format!("text with {}, a list of such texts, or {}", quantity(dimension), times(dimension))
            }
            Kind::Quantities(dimension, _) => format!("text with {}, or a list of such texts", quantity(dimension)),
            Kind::QuantityBy([usual, other], (name, words), _) => {
                let words = quoted(words, " or ");
                format!("text with {}; with {name} = {words} {}", quantity(usual), quantity(other))
            }
            Kind::Interval => {
                "text with a time or a number of steps, for example \"10 ps\" or \"5000 steps\"".to_owned()
            }
            Kind::Grid => "three whole numbers, for example [64, 64, 64]".to_owned(),
            Kind::Settings => format!("dotted keys in quotes with their values, for example {}", self.example),
            Kind::Table(_) => format!("keys in braces, for example {}", self.example),
            Kind::Tables(_) => format!("sections with the heading [[{}]]", self.name),
            Kind::OneOrMore(_) => format!("keys in braces, for example {}, or a list of such entries", self.example),
        };
        match (kind.is_empty(), self.words.len()) {
            (_, 0) => kind,
            (true, 1) => quoted(self.words, ""),
            (true, _) => format!("one of {}", quoted(self.words, ", ")),
            (false, _) => format!("{kind}, or {}", quoted(self.words, " or ")),
        }
    }

    /// Returns the keys inside the value of this key.
    pub fn children(&self) -> &'static [Key] {
        match self.kind {
            Kind::Table(keys) | Kind::Tables(keys) | Kind::OneOrMore(keys) => keys,
            _ => &[],
        }
    }
}

/// Returns the words in quotes, joined by `separator`.
pub(super) fn quoted(words: &[&str], separator: &str) -> String {
    words.iter().map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(separator)
}
