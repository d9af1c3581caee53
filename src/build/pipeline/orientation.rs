//! Decisions about the orientation of the side chains of Asn, Gln and His.

use crate::entry::{Decision, Subject};
use crate::hydrogens::{Hydrogenated, MARGIN, Orientation};
use crate::structure::Structure;

/// Decisions about the orientation of side chains: flipped side chains, side chains that the user may flip, and side
/// chains whose orientation is uncertain.
pub(super) fn decisions(found: &Hydrogenated) -> Vec<Decision> {
    let mut decisions = turned(&found.structure, &found.orientations);
    decisions.extend(uncertain(&found.structure, &found.orientations));
    decisions
}

/// Decisions about side chains that were flipped, and proposals to flip further side chains.
fn turned(structure: &Structure, orientations: &[Orientation]) -> Vec<Decision> {
    let turned = orientations.iter().filter(|orientation| orientation.is_turned || orientation.is_proposed());
    let decision = |orientation: &Orientation| {
        let residue = &structure.residues[orientation.residue];
        let part = if residue.name == "HIS" { "ring" } else { "amide" };
        let gain = |score: f64| format!("better hydrogen bonds and contacts, with a score higher by {score:.1}");
        let (what, why) = match orientation.advantage {
            None => (format!("turned the {part} by 180 degrees"), "this was asked for".to_owned()),
            Some(score) if orientation.is_turned => {
                (format!("turned the {part} by 180 degrees"), format!("it has {}", gain(score)))
            }
            Some(score) => {
                let option = format!("--flip {}", structure.residue_address(orientation.residue));
                let what = format!("kept the {part} as the entry has it, although it may be turned by 180 degrees");
                (what, format!("turned, it has {}; {option} turns it", gain(-score)))
            }
        };
        Decision { subject: Subject::Orientation, what, place: structure.residue_label(orientation.residue), why }
    };
    turned.map(decision).collect()
}

/// Returns the decision that lists uncertain side chains. An uncertain side chain was not flipped, and its two
/// orientations have similar scores.
fn uncertain(structure: &Structure, orientations: &[Orientation]) -> Option<Decision> {
    let is_uncertain = |orientation: &&Orientation| {
        !orientation.is_turned && orientation.advantage.is_some_and(|score| score.abs() <= MARGIN)
    };
    let labels = orientations.iter().filter(is_uncertain).map(|other| structure.residue_label(other.residue));
    let labels: Vec<String> = labels.collect();
    (!labels.is_empty()).then(|| Decision {
        subject: Subject::Orientation,
        what: format!("kept the side chains of {} as the entry has them", labels.join(", ")),
        place: "the whole structure".to_owned(),
        why: format!("a turn by 180 degrees changes the score of hydrogen bonds and contacts by at most {MARGIN}"),
    })
}
