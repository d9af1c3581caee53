//! The atom OXT, with which a chain of amino acids ends.

use super::completion;
use super::edit::{Edit, NewAtom};
use crate::entry::Cleaned;
use crate::geometry::opposite;

/// Length of the bonds C–O of a carboxylate, nm (Cornell et al., J. Am. Chem. Soc. 117, 5179 (1995),
/// doi:10.1021/ja00124a002).
const LENGTH: f64 = 0.125;
/// Atom name of the second oxygen of the carboxylate.
const OXT: &str = "OXT";

/// Adds OXT to residues that lack only this atom. The position of OXT follows from CA, C and O.
pub(super) fn add_oxt(cleaned: &mut Cleaned) {
    let mut edit = Edit::default();
    for missing in cleaned.missing_atoms.iter().filter(|missing| missing.names == [OXT]) {
        let residue = missing.residue as usize;
        let atom = |name: &str| Some(cleaned.positions[cleaned.structure.atom_named(residue, name)?]);
        let (Some(alpha), Some(carbon), Some(oxygen)) = (atom("CA"), atom("C"), atom("O")) else { continue };
        let position = opposite(carbon, [alpha, oxygen], LENGTH);
        edit.added.insert(residue, vec![NewAtom { name: OXT.to_owned(), position }]);
        let why = "a chain of amino acids ends with a carboxylate";
        cleaned.decisions.push(completion(&cleaned.structure, residue, "added OXT", why));
    }
    cleaned.missing_atoms.retain(|missing| !edit.added.contains_key(&(missing.residue as usize)));
    edit.apply(cleaned);
}
