//! Decisions about the protonation of residues, with the pKa values that are the reasons for the decisions.
//!
//! Groups whose protonation state at the pH is the same as in water share one decision for each kind of group. Every
//! group whose protonation state differs from the state in water has a separate decision. Another decision lists the
//! groups whose pKa is near the pH, because their state is uncertain.

use std::collections::BTreeMap;

use crate::entry::{Decision, Subject};
use crate::hydrogens::{Choice, Contradiction, Hydrogenated, Ionizable, Pka, Reason, TIE};
use crate::structure::{Residue, Structure};

/// Largest difference between pKa and pH at which the protonation state of a group counts as uncertain. The
/// root-mean-square deviation of predicted pKa values from experiments is 0.8 for Asp and Glu (Olsson et al. 2011,
/// doi:10.1021/ct100578z).
const UNCERTAIN: f64 = 1.0;
/// Smallest contribution to a pKa that a decision lists, in pKa units.
const LISTED: f64 = 0.05;

/// pKa values with the labels of their groups.
pub(super) fn labelled(hydrogenated: &Hydrogenated) -> Vec<(String, Pka)> {
    hydrogenated.pkas.iter().map(|pka| (label(&hydrogenated.structure, pka), *pka)).collect()
}

/// Returns the name of a group for messages, such as `ASP 26 of chain A`.
fn label(structure: &Structure, pka: &Pka) -> String {
    let residue = structure.residue_label(pka.residue);
    match pka.group {
        Ionizable::NTerminus => format!("N-terminus of {residue}"),
        Ionizable::CTerminus => format!("C-terminus of {residue}"),
        _ => residue,
    }
}

/// Decisions about all residues.
pub(super) fn decisions(hydrogenated: &Hydrogenated, ph: f64) -> Vec<Decision> {
    let Hydrogenated { structure, choices, pkas, .. } = hydrogenated;
    let mut summary = Summary::default();
    let mut single = vec![];
    for choice in choices {
        let name = structure.residues[choice.residue].name.as_str();
        let pka = pkas.iter().find(|pka| is_of(pka, choice));
        let differs = pka.is_some_and(|pka| differs(pka, ph));
        let is_usual = match choice.reason {
            Reason::Usual => true,
            Reason::Pka(_) => !differs && (pka.is_some() || choice.variant == name),
            _ => false,
        };
        match (is_usual, pka) {
            (true, Some(_)) => {}
            (true, None) => summary.add(name, &why(choice.reason, None)),
            (false, _) => single.push(decision(
                structure.residue_label(choice.residue),
                format!("is {}", state(choice)),
                why(choice.reason, pka.map(|pka| (pka, differs))),
            )),
        }
    }
    for pka in pkas {
        if is_set(pka, choices) {
            continue;
        }
        let choice = choices.iter().find(|choice| is_of(pka, choice) && has_forms(pka.group));
        if choice.is_some_and(|choice| !matches!(choice.reason, Reason::Pka(_))) {
            continue;
        }
        if !differs(pka, ph) {
            summary.add_pka(pka);
        } else if choice.is_none() {
            let place = label(structure, pka);
            let why = format!("{}; md build has no other form of it", explanation(pka));
            single.push(decision(place, "keeps its usual protonation, which its pKa contradicts".to_owned(), why));
        }
    }
    let mut all = summary.decisions(ph);
    all.extend(single);
    all.extend(divided(hydrogenated, ph));
    all.extend(uncertain(hydrogenated, ph));
    all.extend(hydrogenated.contradictions.iter().map(|found| contradiction(structure, found, choices)));
    all
}

/// Decision about a residue whose hydrogens in the entry state another protonation than the chosen one.
fn contradiction(structure: &Structure, found: &Contradiction, choices: &[Choice]) -> Decision {
    let Contradiction { residue: index, extra, absent, variant } = found;
    let list = |verb: &str, names: &[String]| match names.is_empty() {
        true => None,
        false => Some(format!("{verb} {}", names.join(" and "))),
    };
    let parts: Vec<String> = [list("has", extra), list("lacks", absent)].into_iter().flatten().collect();
    let chosen = choices.iter().find(|choice| choice.residue == *index).map_or("", |choice| state(choice));
    let address = structure.residue_address(*index);
    let option = variant.as_ref().map(|name| format!("; --variant {address}={name} keeps it"));
    let why = format!(
        "the entry {}, which states another protonation; md build replaces hydrogens of the entry{}",
        parts.join(" and "),
        option.unwrap_or_default()
    );
    decision(structure.residue_label(*index), format!("built as {chosen}, unlike the entry"), why)
}

fn decision(place: String, what: String, why: String) -> Decision {
    Decision { subject: Subject::Protonation, what, place, why }
}

/// Whether a pKa belongs to the side chain whose variant is `choice`.
fn is_of(pka: &Pka, choice: &Choice) -> bool {
    pka.residue == choice.residue && !matches!(pka.group, Ionizable::NTerminus | Ionizable::CTerminus)
}

/// Whether a metal, the user or the file decides the variant of the side chain to which a pKa belongs.
fn is_set(pka: &Pka, choices: &[Choice]) -> bool {
    choices.iter().any(|choice| is_of(pka, choice) && matches!(choice.reason, Reason::Given | Reason::Metal))
}

/// Whether a group can be built both with and without its proton.
fn has_forms(group: Ionizable) -> bool {
    matches!(group, Ionizable::Asp | Ionizable::Glu | Ionizable::His | Ionizable::Lys)
}

/// Whether the protonation state of a group at the pH differs between protein and water.
fn differs(pka: &Pka, ph: f64) -> bool {
    (ph < pka.value()) != (ph < pka.group.in_water())
}

/// Returns a text with a pKa and its contributions. The largest contribution comes first.
fn explanation(pka: &Pka) -> String {
    let shifts = &pka.shifts;
    let mut parts = [
        (shifts.desolvation, "desolvation"),
        (shifts.reorganisation, "reorganisation of the backbone"),
        (shifts.hydrogen_bonds, "hydrogen bonds"),
        (shifts.charges, "charges of other groups"),
        (shifts.ions, "ions"),
    ];
    parts.sort_by(|a, b| b.0.abs().total_cmp(&a.0.abs()));
    let listed = parts.iter().filter(|(shift, _)| shift.abs() >= LISTED);
    let listed: Vec<String> = listed.map(|(shift, name)| format!(", {shift:+.1} {name}")).collect();
    format!("pKa {:.1}: {:.1} in water{}", pka.value(), pka.group.in_water(), listed.concat())
}

/// Returns the name of a variant, with an explanation of the thiolate of cysteine.
fn state(choice: &Choice) -> &str {
    if choice.variant == "CYM" { "CYM, a thiolate" } else { &choice.variant }
}

/// Returns the reason for a protonation state as text. `pka` is the pKa in the protein. The flag in `pka` is true if
/// this pKa leads to a protonation state that differs from the state in water.
fn why(reason: Reason, pka: Option<(&Pka, bool)>) -> String {
    match (reason, pka) {
        (Reason::Given, _) => "it was asked for, or the file has this name".to_owned(),
        (Reason::Disulfide, _) => "its sulfur is bonded to another sulfur".to_owned(),
        (Reason::Metal, _) => "it coordinates a metal".to_owned(),
        (Reason::End(value), _) => format!(
            "its pKa of {value:.1} asks for another form, which force fields lack at the ends of chains; --variant chooses by \
             hand"
        ),
        (Reason::Usual, _) => "no other form is likely".to_owned(),
        (Reason::Pka(_), Some((pka, _))) => explanation(pka),
        (Reason::Pka(value), None) => format!("the pKa in water is {value}"),
        (Reason::Tautomer(score), pka) => {
            let value = match pka {
                Some((pka, true)) => format!(", since its {}", explanation(pka)),
                Some((pka, false)) => format!(", with a pKa of {:.1}", pka.value()),
                None => String::new(),
            };
            let place = if score < 0.05 {
                "no hydrogen bond favours one of its nitrogens".to_owned()
            } else {
                format!("hydrogen bonds and contacts favour this nitrogen for its hydrogen, by a score of {score:.1}")
            };
            format!("it is neutral at this pH{value}, and {place}")
        }
    }
}

/// Kind of a group, and number and insertion code of its residue.
type Site = (Ionizable, i32, Option<char>);

/// Decisions about equivalent groups with different protonation states. Groups are equivalent if their residues have
/// the same name and number in different chains, and if the shifts that depend on the positions of atoms alone are
/// equal.
fn divided(hydrogenated: &Hydrogenated, ph: f64) -> Vec<Decision> {
    let Hydrogenated { structure, choices, pkas, .. } = hydrogenated;
    let mut classes: BTreeMap<Site, Vec<Vec<&Pka>>> = BTreeMap::new();
    for pka in pkas.iter().filter(|pka| has_forms(pka.group) && !is_set(pka, choices)) {
        let residue = &structure.residues[pka.residue];
        let classes = classes.entry((pka.group, residue.number, residue.insertion_code)).or_default();
        let geometry = |pka: &Pka| [pka.shifts.desolvation, pka.shifts.reorganisation, pka.shifts.ions];
        let is_equal = |other: &Pka| geometry(pka).iter().zip(geometry(other)).all(|(a, b)| (a - b).abs() < TIE);
        match classes.iter_mut().find(|class| is_equal(class[0])) {
            Some(class) => class.push(pka),
            None => classes.push(vec![pka]),
        }
    }
    let chains = |class: &[&Pka]| {
        let chain = |pka: &&Pka| structure.chains[structure.residues[pka.residue].chain as usize].as_str();
        class.iter().map(chain).collect::<Vec<&str>>().join(", ")
    };
    let of_class = |class: Vec<&Pka>| {
        let (with, without): (Vec<&Pka>, Vec<&Pka>) = class.iter().partition(|pka| ph < pka.value());
        if with.is_empty() || without.is_empty() {
            return None;
        }
        let Residue { name, number, .. } = &structure.residues[class[0].residue];
        let what =
            format!("has the proton in the chains {}, and lacks it in the chains {}", chains(&with), chains(&without));
        let why = "these groups have equal surroundings; if two of them interact, the earlier group has the higher pKa; \
                   --variant chooses by hand";
        Some(decision(format!("{name} {number} of {} equivalent chains", class.len()), what, why.to_owned()))
    };
    classes.into_values().flatten().filter_map(of_class).collect()
}

/// Decision that lists the groups whose pKa is near the pH; `None` if there are no such groups. Variants that a metal,
/// the user or the file decides are not listed.
fn uncertain(hydrogenated: &Hydrogenated, ph: f64) -> Option<Decision> {
    let Hydrogenated { structure, choices, pkas, .. } = hydrogenated;
    let near = pkas.iter().filter(|pka| (pka.value() - ph).abs() < UNCERTAIN && !is_set(pka, choices));
    let names: Vec<String> = near.map(|pka| format!("{} (pKa {:.1})", label(structure, pka), pka.value())).collect();
    if names.is_empty() {
        return None;
    }
    let why =
        format!("a pKa within {UNCERTAIN} of pH {ph} is within the error of the method; --variant chooses by hand");
    Some(decision("the whole structure".to_owned(), format!("uncertain protonation of {}", names.join(", ")), why))
}

/// Groups whose protonation state at the pH is the same as in water.
#[derive(Default)]
struct Summary {
    /// number of residues with each residue name, and the reason for their protonation state
    residues: BTreeMap<String, (usize, String)>,
    /// number of groups of each kind, the lowest pKa and the highest pKa
    groups: BTreeMap<Ionizable, (usize, f64, f64)>,
}

impl Summary {
    fn add(&mut self, name: &str, why: &str) {
        self.residues.entry(name.to_owned()).or_insert((0, why.to_owned())).0 += 1;
    }

    fn add_pka(&mut self, pka: &Pka) {
        let (count, low, high) = self.groups.entry(pka.group).or_insert((0, f64::INFINITY, f64::NEG_INFINITY));
        *count += 1;
        *low = low.min(pka.value());
        *high = high.max(pka.value());
    }

    fn decisions(self, ph: f64) -> Vec<Decision> {
        let usual = |count: usize, name: &str, why: String| {
            let what = format!("protonated as usual at pH {ph}: {count} {name}");
            decision("the whole structure".to_owned(), what, why)
        };
        let residues = self.residues.into_iter().map(|(name, (count, why))| usual(count, &name, why));
        let groups = self.groups.into_iter().map(|(group, (count, low, high))| {
            let (low, high) = (format!("{low:.1}"), format!("{high:.1}"));
            let range = if low == high { low } else { format!("{low} to {high}") };
            usual(count, group.name(), format!("pKa {range}; {:.1} in water", group.in_water()))
        });
        residues.chain(groups).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hydrogens::Shifts;

    /// Returns a structure whose residues have no atoms, with a variant and a pKa for each residue.
    fn hydrogenated(residues: &[(&str, &str, Ionizable, Shifts)]) -> Hydrogenated {
        let residue = |(index, (name, ..)): (usize, &(&str, &str, Ionizable, Shifts))| Residue {
            name: (*name).to_owned(),
            number: index as i32 + 1,
            insertion_code: None,
            chain: 0,
            first: 0,
        };
        let pka =
            |(residue, &(.., group, shifts)): (usize, &(&str, &str, Ionizable, Shifts))| Pka { residue, group, shifts };
        let pkas: Vec<Pka> = residues.iter().enumerate().map(pka).collect();
        let choices = residues.iter().zip(&pkas).filter(|((_, variant, ..), _)| !variant.is_empty());
        Hydrogenated {
            structure: Structure {
                chains: vec!["A".to_owned()],
                residues: residues.iter().enumerate().map(residue).collect(),
                ..Structure::default()
            },
            positions: vec![],
            orientations: vec![],
            contradictions: vec![],
            choices: choices
                .map(|((_, variant, ..), pka)| Choice {
                    residue: pka.residue,
                    variant: (*variant).to_owned(),
                    reason: Reason::Pka(pka.value()),
                })
                .collect(),
            pkas,
            unknown: vec![],
        }
    }

    #[test]
    fn unusual_and_uncertain_groups_are_named() {
        let none = Shifts::default();
        let found = hydrogenated(&[
            ("ASP", "ASH", Ionizable::Asp, Shifts { desolvation: 2.9, hydrogen_bonds: 0.8, charges: 0.04, ..none }),
            ("ASP", "ASP", Ionizable::Asp, Shifts { charges: -0.5, ..none }),
            ("ASP", "ASP", Ionizable::Asp, none),
            ("CYS", "", Ionizable::Cys, Shifts { ions: -4.5, ..none }),
            ("MET", "", Ionizable::NTerminus, none),
        ]);
        let texts: Vec<String> = decisions(&found, 7.0).iter().map(Decision::to_string).collect();
        let expected = [
            "the whole structure: protonated as usual at pH 7: 2 ASP (pKa 3.3 to 3.8; 3.8 in water)",
            "the whole structure: protonated as usual at pH 7: 1 N-terminus (pKa 8.0; 8.0 in water)",
            "ASP 1 of chain A: is ASH (pKa 7.5: 3.8 in water, +2.9 desolvation, +0.8 hydrogen bonds)",
            "CYS 4 of chain A: keeps its usual protonation, which its pKa contradicts (pKa 4.5: 9.0 in water, -4.5 ions; md \
             build has no other form of it)",
            "the whole structure: uncertain protonation of ASP 1 of chain A (pKa 7.5) (a pKa within 1 of pH 7 is within \
             the error of the method; --variant chooses by hand)",
        ];
        assert_eq!(texts, expected);
    }

    #[test]
    fn a_pka_does_not_contradict_what_a_metal_decides() {
        let mut found = hydrogenated(&[("CYS", "CYM", Ionizable::Cys, Shifts { ions: -2.5, ..Shifts::default() })]);
        found.choices[0].reason = Reason::Metal;
        let texts: Vec<String> = decisions(&found, 7.0).iter().map(Decision::to_string).collect();
        assert_eq!(texts, ["CYS 1 of chain A: is CYM, a thiolate (it coordinates a metal)"]);
    }

    #[test]
    fn equivalent_groups_with_different_states_are_named() {
        let shifts = |charges: f64, desolvation: f64| Shifts { desolvation, charges, ..Shifts::default() };
        // the first two groups differ in their charges only, and the third group is buried more deeply
        let mut found = hydrogenated(&[
            ("GLU", "GLH", Ionizable::Glu, shifts(3.0, 1.0)),
            ("GLU", "GLU", Ionizable::Glu, shifts(0.0, 1.0)),
            ("GLU", "GLH", Ionizable::Glu, shifts(3.0, 1.1)),
        ]);
        found.structure.chains = ["A", "B", "C"].map(str::to_owned).to_vec();
        for (chain, residue) in found.structure.residues.iter_mut().enumerate() {
            (residue.chain, residue.number) = (chain as u32, 154);
        }
        let texts: Vec<String> = decisions(&found, 7.0).iter().map(Decision::to_string).collect();
        let named: Vec<&String> = texts.iter().filter(|text| text.contains("equivalent")).collect();
        let expected = "GLU 154 of 2 equivalent chains: has the proton in the chains A, and lacks it in the chains B";
        assert!(named.len() == 1 && named[0].starts_with(expected), "{texts:?}");
    }

    #[test]
    fn without_pkas_the_values_in_water_are_named() {
        let mut found = hydrogenated(&[("GLU", "GLU", Ionizable::Glu, Shifts::default())]);
        found.pkas.clear();
        let texts: Vec<String> = decisions(&found, 7.0).iter().map(Decision::to_string).collect();
        assert_eq!(texts, ["the whole structure: protonated as usual at pH 7: 1 GLU (the pKa in water is 4.5)"]);
    }

    #[test]
    fn hydrogens_of_the_entry_that_are_replaced_are_said() {
        let mut found = hydrogenated(&[("GLU", "GLU", Ionizable::Glu, Shifts::default())]);
        let [extra, absent] = [vec!["HE2".to_owned()], vec![]];
        found.contradictions = vec![Contradiction { residue: 0, extra, absent, variant: Some("GLH".to_owned()) }];
        let said = decisions(&found, 7.0).last().unwrap().to_string();
        let expected = "GLU 1 of chain A: built as GLU, unlike the entry (the entry has HE2, which states another \
                        protonation; md build replaces hydrogens of the entry; --variant A:1=GLH keeps it)";
        assert_eq!(said, expected);
    }
}
