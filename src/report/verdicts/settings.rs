//! Verdicts on how the run ended and on cutoffs, time step, charge and constraints.

use super::Verdict;
use crate::prepare::ElectrostaticsSpec;
use crate::report::folder::{Condition, RunFolder};
use crate::run::{AMBER_CUTOFF, FEW_STEPS, StageKind};

/// Maximum absolute net charge (e) of a periodic system.
const CHARGE: f64 = 0.01;
/// Maximum relative deviation of a constrained distance from its length, as a multiple of the constraint tolerance. The
/// multiple is large for two reasons. The positions in the final state are rounded, and the constraint algorithm
/// compares the tolerance with half of the relative error of the squared distance.
const DEVIATION: f64 = 10.0;

pub(super) fn verdicts(run: &RunFolder) -> Vec<Verdict> {
    [ending(run), minimisation(run), cutoff(run), timestep(run), charge(run), constraints(run)]
        .into_iter()
        .flatten()
        .collect()
}

fn ending(run: &RunFolder) -> Option<Verdict> {
    let status = &run.status;
    let place = format!("stage \"{}\", step {} of {}", status.stage, status.step, status.steps);
    let verdict =
        |found: String, advice: &str| Some(Verdict::of("End of the run", false, found, "all stages finished", advice));
    match run.condition() {
        Condition::Finished => Some(Verdict::of("End of the run", true, "all stages finished", "", "")),
        Condition::Running => {
            Some(Verdict::information("End of the run", format!("the run is still going on: {place}"), ""))
        }
        Condition::Stopped => Some(Verdict::information(
            "End of the run",
            format!("stopped on request: {place}"),
            "The same command continues the run.",
        )),
        Condition::Failed => {
            let message = status.message.as_deref().unwrap_or("no message");
            verdict(format!("failed in {place}: {message}"), "Read run.log, mend the cause, and repeat the command.")
        }
        Condition::Killed => verdict(
            format!("the process disappeared in {place}"),
            "The run was killed or the computer stopped. The same command continues from the last checkpoint.",
        ),
    }
}

/// Judges the last minimisation, if the run has no dynamics; a minimisation before dynamics need not converge.
fn minimisation(run: &RunFolder) -> Option<Verdict> {
    let place = run.plan.stages.iter().rposition(|stage| matches!(stage.kind, StageKind::Minimize(_)))?;
    let StageKind::Minimize(settings) = &run.plan.stages[place].kind else { return None };
    let averages = &run.summary.as_ref()?.stages.get(place)?.averages;
    let value = |name: &str| averages.iter().find(|average| average.name == name).map(|average| average.mean);
    let (energy, force) = (value("minimised energy")?, value("largest force")?);
    let found = format!("energy {energy:.6e} kJ/mol, largest force {force:.3e} kJ/mol/nm");
    let is_good = force <= settings.force_tolerance;
    if !is_good && place + 1 < run.plan.stages.len() {
        return Some(Verdict::information("Minimisation", format!("{found}, not converged"), ""));
    }
    let threshold = format!("largest force at most {} kJ/mol/nm", settings.force_tolerance);
    let advice = "Raise the number of steps, and look at the atom with the largest force, which run.log names.";
    Some(Verdict::of("Minimisation", is_good, found, threshold, advice))
}

fn cutoff(run: &RunFolder) -> Option<Verdict> {
    let system = run.summary.as_ref()?.system.as_ref()?;
    // the Coulomb cutoff of PME is not judged, because the accuracy depends on cutoff and mesh together, and because
    // tuning may change the cutoff
    let cutoff =
        system.cutoff_lj.unwrap_or(f64::INFINITY).min(system.cutoff.filter(|_| !is_pme(run)).unwrap_or(f64::INFINITY));
    if !cutoff.is_finite() {
        return None;
    }
    let electrostatics = match run.plan.forces.electrostatics {
        ElectrostaticsSpec::Plain => "charges are cut off",
        ElectrostaticsSpec::ReactionField { .. } => "reaction field",
        ElectrostaticsSpec::Pme(_) => "PME",
        ElectrostaticsSpec::Off => "no charges",
    };
    let is_good = cutoff >= AMBER_CUTOFF && run.plan.forces.electrostatics != ElectrostaticsSpec::Plain;
    Some(Verdict::of(
        "Cutoff",
        is_good,
        format!("{cutoff:.3} nm, {electrostatics}"),
        format!("at least {AMBER_CUTOFF} nm, with PME or a reaction field"),
        "Use the cutoff for which the force field was made (usually 0.9 to 1.2 nm) and electrostatics = \"pme\".",
    ))
}

fn is_pme(run: &RunFolder) -> bool {
    matches!(run.plan.forces.electrostatics, ElectrostaticsSpec::Pme(_))
}

fn timestep(run: &RunFolder) -> Option<Verdict> {
    let vibration = run.summary.as_ref()?.system.as_ref()?.fastest_vibration.as_ref()?;
    let (name, dynamics) = run.plan.dynamics().max_by(|a, b| a.1.timestep.total_cmp(&b.1.timestep))?;
    let steps = vibration.period / dynamics.timestep;
    Some(Verdict::of(
        "Time step",
        steps >= FEW_STEPS,
        format!(
            "time step of {:.3} fs in stage \"{name}\": {steps:.1} steps in the period of {:.1} fs of {}",
            1e3 * dynamics.timestep,
            1e3 * vibration.period,
            vibration.term
        ),
        format!("at least {FEW_STEPS} steps in the shortest vibration period"),
        "Set constraints = \"h-bonds\", or shorten the time step.",
    ))
}

fn charge(run: &RunFolder) -> Option<Verdict> {
    let charge = run.summary.as_ref().filter(|_| is_pme(run))?.system.as_ref()?.charge;
    // adding zero turns a rounded -0 into 0
    let charge = (charge * 1e3).round() / 1e3 + 0.0;
    Some(Verdict::of(
        "Net charge",
        charge.abs() <= CHARGE,
        format!("{charge:+.3} e"),
        format!("at most {CHARGE} e"),
        "Add counter-ions; otherwise PME adds a background charge, which changes energies and may displace ions.",
    ))
}

fn constraints(run: &RunFolder) -> Option<Verdict> {
    let deviation = run.summary.as_ref()?.system.as_ref()?.constraint_deviation?;
    let largest = DEVIATION * run.plan.forces.constraint_tolerance;
    Some(Verdict::of(
        "Constraints",
        deviation <= largest,
        format!("largest relative deviation of a constrained distance in the final state: {deviation:.1e}"),
        format!("at most {largest:.0e}"),
        "Report this as a defect of md, with the input files.",
    ))
}
