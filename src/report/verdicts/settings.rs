//! Verdicts on how the run ended and on cutoffs, time step, charge and constraints.

use super::Verdict;
use crate::observe::summary::StageSummary;
use crate::prepare::ElectrostaticsSpec;
use crate::report::folder::{Condition, RunFolder};
use crate::run::{AMBER_CUTOFF, FEW_STEPS, Minimize, StageKind};

/// Maximum absolute net charge (e) of a periodic system.
const CHARGE: f64 = 0.01;
/// Maximum relative deviation of a constrained distance from its length, as a multiple of the constraint tolerance. The
/// multiple is large for two reasons. The positions in the final state are rounded, and the constraint algorithm
/// compares the tolerance with half of the relative error of the squared distance.
const DEVIATION: f64 = 10.0;

pub(super) fn verdicts(run: &RunFolder) -> Vec<Verdict> {
    let rest = [cutoff(run), timestep(run), charge(run), constraints(run)];
    ending(run).into_iter().chain(minimisations(run)).chain(rest.into_iter().flatten()).collect()
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

/// Judges the minimisations. A minimisation before dynamics need not converge.
fn minimisations(run: &RunFolder) -> Vec<Verdict> {
    let Some(summary) = &run.summary else { return vec![] };
    let stages = run.plan.stages.iter().zip(&summary.stages).enumerate();
    let minimised = stages.filter_map(|(place, (stage, found))| match &stage.kind {
        StageKind::Minimize(settings) => minimisation(settings, found, place + 1 == run.plan.stages.len()),
        StageKind::Dynamics(_) => None,
    });
    minimised.collect()
}

fn minimisation(settings: &Minimize, found: &StageSummary, is_last: bool) -> Option<Verdict> {
    let value = |name: &str| found.averages.iter().find(|average| average.name == name).map(|average| average.mean);
    let (energy, force) = (value("minimised energy")?, value("largest force")?);
    let text = format!("stage \"{}\": energy {energy:.6e} kJ/mol, largest force {force:.3e} kJ/mol/nm", found.name);
    let is_good = force <= settings.force_tolerance;
    if !is_good && !is_last {
        return Some(Verdict::information("Minimisation", format!("{text}, not converged"), ""));
    }
    let threshold = format!("largest force at most {} kJ/mol/nm", settings.force_tolerance);
    // a minimisation that ends before its maximum number of steps without converging has reached the limit of precision
    let advice = if found.steps < settings.steps {
        "No displacement lowers the energy within the precision of the numbers. Set precision = \"double\" in [run], or \
         raise force_tolerance."
    } else {
        "Raise the number of steps, and look at the atom with the largest force, which run.log names."
    };
    Some(Verdict::of("Minimisation", is_good, text, threshold, advice))
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
    let setting = run.plan.forces.electrostatics;
    let has_charges = run.has_charges();
    let electrostatics = match setting {
        _ if !has_charges => "no charges",
        ElectrostaticsSpec::Plain => "charges are cut off",
        ElectrostaticsSpec::ReactionField { .. } => "reaction field",
        ElectrostaticsSpec::Pme(_) => "PME",
        ElectrostaticsSpec::Off => "Coulomb interactions are left out",
    };
    let is_treated = !matches!(setting, ElectrostaticsSpec::Plain | ElectrostaticsSpec::Off);
    let is_good = cutoff >= AMBER_CUTOFF && (is_treated || !has_charges);
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
