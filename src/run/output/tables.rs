//! Reporter that writes a table of a run: the energies, or the collective restraints.

use crate::error::Result;
use crate::observe::energies::{Columns, EnergyRow};
use crate::observe::extent::{Extent, Mark};
use crate::observe::restraints;
use crate::observe::table::Table;
use crate::run::output::check_present;
use crate::run::output::reporter::{Quantities, Report, Reporter, RunInfo};
use crate::run::plan::stage_output::Intervals;
use crate::run::plan::{ENERGIES, RESTRAINTS, StepInfo};

/// Kind of a table: file name, columns and rows.
pub(super) trait Rows: Default + Send {
    /// Name of the table file.
    const NAME: &str;
    /// Quantities that a row of the table needs.
    const WANTED: Quantities;
    /// Sets the columns for a run, and returns the header line.
    fn begin(&mut self, run: &RunInfo<'_>) -> String;
    /// Appends the rows of one step to `lines`.
    fn write(&self, report: &Report<'_>, lines: &mut String);
}

/// Rows of `energies.csv`.
#[derive(Default)]
pub(super) struct EnergyRows {
    columns: Columns,
}

impl Rows for EnergyRows {
    const NAME: &str = ENERGIES;
    const WANTED: Quantities = Quantities { energies: true, ..Quantities::NONE };

    fn begin(&mut self, run: &RunInfo<'_>) -> String {
        self.columns = run.energy_columns();
        EnergyRow::header(&self.columns)
    }

    fn write(&self, report: &Report<'_>, lines: &mut String) {
        if let Some(row) = report.energy_row() {
            row.write(&self.columns, lines);
        }
    }
}

/// Rows of `restraints.csv`: at each recorded step, one row for each collective restraint of the stage.
#[derive(Default)]
pub(super) struct RestraintRows;

impl Rows for RestraintRows {
    const NAME: &str = RESTRAINTS;
    const WANTED: Quantities = Quantities { restraints: true, ..Quantities::NONE };

    fn begin(&mut self, _run: &RunInfo<'_>) -> String {
        restraints::HEADER.to_owned()
    }

    fn write(&self, report: &Report<'_>, lines: &mut String) {
        let StepInfo { step, time, stage, .. } = report.step;
        restraints::write(report.restraints, step, time, stage, lines);
    }
}

/// Reporter that writes one table.
pub(super) struct TableReporter<R> {
    /// interval between rows in each stage; `None` in stages in which no rows are written
    every: Intervals,
    rows: R,
    /// open table; `None` before it is opened and after it is closed
    table: Option<Table>,
}

impl<R: Rows> TableReporter<R> {
    pub(super) fn new(every: Intervals) -> Self {
        Self { every, rows: R::default(), table: None }
    }
}

impl<R: Rows> Reporter for TableReporter<R> {
    fn name(&self) -> &str {
        R::NAME
    }

    fn wants(&self, step: &StepInfo) -> Quantities {
        if self.every.is_due(step) { R::WANTED } else { Quantities::NONE }
    }

    fn report(&mut self, report: &Report<'_>) -> Result<()> {
        let StepInfo { step, stage, .. } = report.step;
        let Some(table) = &mut self.table else { return Ok(()) };
        table.write(step, stage, |lines| self.rows.write(report, lines))
    }

    fn check(&mut self, run: &RunInfo<'_>, checkpointed: Mark) -> Result<()> {
        let path = run.file(R::NAME);
        check_present(&path, checkpointed, "rows")?;
        Table::check(&path, &self.rows.begin(run), checkpointed.extent)
    }

    fn open(&mut self, run: &RunInfo<'_>, checkpointed: Option<Mark>) -> Result<()> {
        let (path, header) = (run.file(R::NAME), self.rows.begin(run));
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
        Table::extent(&run.file(R::NAME), &R::default().begin(run)).is_ok_and(|found| found == extent)
    }
}
