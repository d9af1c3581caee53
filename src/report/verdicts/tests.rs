//! Tests of the verdicts on couplings and cell with energy tables whose values are known in closed form.

use super::*;
use crate::ensemble::barostat::{Barostat, BarostatKind, PressureCoupling};
use crate::ensemble::schedule::Schedule;
use crate::ensemble::thermostat::{Thermostat, ThermostatGroup, ThermostatKind};
use crate::observe::energies::EnergyRecord;
use crate::observe::status::Status;
use crate::observe::summary::{Summary, SystemSummary};
use crate::prepare::ElectrostaticsSpec;
use crate::rng::{Purpose, Stream};
use crate::run::{Dynamics, Plan, Stage, StageKind};
use crate::units::{BAR, BOLTZMANN};
use std::f64::consts::TAU;

/// Number of degrees of freedom of the simulated system. The temperature of a row has the relative standard deviation
/// √(2/6000) = 1.8 %, so that four standard deviations are 21.9 K at 300 K.
const FREE: f64 = 6000.0;

/// Creates a stage at 300 K with v-rescale and the coupling time of 1 ps. `groups` are the selections and target
/// temperatures (K) of temperature groups.
fn dynamics(groups: &[(&str, f64)]) -> Dynamics {
    let group = |&(select, kelvin): &(&str, f64)| ThermostatGroup {
        select: select.to_owned(),
        temperature: kelvin.into(),
        coupling_time: 1.0,
    };
    let groups = groups.iter().map(group).collect();
    let thermostat = Thermostat { groups, ..Thermostat::new(ThermostatKind::VRescale, 300.0, 1.0, 10) };
    Dynamics { thermostat: Some(thermostat), ..Dynamics::default() }
}

/// Adds stochastic cell rescaling at 1 bar to a stage, with the compressibility of 4.6e-5 1/bar and the coupling time
/// of 1 ps.
fn with_barostat(dynamics: Dynamics) -> Dynamics {
    let barostat = Barostat {
        kind: BarostatKind::CRescale,
        coupling: PressureCoupling::Isotropic,
        pressure: [1.0; 3].map(|bar| Schedule::from(bar * BAR)),
        surface_tension: 0.0,
        coupling_time: 1.0,
        compressibility: [4.6e-5 / BAR; 3],
        every: 10,
    };
    Dynamics { barostat: Some(barostat), ..dynamics }
}

/// Creates the folder of a run of one stage, whose energy table has `rows` rows at the interval of `interval` ps.
/// `column` returns the value of a column in a row.
fn run(
    dynamics: Dynamics,
    columns: &[&str],
    rows: usize,
    interval: f64,
    column: impl Fn(&str, usize) -> f64,
) -> RunFolder {
    let stage = Stage {
        name: "production".into(),
        kind: StageKind::Dynamics(dynamics),
        position_restraints: vec![],
        restraints: vec![],
        frozen: None,
        output: Default::default(),
    };
    let names = ["step", "time", "stage"].iter().chain(columns);
    let row = |k: usize| {
        let values = columns.iter().map(|name| column(name, k));
        [500.0 * k as f64, interval * k as f64, 1.0].into_iter().chain(values).collect()
    };
    RunFolder {
        path: "out".into(),
        plan: Plan { stages: vec![stage], ..Plan::default() },
        given: vec![],
        status: Status::default(),
        summary: None,
        energies: Some(EnergyRecord {
            columns: names.map(|&name| (name.to_owned(), String::new())).collect(),
            rows: (0..rows).map(row).collect(),
        }),
        minimisation: None,
        restraints: vec![],
        exchange: None,
        unreadable: vec![],
    }
}

/// Returns the judgements and the texts of the verdicts on an aspect.
fn judged(run: &RunFolder, aspect: &str) -> Vec<(Judgement, String)> {
    let production = Production::of(run);
    let found = verdicts(run, production.as_ref()).into_iter().filter(|verdict| verdict.aspect == aspect);
    found.map(|verdict| (verdict.judgement, verdict.found + " | " + &verdict.advice)).collect()
}

#[test]
fn a_cutoff_without_long_range_electrostatics_is_a_problem_of_charged_systems() {
    let judged = |electrostatics, has_charges| {
        let mut run = run(dynamics(&[]), &["temperature"], 1, 1.0, |_, _| 300.0);
        run.plan.forces.electrostatics = electrostatics;
        let system = SystemSummary { cutoff_lj: Some(0.9), has_charges, ..SystemSummary::default() };
        run.summary = Some(Summary { system: Some(system), ..Summary::default() });
        judged(&run, "Cutoff").remove(0)
    };
    for electrostatics in [ElectrostaticsSpec::Off, ElectrostaticsSpec::Plain] {
        let (judgement, found) = judged(electrostatics, Some(true));
        assert!(judgement == Judgement::Problem && !found.contains("no charges"), "{found}");
        let (judgement, found) = judged(electrostatics, Some(false));
        assert!(judgement == Judgement::Passed && found.contains("no charges"), "{found}");
    }
    // a summary of an earlier version does not say whether there are charges
    assert_eq!(judged(ElectrostaticsSpec::Off, None).0, Judgement::Passed);
}

/// Returns the only verdict on the temperature of a run whose row `k` has the temperature `kelvin(k)`, at intervals of
/// `interval` ps.
fn of_temperature(rows: usize, interval: f64, kelvin: impl Fn(f64) -> f64) -> (Judgement, String) {
    let value = |name: &str, row: usize| {
        let kelvin = kelvin(row as f64);
        if name == "kinetic" { 0.5 * FREE * BOLTZMANN * kelvin } else { kelvin }
    };
    let run = run(dynamics(&[]), &["kinetic", "temperature"], rows, interval, value);
    let mut found = judged(&run, "Temperature");
    assert_eq!(found.len(), 1, "{found:?}");
    found.remove(0)
}

/// Returns 1 for rows with an even number and −1 for rows with an odd number. Such values are uncorrelated in the sense
/// that their statistical inefficiency is 1.
fn alternating(row: usize) -> f64 {
    if row.is_multiple_of(2) { 1.0 } else { -1.0 }
}

#[test]
fn a_temperature_with_too_few_samples_is_judged_by_the_last_half() {
    // 121 rows rise from 300 K to 400 K; rows 60 to 120 have the mean 300 K + 100 K · 90/120
    let (judgement, found) = of_temperature(121, 0.2, |row| 300.0 + row / 1.2);
    assert!(judgement == Judgement::Problem && found.contains("375 K for 300.00"), "{found}");
    // a wave of 60 K has the mean −60 K · 2/π = −38 K in its second half
    let (judgement, found) = of_temperature(121, 0.2, |row| 300.0 + 60.0 * (TAU * row / 120.0).sin());
    assert_eq!(judgement, Judgement::Problem, "{found}");
    // a wave of 30 K has the mean −19 K, which is less than four standard deviations of a row
    let (judgement, found) = of_temperature(121, 0.2, |row| 300.0 + 30.0 * (TAU * row / 120.0).sin());
    assert!(judgement == Judgement::Information && found.contains("uncorrelated samples"), "{found}");
}

#[test]
fn a_temperature_in_a_table_of_few_rows_is_judged_by_the_last_half() {
    let (judgement, found) = of_temperature(9, 2.8, |row| 350.0 + row % 2.0);
    assert_eq!(judgement, Judgement::Problem, "{found}");
    let (judgement, found) = of_temperature(9, 2.8, |row| 300.0 + row % 2.0);
    assert!(judgement == Judgement::Information && found.contains("not judged"), "{found}");
    let (judgement, found) = of_temperature(1000, 0.1, |row| 300.0 + 5.0 * alternating(row as usize));
    assert_eq!(judgement, Judgement::Passed, "{found}");
}

#[test]
fn quantities_without_averages_are_named() {
    // the number of degrees of freedom of a group is unknown, so that the rows of the last half give the standard
    // deviation: a line from 550 K to 600 K has the standard deviation 50 K/√12 = 14 K around its mean of 575 K
    let columns = ["temperature_rest", "temperature_protein"];
    let value = |name: &str, row: usize| {
        if name.ends_with("rest") { 300.0 + alternating(row) } else { 500.0 + row as f64 / 1.2 }
    };
    let line = run(dynamics(&[("protein", 500.0)]), &columns, 121, 0.2, value);
    let found = judged(&line, "Temperature of a group");
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].0 == Judgement::Problem && found[0].1.contains("temperature_protein: 575 K"), "{found:?}");
    let pressure = |mean: f64| {
        let value = move |name: &str, row: usize| if name == "volume" { 30.0 } else { mean + 100.0 * alternating(row) };
        judged(&run(with_barostat(dynamics(&[])), &["pressure", "volume"], 9, 2.8, value), "Pressure")
    };
    assert_eq!(pressure(1.0).iter().map(|(judgement, _)| *judgement).collect::<Vec<_>>(), [Judgement::Information]);
    assert_eq!(pressure(900.0).iter().map(|(judgement, _)| *judgement).collect::<Vec<_>>(), [Judgement::Problem]);
    let mut annealing = dynamics(&[]);
    if let Some(thermostat) = &mut annealing.thermostat {
        thermostat.temperature = Schedule::new(vec![(0.0, 300.0), (10.0, 400.0)]).unwrap();
    }
    let found = judged(&run(annealing, &["temperature"], 121, 0.2, |_, _| 300.0), "Temperature");
    assert!(found[0].0 == Judgement::Information && found[0].1.contains("changes during the stage"), "{found:?}");
}

#[test]
fn groups_are_compared_by_their_differences_from_their_targets() {
    let columns = ["temperature", "temperature_rest", "temperature_protein"];
    let of = |rest: f64, protein: f64, rows: usize| {
        let value = move |name: &str, row: usize| {
            alternating(row) * 10.0 + if name == "temperature_protein" { protein } else { rest }
        };
        let mut found =
            judged(&run(dynamics(&[("protein", 500.0)]), &columns, rows, 0.1, value), "Temperatures of the parts");
        assert_eq!(found.len(), 1, "{found:?}");
        found.remove(0)
    };
    let (judgement, found) = of(300.0, 500.0, 2001);
    assert_eq!(judgement, Judgement::Passed, "{found}");
    let (judgement, found) = of(300.0, 560.0, 2001);
    assert_eq!(judgement, Judgement::Problem, "{found}");
    // 12 ps have six samples of two coupling times, whose mean has the error 10 K/√6 = 4.1 K. The difference of 8 K is
    // 1.4 errors of a difference, but 6 errors if all 121 rows counted as samples.
    let (judgement, found) = of(300.0, 508.0, 121);
    assert_eq!(judgement, Judgement::Passed, "{found}");
    assert!(found.contains("508.1 ± 4.1 K for 500.00"), "{found}");
}

#[test]
fn the_error_of_a_pressure_is_that_of_the_mean() {
    let columns = ["temperature", "pressure", "volume"];
    let of = |bar: f64, deviation: f64| {
        let value = move |name: &str, row: usize| match name {
            "temperature" => 300.0,
            "volume" => 7.9,
            _ => bar + deviation * alternating(row),
        };
        let mut found = judged(&run(with_barostat(dynamics(&[])), &columns, 3701, 0.1, value), "Pressure");
        assert_eq!(found.len(), 1, "{found:?}");
        found.remove(0)
    };
    // √(2kTτ/βVt) with kT = 4.142e-21 J, τ = 1 ps, β = 4.6e-10 1/Pa, V = 7.9e-27 m³ and t = 370 ps is 24.8 bar. The
    // uncorrelated rows give the smaller error of 800 bar/√3701 = 13.2 bar.
    let (judgement, found) = of(205.0, 800.0);
    assert!(judgement == Judgement::Problem && found.starts_with("205 ± 25 bar for 1.00"), "{found}");
    let (judgement, found) = of(95.0, 800.0);
    assert_eq!(judgement, Judgement::Passed, "{found}");
    // the rows give the larger error of 3000 bar/√3701 = 49.3 bar
    let (_, found) = of(205.0, 3000.0);
    assert!(found.starts_with("206 ± 49 bar for 1.00"), "{found}");
}

#[test]
fn the_volume_of_an_equilibrated_cell_may_fluctuate() {
    let of = |rows: usize, interval: f64, volume: &dyn Fn(usize) -> f64| {
        let value = |_: &str, row: usize| volume(row);
        let mut found =
            judged(&run(with_barostat(dynamics(&[])), &["volume"], rows, interval, value), "Volume of the cell");
        assert_eq!(found.len(), 1, "{found:?}");
        found.remove(0)
    };
    // normal fluctuations of 1.9 % have a range above 10 % in 4000 rows
    let noise: Vec<f64> = {
        let mut stream = Stream::new(5, Purpose::Test, 0, 0);
        (0..4000).map(|_| stream.gaussian()).collect()
    };
    let (judgement, found) = of(4000, 0.1, &|row| 7.9 * (1.0 + 0.019 * noise[row]));
    assert_eq!(judgement, Judgement::Passed, "{found}");
    // a volume that grows by 20 % and fluctuates by 2 %; its last value is below its first value
    let grows = |row: usize| {
        if row == 3999 { 7.0 } else { 7.9 * (0.9 + 0.2 * row as f64 / 4000.0 + 0.02 * noise[row]) }
    };
    let (judgement, found) = of(4000, 0.1, &grows);
    assert!(judgement == Judgement::Problem && found.contains("The cell grows"), "{found}");
    // a collapse by a quarter within a few coupling times
    let (judgement, found) = of(51, 0.1, &|row| 6.0 + 2.0 * (-0.1 * row as f64).exp());
    assert!(judgement == Judgement::Problem && found.contains("The cell shrinks"), "{found}");
    let (judgement, found) = of(9, 0.1, &|row| 6.0 + row as f64);
    assert!(judgement == Judgement::Information && found.contains("not judged"), "{found}");
}
