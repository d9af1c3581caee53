//! Derivation of the data that an OpenMM system does not contain: elements, names, residues, and which harmonic
//! distances are chemical bonds.

use std::collections::HashSet;

use crate::format::element;
use crate::system::{Atom, Molecules, Name, Residue, Topology};

/// Residue name of waters. [`OTHER`] is the residue name of all other molecules with several atoms. A single atom has
/// the name of its element as residue name.
const WATER: &str = "HOH";
const OTHER: &str = "MOL";

/// Mass (amu) of the heaviest hydrogen after mass repartitioning.
const HEAVIEST_HYDROGEN: f64 = 4.1;

/// Adds atoms, residues and bonds, and moves Urey–Bradley terms from the list of bonds to a separate list.
///
/// Each molecule is a residue. If the atoms of a molecule are not consecutive in the list of atoms, each consecutive
/// sequence of its atoms is a residue.
pub(super) fn add(masses: &[f64], charges: &[f64], lj_types: &[u32], topology: &mut Topology) {
    let springs = topology.bonded.bonds.iter().map(|bond| bond.atoms);
    let constraints = topology.constraints.iter().map(|constraint| constraint.atoms);
    let mut bonds: Vec<[u32; 2]> = springs.chain(constraints).map(|[i, j]| [i.min(j), i.max(j)]).collect();
    bonds.sort_unstable();
    bonds.dedup();
    let sites = topology.virtual_sites.iter();
    let sites = sites.flat_map(|site| site.construction.atoms().iter().map(|&atom| [site.site, atom]));
    let connected: Vec<[u32; 2]> = bonds.iter().copied().chain(sites).collect();
    let molecules = Molecules::from_bonds(masses.len(), &connected);
    let elements = elements(masses, &bonds);
    let mut last = None;
    for (index, &mass) in masses.iter().enumerate() {
        let molecule = molecules.of_atom(index);
        if last.replace(molecule) != Some(molecule) {
            let number = topology.residues.len() as i32 + 1;
            topology.residues.push(Residue { name: Name::new(OTHER), number, first: index as u32 });
        }
        let number = elements[index];
        let name = Name::new(if mass > 0.0 { element::symbol(number) } else { "EP" });
        let (charge, lj_type) = (charges[index], lj_types[index]);
        let residue = topology.residues.len() as u32 - 1;
        topology.atoms.push(Atom { name, type_name: name, element: number, mass, charge, lj_type, residue });
    }
    for residue in 0..topology.residues.len() {
        let atoms = topology.residue_atoms(residue);
        if topology.is_water(residue) {
            topology.residues[residue].name = Name::new(WATER);
        } else if atoms.len() == 1 {
            topology.residues[residue].name = Name::new(&topology.atoms[atoms.start].name.as_str().to_uppercase());
        }
    }
    let urey_bradleys = urey_bradleys(topology);
    let is_distance = |&[i, j]: &[u32; 2]| urey_bradleys.contains(&[i.min(j), i.max(j)]);
    topology.connectivity =
        bonds.into_iter().filter(|pair| !is_distance(pair) && !topology.is_water_brace(*pair)).collect();
    let bonded = &mut topology.bonded;
    (bonded.urey_bradleys, bonded.bonds) = bonded.bonds.drain(..).partition(|bond| is_distance(&bond.atoms));
}

/// Returns the atomic numbers that follow from the masses (amu) and bonds.
///
/// An atom with one or two bonds, whose mass is that of a hydrogen, possibly after mass repartitioning, is a hydrogen.
/// The second bond of such a hydrogen is the distance between the hydrogens of a water. Repartitioning takes the
/// additional mass of a hydrogen from the atom to which it is bonded, so that this atom may be as light as a hydrogen.
fn elements(masses: &[f64], bonds: &[[u32; 2]]) -> Vec<u8> {
    let (mut partners, mut taken) = (vec![0; masses.len()], vec![0.0; masses.len()]);
    bonds.iter().flatten().for_each(|&atom| partners[atom as usize] += 1);
    let is_hydrogen =
        |atom: usize| (1..=2).contains(&partners[atom]) && (0.9..HEAVIEST_HYDROGEN).contains(&masses[atom]);
    for [i, j] in bonds.iter().map(|pair| pair.map(|atom| atom as usize)) {
        for (hydrogen, other) in [(i, j), (j, i)] {
            if is_hydrogen(hydrogen) && !is_hydrogen(other) {
                taken[other] += masses[hydrogen] - element::weight(1);
            }
        }
    }
    let element = |atom: usize| match is_hydrogen(atom) {
        true => 1,
        // masses of hydrogen differ between force fields by less than 0.001 amu
        false if taken[atom].abs() < 0.01 => element::guess(Name::default(), masses[atom]),
        false => element::guess(Name::default(), masses[atom] + taken[atom]),
    };
    (0..masses.len()).map(element).collect()
}

/// Returns the pairs of outer atoms of all angles. A pair that is also a bond of another angle is left out: in a
/// three-membered ring, the pair is a bond and not a Urey–Bradley term.
fn urey_bradleys(topology: &Topology) -> HashSet<[u32; 2]> {
    let pair = |i: u32, j: u32| [i.min(j), i.max(j)];
    let angles = || topology.bonded.angles.iter().map(|angle| angle.atoms);
    let sides: HashSet<[u32; 2]> = angles().flat_map(|[i, j, k]| [pair(i, j), pair(j, k)]).collect();
    angles().map(|[i, _, k]| pair(i, k)).filter(|ends| !sides.contains(ends)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// N-methylacetamide and a water, with hydrogens of different masses: the mass of a heavy atom plus what its
    /// hydrogens have taken is the atomic weight.
    #[test]
    fn elements_do_not_depend_on_the_masses_of_hydrogens() {
        // CH3-C(=O)-N(H)-CH3, OH2 with a bond between its hydrogens
        let bonds = [[0, 1], [0, 2], [0, 3], [0, 4], [4, 5], [4, 6], [6, 7], [6, 8], [8, 9], [8, 10], [8, 11]];
        let water = [[12, 13], [12, 14], [13, 14]];
        let bonds: Vec<[u32; 2]> = bonds.into_iter().chain(water).collect();
        let expected = [6, 1, 1, 1, 6, 8, 7, 1, 6, 1, 1, 1, 8, 1, 1];
        for heavier in [0.0, 0.5, 1.0, 2.0, 2.016, 3.0] {
            let mut masses: Vec<f64> = expected.iter().map(|&number| element::weight(number)).collect();
            for [i, j] in bonds.iter().map(|pair| pair.map(|atom| atom as usize)).filter(|[_, j]| *j < 12) {
                if expected[j] == 1 {
                    masses[j] += heavier;
                    masses[i] -= heavier;
                }
            }
            assert_eq!(elements(&masses, &bonds), expected, "{heavier}");
        }
        // an atom without bonds may be helium
        assert_eq!(elements(&[4.0026], &[]), [2]);
    }
}
