//! Coordination of metals. The module reports coordinating atoms and makes no bonds.

use super::decision::{Decision, Subject};
use super::draft::Draft;
use super::near::Grid;

/// Maximum distance (nm) between a metal and an atom that coordinates the metal. Distances in proteins are 0.20–0.24 nm
/// (M. M. Harding, Acta Cryst. D57, 401 (2001)); the limit allows for the coordinate errors of structures at low
/// resolution.
const COORDINATED: f64 = 0.28;

/// Atomic numbers of the elements that coordinate metals: nitrogen, oxygen and sulfur.
pub(super) const DONORS: [u8; 3] = [7, 8, 16];

/// Maximum number of coordinating atoms that are reported for a metal. The value is the highest coordination number of
/// common structures.
const MOST_DONORS: usize = 12;

/// A metal with the atoms that coordinate it.
#[derive(Clone, Debug, PartialEq)]
pub struct MetalSite {
    /// the metal atom
    pub metal: u32,
    /// atoms that coordinate the metal, with their distances in nm, nearest first
    pub donors: Vec<(u32, f64)>,
}

/// Whether an element is a metal. `element` is the atomic number; elements with atomic numbers above 83 do not count as
/// metals in md.
pub(super) fn is_metal(element: u8) -> bool {
    matches!(element, 3 | 4 | 11..=13 | 19..=31 | 37..=50 | 55..=83)
}

/// Whether an element is an alkali metal, whose ions are bound loosely.
fn is_alkali(element: u8) -> bool {
    matches!(element, 3 | 11 | 19 | 37 | 55)
}

/// Returns the sites of metals. Alkali metals are left out, and so are metals that only waters coordinate.
pub(super) fn find_sites(draft: &Draft<'_>, decisions: &mut Vec<Decision>) -> Vec<MetalSite> {
    let structure = &draft.structure;
    let residues = structure.residue_of_atoms();
    let atoms = || 0..structure.atoms.len() as u32;
    let donors = atoms().filter(|&atom| DONORS.contains(&structure.atoms[atom as usize].element));
    let grid = Grid::new(&draft.positions, donors, COORDINATED);
    let is_site = |atom: &u32| {
        let element = structure.atoms[*atom as usize].element;
        is_metal(element) && !is_alkali(element)
    };
    let mut sites = vec![];
    for metal in atoms().filter(is_site) {
        let donors: Vec<(u32, f64)> =
            grid.around(metal).into_iter().take(MOST_DONORS).map(|(distance, atom)| (atom, distance)).collect();
        let residue = |atom: u32| residues[atom as usize] as usize;
        let is_bound = |&(atom, _): &(u32, f64)| {
            let is_water = structure.residues[residue(atom)].name == "HOH";
            !is_water && residue(atom) != residue(metal)
        };
        if !donors.iter().any(is_bound) {
            continue;
        }
        let name =
            |&(atom, distance): &(u32, f64)| format!("{} ({distance:.3} nm)", structure.atom_label(atom as usize));
        let names: Vec<String> = donors.iter().map(name).collect();
        let place = structure.atom_label(metal as usize);
        let what = format!("coordinated by {}; no bonds were made", names.join(", "));
        let why = "force fields describe a metal as an ion without bonds, or need parameters of the metal site";
        decisions.push(Decision::new(Subject::Metal, place, what, why));
        sites.push(MetalSite { metal, donors });
    }
    sites
}
