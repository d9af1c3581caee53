//! Tests of runs on the ranks of an MPI launcher. Each replica of an ensemble gives the same results as without MPI. A
//! single system is divided among ranks. Ensembles and single systems can continue after the failure of a rank.

#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

#[path = "../run/case.rs"]
#[allow(dead_code, reason = "each test program that includes this module uses its own part of it")]
mod case;
mod domains;
mod exchange;
mod groups;
#[path = "../run/swaps.rs"]
mod swaps;

use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};

use assert_cmd::cargo::cargo_bin;
use case::{Case, assert_same, signal, wait_for};
use md::observe::status::RunState;
use swaps::status;

/// Returns a case with five replicas of a small molecule, which run some hundred steps each with one thread.
fn case(ensemble: &str) -> Case {
    let forces = "[run]\nthreads = 1\n[forces]\ncutoff = \"none\"\nelectrostatics = \"plain\"\n[output]\n\
        energies = { every = \"4 fs\" }\ntrajectory = { every = \"20 fs\", velocities = true }\n";
    let stage = "[[stage]]\nname = \"a\"\nkind = \"dynamics\"\nsteps = 100\ntimestep = \"2 fs\"\nvelocities = \"generate\"\n\
        thermostat = { temperature = \"300 K\", coupling_time = \"0.1 ps\" }\n";
    Case::new("peptide-vacuum", &format!("{forces}{stage}{ensemble}"))
}

/// Returns an MPI launcher that may start more ranks than there are processors, also as root. The options are those of
/// Open MPI 4 and 5; other launchers need no option.
fn launcher(case: &Case) -> Command {
    let mut command = Command::new("mpirun");
    command.current_dir(case.path("")).env_remove("MD_SIMD").env("NO_COLOR", "1");
    for (name, value) in [
        ("OMPI_ALLOW_RUN_AS_ROOT", "1"),
        ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
        ("OMPI_MCA_rmaps_base_oversubscribe", "1"),
        ("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe"),
    ] {
        command.env(name, value);
    }
    command
}

/// Builds `mpirun -n RANKS md COMMAND input.toml` with further arguments.
fn over(case: &Case, ranks: u32, command: &str, arguments: &[&str]) -> Command {
    let mut launcher = launcher(case);
    launcher.args(["-n", &ranks.to_string()]).arg(cargo_bin("md")).args([command, "input.toml"]).args(arguments);
    launcher
}

/// Returns standard output and standard error joined to one line, because a launcher may mix the streams.
fn said(output: &Output) -> String {
    let text = [&output.stdout[..], &output.stderr[..]].map(String::from_utf8_lossy).concat();
    assert!(!text.contains("panicked"), "{text}");
    text.split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>().join(" ")
}

/// Runs `mpirun -n RANKS md run input.toml` and asserts its exit code.
#[track_caller]
fn ends_with(code: i32, case: &Case, ranks: u32, arguments: &[&str]) -> String {
    let output = over(case, ranks, "run", arguments).output().unwrap();
    let said = said(&output);
    assert_eq!(output.status.code(), Some(code), "{ranks} ranks, {arguments:?}: {said}");
    said
}

fn states(case: &Case) -> Vec<RunState> {
    status(case, "out").replicas.iter().map(|replica| replica.state).collect()
}

/// Starts an ensemble that does not end by itself, and waits until two of its replicas run on two ranks.
fn begun() -> (Case, Child) {
    let case = Case::endless("checkpoint = { every = \"1 h\" }\n[ensemble]\nreplicas = 3");
    let child = over(&case, 2, "run", &["--quiet"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_for("a few rows", || ["out/replica-1", "out/replica-2"].iter().all(|directory| case.rows(directory) > 3));
    (case, child)
}

/// Continues an ensemble with two interrupted replicas on three ranks, and compares all replicas with an uninterrupted
/// ensemble.
#[track_caller]
fn continues_on_three_ranks(case: &Case) {
    let done = [1, 2].map(|number| case.state(&format!("out/replica-{number}")).step);
    assert!(done.iter().all(|&step| step > 0) && !case.path("out/replica-3").exists());
    let last = (done[0].max(done[1]) + 50).to_string();
    let text = ends_with(0, case, 3, &["--steps", &last]);
    assert!(text.contains("replica-3: begins"), "{text}");
    for (number, done) in [(1, done[0]), (2, done[1])] {
        let log = std::fs::read_to_string(case.path(&format!("out/replica-{number}/run.log"))).unwrap();
        assert!(log.contains(&format!("continuing stage 1 after {done} steps")), "{log}");
    }
    assert_eq!(states(case), [RunState::Finished; 3]);
    case.ends_with(0, &["--steps", &last, "--output-dir", "whole"]);
    for number in 1..=3 {
        let [stopped, whole] = ["out", "whole"].map(|directory| case.state(&format!("{directory}/replica-{number}")));
        assert!(stopped == whole, "replica {number}");
    }
}

/// Returns the identifier of the process that runs a replica.
fn process_of(case: &Case, replica: &str) -> u32 {
    let lock = std::fs::read_to_string(case.path(replica).join(".md.lock")).unwrap();
    lock.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// Asserts that, after one of the processes `ranks` was killed, the launcher fails and all processes end.
fn job_fails(launcher: &mut Child, ranks: &[u32]) {
    let mut code = None;
    wait_for("the end of the job", || {
        code = launcher.try_wait().unwrap();
        code.is_some()
    });
    assert!(!code.unwrap().success());
    // the launcher may end before the ranks that it kills; a process that has ended has no command line
    let is_over = |rank: &u32| std::fs::read(format!("/proc/{rank}/cmdline")).map_or(true, |line| line.is_empty());
    wait_for("the end of its ranks", || ranks.iter().all(is_over));
}

#[test]
fn replicas_are_the_same_on_any_number_of_ranks() {
    let case = case("[ensemble]\nreplicas = 5\n");
    case.ends_with(0, &["--output-dir", "alone", "--quiet"]);
    for ranks in 1..=3 {
        let directory = format!("on-{ranks}");
        let text = ends_with(0, &case, ranks, &["--output-dir", &directory]);
        // one rank prints the messages of all ranks
        for part in ["replica-1: begins (seed 1)", "replica-5: finished, 0.2 ps", "ns/day in total", "output in "] {
            assert_eq!(text.matches(part).count(), 1, "{part} in {text}");
        }
        let log = std::fs::read_to_string(case.path(&directory).join("ensemble.log")).unwrap();
        assert_eq!(log.matches(": finished, 0.2 ps").count(), 5, "{log}");
        let whole = status(&case, &directory);
        assert_eq!((whole.state, whole.threads, whole.at_once), (RunState::Finished, Some(1), Some(1)));
        assert_eq!(whole.ranks, Some(ranks as usize).filter(|&ranks| ranks > 1));
        assert!(whole.ns_per_day > Some(0.0));
        for number in 1..=5 {
            let folder = format!("replica-{number}");
            assert_same(&case.record(&format!("alone/{folder}")), &case.record(&format!("{directory}/{folder}")));
        }
    }
    assert!(ends_with(0, &case, 2, &["--output-dir", "on-3"]).contains("already finished"));
}

#[test]
fn a_replica_that_fails_does_not_stop_those_of_other_ranks() {
    let hot = "{ name = \"hot\", set = { \"stage.a.temperature\" = \"3e8 K\" } }";
    let case = case(&format!("[ensemble]\nreplica = [{{}}, {hot}, {{}}, {{}}]\n"));
    let text = ends_with(4, &case, 2, &[]);
    for part in ["hot: failed: step ", "error: replica-2 (hot): step "] {
        assert_eq!(text.matches(part).count(), 1, "{part} in {text}");
    }
    let finished = RunState::Finished;
    assert_eq!(states(&case), [finished, RunState::Failed, finished, finished]);
    let whole = status(&case, "out");
    assert!(whole.replicas[1].reason.as_ref().is_some_and(|reason| reason.contains("largest energy term")));
}

#[test]
fn a_signal_to_the_launcher_stops_all_ranks() {
    let (case, mut child) = begun();
    // Open MPI passes SIGUSR2 on to the ranks
    signal(&child, "USR2");
    assert_eq!(child.wait().unwrap().code(), Some(3));
    assert_eq!(states(&case), [RunState::Stopped, RunState::Stopped, RunState::Waiting]);
    continues_on_three_ranks(&case);
}

#[test]
fn a_signal_to_one_rank_stops_all_ranks() {
    for replica in ["out/replica-1", "out/replica-2"] {
        let (case, mut child) = begun();
        let sent = Command::new("kill").args(["-TERM", &process_of(&case, replica).to_string()]).status().unwrap();
        assert!(sent.success());
        assert_eq!(child.wait().unwrap().code(), Some(3));
        assert_eq!(states(&case), [RunState::Stopped, RunState::Stopped, RunState::Waiting]);
    }
}

#[test]
fn a_rank_that_is_killed_ends_the_job_and_the_same_command_continues() {
    for first in [true, false] {
        let (case, mut child) = begun();
        // Open MPI passes the signal on to the ranks; the checkpoint that a run writes at its start does not count
        let step = |replica: &str| case.path(replica).join("checkpoint.md").exists().then(|| case.state(replica).step);
        signal(&child, "USR1");
        wait_for("checkpoints", || ["out/replica-1", "out/replica-2"].iter().all(|replica| step(replica) > Some(0)));
        let first_rank = status(&case, "out").process.unwrap();
        let ranks = ["out/replica-1", "out/replica-2"].map(|replica| process_of(&case, replica));
        let killed = ranks.into_iter().find(|&rank| (rank == first_rank) == first).unwrap();
        assert!(Command::new("kill").args(["-KILL", &killed.to_string()]).status().unwrap().success());
        job_fails(&mut child, &ranks);
        continues_on_three_ranks(&case);
    }
}

#[test]
fn ranks_that_are_not_alike_are_refused() {
    let case = case("[ensemble]\nreplicas = 2\n");
    let text = std::fs::read_to_string(case.path("input.toml")).unwrap();
    std::fs::write(case.path("other.toml"), text.replace("steps = 100", "steps = 90")).unwrap();
    let copy = case.path("md");
    std::fs::copy(cargo_bin("md"), &copy).unwrap();
    // a copy of the program with the same behaviour and version, but with other bytes
    let mut file = std::fs::OpenOptions::new().append(true).open(&copy).unwrap();
    std::io::Write::write_all(&mut file, b"\n").unwrap();
    drop(file);
    let cases: [(PathBuf, &[&str], &str); 3] = [
        (
            cargo_bin("md"),
            &["other.toml"],
            "rank 1 has another input file, other options or another folder than rank 0",
        ),
        (
            cargo_bin("md"),
            &["input.toml", "--steps", "5"],
            "rank 1 has another input file, other options or another folder than rank 0",
        ),
        (copy, &["input.toml"], "rank 1 has a different program file than rank 0"),
    ];
    for (program, arguments, message) in cases {
        let mut command = launcher(&case);
        command.args(["-n", "1"]).arg(cargo_bin("md")).args(["run", "input.toml", ":", "-n", "1"]);
        let output = command.arg(program).arg("run").args(arguments).output().unwrap();
        let text = said(&output);
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert_eq!(text.matches(message).count(), 1, "{text}");
        assert!(!case.path("out").exists());
    }
}

/// Tests that a run is refused if the input file on one rank includes another force field.
#[test]
fn ranks_that_see_other_files_are_refused() {
    let case = case("");
    let write = |name: &str, text: &str| std::fs::write(case.path(name), text).unwrap();
    let start = "[ defaults ]\n1 2 no 1.0 1.0\n#include \"argon.itp\"\n";
    write("argon.top", &format!("{start}[ system ]\nargon\n[ molecules ]\nAR 2\n"));
    let atoms = [(1, "0.000"), (2, "0.400")].map(|(n, x)| format!("    {n}AR      AR    {n}   {x}   0.000   0.000\n"));
    write("argon.gro", &format!("argon\n2\n{}   3.00000   3.00000   3.00000\n", atoms.concat()));
    write(
        "input.toml",
        "[system]\ntopology = \"argon.top\"\ncoordinates = \"argon.gro\"\n[run]\nthreads = 1\n[forces]\ncutoff = \"1 nm\"\n\
         electrostatics = \"off\"\n[[stage]]\nkind = \"minimize\"\n[ensemble]\nreplicas = 2\n",
    );
    for (folder, epsilon) in [("a", "0.996"), ("b", "0.990")] {
        std::fs::create_dir(case.path(folder)).unwrap();
        let atom = "[ moleculetype ]\nAR 1\n[ atoms ]\n1 AR 1 AR AR 1 0.0 39.948\n";
        write(&format!("{folder}/argon.itp"), &format!("[ atomtypes ]\nAR 18 39.948 0.0 A 0.34 {epsilon}\n{atom}"));
    }
    for (second, code) in [("b", 2), ("a", 0)] {
        let mut command = launcher(&case);
        for (index, folder) in ["a", second].into_iter().enumerate() {
            let apart = if index == 0 { &[][..] } else { &[":"] };
            command.args(apart).args(["-n", "1", "env", &format!("GMXLIB={folder}")]);
            command.arg(cargo_bin("md")).args(["run", "input.toml"]);
        }
        let output = command.output().unwrap();
        let text = said(&output);
        assert_eq!(output.status.code(), Some(code), "{text}");
        let refusals = text.matches("rank 1 has other topologies or coordinates than rank 0").count();
        assert_eq!((refusals, case.path("out").exists()), if code == 0 { (0, true) } else { (1, false) }, "{text}");
    }
}

#[test]
fn what_is_wrong_is_said_once() {
    let wrong = case("[ensemble]\nreplica = [{}, { set = { \"stage.b.steps\" = 5 } }]\n");
    let text = ends_with(2, &wrong, 2, &[]);
    assert_eq!(text.matches("there is no stage \"b\"").count(), 1, "{text}");
    assert!(!wrong.path("out").exists(), "something has begun");
}

#[test]
fn a_benchmark_on_several_ranks_is_refused_once() {
    let output = over(&case(""), 2, "bench", &[]).output().unwrap();
    let text = said(&output);
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert_eq!(text.matches("md bench measures a single process").count(), 1, "{text}");
}

#[test]
fn check_says_how_replicas_are_spread() {
    let case = case("[ensemble]\nreplicas = 5\n");
    let output = over(&case, 2, "check", &[]).output().unwrap();
    let text = said(&output);
    assert!(output.status.success(), "{text}");
    for part in [
        "5 replicas, 1 at once on each of 2 ranks with 1 thread each",
        "MB for the replicas that run at the same time on each rank",
    ] {
        assert_eq!(text.matches(part).count(), 1, "{part} in {text}");
    }
    // with five replicas, one of six ranks is idle
    let text = said(&over(&case, 6, "check", &[]).output().unwrap());
    assert_eq!(text.matches("1 of 6 ranks are idle").count(), 1, "{text}");
}
