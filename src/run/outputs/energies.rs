//! The reporter that writes the energy table.

use super::check_present;
use crate::error::Result;
use crate::observe::energies::EnergyRow;
use crate::observe::extent::{Extent, Mark};
use crate::observe::table::Table;
use crate::run::plan::{ENERGIES, EnergyOptions};
use crate::run::reporter::{Quantities, Report, Reporter, RunInfo, StepInfo};

/// Writes the rows of `energies.csv`.
pub(super) struct EnergyReporter {
    /// `None` where no rows are asked for
    options: Option<EnergyOptions>,
    table: Option<Table>,
}

impl EnergyReporter {
    pub(super) fn new(options: Option<EnergyOptions>) -> Self {
        Self { options, table: None }
    }
}

impl Reporter for EnergyReporter {
    fn name(&self) -> &str {
        ENERGIES
    }

    fn wants(&self, step: &StepInfo) -> Quantities {
        let energies = self.options.is_some_and(|options| options.every.is_due(step));
        Quantities { energies, ..Quantities::default() }
    }

    fn report(&mut self, report: &Report<'_>) -> Result<()> {
        match (&mut self.table, report.energy_row()) {
            (Some(table), Some(row)) => table.write(row.step, row.stage, |line| row.write(row.cell.is_some(), line)),
            _ => Ok(()),
        }
    }

    fn check(&mut self, run: &RunInfo<'_>, checkpointed: Mark) -> Result<()> {
        let path = run.file(ENERGIES);
        check_present(&path, checkpointed, "rows")?;
        Table::check(&path, &EnergyRow::header(run.periodic), checkpointed.extent)
    }

    fn open(&mut self, run: &RunInfo<'_>, checkpointed: Option<Mark>) -> Result<()> {
        let (path, header) = (run.file(ENERGIES), EnergyRow::header(run.periodic));
        self.table = Some(match checkpointed {
            Some(checkpointed) => Table::append(&path, &header, checkpointed.extent)?,
            None => Table::create(&path, &header)?,
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
        Table::extent(&run.file(ENERGIES), &EnergyRow::header(run.periodic)).is_ok_and(|found| found == extent)
    }
}
