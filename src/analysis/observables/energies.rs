//! Averages of the columns of an energy table.

use rayon::prelude::*;

use super::TableOptions;
use crate::analysis::findings::{Array, Axis, Findings, Layer, Number, Plot};
use crate::analysis::statistics::Summary;
use crate::analysis::table::EnergyTable;
use crate::compute::Autocorrelation;
use crate::error::Result;

/// Results by column of the table: mean, standard errors from uncorrelated samples (error) and from block averages
/// (block_error), equilibration (time in ps that is left out), autocorrelation_time (ps), inefficiency
#[derive(Debug, clap::Args)]
pub(super) struct EnergiesOptions {
    /// Use all rows, without detection of equilibration
    #[arg(long)]
    all_rows: bool,
}

/// Number of times at which equilibration may end, at equal intervals.
const ORIGINS: usize = 200;
/// Number of lags (in rows) at which noise does not end the sum of correlations, as in pymbar.
const LEAST_LAGS: usize = 3;

/// Statistical inefficiency g = 1 + 2 Σ (1 − t/N) C(t) of a series, with its normalised autocorrelation C: the number
/// of correlated samples that count as one (Chodera, Swope, Pitera, Seok & Dill, J. Chem. Theory Comput. 3, 26
/// (2007), doi:10.1021/ct0502864). The sum ends where C becomes zero. At least 1; 1 for a constant series.
fn inefficiency(values: &[f64]) -> f64 {
    let count = values.len();
    let mean = values.iter().sum::<f64>() / count as f64;
    let mut sums = vec![0.0; count];
    Autocorrelation::new(count).add(values.iter().map(|value| value - mean), &mut sums);
    let largest = values.iter().fold(0.0f64, |largest, value| largest.max(value.abs()));
    if sums[0] <= count as f64 * (f64::EPSILON * largest).powi(2) {
        return 1.0;
    }
    let variance = sums[0] / count as f64;
    let mut sum = 1.0;
    for lag in 1..count.saturating_sub(1) {
        let correlation = sums[lag] / ((count - lag) as f64 * variance);
        if correlation <= 0.0 && lag > LEAST_LAGS {
            break;
        }
        sum += 2.0 * correlation * (1.0 - lag as f64 / count as f64);
    }
    sum.max(1.0)
}

/// Averages of a series after equilibration.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Equilibrated {
    /// first row that is averaged
    start: usize,
    inefficiency: f64,
    mean: f64,
    /// standard error of the mean
    error: f64,
}

impl Equilibrated {
    /// Averages the values from `start` on.
    fn from(values: &[f64], start: usize, inefficiency: f64) -> Self {
        let values = &values[start..];
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0).max(1.0);
        Equilibrated { start, inefficiency, mean, error: (variance * inefficiency / count).sqrt() }
    }

    /// Detects the end of equilibration: the start, among every `stride`-th row, for which the number of uncorrelated
    /// samples is largest (Chodera, J. Chem. Theory Comput. 12, 1799 (2016), doi:10.1021/acs.jctc.5b00784).
    fn detect(values: &[f64], stride: usize) -> Self {
        let count = values.len();
        let starts: Vec<usize> = (0..count.saturating_sub(LEAST_LAGS)).step_by(stride).collect();
        let number = |&start: &usize| {
            let inefficiency = inefficiency(&values[start..]);
            ((count - start + 1) as f64 / inefficiency, start, inefficiency)
        };
        let found = starts.par_iter().map(number).max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
        let (_, start, inefficiency) = found.unwrap_or((0.0, 0, 1.0));
        Self::from(values, start, inefficiency)
    }
}

impl TableOptions for EnergiesOptions {
    fn findings(&self, table: &EnergyTable) -> Result<Findings> {
        let (quantities, interval) = (table.quantities(), table.interval);
        let count = quantities.len();
        let averages: Vec<Equilibrated> = (0..count).map(|index| self.average(&table.values(index))).collect();
        let block_error = |(index, average): (usize, &Equilibrated)| {
            Summary::of(&table.values(index)[average.start..]).error.unwrap_or(f64::NAN)
        };
        let block_errors: Vec<f64> = averages.iter().enumerate().map(block_error).collect();
        let line = |(average, (name, unit)): (&Equilibrated, &(String, String))| {
            let Equilibrated { start, inefficiency, mean, error } = average;
            let left_out = *start as f64 * interval;
            format!("{name:<20} {mean:.5} ± {error:.5} {unit}, from {left_out:.3} ps, inefficiency {inefficiency:.1}")
        };
        let of = |value: fn(&Equilibrated) -> f64| averages.iter().map(value).collect::<Vec<f64>>();
        let number = |name: &'static str, unit: &'static str| {
            let average = &averages[quantities.iter().position(|(quantity, _)| quantity == name)?];
            Some(Number { name, value: average.mean, error: Some(average.error), unit })
        };
        let time = |value: fn(&Equilibrated) -> f64| -> Vec<f64> {
            averages.iter().map(|average| value(average) * interval).collect()
        };
        let text =
            |part: fn(&(String, String)) -> &String| quantities.iter().map(part).cloned().collect::<Vec<String>>();
        let plots = [
            plot(table, "", "potential", "Potential energy"),
            plot(table, "temperature", "temperature", "Temperature"),
        ];
        Ok(Findings {
            numbers: [("potential", "kJ/mol"), ("temperature", "K")]
                .into_iter()
                .filter_map(|(name, unit)| number(name, unit))
                .collect(),
            settings: vec![("equilibration", (!self.all_rows).to_string())],
            summary: averages.iter().zip(quantities).map(line).collect(),
            plots: plots.into_iter().flatten().collect(),
            arrays: vec![
                Array::new("mean", [("column", count)], of(|average| average.mean), ""),
                Array::new("error", [("column", count)], of(|average| average.error), ""),
                Array::new("block_error", [("column", count)], block_errors, ""),
                Array::new("inefficiency", [("column", count)], of(|average| average.inefficiency), ""),
                Array::new("equilibration", [("column", count)], time(|average| average.start as f64), "ps"),
                // g = 1 + 2 τ for the autocorrelation time τ in rows
                Array::new(
                    "autocorrelation_time",
                    [("column", count)],
                    time(|average| 0.5 * (average.inefficiency - 1.0)),
                    "ps",
                ),
                Array::new("unit", [("column", count)], text(|quantity| &quantity.1), ""),
                Array::new("column", [("column", count)], text(|quantity| &quantity.0), ""),
            ],
        })
    }
}

impl EnergiesOptions {
    fn average(&self, values: &[f64]) -> Equilibrated {
        match self.all_rows {
            false => Equilibrated::detect(values, values.len().div_ceil(ORIGINS).max(1)),
            true => Equilibrated::from(values, 0, inefficiency(values)),
        }
    }
}

/// Returns a picture of a quantity over time; `None` if the table does not have the quantity.
fn plot(table: &EnergyTable, suffix: &'static str, name: &str, title: &str) -> Option<Plot> {
    let values = table.named(name)?;
    let unit = &table.quantities().iter().find(|(quantity, _)| quantity == name)?.1;
    Some(Plot {
        suffix,
        title: title.to_owned(),
        x: Axis::new("time / ps"),
        y: Axis::new(format!("{} / {unit}", name.replace('_', " "))),
        layers: vec![Layer::line("", &table.passed().times, &values)],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four values of 1 and four of −1: C(1) = 5/7, C(2) = 2/6, C(3) = −1/5, C(4) = −1, at which the sum ends. Then
    /// g = 1 + 2 (5/8 + 2/8 − 1/8) = 2.5. An alternating series is anticorrelated.
    #[test]
    fn inefficiency_of_short_series() {
        let found = inefficiency(&[1.0, 1.0, 1.0, 1.0, -1.0, -1.0, -1.0, -1.0]);
        // rounding of an FFT
        assert!((found - 2.5).abs() < 1e-12, "{found}");
        let alternating: Vec<f64> = (0..50).map(|i| f64::from(i % 2)).collect();
        assert_eq!(inefficiency(&alternating), 1.0);
        assert_eq!(inefficiency(&[300.1; 20]), 1.0);
    }

    /// After 20 rows the series alternates between 0 and 1, so that all 100 other rows are uncorrelated: their mean is
    /// 1/2, and their variance 100 · ¼/99.
    #[test]
    fn equilibration_is_left_out() {
        let series: Vec<f64> = (0..120).map(|i| f64::from(i % 2) + f64::from((20 - i).max(0))).collect();
        let found = Equilibrated::detect(&series, 1);
        assert!(found.start.abs_diff(20) <= 2 && found.inefficiency < 1.05, "{found:?}");
        let found = Equilibrated::from(&series, 20, 1.0);
        assert!((found.mean - 0.5).abs() < 1e-15 && (found.error - (0.25f64 / 99.0).sqrt()).abs() < 1e-15, "{found:?}");
    }
}
