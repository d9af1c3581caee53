//! Comparison of element, atom and residue names, to check that the atoms of a coordinate file are in the order of the
//! topology.

use super::coordinates::Label;
use super::element::{of_ion, symbol};
use crate::error::Problem;
use crate::system::{Name, Topology};

/// Returns an error if the element of an atom differs from the topology, or if atoms have the names of the topology in
/// a different order. Different names alone are not an error, because force fields use different names for many atoms
/// (`HN` and `H`, `OW` and `O`).
pub fn check_order(topology: &Topology, labels: &[Label]) -> Result<(), Problem> {
    let refuse = |atom: usize, found: String, expected: String| {
        let residue = topology.residue_name(topology.atoms[atom].residue as usize);
        Err(Problem::new(format!("atom {} is {found}, but the topology has {expected} of residue {residue}", atom + 1))
            .help("write the coordinates in the order of the topology, with the program that made the topology"))
    };
    for (index, (atom, label)) in topology.atoms.iter().zip(labels).enumerate() {
        // a file without elements may name ions
        let residue = topology.residues[atom.residue as usize].name;
        let is_ion = || of_ion(atom.name.as_str(), residue.as_str()) == atom.element;
        let element = match label.element {
            0 if is_ion() => of_ion(label.name.as_str(), label.residue.as_str()),
            element => element,
        };
        if element != 0 && atom.element != 0 && element != atom.element {
            let describe = |name: Name, element: u8| format!("{} ({})", name.as_str(), symbol(element));
            return refuse(index, describe(label.name, element), describe(atom.name, atom.element));
        }
    }
    let number = topology.atoms.len().min(labels.len());
    let of_residues = (0..topology.residues.len()).map(|residue| topology.residue_atoms(residue));
    let singles = of_residues.clone().filter(|atoms| atoms.len() == 1).flatten().filter(|&atom| atom < number);
    let in_other_order =
        exchanged(topology, labels, 0..number).or_else(|| exchanged(topology, labels, singles)).or_else(|| {
            of_residues.filter(|atoms| atoms.end <= number).find_map(|atoms| exchanged(topology, labels, atoms))
        });
    match in_other_order {
        Some(atom) => refuse(atom, labels[atom].name.to_string(), topology.atoms[atom].name.to_string()),
        None => Ok(()),
    }
}

/// Returns the first of some atoms whose name differs from the topology, if the atoms with other names have the names
/// of the topology in a different order.
fn exchanged(topology: &Topology, labels: &[Label], atoms: impl Iterator<Item = usize>) -> Option<usize> {
    let differing: Vec<usize> = atoms.filter(|&atom| labels[atom].name != topology.atoms[atom].name).collect();
    let sorted = |name: &dyn Fn(usize) -> Name| {
        let mut names: Vec<Name> = differing.iter().map(|&atom| name(atom)).collect();
        names.sort_unstable();
        names
    };
    let first = *differing.first()?;
    (sorted(&|atom| labels[atom].name) == sorted(&|atom| topology.atoms[atom].name)).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::{Atom, Residue};

    /// Returns the names of three waters and four ions of a topology, and the labels of a file with the same names.
    fn sample() -> (Topology, Vec<Label>) {
        let waters = (0..3).map(|_| ("SOL", &[("OW", 8u8), ("HW1", 1), ("HW2", 1)][..]));
        let ions = [("NA", 11u8), ("NA", 11), ("CL", 17), ("CL", 17)];
        let (mut topology, mut labels) = (Topology::default(), vec![]);
        let mut add = |residue: &str, atoms: &[(&str, u8)]| {
            let (first, residue) = (topology.atoms.len() as u32, Name::new(residue));
            let index = topology.residues.len() as u32;
            topology.residues.push(Residue { name: residue, number: index as i32 + 1, first });
            for &(name, element) in atoms {
                let name = Name::new(name);
                topology.atoms.push(Atom {
                    name,
                    element,
                    residue: index,
                    type_name: name,
                    mass: 1.0,
                    charge: 0.0,
                    lj_type: 0,
                });
                labels.push(Label { name, residue, ..Label::default() });
            }
        };
        waters.for_each(|(residue, atoms)| add(residue, atoms));
        ions.iter().for_each(|ion| add(ion.0, &[*ion]));
        (topology, labels)
    }

    fn message(topology: &Topology, labels: &[Label]) -> String {
        check_order(topology, labels).map_or_else(|problem| problem.message, |()| String::new())
    }

    #[test]
    fn files_without_elements_are_in_the_order_of_the_topology() {
        let (topology, labels) = sample();
        assert_eq!(message(&topology, &labels), "");
        // other names in the same order
        let renamed = |label: &Label| match label.name.as_str() {
            "OW" => Label { name: Name::new("O"), residue: Name::new("WAT"), ..*label },
            "CL" => Label { name: Name::new("CLA"), residue: Name::new("CLA"), ..*label },
            _ => *label,
        };
        let renamed: Vec<Label> = labels.iter().map(renamed).collect();
        assert_eq!(message(&topology, &renamed), "");
        // ions in another order, with the names of the topology and with other names
        let mut swapped = labels.clone();
        swapped[9..].rotate_left(2);
        assert_eq!(message(&topology, &swapped), "atom 10 is CL (Cl), but the topology has NA (Na) of residue NA 4");
        let mut swapped = renamed;
        swapped[9..].rotate_left(2);
        assert_eq!(message(&topology, &swapped), "atom 10 is CLA (Cl), but the topology has NA (Na) of residue NA 4");
        // ions before the waters, in a file whose residues have other names
        let mut moved: Vec<Label> = labels.iter().map(|label| Label { residue: Name::new("X"), ..*label }).collect();
        moved.rotate_left(9);
        assert_eq!(message(&topology, &moved), "atom 1 is NA, but the topology has OW of residue SOL 1");
    }
}
