//! Checks of the values in the input file (types, units, ranges, words, unknown keys), and defaults for missing keys.

use std::path::Path;

use super::key::{Default, Key, Kind, quoted};
use super::keys;
use super::place::Place;
use super::raw::{self, Member, Node, Override, Raw, quote};
use super::value::{Entry, Table, Value};
use crate::ensemble::schedule::Schedule;
use crate::error::{Problem, nearest};
use crate::format::coordinates::cell_of;
use crate::run::Interval;
use crate::units::Dimension;

/// State of the checks: the folder of the input file and the problems found.
pub(super) struct Resolver<'a> {
    /// folder of the input file, to which paths are relative
    pub(super) base: &'a Path,
    /// problems that have been found
    pub(super) problems: Vec<Problem>,
}

impl Resolver<'_> {
    /// Checks the whole input file.
    pub(super) fn root(&mut self, raw: &Raw) -> Table {
        let members = if let Node::Table(members) = &raw.node { members.as_slice() } else { &[] };
        self.table("", keys::ROOT, members, &raw.place)
    }

    /// Checks the entries of a table against its keys. `path` is the dotted name of the table with a final dot, or
    /// empty.
    fn table(&mut self, path: &str, keys: &'static [Key], members: &[Member], place: &Place) -> Table {
        for member in members.iter().filter(|member| !keys.iter().any(|key| key.name == member.name)) {
            self.problems.push(member.name_place.problem(unknown(path, keys, &member.name)));
        }
        let mut table = Table { place: place.clone(), entries: vec![], failed: vec![] };
        for key in keys {
            let member = members.iter().find(|member| member.name == key.name);
            match self.entry(path, key, member, &table) {
                Some(entry) => table.entries.push((key, entry)),
                None if member.is_some() => table.failed.push(key.name),
                None => {}
            }
        }
        table
    }

    fn entry(&mut self, path: &str, key: &'static Key, member: Option<&Member>, table: &Table) -> Option<Entry> {
        if let Some((name, words)) = key.only {
            // if the key in the condition is missing or wrong, a problem has been reported, and the present key cannot
            // be checked
            if !table.word(name).is_some_and(|actual| words.contains(&actual)) {
                if let (Some(member), Some(actual)) = (member, table.get(name)) {
                    let message = format!("\"{}\" has no effect with {name} = {}", key.name, actual.text);
                    let help = format!("remove the key, or set {name} = {}", quoted(words, " or "));
                    self.problems.push(member.name_place.problem(Problem::new(message).help(help)));
                }
                return None;
            }
        }
        let dimension = key.dimension(table);
        if let Some(member) = member {
            return self.value(path, key, dimension, &member.value);
        }
        let text = match key.default {
            Default::Required => {
                let message = format!("missing key \"{path}{}\"", key.name);
                let help = format!("write {} = {}", key.name, key.example);
                self.problems.push(table.place.problem(Problem::new(message).help(help)));
                return None;
            }
            Default::Unset => return None,
            Default::Is(text) => text.to_owned(),
            Default::Rule(_, rule) => rule(table)?,
        };
        let raw = raw::parse_default(&text).expect("every default is valid TOML: a test reads all defaults");
        self.value(path, key, dimension, &raw)
    }

    fn value(&mut self, path: &str, key: &'static Key, dimension: Option<Dimension>, raw: &Raw) -> Option<Entry> {
        let entry = |value: Value, text: String| Some(Entry { value, place: raw.place.clone(), text });
        if let Node::Text(text) = &raw.node
            && let Some(word) = key.words.iter().find(|word| *word == text)
        {
            return entry(Value::Word(word), quote(word));
        }
        let nested = format!("{path}{}.", key.name);
        match (&key.kind, &raw.node) {
            (Kind::Table(keys), Node::Table(members)) => {
                let table = self.table(&nested, keys, members, &raw.place);
                entry(Value::Table(table), String::new())
            }
            (Kind::OneOrMore(keys), Node::Table(members)) => {
                let table = self.table(&nested, keys, members, &raw.place);
                entry(Value::Tables(vec![table]), String::new())
            }
            (Kind::Tables(keys) | Kind::OneOrMore(keys), Node::Array(items)) => {
                let tables = items.iter().filter_map(|item| match &item.node {
                    Node::Table(members) => Some(self.table(&nested, keys, members, &item.place)),
                    other => {
                        self.problems.push(item.place.problem(wrong_type(&format!("{path}{}", key.name), key, other)));
                        None
                    }
                });
                let tables = tables.collect();
                entry(Value::Tables(tables), String::new())
            }
            _ => match scalar(path, key, dimension, &raw.node, self.base) {
                Ok((value, text)) => entry(value, text),
                Err(problem) => {
                    self.problems.push(raw.place.problem(problem));
                    None
                }
            },
        }
    }
}

/// Returns the checked value and the canonical text of a value that is not a table.
fn scalar(
    path: &str,
    key: &Key,
    dimension: Option<Dimension>,
    node: &Node,
    base: &Path,
) -> Result<(Value, String), Problem> {
    let name = format!("{path}{}", key.name);
    let named = |problem: Problem| Problem { message: format!("{name}: {}", problem.message), ..problem };
    let range =
        |words: &str| Problem::new(format!("{name} must be {words}")).help(format!("for example {}", key.example));
    match (&key.kind, node) {
        (Kind::Word, Node::Text(text)) => Err(unknown_word(&name, key, text)),
        (Kind::Text, Node::Text(text)) => Ok((Value::Text(text.clone()), quote(text))),
        (Kind::File | Kind::Folder, Node::Text(text)) if text.is_empty() => Err(range("a path, not an empty text")),
        (Kind::File | Kind::Folder, Node::Text(text)) => {
            let path = absolute(base, text).map_err(named)?;
            Ok((Value::Text(path.clone()), quote(&path)))
        }
        (Kind::Texts | Kind::Folders | Kind::Files, Node::Array(items)) => {
            let texts = items.iter().map(|item| match (&item.node, &key.kind) {
                (Node::Text(text), Kind::Texts) if !text.is_empty() => Ok(text.clone()),
                (Node::Text(text), _) if !text.is_empty() => absolute(base, text).map_err(named),
                _ => Err(range("a list of texts in quotes, none of them empty")),
            });
            let texts: Vec<String> = texts.collect::<Result<_, _>>()?;
            let written: Vec<String> = texts.iter().map(|text| quote(text)).collect();
            Ok((Value::Texts(texts), format!("[{}]", written.join(", "))))
        }
        (Kind::Settings, Node::Table(members)) => settings(members).map_err(named),
        (Kind::Cell, Node::Array(items)) => cell(items).map_err(named)?.ok_or_else(|| range(CELL_WORDS)),
        (Kind::Boolean, Node::Boolean(value)) => Ok((Value::Boolean(*value), value.to_string())),
        (Kind::Integer(low, high), Node::Number { integer: Some(value), .. }) => {
            if (low..=high).contains(&value) {
                Ok((Value::Integer(*value), value.to_string()))
            } else {
                Err(range(&key.expected()))
            }
        }
        // this number is too large for an integer of 64 bits
        (Kind::Integer(low, high), Node::Number { value, .. }) if value.abs() >= i64::MAX as f64 => {
            Err(range(&format!("a whole number from {low} to {high}")))
        }
        (Kind::Number(admissible), Node::Number { value, text, .. }) => {
            if value.is_finite() && admissible.contains(*value) {
                Ok((Value::Number(*value), text.clone()))
            } else {
                Err(range(admissible.words))
            }
        }
        (
            Kind::Quantity(..) | Kind::QuantityBy(..) | Kind::Quantities(..) | Kind::Schedule(..) | Kind::Schedules(..),
            _,
        ) => dimensional(&name, key, dimension.expect("a quantity has one"), node),
        (Kind::Interval, Node::Text(text)) => Ok((Value::Interval(interval(text).map_err(named)?), quote(text.trim()))),
        (Kind::Interval, Node::Number { text, .. }) => {
            let problem = Problem::new("missing unit: an interval must be written as text with its unit");
            Err(named(problem.help(format!("write \"{text} ps\" or \"{text} steps\""))))
        }
        (Kind::Grid, Node::Array(items)) => grid(items).ok_or_else(|| range(GRID_WORDS)),
        (_, node) => Err(wrong_type(&name, key, node)),
    }
}

/// Returns the checked value of a key with a dimension (one or several quantities, or a schedule), and its canonical
/// text.
fn dimensional(name: &str, key: &Key, dimension: Dimension, node: &Node) -> Result<(Value, String), Problem> {
    let named = |problem: Problem| Problem { message: format!("{name}: {}", problem.message), ..problem };
    let (Kind::Quantity(_, admissible)
    | Kind::QuantityBy(.., admissible)
    | Kind::Quantities(_, admissible)
    | Kind::Schedule(_, admissible)
    | Kind::Schedules(_, admissible)) = &key.kind
    else {
        return Err(wrong_type(name, key, node));
    };
    let check = |values: &[f64]| {
        let message = match values.iter().all(|value| admissible.contains(*value)) {
            true if values.is_empty() => format!("{name}: the list is empty"),
            true => return Ok(()),
            false => format!("{name} must be {}", admissible.words),
        };
        Err(Problem::new(message).help(format!("for example {}", key.example)))
    };
    match (&key.kind, node) {
        (Kind::Quantities(..), Node::Text(_) | Node::Array(_)) => {
            let (values, text) = quantities(node, dimension).map_err(named)?;
            check(&values)?;
            Ok((Value::Numbers(values), text))
        }
        (Kind::Schedule(..), Node::Array(items)) => {
            let (schedule, text) = schedule(items, dimension).map_err(named)?;
            check(&values_of(&[&schedule]))?;
            Ok((Value::Schedule(schedule), text))
        }
        (Kind::Schedules(..), Node::Text(_) | Node::Array(_)) => {
            let (schedules, text) = schedules(node, dimension).map_err(named)?;
            check(&values_of(&schedules.iter().collect::<Vec<_>>()))?;
            Ok((Value::Schedules(schedules), text))
        }
        (_, Node::Text(text)) => {
            if nearest(text, key.words.iter().copied()).is_some() {
                return Err(unknown_word(name, key, text));
            }
            let value = dimension.parse(text).map_err(named)?;
            check(&[value])?;
            let value = match key.kind {
                Kind::Schedule(..) => Value::Schedule(value.into()),
                _ => Value::Number(value),
            };
            Ok((value, quote(text.trim())))
        }
        (_, Node::Number { text, .. }) => Err(named(dimension.bare(text))),
        (_, node) => Err(wrong_type(name, key, node)),
    }
}

/// Parses a text with number and unit, or a list of such texts. Returns the values and the canonical text.
fn quantities(node: &Node, dimension: Dimension) -> Result<(Vec<f64>, String), Problem> {
    let one = |node: &Node| match node {
        Node::Text(text) => Ok((dimension.parse(text)?, quote(text.trim()))),
        Node::Number { text, .. } => Err(dimension.bare(text)),
        other => Err(Problem::new(format!("expected {}; found {}", dimension.name(), other.type_name()))),
    };
    let Node::Array(items) = node else { return one(node).map(|(value, text)| (vec![value], text)) };
    let pairs = items.iter().map(|item| one(&item.node)).collect::<Result<Vec<_>, _>>()?;
    let (values, written): (Vec<f64>, Vec<String>) = pairs.into_iter().unzip();
    Ok((values, format!("[{}]", written.join(", "))))
}

/// Returns a schedule of points in the given order, and its canonical text.
fn schedule(items: &[Raw], dimension: Dimension) -> Result<(Schedule, String), Problem> {
    let (points, text) = points(items, dimension)?;
    let help = "for example [[\"0 ps\", ...], [\"50 ps\", ...]]";
    let schedule = Schedule::new(points).ok_or_else(|| Problem::new("times must ascend").help(help))?;
    Ok((schedule, text))
}

/// Parses a value or schedule, or a list of values and schedules. Returns the schedules and the canonical text. A list
/// of pairs of texts is a single schedule.
fn schedules(node: &Node, dimension: Dimension) -> Result<(Vec<Schedule>, String), Problem> {
    let is_pair = |item: &Raw| match &item.node {
        Node::Array(pair) => pair.first().is_some_and(|first| matches!(first.node, Node::Text(_))),
        _ => false,
    };
    let one = |node: &Node| match node {
        Node::Array(items) => schedule(items, dimension),
        _ => quantities(node, dimension).map(|(values, text)| (values[0].into(), text)),
    };
    match node {
        Node::Array(items) if !items.iter().any(is_pair) => {
            let all = items.iter().map(|item| one(&item.node)).collect::<Result<Vec<_>, _>>()?;
            let (schedules, written): (Vec<Schedule>, Vec<String>) = all.into_iter().unzip();
            Ok((schedules, format!("[{}]", written.join(", "))))
        }
        _ => one(node).map(|(schedule, text)| (vec![schedule], text)),
    }
}

/// Returns all values of schedules.
fn values_of(schedules: &[&Schedule]) -> Vec<f64> {
    schedules.iter().flat_map(|schedule| schedule.points().iter().map(|point| point.1)).collect()
}

/// Returns the absolute form of a path that is relative to the folder of the input file.
fn absolute(base: &Path, text: &str) -> Result<String, Problem> {
    let path = std::path::absolute(base.join(text)).map_err(|error| Problem::new(error.to_string()))?;
    // the path comes from TOML, which is UTF-8, so that only the working directory can be invalid UTF-8
    path.into_os_string().into_string().map_err(|_| Problem::new("the path is not valid UTF-8"))
}

/// Returns the points of a schedule, and their text. No point is before the start of the stage.
fn points(items: &[Raw], dimension: Dimension) -> Result<(Vec<(f64, f64)>, String), Problem> {
    let example = "for example [[\"0 ps\", \"100 K\"], [\"50 ps\", \"300 K\"]]";
    if items.is_empty() {
        return Err(Problem::new("the list of times and values is empty").help(example));
    }
    let (mut points, mut written) = (vec![], vec![]);
    for item in items {
        match &item.node {
            Node::Array(pair) if pair.len() == 2 => {
                let mut values = [0.0; 2];
                let mut texts = vec![];
                for ((item, value), dimension) in pair.iter().zip(&mut values).zip([Dimension::Time, dimension]) {
                    *value = match &item.node {
                        Node::Text(text) => {
                            texts.push(quote(text.trim()));
                            dimension.parse(text)?
                        }
                        Node::Number { text, .. } => return Err(dimension.bare(text)),
                        other => {
                            return Err(Problem::new(format!("expected a text with unit, not {}", other.type_name())));
                        }
                    };
                }
                if values[0] < 0.0 {
                    let message = format!("the time {} is before the start of the stage", texts[0]);
                    return Err(
                        Problem::new(message).help("times count from the start of the stage, so begin with \"0 ps\"")
                    );
                }
                points.push((values[0], values[1]));
                written.push(format!("[{}]", texts.join(", ")));
            }
            other => {
                let message = format!("expected pairs of a time and a value, not {}", other.type_name());
                return Err(Problem::new(message).help(example));
            }
        }
    }
    Ok((points, format!("[{}]", written.join(", "))))
}

/// Keys that the settings of a replica may not contain, because these keys apply to the whole ensemble or the whole
/// process.
const OF_THE_ENSEMBLE: [&str; 5] = ["ensemble", "run.threads", "run.pin", "run.max_time", "output.directory"];

/// Parses a table of settings: dotted keys of the input file with their values. Returns the settings and their
/// canonical text.
fn settings(members: &[Member]) -> Result<(Value, String), Problem> {
    let (mut settings, mut written) = (vec![], vec![]);
    for Member { name, value, .. } in members {
        let key = name.split('.').map(str::trim).collect::<Vec<_>>().join(".");
        if OF_THE_ENSEMBLE
            .iter()
            .any(|own| key == *own || key.strip_prefix(own).is_some_and(|rest| rest.starts_with('.')))
        {
            let help = "run.threads, run.pin and output.directory apply to the whole ensemble, and run.max_time \
                        applies to the process";
            return Err(Problem::new(format!("\"{key}\" is not a setting of one replica")).help(help));
        }
        if !key.contains('.') {
            let problem = Problem::new(format!("\"{key}\" is not a dotted key"));
            return Err(problem.help("write the whole key in quotes, for example \"forces.cutoff\" = \"0.9 nm\""));
        }
        written.push(format!("{} = {}", quote(&key), value.text()));
        settings.push(Override::at(&value.place, key, value.text()));
    }
    Ok((Value::Settings(settings), format!("{{ {} }}", written.join(", "))))
}

const CELL_WORDS: &str = "three lengths, or three lengths and three angles, that enclose a volume";

/// Returns a cell with edges a, b, c, and with angles α, β, γ if the angles are not 90°; `None` if no cell has these
/// values.
fn cell(items: &[Raw]) -> Result<Option<(Value, String)>, Problem> {
    let mut values = [0.0, 0.0, 0.0, 90.0, 90.0, 90.0];
    let mut written = vec![];
    if ![3, 6].contains(&items.len()) {
        return Ok(None);
    }
    for (index, item) in items.iter().enumerate() {
        let dimension = if index < 3 { Dimension::Length } else { Dimension::Angle };
        let value = match &item.node {
            Node::Text(text) => dimension.parse(text)?,
            Node::Number { text, .. } => return Err(dimension.bare(text)),
            _ => return Ok(None),
        };
        if let Node::Text(text) = &item.node {
            written.push(quote(text.trim()));
        }
        values[index] = if index < 3 { value } else { value.to_degrees() };
    }
    let [a, b, c, alpha, beta, gamma] = values;
    let cell = cell_of([a, b, c], [alpha, beta, gamma]);
    Ok(cell.map(|cell| (Value::Cell(cell), format!("[{}]", written.join(", ")))))
}

/// Parses an interval: a time above zero, or a whole number of steps.
fn interval(text: &str) -> Result<Interval, Problem> {
    let steps = text.trim().strip_suffix("steps").or_else(|| text.trim().strip_suffix("step"));
    if let Some(number) = steps {
        return match number.trim().parse() {
            Ok(steps) if steps > 0 => Ok(Interval::Steps(steps)),
            _ => Err(Problem::new(format!("\"{text}\" is not a whole number of steps, at least 1"))
                .help("for example \"5000 steps\"")),
        };
    }
    match Dimension::Time.parse(text)? {
        time if time > 0.0 => Ok(Interval::Time(time)),
        _ => Err(Problem::new("must be greater than zero").help("for example \"10 ps\"")),
    }
}

/// Allowed numbers of grid points along an edge. The highest spline order needs at least 8 grid points. A grid of 2048³
/// points takes 128 GiB of complex f64.
const GRID_POINTS: std::ops::RangeInclusive<i64> = 8..=2048;
const GRID_WORDS: &str = "three whole numbers from 8 to 2048";

fn grid(items: &[Raw]) -> Option<(Value, String)> {
    let mut grid = [0usize; 3];
    if items.len() != grid.len() {
        return None;
    }
    for (points, item) in grid.iter_mut().zip(items) {
        match item.node {
            Node::Number { integer: Some(value), .. } if GRID_POINTS.contains(&value) => {
                *points = usize::try_from(value).ok()?;
            }
            _ => return None,
        }
    }
    Some((Value::Grid(grid), format!("{grid:?}")))
}

fn wrong_type(name: &str, key: &Key, found: &Node) -> Problem {
    let help = format!("for example {} = {}", key.name, key.example);
    Problem::new(format!("{name}: expected {}; found {}", key.expected(), found.type_name())).help(help)
}

fn unknown_word(name: &str, key: &Key, text: &str) -> Problem {
    let problem = Problem::new(format!("{name}: unknown value \"{text}\"; expected {}", key.expected()));
    let instead = super::words::INSTEAD.iter().find(|(known, _)| text.eq_ignore_ascii_case(known));
    match (instead, nearest(text, key.words.iter().copied())) {
        (Some((_, advice)), _) => problem.help(*advice),
        (None, Some(word)) => problem.help(format!("did you mean \"{word}\"?")),
        (None, None) => problem,
    }
}

/// Returns the problem of an unknown key. The advice names the first of the following that exists: the key of `md` with
/// the same purpose, for a key of another program; the most similar name in the same table; a key of this name in
/// another table; all names in the same table.
fn unknown(path: &str, keys: &'static [Key], name: &str) -> Problem {
    let place = if path.is_empty() { String::new() } else { format!(" in {}", path.trim_end_matches('.')) };
    let problem = Problem::new(format!("unknown key \"{name}\"{place}"));
    if let Some(path) = keys::of_other_program(name) {
        let import = "`md import` translates input files of GROMACS and AMBER";
        return problem.help(format!("did you mean the key {path}? {import}"));
    }
    if let Some(near) = nearest(name, keys.iter().map(|key| key.name)) {
        return problem.help(format!("did you mean \"{near}\"?"));
    }
    problem.help(match keys::with_name(name) {
        Some(path) => format!("did you mean the key {path}?"),
        None => format!("known keys: {}", keys.iter().map(|key| key.name).collect::<Vec<_>>().join(", ")),
    })
}
