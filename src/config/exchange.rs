//! Settings of `ensemble.exchange`: checks of the requirements of replica exchange, and the thermodynamic states.

use super::dynamics::WHOLE_STEPS;
use super::replicas::Replica;
use super::state_lists::constant;
use super::value::{Table, report};
use crate::ensemble::barostat::Barostat;
use crate::ensemble::exchange::{Conditions, Exchange};
use crate::ensemble::thermostat::Thermostat;
use crate::error::Problem;
use crate::restraint::{Potential, VariableKind};
use crate::run::{Dynamics, ElectrostaticsSpec, Interval, Plan, PmeSpec, Restraint, Stage, StageKind, TuningMethod};
use crate::select::needs_positions;

/// Returns the number of steps between exchange attempts, for an ensemble of replicas with the stages of `plan`; `None`
/// if replicas are not exchanged.
pub(super) fn exchange(table: &Table, replicas: &[Replica], plan: &Plan, problems: &mut Vec<Problem>) -> Option<u64> {
    let inner = table.table("exchange")?;
    let mut wrong = |what: &str, help: &str| {
        report(problems, table, "exchange", format!("ensemble.exchange: {what}"), help);
    };
    if !["temperature", "pressure", "solute_temperature"].into_iter().any(|name| table.is_given(name)) {
        wrong("replica exchange needs a list of states", "write temperature = [\"300 K\", \"310 K\"]");
        return None;
    }
    if replicas.len() < 2 {
        wrong("replica exchange needs at least two replicas", "write temperature = [\"300 K\", \"310 K\"]");
    }
    let Some(stage @ Stage { name, kind: StageKind::Dynamics(dynamics), restraints, .. }) = plan.stages.last() else {
        wrong(
            "states are exchanged in the last stage, which must be a stage of dynamics",
            "add a stage with kind = \"dynamics\" at the end",
        );
        return None;
    };
    let mut refuse = |why: String, help: &str| wrong(&format!("stage \"{name}\" {why}"), help);
    couplings(dynamics, &mut refuse);
    if table.is_given("pressure") && dynamics.barostat.is_none() {
        refuse("has no barostat, so that its states have no pressure".to_owned(), "add a barostat");
    }
    let changes_volume = |(_, earlier): (&str, &Dynamics)| earlier.barostat.is_some();
    if dynamics.barostat.is_none() && plan.dynamics().any(changes_volume) {
        let why = "has no barostat, but the barostat of an earlier stage would give each replica its own volume";
        refuse(why.to_owned(), "give the stage a barostat, or use the barostat in an earlier run of one system");
    }
    if replicas.iter().any(|replica| replica.overrides.iter().any(|setting| setting.key == "system.coordinates")) {
        own_starts(stage, plan, &mut refuse);
    }
    let moves = |potential: &Potential| match potential {
        Potential::Well(well) => well.center.is_none() || well.rate != 0.0,
        Potential::Force(_) => false,
    };
    if restraints.iter().any(|restraint| moves(&restraint.potential)) {
        let why = "has a restraint with a moving center, or a center at the initial value, so that replicas would have \
                   different restraints";
        refuse(why.to_owned(), "give the restraint a center and no rate");
    }
    let chooses_grid =
        matches!(plan.forces.electrostatics, ElectrostaticsSpec::Pme(PmeSpec::ForceError(_) | PmeSpec::Spacing { .. }));
    let mend = "remove run.tuning, or give alpha and grid of forces.pme";
    match plan.run.tuning {
        TuningMethod::Off if chooses_grid && table.is_given("solute_temperature") => {
            wrong("with tuning = \"off\" each state would have its own PME grid", mend);
        }
        TuningMethod::Measure if chooses_grid => {
            wrong("with tuning = \"measure\" each replica would choose its own PME grid", mend);
        }
        _ => {}
    }
    attempts(inner, name, dynamics, problems)
}

/// Returns the number of steps between exchange attempts in the stage `name`.
fn attempts(inner: &Table, name: &str, dynamics: &Dynamics, problems: &mut Vec<Problem>) -> Option<u64> {
    let every = inner.interval("every")?;
    let steps = every.steps(dynamics.timestep);
    if steps > dynamics.steps && dynamics.steps > 0 {
        let message = format!("ensemble.exchange.every: stage \"{name}\" ends before the first attempt");
        report(problems, inner, "every", message, "write a shorter interval, or a longer stage");
    }
    if let Some(impulses) = dynamics.multiple_time_steps
        && !steps.is_multiple_of(u64::from(impulses.every))
    {
        let message = format!(
            "ensemble.exchange.every is {steps} steps, which is not a multiple of multiple_time_steps.every = {}",
            impulses.every
        );
        report(
            problems,
            inner,
            "every",
            message,
            "write a multiple, because attempts scale the velocities of a full step",
        );
    }
    if let Interval::Time(time) = every
        && (time / dynamics.timestep - steps as f64).abs() > WHOLE_STEPS
    {
        let message = format!("ensemble.exchange.every is not a whole number of steps of stage \"{name}\"");
        report(problems, inner, "every", message, "use a multiple of the timestep of the stage, or a number of steps");
    }
    Some(steps)
}

/// Records a problem for each setting that refers to the positions at the start, if replicas start from different
/// positions.
fn own_starts(stage: &Stage, plan: &Plan, refuse: &mut impl FnMut(String, &str)) {
    let is_rmsd = |restraint: &&Restraint| restraint.kind == VariableKind::Rmsd;
    let mut references = (stage.position_restraints.iter().map(|restraint| &restraint.reference))
        .chain(stage.restraints.iter().filter(is_rmsd).map(|restraint| &restraint.reference));
    let each = "has its own system.coordinates, so that replicas would have different";
    if references.any(Option::is_none) {
        let why = format!("has restraints to the start of the run, but each replica {each} restraints");
        refuse(why, "give the restraints a reference file");
    }
    if stage.frozen.is_some() {
        let why = format!("has frozen atoms, but each replica {each} positions of these atoms");
        refuse(why, "use position_restraints with a reference file");
    }
    let written = plan.output.trajectories.iter().filter_map(|options| options.select.as_deref());
    if let Some(text) = stage.selections().chain(written).find(|text| needs_positions(text)) {
        let why = format!("uses the selection \"{text}\", but each replica {each} atoms in it");
        refuse(why, "select the atoms without distances");
    }
}

/// Records a problem for a thermostat or barostat that does not sample a known ensemble.
fn couplings(dynamics: &Dynamics, refuse: &mut impl FnMut(String, &str)) {
    match &dynamics.thermostat {
        None => refuse("has no thermostat".to_owned(), "add a thermostat, which sets the temperature of the state"),
        Some(thermostat) => {
            let facts = thermostat.kind.facts();
            let why = match (facts.is_canonical, facts.is_random) {
                (false, _) => Some("whose energies have no known distribution"),
                (true, false) => Some("whose internal variables would also have to be exchanged"),
                (true, true) => None,
            };
            if let Some(why) = why {
                refuse(format!("has {}, {why}", facts.name), "use thermostat kind \"v-rescale\" or \"langevin\"");
            }
            if !is_constant(thermostat) {
                refuse("changes its temperature with time".to_owned(), "anneal in an earlier stage");
            } else if temperature(thermostat).is_none() {
                let why = "has temperature groups at different temperatures: the acceptance of an exchange needs one \
                           temperature per state";
                let help = "give all groups the temperature of the thermostat, or remove ensemble.exchange";
                refuse(why.to_owned(), help);
            }
        }
    }
    let Some(barostat) = &dynamics.barostat else { return };
    if !barostat.kind.facts().is_isobaric {
        let help = "use barostat kind \"c-rescale\" or \"monte-carlo\"";
        refuse("has a weak-coupling barostat, whose volumes have no known distribution".to_owned(), help);
    }
    if pressure(barostat).is_none() || barostat.surface_tension != 0.0 {
        let why = "needs one constant pressure and no surface tension, because the acceptance of an exchange uses the \
                   work P dV of a state";
        refuse(why.to_owned(), "give the barostat one pressure");
    }
}

fn is_constant(thermostat: &Thermostat) -> bool {
    let groups = thermostat.groups.iter().map(|group| &group.temperature);
    groups.chain([&thermostat.temperature]).all(|temperature| constant(temperature).is_some())
}

/// Returns the temperature (K) if it is the same for all groups and at all times, and `None` otherwise.
fn temperature(thermostat: &Thermostat) -> Option<f64> {
    let all = constant(&thermostat.temperature)?;
    thermostat.groups.iter().all(|group| constant(&group.temperature) == Some(all)).then_some(all)
}

/// Returns the pressure (kJ/mol/nm³) if it is the same in all directions and at all times, and `None` otherwise.
fn pressure(barostat: &Barostat) -> Option<f64> {
    match barostat.pressure.each_ref().map(constant) {
        [Some(x), Some(y), Some(z)] if x == y && y == z => Some(x),
        _ => None,
    }
}

/// Returns the replica exchange between the replicas of `plans`, with `every` steps between exchange attempts.
/// Replica k starts in state k.
pub(super) fn between(plans: &[&Plan], every: u64, seed: u64) -> Exchange {
    let state = |plan: &&Plan| {
        let (_, dynamics) = plan.dynamics().next_back()?;
        let temperature = temperature(dynamics.thermostat.as_ref()?)?;
        Some(Conditions { temperature, pressure: dynamics.barostat.as_ref().and_then(pressure) })
    };
    Exchange { every, seed, states: plans.iter().filter_map(state).collect() }
}

#[cfg(test)]
mod tests;
