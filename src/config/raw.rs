//! Unchecked input file: TOML values with their positions in the file. Command-line options replace some of the
//! values.

use std::ops::Range;
use std::sync::Arc;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::place::Place;
use crate::error::Problem;

/// Value as written in the input file, with its position.
#[derive(Clone, Debug)]
pub(super) struct Raw {
    pub(super) node: Node,
    pub(super) place: Place,
}

/// TOML types that the input file uses.
#[derive(Clone, Debug)]
pub(super) enum Node {
    Text(String),
    /// number: digits as written, the value as an integer if the number is an integer, and the value as `f64`
    Number {
        text: String,
        integer: Option<i64>,
        value: f64,
    },
    Boolean(bool),
    Datetime,
    Array(Vec<Raw>),
    Table(Vec<Member>),
}

/// Key of a table with its value.
#[derive(Clone, Debug)]
pub(super) struct Member {
    pub(super) name: String,
    pub(super) name_place: Place,
    pub(super) value: Raw,
}

impl Node {
    /// Returns the TOML type in words.
    pub(super) fn type_name(&self) -> &'static str {
        match self {
            Node::Text(_) => "text",
            Node::Number { integer: Some(_), .. } => "a whole number",
            Node::Number { .. } => "a number",
            Node::Boolean(_) => "true or false",
            Node::Datetime => "a date",
            Node::Array(_) => "a list",
            Node::Table(_) => "a table",
        }
    }
}

impl Raw {
    /// Returns the value as TOML on one line.
    pub(super) fn text(&self) -> String {
        match &self.node {
            Node::Text(text) => quote(text),
            Node::Number { integer: Some(value), .. } => value.to_string(),
            Node::Number { text, .. } => text.clone(),
            Node::Boolean(value) => value.to_string(),
            // no key accepts a date, so an arbitrary date stands for the value in the error message
            Node::Datetime => "1970-01-01".to_owned(),
            Node::Array(items) => format!("[{}]", items.iter().map(Raw::text).collect::<Vec<_>>().join(", ")),
            Node::Table(members) => {
                let one = |member: &Member| format!("{} = {}", quote(&member.name), member.value.text());
                format!("{{ {} }}", members.iter().map(one).collect::<Vec<_>>().join(", "))
            }
        }
    }
}

/// Parses a whole input file.
pub(super) fn parse(text: &str) -> Result<Raw, Problem> {
    match DeTable::parse(text) {
        Ok(table) => {
            // a required key that the whole file lacks is reported at the first byte of the file
            Ok(Raw { node: Node::Table(members(table.get_ref(), &Place::File)), place: Place::File(0..0) })
        }
        Err(error) => {
            let problem = Problem::new(format!("not valid TOML: {}", error.message()));
            let Some(span) = error.span() else { return Err(problem) };
            let help = advice(error.message(), text.get(span.clone()).unwrap_or_default());
            let problem = problem.at_span(span);
            Err(match help {
                Some(help) => problem.help(help),
                None => problem,
            })
        }
    }
}

/// Returns advice about frequent mistakes. `message` is the message of the TOML parser, and `found` the text at fault.
fn advice(message: &str, found: &str) -> Option<String> {
    let has = |words: &str| message.contains(words);
    if has("duplicate key") {
        return Some(match found {
            "stage" => "write [[stage]] with two brackets before every stage".to_owned(),
            _ => "a table can have each key only once".to_owned(),
        });
    }
    if has("string values must be quoted") {
        return Some(format!("write the value with its unit in quotation marks, as in \"{found}\""));
    }
    (has("unicode") || has("escape")).then(|| {
        r"in quotation marks a backslash begins a special character: write the path as 'C:\folder' with single quotes, or with / instead of \"
            .to_owned()
    })
}

/// Parses the default of a key.
pub(super) fn parse_default(text: &str) -> Result<Raw, Problem> {
    parse_at(text, &Place::Default)
}

/// Parses one value as if it were written at `place`.
pub(super) fn parse_at(text: &str, place: &Place) -> Result<Raw, Problem> {
    DeValue::parse(text)
        .map(|value| convert(&value, &|_| place.clone()))
        .map_err(|error| Problem::new(format!("\"{text}\" is not a TOML value: {}", error.message())))
}

fn members(table: &DeTable<'_>, place: &dyn Fn(Range<usize>) -> Place) -> Vec<Member> {
    table
        .iter()
        .map(|(name, value)| Member {
            name: name.get_ref().to_string(),
            name_place: place(name.span()),
            value: convert(value, place),
        })
        .collect()
}

fn convert(value: &Spanned<DeValue<'_>>, place: &dyn Fn(Range<usize>) -> Place) -> Raw {
    let node = match value.get_ref() {
        DeValue::String(text) => Node::Text(text.to_string()),
        DeValue::Integer(digits) => {
            let integer = i64::from_str_radix(digits.as_str(), digits.radix()).ok();
            // an integer beyond 64 bits is stored as f64, for the error message
            let value = integer.map_or_else(|| digits.as_str().parse().unwrap_or(f64::INFINITY), |i| i as f64);
            Node::Number { text: digits.to_string(), integer, value }
        }
        DeValue::Float(digits) => {
            let text = digits.as_str().to_owned();
            let value = text.parse().unwrap_or(f64::NAN);
            Node::Number { text, integer: None, value }
        }
        DeValue::Boolean(value) => Node::Boolean(*value),
        DeValue::Datetime(_) => Node::Datetime,
        DeValue::Array(items) => Node::Array(items.iter().map(|item| convert(item, place)).collect()),
        DeValue::Table(table) => Node::Table(members(table, place)),
    };
    Raw { node, place: place(value.span()) }
}

/// Largest number of names in a dotted key. The deepest key, `stage.NAME.output.trajectory.every`, has five names. The
/// limit bounds the recursion in which tables are built and dropped.
const DEEPEST: usize = 8;

/// Setting from the command line, or of one replica of an ensemble.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Override {
    /// dotted key; a stage is named by its name or its number, counted from 1
    pub key: String,
    /// TOML value
    pub value: String,
    /// the option as typed, for messages
    pub typed: String,
    /// byte range of the setting in the input file; `None` for an option of the command line
    pub span: Option<Range<usize>>,
}

impl Override {
    /// Parses the text `KEY=VALUE` of the option `--set KEY=VALUE`.
    pub fn set(assignment: &str) -> Result<Self, Problem> {
        let typed = format!("--set {assignment}");
        match assignment.split_once('=') {
            Some((key, value)) if !key.trim().is_empty() && !value.trim().is_empty() => {
                Ok(Self { key: key.trim().to_owned(), value: value.trim().to_owned(), typed, span: None })
            }
            _ => Err(Problem::new(format!("{typed}: expected KEY=VALUE"))
                .help("for example --set run.threads=4 or --set forces.cutoff='\"0.9 nm\"'")),
        }
    }

    /// Creates the override of a command-line option other than `--set`, for example of `--threads 4`, which sets
    /// `run.threads`.
    pub fn option(name: &str, shown: &str, key: &str, value: impl Into<String>) -> Self {
        Self { key: key.to_owned(), value: value.into(), typed: format!("{name} {shown}"), span: None }
    }

    /// Creates an override that sets a key to a TOML value; `place` is the origin of the override.
    pub(super) fn at(place: &Place, key: impl Into<String>, value: impl Into<String>) -> Self {
        let (typed, span) = match place {
            Place::File(span) => (String::new(), Some(span.clone())),
            Place::Option(typed) => (typed.to_string(), None),
            Place::Default => (String::new(), None),
        };
        Self { key: key.into(), value: value.into(), typed, span }
    }

    /// Creates the override of the command-line option `name`, which sets a key to a text.
    pub fn text_option(name: &str, key: &str, text: &str) -> Self {
        Self::option(name, text, key, quote(text))
    }

    /// Sets the value of the key in the raw input file `root`.
    pub(super) fn apply(&self, root: &mut Raw) -> Result<(), Problem> {
        let place = match &self.span {
            Some(span) => Place::File(span.clone()),
            None => Place::Option(Arc::from(self.typed.as_str())),
        };
        let mut value = parse_at(&self.value, &place).map_err(|problem| {
            let help = format!(
                "write the text in two pairs of quotes, because the shell removes the outer pair: --set {}='\"{}\"'",
                self.key, self.value
            );
            place.problem(problem.help(help))
        })?;
        value.place = place.clone();
        if self.key.split('.').count() > DEEPEST {
            return Err(place.problem(
                Problem::new("the dotted key has more levels than any key of the input file")
                    .help("`md help` lists all keys"),
            ));
        }
        let (mut target, mut list) = (root, "");
        for name in self.key.split('.').map(str::trim) {
            target = match (list, &target.node) {
                ("stage", Node::Array(_)) => stage(target, name).map_err(|problem| place.problem(problem))?,
                (_, Node::Array(_)) => element(target, name).map_err(|problem| place.problem(problem))?,
                _ => member(target, name, &place),
            };
            list = name;
        }
        *target = value;
        Ok(())
    }
}

/// Returns the value of `name` in `table`. A missing value is created as an empty table. If `table` is not a table, the
/// value of `table` is first replaced by an empty table.
fn member<'a>(table: &'a mut Raw, name: &str, place: &Place) -> &'a mut Raw {
    let empty = || Raw { node: Node::Table(vec![]), place: place.clone() };
    if !matches!(table.node, Node::Table(_)) {
        *table = empty();
    }
    let Node::Table(members) = &mut table.node else { unreachable!("made a table above") };
    let index = members.iter().position(|member| member.name == name).unwrap_or_else(|| {
        members.push(Member { name: name.to_owned(), name_place: place.clone(), value: empty() });
        members.len() - 1
    });
    &mut members[index].value
}

/// Returns the element of a list with the number `which`, counted from 1.
fn element<'a>(list: &'a mut Raw, which: &str) -> Result<&'a mut Raw, Problem> {
    let Node::Array(items) = &mut list.node else { unreachable!("called for lists") };
    let count = items.len();
    let index = which.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
    index.and_then(|index| items.get_mut(index)).ok_or_else(|| {
        let message = format!("this key holds a list of {count}, and {which} is not the number of an element");
        Problem::new(message).help("write the number of the element, from 1, after the key, or set the whole list")
    })
}

/// Returns the stage named `which`. If no stage has this name, `which` may be the number of a stage, counted from 1.
fn stage<'a>(stages: &'a mut Raw, which: &str) -> Result<&'a mut Raw, Problem> {
    let Node::Array(items) = &mut stages.node else { return Err(Problem::new("the input file has no stages")) };
    let names: Vec<String> = items.iter().map(stage_name).collect();
    let by_number = || which.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
    match names.iter().position(|name| name == which).or_else(by_number).filter(|&index| index < items.len()) {
        Some(index) => Ok(&mut items[index]),
        None => Err(Problem::new(format!("there is no stage \"{which}\"")).help(format!(
            "the stages are {}, or numbers from 1 to {}",
            names.join(", "),
            names.len()
        ))),
    }
}

/// Returns the name of a stage as written, or the kind of the stage if the stage has no name.
pub(super) fn stage_name(stage: &Raw) -> String {
    let Node::Table(members) = &stage.node else { return String::new() };
    let text = |wanted: &str| {
        members.iter().find(|member| member.name == wanted).and_then(|member| match &member.value.node {
            Node::Text(text) => Some(text.clone()),
            _ => None,
        })
    };
    text("name").or_else(|| text("kind")).unwrap_or_default()
}

/// Returns text as a TOML string.
pub(super) fn quote(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}
