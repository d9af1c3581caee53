//! The table `minimisation.csv`: one row of numbers for each step of a minimisation ([`super::table`]).

use std::fmt::Write as _;

/// Header line of the table.
pub const HEADER: &str = "step,time (ps),stage,potential (kJ/mol),largest_force (kJ/mol/nm),atom\n";

/// Lowest energy that a minimisation has found until a step, and the largest force at the positions with this energy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MinimisationSample {
    /// potential energy, kJ/mol
    pub energy: f64,
    /// largest force on any atom, without the components that constraints forbid, kJ/mol/nm
    pub force: f64,
    /// index of the atom with the largest force
    pub atom: usize,
}

impl MinimisationSample {
    /// Appends the row to `lines` as text. `step` is the number of steps since the start of the stage, `time` is the
    /// simulated time (ps) at this start, and `stage` is the number of the stage, from 1. Atoms count from 1, as in the
    /// log.
    pub fn write(&self, step: u64, time: f64, stage: u32, lines: &mut String) {
        let MinimisationSample { energy, force, atom } = self;
        // writing to a string does not fail
        let _ = writeln!(lines, "{step},{time:.6},{stage},{energy:.9e},{force:.6e},{}", atom + 1);
    }
}
