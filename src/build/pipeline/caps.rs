//! Caps as CHARMM has them: atoms of the residue to which a cap is bonded. The patches ACE, CT3 and CT2 add these
//! atoms.

use crate::entry::caps::CAPS;
use crate::structure::{Residue, Structure, neighbours};

/// Makes the caps ACE, NME and NH2 part of the residues to which they are bonded, with CHARMM's atom names.
/// `has_template` returns whether the force field describes a cap as a residue of its own; such caps are kept.
pub(super) fn join(structure: &mut Structure, has_template: impl Fn(&str) -> bool) {
    let neighbours = neighbours(structure.atoms.len(), &structure.bonds);
    let residue_of = structure.residue_of_atoms();
    let mut joined = vec![];
    for (index, Residue { name, .. }) in structure.residues.iter().enumerate() {
        let Some(cap) = CAPS.iter().find(|cap| cap.name == name && !has_template(name)) else { continue };
        let end = structure.atom_named(index, cap.end);
        let bonded =
            end.into_iter().flat_map(|end| neighbours[end].iter().map(|&atom| residue_of[atom as usize] as usize));
        // the atoms of a residue are consecutive, so that only the residue before or after can take those of the cap
        let is_cap = |residue: usize| CAPS.iter().any(|cap| cap.name == structure.residues[residue].name);
        if let Some(capped) = { bonded }.find(|&at| (at == index + 1 || at + 1 == index) && !is_cap(at)) {
            joined.push((index, capped, cap));
        }
    }
    for &(index, _, cap) in &joined {
        for &(old, new, hydrogens) in cap.atoms {
            let Some(heavy) = structure.atom_named(index, old) else { continue };
            let mut number = 0;
            for &atom in &neighbours[heavy] {
                let atom = &mut structure.atoms[atom as usize];
                if atom.element == 1 {
                    number += 1;
                    atom.name = hydrogens.replace('*', &number.to_string());
                }
            }
            structure.atoms[heavy].name = new.to_owned();
        }
    }
    // from the last cap to the first, so that the indices of the remaining caps stay valid
    for (index, capped, _) in joined.into_iter().rev() {
        if capped > index {
            structure.residues[capped].first = structure.residues[index].first;
        }
        structure.residues.remove(index);
    }
}
