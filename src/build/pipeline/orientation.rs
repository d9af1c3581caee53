//! Decisions about the orientation of the side chains of Asn, Gln and His.

use crate::entry::{Decision, Subject};
use crate::hydrogens::{Hydrogenated, MARGIN, Orientation};
use crate::structure::Structure;

/// Decisions about side chains that were flipped, that the user may flip, or whose orientation is uncertain.
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
        let gain = |energy: f64| format!("hydrogen bonds and contacts gain {energy:.0} kJ/mol in a rough model");
        let (what, why) = match orientation.advantage {
            None => (format!("turned the {part} by 180 degrees"), "this was asked for".to_owned()),
            Some(energy) if orientation.is_turned => (format!("turned the {part} by 180 degrees"), gain(energy)),
            Some(energy) => {
                let chain = &structure.chains[residue.chain as usize];
                let code = residue.insertion_code.map(String::from).unwrap_or_default();
                let option = format!("--flip {chain}:{}{code}", residue.number);
                let what = format!("kept the {part} as the entry has it, although it may be turned by 180 degrees");
                (what, format!("turned, {}; {option} turns it", gain(-energy)))
            }
        };
        Decision { subject: Subject::Orientation, what, place: structure.residue_label(orientation.residue), why }
    };
    turned.map(decision).collect()
}

/// The decision that lists side chains that were not flipped and whose two orientations have similar energies.
fn uncertain(structure: &Structure, orientations: &[Orientation]) -> Option<Decision> {
    let is_uncertain = |orientation: &&Orientation| {
        !orientation.is_turned && orientation.advantage.is_some_and(|energy| energy.abs() <= MARGIN)
    };
    let labels = orientations.iter().filter(is_uncertain).map(|other| structure.residue_label(other.residue));
    let labels: Vec<String> = labels.collect();
    (!labels.is_empty()).then(|| Decision {
        subject: Subject::Orientation,
        what: format!("kept the side chains of {} as the entry has them", labels.join(", ")),
        place: "the whole structure".to_owned(),
        why: format!(
            "turned by 180 degrees, their energies in a rough model are less than {MARGIN} kJ/mol higher or lower"
        ),
    })
}
