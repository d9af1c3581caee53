//! Mean, error and range of a series of values.

use super::findings::{Layer, Number};
use crate::observe::statistics::Statistics;

/// Returns the standard error of the mean of independent values; `None` if there are fewer than two values.
pub(super) fn standard_error(values: &[f64]) -> Option<f64> {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let square = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
    (values.len() > 1).then(|| (square / (count * (count - 1.0))).sqrt())
}

/// Formats a standard error as the text ` ± 0.12`, which is put after a number. `decimals` is the number of decimals.
/// The text is empty if the error is unknown.
pub(super) fn plus_minus(error: Option<f64>, decimals: usize) -> String {
    error.map_or(String::new(), |error| format!(" ± {error:.decimals$}"))
}

/// Mean, fluctuation and range of a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// arithmetic mean
    pub mean: f64,
    /// root mean square deviation from the mean
    pub deviation: f64,
    /// standard error of the mean from block means ([`crate::observe::statistics`]); `None` if there are too few values
    pub error: Option<f64>,
    /// smallest and largest value
    pub range: [f64; 2],
}

impl Summary {
    /// Computes the summary of values at equal intervals of time; NaN if there are no values.
    pub fn of(values: &[f64]) -> Self {
        let mut statistics = Statistics::new([("", "")]);
        values.iter().enumerate().for_each(|(index, &value)| statistics.add(index as f64, &[value]));
        let range = values.iter().fold([f64::INFINITY, f64::NEG_INFINITY], |[a, b], &v| [a.min(v), b.max(v)]);
        let average = &statistics.averages()[0];
        Summary { mean: average.mean, deviation: average.fluctuation, error: average.error, range }
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

    #[test]
    fn pictures_show_means_of_series_that_fluctuate() {
        let times: Vec<f64> = (0..1000).map(f64::from).collect();
        let values: Vec<f64> = times.iter().map(|time| (time * 1.7).sin()).collect();
        let is_mean = |layer: &Layer| matches!(layer, Layer::Mean { x: [0.0, 999.0], .. });
        assert!(Summary::of(&values).layers(&times, &values).iter().any(is_mean));
        assert_eq!(Summary::of(&[2.0; 1000]).layers(&times, &[2.0; 1000]).len(), 1);
        assert_eq!(Summary::of(&[1.0, 2.0]).layers(&[0.0, 1.0], &[1.0, 2.0]).len(), 1);
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
