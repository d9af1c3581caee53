//! Description of a stage in one line: integrator, length, couplings and restraints.

use crate::ensemble::barostat::{Barostat, PressureCoupling};
use crate::ensemble::schedule::Schedule;
use crate::ensemble::thermostat::Thermostat;
use crate::run::plan::{Dynamics, Plan, Stage, StageKind};
use crate::units::Dimension;

/// Describes a stage of `plan` in one line, for `md check` and the log.
pub fn describe_stage(plan: &Plan, stage: &Stage) -> String {
    let mut parts = match &stage.kind {
        StageKind::Minimize(minimize) => vec![format!("minimisation, at most {} steps", minimize.steps)],
        StageKind::Dynamics(dynamics) => of_dynamics(dynamics),
    };
    let (target, steps) = (plan.target(stage.steps()), stage.steps());
    if target < steps {
        parts[0] += &format!(", of which run.max_steps leaves {target} steps");
    }
    parts.extend(stage.position_restraints.iter().map(|one| format!("position restraints: {}", one.select)));
    parts.extend(match stage.restraints.len() {
        0 => None,
        1 => Some("1 restraint".to_owned()),
        count => Some(format!("{count} restraints")),
    });
    parts.extend(stage.frozen.as_ref().map(|select| format!("frozen: {select}")));
    parts.join("; ")
}

fn of_dynamics(stage: &Dynamics) -> Vec<String> {
    let [timestep, duration] = [1.0, stage.steps as f64].map(|steps| Dimension::Time.show(steps * stage.timestep));
    let mut parts = vec![format!("leapfrog, {} steps of {timestep} = {duration}", stage.steps)];
    if let Some(impulses) = stage.multiple_time_steps {
        parts.push(format!("reciprocal space every {} steps", impulses.every));
    }
    parts.push(stage.thermostat.as_ref().map_or_else(|| "no thermostat".to_owned(), of_thermostat));
    parts.push(stage.barostat.as_ref().map_or_else(|| "no barostat".to_owned(), of_barostat));
    parts
}

fn of_thermostat(thermostat: &Thermostat) -> String {
    let kelvin = |temperature: &Schedule| temperature.words(Dimension::Temperature);
    let groups = thermostat.groups.iter().map(|group| format!(", {} {}", group.select, kelvin(&group.temperature)));
    let facts = thermostat.kind.facts();
    let time = facts.key.spell(thermostat.coupling_time);
    format!("{} {} ({time}){}", facts.name, kelvin(&thermostat.temperature), groups.collect::<String>())
}

fn of_barostat(barostat: &Barostat) -> String {
    let [x, y, z] = barostat.pressure.each_ref().map(|pressure| pressure.words(Dimension::Pressure));
    let pressure = if x == y && y == z { x } else { format!("{x}, {y}, {z} along x, y, z") };
    let coupling = match barostat.coupling {
        PressureCoupling::Isotropic => "isotropic".to_owned(),
        PressureCoupling::SemiIsotropic if barostat.surface_tension != 0.0 => {
            format!("semi-isotropic, {}", Dimension::SurfaceTension.spell(barostat.surface_tension))
        }
        PressureCoupling::SemiIsotropic => "semi-isotropic".to_owned(),
        PressureCoupling::Anisotropic => "anisotropic".to_owned(),
    };
    let facts = barostat.kind.facts();
    let time = facts.min_couplings.map(|_| Dimension::Time.spell(barostat.coupling_time) + ", ").unwrap_or_default();
    format!("{} {pressure} ({time}{coupling})", facts.name)
}
