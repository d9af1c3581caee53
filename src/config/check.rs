//! Checks that need more than the input file: the files it names, and the system they describe.

use std::path::Path;

use super::key::{Kind, nearest};
use super::value::{Table, Value};
use crate::cell::PeriodicCell;
use crate::error::Problem;
use crate::run::Plan;
use crate::run::plan::{ElectrostaticsSpec, StageKind, Velocities};
use crate::system::{DispersionCorrection, ListPolicy, State, Topology};
use crate::vec3::Vec3;

/// Reports every file that is named but not there, with the nearest name in its folder.
pub(super) fn missing_files(table: &Table, problems: &mut Vec<Problem>) {
    for (key, entry) in &table.entries {
        match (&key.kind, &entry.value) {
            (_, Value::Table(nested)) => missing_files(nested, problems),
            (Kind::File, Value::Text(text)) if !Path::new(text).is_file() => {
                let problem = Problem::new(format!("{}: there is no file {text}", key.name));
                problems.push(entry.place.problem(match neighbour(Path::new(text)) {
                    Some(name) => problem.help(format!("did you mean \"{name}\"?")),
                    None => problem.help("paths are relative to the folder of the input file"),
                }));
            }
            _ => {}
        }
    }
}

/// The file in the same folder whose name is nearest.
fn neighbour(path: &Path) -> Option<String> {
    let entries = std::fs::read_dir(path.parent()?).ok()?;
    let names: Vec<String> = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
    nearest(path.file_name()?.to_str()?, names.iter().map(String::as_str)).map(str::to_owned)
}

/// Everything in which plan and system contradict each other. `state` is as read: velocities empty where the file has none.
pub fn check_system(plan: &Plan, topology: &Topology, state: &State) -> Vec<Problem> {
    let mut problems = vec![];
    if topology.atoms.is_empty() {
        problems.push(Problem::new("the topology has no atoms").in_file(&plan.system.topology));
    }
    for (values, what) in [(&state.positions, "position"), (&state.velocities, "velocity")] {
        problems.extend(not_finite(values, what, topology).map(|problem| problem.in_file(&plan.system.coordinates)));
    }
    match &state.cell {
        Some(cell) => check_cell(plan, cell, &mut problems),
        None => check_vacuum(plan, &mut problems),
    }
    let first = plan.stages.iter().find_map(|stage| match &stage.kind {
        StageKind::Dynamics(dynamics) => Some((&stage.name, dynamics)),
        StageKind::Minimize(_) => None,
    });
    if let Some((name, dynamics)) = first
        && dynamics.velocities == Velocities::File
        && state.velocities.is_empty()
    {
        let problem = Problem::new(format!("stage \"{name}\" starts with velocities, but the file has none"));
        let help = "set velocities = \"generate\" in the stage";
        problems.push(problem.in_file(&plan.system.coordinates).help(help));
    }
    problems
}

/// One problem for all values that are not numbers, naming the first.
fn not_finite(values: &[Vec3], what: &str, topology: &Topology) -> Option<Problem> {
    let bad = |v: &&Vec3| !v.is_finite();
    let count = values.iter().filter(bad).count();
    let first = values.iter().position(|v| !v.is_finite())?;
    let name = topology.atoms.get(first).map(|atom| {
        let residue = topology.residues.get(atom.residue as usize);
        residue.map_or_else(|| format!(" ({})", atom.name), |r| format!(" ({} of {} {})", atom.name, r.name, r.number))
    });
    let message = format!(
        "the {what} of atom {}{} is not a finite number; {count} such atoms in all",
        first + 1,
        name.unwrap_or_default()
    );
    Some(Problem::new(message).help("write the coordinate file again; the run that made it was unstable"))
}

fn check_cell(plan: &Plan, cell: &PeriodicCell, problems: &mut Vec<Problem>) {
    let forces = &plan.forces;
    let largest = cell.max_cutoff();
    let Some(cutoff) = forces.cutoff else {
        let problem = Problem::new("cutoff = \"none\" takes all pairs, but the coordinates have a periodic cell");
        problems.push(problem.help(format!("set a cutoff of at most {largest:.4} nm")));
        return;
    };
    for (name, distance) in [("cutoff", Some(cutoff)), ("cutoff_lj", forces.cutoff_lj.filter(|lj| *lj != cutoff))] {
        if let Some(distance) = distance.filter(|distance| *distance > largest) {
            let message = format!(
                "{name} is {distance} nm, but in this cell an atom would see two images of another beyond {largest:.4} nm"
            );
            problems.push(Problem::new(message).help("choose a smaller cutoff, or a larger cell"));
        }
    }
    let reach = forces.cutoff_lj.map_or(cutoff, |lj| lj.max(cutoff));
    if let ListPolicy::Exact { buffer } = forces.list
        && reach <= largest
        && reach + buffer > largest
    {
        let message =
            format!("list.buffer: cutoff + buffer is {} nm, over half the cell ({largest:.4} nm)", reach + buffer);
        problems.push(Problem::new(message).help(format!("at most \"{:.3} nm\" is possible", largest - reach)));
    }
}

fn check_vacuum(plan: &Plan, problems: &mut Vec<Problem>) {
    let mut without_cell = |what: &str, help: &str| {
        let message = format!("{what} needs a periodic cell, and the coordinates have none");
        problems.push(Problem::new(message).in_file(&plan.system.coordinates).help(help));
    };
    if matches!(plan.forces.electrostatics, ElectrostaticsSpec::Pme(_)) {
        without_cell("electrostatics = \"pme\"", "in vacuum set cutoff = \"none\" and electrostatics = \"plain\"");
    }
    if plan.forces.dispersion_correction != DispersionCorrection::Off {
        without_cell("dispersion_correction", "set dispersion_correction = false, or cutoff = \"none\"");
    }
    for stage in &plan.stages {
        if let StageKind::Dynamics(dynamics) = &stage.kind
            && dynamics.barostat.is_some()
        {
            without_cell(&format!("the barostat of stage \"{}\"", stage.name), "remove the barostat");
        }
    }
}
