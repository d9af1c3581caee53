//! Record of a build for `build.log` and `build.json`: the command, the settings, and every decision.
//!
//! The record is sufficient to repeat the build. The record has no dates and no output folder, so that equal builds
//! have equal records.

use clap::ValueEnum;
use md_build::entry::{Decision, Subject};
use md_build::solvent::{CellPlan, Size};
use md_build::{Built, Settings};

use super::Build;
use super::topology::WrittenTopology;
use crate::error::printable;

/// Force field whose proteins, ff19SB, were developed with another water model than the default.
const WITH_OPC: &str = "amber19";

/// Record of a build.
pub(super) struct Record<'a> {
    pub(super) options: &'a Build,
    pub(super) settings: &'a Settings,
    /// arguments of `md build` as the user gave them, without the output folder and `--dry-run`
    pub(super) arguments: Vec<String>,
}

/// Returns the arguments of `md build` without the output folder and `--dry-run`. The iterator gives all arguments of
/// the program.
pub(super) fn arguments(all: impl Iterator<Item = String>) -> Vec<String> {
    let mut rest = all.skip_while(|argument| argument != "build").skip(1);
    let mut kept = vec![];
    while let Some(argument) = rest.next() {
        match argument.as_str() {
            "-o" | "--output" => drop(rest.next()),
            "--dry-run" => {}
            text if text.starts_with("--output=") || (text.starts_with("-o") && !text.starts_with("--")) => {}
            _ => kept.push(argument),
        }
    }
    kept
}

/// Returns an argument in quotation marks if a shell would divide or change it.
fn quoted(argument: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-+=,:/".contains(c);
    if !argument.is_empty() && argument.chars().all(is_plain) {
        argument.to_owned()
    } else {
        format!("'{}'", argument.replace('\'', "'\\''"))
    }
}

/// Returns the name of a value of an option.
fn name(value: &impl ValueEnum) -> String {
    value.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
}

impl Record<'_> {
    /// Returns the decision about a force field whose proteins were developed with another water model; `None` if the
    /// user chose a water model, or if no water is added.
    pub(super) fn of_water(&self) -> Option<Decision> {
        let is_given = self.arguments.iter().any(|text| text == "--water" || text.starts_with("--water="));
        let is_other = self.settings.fields.iter().any(|field| field == WITH_OPC);
        (is_other && !is_given && self.settings.cell.is_some()).then(|| Decision {
            subject: Subject::Parameters,
            place: "the whole system".to_owned(),
            what: format!("took the water model {}", self.settings.water),
            why: "ff19SB was developed with the water model OPC: --water opc; Tian et al. 2020, \
                  doi:10.1021/acs.jctc.9b00591"
                .to_owned(),
        })
    }

    /// Returns the log: what was built, the settings, and every decision with its reason.
    pub(super) fn log(&self, built: &Built) -> String {
        let Built { structure, added, decisions, .. } = built;
        let [cation, anion] = added.ions;
        let mut text = format!(
            "system       {} atoms, {} residues; added {} waters, {} {cation} and {} {anion} ions\n",
            structure.atoms.len(),
            structure.residues.len(),
            added.waters,
            added.cations,
            added.anions
        );
        let [upper, lower] = added.lipids;
        if upper + lower > 0 {
            text += &format!("membrane     {upper} lipids in the upper leaflet, {lower} in the lower\n");
        }
        let arguments: Vec<String> = self.arguments.iter().map(|argument| quoted(argument)).collect();
        let command = format!("command      md build {}", arguments.join(" "));
        let parameters = format!("parameters   {}", built.parameter_files.join(", "));
        let lines = format!("{command}\n{parameters}\nsettings     {}\n", self.summary());
        text += &printable(&lines, usize::MAX);
        for decision in decisions {
            text += &format!("{decision}\n");
        }
        text
    }

    /// Returns the settings as a line of text.
    fn summary(&self) -> String {
        let Build { cation, anion, salt, salt_method, ions, ph, pka, seed, .. } = self.options;
        let protonation = format!("pH {ph}, pKa model {}", name(pka));
        let Some(plan) = &self.settings.cell else { return format!("{protonation}, no cell") };
        let mut parts = vec![
            format!("water {}", self.settings.water),
            protonation,
            format!("cation {cation}, anion {anion}, salt {salt}, salt method {}", name(salt_method)),
            format!("places of ions {}, seed {seed}", name(ions)),
            format!("shape {}", shape(plan)),
        ];
        parts.push(match plan.size {
            Size::Padding(_) => format!("padding {}", self.options.padding),
            _ => format!("size {}", self.options.size.as_deref().unwrap_or_default()),
        });
        parts.extend(self.settings.membrane.iter().map(|lipid| format!("membrane {lipid}")));
        parts.join(", ")
    }

    /// Returns the settings for `build.json`. The settings of cell, water and ions are null if there is no cell.
    fn settings(&self, built: &Built) -> serde_json::Value {
        let Build { padding, size, cation, anion, salt, salt_method, ions, ph, pka, seed, .. } = self.options;
        let plan = self.settings.cell.as_ref();
        let with_cell = |text: &str| plan.map(|_| text.to_owned());
        let has_padding = plan.is_some_and(|plan| matches!(plan.size, Size::Padding(_)));
        serde_json::json!({
            "options": self.arguments,
            "force_field": self.settings.fields,
            "parameter_files": built.parameter_files,
            "water": with_cell(&self.settings.water),
            "cation": with_cell(cation),
            "anion": with_cell(anion),
            "salt": with_cell(salt),
            "salt_method": with_cell(&name(salt_method)),
            "ion_places": with_cell(&name(ions)),
            "seed": plan.map(|_| seed),
            "ph": ph,
            "pka_model": name(pka),
            "shape": plan.map(shape),
            "padding": has_padding.then_some(padding),
            "size": size,
            "membrane": self.settings.membrane,
        })
    }

    /// Returns the text of `build.json`: settings, pKa values and decisions of the build.
    pub(super) fn json(&self, built: &Built, topology: &WrittenTopology) -> String {
        let list = built.decisions.iter().map(|decision| {
            serde_json::json!({
                "subject": format!("{:?}", decision.subject).to_lowercase(),
                "what": decision.what,
                "where": decision.place,
                "why": decision.why,
            })
        });
        let rounded = |value: f64| (value * 1000.0).round() / 1000.0;
        let pkas = built.pkas.iter().map(|(label, pka)| {
            serde_json::json!({
                "group": label,
                "kind": pka.group.name(),
                "pka": rounded(pka.value()),
                "in_water": pka.group.in_water(),
                "desolvation": rounded(pka.shifts.desolvation),
                "reorganisation": rounded(pka.shifts.reorganisation),
                "hydrogen_bonds": rounded(pka.shifts.hydrogen_bonds),
                "charges": rounded(pka.shifts.charges),
                "ions": rounded(pka.shifts.ions),
            })
        });
        let content = serde_json::json!({
            "version": crate::VERSION,
            "settings": self.settings(built),
            "atoms": built.structure.atoms.len(),
            "lipids": built.added.lipids,
            "waters": built.added.waters,
            "cations": built.added.cations,
            "anions": built.added.anions,
            "pka": pkas.collect::<Vec<_>>(),
            "decisions": list.chain(topology.decision()).collect::<Vec<_>>(),
        });
        format!("{content:#}\n")
    }
}

fn shape(plan: &CellPlan) -> String {
    format!("{:?}", plan.shape).to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_output_folder_is_no_part_of_the_record() {
        let of = |text: &str| arguments(text.split(' ').map(str::to_owned)).join(" ");
        for output in ["-o folder", "--output folder", "--output=folder", "-ofolder"] {
            assert_eq!(of(&format!("md build a.pdb {output} --dry-run --seed 2")), "a.pdb --seed 2", "{output}");
        }
        assert_eq!(["0.15 M", "A:1=HID", "it's", ""].map(quoted), ["'0.15 M'", "A:1=HID", "'it'\\''s'", "''"]);
    }
}
