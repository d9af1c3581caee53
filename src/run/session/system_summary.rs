//! Properties of the system and its final state, for the summary of a run.

use crate::constraint::{RemovedMotion, degrees_of_freedom, largest_deviation};
use crate::ensemble::groups::TemperatureGroups;
use crate::observe::summary::{FastestVibration, PartTemperature, SystemSummary};
use crate::run::check::vibration::fastest;
use crate::run::dynamics::frozen::frozen_system;
use crate::run::plan::Plan;
use crate::select::select;
use crate::system::{State, System};
use crate::units::BOLTZMANN;
use std::borrow::Cow;

/// Selection of the solvent atoms.
const SOLVENT: &str = "water or ion";

/// Returns the properties of a system in its final state.
pub(super) fn system_summary(plan: &Plan, system: &System, state: &State) -> SystemSummary {
    let (topology, constraints) = (&system.topology, &system.constraints);
    let last = plan.dynamics().next_back();
    let removed = last.map_or(RemovedMotion::Nothing, |(_, stage)| stage.removed_motion(state.cell.is_some()));
    let moving = plan.stages.last().and_then(|stage| frozen_system(stage, system).ok());
    let moving = moving.unwrap_or(Cow::Borrowed(system));
    let is_constrained = !constraints.settles.is_empty() || !constraints.bonds.is_empty();
    let vibration = fastest(system);
    SystemSummary {
        charge: topology.net_charge(),
        has_charges: Some(topology.atoms.iter().any(|atom| atom.charge != 0.0)),
        degrees_of_freedom: degrees_of_freedom(&moving.topology, &moving.constraints, removed) as f64,
        rigid_waters: Some(constraints.settles.len()),
        constraints: Some(constraints.bonds.len()),
        cutoff: system.settings.cutoff,
        cutoff_lj: system.settings.cutoff_lj,
        lj_modifier: system.settings.lj_modifier,
        dispersion_correction: system.settings.dispersion_correction,
        constraint_deviation: is_constrained.then(|| largest_deviation(constraints, &state.positions)),
        fastest_vibration: vibration
            .map(|found| FastestVibration { period: found.period, term: found.describe(topology) }),
        parts: parts(&moving, state, removed).unwrap_or_default(),
    }
}

/// Returns the temperatures of solute and solvent; `None` if the system has only a solute or only a solvent, or if
/// there are no velocities.
fn parts(system: &System, state: &State, removed: RemovedMotion) -> Option<Vec<PartTemperature>> {
    let solvent = select(&system.topology, SOLVENT).ok()?;
    if state.velocities.is_empty() || solvent.len() == system.topology.atoms.len() {
        return None;
    }
    let groups = TemperatureGroups::new(system, removed, &[solvent]).ok()?;
    let mut kinetic = [0.0; 2];
    for (index, (atom, velocity)) in system.topology.atoms.iter().zip(&state.velocities).enumerate() {
        kinetic[groups.of_atom(index)] += 0.5 * atom.mass * velocity.norm_squared();
    }
    let part = |(name, (kinetic, &free)): (&str, (f64, &f64))| PartTemperature {
        name: name.to_owned(),
        degrees_of_freedom: free,
        temperature: if free > 0.0 { 2.0 * kinetic / (free * BOLTZMANN) } else { f64::NAN },
    };
    let found: Vec<PartTemperature> =
        ["solute", "solvent"].into_iter().zip(kinetic.into_iter().zip(groups.degrees_of_freedom())).map(part).collect();
    found.iter().all(|part| part.degrees_of_freedom > 0.0).then_some(found)
}
