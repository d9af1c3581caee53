//! Translation of AMBER's mdin files: the namelists `&cntrl` and `&ewald` of sander and pmemd.

mod distances;
mod dynamics;
mod forces;
mod held;
mod keys;
mod masks;
mod namelist;
mod output;
mod restraints;

use std::path::Path;

use super::draft::Draft;
use super::settings::{Entry, Settings, shortened};
use crate::error::Problem;
use crate::run::{Minimize, StageKind};
use crate::units::{ANGSTROM, KCAL};

/// Number of Å per nm. Lengths in Å are divided by this number instead of multiplied by 0.1, so that each length is
/// rounded only once.
const PER_NM: f64 = 10.0;
/// Namelists whose keys are translated to an input file.
const TRANSLATED: [&str; 2] = ["cntrl", "ewald"];

/// Whether the text has a namelist that this module translates.
pub(super) fn is_mdin(text: &str) -> bool {
    let names = text.lines().filter_map(namelist::beginning).map(|(name, _)| name);
    { names }.any(|name| TRANSLATED.iter().any(|known| name.eq_ignore_ascii_case(known)))
}

/// Reads the settings of an mdin file.
pub(super) fn read(path: &Path, text: &str) -> Result<Settings, Problem> {
    let found = namelist::read(text).map_err(|problem| problem.in_file(path))?;
    let mut entries = vec![];
    let mut others = vec![];
    let mut begun: Vec<(String, usize)> = vec![];
    for list in found.lists {
        if TRANSLATED.contains(&list.name.as_str()) {
            if let Some((name, first)) = begun.iter().find(|(name, _)| *name == list.name) {
                let message = format!("there is a second namelist &{name}; the first begins in line {first}");
                let problem = Problem::new(message).in_file(path).at_line(list.line);
                return Err(problem.help("AMBER reads only the first: join the two namelists"));
            }
            begun.push((list.name, list.line));
            entries.extend(list.entries);
        } else {
            let contents: Vec<String> = list.entries.iter().map(|e| format!("{} = {}", e.name, e.value)).collect();
            others.push(Entry { name: format!("&{}", list.name), value: contents.join(", "), line: list.line });
        }
    }
    others.extend(found.cards.into_iter().map(|(line, value)| Entry { name: "a card".to_owned(), value, line }));
    let mut settings = Settings::new(path.to_owned(), keys::KEYS, entries)?;
    settings.others = others;
    Ok(settings)
}

/// Translates an mdin file to a stage.
pub(super) fn translate(draft: &mut Draft<'_>) -> StageKind {
    if let Some(path) = &draft.files.index {
        let help = "leave out --index: restraints and masks of AMBER contain atom numbers and names";
        draft.fault(Problem::new("an index file applies only to a GROMACS mdp").in_file(path).help(help));
    }
    combinations(draft);
    forces::translate(draft);
    let mut is_ramped = false;
    let kind = match draft.whole("imin") {
        0 => {
            let mut stage = dynamics::translate(draft);
            is_ramped = dynamics::ramp(draft, &mut stage);
            StageKind::Dynamics(stage)
        }
        1 => minimisation(draft),
        other => {
            draft.unsupported("imin", &other.to_string(), "md translates dynamics (0) and minimisation (1)");
            minimisation(draft)
        }
    };
    output::translate(draft);
    held::translate(draft);
    restraints::translate(draft, is_ramped);
    kind
}

/// Reports combinations of settings that AMBER refuses (subroutine `mdread2` of sander; pmemd has the same checks).
fn combinations(draft: &mut Draft<'_>) {
    let (ntp, is_minimisation) = (draft.whole("ntp"), draft.whole("imin") != 0);
    if draft.is_given("ntb") {
        let ntb = draft.whole("ntb");
        if (ntb == 2) != (ntp != 0) {
            let help = "set ntb = 2 and ntp > 0 for a constant pressure, and otherwise ntp = 0 with ntb = 1 or 0";
            draft.problem("ntb", format!("ntb = {ntb} does not fit ntp = {ntp}"), help);
        }
    }
    if draft.is_given("nrespa") && draft.whole("nrespa") > 1 && (is_minimisation || ntp != 0) {
        let message = "nrespa is greater than 1 in a minimisation or at constant pressure";
        draft.problem("nrespa", message, "AMBER refuses this combination: set nrespa = 1");
    }
}

fn minimisation(draft: &mut Draft<'_>) -> StageKind {
    draft.carried_as("stage.kind", &["imin"], "md uses steepest descent to remove clashes, then L-BFGS");
    let steps = draft.count("maxcyc");
    draft.carried("stage.steps", &["maxcyc"]);
    let force_tolerance = draft.real("drms") * (KCAL / ANGSTROM);
    draft.admitted("stage.force_tolerance", "drms", force_tolerance);
    draft.carried_as(
        "stage.force_tolerance",
        &["drms"],
        "drms in kcal/mol/A; md limits the largest force, and AMBER limits the RMS force",
    );
    StageKind::Minimize(Minimize { steps, force_tolerance, ..Minimize::default() })
}

/// Reports an unexpected value of an enumerated key.
fn unexpected(draft: &mut Draft<'_>, name: &str, help: &str) {
    let message = format!("{name} = {} is not allowed", shortened(draft.text(name)));
    draft.problem(name, message, help);
}
