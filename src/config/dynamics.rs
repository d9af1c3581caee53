//! Assembly of the stages of the plan from checked values.

use std::collections::HashSet;

use super::restraints::restraint;
use super::stage_output::stage_output;
use super::value::{Table, report};
use super::words;
use crate::ensemble::barostat::{Barostat, PressureCoupling};
use crate::ensemble::multiple_time_steps::MultipleTimeSteps;
use crate::ensemble::thermostat::{CouplingKey, Thermostat, ThermostatGroup};
use crate::error::Problem;
use crate::run::{Dynamics, Minimize, OutputOptions, PositionRestraint, Restraint, Stage, StageKind, Velocities};
use crate::units::Dimension;

/// Returns all stages; `None` if a problem has been recorded. `output` holds the output settings of the run, which a
/// stage may override.
pub(super) fn stages(
    tables: &[Table],
    output: Option<&OutputOptions>,
    problems: &mut Vec<Problem>,
) -> Option<Vec<Stage>> {
    let mut names = HashSet::new();
    for table in tables {
        let Some(name) = table.text("name") else { continue };
        if !names.insert(name) {
            let message = format!("there are two stages named \"{name}\"");
            report(problems, table, "name", message, "give each stage its own name");
        }
        if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_')) {
            let message = format!("stage.name: \"{name}\" is not a valid name");
            let help = "use only letters, digits, - and _, because files are named after the stage";
            report(problems, table, "name", message, help);
        }
    }
    // every stage is checked before an invalid stage ends the function, so that all problems are reported
    let stages: Vec<Option<Stage>> = tables.iter().map(|table| stage(table, output, problems)).collect();
    stages.into_iter().collect()
}

fn stage(table: &Table, output: Option<&OutputOptions>, problems: &mut Vec<Problem>) -> Option<Stage> {
    let mut kind = match table.word("kind")? {
        "minimize" => StageKind::Minimize(Minimize {
            steps: u64::try_from(table.integer("steps")?).ok()?,
            force_tolerance: table.number("force_tolerance")?,
            max_displacement: table.number("max_displacement")?,
        }),
        "dynamics" => StageKind::Dynamics(dynamics(table, problems)?),
        other => unreachable!("{other} is not a kind of stage"),
    };
    let frozen = frozen(table, problems);
    let output = stage_output(table, output, problems);
    // every restraint is checked before an invalid restraint ends the function, so that all problems are reported
    let position_restraints: Vec<Option<PositionRestraint>> =
        table.tables("position_restraints").iter().map(|inner| position_restraint(inner, &kind, problems)).collect();
    let restraints: Vec<Option<Restraint>> =
        table.tables("restraints").iter().map(|inner| restraint(inner, &kind, problems)).collect();
    let restraints = restraints.into_iter().collect::<Option<Vec<_>>>()?;
    if let StageKind::Dynamics(dynamics) = &mut kind {
        dynamics.fixed_axes = restraints.iter().any(Restraint::has_fixed_axes);
    }
    Some(Stage {
        name: table.text("name")?.to_owned(),
        kind,
        position_restraints: position_restraints.into_iter().collect::<Option<_>>()?,
        restraints,
        frozen: frozen?,
        output: output?,
    })
}

/// Returns the selection of frozen atoms; `Some(None)` if no atoms are frozen.
fn frozen(table: &Table, problems: &mut Vec<Problem>) -> Option<Option<String>> {
    let Some(text) = table.text("frozen") else { return (!table.is_set("frozen")).then_some(None) };
    if table.table("barostat").is_some() {
        let message = "frozen atoms and a barostat exclude each other: the barostat would move the atoms with the cell";
        let help = "remove frozen or barostat, or hold the atoms with position_restraints instead";
        report(problems, table, "frozen", message, help);
        return None;
    }
    if table.integer("com_removal").is_some() {
        let message = "com_removal would move the frozen atoms";
        let help = "remove com_removal: frozen atoms hold the rest of the system in place";
        report(problems, table, "com_removal", message, help);
        return None;
    }
    Some(Some(text.to_owned()))
}

fn position_restraint(table: &Table, stage: &StageKind, problems: &mut Vec<Problem>) -> Option<PositionRestraint> {
    let force_constant = table.schedule("force_constant")?.clone();
    if force_constant.largest() == 0.0 {
        let message = "position_restraints.force_constant is zero and has no effect";
        report(problems, table, "force_constant", message, "set a larger force constant, or remove the restraint");
    }
    if matches!(stage, StageKind::Minimize(_)) && force_constant.constant().is_none() {
        let message = "position_restraints.force_constant changes with time, and a minimisation has no time";
        report(
            problems,
            table,
            "force_constant",
            message,
            "give one force constant, or change it in a stage of dynamics",
        );
    }
    Some(PositionRestraint {
        select: table.text("select")?.to_owned(),
        force_constant,
        flat_radius: table.number("flat_radius")?,
        reference: table.text("reference").map(Into::into),
        reference_scaling: table.meaning("reference_scaling", &words::REFERENCE_SCALINGS)?,
    })
}

fn dynamics(table: &Table, problems: &mut Vec<Problem>) -> Option<Dynamics> {
    let steps = steps(table, problems);
    let velocities = velocities(table, problems);
    let thermostat =
        coupling(table, "thermostat").and_then(|inner| inner.map_or(Some(None), |t| thermostat(t, problems).map(Some)));
    let barostat =
        coupling(table, "barostat").and_then(|inner| inner.map_or(Some(None), |t| barostat(t, problems).map(Some)));
    let timestep = table.number("timestep");
    let before = problems.len();
    if let (Some(timestep), Some(Some(t)), Some(inner)) = (timestep, &thermostat, table.table("thermostat")) {
        let least = t.kind.facts().min_couplings;
        let groups = t.groups.iter().zip(inner.tables("groups")).map(|(group, table)| (group.coupling_time, table));
        for (coupling_time, table) in std::iter::once((t.coupling_time, inner)).chain(groups) {
            long_enough(table, "thermostat", coupling_time, t.every, least, timestep, problems);
        }
    }
    if let (Some(timestep), Some(Some(b)), Some(inner)) = (timestep, &barostat, table.table("barostat"))
        && let Some(least) = b.kind.facts().min_couplings
    {
        long_enough(inner, "barostat", b.coupling_time, b.every, least, timestep, problems);
    }
    if let (Some(Some(b)), Some(None), Some(inner)) = (&barostat, &thermostat, table.table("barostat"))
        && b.kind.facts().is_isobaric
    {
        let kind = inner.word("kind").unwrap_or_default();
        let message = format!("barostat \"{kind}\" needs a thermostat, which sets the temperature of its noise");
        report(problems, inner, "kind", message, "add thermostat = { temperature = \"300 K\" } to the stage");
    }
    let multiple_time_steps =
        coupling(table, "multiple_time_steps").and_then(|inner| inner.map_or(Some(None), |t| impulses(t).map(Some)));
    if problems.len() > before {
        return None;
    }
    Some(Dynamics {
        steps: steps?,
        timestep: timestep?,
        velocities: velocities?,
        thermostat: thermostat?,
        barostat: barostat?,
        multiple_time_steps: multiple_time_steps?,
        com_removal: match table.word("com_removal") {
            Some(_) => None,
            None => Some(u32::try_from(table.integer("com_removal")?).ok()?),
        },
        fixed_axes: false,
    })
}

fn impulses(table: &Table) -> Option<MultipleTimeSteps> {
    Some(MultipleTimeSteps { every: u32::try_from(table.integer("every")?).ok()? })
}

/// Returns the table of a thermostat or barostat; `Some(None)` if the value is the word "none".
fn coupling<'a>(table: &'a Table, name: &str) -> Option<Option<&'a Table>> {
    table.word(name).map(|_| None).or_else(|| table.table(name).map(Some))
}

/// Tolerated deviation of a number of steps from a whole number. Durations and time steps are decimal numbers, so the
/// number of steps in a duration is a whole number up to rounding errors in f64, which are far smaller than this
/// tolerance.
pub(super) const WHOLE_STEPS: f64 = 1e-3;
/// Maximum number of steps in a duration, just below 2⁵³. Above 2⁵³, consecutive integers are no longer distinct in
/// `f64`.
const MOST_STEPS: f64 = 9e15;

/// Returns the number of steps of a dynamics stage, from `steps` or from `duration` and `timestep`.
fn steps(table: &Table, problems: &mut Vec<Problem>) -> Option<u64> {
    match (table.is_set("duration"), table.is_set("steps")) {
        (true, true) => {
            let message = "duration and steps exclude each other";
            report(problems, table, "steps", message, "keep either duration or steps");
            None
        }
        (false, false) => {
            let message = "a dynamics stage needs duration or steps";
            report(problems, table, "", message, "write duration = \"1 ns\"");
            None
        }
        (false, true) => u64::try_from(table.integer("steps")?).ok(),
        (true, false) => {
            let (duration, timestep) = (table.number("duration")?, table.number("timestep")?);
            let steps = duration / timestep;
            let text = |key| table.get(key).map(|entry| entry.text.as_str()).unwrap_or_default();
            if steps > MOST_STEPS {
                let message =
                    format!("duration {} has more than {MOST_STEPS:e} steps of {}", text("duration"), text("timestep"));
                report(problems, table, "duration", message, "give a shorter duration or a longer timestep");
                return None;
            }
            if steps.round() < 1.0 || (steps - steps.round()).abs() > WHOLE_STEPS {
                let message =
                    format!("duration {} is not a whole number of steps of {}", text("duration"), text("timestep"));
                let [below, above] = [steps.floor(), steps.ceil()].map(|n| Dimension::Time.show(n * timestep));
                let help = match steps < 1.0 {
                    true => format!("use \"{above}\" or a multiple of it, or give steps"),
                    false => format!("use \"{below}\" or \"{above}\", or give steps"),
                };
                report(problems, table, "duration", message, &help);
                return None;
            }
            Some(steps.round() as u64)
        }
    }
}

fn velocities(table: &Table, problems: &mut Vec<Problem>) -> Option<Velocities> {
    if table.word("velocities")? == "file" {
        return Some(Velocities::File);
    }
    let thermostat = table.table("thermostat");
    if [Some(table), thermostat].into_iter().flatten().any(|table| table.failed.contains(&"temperature")) {
        return None;
    }
    let of_thermostat = thermostat.and_then(|thermostat| thermostat.schedule("temperature"));
    match table.number("temperature").or(of_thermostat.map(|temperature| temperature.at(0.0))) {
        Some(temperature) => Some(Velocities::Generate { temperature }),
        None => {
            let message = "velocities = \"generate\" needs a temperature";
            report(problems, table, "velocities", message, "add temperature = \"300 K\", or a thermostat");
            None
        }
    }
}

fn thermostat(table: &Table, problems: &mut Vec<Problem>) -> Option<Thermostat> {
    let kind = table.meaning("kind", &words::THERMOSTATS)?;
    let key = kind.facts().key;
    let other = if key == CouplingKey::Time { CouplingKey::Friction.word() } else { CouplingKey::Time.word() };
    let time_of = |table: &Table| table.number(key.word()).map(|value| key.coupling_time(value));
    let (temperature, coupling_time) = (table.schedule("temperature")?.clone(), time_of(table)?);
    let group = |inner: &Table| {
        if inner.is_given(other) {
            let (kind, message) = (table.word("kind")?, format!("thermostat.groups: \"{other}\" has no effect"));
            report(problems, inner, other, format!("{message} with kind = \"{kind}\""), &format!("set {}", key.word()));
        }
        Some(ThermostatGroup {
            select: inner.text("select")?.to_owned(),
            temperature: inner.schedule("temperature").unwrap_or(&temperature).clone(),
            coupling_time: time_of(inner).unwrap_or(coupling_time),
        })
    };
    let groups = table.tables("groups").iter().map(group).collect::<Option<_>>()?;
    Some(Thermostat { kind, temperature, coupling_time, every: u32::try_from(table.integer("every")?).ok()?, groups })
}

fn barostat(table: &Table, problems: &mut Vec<Problem>) -> Option<Barostat> {
    let kind = table.meaning("kind", &words::BAROSTATS)?;
    let coupling = table.meaning("coupling", &words::PRESSURE_COUPLINGS)?;
    let pressure = along_directions(table, "pressure", table.schedules("pressure")?, coupling, problems);
    let compressibility =
        along_directions(table, "compressibility", table.numbers("compressibility")?, coupling, problems);
    let (pressure, compressibility) = (pressure?, compressibility?);
    if compressibility == [0.0; 3] {
        let message = "barostat: compressibility is zero in all directions, so that the cell is rigid";
        report(problems, table, "compressibility", message, "write barostat = \"none\"");
        return None;
    }
    let surface_tension = match coupling {
        PressureCoupling::SemiIsotropic => table.number("surface_tension")?,
        PressureCoupling::Isotropic | PressureCoupling::Anisotropic => 0.0,
    };
    if surface_tension != 0.0 && compressibility[0] == 0.0 {
        let message = "barostat: surface_tension has no effect, because the compressibility along x and y is zero";
        report(problems, table, "surface_tension", message, "remove surface_tension, or give a compressibility");
    }
    Some(Barostat {
        kind,
        coupling,
        pressure,
        surface_tension,
        coupling_time: match kind.facts().min_couplings {
            Some(_) => table.number("coupling_time")?,
            None => 0.0,
        },
        compressibility,
        every: u32::try_from(table.integer("every")?).ok()?,
    })
}

/// Returns values for x, y and z. The table has one value for all directions, or one value for each group of directions
/// that the barostat scales together.
fn along_directions<T: Clone>(
    table: &Table,
    name: &str,
    values: &[T],
    coupling: PressureCoupling,
    problems: &mut Vec<Problem>,
) -> Option<[T; 3]> {
    let extents = coupling.extents();
    if values.len() > 1 && values.len() != extents.len() {
        let word = table.word("coupling").unwrap_or_default();
        let message = format!("barostat.{name}: {} values do not fit coupling = \"{word}\"", values.len());
        let help = match coupling {
            PressureCoupling::Isotropic => "give one value; or write coupling = \"semi-isotropic\" or \"anisotropic\"",
            PressureCoupling::SemiIsotropic => "give one value, or two: one for x and y, one for z",
            PressureCoupling::Anisotropic => "give one value, or three: for x, y and z",
        };
        report(problems, table, name, message, help);
        return None;
    }
    let mut along = std::array::from_fn(|_| values[0].clone());
    if values.len() > 1 {
        for (value, directions) in values.iter().zip(extents) {
            directions.iter().for_each(|&direction| along[direction] = value.clone());
        }
    }
    Some(along)
}

/// Tolerance for the relative rounding error of a product of decimal numbers.
const ROUNDING: f64 = 1e-12;

/// Records a problem if a relaxation time is too short. With a relaxation time shorter than the interval between
/// couplings, the coupling would overshoot. Stochastic cell rescaling needs several couplings per relaxation time.
fn long_enough(
    table: &Table,
    name: &str,
    coupling_time: f64,
    every: u32,
    couplings: f64,
    timestep: f64,
    problems: &mut Vec<Problem>,
) {
    let interval = f64::from(every) * timestep;
    let least = couplings * interval;
    if coupling_time >= least * (1.0 - ROUNDING) {
        return;
    }
    let [least, interval, given] = [least, interval, coupling_time].map(|time| Dimension::Time.show(time));
    let between = if couplings > 1.0 { format!("{couplings} times the {interval}") } else { format!("the {interval}") };
    let message = format!("{name}: coupling_time ({given}) is shorter than {between} between couplings");
    let rarest = (coupling_time / (couplings * timestep) * (1.0 + ROUNDING)).floor();
    let help = match rarest >= 1.0 {
        true => format!("set coupling_time = \"{least}\" or longer, or every = {rarest} or less"),
        false => format!("set coupling_time = \"{least}\" or longer, or set every to a smaller value"),
    };
    report(problems, table, "coupling_time", message, &help);
}

#[cfg(test)]
mod tests {
    use crate::config::Config;
    use std::path::Path;

    /// Returns the advice about a duration with steps of 2.0001 fs; `None` if the duration is accepted.
    fn advice(duration: &str) -> Option<String> {
        let text = format!(
            "[system]\ntopology = \"t\"\ncoordinates = \"c\"\n[[stage]]\nkind = \"dynamics\"\ntimestep = \"2.0001 fs\"\n\
             duration = \"{duration}\"\n"
        );
        let problems = Config::parse(&text, Path::new("/base/input.toml"), &[]).err()?;
        problems[0].help.clone()
    }

    #[test]
    fn proposed_durations_are_accepted() {
        let proposed = ["2.0001 fs", "0.3980199 ps", "0.40002 ps"];
        assert_eq!(advice("1e-9 ps").unwrap(), format!("use \"{}\" or a multiple of it, or give steps", proposed[0]));
        let two = format!("use \"{}\" or \"{}\", or give steps", proposed[1], proposed[2]);
        assert_eq!(advice("0.4 ps").unwrap(), two);
        assert_eq!(proposed.map(advice), [const { None::<String> }; 3]);
    }
}
