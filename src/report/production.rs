//! Production stage of a run, which is the last stage of dynamics that has rows in the energy table, and the averages
//! of the columns over this stage.

use super::folder::RunFolder;
use crate::analysis::{EnergyTable, Equilibrated};
use crate::observe::energies::EnergyRecord;
use crate::observe::files::ENERGIES;
use crate::run::{Dynamics, Plan, parts};

/// Production stage of a run, and the averages over the rows of this stage in the energy table.
#[derive(Clone, Debug)]
pub struct Production<'a> {
    /// number of the production stage, from 1
    pub number: u32,
    /// name of the production stage
    pub name: &'a str,
    /// settings of the production stage
    pub dynamics: &'a Dynamics,
    /// whether the production stage is the last stage of dynamics in the plan
    pub is_last: bool,
    /// energy table of the run, with the rows of all stages
    pub record: &'a EnergyRecord,
    /// simulated times of the rows, ps
    pub times: Vec<f64>,
    /// averages of the columns of the energy table; empty if there are too few rows
    pub averages: Vec<ColumnAverage>,
    /// reason why there are no averages; `None` if there are averages
    pub reason: Option<String>,
}

/// Values of a column of the energy table, and their average after equilibration, as `md analyze energies` computes it.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnAverage {
    /// name of the column
    pub name: String,
    /// unit of the column
    pub unit: String,
    /// values of all rows, including the rows before the end of the equilibration, in the unit of the column
    pub values: Vec<f64>,
    /// end of the equilibration, and mean, standard error and number of samples after the equilibration
    pub average: Equilibrated,
}

impl<'a> Production<'a> {
    /// Finds the production stage of a run. Returns `None` if no stage of dynamics has rows in the energy table.
    pub fn of(run: &'a RunFolder) -> Option<Self> {
        let record = run.energies.as_ref()?;
        let stages: Vec<(u32, &str, &Dynamics)> = dynamics(&run.plan).collect();
        let place = stages.iter().rposition(|(number, ..)| record.of_stage(*number).next().is_some())?;
        let (number, name, dynamics) = stages[place];
        let rows: Vec<Vec<f64>> = record.of_stage(number).cloned().collect();
        let times = rows.iter().map(|row| row[EnergyRecord::TIME]).collect();
        let of_stage = EnergyRecord { columns: record.columns.clone(), rows };
        let table = EnergyTable::of(&parts(&run.path, ENERGIES), of_stage);
        let reason = table.as_ref().err().map(ToString::to_string);
        let averages = table.map_or(vec![], |table| averages(&table));
        let is_last = place + 1 == stages.len();
        Some(Production { number, name, dynamics, is_last, record, times, averages, reason })
    }

    /// Returns values and averages of the column `name`; `None` if there is no such column or if there are no averages.
    pub fn column(&self, name: &str) -> Option<&ColumnAverage> {
        self.averages.iter().find(|column| column.name == name)
    }

    /// Returns the values of the column `name` in all rows of the stage, also if there are no averages; `None` if there
    /// is no such column, or if a value is not finite.
    pub fn values(&self, name: &str) -> Option<Vec<f64>> {
        let index = self.record.columns.iter().position(|(column, _)| column == name)?;
        let values: Vec<f64> = self.record.of_stage(self.number).map(|row| row[index]).collect();
        values.iter().all(|value| value.is_finite()).then_some(values)
    }

    /// Returns the simulated time between the first and the last row of the stage, ps.
    pub fn length(&self) -> f64 {
        self.times.last().zip(self.times.first()).map_or(0.0, |(last, first)| last - first)
    }
}

/// Returns number (from 1), name and settings of each stage of dynamics.
pub(super) fn dynamics(plan: &Plan) -> impl Iterator<Item = (u32, &str, &Dynamics)> {
    (1..).zip(&plan.stages).filter_map(|(number, stage)| Some((number, stage.name.as_str(), stage.dynamics()?)))
}

fn averages(table: &EnergyTable) -> Vec<ColumnAverage> {
    let column = |(index, (name, unit)): (usize, &(String, String))| {
        let values = table.values(index);
        // columns that contain NaN, such as temperatures of groups that this stage does not have, are left out
        let is_there = values.iter().all(|value| value.is_finite());
        is_there.then(|| ColumnAverage {
            name: name.clone(),
            unit: unit.clone(),
            average: Equilibrated::detect(&values),
            values,
        })
    };
    table.quantities().iter().enumerate().filter_map(column).collect()
}
