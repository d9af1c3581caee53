//! Lists of states in `[ensemble]`: the temperatures, pressures and solute temperatures of replicas.

use super::raw::{Node, Override, Raw, parse_default, quote};
use super::replicas::Variant;
use super::value::{Table, report};
use crate::ensemble::barostat::Barostat;
use crate::ensemble::schedule::Schedule;
use crate::error::Problem;
use crate::run::{Plan, Velocities};

/// List in the section `[ensemble]`: its name, its texts, the keys that each text sets, and the values of these keys.
struct List {
    name: &'static str,
    texts: Vec<String>,
    keys: Vec<String>,
    values: Vec<String>,
}

/// Returns a replica for each state of the lists; `None` if a problem has been recorded.
pub(super) fn by_lists(
    table: &Table,
    plan: &Plan,
    notes: &mut Vec<String>,
    problems: &mut Vec<Problem>,
) -> Option<Vec<Variant>> {
    let before = problems.len();
    let mut lists: Vec<List> = vec![];
    for (name, keys) in [("temperature", temperature_keys as Keys), ("pressure", pressure_keys)] {
        let Some(entry) = table.get(name) else { continue };
        let keys = keys(table, plan, notes).unwrap_or_else(|problem| {
            problems.push(entry.place.problem(problem));
            vec![]
        });
        if keys.is_empty() && problems.len() == before {
            let message = format!("ensemble.{name}: no stage has a constant value that the list could replace");
            let coupling = if name == "pressure" { "barostat" } else { "thermostat" };
            report(problems, table, name, message, &format!("give a stage of dynamics a {coupling}"));
        }
        let texts = texts(&entry.text);
        let values = texts.iter().map(|text| quote(text)).collect();
        lists.push(List { name, texts, keys, values });
    }
    lists.extend(solute_temperatures(table, plan, problems));
    if let [first, rest @ ..] = &lists[..]
        && let Some(second) = rest.iter().find(|list| list.texts.len() != first.texts.len())
    {
        let [a, b] = [first, second].map(|list| format!("{} has {}", list.name, list.texts.len()));
        let help = "give each replica its temperature and its pressure: repeat values as needed";
        report(problems, table, second.name, format!("ensemble: {a} values, {b}"), help);
    }
    // an invalid list has already been reported as a problem
    if problems.len() > before || lists.iter().any(|list| table.failed.contains(&list.name)) {
        return None;
    }
    let variant = |index: usize| {
        let mut variant = Variant::default();
        for List { name, texts, keys, values } in &lists {
            let place = table.place(name);
            let solute = if *name == SOLUTE_TEMPERATURE { "solute " } else { "" };
            variant.description.push(format!("{solute}{}", texts[index]));
            variant.overrides.extend(keys.iter().map(|key| Override::at(place, key, &*values[index])));
        }
        variant
    };
    Some((0..lists.first()?.texts.len()).map(variant).collect())
}

pub(super) const SOLUTE_TEMPERATURE: &str = "solute_temperature";

/// Returns the list `solute_temperature`, which scales the interactions of a solute. Each scale factor is the
/// temperature of the last stage divided by the temperature of the solute.
fn solute_temperatures(table: &Table, plan: &Plan, problems: &mut Vec<Problem>) -> Option<List> {
    let (entry, kelvin) = (table.get(SOLUTE_TEMPERATURE)?, table.numbers(SOLUTE_TEMPERATURE)?);
    let mut wrong = |what: &str, help: &str| {
        report(problems, table, SOLUTE_TEMPERATURE, format!("ensemble.{SOLUTE_TEMPERATURE}: {what}"), help);
    };
    if plan.forces.scaled_solute.is_none() {
        wrong("no solute is defined", "select the atoms: [forces] scaled_solute = { select = \"protein\" }");
        return None;
    }
    if table.is_given("temperature") {
        wrong(
            "with scaled solutes all replicas have the same thermostat temperature",
            "remove ensemble.temperature, and keep ensemble.solute_temperature",
        );
        return None;
    }
    let last = plan.dynamics().next_back().and_then(|(_, stage)| constant(&stage.thermostat.as_ref()?.temperature));
    let Some(bath) = last else {
        wrong(
            "the last stage has no constant temperature, from which the scaling factors follow",
            "give the last stage a thermostat",
        );
        return None;
    };
    if let Some(cold) = kelvin.iter().find(|kelvin| **kelvin < bath) {
        wrong(
            &format!("{cold} K is below the thermostat temperature of {bath} K"),
            "the effective temperature must be at least the temperature of the thermostat",
        );
        return None;
    }
    let values = kelvin.iter().map(|kelvin| format!("{:?}", bath / kelvin)).collect();
    let keys = vec!["forces.scaled_solute.factor".to_owned()];
    Some(List { name: SOLUTE_TEMPERATURE, texts: texts(&entry.text), keys, values })
}

/// Returns the texts of a list. A single text counts as a list of one text.
fn texts(list: &str) -> Vec<String> {
    let text = |raw: &Raw| if let Node::Text(text) = &raw.node { text.clone() } else { String::new() };
    match parse_default(list) {
        Ok(Raw { node: Node::Array(items), .. }) => items.iter().map(text).collect(),
        one => one.iter().map(text).collect(),
    }
}

/// Function that returns the keys that a list of `[ensemble]` sets, and adds notes on stages that the list does not
/// change.
type Keys = fn(&Table, &Plan, &mut Vec<String>) -> Result<Vec<String>, Problem>;

fn temperature_keys(table: &Table, plan: &Plan, notes: &mut Vec<String>) -> Result<Vec<String>, Problem> {
    let mut keys = vec![];
    for (stage, dynamics) in plan.dynamics() {
        let Some(thermostat) = &dynamics.thermostat else { continue };
        if !thermostat.groups.is_empty() && table.is_given("exchange") {
            let message = "has temperature groups, but each exchanged state has one temperature";
            let problem = Problem::new(format!("ensemble.temperature: stage \"{stage}\" {message}"));
            return Err(problem.help("remove the groups of the thermostat, or remove ensemble.exchange"));
        }
        if !thermostat.groups.is_empty() {
            return Err(Problem::new(format!("ensemble.temperature: stage \"{stage}\" has temperature groups")).help(
                format!(
                    "give the settings of each replica: replica = [{{ set = {{ \"stage.{stage}.thermostat\" = {{ \
                     temperature = \"310 K\", groups = [...] }} }} }}, ...]"
                ),
            ));
        }
        let Some(constant) = constant(&thermostat.temperature) else {
            notes.push(format!("stage \"{stage}\" keeps its schedule of temperatures in all replicas"));
            continue;
        };
        keys.push(format!("stage.{stage}.thermostat.temperature"));
        if dynamics.velocities == (Velocities::Generate { temperature: constant }) {
            keys.push(format!("stage.{stage}.temperature"));
        }
    }
    Ok(keys)
}

fn pressure_keys(_: &Table, plan: &Plan, notes: &mut Vec<String>) -> Result<Vec<String>, Problem> {
    let mut keys = vec![];
    for (stage, dynamics) in plan.dynamics() {
        let Some(Barostat { pressure, .. }) = &dynamics.barostat else { continue };
        match pressure.each_ref().map(constant) {
            [Some(x), Some(y), Some(z)] if x == y && y == z => keys.push(format!("stage.{stage}.barostat.pressure")),
            [Some(_), Some(_), Some(_)] => {
                let message = format!("ensemble.pressure: stage \"{stage}\" has different pressures along x, y and z");
                return Err(Problem::new(message).help(format!(
                    "give the settings of each replica: replica = [{{ set = {{ \"stage.{stage}.barostat.pressure\" = \
                     [\"1 bar\", \"2 bar\"] }} }}, ...]"
                )));
            }
            _ => notes.push(format!("stage \"{stage}\" keeps its schedule of pressures in all replicas")),
        }
    }
    Ok(keys)
}

/// Returns the value of a constant schedule; `None` if the schedule changes with time.
pub(super) fn constant(schedule: &Schedule) -> Option<f64> {
    match schedule.points() {
        [(_, value)] => Some(*value),
        _ => None,
    }
}
