//! The atom OXT, with which a chain of amino acids ends.

use md_engine::vec3::Vec3;

use crate::entry::{Cleaned, Decision, Subject};
use crate::structure::Atom;

/// Length of the bonds C–O of a carboxylate, nm (Cornell et al., J. Am. Chem. Soc. 117, 5179 (1995),
/// doi:10.1021/ja00124a002).
const LENGTH: f64 = 0.125;
/// Name of the atom.
const OXT: &str = "OXT";

/// Adds OXT to residues that lack only this atom. Its place follows from CA, C and O.
pub(super) fn add_oxt(cleaned: &mut Cleaned) {
    let lacking: Vec<u32> =
        cleaned.missing_atoms.iter().filter(|missing| missing.names == [OXT]).map(|m| m.residue).collect();
    for residue in lacking {
        let atom = |name: &str| cleaned.structure.atom_named(residue as usize, name);
        let (Some(alpha), Some(carbon), Some(oxygen)) = (atom("CA"), atom("C"), atom("O")) else { continue };
        let end = cleaned.structure.residue_atoms(residue as usize).end;
        let place = opposite(&cleaned.positions, carbon, [alpha, oxygen]);
        insert(cleaned, residue, end, place);
        cleaned.structure.bonds.push([carbon as u32, end as u32]);
        cleaned.missing_atoms.retain(|missing| missing.residue != residue);
        cleaned.decisions.push(Decision {
            subject: Subject::Bonds,
            what: "added OXT".to_owned(),
            place: cleaned.structure.residue_label(residue as usize),
            why: "a chain of amino acids ends with a carboxylate".to_owned(),
        });
    }
}

/// Position in the plane of three atoms, on the side of the first that is away from the others.
fn opposite(positions: &[Vec3], center: usize, others: [usize; 2]) -> Vec3 {
    let toward = |atom: usize| {
        let bond = positions[atom] - positions[center];
        bond * (1.0 / bond.norm().max(1e-9))
    };
    let sum = toward(others[0]) + toward(others[1]);
    positions[center] - sum * (LENGTH / sum.norm().max(1e-9))
}

/// Inserts OXT before the atom `at`, and renumbers the atoms after it.
fn insert(cleaned: &mut Cleaned, residue: u32, at: usize, place: Vec3) {
    let moved = |atom: &mut u32| *atom += u32::from(*atom as usize >= at);
    let structure = &mut cleaned.structure;
    structure.atoms.insert(at, Atom { name: OXT.to_owned(), element: 8 });
    cleaned.positions.insert(at, place);
    structure.bonds.iter_mut().flatten().for_each(moved);
    structure.residues[residue as usize + 1..].iter_mut().for_each(|residue| residue.first += 1);
    cleaned.disulfides.iter_mut().flatten().for_each(moved);
    for site in &mut cleaned.metal_sites {
        moved(&mut site.metal);
        site.donors.iter_mut().for_each(|(atom, _)| moved(atom));
    }
}
