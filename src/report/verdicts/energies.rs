//! Verdicts on the conservation of energy and on sampling.

use super::Verdict;
use crate::analysis::Slope;
use crate::report::folder::RunFolder;
use crate::report::number::with_error;
use crate::report::production::Production;
use crate::units::BOLTZMANN;

/// Maximum drift of the conserved energy, in kT per ns and degree of freedom. For comparison, the drift in GROMACS with
/// its usual settings is 0.044 kT per ns and degree of freedom (`docs/performance.md`). Without a thermostat, the
/// maximum drift would heat a liquid by about 15 K in a nanosecond.
const DRIFT: f64 = 0.05;
/// Number of standard errors up to which a drift counts as zero.
const ERRORS: f64 = 4.0;
/// Minimum length (ps) of a production stage whose sampling is judged.
const PRODUCTION: f64 = 1000.0;
/// Maximum fraction of the production stage that equilibration may take.
const EQUILIBRATION: f64 = 0.5;
/// Minimum number of uncorrelated samples of the potential energy in a production stage.
const SAMPLES: f64 = 50.0;

pub(super) fn verdicts(run: &RunFolder, production: &Production<'_>) -> Vec<Verdict> {
    drift(run, production).into_iter().chain(sampling(production)).collect()
}

fn drift(run: &RunFolder, production: &Production<'_>) -> Option<Verdict> {
    let free = run.summary.as_ref()?.system.as_ref()?.degrees_of_freedom;
    let temperature = production.column("temperature")?.average.mean;
    let slope = Slope::of(&production.times, &production.column("conserved")?.values)?;
    let scale = 1e3 / (BOLTZMANN * temperature * free);
    if !(scale.is_finite() && scale > 0.0) {
        return None;
    }
    let [value, error] = [slope.value, slope.error].map(|rate| rate * scale);
    let name = "Drift of the conserved energy";
    let found = format!("{} kT per ns and degree of freedom", with_error(value, error));
    let is_significant = value.abs() > ERRORS * error;
    // a short stage cannot show that the drift is small
    if !is_significant && ERRORS * error > DRIFT {
        let found = format!("{found}: the stage is too short to find a drift of {DRIFT}");
        return Some(Verdict::information(name, found, ""));
    }
    Some(Verdict::of(
        name,
        value.abs() <= DRIFT || !is_significant,
        found,
        format!("at most {DRIFT} kT per ns and degree of freedom, or at most {ERRORS} standard errors"),
        "Shorten the time step, constrain bonds to hydrogen, or tighten forces.list.tolerance and \
         forces.constraint_tolerance.",
    ))
}

fn sampling(production: &Production<'_>) -> Option<Verdict> {
    let column = production.column("potential")?;
    let (average, rows) = (&column.average, column.values.len());
    let part = average.start as f64 / rows as f64;
    let length = production.length();
    let left_out = production.times[average.start] - production.times[0];
    let found = format!(
        "equilibration ends after {left_out:.1} of {length:.1} ps; {:.0} uncorrelated samples of the potential energy",
        average.samples
    );
    let advice = "Extend the stage: raise its duration and repeat the same command, which continues the run.";
    if length < PRODUCTION {
        return Some(Verdict::information("Sampling", found, ""));
    }
    let is_good = part <= EQUILIBRATION && average.samples >= SAMPLES;
    let threshold = format!("equilibration in at most half of the stage, and at least {SAMPLES} uncorrelated samples");
    Some(Verdict::of("Sampling", is_good, found, threshold, advice))
}
