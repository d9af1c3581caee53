//! Verdicts on collective restraints whose variable does not follow the center of the restraint.

use super::Verdict;
use crate::report::folder::RunFolder;
use crate::report::production::Production;
use crate::units::BOLTZMANN;

/// Maximum median energy of a restraint in kT. With a larger energy, the variable does not follow the center of the
/// restraint. At equilibrium the mean energy of a harmonic restraint is ½ kT.
const ENERGY: f64 = 20.0;
/// Fraction of the rows of the stage from which the median energy is computed; these rows are the last rows of the
/// stage.
const PART: f64 = 0.25;

pub(super) fn verdicts(run: &RunFolder, production: &Production<'_>) -> Vec<Verdict> {
    let temperature = production.column("temperature").map_or(300.0, |column| column.average.mean);
    let scale = BOLTZMANN * temperature;
    let rows = || run.restraints.iter().filter(|row| row.stage == production.number);
    let count = rows().map(|row| row.restraint).max().unwrap_or(0);
    let verdict = |restraint: u32| {
        let energies: Vec<f64> =
            rows().filter(|row| row.restraint == restraint).map(|row| row.sample.energy / scale).collect();
        let last = ((energies.len() as f64 * PART).ceil() as usize).max(1);
        let mut energies = energies[energies.len().saturating_sub(last)..].to_vec();
        energies.sort_by(f64::total_cmp);
        let median = *energies.get(energies.len() / 2)?;
        Some(Verdict::of(
            "Restraint",
            median <= ENERGY,
            format!("restraint {restraint}: median energy {median:.1} kT in the last quarter of the stage"),
            format!("at most {ENERGY} kT"),
            "The variable does not follow the restraint. Pull more slowly, start nearer to the center, or use a larger \
             force constant.",
        ))
    };
    (1..=count).filter_map(verdict).collect()
}
