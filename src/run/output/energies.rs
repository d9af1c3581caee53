//! The reporter that writes the energy table.

use crate::error::Result;
use crate::observe::energies::{Columns, EnergyRow};
use crate::observe::extent::{Extent, Mark};
use crate::observe::table::Table;
use crate::run::output::check_present;
use crate::run::output::reporter::{Quantities, Report, Reporter, RunInfo};
use crate::run::plan::stage_output::Intervals;
use crate::run::plan::{ENERGIES, StepInfo};

/// Writes the rows of `energies.csv`.
pub(super) struct EnergyReporter {
    every: Intervals,
    /// the open table with its columns; `None` while the file is closed
    table: Option<(Table, Columns)>,
}

impl EnergyReporter {
    pub(super) fn new(every: Intervals) -> Self {
        Self { every, table: None }
    }
}

impl Reporter for EnergyReporter {
    fn name(&self) -> &str {
        ENERGIES
    }

    fn wants(&self, step: &StepInfo) -> Quantities {
        Quantities { energies: self.every.is_due(step), ..Quantities::default() }
    }

    fn report(&mut self, report: &Report<'_>) -> Result<()> {
        match (&mut self.table, report.energy_row()) {
            (Some((table, columns)), Some(row)) => table.write(row.step, row.stage, |line| row.write(columns, line)),
            _ => Ok(()),
        }
    }

    fn check(&mut self, run: &RunInfo<'_>, checkpointed: Mark) -> Result<()> {
        let path = run.file(ENERGIES);
        check_present(&path, checkpointed, "rows")?;
        Table::check(&path, &EnergyRow::header(&run.energy_columns()), checkpointed.extent)
    }

    fn open(&mut self, run: &RunInfo<'_>, checkpointed: Option<Mark>) -> Result<()> {
        let (path, columns) = (run.file(ENERGIES), run.energy_columns());
        let header = EnergyRow::header(&columns);
        let table = match checkpointed {
            Some(checkpointed) => Table::append(&path, &header, checkpointed.extent)?,
            None => Table::create(&path, &header)?,
        };
        self.table = Some((table, columns));
        Ok(())
    }

    fn sync(&mut self) -> Result<Option<Mark>> {
        let Some((table, _)) = &mut self.table else { return Ok(None) };
        Ok(Some(Mark { extent: table.sync()?, last_step: None }))
    }

    fn close(&mut self) -> Result<Option<Mark>> {
        let mark = self.sync()?;
        self.table = None;
        Ok(mark)
    }

    fn is_complete(&self, run: &RunInfo<'_>, extent: Extent) -> bool {
        Table::extent(&run.file(ENERGIES), &EnergyRow::header(&run.energy_columns())).is_ok_and(|found| found == extent)
    }
}
