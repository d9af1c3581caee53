//! Comparison of element and residue names, to check that the atoms of a coordinate file are in the order of the
//! topology.

use super::coordinates::Label;
use super::element::symbol;
use crate::error::Problem;
use crate::system::{Name, Topology};

/// Returns an error if the element of an atom differs from the topology, or if a residue has the atom names of the
/// topology in a different order. Different names alone are not an error, because force fields use different names for
/// many atoms (`HN` and `H`, `OW` and `O`).
pub fn check_order(topology: &Topology, labels: &[Label]) -> Result<(), Problem> {
    let refuse = |atom: usize, found: String, expected: String| {
        let residue = topology.residue_name(topology.atoms[atom].residue as usize);
        Err(Problem::new(format!("atom {} is {found}, but the topology has {expected} of residue {residue}", atom + 1))
            .help("write the coordinates in the order of the topology, with the program that made the topology"))
    };
    for (index, (atom, label)) in topology.atoms.iter().zip(labels).enumerate() {
        if label.element != 0 && atom.element != 0 && label.element != atom.element {
            let describe = |name: Name, element: u8| format!("{} ({})", name.as_str(), symbol(element));
            return refuse(index, describe(label.name, label.element), describe(atom.name, atom.element));
        }
    }
    for residue in 0..topology.residues.len() {
        let atoms = topology.residue_atoms(residue);
        let Some(labels) = labels.get(atoms.clone()) else { break };
        let sorted = |names: &mut dyn Iterator<Item = Name>| {
            let mut names: Vec<String> = names.map(|name| name.as_str().to_owned()).collect();
            names.sort_unstable();
            names
        };
        let differs = |atom: &usize| labels[atom - atoms.start].name != topology.atoms[*atom].name;
        let Some(atom) = atoms.clone().find(differs) else { continue };
        let expected = sorted(&mut atoms.clone().map(|atom| topology.atoms[atom].name));
        if sorted(&mut labels.iter().map(|label| label.name)) == expected {
            let [found, expected] = [labels[atom - atoms.start].name, topology.atoms[atom].name];
            return refuse(atom, found.as_str().to_owned(), expected.as_str().to_owned());
        }
    }
    Ok(())
}
