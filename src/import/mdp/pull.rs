//! Translation of GROMACS' pull code: pull coordinates between groups become restraints of collective variables.
//!
//! The variable ξ is a distance, an angle or a dihedral between centers of mass. `md` has three potentials of the pull
//! code (GROMACS manual, "The pull code"): the harmonic potential k/2 (ξ − ξ₀ − v t)² with reference ξ₀ and rate v, a
//! flat-bottomed potential (wall), and the linear potential k ξ of a constant force. In GROMACS the time t begins at
//! `tinit` + `init-step` · `dt`. Other geometries and potentials are not translated, but reported in a remark.

use super::groups::Groups;
use super::{Draft, shortened, start_time};
use crate::config::spell_restraint;
use crate::import::settings::{folded, real};
use crate::restraint::{Potential, VariableKind, Well};
use crate::run::{Interval, Restraint};

/// Largest number of pull coordinates that are translated.
const MOST_COORDINATES: u64 = 100;
/// Settings of a pull coordinate that are translated to a restraint.
const DETAILS: [&str; 10] = ["groups", "geometry", "type", "dim", "init", "start", "rate", "k", "vec", "origin"];

pub(super) fn translate(draft: &mut Draft<'_>, groups: &Groups, is_dynamics: bool) {
    if !draft.is_given("pull") || !draft.flag("pull") {
        return;
    }
    let coordinates = draft.count("pull-ncoords");
    let start = start_time(draft);
    let mut names = vec!["pull".to_owned()];
    let (mut unnamed, mut left, mut unknown) = (vec![], vec![], vec![]);
    for number in 1..=coordinates.min(MOST_COORDINATES) {
        let found = Coordinate { draft, number, start }.restraint(is_dynamics);
        match found {
            Err(why) => left.push(format!("coordinate {number}: {why}")),
            Ok(restraint) => {
                let of_groups: Vec<&str> = restraint.groups.iter().map(String::as_str).collect();
                let Some(selections) = groups.selections(&of_groups) else {
                    unknown.extend(restraint.groups.iter().cloned());
                    unnamed.push(spell_restraint(&restraint));
                    continue;
                };
                names.extend(DETAILS.map(|detail| format!("pull-coord{number}-{detail}")));
                draft.restraints.push(Restraint { groups: selections, ..restraint });
            }
        }
    }
    if coordinates > MOST_COORDINATES {
        left.push(format!(
            "too many pull coordinates: coordinate {} and all later coordinates are left out",
            MOST_COORDINATES + 1
        ));
    }
    if !unnamed.is_empty() {
        let list = unnamed.join(", ");
        left.push(format!(
            "the groups are unknown ({}); set in the stage, with selections instead of names, restraints = [{list}]",
            groups.reason(&unknown.iter().map(String::as_str).collect::<Vec<&str>>())
        ));
    }
    if !draft.restraints.is_empty() {
        names.retain(|name| draft.is_given(name));
        let words = if start == 0.0 { "" } else { "moving references are those at tinit + init-step dt" };
        draft.carried_as("stage.restraints", &names.iter().map(String::as_str).collect::<Vec<_>>(), words);
        table(draft);
    }
    if !left.is_empty() {
        draft.differs("pull", left.join("; "));
    }
}

/// Translates the output intervals of pull coordinates and forces to the interval of the rows in `restraints.csv`.
fn table(draft: &mut Draft<'_>) {
    let names = ["pull-nstxout", "pull-nstfout"];
    let every = names.map(|name| draft.count(name)).into_iter().filter(|&every| every > 0).min();
    draft.carried_as("output.restraints", &names, "md writes values and forces of restraints into one table");
    draft.plan.output.restraints = every.map(Interval::Steps);
}

/// Pull coordinate N, which the keys `pull-coordN-…` describe.
struct Coordinate<'d, 'a> {
    draft: &'d Draft<'a>,
    number: u64,
    /// time (ps) of GROMACS at the start of the stage
    start: f64,
}

impl<'a> Coordinate<'_, 'a> {
    fn value(&self, detail: &str) -> &'a str {
        self.draft.text(&format!("pull-coord{}-{detail}", self.number))
    }

    fn real(&self, detail: &str) -> Result<f64, String> {
        match self.value(detail) {
            "" => Ok(0.0),
            text => real(text).ok_or_else(|| format!("{detail} = {} is not a number", shortened(text))),
        }
    }

    /// Returns the restraint of the pull coordinate. The error is the reason why the pull coordinate cannot be
    /// translated.
    fn restraint(&self, is_dynamics: bool) -> Result<Restraint, String> {
        let (kind, numbers) = self.variable()?;
        let (mut groups, mut gather_around) = (vec![], vec![]);
        for number in numbers {
            if number == "0" {
                return Err("md pulls groups only relative to other groups, not to points in space".to_owned());
            }
            if !self.draft.text(&format!("pull-group{number}-weights")).is_empty() {
                return Err(format!("md has no atom weights, but pull group {number} has weights"));
            }
            gather_around.push(self.gather_around(number)?);
            groups.push(self.draft.text(&format!("pull-group{number}-name")).to_owned());
        }
        let along = match &self.draft.words(&self.key("dim"))[..] {
            [x, y, z] => [x, y, z].map(|word| folded(word).starts_with('y')),
            _ => [true; 3],
        };
        if along == [false; 3] {
            return Err("no direction is selected".to_owned());
        }
        if kind != VariableKind::Distance && along != [true; 3] {
            return Err("md has no angle or dihedral of projected vectors (dim)".to_owned());
        }
        if gather_around.iter().all(Option::is_none) {
            gather_around.clear();
        }
        let potential = self.potential(kind, is_dynamics)?;
        Ok(Restraint { kind, groups, gather_around, along, reference: None, potential })
    }

    /// Returns a selection of the reference atom of a group. Each atom of the group is used at its periodic image
    /// nearest to the reference atom. Returns `None` if the file sets no reference atom.
    fn gather_around(&self, group: &str) -> Result<Option<String>, String> {
        let text = self.draft.text(&format!("pull-group{group}-pbcatom")).trim();
        match text.parse::<u32>() {
            Ok(number) => Ok(number.checked_sub(1).map(|index| format!("index {index}"))),
            Err(_) if text.is_empty() => Ok(None),
            Err(_) => Err(format!(
                "md does not support the reference atom (pbcatom) {} of pull group {group}",
                shortened(text)
            )),
        }
    }

    fn key(&self, detail: &str) -> String {
        format!("pull-coord{}-{detail}", self.number)
    }

    /// Returns the kind of the variable that is pulled, and the numbers of its groups. An angle is measured between two
    /// vectors, which connect consecutive groups.
    fn variable(&self) -> Result<(VariableKind, Vec<&'a str>), String> {
        let numbers: Vec<&str> = self.value("groups").split_whitespace().collect();
        match (folded(self.value("geometry")).as_str(), &numbers[..]) {
            ("" | "distance", &[a, b]) => Ok((VariableKind::Distance, vec![a, b])),
            ("angle", &[b, a, again, c]) if again == b => Ok((VariableKind::Angle, vec![a, b, c])),
            ("angle", &[a, b, c, again]) if again == b => Ok((VariableKind::Angle, vec![a, b, c])),
            ("dihedral", &[a, b, b2, c, c2, d]) if [b2, c2] == [b, c] => Ok((VariableKind::Torsion, vec![a, b, c, d])),
            ("" | "distance" | "angle" | "dihedral", _) => Err(format!(
                "md has no distance, angle or dihedral that connects the pull groups {} in this order",
                shortened(self.value("groups"))
            )),
            ("direction" | "directionperiodic" | "directionrelative", _) => Err(
                "md has no signed component of a distance; along = \"z\" restrains the magnitude of the z component"
                    .to_owned(),
            ),
            (other, _) => Err(format!("md does not support the geometry {}", shortened(other))),
        }
    }

    fn potential(&self, kind: VariableKind, is_dynamics: bool) -> Result<Potential, String> {
        let unit = if kind.is_angular() { 1f64.to_radians() } else { 1.0 };
        let [init, rate, k] = ["init", "rate", "k"].map(|detail| self.real(detail));
        let (init, rate, k) = (init? * unit, rate? * unit, k?);
        let from_start = folded(self.value("start")).starts_with('y');
        let is_torsion = kind == VariableKind::Torsion;
        let (below, above) = match folded(self.value("type")).as_str() {
            "" | "umbrella" => (Some(0.0), Some(0.0)),
            // a positive k pulls the groups together in GROMACS, so the force along the distance is −k
            "constantforce" if k != 0.0 && !is_torsion => return Ok(Potential::Force(-k)),
            "flatbottom" | "flatbottomhigh" | "constantforce" if is_torsion => {
                return Err("md has neither a one-sided wall nor a constant force for torsions".to_owned());
            }
            "flatbottom" => (None, Some(0.0)),
            "flatbottomhigh" => (Some(0.0), None),
            "constantforce" => {
                return Err("the force constant k is zero, so the pull coordinate exerts no force".to_owned());
            }
            other => return Err(format!("md does not support pulling of type {}", shortened(other))),
        };
        if k <= 0.0 {
            return Err(format!("k = {k}: force constants of md must be greater than zero"));
        }
        // GROMACS moves references from the time 0, also those that are relative to the initial value
        let init = if rate == 0.0 { init } else { init + rate * self.start };
        if from_start && (init != 0.0 || below != above) {
            let what = match below == above {
                true => "md has no references with an offset from the initial value",
                false => "md has no walls relative to the initial value",
            };
            return Err(format!("{what}: set `start` to `no`, and `init` to the absolute value"));
        }
        if rate != 0.0 && !is_dynamics {
            return Err("md has no moving restraints in a minimisation: set the pull-coord rates to zero".to_owned());
        }
        let center = (!from_start).then_some(init);
        Ok(Potential::Well(Well { center, rate, below, above, force_constant: k, linear_beyond: None }))
    }
}
