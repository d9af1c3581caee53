//! Energy table of a run, whose columns are analysed.

use std::path::{Path, PathBuf};

use super::pass::{Passed, is_within};
use crate::error::{Problem, Result};
use crate::observe::energies::{EnergyRecord, TableKind, read_energy_parts};

/// Smallest number of rows from which averages are computed.
const LEAST_ROWS: usize = 10;

/// Range of the analysed rows of an energy table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RowRange {
    /// earliest and latest time (ps), both included
    pub times: [f64; 2],
    /// number of the stage, from 1; `None` for the rows of all stages
    pub stage: Option<u32>,
}

impl Default for RowRange {
    fn default() -> Self {
        RowRange { times: [f64::NEG_INFINITY, f64::INFINITY], stage: None }
    }
}

/// Rows of an energy table, at equal intervals of time.
#[derive(Clone, Debug)]
pub struct EnergyTable {
    /// path of the table, or of its last part
    pub path: PathBuf,
    /// interval between rows, ps
    pub interval: f64,
    record: EnergyRecord,
}

impl EnergyTable {
    /// Reads the complete rows in a range from the parts of a table, in the order of time. Fails if there are too few
    /// rows, if the rows are of several stages, or if the intervals between rows differ.
    pub fn open(parts: &[PathBuf], RowRange { times, stage }: RowRange) -> Result<Self> {
        let mut record = read_energy_parts(parts)?;
        let is_of_stage = |row: &Vec<f64>| stage.is_none_or(|stage| row[EnergyRecord::STAGE] == f64::from(stage));
        record.rows.retain(|row| is_within(row[EnergyRecord::TIME], times) && is_of_stage(row));
        // a part has no values in the columns that only other parts have
        let has_values = |column: usize| record.rows.iter().any(|row| !row[column].is_nan());
        let kept: Vec<bool> = (0..record.columns.len()).map(|k| parts.len() == 1 || has_values(k)).collect();
        record.retain_columns(&kept);
        Self::of(parts, record)
    }

    /// Creates the table from rows that were read from `parts`. Fails under the same conditions as
    /// [`EnergyTable::open`].
    pub fn of(parts: &[PathBuf], record: EnergyRecord) -> Result<Self> {
        let path = parts.last().map_or(Path::new(""), PathBuf::as_path);
        let count = record.rows.len();
        if count < LEAST_ROWS {
            let problem = Problem::new(format!("there are only {count} complete rows to analyse")).in_file(path);
            return Err(problem.help(format!("averages need at least {LEAST_ROWS} rows")).into());
        }
        let stage_of = |row: usize| record.rows[row][EnergyRecord::STAGE];
        if stage_of(0) != stage_of(count - 1) {
            let stages = format!("{} to {}", stage_of(0), stage_of(count - 1));
            let problem = Problem::new(format!("the rows are of several stages, {stages}")).in_file(path);
            return Err(problem.help("choose the rows of one stage with --stage").into());
        }
        let times: Vec<f64> = record.rows.iter().map(|row| row[EnergyRecord::TIME]).collect();
        let interval = (times[count - 1] - times[0]) / (count - 1) as f64;
        // times in the file have six decimals
        let is_equal = |pair: &[f64]| (pair[1] - pair[0] - interval).abs() <= 0.01 * interval.abs();
        if interval <= 0.0 || !times.windows(2).all(is_equal) {
            let problem = Problem::new("the rows of the table are not at equal intervals of time").in_file(path);
            let help = match record.kind() {
                TableKind::Energies => "choose a part with rows at equal intervals with --begin and --end",
                TableKind::Restraints | TableKind::Minimisations => {
                    "`md info` describes the rows of each restraint, and of each minimisation"
                }
            };
            return Err(problem.help(help).into());
        }
        Ok(EnergyTable { path: path.to_owned(), interval, record })
    }

    /// Returns the names and the units of all quantities.
    pub fn quantities(&self) -> &[(String, String)] {
        &self.record.columns[EnergyRecord::FIRST..]
    }

    /// Returns the values of a quantity by its index in [`EnergyTable::quantities`].
    pub fn values(&self, quantity: usize) -> Vec<f64> {
        self.column(EnergyRecord::FIRST + quantity)
    }

    /// Returns the values of a quantity by its name; `None` if the table does not have the quantity.
    pub fn named(&self, name: &str) -> Option<Vec<f64>> {
        self.quantities().iter().position(|(quantity, _)| quantity == name).map(|index| self.values(index))
    }

    /// Returns the steps and the times of the rows.
    pub fn passed(&self) -> Passed {
        let steps = self.column(EnergyRecord::STEP).into_iter().map(|step| step as i64).collect();
        Passed { steps, times: self.column(EnergyRecord::TIME), ..Passed::default() }
    }

    fn column(&self, index: usize) -> Vec<f64> {
        self.record.rows.iter().map(|row| row[index]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes an energy table with the given stages and times.
    fn table(rows: impl Iterator<Item = (u32, f64)>) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().unwrap();
        let rows: String = rows.map(|(stage, time)| format!("{},{time},{stage},{}\n", time * 500.0, -time)).collect();
        std::fs::write(file.path(), format!("step,time (ps),stage,bond (kJ/mol)\n{rows}")).unwrap();
        file
    }

    #[test]
    fn rows_of_one_stage_are_read() {
        let rows = || (0..20).map(|row| (2, f64::from(row)));
        let two_stages = table(rows().chain((0..=20).map(|row| (3, 20.0 + f64::from(row)))));
        let open = |range| EnergyTable::open(&[two_stages.path().to_owned()], range);
        let error = open(RowRange::default()).unwrap_err().to_string();
        assert!(error.contains("several stages, 2 to 3"), "{error}");
        let unequal = table(rows().chain([(2, 19.1)]));
        let error = EnergyTable::open(&[unequal.path().to_owned()], RowRange::default()).unwrap_err().to_string();
        assert!(error.contains("equal intervals"), "{error}");
        let first = open(RowRange { stage: Some(2), ..RowRange::default() }).unwrap();
        assert_eq!(open(RowRange { stage: Some(3), ..RowRange::default() }).unwrap().passed().times.len(), 21);
        assert_eq!((first.interval, first.passed().steps[19]), (1.0, 9500));
        assert_eq!(first.named("bond"), Some((0..20).map(|time| -f64::from(time)).collect()));
        assert_eq!(first.named("angle"), None);
        let error = open(RowRange { times: [0.0, 8.0], stage: None }).unwrap_err().to_string();
        assert!(error.contains("only 9 complete rows"), "{error}");
    }
}
