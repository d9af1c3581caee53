//! Writer of restraints and frozen atoms of a stage.

use std::path::Path;

use super::{Member, braces, list_of, relative, word};
use crate::config::raw::quote;
use crate::config::words;
use crate::restraint::{Potential, VariableKind, Well};
use crate::run::{PositionRestraint, Restraint, Stage};
use crate::units::Dimension::{
    Angle, AngularForceConstant, AngularVelocity, Force, ForceConstant, Length, Torque, Velocity,
};

pub(super) fn of_stage(stage: &Stage, base: &Path) -> Vec<Member> {
    let list = |texts: Vec<String>| (!texts.is_empty()).then(|| format!("[{}]", texts.join(", ")));
    let positions = list(stage.position_restraints.iter().map(|one| position_restraint(one, base)).collect());
    let collective = list(stage.restraints.iter().map(|one| restraint(one, base)).collect());
    let frozen = stage.frozen.as_ref().map(|text| ("frozen", quote(text)));
    let positions = positions.map(|text| ("position_restraints", text));
    positions.into_iter().chain(collective.map(|text| ("restraints", text))).chain(frozen).collect()
}

fn position_restraint(options: &PositionRestraint, base: &Path) -> String {
    let PositionRestraint { select, force_constant, flat_radius, reference, reference_scaling } = options;
    let mut members = vec![
        ("select", quote(select)),
        ("force_constant", super::schedule(ForceConstant, force_constant)),
        ("flat_radius", quote(&Length.spell(*flat_radius))),
        ("reference_scaling", word(&words::REFERENCE_SCALINGS, reference_scaling)),
    ];
    members.extend(reference.as_ref().map(|path| ("reference", quote(&relative(path, base)))));
    braces(members)
}

pub(super) fn restraint(options: &Restraint, base: &Path) -> String {
    let Restraint { kind, groups, gather_around, along, reference, potential } = options;
    let mut members = vec![("kind", word(&words::VARIABLES, kind)), ("groups", list_of(groups.iter().cloned()))];
    if gather_around.iter().any(Option::is_some) {
        let atom = |text: &Option<String>| text.clone().unwrap_or_else(|| words::NO_ATOM.to_owned());
        members.push(("gather_around", list_of(gather_around.iter().map(atom))));
    }
    if *kind == VariableKind::Distance {
        members.push(("along", word(&words::COMPONENTS, along)));
    }
    members.extend(reference.as_ref().map(|path| ("reference", quote(&relative(path, base)))));
    members.extend(match potential {
        Potential::Force(force) => {
            vec![("force", quote(&if kind.is_angular() { Torque } else { Force }.spell(*force)))]
        }
        Potential::Well(shape) => well(shape, kind.is_angular()),
    });
    braces(members)
}

fn well(well: &Well, is_angular: bool) -> Vec<Member> {
    let [position, velocity, constant] = match is_angular {
        true => [Angle, AngularVelocity, AngularForceConstant],
        false => [Length, Velocity, ForceConstant],
    };
    let Well { center, rate, below, above, force_constant, linear_beyond } = *well;
    let place = match (below, above) {
        (Some(_), None) => [("lower", center), ("", None)],
        (None, _) => [("upper", center), ("", None)],
        (Some(flat), Some(_)) => [("at", center), ("flat", Some(flat).filter(|flat| *flat > 0.0))],
    };
    let places = place.into_iter().chain([("linear_beyond", linear_beyond)]);
    let mut members: Vec<Member> =
        places.filter_map(|(name, value)| Some((name, quote(&position.spell(value?))))).collect();
    members.push(("force_constant", quote(&constant.spell(force_constant))));
    if rate != 0.0 {
        members.push(("rate", quote(&velocity.spell(rate))));
    }
    members
}
