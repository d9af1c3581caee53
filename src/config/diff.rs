//! Differences in physics between a run and a changed input file that would continue the run.

use std::path::Path;

use super::key::{Key, Kind};
use super::raw;
use super::resolve::Resolver;
use super::value::{Table, Value};
use super::write::write;
use crate::ensemble::exchange::{Conditions, Exchange};
use crate::ensemble::schedule::Schedule;
use crate::run::Plan;
use crate::units::Dimension;

/// Keys that do not change the physics, in addition to the keys of the section `output`. The paths of included files
/// are in this list, because the fingerprint of the system already detects changed contents of these files.
const FREE: [&str; 9] = [
    "stage.output",
    "system.include",
    "system.parameters",
    "run.device",
    "run.threads",
    "run.pin",
    "run.simd",
    "run.max_time",
    "run.max_steps",
];

/// Relative tolerance for equal quantities that are written with different units, for example "12 A" and "1.2 nm".
/// After conversion the values differ by a few rounding errors of 1.1e-16.
const SPELLING: f64 = 1e-14;

/// Lists the differences in physics between `old` and `new`, one line each; the list is empty if `new` may continue the
/// run of `old`.
///
/// Ignored differences: output, device, threads and limits; longer stages; stages added at the end; files of the same
/// name in another folder. Both plans are written as input files, and the keys of these files are compared, so that
/// values are shown as in an input file. Stages are compared with the stages of the same name.
pub fn physics_diff(old: &Plan, new: &Plan) -> Vec<String> {
    let (Some(old_keys), Some(new_keys)) = (keys(old), keys(new)) else {
        return vec!["the settings cannot be compared".to_owned()];
    };
    let mut found = vec![];
    compare(["", ""], &old_keys, &new_keys, &mut found);
    exchanges(old.exchange.as_ref(), new.exchange.as_ref(), &mut found);
    found
}

/// Returns the checked keys of the input file that describes the physics of `plan`. Returns `None` if a key is refused,
/// which happens only for plans that are not from an input file.
fn keys(plan: &Plan) -> Option<Table> {
    let lines = write(plan, Path::new(""), &|_, _| None);
    let physics = lines.iter().filter(|line| !line.key.starts_with("output.") && !FREE.contains(&line.key.as_str()));
    let text: String = physics.map(|line| format!("{}\n", line.text)).collect();
    let mut resolver = Resolver { base: Path::new(""), problems: vec![] };
    let table = resolver.root(&raw::parse(&text).ok()?);
    resolver.problems.is_empty().then_some(table)
}

/// Compares two tables. `path` is the dotted name of the tables without and with names of stages, for example `stage`
/// and `stage.heat`.
fn compare(path: [&str; 2], old: &Table, new: &Table, found: &mut Vec<String>) {
    let only_old = old.entries.iter().filter(|(key, _)| new.get(key.name).is_none());
    for (key, _) in new.entries.iter().chain(only_old) {
        let [path, shown] = path.map(|path| match path {
            "" => key.name.to_owned(),
            _ => format!("{path}.{}", key.name),
        });
        let tables = [old, new];
        match tables.map(|table| Some(&table.get(key.name)?.value)) {
            [Some(Value::Table(old)), Some(Value::Table(new))] => compare([&path, &shown], old, new, found),
            [Some(Value::Tables(old)), Some(Value::Tables(new))] if path == "stage" => stages(old, new, found),
            [Some(Value::Tables(old)), Some(Value::Tables(new))] => lists([&path, &shown], old, new, found),
            [_, Some(Value::Table(_) | Value::Tables(_))] => found.push(format!("{shown} was added")),
            [Some(Value::Table(_) | Value::Tables(_)), _] => found.push(format!("{shown} was removed")),
            [Some(Value::Integer(old)), Some(Value::Integer(new))] if path == "stage.steps" && new >= old => {}
            [Some(old), Some(new)] if same(&key.kind, old, new) => {}
            _ => {
                let [old, new] = tables.map(|table| spelling(key, table));
                found.push(format!("{shown}: {old} -> {new}"));
            }
        }
    }
}

/// Returns the value of a key as TOML, without digits from rounding errors.
fn spelling(key: &Key, table: &Table) -> String {
    let Some(entry) = table.get(key.name) else { return "not set".to_owned() };
    let number = match &entry.value {
        Value::Number(number) => Some(*number),
        Value::Schedule(schedule) => schedule.constant(),
        _ => None,
    };
    match (key.dimension(table), number) {
        (Some(dimension), Some(number)) => raw::quote(&dimension.show(number)),
        _ => entry.text.clone(),
    }
}

/// Compares the stages of two input files. Stages at the end of `new` may be additional.
fn stages(old: &[Table], new: &[Table], found: &mut Vec<String>) {
    fn named<'a>(stages: &'a [Table], name: &str) -> Option<&'a Table> {
        stages.iter().find(|stage| stage.text("name") == Some(name))
    }
    /// Returns the names of those stages of `of` that `others` has as well, in the order of `of`.
    fn common<'a>(of: &'a [Table], others: &[Table]) -> Vec<&'a str> {
        of.iter().filter_map(|stage| stage.text("name")).filter(|name| named(others, name).is_some()).collect()
    }
    let missing = old.iter().filter_map(|stage| stage.text("name")).filter(|name| named(new, name).is_none());
    found.extend(missing.map(|name| format!("stage \"{name}\" is missing")));
    let mut next = None;
    let mut added = vec![];
    for name in new.iter().rev().filter_map(|stage| stage.text("name")) {
        match (named(old, name), next) {
            (Some(_), _) => next = Some(name),
            (None, Some(next)) => added.push(format!("stage \"{name}\" was added before stage \"{next}\"")),
            (None, None) => {}
        }
    }
    found.extend(added.into_iter().rev());
    let [old_order, new_order] = [common(old, new), common(new, old)];
    if old_order != new_order {
        found.push(format!("the order of the stages: {} -> {}", old_order.join(", "), new_order.join(", ")));
    }
    for name in old_order {
        let (Some(old), Some(new)) = (named(old, name), named(new, name)) else { continue };
        let shown = format!("stage.{name}");
        // the two kinds of stages have different keys
        if let [Some(old), Some(new)] = [old, new].map(|stage| stage.word("kind"))
            && old != new
        {
            found.push(format!("{shown}.kind: \"{old}\" -> \"{new}\""));
        } else {
            compare(["stage", &shown], old, new, found);
        }
    }
}

/// Compares two lists of tables, for example of restraints: tables with the same index if the lists have the same
/// length. Otherwise lists the tables that only one of the lists has.
fn lists([path, shown]: [&str; 2], old: &[Table], new: &[Table], found: &mut Vec<String>) {
    if let ([old], [new]) = (old, new) {
        return compare([path, shown], old, new, found);
    }
    if old.len() == new.len() {
        for (number, (old, new)) in (1..).zip(old.iter().zip(new)) {
            compare([path, &format!("{shown}.{number}")], old, new, found);
        }
        return;
    }
    let is_in = |one: &Table, others: &[Table]| {
        others.iter().any(|other| {
            let mut found = vec![];
            compare([path, shown], one, other, &mut found);
            found.is_empty()
        })
    };
    found.push(format!("{shown}: a list of {} -> a list of {}", old.len(), new.len()));
    let of = |list: &[Table], others: &[Table], what: &str| {
        let only = (1..).zip(list).filter(|(_, table)| !is_in(table, others));
        only.map(|(number, _)| format!("{shown}.{number} was {what}")).collect::<Vec<String>>()
    };
    found.extend(of(old, new, "removed"));
    found.extend(of(new, old, "added"));
}

/// Whether two values of a key are the same, except for rounding errors and the folders of files.
fn same(kind: &Kind, old: &Value, new: &Value) -> bool {
    match (kind, old, new) {
        (Kind::File, Value::Text(old), Value::Text(new)) => Path::new(old).file_name() == Path::new(new).file_name(),
        _ => match (numbers(old), numbers(new)) {
            (Some(old), Some(new)) => old.len() == new.len() && old.iter().zip(&new).all(|(a, b)| close(*a, *b)),
            _ => old == new,
        },
    }
}

fn close(a: f64, b: f64) -> bool {
    // an infinite permittivity has no difference from itself
    a == b || (a - b).abs() <= SPELLING * a.abs().max(b.abs())
}

/// Returns the numbers of a value with a dimension, including the lengths of lists in lists.
fn numbers(value: &Value) -> Option<Vec<f64>> {
    let schedules = match value {
        Value::Number(number) => return Some(vec![*number]),
        Value::Numbers(numbers) => return Some(numbers.clone()),
        Value::Cell(cell) => {
            let (lengths, angles) = cell.lengths_angles();
            return Some([lengths, angles].concat());
        }
        Value::Schedule(schedule) => std::slice::from_ref(schedule),
        Value::Schedules(schedules) => schedules.as_slice(),
        _ => return None,
    };
    let mut numbers = vec![];
    for points in schedules.iter().map(Schedule::points) {
        numbers.push(points.len() as f64);
        numbers.extend(points.iter().flat_map(|(time, value)| [time, value]));
    }
    Some(numbers)
}

/// Compares the replica exchange of two runs. The settings of replicas are no keys of the input file of one replica.
fn exchanges(old: Option<&Exchange>, new: Option<&Exchange>, found: &mut Vec<String>) {
    let (old, new) = match (old, new) {
        (None, None) => return,
        (None, Some(_)) => return found.push("ensemble.exchange was added".to_owned()),
        (Some(_), None) => return found.push("ensemble.exchange was removed".to_owned()),
        (Some(old), Some(new)) => (old, new),
    };
    let mut number = |name: &str, old: u64, new: u64| {
        if old != new {
            found.push(format!("{name}: {old} -> {new}"));
        }
    };
    number("ensemble.exchange.every, in steps", old.every, new.every);
    number("run.seed of the exchange", old.seed, new.seed);
    number("states of the exchange", old.states.len() as u64, new.states.len() as u64);
    let pressure = |state: &Conditions| state.pressure.map(|pressure| (Dimension::Pressure, pressure));
    for (state, (old, new)) in (1..).zip(old.states.iter().zip(&new.states)) {
        let temperatures = [old, new].map(|state| Some((Dimension::Temperature, state.temperature)));
        for (name, [old, new]) in [("temperature", temperatures), ("pressure", [old, new].map(pressure))] {
            let is_same = match (old, new) {
                (Some((_, old)), Some((_, new))) => close(old, new),
                _ => old == new,
            };
            let spell = |value: Option<(Dimension, f64)>| {
                value.map_or("not set".to_owned(), |(dimension, value)| dimension.show(value))
            };
            if !is_same {
                found.push(format!("{name} of state {state} of the exchange: {} -> {}", spell(old), spell(new)));
            }
        }
    }
}

#[cfg(test)]
mod tests;
