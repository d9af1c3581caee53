//! Residues of the sequence that are missing at the ends of a chain.

use crate::entry::{Cleaned, Decision, Gap, GapPlace, ResidueKind, Subject};
use crate::structure::neighbours;

/// Reports the ends of chains at which residues of the sequence have no atoms, and the group with which each of these
/// ends was built.
pub(super) fn report(cleaned: &mut Cleaned) {
    let structure = &cleaned.structure;
    let (residue_of, bonded) = (structure.residue_of_atoms(), neighbours(structure.atoms.len(), &structure.bonds));
    // the first other residue to which an atom of a residue is bonded
    let partner = |residue: usize, name: &str| {
        let others =
            bonded[structure.atom_named(residue, name)?].iter().map(|&atom| residue_of[atom as usize] as usize);
        { others }.find(|&other| other != residue)
    };
    let ends = cleaned.gaps.iter().filter_map(|gap| {
        let (residue, is_start) = match gap.place {
            GapPlace::Start { before } => (before, true),
            GapPlace::End { after } => (after, false),
            GapPlace::Inner { .. } => return None,
        };
        Some(decision(cleaned, gap, residue as usize, is_start, partner))
    });
    let decisions: Vec<Decision> = ends.collect();
    cleaned.decisions.extend(decisions);
}

/// Returns the decision about the end of a chain. `partner` returns the residue to which an atom of a given residue and
/// name is bonded.
fn decision(
    cleaned: &Cleaned,
    gap: &Gap,
    residue: usize,
    is_start: bool,
    partner: impl Fn(usize, &str) -> Option<usize>,
) -> Decision {
    let structure = &cleaned.structure;
    let kind = cleaned.residues[residue].kind;
    let end = match (kind, is_start) {
        (Some(ResidueKind::Protein), true) => Some(("N", " with a charged amino group")),
        (Some(ResidueKind::Protein), false) => Some(("C", " with a charged carboxylate")),
        (Some(ResidueKind::Nucleic), true) => Some(("O5'", " with a hydroxyl group")),
        (Some(ResidueKind::Nucleic), false) => Some(("O3'", " with a hydroxyl group")),
        _ => None,
    };
    let partner = end.and_then(|(name, _)| partner(residue, name));
    let group = match (partner, end) {
        (Some(partner), _) => format!(" with a bond to {}", structure.residue_label(partner)),
        (None, Some((_, group))) => group.to_owned(),
        (None, None) => String::new(),
    };
    let [verb, side] = if is_start { ["begins", "before"] } else { ["ends", "after"] };
    let count = gap.names.len();
    let [residues, have] = if count == 1 { ["residue", "has"] } else { ["residues", "have"] };
    let advice = match (kind, partner) {
        (Some(ResidueKind::Protein), None) => "; --cap ACE,NME --cap-ends gives ends of chains caps without a charge",
        _ => "",
    };
    let why = format!("{count} {residues} of the sequence {side} this residue {have} no atoms{advice}");
    Decision::new(Subject::Sequence, structure.residue_label(residue), format!("the chain {verb} here{group}"), why)
}
