//! Averages of the columns of an energy table.

use std::path::PathBuf;

use rayon::prelude::*;

use super::{Input, Options};
use crate::analysis::findings::{Array, Axis, Findings, Layer, Number, Plot};
use crate::analysis::pass::{FrameObserver, Observable, Passed};
use crate::analysis::statistics::Summary;
use crate::compute::Autocorrelation;
use crate::error::{Problem, Result};
use crate::observe::energies::{EnergyRecord, read_energies};
use crate::observe::trajectory::StoredFrame;

/// Results by column of the table: mean, standard errors from uncorrelated samples (error) and from block averages
/// (block_error), equilibration (time in ps that is left out), autocorrelation_time (ps), inefficiency
///
/// The rows of the whole table are used, whatever frames are chosen
#[derive(Debug, clap::Args)]
pub(super) struct EnergiesOptions {
    /// Energy table of a run
    #[arg(long, value_name = "FILE", default_value = "energies.csv")]
    table: PathBuf,
    /// Use all rows of the table, without detection of equilibration
    #[arg(long)]
    all_rows: bool,
}

impl Options for EnergiesOptions {
    fn observable(&self, _: &mut Input<'_>) -> Result<Box<dyn FrameObserver>> {
        let record = read_energies(&self.table)?;
        if record.rows.len() < LEAST_ROWS {
            let message = format!("{} has only {} complete rows", self.table.display(), record.rows.len());
            return Err(Problem::new(message).help(format!("averages need at least {LEAST_ROWS} rows")).into());
        }
        let times = column(&record, TIME_COLUMN);
        let interval = (times[times.len() - 1] - times[0]) / (times.len() - 1) as f64;
        if !times.windows(2).all(|pair| (pair[1] - pair[0] - interval).abs() < 0.01 * interval) {
            let message = format!("the rows of {} are not at equal intervals", self.table.display());
            return Err(Problem::new(message).help("averages need the table of a single stage").into());
        }
        Ok(Box::new(TableAverages { table: self.table.clone(), record, interval, detects: !self.all_rows }))
    }
}

/// Least number of rows of a table.
const LEAST_ROWS: usize = 10;
/// Column of the time, and number of columns before the first quantity: step, time, stage.
const TIME_COLUMN: usize = 1;
const LEADING: usize = 3;
/// Number of times at which equilibration may end, at equal intervals.
const ORIGINS: usize = 200;
/// Number of lags (in rows) at which noise does not end the sum of correlations, as in pymbar.
const LEAST_LAGS: usize = 3;

/// Observable that averages an energy table instead of frames.
struct TableAverages {
    table: PathBuf,
    record: EnergyRecord,
    /// interval between rows, ps
    interval: f64,
    /// whether rows before equilibration are left out
    detects: bool,
}

fn column(record: &EnergyRecord, index: usize) -> Vec<f64> {
    record.rows.iter().map(|row| row[index]).collect()
}

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

impl TableAverages {
    fn averages(&self) -> Vec<Equilibrated> {
        let stride = self.record.rows.len().div_ceil(ORIGINS).max(1);
        let average = |index: usize| {
            let values = column(&self.record, index);
            match self.detects {
                true => Equilibrated::detect(&values, stride),
                false => Equilibrated::from(&values, 0, inefficiency(&values)),
            }
        };
        (LEADING..self.record.columns.len()).map(average).collect()
    }

    fn plot(&self, suffix: &'static str, name: &str, title: &str) -> Option<Plot> {
        let index = self.record.columns.iter().position(|(column, _)| column == name)?;
        let unit = &self.record.columns[index].1;
        let (times, values) = (column(&self.record, TIME_COLUMN), column(&self.record, index));
        Some(Plot {
            suffix,
            title: title.to_owned(),
            x: Axis::new("time / ps"),
            y: Axis::new(format!("{} / {unit}", name.replace('_', " "))),
            layers: vec![Layer::line("", &times, &values)],
        })
    }
}

impl Observable for TableAverages {
    type Sample = ();

    fn measure(&self, _: &StoredFrame) -> Result<Self::Sample> {
        Ok(())
    }

    fn add(&mut self, (): Self::Sample) -> Result<()> {
        Ok(())
    }

    fn finish(&mut self, _: &Passed) -> Result<Findings> {
        let averages = self.averages();
        let count = averages.len();
        let columns = &self.record.columns[LEADING..];
        let block_error = |(index, average): (usize, &Equilibrated)| {
            let values = column(&self.record, LEADING + index);
            Summary::of(&values[average.start..]).error.unwrap_or(f64::NAN)
        };
        let block_errors: Vec<f64> = averages.iter().enumerate().map(block_error).collect();
        let line = |(average, (name, unit)): (&Equilibrated, &(String, String))| {
            let Equilibrated { start, inefficiency, mean, error } = average;
            let left_out = *start as f64 * self.interval;
            format!("{name:<20} {mean:.5} ± {error:.5} {unit}, from {left_out:.3} ps, inefficiency {inefficiency:.1}")
        };
        let of = |value: fn(&Equilibrated) -> f64| averages.iter().map(value).collect::<Vec<f64>>();
        let number = |name: &'static str, unit: &'static str| {
            let average = &averages[columns.iter().position(|(column, _)| column == name)?];
            Some(Number { name, value: average.mean, error: Some(average.error), unit })
        };
        let time = |value: fn(&Equilibrated) -> f64| -> Vec<f64> {
            averages.iter().map(|average| value(average) * self.interval).collect()
        };
        let text = |part: fn(&(String, String)) -> &String| columns.iter().map(part).cloned().collect::<Vec<String>>();
        let plots =
            [self.plot("", "potential", "Potential energy"), self.plot("temperature", "temperature", "Temperature")];
        Ok(Findings {
            numbers: [("potential", "kJ/mol"), ("temperature", "K")]
                .into_iter()
                .filter_map(|(name, unit)| number(name, unit))
                .collect(),
            settings: vec![("table", self.table.display().to_string()), ("equilibration", self.detects.to_string())],
            summary: averages.iter().zip(columns).map(line).collect(),
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
                Array::new("unit", [("column", count)], text(|column| &column.1), ""),
                Array::new("column", [("column", count)], text(|column| &column.0), ""),
            ],
        })
    }
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
