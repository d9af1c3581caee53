//! Energy table of a run, whose columns are analysed.

use std::path::{Path, PathBuf};

use super::pass::Passed;
use crate::error::{Problem, Result};
use crate::observe::energies::{EnergyRecord, read_energies};

/// Least number of rows of which averages are formed.
const LEAST_ROWS: usize = 10;
/// Columns of the step and of the time, and number of columns before the first quantity: step, time, stage.
const STEP: usize = 0;
const TIME: usize = 1;
const LEADING: usize = 3;

/// Rows of an energy table at equal intervals of time.
#[derive(Clone, Debug)]
pub struct EnergyTable {
    /// path of the table
    pub path: PathBuf,
    /// interval between rows, ps
    pub interval: f64,
    record: EnergyRecord,
}

impl EnergyTable {
    /// Reads the complete rows between two times (ps), both included. Fails if the rows are few, or if their intervals
    /// differ, as in the table of several stages.
    pub fn open(path: &Path, [from, to]: [f64; 2]) -> Result<Self> {
        let mut record = read_energies(path)?;
        record.rows.retain(|row| row[TIME] >= from && row[TIME] <= to);
        let count = record.rows.len();
        if count < LEAST_ROWS {
            let problem = Problem::new(format!("there are only {count} complete rows to analyse")).in_file(path);
            return Err(problem.help(format!("averages need at least {LEAST_ROWS} rows")).into());
        }
        let times: Vec<f64> = record.rows.iter().map(|row| row[TIME]).collect();
        let interval = (times[count - 1] - times[0]) / (count - 1) as f64;
        // times have six decimals
        let is_equal = |pair: &[f64]| (pair[1] - pair[0] - interval).abs() <= 0.01 * interval.abs();
        if interval <= 0.0 || !times.windows(2).all(is_equal) {
            let problem = Problem::new("the rows of the table are not at equal intervals of time").in_file(path);
            return Err(problem.help("choose the rows of one stage with --begin and --end").into());
        }
        Ok(EnergyTable { path: path.to_owned(), interval, record })
    }

    /// Returns the names and the units of all quantities.
    pub fn quantities(&self) -> &[(String, String)] {
        &self.record.columns[LEADING..]
    }

    /// Returns the values of a quantity by its index in [`EnergyTable::quantities`].
    pub fn values(&self, quantity: usize) -> Vec<f64> {
        self.column(LEADING + quantity)
    }

    /// Returns the values of a quantity by its name; `None` if the table does not have the quantity.
    pub fn named(&self, name: &str) -> Option<Vec<f64>> {
        self.quantities().iter().position(|(quantity, _)| quantity == name).map(|index| self.values(index))
    }

    /// Returns the steps and the times of the rows.
    pub fn passed(&self) -> Passed {
        let steps = self.column(STEP).into_iter().map(|step| step as i64).collect();
        Passed { steps, times: self.column(TIME) }
    }

    fn column(&self, index: usize) -> Vec<f64> {
        self.record.rows.iter().map(|row| row[index]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(rows: impl Iterator<Item = f64>) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().unwrap();
        let rows: String = rows.map(|time| format!("{},{time},2,{}\n", time * 500.0, -time)).collect();
        std::fs::write(file.path(), format!("step,time (ps),stage,bond (kJ/mol)\n{rows}")).unwrap();
        file
    }

    #[test]
    fn rows_of_one_stage_are_read() {
        let two_stages = table((0..20).map(f64::from).chain((1..=20).map(|row| 19.0 + 0.1 * f64::from(row))));
        let all = [f64::NEG_INFINITY, f64::INFINITY];
        let error = EnergyTable::open(two_stages.path(), all).unwrap_err().to_string();
        assert!(error.contains("equal intervals"), "{error}");
        let first = EnergyTable::open(two_stages.path(), [0.0, 19.0]).unwrap();
        assert_eq!((first.interval, first.passed().steps[19]), (1.0, 9500));
        assert_eq!(first.named("bond"), Some((0..20).map(|time| -f64::from(time)).collect()));
        assert_eq!(first.named("angle"), None);
        let error = EnergyTable::open(two_stages.path(), [0.0, 8.0]).unwrap_err().to_string();
        assert!(error.contains("only 9 complete rows"), "{error}");
    }
}
