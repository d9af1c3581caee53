//! The table `restraints.csv`: one row of numbers per recorded step and collective restraint ([`super::table`]).

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::table::join;
use crate::error::{Error, Problem, Result};
use crate::format::file;
use crate::restraint::RestraintSample;

/// Header line of the table of restraints. Restraints are numbered from 1 in the order in which their stage lists them.
pub const HEADER: &str = "step,time (ps),stage,restraint,value (nm or rad),center (nm or rad),\
                          force (kJ/mol/nm or kJ/mol/rad),energy (kJ/mol),work (kJ/mol)\n";

/// Appends one row for each restraint in `samples` to `lines`. `time` is in ps.
pub fn write(samples: &[RestraintSample], step: u64, time: f64, stage: u32, lines: &mut String) {
    for (index, RestraintSample { value, center, force, energy, work }) in samples.iter().enumerate() {
        // writing to a string does not fail
        let _ = write!(lines, "{step},{time:.6},{stage},{}", index + 1);
        let _ = writeln!(lines, ",{value:.9},{center:.9},{force:.6},{energy:.6},{work:.6}");
    }
}

/// Row of the table of restraints.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RestraintRow {
    /// simulated time, ps
    pub time: f64,
    /// number of the stage, from 1
    pub stage: u32,
    /// number of the restraint in its stage, from 1
    pub restraint: u32,
    /// value, center, energy and work of the restraint
    pub sample: RestraintSample,
}

/// Reads the complete rows of a table of restraints that a run has written or is writing. `parts` are the parts of the
/// table in the order of time.
pub fn read_restraints(parts: &[PathBuf]) -> Result<Vec<RestraintRow>> {
    join(parts, read_part, |row| [f64::from(row.stage), row.time])
}

fn read_part(path: &Path) -> Result<Vec<RestraintRow>> {
    let text = file::text(path).map_err(|error| Error::io(path, error))?;
    let mut lines = text.split_inclusive('\n').filter(|line| line.ends_with('\n')).map(str::trim_end);
    if lines.next() != Some(HEADER.trim_end()) {
        return Err(Problem::new("the file is not a table of restraints of md").in_file(path).at_line(1).into());
    }
    let rows = lines.enumerate().map(|(index, line)| {
        let problem = || Problem::new("expected nine numbers in the row").in_file(path).at_line(index + 2);
        parse(line).ok_or_else(problem)
    });
    Ok(rows.collect::<std::result::Result<_, Problem>>()?)
}

fn parse(line: &str) -> Option<RestraintRow> {
    let fields: Vec<&str> = line.split(',').collect();
    let [_, time, stage, restraint, numbers @ ..] = fields.as_slice() else { return None };
    let numbers: Option<Vec<f64>> = numbers.iter().map(|text| text.parse().ok()).collect();
    let [value, center, force, energy, work] = numbers?[..] else { return None };
    let sample = RestraintSample { value, center, force, energy, work };
    Some(RestraintRow {
        time: time.parse().ok()?,
        stage: stage.parse().ok()?,
        restraint: restraint.parse().ok()?,
        sample,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_restraint_has_its_row() {
        let first = RestraintSample { value: 0.5, center: 0.4, force: -100.0, energy: 5.0, work: -0.25 };
        let mut lines = String::new();
        write(&[first, RestraintSample { center: f64::NAN, ..first }], 20, 0.04, 3, &mut lines);
        let rows: Vec<&str> = lines.lines().collect();
        assert_eq!(rows[0], "20,0.040000,3,1,0.500000000,0.400000000,-100.000000,5.000000,-0.250000");
        assert_eq!(rows[1], "20,0.040000,3,2,0.500000000,NaN,-100.000000,5.000000,-0.250000");
        assert!(rows.iter().all(|row| row.split(',').count() == HEADER.split(',').count()));
    }

    #[test]
    fn rows_are_read_as_they_were_written() {
        let sample = RestraintSample { value: 0.5, center: 0.4, force: -100.0, energy: 5.0, work: -0.25 };
        let mut text = HEADER.to_owned();
        write(&[sample, sample], 20, 0.04, 3, &mut text);
        let file = tempfile::NamedTempFile::new().unwrap();
        // an incomplete last row, which the run is still writing, is left out
        std::fs::write(file.path(), text.clone() + "30,0.06,3,1,0.5").unwrap();
        let row = RestraintRow { time: 0.04, stage: 3, restraint: 1, sample };
        assert_eq!(read_restraints(&[file.path().to_owned()]).unwrap(), [row, RestraintRow { restraint: 2, ..row }]);
        std::fs::write(file.path(), text + "30,0.06,3,1,0.5\n").unwrap();
        let error = read_restraints(&[file.path().to_owned()]).unwrap_err().to_string();
        assert!(error.contains("expected nine numbers"), "{error}");
    }
}
