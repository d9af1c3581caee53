//! Helper functions for replica exchange tests: inputs and results of runs.

use crate::case::{Case, Record, assert_same};
use md::observe::exchange::{ExchangeRow, read};
use md::observe::replicas::EnsembleStatus;

/// Temperatures of four states.
pub(crate) const TEMPERATURES: &str = "temperature = [\"300 K\", \"330 K\", \"365 K\", \"400 K\"]";
pub(crate) const LANGEVIN: &str =
    "thermostat = { kind = \"langevin\", temperature = \"300 K\", friction = \"2 1/ps\" }";

/// Returns an input for a small molecule: some steps without exchange, followed by steps with exchange attempts.
pub(crate) fn input(threads: usize, thermostat: &str, list: &str, at_once: usize) -> String {
    let stage = |name: &str, steps: usize, velocities: &str| {
        format!(
            "[[stage]]\nname = \"{name}\"\nkind = \"dynamics\"\nsteps = {steps}\ntimestep = \"2 fs\"\n{velocities}\n{thermostat}\n"
        )
    };
    let forces = "[forces]\ncutoff = \"none\"\nelectrostatics = \"plain\"\n[output]\nenergies = { every = \"4 fs\" }\n\
        trajectory = { every = \"20 fs\", velocities = true }\n";
    let (first, last) = (stage("a", 10, "velocities = \"generate\""), stage("b", 100, ""));
    let ensemble = format!("[ensemble]\n{list}\nat_once = {at_once}\nexchange = {{ every = \"10 steps\" }}\n");
    format!("[run]\nthreads = {threads}\n{forces}{first}{last}{ensemble}")
}

/// Returns all results of a replica exchange run with the given number of replicas.
pub(crate) fn records(case: &Case, directory: &str, replicas: usize) -> (Vec<ExchangeRow>, Vec<Record>) {
    let (found, rows) = read(&case.path(directory).join("exchange.csv")).unwrap();
    assert_eq!(found, replicas);
    (rows, (1..=replicas).map(|number| case.record(&format!("{directory}/replica-{number}"))).collect())
}

/// Asserts that the four replicas in two folders have the same results, except for the number of interruptions.
#[track_caller]
pub(crate) fn assert_same_exchange(case: &Case, directories: [&str; 2]) {
    let [a, b] = directories.map(|directory| records(case, directory, 4));
    assert_eq!(a.0, b.0, "the attempts differ");
    a.1.iter().zip(&b.1).for_each(|(a, b)| assert_same(a, b));
    let statistics = directories.map(|directory| status(case, directory).exchange);
    assert!(statistics[0].is_some() && statistics[0] == statistics[1], "{statistics:?}");
}

/// Returns the contents of `ensemble.json`.
pub(crate) fn status(case: &Case, directory: &str) -> EnsembleStatus {
    serde_json::from_slice(&std::fs::read(case.path(directory).join("ensemble.json")).unwrap()).unwrap()
}
