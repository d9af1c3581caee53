//! Frozen groups, and the pull code.

use super::output::selection_of;
use super::{Draft, shortened};
use crate::import::settings::folded;

pub(super) fn translate(draft: &mut Draft<'_>) {
    frozen(draft);
    if draft.is_given("pull") && draft.flag("pull") {
        pulled(draft);
    }
}

/// Frozen groups are carried over where GROMACS makes them without an index file and all their directions are frozen.
fn frozen(draft: &mut Draft<'_>) {
    let (groups, directions) = (draft.words("freezegrps"), draft.words("freezedim"));
    if groups.is_empty() {
        return;
    }
    let all = directions.iter().all(|word| folded(word).starts_with('y'));
    if directions.len() != 3 * groups.len() || !all {
        let text = "md freezes atoms in all directions only: hold them by position_restraints";
        draft.differs("freezegrps", text);
        return;
    }
    let selections: Option<Vec<&str>> = groups.iter().map(|group| selection_of(group)).collect();
    match selections {
        Some(selections) => {
            draft.frozen = Some(selections.join(" or "));
            draft.carried("stage.frozen", &["freezegrps", "freezedim"]);
        }
        None => {
            let names = groups.join(" ");
            let text = format!("md knows no index groups: set frozen in the stage, in place of {}", shortened(&names));
            draft.differs("freezegrps", text);
        }
    }
}

/// Coordinates of the pull code that are described: more would fill the page.
const MOST_COORDINATES: u64 = 20;

/// Groups to pull come from an index file: what is to be written for each coordinate is said.
fn pulled(draft: &mut Draft<'_>) {
    let coordinates = if draft.is_given("pull-ncoords") { draft.count("pull-ncoords") } else { 1 };
    let described: Vec<String> = (1..=coordinates.min(MOST_COORDINATES))
        .map(|number| restraint(draft, number).unwrap_or_else(|why| format!("(coordinate {number}: {why})")))
        .collect();
    let more = if coordinates > MOST_COORDINATES { ", and so on" } else { "" };
    let text = format!(
        "md knows no index groups: with their selections, set in the stage restraints = [{}]{more}; output.restraints = \
         {{ every = \"0.1 ps\" }} takes the place of pull-nstxout and pull-nstfout",
        described.join(", ")
    );
    draft.differs("pull", text);
}

/// A restraint for a coordinate, or why there is none.
fn restraint(draft: &Draft<'_>, number: u64) -> Result<String, String> {
    let value = |name: &str| draft.text(&format!("pull-coord{number}-{name}"));
    let number_of = |name: &str| {
        let text = value(name);
        let text = if text.is_empty() { "0" } else { text };
        text.parse::<f64>().map_err(|_| format!("{name} = {} is no number", shortened(text)))
    };
    let angular = ["deg", "deg/ps", "kJ/mol/rad^2", "kJ/mol/rad"];
    let numbers: Vec<&str> = value("groups").split_whitespace().collect();
    // angles are those between vectors from one group to the next
    let (kind, groups, [length, speed, constant, push]) = match (folded(value("geometry")).as_str(), &numbers[..]) {
        ("" | "distance", &[a, b]) => ("distance", vec![a, b], ["nm", "nm/ps", "kJ/mol/nm^2", "kJ/mol/nm"]),
        ("angle", &[b, a, again, c]) if again == b => ("angle", vec![a, b, c], angular),
        ("dihedral", &[a, b, b2, c, c2, d]) if [b2, c2] == [b, c] => ("torsion", vec![a, b, c, d], angular),
        ("" | "distance" | "angle" | "dihedral", _) => {
            return Err(format!("md has none between groups {}", shortened(value("groups"))));
        }
        (other, _) => return Err(format!("md has no geometry {}", shortened(other))),
    };
    if groups.contains(&"0") {
        return Err("md pulls groups to groups, not to points in space".to_owned());
    }
    let axes = ["x", "y", "z"].into_iter().zip(value("dim").split_whitespace());
    let along: String = axes.filter(|(_, word)| folded(word).starts_with('y')).map(|(axis, _)| axis).collect();
    let along = if along.is_empty() || along == "xyz" { String::new() } else { format!(", along = \"{along}\"") };
    let name = |group: &&str| format!("\"{}\"", shortened(draft.text(&format!("pull-group{group}-name"))));
    let names: Vec<String> = groups.iter().map(name).collect();
    let head = format!("{{ kind = \"{kind}\", groups = [{}]{along}", names.join(", "));
    let k = number_of("k")?;
    match folded(value("type")).as_str() {
        "" | "umbrella" => {
            let (at, rate) = (number_of("init")?, number_of("rate")?);
            let from_start = folded(value("start")).starts_with('y');
            let at = if from_start { String::new() } else { format!(", at = \"{at} {length}\"") };
            let rate = if rate == 0.0 { String::new() } else { format!(", rate = \"{rate} {speed}\"") };
            Ok(format!("{head}{at}, force_constant = \"{k} {constant}\"{rate} }}"))
        }
        // a positive k pulls groups together
        "constantforce" => Ok(format!("{head}, force = \"{} {push}\" }}", -k)),
        "flatbottom" => {
            let at = number_of("init")?;
            Ok(format!("{head}, upper = \"{at} {length}\", force_constant = \"{k} {constant}\" }}"))
        }
        "flatbottomhigh" => {
            let at = number_of("init")?;
            Ok(format!("{head}, lower = \"{at} {length}\", force_constant = \"{k} {constant}\" }}"))
        }
        other => Err(format!("md has no pulling of type {}", shortened(other))),
    }
}
