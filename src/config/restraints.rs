//! Assembly of the restraints of a stage from checked values.

use super::value::{Table, report};
use super::words;
use crate::error::Problem;
use crate::restraint::{Potential, VariableKind, Well};
use crate::run::{Restraint, StageKind};
use std::f64::consts::{PI, TAU};

/// Returns a restraint of a stage of the given kind; `None` if a problem has been recorded.
pub(super) fn restraint(table: &Table, stage: &StageKind, problems: &mut Vec<Problem>) -> Option<Restraint> {
    let kind = table.meaning("kind", &words::VARIABLES)?;
    let groups = table.texts("groups")?.to_vec();
    let before = problems.len();
    if groups.len() != kind.groups() {
        let message = format!(
            "restraints.groups: {} groups are given, but {} needs {}",
            groups.len(),
            named(kind),
            kind.groups()
        );
        report(problems, table, "groups", message, "give one selection for each group");
    }
    let gather_around = table.texts("gather_around").unwrap_or_default();
    let gather_around: Vec<Option<String>> =
        gather_around.iter().map(|text| Some(text.clone()).filter(|text| text != words::NO_ATOM)).collect();
    let gather_around = if gather_around.iter().all(Option::is_none) { vec![] } else { gather_around };
    if !gather_around.is_empty() && gather_around.len() != groups.len() {
        let message =
            format!("restraints.gather_around: {} atoms are given for {} groups", gather_around.len(), groups.len());
        let help = "give a selection for each group, and \"none\" for a group without such an atom";
        report(problems, table, "gather_around", message, help);
    }
    if table.is_given("rate") && matches!(stage, StageKind::Minimize(_)) {
        let message = "restraints.rate has no effect in a minimisation, because a minimisation has no time";
        report(problems, table, "rate", message, "remove rate, or pull in a stage of dynamics");
    }
    let potential =
        if table.is_set("force") { force(kind, table, problems) } else { well(kind, stage, table, problems) };
    if problems.len() > before {
        return None;
    }
    Some(Restraint {
        kind,
        groups,
        gather_around,
        along: table.meaning("along", &words::COMPONENTS).unwrap_or([true; 3]),
        reference: table.text("reference").map(Into::into),
        potential: potential?,
    })
}

fn named(kind: VariableKind) -> String {
    let article = if matches!(kind, VariableKind::Angle | VariableKind::Rmsd) { "an" } else { "a" };
    format!("{article} {}", if kind == VariableKind::Rmsd { "RMSD" } else { kind.name() })
}

/// Returns the potential of a constant force.
fn force(kind: VariableKind, table: &Table, problems: &mut Vec<Problem>) -> Option<Potential> {
    for name in ["at", "flat", "lower", "upper", "force_constant", "linear_beyond", "rate"] {
        if table.is_given(name) {
            let message = format!("restraints: force and {name} exclude each other");
            report(problems, table, name, message, "a constant force does not depend on the value");
        }
    }
    if kind == VariableKind::Torsion {
        let message = "restraints.force: the energy of a constant force on a torsion is not periodic";
        report(problems, table, "force", message, "pull the torsion with the keys at and rate");
    }
    table.number("force").map(Potential::Force)
}

/// Returns a harmonic potential, which may have a flat bottom, or the potential of one or two walls.
fn well(kind: VariableKind, stage: &StageKind, table: &Table, problems: &mut Vec<Problem>) -> Option<Potential> {
    let before = problems.len();
    if !table.is_set("force_constant") {
        let message = "restraints: neither force_constant nor force is given";
        let example = if kind.is_angular() { "100 kJ/mol/rad^2" } else { "1000 kJ/mol/nm^2" };
        report(problems, table, "", message, &format!("write force_constant = \"{example}\""));
    }
    let walls = ["lower", "upper"].map(|name| table.is_set(name));
    for name in ["at", "flat"].into_iter().filter(|name| table.is_given(name) && walls.contains(&true)) {
        let message = format!("restraints: {name} and walls exclude each other");
        report(problems, table, name, message, "keep the keys lower and upper, or the keys at and flat");
    }
    if kind == VariableKind::Torsion && walls[0] != walls[1] {
        let message = "restraints: a single wall does not limit a torsion, because a torsion is periodic";
        report(problems, table, "", message, "set lower and upper");
    }
    let [lower, upper] = ["lower", "upper"].map(|name| table.number(name));
    let (center, below, above) = match (lower, upper) {
        (None, None) => {
            let flat = table.number("flat").unwrap_or(0.0);
            (table.number("at"), Some(flat), Some(flat))
        }
        (Some(lower), Some(upper)) => {
            let half = 0.5 * (upper - lower);
            (Some(0.5 * (lower + upper)), Some(half), Some(half))
        }
        (Some(lower), None) => (Some(lower), Some(0.0), None),
        (None, Some(upper)) => (Some(upper), None, Some(0.0)),
    };
    if let (Some(lower), Some(upper)) = (lower, upper)
        && lower > upper
    {
        // walls of a torsion may enclose 180 deg: from 150 to -150 deg means from 150 to 210 deg
        let help = match kind {
            VariableKind::Torsion if lower - upper < TAU => {
                // the conversion from rad to degrees has rounding errors
                let above = ((upper.to_degrees() + 360.0) * 1e9).round() / 1e9;
                format!(
                    "write upper = \"{above} deg\" for the range that contains 180 deg, because torsions have a period \
                     of 360 deg; exchange the two values for the other range"
                )
            }
            _ => "exchange the two values".to_owned(),
        };
        report(problems, table, "lower", "restraints.lower is above upper", &help);
    }
    if kind == VariableKind::Torsion && below.is_some_and(|half| half >= PI) {
        let message = "restraints: the potential of the torsion is flat at all angles";
        report(problems, table, "", message, "choose walls less than 360 deg apart, or remove the restraint");
    }
    bounds(kind, center, table, problems);
    if problems.len() > before {
        return None;
    }
    let (rate, linear_beyond) = (table.number("rate").unwrap_or(0.0), table.number("linear_beyond"));
    let force_constant = table.number("force_constant")?;
    let well = Well { center, rate, below, above, force_constant, linear_beyond };
    if let (Some(center), StageKind::Dynamics(dynamics)) = (center, stage)
        && let Err(problem) = well.check_motion(kind, center, dynamics.steps as f64 * dynamics.timestep)
    {
        let message = format!("restraints.{}", problem.message);
        report(problems, table, "rate", message, &problem.help.unwrap_or_default());
        return None;
    }
    Some(Potential::Well(well))
}

/// Records a problem for a center or wall outside the range of the variable.
fn bounds(kind: VariableKind, center: Option<f64>, table: &Table, problems: &mut Vec<Problem>) {
    let name = ["at", "lower", "upper"].into_iter().find(|name| table.is_given(name)).unwrap_or_default();
    let Some(center) = center else { return };
    let fits = if kind == VariableKind::Torsion { center.abs() <= TAU } else { kind.admits(center) };
    if !fits {
        let message = format!("restraints.{name} is outside the range of {}", named(kind));
        report(problems, table, name, message, kind.range());
    }
}
