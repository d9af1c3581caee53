//! Removal of the phosphate before the first nucleoside of a chain.

use super::completion;
use super::edit::{Edit, no_longer_missing};
use crate::entry::{Cleaned, ResidueKind};
use crate::structure::neighbours;

/// Atoms of a phosphate.
const PHOSPHATE: [&str; 4] = ["P", "OP1", "OP2", "OP3"];

/// Removes the phosphate at the beginning of each chain, if the phosphate is bonded to only one nucleoside. The chain
/// then begins with the hydroxyl group of O5', for which every force field of nucleic acids has a template.
pub(super) fn remove_first(cleaned: &mut Cleaned) {
    let structure = &cleaned.structure;
    let bonded = neighbours(structure.atoms.len(), &structure.bonds);
    let residue_of = structure.residue_of_atoms();
    let mut edit = Edit::default();
    let mut changed = vec![];
    let nucleotides =
        (0..structure.residues.len()).filter(|&at| cleaned.residues[at].kind == Some(ResidueKind::Nucleic));
    for residue in nucleotides {
        let first = structure.atom_named(residue, "P").filter(|_| structure.atom_named(residue, "O5'").is_some());
        let Some(phosphorus) = first else { continue };
        let is_inner = |&atom: &u32| residue_of[atom as usize] as usize != residue;
        let is_after_gap = cleaned.gaps.iter().any(|gap| gap.is_before(residue));
        if bonded[phosphorus].iter().any(is_inner) || is_after_gap {
            continue;
        }
        let found = PHOSPHATE.iter().filter_map(|name| Some((*name, structure.atom_named(residue, name)?)));
        let (names, atoms): (Vec<&str>, Vec<usize>) = found.unzip();
        let of_phosphate = |&atom: &u32| structure.atoms[atom as usize].element == 1;
        let hydrogens = atoms.iter().flat_map(|&atom| bonded[atom].iter().filter(|atom| of_phosphate(atom)));
        edit.removed.extend(hydrogens.map(|&atom| atom as usize));
        edit.removed.extend(&atoms);
        changed.push(residue);
        let what = format!("removed {} of the 5' phosphate", names.join(", "));
        let why = "md build begins nucleic acids with the hydroxyl group of O5', as force fields of AMBER do";
        cleaned.decisions.push(completion(structure, residue, what, why));
    }
    no_longer_missing(cleaned, |residue| changed.contains(&residue), |name| PHOSPHATE.contains(&name));
    if !edit.removed.is_empty() {
        edit.apply(cleaned);
    }
}
