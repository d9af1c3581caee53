//! Tests of the differences that a changed input file has from a run.

use super::physics_diff;
use crate::config::{Config, Override};
use crate::ensemble::exchange::{Conditions, Exchange};
use crate::run::{Plan, RunOptions};
use crate::units::BAR;
use std::path::Path;
use std::time::Duration;

const SYSTEM: &str = "[system]\ntopology = \"t\"\ncoordinates = \"c\"\n";
const MIN: &str = "[[stage]]\nname = \"min\"\nkind = \"minimize\"\n";
const HEAT: &str = "[[stage]]\nname = \"heat\"\nkind = \"dynamics\"\nduration = \"1 ps\"\ntimestep = \"2 fs\"\n\
    velocities = \"generate\"\nthermostat = { temperature = [[\"0 ps\", \"10 K\"], [\"1 ps\", \"300 K\"]] }\n";
const PROD: &str = "[[stage]]\nname = \"prod\"\nkind = \"dynamics\"\nduration = \"1 ns\"\ntimestep = \"2 fs\"\n\
    thermostat = { temperature = \"300 K\" }\nbarostat = { pressure = \"1 atm\" }\n\
    restraints = [{ kind = \"distance\", groups = [\"index 1\", \"index 2\"], at = \"3 A\", force_constant = \"9 kJ/mol/nm^2\" }]\n";
const WALL: &str = "{ kind = \"distance\", groups = [\"index 1\", \"index 2\"], upper = \"1 nm\", \
    force_constant = \"9 kJ/mol/nm^2\" }";

fn plan(stages: &[&str], settings: &[&str]) -> Plan {
    let text = format!("{SYSTEM}{}", stages.concat());
    let settings: Vec<Override> = settings.iter().map(|text| Override::set(text).unwrap()).collect();
    Config::parse(&text, Path::new("/base/input.toml"), &settings).unwrap_or_else(|e| panic!("{e:?}\n{text}")).plan
}

fn changed(settings: &[&str]) -> Vec<String> {
    physics_diff(&plan(&[MIN, HEAT, PROD], &[]), &plan(&[MIN, HEAT, PROD], settings))
}

#[test]
fn stages_are_compared_by_name() {
    let named = |stage: &str, name: &str| stage.replace("name = \"min\"", &format!("name = \"{name}\""));
    let extra = named(MIN, "extra");
    let cases: [(&[&str], &[&str]); 7] = [
        (&[MIN, HEAT, PROD, &extra], &[]),
        (&[HEAT, PROD], &["stage \"min\" is missing"]),
        (&[&extra, HEAT, PROD], &["stage \"min\" is missing", "stage \"extra\" was added before stage \"heat\""]),
        (&[MIN, &extra, HEAT, PROD], &["stage \"extra\" was added before stage \"heat\""]),
        (&[HEAT, MIN, PROD], &["the order of the stages: min, heat, prod -> heat, min, prod"]),
        (&[MIN, HEAT], &["stage \"prod\" is missing"]),
        (&[MIN, &named(MIN, "heat"), PROD], &["stage.heat.kind: \"dynamics\" -> \"minimize\""]),
    ];
    for (stages, expected) in cases {
        assert_eq!(physics_diff(&plan(&[MIN, HEAT, PROD], &[]), &plan(stages, &[])), expected, "{stages:?}");
    }
}

#[test]
fn values_have_units_and_whole_tables_have_their_names() {
    let two = format!("stage.prod.restraints=[{WALL}, {WALL}]");
    let more = PROD.replace("restraints = [", &format!("restraints = [{WALL}, "));
    let cases: [(&[&str], &[&str]); 9] = [
        (&["stage.prod.barostat.pressure=\"1.01325 bar\"", "stage.prod.duration=\"2 ns\""], &[]),
        (&["run.max_time=\"1 h\"", "output.checkpoint={ every = \"1 h\" }", "run.device=\"cpu\""], &[]),
        (&["stage.prod.timestep=\"1 fs\""], &["stage.prod.timestep: \"2 fs\" -> \"1 fs\""]),
        (&["stage.prod.barostat=\"none\""], &["stage.prod.barostat was removed"]),
        (&["stage.heat.barostat={}"], &["stage.heat.barostat was added"]),
        (&["stage.min.position_restraints={ select = \"all\" }"], &["stage.min.position_restraints was added"]),
        (
            &["stage.prod.restraints.1.at=\"0.4 nm\"", "forces.hydrogen_mass=\"3 amu\""],
            &["forces.hydrogen_mass: not set -> \"3 amu\"", "stage.prod.restraints.at: \"0.3 nm\" -> \"0.4 nm\""],
        ),
        (
            &["stage.heat.thermostat.temperature=\"300 K\""],
            // the temperature of the generated velocities is that of the thermostat
            &[
                "stage.heat.temperature: \"10 K\" -> \"300 K\"",
                "stage.heat.thermostat.temperature: [[\"0 fs\", \"10 K\"], [\"1 ps\", \"300 K\"]] -> \"300 K\"",
            ],
        ),
        (
            &[&two],
            &[
                "stage.prod.restraints: a list of 1 -> a list of 2",
                "stage.prod.restraints.1 was removed",
                "stage.prod.restraints.1 was added",
                "stage.prod.restraints.2 was added",
            ],
        ),
    ];
    for (settings, expected) in cases {
        assert_eq!(changed(settings), expected, "{settings:?}");
    }
    let old = plan(&[MIN, HEAT, PROD], &[]);
    let found = physics_diff(&old, &plan(&[MIN, HEAT, &more], &[]));
    assert_eq!(found, ["stage.prod.restraints: a list of 1 -> a list of 2", "stage.prod.restraints.1 was added"]);
}

/// The time that an ensemble leaves for a replica may be zero, which no input file can set.
#[test]
fn limits_are_not_compared() {
    let old = plan(&[MIN, HEAT], &[]);
    let run = RunOptions { max_time: Some(Duration::ZERO), ..old.run.clone() };
    let new = plan(&[MIN, HEAT], &["forces.rigid_water=false"]);
    let found = physics_diff(&Plan { run, ..old }, &new);
    assert_eq!(found, ["forces.rigid_water: true -> false"]);
}

#[test]
fn exchanges_are_compared() {
    let state = |temperature: f64, bar: f64| Conditions { temperature, pressure: Some(bar * BAR) };
    let exchange = |every, seed, states| Some(Exchange { every, seed, states });
    let with = |exchange| Plan { exchange, ..plan(&[MIN, PROD], &[]) };
    let old = with(exchange(10, 1, vec![state(300.0, 1.0), state(310.0, 1.0)]));
    let new = with(exchange(5, 2, vec![state(300.0, 1.0), state(320.0, 2.0)]));
    let expected = [
        "ensemble.exchange.every, in steps: 10 -> 5",
        "run.seed of the exchange: 1 -> 2",
        "temperature of state 2 of the exchange: 310 K -> 320 K",
        "pressure of state 2 of the exchange: 1 bar -> 2 bar",
    ];
    assert_eq!(physics_diff(&old, &new), expected);
    assert_eq!(physics_diff(&with(None), &new), ["ensemble.exchange was added"]);
    assert_eq!(physics_diff(&old, &old), [""; 0]);
}
