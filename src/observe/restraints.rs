//! `restraints.csv`: one row of numbers per recorded step and collective restraint ([`super::table`]).

use std::fmt::Write as _;

use crate::restraint::RestraintSample;

/// Header line of the table. Restraints are numbered from 1 in the order of their stage.
pub const HEADER: &str = "step,time (ps),stage,restraint,value (nm or rad),center (nm or rad),\
                          force (kJ/mol/nm or kJ/mol/rad),energy (kJ/mol),work (kJ/mol)\n";

/// Appends one row for each restraint in `samples`. The tuple has the step number, the time in ps and the number of
/// the stage.
pub fn write(samples: &[RestraintSample], (step, time, stage): (u64, f64, u32), lines: &mut String) {
    for (index, RestraintSample { value, center, force, energy, work }) in samples.iter().enumerate() {
        // writing to a string does not fail
        let _ = write!(lines, "{step},{time:.6},{stage},{}", index + 1);
        let _ = writeln!(lines, ",{value:.9},{center:.9},{force:.6},{energy:.6},{work:.6}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_restraint_has_its_row() {
        let first = RestraintSample { value: 0.5, center: 0.4, force: -100.0, energy: 5.0, work: -0.25 };
        let mut lines = String::new();
        write(&[first, RestraintSample { center: f64::NAN, ..first }], (20, 0.04, 3), &mut lines);
        let rows: Vec<&str> = lines.lines().collect();
        assert_eq!(rows[0], "20,0.040000,3,1,0.500000000,0.400000000,-100.000000,5.000000,-0.250000");
        assert_eq!(rows[1], "20,0.040000,3,2,0.500000000,NaN,-100.000000,5.000000,-0.250000");
        assert!(rows.iter().all(|row| row.split(',').count() == HEADER.split(',').count()));
    }
}
