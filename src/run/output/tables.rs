//! Reporter that writes a table of a run: the energies, the collective restraints, or the minimisations.

use crate::error::Result;
use crate::observe::energies::{Columns, EnergyRow};
use crate::observe::extent::{Extent, Mark};
use crate::observe::files::{ENERGIES, MINIMISATION, RESTRAINTS};
use crate::observe::minimisation;
use crate::observe::restraints;
use crate::observe::table::Table;
use crate::run::output::check_present;
use crate::run::output::reporter::{Quantities, Report, Reporter, RunInfo};
use crate::run::plan::StepInfo;
use crate::run::plan::stage_output::Intervals;

/// Kind of a table: file name, columns and rows.
pub(super) struct Kind {
    /// name of the table file
    name: &'static str,
    /// quantities that a row of the table needs
    wanted: Quantities,
    /// function that returns the header line; its argument holds the columns of the energy table
    header: fn(&Columns) -> String,
    /// function that appends the rows of one step to a text
    write: fn(&Report<'_>, &Columns, &mut String),
}

/// The table `energies.csv`.
pub(super) static ENERGY_TABLE: Kind = Kind {
    name: ENERGIES,
    wanted: Quantities { energies: true, ..Quantities::NONE },
    header: EnergyRow::header,
    write: |report, columns, lines| report.energy_row().iter().for_each(|row| row.write(columns, lines)),
};

/// The table `restraints.csv`: at each recorded step, one row for each collective restraint of the stage.
pub(super) static RESTRAINT_TABLE: Kind = Kind {
    name: RESTRAINTS,
    wanted: Quantities { restraints: true, ..Quantities::NONE },
    header: |_| restraints::HEADER.to_owned(),
    write: |Report { step: StepInfo { step, time, stage, .. }, restraints: samples, .. }, _, lines| {
        restraints::write(samples, *step, *time, *stage, lines);
    },
};

/// The table `minimisation.csv`: one row for each step of a minimisation.
pub(super) static MINIMISATION_TABLE: Kind = Kind {
    name: MINIMISATION,
    wanted: Quantities { minimisation: true, ..Quantities::NONE },
    header: |_| minimisation::HEADER.to_owned(),
    write: |Report { step: StepInfo { step, time, stage, .. }, minimisation, .. }, _, lines| {
        minimisation.iter().for_each(|sample| sample.write(*step, *time, *stage, lines));
    },
};

/// Reporter that writes one table.
pub(super) struct TableReporter {
    kind: &'static Kind,
    /// interval between rows in each stage; `None` in stages in which no rows are written
    every: Intervals,
    /// columns of the energy table
    columns: Columns,
    /// open table; `None` before it is opened and after it is closed
    table: Option<Table>,
}

impl TableReporter {
    pub(super) fn new(kind: &'static Kind, every: Intervals) -> Self {
        Self { kind, every, columns: Columns::default(), table: None }
    }
}

impl Reporter for TableReporter {
    fn name(&self) -> &str {
        self.kind.name
    }

    fn wants(&self, step: &StepInfo) -> Quantities {
        if self.every.is_due(step) { self.kind.wanted } else { Quantities::NONE }
    }

    fn report(&mut self, report: &Report<'_>) -> Result<()> {
        let StepInfo { step, stage, .. } = report.step;
        let Some(table) = &mut self.table else { return Ok(()) };
        table.write(step, stage, |lines| (self.kind.write)(report, &self.columns, lines))
    }

    fn check(&mut self, run: &RunInfo<'_>, checkpointed: Mark) -> Result<()> {
        let path = run.file(self.kind.name);
        check_present(&path, checkpointed, "rows")?;
        Table::check(&path, &(self.kind.header)(&run.energy_columns()), checkpointed.extent)
    }

    fn open(&mut self, run: &RunInfo<'_>, checkpointed: Option<Mark>) -> Result<()> {
        self.columns = run.energy_columns();
        let (path, header) = (run.file(self.kind.name), (self.kind.header)(&self.columns));
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
        Table::extent(&run.file(self.kind.name), &(self.kind.header)(&run.energy_columns()))
            .is_ok_and(|found| found == extent)
    }
}
