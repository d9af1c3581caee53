//! Tests of replicas that are each computed by several ranks. Each group of ranks divides the cell of its replica.

use super::case::{Case, assert_same};
use super::{ends_with, job_fails, launcher, over, process_of, said, states, wait_for};
use crate::swaps::status;
use assert_cmd::cargo::cargo_bin;
use md::observe::exchange::read;
use md::observe::status::RunState;
use std::process::Stdio;

/// Returns a case with a peptide in water. The cutoff is so short that the cell can be divided into domains, and the
/// stages end with the stage `last`.
fn case(last: &str, ensemble: &str) -> Case {
    let forces = "[run]\nthreads = 1\n[forces]\ncutoff = \"0.45 nm\"\nconstraints = \"h-bonds\"\n[output]\n\
        energies = { every = \"20 fs\" }\ntrajectory = { every = \"40 fs\", velocities = true }\ncheckpoint = { every = \"0.05 s\" }\n";
    let stage = format!(
        "[[stage]]\nname = \"a\"\nkind = \"dynamics\"\nvelocities = \"generate\"\ntimestep = \"2 fs\"\n{last}\n\
         thermostat = {{ kind = \"langevin\", temperature = \"300 K\", friction = \"2 1/ps\" }}\n"
    );
    Case::new("peptide-ff19sb", &format!("{forces}{stage}[ensemble]\nranks_per_replica = 2\n{ensemble}\n"))
}

/// Runs the effective input that a replica wrote as a separate run on two ranks, in the folder `directory`.
fn alone(case: &Case, replica: &str, directory: &str) {
    let input = case.path(replica).join("effective.toml");
    let mut launcher = launcher(case);
    launcher.args(["-n", "2"]).arg(cargo_bin("md")).arg("run").arg(input).args(["--output-dir", directory]);
    let output = launcher.output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
}

#[test]
fn replicas_of_groups_are_those_of_runs_on_as_many_ranks() {
    let case = case("steps = 60", "replicas = 3");
    let text = ends_with(0, &case, 4, &[]);
    assert_eq!(text.matches("replica-3: finished, 0.1 ps").count(), 1, "{text}");
    let whole = status(&case, "out");
    assert_eq!((whole.ranks, whole.at_once, whole.threads), (Some(4), Some(1), Some(1)));
    // three replicas in two groups: one group computes two of them, one after the other
    for number in 1..=3 {
        let (replica, directory) = (format!("out/replica-{number}"), format!("alone-{number}"));
        alone(&case, &replica, &directory);
        assert_same(&case.record(&replica), &case.record(&directory));
    }
    // the run is interrupted, and replicas are continued by other groups of ranks
    ends_with(0, &case, 6, &["--output-dir", "parts", "--steps", "30"]);
    ends_with(0, &case, 2, &["--output-dir", "parts"]);
    for number in 1..=3 {
        let [parts, whole] = ["parts", "out"].map(|directory| case.record(&format!("{directory}/replica-{number}")));
        assert_same(&parts, &whole);
    }
}

#[test]
fn groups_exchange_states_as_single_ranks_do() {
    let exchange = "temperature = [\"300 K\", \"303 K\"]\nexchange = { every = \"10 steps\" }";
    let case = case("steps = 60", exchange);
    ends_with(0, &case, 4, &[]);
    let text = said(&over(&case, 4, "check", &[]).output().unwrap());
    assert!(text.contains("seed 2, on ranks 2 to 3"), "{text}");
    let single = &["--output-dir", "single", "--set", "ensemble.ranks_per_replica=1"];
    ends_with(0, &case, 2, single);
    let attempts = |directory: &str| read(&case.path(directory).join("exchange.csv")).unwrap().1;
    let [groups, single] = ["out", "single"].map(attempts);
    assert_eq!((groups.len(), single.len()), (6, 6));
    for (ours, theirs) in groups.iter().zip(&single) {
        assert_eq!((ours.step, &ours.states), (theirs.step, &theirs.states));
        // the energies of one and of two domains differ by rounding errors
        for (ours, theirs) in ours.probabilities.iter().zip(&theirs.probabilities) {
            assert!((ours.unwrap_or(1.0) - theirs.unwrap_or(1.0)).abs() < 1e-4, "{ours:?}, not {theirs:?}");
        }
    }
    ends_with(0, &case, 4, &["--output-dir", "parts", "--steps", "25"]);
    ends_with(0, &case, 4, &["--output-dir", "parts"]);
    for number in 1..=2 {
        let [parts, whole] = ["parts", "out"].map(|directory| case.record(&format!("{directory}/replica-{number}")));
        assert_same(&parts, &whole);
    }
    let refusal = ends_with(2, &case, 2, &["--output-dir", "few"]);
    assert!(refusal.contains("start at least 4 ranks"), "{refusal}");
}

#[test]
fn groups_exchange_hamiltonians_as_single_ranks_do() {
    let ensemble = "solute_temperature = [\"300 K\", \"330 K\"]\nexchange = { every = \"10 steps\" }\n\
        [forces.scaled_solute]\nselect = \"protein\"";
    let case = case("steps = 40", ensemble);
    ends_with(0, &case, 4, &[]);
    ends_with(0, &case, 2, &["--output-dir", "single", "--set", "ensemble.ranks_per_replica=1"]);
    let attempts = |directory: &str| read(&case.path(directory).join("exchange.csv")).unwrap().1;
    let [groups, single] = ["out", "single"].map(attempts);
    assert_eq!((groups.len(), single.len()), (4, 4));
    for (ours, theirs) in groups.iter().zip(&single) {
        assert_eq!((ours.step, &ours.states), (theirs.step, &theirs.states));
    }
    ends_with(0, &case, 4, &["--output-dir", "parts", "--steps", "15"]);
    ends_with(0, &case, 4, &["--output-dir", "parts"]);
    for number in 1..=2 {
        let [parts, whole] = ["parts", "out"].map(|directory| case.record(&format!("{directory}/replica-{number}")));
        assert_same(&parts, &whole);
    }
}

#[test]
fn groups_need_a_multiple_of_their_ranks() {
    let case = case("steps = 20", "replicas = 2");
    for (ranks, help) in [(1, "the number of ranks is 1"), (3, "the number of ranks is 3")] {
        let text = ends_with(2, &case, ranks, &[]);
        assert_eq!(text.matches(help).count(), 1, "{text}");
    }
    let output = over(&case, 4, "check", &[]).output().unwrap();
    let text = said(&output);
    assert!(text.contains("2 at once, each on a group of 2 ranks with 1 thread each"), "{text}");
    assert!(text.contains("MB on the first rank of each group"), "{text}");
    // domains of half of the cell are narrower than this cutoff
    for command in ["check", "run"] {
        let output = over(&case, 4, command, &["--set", "forces.cutoff=\"1.1 nm\""]).output().unwrap();
        let text = said(&output);
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert_eq!(text.matches("cannot be divided among 2 ranks").count(), 1, "{text}");
    }
    assert!(!case.path("out").exists(), "something has begun");
}

#[test]
fn a_rank_of_a_group_that_is_killed_ends_the_job_and_the_same_command_continues() {
    let case = case("steps = 100000", "replicas = 2");
    let mut command = over(&case, 4, "run", &["--quiet"]);
    let mut job = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_for("a few rows", || (1..=2).all(|number| case.rows(&format!("out/replica-{number}")) > 3));
    let process = process_of(&case, "out/replica-2");
    assert!(std::process::Command::new("kill").args(["-KILL", &process.to_string()]).status().unwrap().success());
    job_fails(&mut job, &[process]);
    let last = ["out/replica-1", "out/replica-2"].map(|replica| case.state(replica).step).into_iter().max().unwrap();
    let last = (last + 30).to_string();
    ends_with(0, &case, 4, &["--steps", &last]);
    assert_eq!(states(&case), [RunState::Finished; 2]);
    ends_with(0, &case, 2, &["--steps", &last, "--output-dir", "whole"]);
    for number in 1..=2 {
        let [parts, whole] = ["out", "whole"].map(|directory| case.state(&format!("{directory}/replica-{number}")));
        assert!(parts == whole, "replica {number}");
    }
}
