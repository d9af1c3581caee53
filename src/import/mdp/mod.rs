//! Translation of GROMACS' mdp files: lines `key = value`, with comments after a semicolon. Case, dashes and
//! underscores are ignored in keys and in the words of a value.

mod dynamics;
mod forces;
mod frozen;
mod groups;
mod impulses;
mod keys;
mod output;
mod position_restraints;
mod pull;
mod temperature;

use std::path::Path;

use super::draft::Draft;
use super::settings::{Entry, Settings, folded, shortened};
use crate::error::Problem;
use crate::run::{Minimize, StageKind};
use groups::Groups;

/// Whether the text sets a key of an mdp file.
pub(super) fn is_mdp(text: &str) -> bool {
    text.lines().any(|line| without_comment(line).contains('='))
}

fn without_comment(line: &str) -> &str {
    line.split(';').next().unwrap_or_default().trim()
}

/// Reads the settings of an mdp file.
pub(super) fn read(path: &Path, text: &str) -> Result<Settings, Problem> {
    let mut entries = vec![];
    for (index, line) in text.lines().enumerate() {
        let (line, number) = (without_comment(line), index + 1);
        let Some((name, value)) = line.split_once('=') else {
            if line.is_empty() {
                continue;
            }
            let message = format!("\"{}\" is not a setting", shortened(line));
            return Err(Problem::new(message)
                .in_file(path)
                .at_line(number)
                .help("expected KEY = VALUE; a semicolon begins a comment"));
        };
        let name = name.trim();
        if name.is_empty() {
            let help = "expected KEY = VALUE";
            return Err(Problem::new("the line has a value but no key").in_file(path).at_line(number).help(help));
        }
        let renamed = keys::RENAMED.iter().find(|(former, _)| folded(former) == folded(name));
        let name = renamed.map_or(name, |(_, present)| present).to_owned();
        entries.push(Entry { name, value: value.split_whitespace().collect::<Vec<_>>().join(" "), line: number });
    }
    Settings::new(path.to_owned(), keys::KEYS, entries)
}

/// Translates an mdp file to a stage.
pub(super) fn translate(draft: &mut Draft<'_>) -> StageKind {
    let groups = Groups::of(draft);
    preprocessor(draft);
    forces::translate(draft);
    let kind = match draft.word("integrator").as_str() {
        "steep" | "cg" | "lbfgs" => minimisation(draft),
        "md" | "mdvv" | "mdvvavek" | "sd" | "sd1" | "sd2" | "bd" => {
            StageKind::Dynamics(dynamics::translate(draft, &groups))
        }
        _ => {
            let help = "md translates only the integrators md, md-vv, sd, bd, steep, cg and l-bfgs";
            draft.unsupported("integrator", draft.text("integrator"), help);
            minimisation(draft)
        }
    };
    output::translate(draft, &groups);
    frozen::translate(draft, &groups);
    pull::translate(draft, &groups, matches!(kind, StageKind::Dynamics(_)));
    match kind {
        StageKind::Dynamics(stage) => StageKind::Dynamics(impulses::translate(draft, stage)),
        StageKind::Minimize(_) => kind,
    }
}

/// Returns the time (ps) of GROMACS at the start of the stage. GROMACS uses this time for the points of annealing and
/// for moving references of pull coordinates; `md` counts time from the start of the stage.
fn start_time(draft: &mut Draft<'_>) -> f64 {
    let [begin, timestep] = ["tinit", "dt"].map(|name| draft.real(name));
    begin + draft.whole("init-step") as f64 * timestep
}

fn preprocessor(draft: &mut Draft<'_>) {
    // paths in `include` are relative to the working directory, as for grompp
    let folders = options(draft, "include", "-I", "expected words -I/folder").into_iter();
    let folders = folders.map(|folder| std::path::absolute(folder).unwrap_or_else(|_| folder.into()));
    draft.plan.system.include.extend(folders);
    if draft.is_given("include") {
        draft.carried("system.include", &["include"]);
    }
    let macros = options(draft, "define", "-D", "expected words -DNAME");
    let [restraints, macros] = position_restraints::divide(draft, macros);
    draft.plan.system.define.extend(macros.into_iter().map(ToOwned::to_owned));
    if !draft.plan.system.define.is_empty() {
        draft.carried("system.define", &["define"]);
    }
    if !restraints.is_empty() {
        position_restraints::translate(draft, &restraints);
    }
}

/// Returns the words of the value of a key, each without the prefix `option`. A word without this prefix is recorded as
/// a problem, with the advice `help`.
fn options<'a>(draft: &mut Draft<'a>, name: &str, option: &str, help: &str) -> Vec<&'a str> {
    let mut found = vec![];
    for word in draft.words(name) {
        match word.strip_prefix(option).filter(|rest| !rest.is_empty()) {
            Some(rest) => found.push(rest),
            None => {
                let message = format!("{name}: unexpected word \"{}\"", shortened(word));
                draft.problem(name, message, help);
            }
        }
    }
    found
}

fn minimisation(draft: &mut Draft<'_>) -> StageKind {
    draft.carried_as("stage.kind", &["integrator"], "md uses steepest descent to remove clashes, then L-BFGS");
    let steps = steps(draft);
    let force_tolerance = draft.quantity("stage.force_tolerance", "emtol");
    let max_displacement = draft.quantity("stage.max_displacement", "emstep");
    StageKind::Minimize(Minimize { steps, force_tolerance, max_displacement })
}

/// Returns the number of steps of a stage. In GROMACS -1 means a run without end.
fn steps(draft: &mut Draft<'_>) -> u64 {
    let steps = draft.whole("nsteps");
    draft.carried("stage.steps", &["nsteps"]);
    u64::try_from(steps).unwrap_or_else(|_| {
        draft.problem(
            "nsteps",
            format!("nsteps = {steps} is negative"),
            "set a number of steps, because a stage of md must end",
        );
        0
    })
}
