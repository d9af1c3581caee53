//! Loading of a system: the files of a plan are read, and the system is prepared for the run.

use std::path::Path;

use crate::error::{Error, Problem, Result};
use crate::format::{
    Coordinates, TopologyOptions, check_order, file, read_coordinates, read_topology_with, take_names,
};
use crate::observe::checkpoint::is_checkpoint;
use crate::observe::trajectory::Format;
use crate::prepare::{ConstrainedTerms, Files, Options, Prepared, needs_cell, prepare};
use crate::run::check::coincidence;
use crate::run::checkpoint::Checkpoint;
use crate::run::plan::{Plan, Velocities};
use crate::select::{Geometry, fix, needs_positions};
use crate::system::State;

/// Reads the files of a plan, prepares the system, and checks that every stage can run with this system. The error
/// lists all problems.
pub fn load(plan: &Plan, constrained_terms: ConstrainedTerms) -> Result<Prepared> {
    prepared(plan, constrained_terms, check_stages)
}

/// Reads the files of a plan and prepares the system like [`load`], for a computation that runs no stage. Coordinates
/// without velocities, or without the cell that a barostat needs, are accepted.
pub fn load_without_stages(plan: &Plan, constrained_terms: ConstrainedTerms) -> Result<Prepared> {
    prepared(plan, constrained_terms, |_, _| vec![])
}

/// Reads the files of a plan and prepares the system. The error also lists the problems that `check` finds.
fn prepared(
    plan: &Plan,
    constrained_terms: ConstrainedTerms,
    check: impl Fn(&Plan, &Coordinates) -> Vec<Problem>,
) -> Result<Prepared> {
    let path = &plan.system.coordinates;
    let coordinates = read_coordinates_or_checkpoint(path, None, None);
    // a topology file with counts of molecules may describe a huge number of atoms. The number of atoms in the
    // coordinate file is therefore compared with the counts before the atoms are created
    let held = coordinates.as_ref().ok().map(|coordinates| coordinates.positions.len());
    let options = TopologyOptions { atoms: held, ..plan.system.topology_options() };
    let mut description = read_topology_with(&plan.system.topology, &options)?;
    let atoms = description.topology.atoms.len();
    let mut coordinates = match coordinates {
        Ok(coordinates) if coordinates.positions.len() == atoms => coordinates,
        // the coordinates are read again with the number of atoms and the cell angle from the topology. The second
        // attempt to read the coordinates succeeds, or returns a better error message
        _ => read_coordinates_or_checkpoint(path, Some(atoms), description.cell_hint.angle_degrees)?,
    };
    check_order(&description.topology, &coordinates.labels).map_err(|problem| problem.in_file(path))?;
    if description.nameless {
        take_names(&mut description.topology, &coordinates.labels);
    }
    if let Some(cell) = plan.system.cell {
        (coordinates.cell, coordinates.left_out.symmetry) = (Some(cell), false);
    }
    let contradictions = check(plan, &coordinates);
    let files = Files { topology: Some(&plan.system.topology), coordinates: Some(path) };
    let options = Options { forces: &plan.forces, tuning: plan.run.tuning, constrained_terms, files };
    match prepare(description, coordinates, &options) {
        Err(Error::Input(problems)) => Err(Error::Input(problems.into_iter().chain(contradictions).collect())),
        Ok(_) if !contradictions.is_empty() => Err(Error::Input(contradictions)),
        Ok(mut prepared) => {
            coincidence::check(&prepared.system, &prepared.state)?;
            let State { positions, cell, .. } = &prepared.state;
            let geometry = Geometry { positions, cell: cell.as_ref() };
            fix(&mut prepared.system.topology, geometry, plan.selections())?;
            Ok(prepared)
        }
        Err(error) => Err(error),
    }
}

/// Whether two plans read the same files with the same options, so that [`load`] returns the same data for both plans.
pub(in crate::run) fn needs_the_same(a: &Plan, b: &Plan) -> bool {
    let needs = |plan: &Plan| {
        let needs = plan.dynamics().map(|(_, stage)| (stage.barostat.is_some(), stage.velocities == Velocities::File));
        needs.collect::<Vec<_>>()
    };
    let fixed = |plan: &'_ Plan| {
        let texts = plan.selections().filter(|text| needs_positions(text));
        texts.map(str::to_owned).collect::<Vec<String>>()
    };
    (&a.system, &a.forces, a.run.tuning) == (&b.system, &b.forces, b.run.tuning)
        && needs(a) == needs(b)
        && fixed(a) == fixed(b)
}

/// Reads a coordinate file with [`read_coordinates`]. If the file is a checkpoint of `md`, reads positions, velocities
/// and cell from the checkpoint. The new run begins at step 0 and time 0, even if the file is a checkpoint.
fn read_coordinates_or_checkpoint(
    path: &Path,
    expected_atoms: Option<usize>,
    box_angle: Option<f64>,
) -> Result<Coordinates> {
    // a checkpoint is recognised by its first bytes. `file::open` refuses pipes, because reading from a pipe would
    // block
    if file::open(path).is_err() || !is_checkpoint(path) {
        let read = read_coordinates(path, expected_atoms, box_angle);
        return read.map_err(|error| of_trajectory(path).map_or(error, Error::from));
    }
    let state = Checkpoint::read_state(path)?;
    let found = state.positions.len();
    if let Some(expected) = expected_atoms.filter(|&expected| expected != found) {
        let message = format!("the checkpoint has {found} atoms, but the topology has {expected}");
        return Err(Problem::new(message)
            .in_file(path)
            .help("use the topology of the run that wrote this checkpoint")
            .into());
    }
    Ok(Coordinates {
        time: Some(state.time),
        positions: state.positions,
        velocities: (!state.velocities.is_empty()).then_some(state.velocities),
        cell: state.cell,
        ..Coordinates::default()
    })
}

/// Returns the problem that the file is a trajectory, with the command that writes its last frame as coordinates;
/// `None` if the file is no trajectory, or has a format that is also one of coordinates.
fn of_trajectory(path: &Path) -> Option<Problem> {
    let format = Format::of_file(path).ok().filter(|format| !["pdb", "nc"].contains(&format.extension))?;
    let frames = format.files.open(path).map_or(0, |trajectory| trajectory.frames());
    let message = format!("expected coordinates, found a trajectory ({}) of {frames} frames", format.name);
    let (name, last) = (path.display(), frames.saturating_sub(1));
    let help = format!("write one frame as coordinates: `md convert {name} start.rst7 --frame {last}`");
    Some(Problem::new(message).in_file(path).help(help))
}

/// Returns a problem for each stage that needs a cell or velocities, if the coordinate file has none.
fn check_stages(plan: &Plan, coordinates: &Coordinates) -> Vec<Problem> {
    let (path, mut problems) = (&plan.system.coordinates, vec![]);
    for (name, _) in plan.dynamics().filter(|(_, stage)| stage.barostat.is_some() && coordinates.cell.is_none()) {
        let what = format!("the barostat of stage \"{name}\"");
        problems.push(needs_cell(&what, Some(path)).help("remove the barostat"));
    }
    if let Some((name, first)) = plan.dynamics().next()
        && first.velocities == Velocities::File
        && coordinates.velocities.is_none()
    {
        let problem = Problem::new(format!("stage \"{name}\" needs velocities, but the coordinate file has none"));
        problems.push(problem.in_file(path).help("set velocities = \"generate\" in the stage"));
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::PeriodicCell;
    use crate::config::Config;
    use crate::vec3::Vec3;

    fn problems(stage: &str, coordinates: &Coordinates) -> Vec<String> {
        let stage = format!("[[stage]]\nkind = \"dynamics\"\nsteps = 1\ntimestep = \"1 fs\"\n{stage}");
        let text = format!("[system]\ntopology = \"t\"\ncoordinates = \"c\"\n{stage}\n");
        let plan = Config::parse(&text, Path::new("input.toml"), &[]).expect("a valid file").plan;
        check_stages(&plan, coordinates).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn what_stages_lack_is_named() {
        let cell = Some(PeriodicCell::orthorhombic([2.0; 3]));
        let whole = Coordinates { cell, velocities: Some(vec![Vec3::ZERO]), ..Coordinates::default() };
        let bare = Coordinates { cell, ..Coordinates::default() };
        let npt = "thermostat = { temperature = \"1 K\" }\nbarostat = {}";
        assert_eq!(problems(npt, &whole), Vec::<String>::new());
        let generated = "velocities = \"generate\"\ntemperature = \"300 K\"";
        assert_eq!(problems(generated, &bare), Vec::<String>::new());
        let missing = problems("", &bare);
        assert!(missing.len() == 1 && missing[0].contains("set velocities = \"generate\""), "{missing:?}");
        let vacuum = problems(npt, &Coordinates { cell: None, ..whole });
        assert!(vacuum.len() == 1 && vacuum[0].contains("the barostat of stage"), "{vacuum:?}");
    }
}
