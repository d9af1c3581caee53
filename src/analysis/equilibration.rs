//! Detection of the end of equilibration in a correlated time series, and averages of the rows after equilibration.

use std::sync::OnceLock;

use rayon::prelude::*;

use crate::compute::Autocorrelation;
use crate::observe::statistics::LEAST_INDEPENDENT;

/// Number of rows, at equal intervals, that are tried as the end of equilibration.
const ORIGINS: usize = 200;
/// Number of rows above which the end of equilibration is searched in two passes: first at a coarse interval, then
/// around the best row of the first pass.
const LONG: usize = 20_000;
/// Number of rows that each of the two passes over a long series tries as the end of equilibration.
const LONG_ORIGINS: usize = 20;
/// Number of lags (rows) that always enter the sum over lags, as in pymbar. The sum ends at the first later lag whose
/// correlation is zero or less.
const LEAST_LAGS: usize = 3;

/// Number of lags whose correlations are computed one by one. Most series of energies decorrelate within this number of
/// lags. For series that decorrelate more slowly, an FFT computes the correlations of all lags.
const DIRECT_LAGS: usize = 64;
/// Number of independent partial sums into which a sum of products is split.
const SUMS: usize = 8;

/// Returns the statistical inefficiency g = 1 + 2 Σ (1 − t/N) C(t) of a series of N values with the normalised
/// autocorrelation C(t): the number of correlated samples that count as one (Chodera, Swope, Pitera, Seok & Dill, J.
/// Chem. Theory Comput. 3, 26 (2007), doi:10.1021/ct0502864). The sum over lags ends at the first lag t > 3 at which
/// the autocorrelation C(t) is zero or less. The statistical inefficiency is at least 1, and is 1 for a constant
/// series.
pub fn inefficiency(values: &[f64]) -> f64 {
    inefficiency_by(values, || Autocorrelation::new(values.len()))
}

/// Returns the statistical inefficiency of a series, see [`inefficiency`]. `plan` returns an FFT plan for series at
/// least as long as `values`.
fn inefficiency_by(values: &[f64], plan: impl FnOnce() -> Autocorrelation) -> f64 {
    let count = values.len();
    let mean = values.iter().sum::<f64>() / count as f64;
    let largest = values.iter().fold(0.0f64, |largest, value| largest.max(value.abs()));
    let deviations: Vec<f64> = values.iter().map(|value| value - mean).collect();
    let squares = product_at(&deviations, 0);
    // the mean of N equal values has a rounding error of up to N/2 units in the last place
    let rounding = 0.5 * count as f64 * f64::EPSILON * largest;
    if squares <= count as f64 * rounding.powi(2) {
        return 1.0;
    }
    let variance = squares / count as f64;
    let mut sum = 1.0;
    // adds the term of a lag to the sum over lags and returns true; returns false if the sum ends before this lag
    let mut add = |lag: usize, product: f64| {
        let correlation = product / ((count - lag) as f64 * variance);
        let ends = correlation <= 0.0 && lag > LEAST_LAGS;
        sum += if ends { 0.0 } else { 2.0 * correlation * (1.0 - lag as f64 / count as f64) };
        !ends
    };
    let lags = count.saturating_sub(1);
    let goes_on = (1..lags.min(DIRECT_LAGS)).all(|lag| add(lag, product_at(&deviations, lag)));
    if goes_on && lags > DIRECT_LAGS {
        let mut products = vec![0.0; count];
        plan().add(deviations.iter().copied(), &mut products);
        for lag in DIRECT_LAGS..lags {
            if !add(lag, products[lag]) {
                break;
            }
        }
    }
    sum.max(1.0)
}

/// Returns Σ x(t) x(t + lag) of a series x, in independent partial sums, which the CPU adds in parallel.
fn product_at(series: &[f64], lag: usize) -> f64 {
    let (now, now_rest) = series[..series.len() - lag].as_chunks::<SUMS>();
    let (later, later_rest) = series[lag..].as_chunks::<SUMS>();
    let rest = now_rest.iter().zip(later_rest).map(|(a, b)| a * b).sum::<f64>();
    let mut sums = [0.0; SUMS];
    for (now, later) in now.iter().zip(later) {
        for k in 0..SUMS {
            sums[k] += now[k] * later[k];
        }
    }
    sums.iter().sum::<f64>() + rest
}

/// Averages of a series over the rows after equilibration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Equilibrated {
    /// first row that is averaged
    pub start: usize,
    /// statistical inefficiency: the number of correlated rows that count as one
    pub inefficiency: f64,
    /// mean
    pub mean: f64,
    /// standard error of the mean, however few samples there are; see [`Equilibrated::known_error`]
    pub error: f64,
    /// number of uncorrelated samples: the number of averaged rows divided by the statistical inefficiency
    pub samples: f64,
}

impl Equilibrated {
    /// Computes the averages of the values from the row `start` on, with a given statistical inefficiency.
    pub fn from(values: &[f64], start: usize, inefficiency: f64) -> Self {
        let values = &values[start..];
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0).max(1.0);
        let error = (variance * inefficiency / count).sqrt();
        Equilibrated { start, inefficiency, mean, error, samples: count / inefficiency }
    }

    /// Returns the standard error of the mean; `None` if there are fewer than [`LEAST_INDEPENDENT`] uncorrelated
    /// samples, from which errors are too small.
    pub fn known_error(&self) -> Option<f64> {
        (self.samples >= LEAST_INDEPENDENT || self.error == 0.0).then_some(self.error)
    }

    /// Detects the end of equilibration. The function tries rows at equal intervals, and chooses the row that maximises
    /// the number of uncorrelated samples from the row to the end (Chodera, J. Chem. Theory Comput. 12, 1799 (2016),
    /// doi:10.1021/acs.jctc.5b00784).
    pub fn detect(values: &[f64]) -> Self {
        let last = values.len().saturating_sub(LEAST_LAGS);
        if values.len() <= LONG {
            return Self::among(values, (0..last).step_by(values.len().div_ceil(ORIGINS).max(1)));
        }
        let stride = values.len().div_ceil(LONG_ORIGINS);
        let near = Self::among(values, (0..last).step_by(stride)).start;
        let fine = (2 * stride).div_ceil(LONG_ORIGINS);
        Self::among(values, (near.saturating_sub(stride)..(near + stride).min(last)).step_by(fine))
    }

    /// Chooses the end of equilibration among the rows `starts`: the row that maximises the number of uncorrelated
    /// samples from the row to the end.
    fn among(values: &[f64], starts: impl Iterator<Item = usize>) -> Self {
        let count = values.len();
        let starts: Vec<usize> = starts.collect();
        let plan = OnceLock::new();
        let number = |&start: &usize| {
            let shared = || plan.get_or_init(|| Autocorrelation::new(count)).clone();
            let inefficiency = inefficiency_by(&values[start..], shared);
            ((count - start + 1) as f64 / inefficiency, start, inefficiency)
        };
        let found = starts.par_iter().map(number).max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
        let (_, start, inefficiency) = found.unwrap_or((0.0, 0, 1.0));
        Self::from(values, start, inefficiency)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four values of 1 followed by four values of −1 have the autocorrelations C(1) = 5/7, C(2) = 2/6, C(3) = −1/5,
    /// and C(4) = −1, at which the sum ends, so that g = 1 + 2 (5/8 + 2/8 − 1/8) = 2.5. An alternating series is
    /// anticorrelated, so that g is 1.
    #[test]
    fn inefficiency_of_short_series() {
        let found = inefficiency(&[1.0, 1.0, 1.0, 1.0, -1.0, -1.0, -1.0, -1.0]);
        // the tolerance covers the rounding errors of an FFT
        assert!((found - 2.5).abs() < 1e-12, "{found}");
        let alternating: Vec<f64> = (0..50).map(|i| f64::from(i % 2)).collect();
        assert_eq!(inefficiency(&alternating), 1.0);
        for value in [300.1, 22.793_846_153, 1e-3 / 3.0] {
            for count in [20, 451, 3000] {
                assert_eq!(inefficiency(&vec![value; count]), 1.0, "{count} times {value}");
                let found = Equilibrated::detect(&vec![value; count]);
                assert_eq!((found.start, found.inefficiency), (0, 1.0), "{count} times {value}");
            }
        }
    }

    /// The series is the straight line x(t) = t − 499.5 with 1000 values. The correlations Σ x(t) x(t+k) of this series
    /// stay positive up to lag k = 290, beyond the lags that are computed one by one.
    #[test]
    fn slow_series_are_transformed() {
        let line: Vec<f64> = (0..1000).map(f64::from).collect();
        let product =
            |lag: usize| -> f64 { (0..1000 - lag).map(|t| (t as f64 - 499.5) * ((t + lag) as f64 - 499.5)).sum() };
        let correlation = |lag: usize| product(lag) / (product(0) / 1000.0) / (1000 - lag) as f64;
        let ends = (1..1000).find(|&lag| correlation(lag) <= 0.0).unwrap();
        let expected = 1.0 + 2.0 * (1..ends).map(|lag| correlation(lag) * (1.0 - lag as f64 / 1000.0)).sum::<f64>();
        assert!(ends > 2 * DIRECT_LAGS && (inefficiency(&line) - expected).abs() < 1e-9 * expected);
    }

    /// After its first 20 rows the series alternates between 0 and 1, so that the last 100 rows are uncorrelated. The
    /// last 100 rows have the mean 1/2, and the variance of this mean is 1/4 · 1/99.
    #[test]
    fn equilibration_is_left_out() {
        let series: Vec<f64> = (0..120).map(|i| f64::from(i % 2) + f64::from((20 - i).max(0))).collect();
        let found = Equilibrated::detect(&series);
        assert!(found.start.abs_diff(20) <= 2 && found.inefficiency < 1.05, "{found:?}");
        // a series of more than `LONG` rows is searched in two passes
        let long: Vec<f64> = (0..40_000).map(|i| f64::from(i % 2) + f64::from((9000 - i).max(0))).collect();
        let found = Equilibrated::detect(&long);
        assert!(found.start.abs_diff(9000) <= 400 && found.inefficiency < 1.1, "{found:?}");
        assert_eq!(Equilibrated::from(&series, 101, 1.0).known_error(), None);
        let found = Equilibrated::from(&series, 20, 1.0);
        assert_eq!(found.known_error(), Some(found.error));
        assert!((found.mean - 0.5).abs() < 1e-15 && (found.error - (0.25f64 / 99.0).sqrt()).abs() < 1e-15, "{found:?}");
    }
}
