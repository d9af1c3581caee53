//! Creation of restraints from the plan: selections become atom indices, and reference files are read.

use crate::cell::PeriodicCell;
use crate::error::{Error, Problem, Result};
use crate::format::{check_order, read_coordinates};
use crate::image::WholeMolecules;
use crate::restraint::{
    CollectiveRestraint, Configuration, Group, Held, Members, PositionRestraints, Potential, RestraintProgress,
    Restraints, Superposed, Variable, VariableKind,
};
use crate::run::plan::{Plan, PositionRestraint, Restraint, Stage};
use crate::select::select;
use crate::system::{Molecules, State, System, Topology};
use crate::vec3::Vec3;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Creates the restraints of each stage of a run that begins at `start`, with the periodic images of position
/// restraints for this state ([`Restraints::choose_images`]). Returns an error if a selection or a reference file does
/// not fit the system. Each reference file is read once.
pub fn restraints(plan: &Plan, system: &System, start: &State) -> Result<Vec<Restraints>> {
    let mut references = References { system, molecules: system.topology.molecules(), start, files: HashMap::new() };
    let of = |stage: &Stage| {
        let positions = stage.position_restraints.iter();
        let positions = positions.enumerate().map(|(index, one)| {
            let named = |error| named(error, ("position_restraints", index), stage);
            position_restraints(one, &mut references).map(Arc::new).map_err(named)
        });
        let positions = positions.collect::<Result<_>>()?;
        let collective = stage.restraints.iter().enumerate().map(|(index, one)| {
            let named = |error| named(error, ("restraints", index), stage);
            let variable = variable(one, &mut references).map_err(named)?;
            Ok(Arc::new(CollectiveRestraint { variable, potential: one.potential }))
        });
        Ok(Restraints { positions, collective: collective.collect::<Result<_>>()? })
    };
    let all = plan.stages.iter().map(of).collect::<Result<Vec<Restraints>>>()?;
    // later stages start from positions that are not known yet
    if let (Some(stage), Some(restraints)) = (plan.stages.first(), all.first()) {
        check_motions(stage, restraints, &[], start)?;
    }
    Ok(all)
}

/// Returns an error if a moving center of a restraint leaves the range of its variable before the end of the stage.
/// `state` is the state at the start of the stage, which determines centers that the input file does not set.
/// `progress` is the progress of the restraints if the stage continues, and otherwise empty.
pub(in crate::run) fn check_motions(
    stage: &Stage,
    restraints: &Restraints,
    progress: &[RestraintProgress],
    state: &State,
) -> Result<()> {
    let Some(dynamics) = stage.dynamics() else { return Ok(()) };
    let duration = dynamics.steps as f64 * dynamics.timestep;
    for (index, restraint) in restraints.collective.iter().enumerate() {
        let CollectiveRestraint { variable, potential: Potential::Well(well) } = &**restraint else { continue };
        if well.rate == 0.0 {
            continue;
        }
        let now = || {
            let (cell, positions) = (state.cell.as_ref(), &state.positions[..]);
            variable.find(Configuration { cell, positions, images: &variable.gather(cell, positions) }).value
        };
        let first = progress.get(index).and_then(RestraintProgress::first_center).or(well.center).unwrap_or_else(now);
        let named = |problem: Problem| named(problem.into(), ("restraints", index), stage);
        well.check_motion(variable.kind(), first, duration).map_err(named)?;
    }
    Ok(())
}

/// Adds the name of the stage, and the key and the index of the restraint, to an input error.
fn named(error: Error, (key, index): (&str, usize), stage: &Stage) -> Error {
    let named = |problem: Problem| {
        let number = (index + 1).to_string();
        let message = format!("{key} {number} of stage \"{}\": {}", stage.name, problem.message);
        stage.at_key(Problem { message, ..problem }, &[key, &number])
    };
    match error {
        Error::Input(problems) => Error::Input(problems.into_iter().map(named).collect()),
        other => other,
    }
}

/// Reference positions in nm, with molecules made whole, and the periodic cell to which they belong.
struct Reference {
    positions: Vec<Vec3>,
    cell: Option<PeriodicCell>,
}

/// Source of reference positions: the state at the start of the run, and the reference files that have been read
/// already.
struct References<'a> {
    system: &'a System,
    molecules: Molecules,
    start: &'a State,
    files: HashMap<PathBuf, Reference>,
}

impl References<'_> {
    /// Returns the positions and the cell in the reference file at `path`, or at the start of the run if `path` is
    /// `None`. If the reference file has no cell, returns the cell at the start of the run.
    fn of(&mut self, path: Option<&Path>) -> Result<(&[Vec3], Option<PeriodicCell>)> {
        let Some(path) = path else { return Ok((&self.start.positions, self.start.cell)) };
        if !self.files.contains_key(path) {
            let read = self.read(path)?;
            self.files.insert(path.to_owned(), read);
        }
        let Reference { positions, cell } = &self.files[path];
        Ok((positions, cell.or(self.start.cell)))
    }

    fn read(&self, path: &Path) -> Result<Reference> {
        let topology = &self.system.topology;
        let coordinates = read_coordinates(path, Some(topology.atoms.len()), None)?;
        check_order(topology, &coordinates.labels).map_err(|problem| problem.in_file(path))?;
        let mut positions = coordinates.positions;
        if let Some(cell) = &coordinates.cell {
            WholeMolecules::of(topology).make_whole(cell, &mut positions);
        }
        Ok(Reference { positions, cell: coordinates.cell })
    }

    fn mass(&self, atom: u32) -> f64 {
        self.system.topology.atoms[atom as usize].mass
    }
}

fn position_restraints(restraint: &PositionRestraint, references: &mut References<'_>) -> Result<PositionRestraints> {
    let system = references.system;
    let selected = select(&system.topology, &restraint.select)?;
    // virtual sites are not restrained, because their positions follow from other atoms
    let mass = |atom: u32| system.topology.atoms[atom as usize].mass;
    let (positions, cell) = references.of(restraint.reference.as_deref())?;
    let massive = selected.into_iter().filter(|&atom| mass(atom) > 0.0);
    let held: Vec<Held> = massive.map(|atom| Held::new(atom, positions[atom as usize])).collect();
    if held.is_empty() {
        let message = format!("\"{}\" selects only virtual sites", restraint.select);
        return Err(Problem::new(message).help("restrain the atoms that define the virtual sites").into());
    }
    let mut restraints = PositionRestraints {
        force_constant: restraint.force_constant.clone(),
        flat_radius: restraint.flat_radius,
        scaling: restraint.reference_scaling,
        cell,
        center: Vec3::ZERO,
        held,
    };
    let State { cell, positions, .. } = references.start;
    restraints.place_references(&system.topology, &references.molecules, cell.as_ref());
    restraints.choose_images(&references.molecules, cell.as_ref(), positions);
    Ok(restraints)
}

/// Minimum number of atoms for an RMSD restraint. The RMSD of two atoms would depend only on the distance between the
/// two atoms.
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
                format!("an RMSD needs at least {FEWEST_SUPERPOSED} atoms with mass, but {} are selected", atoms.len());
            return Err(Problem::new(message).help("restrain a distance or an angle instead").into());
        }
        return rmsd(restraint, atoms, references);
    }
    for (index, group) in selected.iter().enumerate() {
        if let Some(other) = selected[..index].iter().position(|other| other == group) {
            let (a, b) = (&restraint.groups[other], &restraint.groups[index]);
            let message = format!(
                "\"{a}\" and \"{b}\" select the same atoms, so the distance between their centers is always zero"
            );
            return Err(Problem::new(message).help("choose two groups that differ in at least one atom").into());
        }
    }
    let group = |index: usize| {
        let text = &restraint.groups[index];
        let around = gather_around(restraint, index, topology)?;
        Group::new(&selected[index], |atom| references.mass(atom), &references.molecules, around).ok_or_else(|| {
            let problem = Problem::new(format!("\"{text}\" selects only virtual sites, which have no center of mass"));
            problem.help("use the atoms that define the virtual sites")
        })
    };
    Ok(match restraint.kind {
        VariableKind::Distance => Variable::Distance([group(0)?, group(1)?], restraint.along),
        VariableKind::Angle => Variable::Angle([group(0)?, group(1)?, group(2)?]),
        _ => Variable::Torsion([group(0)?, group(1)?, group(2)?, group(3)?]),
    })
}

/// Creates a restraint of the RMSD of `atoms` relative to a reference structure. The molecules of the reference
/// structure are shifted to the periodic images that fit the start of the run best.
fn rmsd(restraint: &Restraint, atoms: Vec<u32>, references: &mut References<'_>) -> Result<Variable> {
    let around = gather_around(restraint, 0, &references.system.topology)?;
    let members = Members::new(atoms.clone(), &references.molecules, around);
    let target = members.gathered(references.start.cell.as_ref(), &references.start.positions);
    let (positions, cell) = references.of(restraint.reference.as_deref())?;
    let mut reference: Vec<Vec3> = atoms.iter().map(|&atom| positions[atom as usize]).collect();
    if let Some(cell) = &cell {
        let images = members.parts().fit(cell, &reference, &target);
        members.parts().shift(cell, &images, &mut reference);
    }
    Ok(Variable::Rmsd(Superposed::new(members, &reference)))
}

/// Returns the atom that the key `gather_around` selects for a group; `None` if the input file names no atom. The
/// molecules of the group are moved by lattice vectors to the neighbourhood of this atom.
fn gather_around(
    restraint: &Restraint,
    group: usize,
    topology: &Topology,
) -> std::result::Result<Option<u32>, Problem> {
    let Some(text) = restraint.gather_around.get(group).and_then(Option::as_ref) else { return Ok(None) };
    match select(topology, text)?[..] {
        [atom] => Ok(Some(atom)),
        ref atoms => {
            let message = format!("gather_around: \"{text}\" selects {} atoms", atoms.len());
            Err(Problem::new(message).help("select exactly one atom, or write \"none\""))
        }
    }
}

/// Returns the stage and the selection of each restrained group that is too wide: the group consists of several
/// molecules and, at the start, extends over more than half of the cell. The choice of the periodic images of the
/// molecules is ambiguous in a group that is wider than half of the cell.
pub(in crate::run) fn wide_groups(plan: &Plan, system: &System, start: &State) -> Vec<(String, String)> {
    let Some(cell) = &start.cell else { return vec![] };
    let molecules = system.topology.molecules();
    let is_wide = |restraint: &Restraint, index: usize| {
        let around = gather_around(restraint, index, &system.topology).ok()?;
        let atoms = select(&system.topology, &restraint.groups[index]).ok()?;
        Some(Members::new(atoms, &molecules, around).is_wide(cell, &start.positions))
    };
    let groups = |stage: &Stage| {
        let all = stage.restraints.iter().flat_map(|one| (0..one.groups.len()).map(move |index| (one, index)));
        let wide = all.filter(|(one, index)| is_wide(one, *index) == Some(true));
        wide.map(|(one, index)| (stage.name.clone(), one.groups[index].clone())).collect::<Vec<_>>()
    };
    plan.stages.iter().flat_map(groups).collect()
}

/// Restrained distance that becomes too long for the minimum image.
pub(in crate::run) struct LongDistance {
    /// name of the stage
    pub(in crate::run) stage: String,
    /// number of the restraint in the stage, from 1
    pub(in crate::run) number: usize,
    /// distance at the start of the run, nm
    pub(in crate::run) start: f64,
    /// longest distance to which the restraint moves the groups in the stage, nm; `None` for a constant force
    pub(in crate::run) target: Option<f64>,
    /// longest distance whose minimum image is unambiguous, nm
    pub(in crate::run) longest: f64,
}

/// Returns the restrained distances whose value at the start, or whose target during the stage, is longer than the
/// longest distance with an unambiguous minimum image in the cell at the start.
pub(in crate::run) fn long_distances(plan: &Plan, system: &System, start: &State) -> Vec<LongDistance> {
    let Some(cell) = &start.cell else { return vec![] };
    let mut references = References { system, molecules: system.topology.molecules(), start, files: HashMap::new() };
    let mut found = vec![];
    for stage in &plan.stages {
        let duration = stage.dynamics().map_or(0.0, |dynamics| dynamics.steps as f64 * dynamics.timestep);
        let distances = stage.restraints.iter().enumerate().filter(|(_, one)| one.kind == VariableKind::Distance);
        for (index, one) in distances {
            // faults of the selections are errors of the restraint, which are reported elsewhere
            let Ok(variable) = variable(one, &mut references) else { continue };
            let Some(longest) = variable.longest_distance(Some(cell)) else { continue };
            let images = variable.gather(Some(cell), &start.positions);
            let at = Configuration { cell: Some(cell), positions: &start.positions, images: &images };
            let value = variable.find(at).value;
            let target = match one.potential {
                Potential::Well(well) => {
                    let center = well.center.unwrap_or(value);
                    Some(well.target(center).max(well.target(center + well.rate * duration)))
                }
                Potential::Force(_) => None,
            };
            if value > longest || target > Some(longest) {
                found.push(LongDistance {
                    stage: stage.name.clone(),
                    number: index + 1,
                    start: value,
                    target,
                    longest,
                });
            }
        }
    }
    found
}
