//! Checks that need more than the input file: the files it names, and the system they describe.

use std::path::Path;

use super::key::{Kind, nearest};
use super::value::{Table, Value};
use crate::cell::PeriodicCell;
use crate::error::Problem;
use crate::format::restart::{FARTHEST, FASTEST};
use crate::run::Plan;
use crate::run::{ElectrostaticsSpec, StageKind, Velocities};
use crate::system::{DispersionCorrection, ListPolicy, State, Topology};
use crate::vec3::Vec3;

/// Reports every file that is named but not there, with the nearest name in its folder.
pub(super) fn missing_files(table: &Table, problems: &mut Vec<Problem>) {
    for (key, entry) in &table.entries {
        match (&key.kind, &entry.value) {
            (_, Value::Table(nested)) => missing_files(nested, problems),
            (Kind::File, Value::Text(text)) if Path::new(text).exists() && !Path::new(text).is_file() => {
                let problem = Problem::new(format!("{}: {text} is not a regular file", key.name));
                problems.push(entry.place.problem(problem.help("folders, pipes and devices are not read")));
            }
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
    for (values, what, most) in [(&state.positions, "position", FARTHEST), (&state.velocities, "velocity", FASTEST)] {
        let problem = beyond(values, what, most, topology);
        problems.extend(problem.map(|problem| problem.in_file(&plan.system.coordinates)));
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

/// One problem for all vectors that are not numbers or longer than `most`, naming the first.
fn beyond(values: &[Vec3], what: &str, most: f64, topology: &Topology) -> Option<Problem> {
    let good = |v: &Vec3| v.norm() <= most;
    let count = values.iter().filter(|v| !good(v)).count();
    let first = values.iter().position(|v| !good(v))?;
    let name = topology.atoms.get(first).map(|atom| {
        let residue = topology.residues.get(atom.residue as usize);
        residue.map_or_else(|| format!(" ({})", atom.name), |r| format!(" ({} of {} {})", atom.name, r.name, r.number))
    });
    let message = format!(
        "the {what} of atom {}{} is no number, or beyond all bounds; {count} such atoms in all",
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::system::Atom;
    use crate::vec3::vec3;

    fn problems(forces: &str, stage: &str, state: &State) -> Vec<String> {
        let stage = format!("[[stage]]\nkind = \"dynamics\"\nsteps = 1\ntimestep = \"1 fs\"\n{stage}");
        let text = format!("[system]\ntopology = \"t\"\ncoordinates = \"c\"\n[forces]\n{forces}\n{stage}\n");
        let plan = Config::parse(&text, Path::new("input.toml"), &[]).expect("a valid file").plan;
        let atom = Atom {
            name: Default::default(),
            type_name: Default::default(),
            element: 18,
            mass: 39.9,
            charge: 0.0,
            lj_type: 0,
            residue: 0,
        };
        let topology = Topology { atoms: vec![atom; 2], ..Topology::default() };
        check_system(&plan, &topology, state).iter().map(ToString::to_string).collect()
    }

    fn state(edge: Option<f64>) -> State {
        State {
            cell: edge.map(|edge| PeriodicCell::orthorhombic([edge, edge, 2.0 * edge])),
            positions: vec![Vec3::ZERO; 2],
            velocities: vec![Vec3::ZERO; 2],
            ..State::default()
        }
    }

    #[track_caller]
    fn assert_one(found: &[String], expected: &str) {
        assert!(found.len() == 1 && found[0].contains(expected), "expected {expected}, found {found:?}");
    }

    const VACUUM: &str = "cutoff = \"none\"";

    #[test]
    fn sound_systems_pass() {
        assert_eq!(problems("", "", &state(Some(2.0))), Vec::<String>::new());
        assert_eq!(problems(VACUUM, "", &state(None)), Vec::<String>::new());
    }

    #[test]
    fn cutoffs_beyond_half_the_cell_are_refused() {
        assert_one(&problems("", "", &state(Some(1.79))), "cutoff is 0.9 nm");
        assert_one(&problems("cutoff_lj = \"1.2 nm\"", "", &state(Some(2.0))), "cutoff_lj is 1.2 nm");
        assert_one(&problems("list = { buffer = \"0.2 nm\" }", "", &state(Some(2.0))), "at most \"0.100 nm\"");
    }

    #[test]
    fn all_pairs_and_cells_exclude_each_other() {
        assert_one(&problems(VACUUM, "", &state(Some(2.0))), "set a cutoff of at most 1.0000 nm");
        let found = problems("", "thermostat = { temperature = \"1 K\" }\nbarostat = {}", &state(None));
        assert_eq!(found.len(), 3, "{found:?}");
        for (problem, expected) in found.iter().zip(["\"pme\"", "dispersion_correction", "the barostat of stage"]) {
            assert!(problem.contains(expected), "{problem}");
        }
    }

    #[test]
    fn numbers_that_are_none_name_the_atom() {
        let mut bad = state(Some(2.0));
        bad.positions[1] = vec3(0.0, f64::NAN, 0.0);
        assert_one(&problems("", "", &bad), "the position of atom 2");
        let mut bad = state(Some(2.0));
        bad.velocities[0].x = f64::INFINITY;
        assert_one(&problems("", "", &bad), "the velocity of atom 1");
    }

    #[test]
    fn missing_velocities_must_be_generated() {
        let mut bare = state(Some(2.0));
        bare.velocities.clear();
        assert_one(&problems("", "", &bare), "set velocities = \"generate\"");
        let generated = "velocities = \"generate\"\ntemperature = \"300 K\"";
        assert_eq!(problems("", generated, &bare), Vec::<String>::new());
    }
}
