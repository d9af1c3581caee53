//! Columns of the energy table for temperature groups. Groups of different stages with the same selection share a
//! column.

use crate::run::plan::Plan;

/// Temperature columns of the energy table, and the columns that each stage fills.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::run) struct GroupColumns {
    /// selection of the temperature group of each column (`None` = all atoms outside the other groups), and the name of
    /// the column
    columns: Vec<(Option<String>, String)>,
    /// column indices of the temperature groups of each stage
    of_stages: Vec<Vec<usize>>,
}

impl GroupColumns {
    /// Creates the temperature columns for the groups of all stages. If no thermostat has groups, there are no
    /// temperature columns.
    pub(in crate::run) fn new(plan: &Plan) -> Self {
        let mut found = GroupColumns { columns: vec![], of_stages: vec![vec![]; plan.stages.len()] };
        for (index, stage) in plan.stages.iter().enumerate() {
            let Some(thermostat) = stage.thermostat().filter(|thermostat| !thermostat.groups.is_empty()) else {
                continue;
            };
            let groups = std::iter::once(None).chain(thermostat.selections().map(Some));
            found.of_stages[index] = groups.map(|selection| found.column(selection)).collect();
        }
        found
    }

    /// Returns the names of the temperature columns, in the order of the energy table.
    pub(in crate::run) fn names(&self) -> Vec<String> {
        self.columns.iter().map(|(_, name)| name.clone()).collect()
    }

    /// Writes the group temperatures of the stage with number `stage` (from 1) into `values`, which gets one value for
    /// each column. Columns that the stage does not fill become NaN.
    pub(in crate::run) fn fill(&self, stage: u32, temperatures: &[f64], values: &mut Vec<f64>) {
        values.clear();
        values.resize(self.columns.len(), f64::NAN);
        let columns = self.of_stages.get(stage as usize - 1).into_iter().flatten();
        columns.zip(temperatures).for_each(|(column, temperature)| values[*column] = *temperature);
    }

    /// Returns the index of the temperature column of a selection, and adds a column if the selection is new.
    fn column(&mut self, selection: Option<&str>) -> usize {
        if let Some(found) = self.columns.iter().position(|(known, _)| known.as_deref() == selection) {
            return found;
        }
        let words =
            selection.unwrap_or("rest").split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
        let name = words.fold("temperature".to_owned(), |name, word| name + "_" + word);
        let is_free = |name: &String| self.columns.iter().all(|(_, known)| known != name);
        let numbered = (2..).map(|number| format!("{name}_{number}"));
        let name = std::iter::once(name.clone()).chain(numbered).find(is_free).expect("numbers do not end");
        self.columns.push((selection.map(str::to_owned), name));
        self.columns.len() - 1
    }
}

impl Plan {
    /// Returns the names of the temperature columns that the stage with number `stage` (from 1) fills. The first column
    /// belongs to the atoms outside all groups. The columns of the temperature groups follow, in the order of the
    /// thermostat.
    pub fn group_temperatures(&self, stage: u32) -> Vec<String> {
        let GroupColumns { columns, of_stages } = GroupColumns::new(self);
        let filled = of_stages.get(stage as usize - 1).into_iter().flatten();
        filled.map(|&column| columns[column].1.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ensemble::thermostat::{Thermostat, ThermostatGroup, ThermostatKind};
    use crate::run::plan::stage_output::StageOutput;
    use crate::run::plan::{Dynamics, Stage, StageKind};

    fn stage(selections: &[&str]) -> Stage {
        let group = |select: &&str| ThermostatGroup {
            select: (*select).to_owned(),
            temperature: 300.0.into(),
            coupling_time: 1.0,
        };
        let groups = selections.iter().map(group).collect();
        let thermostat = Thermostat { groups, ..Thermostat::new(ThermostatKind::VRescale, 300.0, 1.0, 10) };
        Stage {
            name: "a".into(),
            kind: StageKind::Dynamics(Dynamics { thermostat: Some(thermostat), ..Dynamics::default() }),
            position_restraints: vec![],
            restraints: vec![],
            frozen: None,
            output: StageOutput::default(),
        }
    }

    #[test]
    fn a_column_for_each_selection_of_any_stage() {
        let stages = vec![
            stage(&[]),
            stage(&["protein and heavy", "resname POPC"]),
            stage(&["resname \"POPC\"", "protein and heavy"]),
        ];
        let plan = Plan { stages, ..Plan::default() };
        let columns = GroupColumns::new(&plan);
        let names = ["rest", "protein_and_heavy", "resname_POPC", "resname_POPC_2"];
        assert_eq!(columns.names(), names.map(|name| format!("temperature_{name}")));
        let values = |stage, temperatures: &[f64]| {
            let mut values = vec![7.0];
            columns.fill(stage, temperatures, &mut values);
            values.iter().map(|value| (!value.is_nan()).then_some(*value)).collect::<Vec<_>>()
        };
        let of_third = ["rest", "resname_POPC_2", "protein_and_heavy"];
        assert_eq!(plan.group_temperatures(3), of_third.map(|name| format!("temperature_{name}")));
        assert_eq!(plan.group_temperatures(1), Vec::<String>::new());
        assert_eq!(values(1, &[]), [None; 4]);
        assert_eq!(values(2, &[1.0, 2.0, 3.0]), [Some(1.0), Some(2.0), Some(3.0), None]);
        assert_eq!(values(3, &[1.0, 2.0, 3.0]), [Some(1.0), Some(3.0), None, Some(2.0)]);
        let one = GroupColumns::new(&Plan { stages: vec![stage(&[])], ..Plan::default() });
        assert_eq!(one.names(), Vec::<String>::new());
    }
}
