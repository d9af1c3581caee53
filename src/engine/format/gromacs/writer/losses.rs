//! Names and numbers of a topology that a GROMACS topology cannot contain.

use super::atom_types::AtomTypes;
use super::parts::Parts;
use super::word;
use crate::system::{Name, Topology};

/// Returns a sentence about each kind of label that differs in the written file.
pub(super) fn losses(topology: &Topology, types: &AtomTypes, parts: &Parts) -> Vec<String> {
    let numbers = parts.renumbered.map(|index| {
        let name = &parts.names[index];
        format!(
            "the molecules of the type {name} differ in their residue numbers or insertion codes: all get those of the first one"
        )
    });
    let all = [chains(topology), numbers, single_residues(topology, parts), names(topology), type_names(types)];
    all.into_iter().flatten().collect()
}

fn chains(topology: &Topology) -> Option<String> {
    let label = topology.chain_labels.iter().find(|label| [label.chain, label.segment] != [Name::default(); 2])?;
    let name = if label.chain == Name::default() { label.segment } else { label.chain };
    Some(format!("the format has no chains and segments: names such as {name} are lost"))
}

/// Compares the residue numbers of molecules with a single residue with the numbers that readers give them. As in
/// GROMACS, these numbers follow the largest residue number of all other molecules. Waters are left out.
fn single_residues(topology: &Topology, parts: &Parts) -> Option<String> {
    let several = parts.distinct.iter().filter(|molecule| molecule.residues.len() > 1);
    let largest = several.flat_map(|molecule| &molecule.residues).map(|residue| residue.number).max();
    let (mut next, mut residue) = (largest.unwrap_or(0).saturating_add(1), 0);
    let mut changed = vec![];
    for &(index, copies) in &parts.sequence {
        let molecule = &parts.distinct[index];
        for _ in 0..copies {
            if molecule.residues.len() == 1 {
                let old = topology.residues[residue];
                let code = topology.chain_labels.get(residue).and_then(|label| label.insertion_code);
                if !molecule.is_water(0) && (old.number, code) != (next, None) {
                    let code = code.map(String::from).unwrap_or_default();
                    changed.push(format!("{} {}{code} gets the number {next}", old.name, old.number));
                }
                next = next.saturating_add(1);
            }
            residue += molecule.residues.len();
        }
    }
    let first = changed.first()?;
    Some(format!("the format numbers molecules of one residue itself: {first}, {} in all", changed.len()))
}

/// Compares the names of atoms and residues with the written names.
fn names(topology: &Topology) -> Option<String> {
    let atoms = topology.atoms.iter().map(|atom| atom.name);
    let names = atoms.chain(topology.residues.iter().map(|residue| residue.name));
    let is_changed = |name: &Name| word(name.as_str()) != name.as_str();
    changed("names of atoms and residues", names.filter(is_changed).map(|name| (name, word(name.as_str()))))
}

/// Compares the names of atom types with the written names, which are unique without regard to case.
fn type_names(types: &AtomTypes) -> Option<String> {
    changed("names of types", types.changed_names())
}

fn changed(what: &str, mut changes: impl Iterator<Item = (Name, String)>) -> Option<String> {
    let (old, new) = changes.next()?;
    Some(format!("{what} are changed for the format: \"{old}\" is {new}, {} in all", 1 + changes.count()))
}
