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
    let bonded: HashSet<u32> = bonds.iter().flatten().copied().collect();
    let mut last = None;
    for (index, &mass) in masses.iter().enumerate() {
        let molecule = molecules.of_atom(index);
        if last.replace(molecule) != Some(molecule) {
            let number = topology.residues.len() as i32 + 1;
            topology.residues.push(Residue { name: Name::new(OTHER), number, first: index as u32 });
        }
        // an atom with bonds is not helium, but may be a hydrogen with repartitioned mass, which can be as heavy as
        // helium
        let hydrogen = bonded.contains(&(index as u32)) && (0.9..HEAVIEST_HYDROGEN).contains(&mass);
        let number = if hydrogen { 1 } else { element::guess(Name::default(), mass) };
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

/// Returns the pairs of outer atoms of all angles. A pair that is also a bond of another angle is left out: in a
/// three-membered ring, the pair is a bond and not a Urey–Bradley term.
fn urey_bradleys(topology: &Topology) -> HashSet<[u32; 2]> {
    let pair = |i: u32, j: u32| [i.min(j), i.max(j)];
    let angles = || topology.bonded.angles.iter().map(|angle| angle.atoms);
    let sides: HashSet<[u32; 2]> = angles().flat_map(|[i, j, k]| [pair(i, j), pair(j, k)]).collect();
    angles().map(|[i, _, k]| pair(i, k)).filter(|ends| !sides.contains(ends)).collect()
}
