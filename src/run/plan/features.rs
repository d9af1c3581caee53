//! Features of a plan that are not supported on some devices, or on several ranks.

use crate::backend::Feature;
use crate::ensemble::barostat::PressureCoupling;
use crate::run::plan::{Dynamics, Plan, Precision, Stage, StageKind};

impl Plan {
    /// Returns the features of the plan that are not supported on some devices or on several ranks. Each item has the
    /// name of the part of the plan that needs the feature, and the feature.
    pub fn features(&self) -> impl Iterator<Item = (String, Feature)> {
        let precision = (self.run.precision == Precision::Double).then_some(Feature::DoublePrecision);
        let of_run = precision.map(|feature| ("the run".to_owned(), feature));
        let of_stages = self.stages.iter().flat_map(|stage| {
            let name = format!("stage \"{}\"", stage.name);
            of_stage(stage).into_iter().map(move |feature| (name.clone(), feature))
        });
        of_run.into_iter().chain(of_stages)
    }
}

fn of_stage(Stage { kind, position_restraints, restraints, .. }: &Stage) -> Vec<Feature> {
    let mut found = vec![];
    found.extend((!position_restraints.is_empty()).then_some(Feature::PositionRestraints));
    found.extend((!restraints.is_empty()).then_some(Feature::Restraints));
    let StageKind::Dynamics(Dynamics { thermostat, barostat, multiple_time_steps, .. }) = kind else { return found };
    if let Some(thermostat) = thermostat {
        found.push(Feature::Thermostat(thermostat.kind));
        found.extend((!thermostat.groups.is_empty()).then_some(Feature::TemperatureGroups));
    }
    if let Some(barostat) = barostat {
        found.push(Feature::Barostat(barostat.kind));
        found.extend((barostat.coupling != PressureCoupling::Isotropic).then_some(Feature::DirectionalBarostat));
    }
    found.extend(multiple_time_steps.map(|_| Feature::MultipleTimeSteps));
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::{GPU, RANKS};

    #[test]
    fn the_table_of_the_documentation_is_that_of_the_platforms() {
        let mark = |supported: bool| if supported { "yes" } else { "–" };
        let row = |&feature: &Feature| {
            let [gpu, ranks] = [GPU, RANKS].map(|platform| mark(platform.supports(feature)));
            format!("| {} | yes | {gpu} | {ranks} |\n", feature.name())
        };
        let table: String = Feature::all().iter().map(row).collect();
        let page = include_str!("../../../docs/features.md");
        assert!(page.contains(&format!("|---|---|---|---|\n{table}\n")), "docs/features.md needs the table\n{table}");
    }

    #[test]
    fn a_refusal_names_the_user_and_the_platform() {
        let used = [("a", Feature::LjPme), ("b", Feature::ExternalForces)];
        let expected = "b uses external forces, which a run on several ranks does not support";
        assert_eq!(RANKS.refusal(used).as_deref(), Some(expected));
        assert_eq!(RANKS.refusal([("a", Feature::LjPme)]), None);
    }
}
