//! Caps of peptide chains in CHARMM's files, where the atoms of a cap belong to the capped residue.

use std::collections::HashSet;

use super::choose::{Picked, PickedAtom, label};
use super::decision::{Decision, Subject};
use super::table::{ResidueKind, standard_residue};

/// A cap whose atoms CHARMM counts to the capped residue.
pub(crate) struct Cap {
    /// name of the residue in PDB files
    pub(crate) name: &'static str,
    /// atom with the bond to the capped residue
    pub(crate) end: &'static str,
    /// heavy atoms: name in PDB files, name in CHARMM, and CHARMM's name of their hydrogens, where an asterisk stands
    /// for the number of the hydrogen
    pub(crate) atoms: &'static [(&'static str, &'static str, &'static str)],
    /// whether the cap precedes the capped residue
    is_before: bool,
}

/// The caps of the patches ACE, CT3 and CT2 in `top_all36_prot.rtf` of CHARMM36. NME stands before NH2, because CT3 has
/// the nitrogen of CT2.
pub(crate) const CAPS: [Cap; 3] = [
    Cap { name: "ACE", end: "C", atoms: &[("CH3", "CAY", "HY*"), ("C", "CY", ""), ("O", "OY", "")], is_before: true },
    Cap { name: "NME", end: "N", atoms: &[("N", "NT", "HNT"), ("C", "CAT", "HT*")], is_before: false },
    Cap { name: "NH2", end: "N", atoms: &[("N", "NT", "HT*")], is_before: false },
];

/// Whether a residue name is that of a cap.
pub(crate) fn is_cap(name: &str) -> bool {
    CAPS.iter().any(|cap| cap.name == name)
}

/// Numbers and insertion codes of the residues of a chain.
pub(crate) type Numbers = HashSet<(i32, Option<char>)>;

/// Returns the number and insertion code of a cap, and adds them to the numbers of the chain. The number is that of the
/// capped residue plus `step`. If a residue has this number, the cap has the number of the capped residue and the first
/// insertion code that is free.
pub(crate) fn number_of_cap(taken: &mut Numbers, capped: i32, step: i32) -> (i32, Option<char>) {
    let next = (capped.saturating_add(step), None);
    let coded = ('A'..='Z').map(|code| (capped, Some(code)));
    let found = [next].into_iter().chain(coded).find(|number| !taken.contains(number)).unwrap_or(next);
    taken.insert(found);
    found
}

/// Makes residues of their own from the caps of an amino acid, and returns the residues in the order of the chain.
/// Hydrogens of caps stay with the amino acid, since hydrogens are placed anew. `chain` is the identifier of the chain,
/// and `taken` has the numbers of its residues.
pub(super) fn split(
    mut residue: Picked,
    chain: &str,
    taken: &mut Numbers,
    decisions: &mut Vec<Decision>,
) -> Vec<Picked> {
    let is_amino = residue.standard.is_some_and(|standard| standard.kind == ResidueKind::Protein);
    if !is_amino || is_cap(&residue.name) {
        return vec![residue];
    }
    let (mut before, mut after) = (vec![], vec![]);
    for cap in &CAPS {
        let index_of = |charmm: &str| residue.atoms.iter().position(|atom| atom.name == charmm);
        if cap.atoms.iter().any(|(_, charmm, _)| index_of(charmm).is_none()) {
            continue;
        }
        let mut atoms = vec![];
        for &(name, charmm, _) in cap.atoms {
            let taken = residue.atoms.extract_if(.., |atom| atom.name == charmm);
            atoms.extend(taken.map(|atom| PickedAtom { name: name.to_owned(), ..atom }));
        }
        let charmm: Vec<&str> = cap.atoms.iter().map(|(_, charmm, _)| *charmm).collect();
        let what = format!("made a residue {} of the atoms {}", cap.name, charmm.join(", "));
        let place = label(&residue.given, residue.number, residue.insertion_code, chain);
        decisions.push(Decision::new(Subject::Names, place, what, "CHARMM counts the atoms of a cap to the residue"));
        let step = if cap.is_before { -1 } else { 1 };
        let (number, insertion_code) = number_of_cap(taken, residue.number, step);
        let made = Picked {
            name: cap.name.to_owned(),
            given: cap.name.to_owned(),
            number,
            insertion_code,
            standard: standard_residue(cap.name),
            position: None,
            is_polymer: true,
            atoms,
            ..residue.clone()
        };
        if cap.is_before { before.push(made) } else { after.push(made) }
    }
    // a residue with caps is part of a chain, even if it is written behind the end of a chain
    residue.is_polymer |= !before.is_empty() || !after.is_empty();
    before.push(residue);
    before.extend(after);
    before
}
