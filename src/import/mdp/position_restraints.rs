//! Translation of the position restraints that the topology contains and that macros of `define` enable.
//!
//! Atoms whose restraints have the same shape and force constant become one entry of `position_restraints`. The entry
//! selects its atoms by keywords if one of [`SELECTIONS`] matches exactly these atoms, and otherwise by their indices.

use std::cell::LazyCell;

use super::Draft;
use crate::format::{AtomRestraint, RestraintShape, TopologyOptions, read_position_restraints, read_topology_with};
use crate::import::atoms::pieces;
use crate::restraint::ReferenceScaling;
use crate::run::PositionRestraint;
use crate::select::select;
use crate::system::Topology;

/// Prefix of the macros of `define` that enable position restraints in the topologies of pdb2gmx. Other macros that
/// enable restraints are found in the topology.
const PREFIX: &str = "POSRES";

/// Selections that may replace a list of atom indices, if a selection matches exactly the restrained atoms.
const SELECTIONS: [&str; 8] = [
    "protein and heavy",
    "protein and name CA",
    "protein and name N CA C",
    "protein and name N CA C O",
    "not water and not ion and heavy",
    "protein",
    "water and heavy",
    "heavy",
];

/// Restrained atoms with the same potential.
struct Group {
    force_constant: f64,
    /// radius of the flat bottom of the potential, nm
    flat_radius: f64,
    /// atoms, counted from 1
    atoms: Vec<u32>,
}

/// Returns the options that read the topology with the macros of the plan and with further macros.
fn options<'a>(draft: &Draft<'_>, macros: impl Iterator<Item = &'a str>) -> TopologyOptions {
    let system = &draft.plan.system;
    TopologyOptions {
        include: system.include.iter().chain(&draft.files.include).cloned().collect(),
        define: system.define.iter().cloned().chain(macros.map(ToOwned::to_owned)).collect(),
        ..TopologyOptions::default()
    }
}

/// Divides macros into those that enable position restraints of the topology, and the others with which `md` can read
/// the topology.
pub(super) fn divide<'a>(draft: &mut Draft<'_>, macros: Vec<&'a str>) -> [Vec<&'a str>; 2] {
    let count = |options: TopologyOptions| {
        read_position_restraints(&draft.plan.system.topology, &options).map_or(0, |restraints| restraints.len())
    };
    let without = LazyCell::new(|| count(options(draft, [].into_iter())));
    let enables = |name: &&str| name.starts_with(PREFIX) || count(options(draft, [*name].into_iter())) > *without;
    let (restraints, mut others): (Vec<&str>, Vec<&str>) = macros.into_iter().partition(enables);
    leave_out_unsupported(draft, &mut others);
    [restraints, others]
}

/// Leaves out each macro with which the topology has terms that `md` does not support, such as restraints of dihedral
/// angles, and records a remark.
fn leave_out_unsupported(draft: &mut Draft<'_>, macros: &mut Vec<&str>) {
    let topology = draft.plan.system.topology.clone();
    if macros.is_empty() || read_topology_with(&topology, &options(draft, [].into_iter())).is_err() {
        return;
    }
    macros.retain(|name| {
        let Err(error) = read_topology_with(&topology, &options(draft, [*name].into_iter())) else { return true };
        draft.differs(
            "define",
            format!("the macro {name} is left out, because with it md cannot read the topology: {error}"),
        );
        false
    });
}

/// Translates the position restraints of the topology. `macros` are the macros of `define` that may enable position
/// restraints.
pub(super) fn translate(draft: &mut Draft<'_>, macros: &[&str]) {
    let mut options = options(draft, macros.iter().copied());
    let topology = draft.plan.system.topology.clone();
    let names = macros.join(", ");
    let restraints = match read_position_restraints(&topology, &options) {
        Ok(restraints) if !restraints.is_empty() => restraints,
        found => {
            let reason = match found {
                Ok(_) => {
                    format!("{} has no position restraints that the macros of `define` enable", topology.display())
                }
                Err(error) => error.to_string(),
            };
            let text = format!(
                "{names}: no restraints are used from the topology ({reason}); set position_restraints in the stage, \
                 for example {{ select = \"protein and heavy\", force_constant = \"1000 kJ/mol/nm^2\" }}"
            );
            draft.differs("define", text);
            return;
        }
    };
    let (groups, left) = groups(&restraints);
    if !left.is_empty() {
        draft.differs("define", left.join("; "));
    }
    let Some(scaling) = reference_scaling(draft) else { return };
    options.define.retain(|name| !macros.contains(&name.as_str()));
    let description = read_topology_with(&topology, &options).ok();
    let reference = draft.files.reference.clone();
    for group in &groups {
        for select in selections(description.as_ref().map(|description| &description.topology), &group.atoms) {
            draft.position_restraints.push(PositionRestraint {
                select,
                force_constant: group.force_constant.into(),
                flat_radius: group.flat_radius,
                reference: reference.clone(),
                reference_scaling: scaling,
            });
        }
    }
    let words = if reference.is_some() { "" } else { "reference: the initial positions" };
    draft.carried_as("stage.position_restraints", &["define", "refcoord-scaling"], words);
    let is_coupled = draft.word("pcoupl") != "no";
    if is_coupled && scaling == ReferenceScaling::CenterOfMass && draft.position_restraints.len() > 1 {
        let text = "the references of each entry of position_restraints move with the center of mass of the entry, not \
                    of all references";
        draft.differs("refcoord-scaling", text);
    }
}

/// Returns how the barostat scales the reference positions, or `None` if a problem was recorded.
fn reference_scaling(draft: &mut Draft<'_>) -> Option<ReferenceScaling> {
    let word = draft.word("refcoord-scaling");
    match word.as_str() {
        "no" => Some(ReferenceScaling::None),
        "all" => Some(ReferenceScaling::All),
        "com" => Some(ReferenceScaling::CenterOfMass),
        other => {
            draft.unsupported("refcoord-scaling", other, "expected `no`, `all` or `com`");
            None
        }
    }
}

/// Groups atoms by their restraint potentials, in the order of the topology. Returns the groups, and messages about the
/// restraints that `md` does not support.
fn groups(restraints: &[AtomRestraint]) -> (Vec<Group>, Vec<String>) {
    let (mut groups, mut left): (Vec<Group>, Vec<String>) = (vec![], vec![]);
    let (mut uneven, mut other) = (vec![], 0usize);
    for restraint in restraints {
        let (force_constant, flat_radius) = match restraint.shape {
            RestraintShape::Harmonic([x, y, z]) if x == y && y == z => (x, 0.0),
            RestraintShape::Harmonic(constants) => {
                uneven.push(constants);
                continue;
            }
            RestraintShape::Sphere { radius, force_constant } if radius >= 0.0 => (force_constant, radius),
            RestraintShape::Sphere { .. } | RestraintShape::OtherFlatBottom => {
                other += 1;
                continue;
            }
        };
        if force_constant == 0.0 {
            continue;
        }
        let atom = restraint.atom + 1;
        // if an atom has two restraints with the same potential, the second restraint goes into a separate group, so
        // that both restraints act
        let fits = |group: &&mut Group| {
            (group.force_constant, group.flat_radius) == (force_constant, flat_radius)
                && group.atoms.last() != Some(&atom)
        };
        match groups.iter_mut().find(fits) {
            Some(group) => group.atoms.push(atom),
            None => groups.push(Group { force_constant, flat_radius, atoms: vec![atom] }),
        }
    }
    if let Some([x, y, z]) = uneven.first() {
        left.push(format!(
            "restraints of {} atoms have different force constants along x, y and z (the first: {x} {y} {z}), and md \
             has no such restraints: these atoms are free",
            uneven.len()
        ));
    }
    if other > 0 {
        left.push(format!(
            "restraints of {other} atoms have a flat bottom of another shape than a sphere that keeps atoms inside, \
             and md has no such restraints: these atoms are free"
        ));
    }
    let negative =
        groups.iter().filter(|group| group.force_constant < 0.0).map(|group| group.atoms.len()).sum::<usize>();
    if negative > 0 {
        left.push(format!(
            "restraints of {negative} atoms have a negative force constant, so md does not restrain these atoms"
        ));
        groups.retain(|group| group.force_constant > 0.0);
    }
    (groups, left)
}

/// Returns selections that together match the atoms with the 1-based numbers `atoms`. The result is a single selection
/// if keywords suffice, or if the atoms form only a few ranges.
fn selections(topology: Option<&Topology>, atoms: &[u32]) -> Vec<String> {
    let mut sorted: Vec<u32> = atoms.iter().map(|atom| atom - 1).collect();
    sorted.sort_unstable();
    let same =
        |words: &&&str| topology.is_some_and(|topology| select(topology, words).is_ok_and(|found| found == sorted));
    match SELECTIONS.iter().find(same) {
        Some(words) => vec![(*words).to_owned()],
        None => pieces(atoms),
    }
}
