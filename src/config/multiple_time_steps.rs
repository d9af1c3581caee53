//! Checks of multiple time steps against the rest of the input file.

use super::value::Table;
use crate::error::Problem;
use crate::run::{Plan, StageKind, misplaced};

/// Records a problem for each setting that does not fit multiple time steps. `tables` are the tables of the stages.
pub(super) fn check(plan: &Plan, tables: &[Table], problems: &mut Vec<Problem>) {
    for (stage, table) in plan.stages.iter().zip(tables) {
        if let (StageKind::Dynamics(dynamics), Some(inner)) = (&stage.kind, table.table("multiple_time_steps")) {
            problems.extend(
                misplaced(plan, dynamics, &stage.output)
                    .into_iter()
                    .map(|problem| inner.place("every").problem(problem)),
            );
        }
    }
}
