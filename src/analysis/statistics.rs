//! Mean, error and range of a series of values.

use super::findings::Number;
use crate::observe::statistics::Statistics;

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
    /// Summarises values at equal intervals; NaN if there are none.
    pub fn of(values: &[f64]) -> Self {
        let mut statistics = Statistics::new([("", "")]);
        values.iter().enumerate().for_each(|(index, &value)| statistics.add(index as f64, &[value]));
        let range = values.iter().fold([f64::INFINITY, f64::NEG_INFINITY], |[a, b], &v| [a.min(v), b.max(v)]);
        let average = &statistics.averages()[0];
        Summary { mean: average.mean, deviation: average.fluctuation, error: average.error, range }
    }

    /// Returns the mean as a single result.
    pub fn number(&self, name: &'static str, unit: &'static str) -> Number {
        Number { name, value: self.mean, error: self.error, unit }
    }

    /// Returns lines for the user.
    pub fn lines(&self, unit: &str) -> Vec<String> {
        let Summary { mean, deviation, error, range: [least, largest] } = self;
        let error = error.map_or(String::new(), |error| format!(" ± {error:.5}"));
        vec![
            format!("mean         {mean:.5}{error} {unit}, standard deviation {deviation:.5} {unit}"),
            format!("range        {least:.5} to {largest:.5} {unit}"),
        ]
    }
}
