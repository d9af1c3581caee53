//! Verdicts on mean temperatures and pressures in comparison with their targets.

use super::Verdict;
use crate::ensemble::barostat::{BarostatKind, PressureCoupling};
use crate::ensemble::thermostat::ThermostatKind;
use crate::observe::summary::PartTemperature;
use crate::report::folder::{ReplicaExchange, RunFolder};
use crate::report::number::with_error;
use crate::report::production::{ColumnAverage, Production};
use crate::units::BAR;

/// Number of standard errors by which the mean of a temperature or pressure may differ from its target.
const ERRORS: f64 = 4.0;
/// Relative difference up to which a mean temperature is accepted as equal to its target, whatever the standard error
/// of the mean.
const TEMPERATURE: f64 = 0.003;
/// Difference (bar) up to which a mean pressure is accepted as equal to its target, whatever the standard error of the
/// mean.
const PRESSURE: f64 = 1.0;
/// Minimum number of uncorrelated samples for a reliable standard error.
const SAMPLES: f64 = 10.0;
/// Minimum number of coupling times for a thermostat or barostat to reach its target.
const COUPLING_TIMES: f64 = 10.0;

pub(super) fn verdicts(run: &RunFolder, production: &Production<'_>) -> Vec<Verdict> {
    let mut found = match run.exchange {
        None => [temperatures(run, production), pressures(production)].concat(),
        Some(ReplicaExchange { replicas, .. }) => {
            let found = format!("not judged: the replica moves between the states of {replicas} replicas");
            vec![Verdict::information(
                "Temperature and pressure",
                found,
                "Sort frames and rows by state with md demux.",
            )]
        }
    };
    found.extend(weak_coupling(production));
    found.extend(parts(run, production));
    found
}

/// Returns a verdict without a judgement if the stage is shorter than [`COUPLING_TIMES`] coupling times; otherwise
/// `None`.
fn too_short(aspect: &'static str, production: &Production<'_>, coupling_time: f64) -> Option<Verdict> {
    let length = production.length();
    (length < COUPLING_TIMES * coupling_time).then(|| {
        let found = format!("not judged: the stage of {length:.1} ps has fewer than {COUPLING_TIMES} coupling times");
        Verdict::information(aspect, found, "")
    })
}

/// Target temperature (K) of a thermostat or target pressure (bar) of a barostat.
#[derive(Clone, Copy)]
struct Target {
    value: f64,
    /// difference from the target up to which a mean is accepted, even if the difference exceeds [`ERRORS`] standard
    /// errors
    least: f64,
    /// coupling time of the thermostat or barostat, ps
    coupling_time: f64,
}

/// Compares the mean of a column with its target. Returns whether the mean is close to the target, and a text with the
/// mean, its error and the target; `None` if there are too few samples. The number of uncorrelated samples is at most
/// one per two coupling times, even if the values of a short stage seem less correlated.
fn compared(production: &Production<'_>, column: &ColumnAverage, target: Target) -> Option<(bool, String)> {
    let (average, value) = (&column.average, target.value);
    let length = production.length() * (1.0 - average.start as f64 / column.values.len() as f64);
    let samples = average.samples.min(length / (2.0 * target.coupling_time));
    let error = average.error * (average.samples / samples).sqrt();
    if average.samples < SAMPLES || !error.is_finite() {
        return None;
    }
    let difference = (average.mean - value).abs();
    let is_good = difference <= target.least || difference <= ERRORS * error;
    Some((is_good, format!("{} {} for {value:.2}", with_error(average.mean, error), column.unit)))
}

fn temperatures(run: &RunFolder, production: &Production<'_>) -> Vec<Verdict> {
    let Some(thermostat) = &production.dynamics.thermostat else { return vec![] };
    if let Some(verdict) = too_short("Temperature", production, thermostat.coupling_time) {
        return vec![verdict];
    }
    let threshold =
        format!("difference from the target of at most {ERRORS} standard errors or {} %", 100.0 * TEMPERATURE);
    let advice = "Give the system time to equilibrate; if the difference stays, shorten the time step or the coupling \
                  time.";
    let judged = |aspect, column: &ColumnAverage, target: f64| {
        let least = TEMPERATURE * target;
        let target = Target { value: target, least, coupling_time: thermostat.coupling_time };
        let (is_good, found) = compared(production, column, target)?;
        let found = if column.name == "temperature" { found } else { format!("{}: {found}", column.name) };
        Some(Verdict::of(aspect, is_good, found, threshold.clone(), advice))
    };
    if thermostat.groups.is_empty() {
        let target = thermostat.temperature.constant();
        let verdict = target.zip(production.column("temperature"));
        return verdict.and_then(|(target, column)| judged("Temperature", column, target)).into_iter().collect();
    }
    let schedules = std::iter::once(&thermostat.temperature).chain(thermostat.groups.iter().map(|g| &g.temperature));
    let names = run.plan.group_temperatures(production.number);
    let pairs = names.iter().zip(schedules);
    // a group without degrees of freedom has no temperature
    let pairs = pairs.filter_map(|(name, schedule)| Some((production.column(name)?, schedule.constant()?)));
    pairs.filter_map(|(column, target)| judged("Temperature of a group", column, target)).collect()
}

fn pressures(production: &Production<'_>) -> Vec<Verdict> {
    let Some(barostat) = &production.dynamics.barostat else { return vec![] };
    if let Some(verdict) = too_short("Pressure", production, barostat.coupling_time) {
        return vec![verdict];
    }
    let advice = "Give the cell time to relax; if the difference stays, check compressibility and coupling time of the \
                  barostat.";
    let threshold = format!("difference from the target of at most {ERRORS} standard errors or {PRESSURE} bar");
    let names: &[(&str, usize)] = match barostat.coupling {
        PressureCoupling::Isotropic => &[("pressure", 0)],
        // a barostat with surface tension has no target for the lateral pressure, because the lateral pressure follows
        // from the surface tension
        _ if barostat.surface_tension != 0.0 => &[("pressure_zz", 2)],
        _ => &[("pressure_xx", 0), ("pressure_yy", 1), ("pressure_zz", 2)],
    };
    let verdict = |&(name, axis): &(&str, usize)| {
        // the pressure has no target along a direction in which the barostat does not scale the cell
        if barostat.compressibility[axis] == 0.0 && barostat.kind != BarostatKind::MonteCarlo {
            return None;
        }
        let value = barostat.pressure[axis].constant()? / BAR;
        let target = Target { value, least: PRESSURE, coupling_time: barostat.coupling_time };
        let (is_good, found) = compared(production, production.column(name)?, target)?;
        Some(Verdict::of("Pressure", is_good, found, threshold.clone(), advice))
    };
    names.iter().filter_map(verdict).collect()
}

fn weak_coupling(production: &Production<'_>) -> Option<Verdict> {
    let dynamics = production.dynamics;
    let thermostat = dynamics.thermostat.as_ref().is_some_and(|one| one.kind == ThermostatKind::Berendsen);
    let barostat = dynamics.barostat.as_ref().is_some_and(|one| one.kind == BarostatKind::Berendsen);
    let found = match (thermostat, barostat) {
        (false, false) if dynamics.thermostat.is_none() && dynamics.barostat.is_none() => return None,
        (false, false) => "the couplings sample a known ensemble",
        (true, false) => "Berendsen's thermostat",
        (false, true) => "Berendsen's barostat",
        (true, true) => "Berendsen's thermostat and barostat",
    };
    Some(Verdict::of(
        "Ensemble of the production stage",
        !thermostat && !barostat,
        found,
        "no Berendsen coupling, which samples no known ensemble",
        "Use thermostat.kind = \"v-rescale\" or \"langevin\", and barostat.kind = \"c-rescale\" or \"monte-carlo\".",
    ))
}

/// Compares the mean temperatures of the hottest and the coldest temperature group. With fewer than two groups,
/// compares the temperatures of solute and solvent in the final state.
fn parts(run: &RunFolder, production: &Production<'_>) -> Option<Verdict> {
    let names = run.plan.energy_columns(true).temperatures;
    let groups = names.iter().filter_map(|name| production.column(name));
    let mut parts: Vec<Part<'_>> = groups
        .map(|ColumnAverage { name, average, .. }| Part { name, temperature: average.mean, error: average.error })
        .collect();
    if parts.len() < 2 {
        parts = run.summary.as_ref()?.system.as_ref()?.parts.iter().map(Part::of_final_state).collect();
    }
    let coldest = parts.iter().min_by(|a, b| a.temperature.total_cmp(&b.temperature))?;
    let hottest = parts.iter().max_by(|a, b| a.temperature.total_cmp(&b.temperature))?;
    if parts.len() < 2 {
        return None;
    }
    let aspect = "Temperatures of the parts";
    let thermostat = production.dynamics.thermostat.as_ref();
    if let Some(verdict) = thermostat.and_then(|one| too_short(aspect, production, one.coupling_time)) {
        return Some(verdict);
    }
    let error = coldest.error.hypot(hottest.error);
    let difference = hottest.temperature - coldest.temperature;
    Some(Verdict::of(
        aspect,
        difference <= ERRORS * error || difference <= TEMPERATURE * hottest.temperature,
        format!(
            "{} {} K, {} {} K",
            coldest.name,
            with_error(coldest.temperature, coldest.error),
            hottest.name,
            with_error(hottest.temperature, hottest.error)
        ),
        format!("temperatures that differ by at most {ERRORS} standard errors or {} %", 100.0 * TEMPERATURE),
        "Use one thermostat for the whole system, or the same temperature for all groups; a thermostat that acts on \
         every atom (\"langevin\") prevents hot solvent beside a cold solute.",
    ))
}

/// Temperature of a part of the system, with its standard error, K.
struct Part<'a> {
    name: &'a str,
    temperature: f64,
    error: f64,
}

impl<'a> Part<'a> {
    /// Creates the temperature of a part from the final velocities. The error follows from the relative variance 2/f of
    /// the kinetic energy of f degrees of freedom.
    fn of_final_state(part: &'a PartTemperature) -> Self {
        let PartTemperature { name, degrees_of_freedom, temperature } = part;
        Part { name, temperature: *temperature, error: temperature * (2.0 / degrees_of_freedom).sqrt() }
    }
}
