//! The restraints of a plan, for its system.

use super::plan::{Plan, PositionRestraint, Restraint, Stage};
use crate::cell::displacement;
use crate::error::{Error, Problem, Result};
use crate::format::{check_order, read_coordinates};
use crate::restraint::{
    CollectiveRestraint, Group, PositionRestraints, Restraints, Superposed, Variable, VariableKind,
};
use crate::select::select;
use crate::system::{State, System};
use crate::vec3::Vec3;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The restraints of each stage, of a run that begins at `start`. Fails where a selection or a file of references does not fit
/// the system. Each file is read once.
pub fn restraints(plan: &Plan, system: &System, start: &State) -> Result<Vec<Restraints>> {
    let mut references = References { system, start, files: HashMap::new() };
    let of = |stage: &Stage| {
        let positions = stage.position_restraints.iter();
        let positions = positions.enumerate().map(|(index, one)| {
            let named = |error| named(error, &format!("position_restraints {}", index + 1), stage);
            position_restraints(one, &mut references).map(Arc::new).map_err(named)
        });
        let positions = positions.collect::<Result<_>>()?;
        let collective = stage.restraints.iter().enumerate().map(|(index, one)| {
            let named = |error| named(error, &format!("restraints {}", index + 1), stage);
            let variable = variable(one, &mut references).map_err(named)?;
            Ok(Arc::new(CollectiveRestraint { variable, potential: one.potential }))
        });
        Ok(Restraints { positions, collective: collective.collect::<Result<_>>()? })
    };
    plan.stages.iter().map(of).collect()
}

/// An error in the input, with its place in the plan.
fn named(error: Error, what: &str, stage: &Stage) -> Error {
    let named = |problem: Problem| {
        let message = format!("{what} of stage \"{}\": {}", stage.name, problem.message);
        Problem { message, ..problem }
    };
    match error {
        Error::Input(problems) => Error::Input(problems.into_iter().map(named).collect()),
        other => other,
    }
}

/// Positions that restraints refer to.
struct References<'a> {
    system: &'a System,
    start: &'a State,
    /// those of files, each in the periodic image nearest to the start
    files: HashMap<PathBuf, Vec<Vec3>>,
}

impl References<'_> {
    /// Those of a file, or of the start.
    fn of(&mut self, path: Option<&Path>) -> Result<&[Vec3]> {
        let Some(path) = path else { return Ok(&self.start.positions) };
        if !self.files.contains_key(path) {
            let read = self.read(path)?;
            self.files.insert(path.to_owned(), read);
        }
        Ok(&self.files[path])
    }

    fn read(&self, path: &Path) -> Result<Vec<Vec3>> {
        let coordinates = read_coordinates(path, Some(self.system.topology.atoms.len()), None)?;
        check_order(&self.system.topology, &coordinates.labels).map_err(|problem| problem.in_file(path))?;
        let cell = self.start.cell.as_ref();
        let nearest = |(now, reference): (&Vec3, Vec3)| *now + displacement(cell, reference - *now);
        Ok(self.start.positions.iter().zip(coordinates.positions).map(nearest).collect())
    }

    fn mass(&self, atom: u32) -> f64 {
        self.system.topology.atoms[atom as usize].mass
    }
}

fn position_restraints(restraint: &PositionRestraint, references: &mut References<'_>) -> Result<PositionRestraints> {
    let system = references.system;
    let selected = select(&system.topology, &restraint.select)?;
    // virtual sites follow from other atoms
    let mass = |atom: u32| system.topology.atoms[atom as usize].mass;
    let positions = references.of(restraint.reference.as_deref())?;
    let massive = selected.into_iter().filter(|&atom| mass(atom) > 0.0);
    let held: Vec<(u32, Vec3)> = massive.map(|atom| (atom, positions[atom as usize])).collect();
    if held.is_empty() {
        let message = format!("\"{}\" selects virtual sites only", restraint.select);
        return Err(Problem::new(message).help("restrain the atoms that they follow from").into());
    }
    let total: f64 = held.iter().map(|(atom, _)| mass(*atom)).sum();
    Ok(PositionRestraints {
        force_constant: restraint.force_constant,
        flat_radius: restraint.flat_radius,
        scaling: restraint.reference_scaling,
        cell: references.start.cell,
        center: held.iter().map(|(atom, r)| *r * (mass(*atom) / total)).sum(),
        references: held,
    })
}

/// Fewest atoms whose deviation from a reference is not that of one distance.
const FEWEST_SUPERPOSED: usize = 3;

fn variable(restraint: &Restraint, references: &mut References<'_>) -> Result<Variable> {
    let system = references.system;
    let topology = &system.topology;
    let selected = restraint.groups.iter().map(|text| select(topology, text));
    let selected = selected.collect::<std::result::Result<Vec<Vec<u32>>, Problem>>()?;
    if restraint.kind == VariableKind::Rmsd {
        let mass = |atom: u32| topology.atoms[atom as usize].mass;
        let atoms: Vec<u32> = selected.into_iter().flatten().filter(|&atom| mass(atom) > 0.0).collect();
        if atoms.len() < FEWEST_SUPERPOSED {
            let message =
                format!("an RMSD needs {FEWEST_SUPERPOSED} atoms with mass, and {} are selected", atoms.len());
            return Err(Problem::new(message).help("restrain a distance or an angle instead").into());
        }
        let positions = references.of(restraint.reference.as_deref())?;
        let held: Vec<(u32, Vec3)> = atoms.into_iter().map(|atom| (atom, positions[atom as usize])).collect();
        return Ok(Variable::Rmsd(Superposed::new(&held)));
    }
    for (index, group) in selected.iter().enumerate() {
        if let Some(other) = selected[..index].iter().position(|other| other == group) {
            let (a, b) = (&restraint.groups[other], &restraint.groups[index]);
            let message = format!("\"{a}\" and \"{b}\" select the same atoms, whose centres never part");
            return Err(Problem::new(message).help("groups may share atoms, but not all of them").into());
        }
    }
    let group = |index: usize| {
        let text = &restraint.groups[index];
        Group::new(&selected[index], |atom| references.mass(atom)).ok_or_else(|| {
            let problem = Problem::new(format!("\"{text}\" selects virtual sites only, which have no centre of mass"));
            problem.help("take the atoms that they follow from")
        })
    };
    Ok(match restraint.kind {
        VariableKind::Distance => Variable::Distance([group(0)?, group(1)?], restraint.along),
        VariableKind::Angle => Variable::Angle([group(0)?, group(1)?, group(2)?]),
        _ => Variable::Torsion([group(0)?, group(1)?, group(2)?, group(3)?]),
    })
}
