//! Verdicts on mean temperatures and pressures in comparison with their targets.

use super::Verdict;
use super::means::{ERRORS, Mean, averaged_length, temperature_error};
use crate::ensemble::barostat::{Barostat, BarostatKind, PressureCoupling};
use crate::ensemble::schedule::Schedule;
use crate::ensemble::thermostat::{Thermostat, ThermostatKind};
use crate::observe::statistics::LEAST_INDEPENDENT;
use crate::observe::summary::PartTemperature;
use crate::report::folder::{ReplicaExchange, RunFolder};
use crate::report::number::with_error;
use crate::report::production::Production;
use crate::units::{BAR, BOLTZMANN};

/// Relative difference up to which a mean temperature is accepted as equal to its target, whatever the standard error
/// of the mean.
const TEMPERATURE: f64 = 0.003;
/// Difference (bar) up to which a mean pressure is accepted as equal to its target, whatever the standard error of the
/// mean.
const PRESSURE: f64 = 1.0;
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

/// Returns a verdict without a judgement on a quantity whose target changes during the stage.
fn moving_target(aspect: &'static str, column: &str) -> Verdict {
    Verdict::information(aspect, format!("not judged: the target of {column} changes during the stage"), "")
}

/// Target temperature of the whole system or of a temperature group.
struct Coupled<'a> {
    /// column of the energy table
    column: String,
    /// target temperature, K
    target: &'a Schedule,
    /// coupling time, ps
    coupling_time: f64,
}

/// Returns the targets of a thermostat without temperature groups, or of each of its temperature groups.
fn coupled<'a>(run: &RunFolder, production: &Production<'_>, thermostat: &'a Thermostat) -> Vec<Coupled<'a>> {
    let Thermostat { temperature: target, coupling_time, groups, .. } = thermostat;
    let rest = (target, *coupling_time);
    let names = match groups.as_slice() {
        [] => vec!["temperature".to_owned()],
        _ => run.plan.group_temperatures(production.number),
    };
    let settings = std::iter::once(rest).chain(groups.iter().map(|group| (&group.temperature, group.coupling_time)));
    let pairs = names.into_iter().zip(settings);
    pairs.map(|(column, (target, coupling_time))| Coupled { column, target, coupling_time }).collect()
}

fn temperatures(run: &RunFolder, production: &Production<'_>) -> Vec<Verdict> {
    let Some(thermostat) = &production.dynamics.thermostat else { return vec![] };
    let is_whole = thermostat.groups.is_empty();
    let aspect = if is_whole { "Temperature" } else { "Temperature of a group" };
    let verdict = |Coupled { column, target, coupling_time }: Coupled<'_>| {
        // a group without degrees of freedom has no temperature
        production.values(&column)?;
        let Some(target) = target.constant() else { return Some(moving_target(aspect, &column)) };
        if let Some(verdict) = too_short(aspect, production, coupling_time) {
            return Some(verdict);
        }
        let mean = Mean {
            aspect,
            column: &column,
            unit: "K",
            target,
            least: TEMPERATURE * target,
            deviation: degrees_of_freedom(production).filter(|_| is_whole).map(|free| target * (2.0 / free).sqrt()),
            accepted: format!("{} %", 100.0 * TEMPERATURE),
            advice: "Give the system time to equilibrate; if the difference stays, shorten the time step or the \
                     coupling time.",
        };
        mean.judged(production, |average, length| temperature_error(average, length, coupling_time))
    };
    coupled(run, production, thermostat).into_iter().filter_map(verdict).collect()
}

/// Returns the number f of degrees of freedom of the whole system, from the kinetic energy K = ½ f kT in the energy
/// table. In the canonical ensemble the temperature T of a single row has the standard deviation T √(2/f), because the
/// kinetic energy has the relative variance 2/f (D. Frenkel & B. Smit, Understanding Molecular Simulation, 2nd edition,
/// Academic Press 2002, section 6.1).
fn degrees_of_freedom(production: &Production<'_>) -> Option<f64> {
    let sum = |name: &str| Some(production.values(name)?.iter().sum::<f64>());
    let free = 2.0 * sum("kinetic")? / (BOLTZMANN * sum("temperature")?);
    (free.is_finite() && free > 0.0).then_some(free)
}

fn pressures(production: &Production<'_>) -> Vec<Verdict> {
    let Some(barostat) = &production.dynamics.barostat else { return vec![] };
    if let Some(verdict) = too_short("Pressure", production, barostat.coupling_time) {
        return vec![verdict];
    }
    let names: &[(&str, usize)] = match barostat.coupling {
        PressureCoupling::Isotropic => &[("pressure", 0)],
        // a barostat with surface tension has no target for the lateral pressure, because the lateral pressure follows
        // from the surface tension
        _ if barostat.surface_tension != 0.0 => &[("pressure_zz", 2)],
        _ => &[("pressure_xx", 0), ("pressure_yy", 1), ("pressure_zz", 2)],
    };
    let verdict = |&(column, axis): &(&str, usize)| {
        // the pressure has no target along a direction in which the barostat does not scale the cell
        if barostat.compressibility[axis] == 0.0 && barostat.kind != BarostatKind::MonteCarlo {
            return None;
        }
        let Some(target) = barostat.pressure[axis].constant() else { return Some(moving_target("Pressure", column)) };
        let mean = Mean {
            aspect: "Pressure",
            column,
            unit: "bar",
            target: target / BAR,
            least: PRESSURE,
            deviation: None,
            accepted: format!("{PRESSURE} bar"),
            advice: "Give the cell time to relax; if the difference stays, check compressibility and coupling time of \
                     the barostat.",
        };
        let error_of_barostat = |length: f64| barostat_error(production, barostat, axis, length).unwrap_or(0.0);
        mean.judged(production, |average, length| average.error.max(error_of_barostat(length)))
    };
    names.iter().filter_map(verdict).collect()
}

/// Returns the standard deviation (bar) of the mean pressure along an axis over `length` ps, as far as the noise of the
/// barostat causes it; `None` if the table has no volume or temperature.
///
/// Stochastic cell rescaling (M. Bernetti & G. Bussi, J. Chem. Phys. 153, 114107 (2020), doi:10.1063/5.0020514) changes
/// the logarithm of the volume by −(β/τ)(P₀ − P) dt + √(2kTβ/Vτ) dW, with the compressibility β, the coupling time τ,
/// the target P₀ and a Wiener process W. Because the volume stays near its mean, the integral of P₀ − P over the time t
/// balances the integral of the noise, and the mean of P has the standard deviation √(2kTτ/βVt). An area has 2/3, and a
/// length 1/3, of the compressibility of the volume. Monte Carlo volume moves have no coupling time, so that the value
/// is zero.
fn barostat_error(production: &Production<'_>, barostat: &Barostat, axis: usize, length: f64) -> Option<f64> {
    let mean = |name: &str| production.column(name).map(|column| column.average.mean);
    let extent = barostat.coupling.extents().iter().find(|directions| directions.contains(&axis))?;
    let compressibility = extent.len() as f64 / 3.0 * barostat.compressibility[axis];
    let thermal = 2.0 * BOLTZMANN * mean("temperature")? * barostat.coupling_time;
    let error = (thermal / (compressibility * mean("volume")? * length)).sqrt() / BAR;
    error.is_finite().then_some(error)
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

/// Compares the differences of the mean temperatures of the temperature groups from their targets. Without temperature
/// groups, compares the temperatures of solute and solvent in the final state, which have the same target.
fn parts(run: &RunFolder, production: &Production<'_>) -> Option<Verdict> {
    let aspect = "Temperatures of the parts";
    let thermostat = production.dynamics.thermostat.as_ref();
    let groups = thermostat.filter(|one| !one.groups.is_empty()).map(|one| coupled(run, production, one));
    // in a replica exchange the targets of the groups change
    let groups = groups.filter(|_| run.exchange.is_none());
    let parts: Vec<Part> = match &groups {
        Some(groups) => groups.iter().filter_map(|group| Part::of_group(production, group)).collect(),
        None if thermostat.is_some_and(|one| !one.groups.is_empty()) => vec![],
        None => run.summary.as_ref()?.system.as_ref()?.parts.iter().map(Part::of_final_state).collect(),
    };
    let coldest = parts.iter().min_by(|a, b| a.excess().total_cmp(&b.excess()))?;
    let hottest = parts.iter().max_by(|a, b| a.excess().total_cmp(&b.excess()))?;
    if parts.len() < 2 {
        return None;
    }
    let times = groups.iter().flatten().map(|group| group.coupling_time);
    let coupling_time = times.chain(thermostat.map(|one| one.coupling_time)).fold(0.0, f64::max);
    if let Some(verdict) = too_short(aspect, production, coupling_time) {
        return Some(verdict);
    }
    let samples = parts.iter().map(|part| part.samples).fold(f64::INFINITY, f64::min);
    let found = format!("{}, {}", coldest.words(), hottest.words());
    if samples < LEAST_INDEPENDENT {
        return Some(Verdict::information(
            aspect,
            format!("not judged: {samples:.0} uncorrelated samples; {found}"),
            "",
        ));
    }
    let error = coldest.error.hypot(hottest.error);
    let difference = hottest.excess() - coldest.excess();
    let least = TEMPERATURE * hottest.temperature.max(coldest.temperature);
    let what = if groups.is_some() { "differences from the targets" } else { "temperatures" };
    Some(Verdict::of(
        aspect,
        difference <= ERRORS * error || difference <= least,
        found,
        format!("{what} that differ by at most {ERRORS} standard errors or {} %", 100.0 * TEMPERATURE),
        "Use one thermostat for the whole system, or the same temperature for all groups; a thermostat that acts on \
         every atom (\"langevin\") prevents hot solvent beside a cold solute.",
    ))
}

/// Temperature of a part of the system, with its standard error, K.
struct Part {
    name: String,
    temperature: f64,
    /// target temperature, K; `None` if all parts have the same target
    target: Option<f64>,
    error: f64,
    /// number of uncorrelated samples; infinite if the error does not follow from samples
    samples: f64,
}

impl Part {
    /// Creates the mean temperature of a temperature group. Returns `None` if the group has no averages, or if its
    /// target changes during the stage.
    fn of_group(production: &Production<'_>, group: &Coupled<'_>) -> Option<Self> {
        let average = &production.column(&group.column)?.average;
        let length = averaged_length(production, average);
        Some(Part {
            name: group.column.clone(),
            temperature: average.mean,
            target: Some(group.target.constant()?),
            error: temperature_error(average, length, group.coupling_time),
            samples: average.samples,
        })
    }

    /// Creates the temperature of a part from the final velocities. The error follows from the relative variance 2/f of
    /// the kinetic energy of f degrees of freedom.
    fn of_final_state(part: &PartTemperature) -> Self {
        let PartTemperature { name, degrees_of_freedom, temperature } = part;
        let error = temperature * (2.0 / degrees_of_freedom).sqrt();
        Part { name: name.clone(), temperature: *temperature, target: None, error, samples: f64::INFINITY }
    }

    /// Returns the difference between temperature and target in K; if all parts have the same target, the temperature.
    fn excess(&self) -> f64 {
        self.temperature - self.target.unwrap_or(0.0)
    }

    fn words(&self) -> String {
        let target = self.target.map_or(String::new(), |target| format!(" for {target:.2}"));
        format!("{} {} K{target}", self.name, with_error(self.temperature, self.error))
    }
}
