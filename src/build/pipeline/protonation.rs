//! Requests for the protonation and orientation of residues, and decisions about them.

use std::collections::BTreeMap;

use md_engine::error::{Problem, Result};

use super::ResidueName;
use crate::entry::{Cleaned, Decision, Subject};
use crate::hydrogens::{self, Choice, Hydrogenated, MARGIN, Orientation, Reason};
use crate::structure::{Residue, Structure};

/// Returns the index of the residue that the user names in an option.
fn find(structure: &Structure, name: &ResidueName, help: &str) -> Result<usize> {
    let is_named = |residue: &Residue| {
        let chain = &structure.chains[residue.chain as usize];
        (chain, residue.number, residue.insertion_code) == (&name.chain, name.number, name.insertion_code)
    };
    let problem = || Problem::new(format!("there is no residue {} in chain {:?}", name.number, name.chain)).help(help);
    Ok(structure.residues.iter().position(is_named).ok_or_else(problem)?)
}

/// Returns the index and the variant of residues: those that the user gives, and those that the file names.
pub(super) fn variants(cleaned: &Cleaned, given: &[(ResidueName, String)]) -> Result<Vec<(usize, String)>> {
    let structure = &cleaned.structure;
    let mut found = vec![];
    for (name, variant) in given {
        let index = find(structure, name, "--variant names a residue as CHAIN:NUMBER=VARIANT")?;
        found.push((index, variant.clone()));
    }
    for (index, info) in cleaned.residues.iter().enumerate() {
        let named =
            hydrogens::variant_of_name(&info.given_name).filter(|_| info.given_name != structure.residues[index].name);
        if let Some(variant) = named.filter(|_| found.iter().all(|(other, _)| *other != index)) {
            found.push((index, variant.to_owned()));
        }
    }
    Ok(found)
}

/// Returns the indices of residues whose side chains the user wants to be turned, each once.
pub(super) fn flips(cleaned: &Cleaned, given: &[ResidueName]) -> Result<Vec<usize>> {
    let index = |name| find(&cleaned.structure, name, "--flip names a residue as CHAIN:NUMBER");
    let mut found = given.iter().map(index).collect::<Result<Vec<usize>>>()?;
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

/// Decisions about the protonation of residues and the orientation of side chains.
pub(super) fn decisions(found: &Hydrogenated, ph: f64) -> Vec<Decision> {
    let mut decisions = variants_decided(&found.structure, &found.choices, ph);
    decisions.extend(turned(&found.structure, &found.orientations));
    decisions.extend(uncertain(&found.structure, &found.orientations));
    decisions
}

/// Decisions about side chains that were turned, and proposals to turn others.
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

/// The decision about side chains that were not turned although both orientations have similar energies.
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

/// Variant of a residue in words.
fn state(choice: &Choice) -> &str {
    match (choice.variant.as_str(), choice.reason) {
        ("CYX", Reason::Metal) => "CYM, a thiolate",
        (variant, _) => variant,
    }
}

/// Decisions about the protonation of residues. Residues of a kind that are protonated as usual are one decision.
fn variants_decided(structure: &Structure, choices: &[Choice], ph: f64) -> Vec<Decision> {
    let name = |choice: &Choice| structure.residues[choice.residue].name.as_str();
    let is_usual =
        |choice: &&Choice| choice.variant == name(choice) && matches!(choice.reason, Reason::Usual | Reason::Pka(_));
    let (usual, others): (Vec<&Choice>, Vec<&Choice>) = choices.iter().partition(is_usual);
    let mut kinds: BTreeMap<&str, (usize, Reason)> = BTreeMap::new();
    for choice in usual {
        kinds.entry(name(choice)).or_insert((0, choice.reason)).0 += 1;
    }
    let of_kind = kinds.into_iter().map(|(name, (count, reason))| Decision {
        subject: Subject::Protonation,
        what: format!("{count} of {name} are protonated as usual at pH {ph}"),
        place: "the whole structure".to_owned(),
        why: why(reason),
    });
    let of_residue = others.into_iter().map(|choice| Decision {
        subject: Subject::Protonation,
        what: format!("is {}", state(choice)),
        place: structure.residue_label(choice.residue),
        why: why(choice.reason),
    });
    of_kind.chain(of_residue).collect()
}

/// The reason of a protonation in words.
fn why(reason: Reason) -> String {
    match reason {
        Reason::Given => "it was asked for, or the file has this name".to_owned(),
        Reason::Disulfide => "its sulfur is bonded to another sulfur".to_owned(),
        Reason::Metal => "it coordinates a metal".to_owned(),
        Reason::Usual => "no other form is likely".to_owned(),
        Reason::Pka(pka) => format!("the pKa in water is {pka}"),
        Reason::Tautomer(energy) => format!(
            "it is neutral at this pH, and its hydrogen has the lower energy on this nitrogen, by {energy:.0} kJ/mol in a \
             rough model"
        ),
    }
}
