//! The position restraints of a plan, for its system.

use super::plan::{Plan, PositionRestraint, Stage};
use crate::cell::displacement;
use crate::error::{Problem, Result};
use crate::format::{check_order, read_coordinates};
use crate::restraint::PositionRestraints;
use crate::select::select;
use crate::system::{State, System};
use crate::vec3::Vec3;
use std::path::Path;
use std::sync::Arc;

/// The restraints of each stage, of a run that begins at `start`. Fails where a selection or a file of references does not fit
/// the system.
pub fn position_restraints(plan: &Plan, system: &System, start: &State) -> Result<Vec<Vec<Arc<PositionRestraints>>>> {
    plan.stages.iter().map(|stage| of_stage(stage, system, start)).collect()
}

fn of_stage(stage: &Stage, system: &System, start: &State) -> Result<Vec<Arc<PositionRestraints>>> {
    let named = |problem: Problem| {
        let message = format!("position_restraints of stage \"{}\": {}", stage.name, problem.message);
        Problem { message, ..problem }
    };
    let of = |restraint: &PositionRestraint| {
        let selected = select(&system.topology, &restraint.select).map_err(named)?;
        let positions = match &restraint.reference {
            None => start.positions.clone(),
            Some(path) => references(path, system, start)?,
        };
        // virtual sites follow from other atoms
        let mass = |atom: u32| system.topology.atoms[atom as usize].mass;
        let massive = selected.into_iter().filter(|&atom| mass(atom) > 0.0);
        let references: Vec<(u32, Vec3)> = massive.map(|atom| (atom, positions[atom as usize])).collect();
        if references.is_empty() {
            let message = format!("\"{}\" selects virtual sites only", restraint.select);
            return Err(named(Problem::new(message).help("restrain the atoms that they follow from")).into());
        }
        let total: f64 = references.iter().map(|(atom, _)| mass(*atom)).sum();
        Ok(Arc::new(PositionRestraints {
            force_constant: restraint.force_constant,
            flat_radius: restraint.flat_radius,
            scaling: restraint.reference_scaling,
            cell: start.cell,
            center: references.iter().map(|(atom, r)| *r * (mass(*atom) / total)).sum(),
            references,
        }))
    };
    stage.position_restraints.iter().map(of).collect()
}

/// The positions of a file, each in the periodic image nearest to the start.
fn references(path: &Path, system: &System, start: &State) -> Result<Vec<Vec3>> {
    let coordinates = read_coordinates(path, Some(system.topology.atoms.len()), None)?;
    check_order(&system.topology, &coordinates.labels).map_err(|problem| problem.in_file(path))?;
    let nearest = |(now, reference): (&Vec3, Vec3)| *now + displacement(start.cell.as_ref(), reference - *now);
    Ok(start.positions.iter().zip(coordinates.positions).map(nearest).collect())
}
