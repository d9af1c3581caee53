//! The reporter that writes the table of collective restraints.

use crate::error::Result;
use crate::observe::extent::{Extent, Mark};
use crate::observe::restraints::{HEADER, write};
use crate::observe::table::Table;
use crate::run::output::check_present;
use crate::run::output::reporter::{Quantities, Report, Reporter, RunInfo};
use crate::run::plan::stage_output::Intervals;
use crate::run::plan::{RESTRAINTS, StepInfo};

/// Writes the rows of `restraints.csv`.
pub(super) struct RestraintReporter {
    /// intervals between rows; `None` in stages without restraints
    every: Intervals,
    table: Option<Table>,
}

impl RestraintReporter {
    pub(super) fn new(every: Intervals) -> Self {
        Self { every, table: None }
    }
}

impl Reporter for RestraintReporter {
    fn name(&self) -> &str {
        RESTRAINTS
    }

    fn wants(&self, step: &StepInfo) -> Quantities {
        Quantities { restraints: self.every.is_due(step), ..Quantities::default() }
    }

    fn report(&mut self, report: &Report<'_>) -> Result<()> {
        let StepInfo { step, time, stage, .. } = report.step;
        match &mut self.table {
            Some(table) => table.write(step, stage, |lines| write(report.restraints, (step, time, stage), lines)),
            None => Ok(()),
        }
    }

    fn check(&mut self, run: &RunInfo<'_>, checkpointed: Mark) -> Result<()> {
        let path = run.file(RESTRAINTS);
        check_present(&path, checkpointed, "rows")?;
        Table::check(&path, HEADER, checkpointed.extent)
    }

    fn open(&mut self, run: &RunInfo<'_>, checkpointed: Option<Mark>) -> Result<()> {
        let path = run.file(RESTRAINTS);
        self.table = Some(match checkpointed {
            Some(checkpointed) => Table::append(&path, HEADER, checkpointed.extent)?,
            None => Table::create(&path, HEADER)?,
        });
        Ok(())
    }

    fn sync(&mut self) -> Result<Option<Mark>> {
        let Some(table) = &mut self.table else { return Ok(None) };
        Ok(Some(Mark { extent: table.sync()?, last_step: None }))
    }

    fn close(&mut self) -> Result<Option<Mark>> {
        let mark = self.sync()?;
        self.table = None;
        Ok(mark)
    }

    fn is_complete(&self, run: &RunInfo<'_>, extent: Extent) -> bool {
        Table::extent(&run.file(RESTRAINTS), HEADER).is_ok_and(|found| found == extent)
    }
}
