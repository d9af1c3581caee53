//! Checks of the intervals in a plan with multiple time steps. Energies can be written, and couplings can act, only at
//! steps with an impulse.

use crate::error::Problem;
use crate::observe::files::ENERGIES;
use crate::observe::trajectory::Format;
use crate::run::plan::stage_output::StageOutput;
use crate::run::plan::{Dynamics, ElectrostaticsSpec, Plan};

/// Returns a problem for each interval in a stage that is not a multiple of the interval between impulses. Also returns
/// a problem if the electrostatics method is not PME. `output` has the output settings of the stage. Returns an empty
/// list for a stage without multiple time steps.
pub fn misplaced(plan: &Plan, dynamics: &Dynamics, output: &StageOutput) -> Vec<Problem> {
    let Some(every) = dynamics.multiple_time_steps.map(|steps| u64::from(steps.every)) else { return vec![] };
    let mut problems = vec![];
    if !matches!(plan.forces.electrostatics, ElectrostaticsSpec::Pme(_)) {
        let message = "multiple_time_steps needs PME, because only reciprocal-space forces act as impulses";
        problems.push(Problem::new(message).help("set electrostatics = \"pme\", or remove multiple_time_steps"));
    }
    for (what, steps) in intervals(plan, dynamics, output).into_iter().filter(|(_, steps)| !steps.is_multiple_of(every))
    {
        let message =
            format!("multiple_time_steps: {what} is {steps} steps, which is not a multiple of every = {every}");
        let above = steps.next_multiple_of(every);
        let below = if above > every { format!("{} or ", above - every) } else { String::new() };
        let help = format!(
            "use {below}{above} steps, because energies, pressure and all forces are known only at \
             steps with an impulse"
        );
        problems.push(Problem::new(message).help(help));
    }
    problems
}

/// Returns name and length, in steps, of each interval that must be a multiple of the interval between impulses: the
/// length of the stage, and the intervals of outputs and couplings.
fn intervals(plan: &Plan, dynamics: &Dynamics, output: &StageOutput) -> Vec<(String, u64)> {
    let mut found = vec![("the length of the stage".to_owned(), dynamics.steps)];
    let measures = |file: &str| Format::of_name(file).is_ok_and(|format| format.holds.observables);
    let trajectories = plan.output.trajectories.iter().filter(|options| options.forces || measures(&options.file));
    for name in [ENERGIES].into_iter().chain(trajectories.map(|options| options.file.as_str())) {
        let every = output.interval(&plan.output, name);
        found.extend(every.map(|every| (format!("the interval of {name}"), every.steps(dynamics.timestep))));
    }
    let rescaling = dynamics.thermostat.as_ref().filter(|thermostat| !thermostat.kind.facts().refreshes);
    found.extend(rescaling.map(|thermostat| ("thermostat.every".to_owned(), u64::from(thermostat.every))));
    found.extend(dynamics.barostat.as_ref().map(|barostat| ("barostat.every".to_owned(), u64::from(barostat.every))));
    found
}
