//! Mean, error and range of a series of values.

use super::equilibration::inefficiency;
use super::findings::{Layer, Number};
use crate::observe::statistics::{Average, LEAST_INDEPENDENT, Statistics};

/// Returns the standard error of a weighted mean of independent groups, Σ w x / Σ w with the mean x and the weight w of
/// each group, by the estimator of a ratio of two sums (Cochran, Sampling Techniques, 3rd edition, Wiley 1977, section
/// 2.11). Returns `None` if there are fewer than two groups.
pub(super) fn standard_error_of_groups(means: &[f64], weights: &[f64]) -> Option<f64> {
    let (count, total) = (means.len() as f64, weights.iter().sum::<f64>());
    let share = |(mean, weight): (&f64, &f64)| mean * weight / total;
    let mean = means.iter().zip(weights).map(share).sum::<f64>();
    let square = |(value, weight): (&f64, &f64)| (weight / total * (value - mean)).powi(2);
    let squares = means.iter().zip(weights).map(square).sum::<f64>();
    (means.len() > 1).then(|| (squares * count / (count - 1.0)).sqrt())
}

/// Formats a standard error as the text ` ± 0.12`, which is put after a number. `decimals` is the number of decimals.
/// The text is empty if the error is unknown.
pub(super) fn plus_minus(error: Option<f64>, decimals: usize) -> String {
    error.map_or(String::new(), |error| format!(" ± {error:.decimals$}"))
}

/// Returns the standard error √(g σ²/(n − 1)) of the mean of n values with the standard deviation σ and the statistical
/// inefficiency g; `None` if there are fewer than [`LEAST_INDEPENDENT`] independent values, n/g.
fn error_by_correlation(values: &[f64], deviation: f64) -> Option<f64> {
    let (count, inefficiency) = (values.len() as f64, inefficiency(values));
    let is_known = count >= LEAST_INDEPENDENT * inefficiency || deviation == 0.0;
    is_known.then(|| deviation * (inefficiency / (count - 1.0).max(1.0)).sqrt())
}

/// Returns mean, fluctuation, and error from block means of values at equal intervals of time.
fn average_of(values: &[f64]) -> Average {
    let mut statistics = Statistics::new([("", "")]);
    values.iter().enumerate().for_each(|(index, &value)| statistics.add(index as f64, &[value]));
    statistics.averages().swap_remove(0)
}

/// Returns the standard error of the mean from block means alone; `None` if there are too few independent values.
pub(super) fn block_error(values: &[f64]) -> Option<f64> {
    average_of(values).error
}

/// Mean, fluctuation and range of a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// arithmetic mean
    pub mean: f64,
    /// root mean square deviation from the mean
    pub deviation: f64,
    /// standard error of the mean; `None` if there are too few independent values
    pub error: Option<f64>,
    /// smallest and largest value
    pub range: [f64; 2],
}

impl Summary {
    /// Computes the summary of values at equal intervals of time; NaN if there are no values. The standard error is the
    /// larger one of the errors from block means ([`crate::observe::statistics`]) and from the statistical inefficiency
    /// ([`inefficiency`]), because both of them are too small for short series.
    pub fn of(values: &[f64]) -> Self {
        let range = values.iter().fold([f64::INFINITY, f64::NEG_INFINITY], |[a, b], &v| [a.min(v), b.max(v)]);
        let average = average_of(values);
        let error = average.error.and_then(|error| Some(error.max(error_by_correlation(values, average.fluctuation)?)));
        Summary { mean: average.mean, deviation: average.fluctuation, error, range }
    }

    /// Computes the summary of torsions (degrees) at equal intervals of time. Each torsion is moved into the period
    /// around the circular mean atan2(Σ sin φ, Σ cos φ), so that 179° and −177° have the mean −179°. The ends of the
    /// range may be beyond ±180°.
    pub fn of_torsions(values: &[f64]) -> Self {
        let sums = values.iter().fold([0.0; 2], |[s, c], value| {
            let (sin, cos) = value.to_radians().sin_cos();
            [s + sin, c + cos]
        });
        let center = sums[0].atan2(sums[1]).to_degrees();
        let around = |value: &f64| value - 360.0 * ((value - center) / 360.0).round();
        Self::of(&values.iter().map(around).collect::<Vec<f64>>())
    }

    /// Returns the mean, with its error, as a single number of a result.
    pub fn number(&self, name: &'static str, unit: &'static str) -> Number {
        Number { name, value: self.mean, error: self.error, unit }
    }

    /// Returns the layers of a picture of the summarised `values`: the series and, if its error is known, its mean.
    pub fn layers(&self, times: &[f64], values: &[f64]) -> Vec<Layer> {
        // rounding may give a constant series a standard error slightly above zero
        let error = self.error.filter(|_| self.range[0] < self.range[1]);
        let mean = error.and_then(|error| Layer::mean(times, self.mean, error));
        [Layer::line("", times, values)].into_iter().chain(mean).collect()
    }

    /// Returns the summary as lines of text for the user.
    pub fn lines(&self, unit: &str) -> Vec<String> {
        let Summary { mean, deviation, error, range: [least, largest] } = self;
        let error = plus_minus(*error, 5);
        vec![
            format!("mean         {mean:.5}{error} {unit}, standard deviation {deviation:.5} {unit}"),
            format!("range        {least:.5} to {largest:.5} {unit}"),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, Stream};

    fn correlated(seed: u64, count: usize, rho: f64) -> Vec<f64> {
        let mut random = Stream::new(seed, Purpose::Test, 0, 0);
        let mut x = random.gaussian();
        let next = |_| {
            x = rho * x + (1.0 - rho * rho).sqrt() * random.gaussian();
            x
        };
        (0..count).map(next).collect()
    }

    /// The error of a summary is the larger one of two errors, of which one is from block means.
    #[test]
    fn errors_from_blocks_are_separate() {
        let errors = (0..20).map(|seed| {
            let values = correlated(seed, 2000, 0.9);
            (
                block_error(&values).unwrap(),
                error_by_correlation(&values, Summary::of(&values).deviation).unwrap(),
                values,
            )
        });
        let mut smaller = 0;
        for (of_blocks, by_correlation, values) in errors {
            assert_eq!(Summary::of(&values).error, Some(of_blocks.max(by_correlation)));
            smaller += usize::from(of_blocks < by_correlation);
        }
        assert!((1..20).contains(&smaller), "{smaller}");
    }

    /// Returns the errors of the means of 200 series of `count` values, x' = ρx + √(1 − ρ²)ξ with standard normal ξ and
    /// ρ = exp(−1/τ), whose variance is 1. The second number is the exact standard error of the mean, √(g/n) with g = 1
    /// + 2 Σ (1 − k/n) ρᵏ.
    fn errors_of_correlated(count: usize, tau: f64) -> (Vec<Option<f64>>, f64) {
        let rho = (-1.0 / tau).exp();
        let of_seed = |seed| Summary::of(&correlated(seed, count, rho)).error;
        let n = count as f64;
        let g = 1.0 + 2.0 * (1..count).map(|k| (1.0 - k as f64 / n) * rho.powi(k as i32)).sum::<f64>();
        ((0..200).map(of_seed).collect(), (g / n).sqrt())
    }

    /// Series of 3 to 6 correlation times have no error, except by chance. Series of 50 or more independent values have
    /// an error whose root mean square is not smaller than the exact error, and at most a fifth larger.
    #[test]
    fn errors_of_short_correlated_series_are_unknown_or_right() {
        for (count, tau) in [(100, 10.0), (100, 20.0), (400, 50.0)] {
            let (errors, _) = errors_of_correlated(count, tau);
            // the largest share of known errors is 6 % in a simulation of the same process by other means (numpy)
            assert!(errors.iter().flatten().count() < 20, "{count} {tau}: {errors:?}");
        }
        for (count, tau) in [(1000, 10.0), (4000, 20.0)] {
            let (errors, exact) = errors_of_correlated(count, tau);
            let known: Vec<f64> = errors.into_iter().flatten().collect();
            assert!(known.len() > 160, "{count} {tau}: {}", known.len());
            let square = known.iter().map(|error| error.powi(2)).sum::<f64>() / known.len() as f64;
            assert!((1.0..1.2).contains(&(square.sqrt() / exact)), "{count} {tau}: {} {exact}", square.sqrt());
        }
    }

    #[test]
    fn pictures_show_means_of_series_that_fluctuate() {
        let times: Vec<f64> = (0..1000).map(f64::from).collect();
        let values: Vec<f64> = times.iter().map(|time| (time * 1.7).sin()).collect();
        let is_mean = |layer: &Layer| matches!(layer, Layer::Mean { x: [0.0, 999.0], .. });
        assert!(Summary::of(&values).layers(&times, &values).iter().any(is_mean));
        assert_eq!(Summary::of(&[2.0; 1000]).layers(&times, &[2.0; 1000]).len(), 1);
        assert_eq!(Summary::of(&[1.0, 2.0]).layers(&[0.0, 1.0], &[1.0, 2.0]).len(), 1);
    }

    /// Four groups with the means 1, 2, 3 and 4 have the variance 5/3 and the standard error √(5/12). Of two groups
    /// with the weights 1 and 3 and the means 0 and 4, the mean is 3, and the error is √(2 ((1/4 · 3)² + (3/4 · 1)²)) =
    /// 1.5/√2.
    #[test]
    fn groups_have_the_error_of_their_weighted_mean() {
        let found = standard_error_of_groups(&[1.0, 2.0, 3.0, 4.0], &[7.0; 4]).unwrap();
        assert!((found - (5.0f64 / 12.0).sqrt()).abs() < 1e-12, "{found}");
        let found = standard_error_of_groups(&[0.0, 4.0], &[1.0, 3.0]).unwrap();
        assert!((found - 1.5).abs() < 1e-12, "{found}");
        assert_eq!(standard_error_of_groups(&[1.0], &[1.0]), None);
    }

    #[test]
    fn torsions_have_a_mean_across_the_end_of_their_range() {
        let values: Vec<f64> = (0..100).map(|k| if k % 2 == 0 { 179.0 } else { -177.0 }).collect();
        let found = Summary::of_torsions(&values);
        assert!((found.mean + 179.0).abs() < 1e-9 && (found.deviation - 2.0).abs() < 0.1, "{found:?}");
        assert_eq!(found.range, [-181.0, -177.0]);
        assert_eq!(Summary::of_torsions(&[10.0, 30.0]), Summary::of(&[10.0, 30.0]));
    }
}
