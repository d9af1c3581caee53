//! Comparison of the mean of a temperature or of a pressure with its target.
//!
//! With enough uncorrelated samples the difference between mean and target is compared with the standard error of the
//! mean. With too few samples the standard error is unknown. The standard deviation σ of a single row is then an upper
//! limit of the standard error: at equilibrium the mean of any rows, however correlated, has at most the standard
//! deviation of a single row. A mean of the last half of the stage that is many σ away from the target therefore shows
//! that the stage is not at equilibrium, whereas a mean near the target proves nothing.

use super::Verdict;
use crate::analysis::Equilibrated;
use crate::observe::statistics::LEAST_INDEPENDENT;
use crate::report::number::{number, with_error};
use crate::report::production::Production;

/// Number of standard errors by which a mean may differ from its target.
pub(super) const ERRORS: f64 = 4.0;
/// Minimum number of rows in the last half of a stage from which the standard deviation of a row is computed. The mean
/// of five independent normal values differs by more than four sample standard deviations from the true mean with a
/// probability of 0.1 % (Student's t of 4√5 = 8.9 with four degrees of freedom).
const ROWS: usize = 5;

/// Temperature or pressure that is compared with its target.
pub(super) struct Mean<'a> {
    /// aspect of the verdict
    pub(super) aspect: &'static str,
    /// name of the column of the energy table
    pub(super) column: &'a str,
    /// unit of the column
    pub(super) unit: &'static str,
    /// target, in the unit of the column
    pub(super) target: f64,
    /// difference from the target up to which a mean is accepted, whatever its error
    pub(super) least: f64,
    /// standard deviation of a single row at equilibrium; `None` = computed from the rows of the last half of the stage
    pub(super) deviation: Option<f64>,
    /// description of `least` in the threshold, for example "1 bar"
    pub(super) accepted: String,
    /// advice if the mean differs from its target
    pub(super) advice: &'static str,
}

impl Mean<'_> {
    /// Compares the mean with the target. `error` returns the standard error of the mean from the average after
    /// equilibration and from the length (ps) of the averaged rows. Returns `None` only if the table has no values.
    pub(super) fn judged(
        &self,
        production: &Production<'_>,
        error: impl Fn(&Equilibrated, f64) -> f64,
    ) -> Option<Verdict> {
        let values = production.values(self.column)?;
        let Some(column) = production.column(self.column) else {
            let reason = production.reason.clone().unwrap_or_else(|| "there are no averages".to_owned());
            return Some(self.of_last_half(production, &values, &reason));
        };
        let average = &column.average;
        let error = error(average, averaged_length(production, average));
        if average.samples < LEAST_INDEPENDENT || !error.is_finite() {
            let reason = format!("{:.0} uncorrelated samples", average.samples);
            return Some(self.of_last_half(production, &values, &reason));
        }
        let difference = (average.mean - self.target).abs();
        Some(Verdict::of(
            self.aspect,
            difference <= self.least || difference <= ERRORS * error,
            self.found(&with_error(average.mean, error)),
            format!("difference from the target of at most {ERRORS} standard errors or {}", self.accepted),
            self.advice,
        ))
    }

    /// Compares the mean of the last half of the stage with the target. The verdict is a problem or an information,
    /// because `reason` forbids to call the mean correct.
    fn of_last_half(&self, production: &Production<'_>, values: &[f64], reason: &str) -> Verdict {
        let middle = 0.5 * (production.times[0] + production.times[production.times.len() - 1]);
        let rows = production.times.iter().zip(values).filter(|(time, _)| **time >= middle);
        let last: Vec<f64> = rows.map(|(_, value)| *value).collect();
        let average = Equilibrated::from(&last, 0, 1.0);
        let of_rows = || (last.len() >= ROWS).then(|| average.error * (last.len() as f64).sqrt());
        let largest = self.deviation.or_else(of_rows).map(|deviation| (ERRORS * deviation).max(self.least));
        let found = format!("{}, the mean of the last half of the stage", self.found(&number(average.mean)));
        match largest.filter(|largest| (average.mean - self.target).abs() > *largest) {
            None => Verdict::information(self.aspect, format!("not judged: {reason}; {found}"), ""),
            Some(largest) => Verdict::of(
                self.aspect,
                false,
                format!("{found}; {reason}"),
                format!(
                    "difference from the target of at most {ERRORS} standard deviations of a row, {largest:.1} {}",
                    self.unit
                ),
                self.advice,
            ),
        }
    }

    /// Describes a mean, given as text, and its target.
    fn found(&self, mean: &str) -> String {
        let name = if ["temperature", "pressure"].contains(&self.column) {
            String::new()
        } else {
            format!("{}: ", self.column)
        };
        format!("{name}{mean} {} for {:.2}", self.unit, self.target)
    }
}

/// Returns the simulated time of the averaged rows, ps.
pub(super) fn averaged_length(production: &Production<'_>, average: &Equilibrated) -> f64 {
    production.length() * (1.0 - average.start as f64 / production.times.len() as f64)
}

/// Returns the number of uncorrelated samples among the averaged rows, which are `length` ps long. The number is at
/// most one per two coupling times, even if the values of a short stage seem less correlated: a quantity that relaxes
/// exponentially with the coupling time τ has the integrated autocorrelation time τ, and its statistical inefficiency
/// is 2τ divided by the interval between rows.
pub(super) fn relaxation_samples(average: &Equilibrated, length: f64, coupling_time: f64) -> f64 {
    average.samples.min(length / (2.0 * coupling_time))
}

/// Returns the standard error of the mean of a temperature, with the number of samples of [`relaxation_samples`].
pub(super) fn temperature_error(average: &Equilibrated, length: f64, coupling_time: f64) -> f64 {
    average.error * (average.samples / relaxation_samples(average, length, coupling_time)).sqrt()
}
