//! Averages of the columns of an energy table.

use super::TableOptions;
use crate::analysis::equilibration::{Equilibrated, inefficiency};
use crate::analysis::findings::{Array, Axis, Findings, Layer, Number, Plot};
use crate::analysis::statistics::{block_error, plus_minus};
use crate::analysis::table::EnergyTable;
use crate::error::Result;

/// Results by column of the table: mean, standard errors from uncorrelated samples (error) and from block averages
/// (block_error), both NaN if there are fewer than 20 independent rows, equilibration (time in ps that is left out),
/// autocorrelation_time (ps), inefficiency
#[derive(Debug, clap::Args)]
pub(super) struct EnergiesOptions {
    /// Use all rows, without detection of equilibration
    #[arg(long)]
    all_rows: bool,
}

impl TableOptions for EnergiesOptions {
    fn findings(&self, table: &EnergyTable) -> Result<Findings> {
        let (quantities, interval, times) = (table.quantities(), table.interval, table.passed().times);
        let count = quantities.len();
        let averages: Vec<Equilibrated> = (0..count).map(|index| self.average(&table.values(index))).collect();
        let of_blocks = |(index, average): (usize, &Equilibrated)| {
            block_error(&table.values(index)[average.start..]).unwrap_or(f64::NAN)
        };
        let block_errors: Vec<f64> = averages.iter().enumerate().map(of_blocks).collect();
        let line = |(average, (name, unit)): (&Equilibrated, &(String, String))| {
            let Equilibrated { start, inefficiency, mean, .. } = average;
            let (error, begin) = (plus_minus(average.known_error(), 5), times[*start]);
            format!("{name:<20} {mean:.5}{error} {unit}, from {begin:.3} ps, inefficiency {inefficiency:.1}")
        };
        let of = |value: fn(&Equilibrated) -> f64| averages.iter().map(value).collect::<Vec<f64>>();
        let number = |name: &'static str, unit: &'static str| {
            let average = &averages[quantities.iter().position(|(quantity, _)| quantity == name)?];
            Some(Number { name, value: average.mean, error: average.known_error(), unit })
        };
        let time = |value: fn(&Equilibrated) -> f64| -> Vec<f64> {
            averages.iter().map(|average| value(average) * interval).collect()
        };
        let text =
            |part: fn(&(String, String)) -> &String| quantities.iter().map(part).cloned().collect::<Vec<String>>();
        let plots = [
            plot(table, &averages, "", "Potential energy", "potential"),
            plot(table, &averages, "temperature", "Temperature", "temperature"),
        ];
        Ok(Findings {
            numbers: [("potential", "kJ/mol"), ("temperature", "K")]
                .into_iter()
                .filter_map(|(name, unit)| number(name, unit))
                .collect(),
            settings: vec![("equilibration", (!self.all_rows).to_string())],
            summary: averages.iter().zip(quantities).map(line).collect(),
            warnings: (0..count).filter_map(|index| undefined(&quantities[index].0, &table.values(index))).collect(),
            plots: plots.into_iter().flatten().collect(),
            arrays: vec![
                Array::new("mean", [("column", count)], of(|average| average.mean), ""),
                Array::new("error", [("column", count)], of(|average| average.known_error().unwrap_or(f64::NAN)), ""),
                Array::new("block_error", [("column", count)], block_errors, ""),
                Array::new("inefficiency", [("column", count)], of(|average| average.inefficiency), ""),
                Array::new("equilibration", [("column", count)], time(|average| average.start as f64), "ps"),
                // the inefficiency is g = 1 + 2 τ, with the autocorrelation time τ in rows
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
            false => Equilibrated::detect(values),
            true => Equilibrated::from(values, 0, inefficiency(values)),
        }
    }
}

/// Returns a warning if some values of a quantity are not finite numbers. A quantity without any finite value is not
/// defined for the system, for example a cell in vacuum.
fn undefined(name: &str, values: &[f64]) -> Option<String> {
    let count = values.iter().filter(|value| !value.is_finite()).count();
    (0 < count && count < values.len()).then(|| {
        let total = values.len();
        format!("{count} of {total} values of {name} are not finite numbers; choose other rows with --begin and --end")
    })
}

/// Returns a picture of a quantity over time; `None` if the table does not have the quantity.
fn plot(table: &EnergyTable, averages: &[Equilibrated], suffix: &'static str, title: &str, name: &str) -> Option<Plot> {
    let index = table.quantities().iter().position(|(quantity, _)| quantity == name)?;
    let (unit, times, average) = (&table.quantities()[index].1, table.passed().times, &averages[index]);
    let series = Layer::line("", &times, &table.values(index));
    let mean = average.known_error().and_then(|error| Layer::mean(&times[average.start..], average.mean, error));
    Some(Plot {
        suffix,
        title: title.to_owned(),
        x: Axis::new("time / ps"),
        y: Axis::new(format!("{} / {}", title.to_lowercase(), unit.replace("/mol", " mol⁻¹"))),
        layers: [series].into_iter().chain(mean).collect(),
    })
}
