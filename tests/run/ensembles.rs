//! Tests of ensembles: each replica gives the same results as a separate run, even if other replicas fail or stop.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::case::{Case, assert_same, signal, wait_for};
use assert_cmd::cargo::CommandCargoExt;
use md::observe::replicas::EnsembleStatus;
use md::observe::status::RunState;

const FORCES: &str = "[forces]\ncutoff = \"none\"\nelectrostatics = \"plain\"\n[output]\n\
    energies = { every = \"4 fs\" }\ntrajectory = { every = \"20 fs\", velocities = true }\n";

/// Returns a case with some hundred steps of a small molecule and with the given ensemble.
fn case(threads: u32, ensemble: &str) -> Case {
    let stage = "[[stage]]\nname = \"a\"\nkind = \"dynamics\"\nsteps = 100\ntimestep = \"2 fs\"\nvelocities = \"generate\"\n\
        thermostat = { temperature = \"300 K\", coupling_time = \"0.1 ps\" }\n";
    Case::new("peptide-vacuum", &format!("[run]\nthreads = {threads}\n{FORCES}{stage}[ensemble]\n{ensemble}\n"))
}

fn status(case: &Case, directory: &str) -> EnsembleStatus {
    serde_json::from_slice(&std::fs::read(case.path(directory).join("ensemble.json")).unwrap()).unwrap()
}

fn states(case: &Case) -> Vec<RunState> {
    status(case, "out").replicas.iter().map(|replica| replica.state).collect()
}

fn text(path: PathBuf) -> String {
    std::fs::read_to_string(path).unwrap()
}

/// Returns the output of `md check` for the input file.
fn check(case: &Case, arguments: &[&str]) -> String {
    let mut command = Command::cargo_bin("md").unwrap();
    let output = command.arg("check").arg(case.path("input.toml")).args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn each_replica_is_the_run_of_its_effective_file() {
    let case = case(2, "temperature = [\"300 K\", \"350 K\", \"400 K\"]\nat_once = 2");
    let said = case.ends_with(0, &[]);
    for part in ["3 replicas, 2 at once with 1 thread each", "replica-2: begins (350 K, seed 2)", "replica-3: finished"]
    {
        assert!(said.contains(part), "{part} in {said}");
    }
    assert_eq!(text(case.path("out/ensemble.log")).matches(": finished, 0.2 ps").count(), 3);
    let whole = status(&case, "out");
    assert_eq!((whole.state, whole.at_once, whole.threads), (RunState::Finished, Some(2), Some(1)));
    assert!(whole.ns_per_day > Some(0.0) && whole.wall_seconds > Some(0.0));
    for (index, kelvin) in ["300 K", "350 K", "400 K"].into_iter().enumerate() {
        let (replica, directory) = (&whole.replicas[index], format!("out/replica-{}", index + 1));
        assert_eq!((replica.state, replica.step, replica.steps), (RunState::Finished, 100, 100));
        assert_eq!(replica.folder, directory["out/".len()..]);
        // the temperature of generated velocities equals that of the thermostat of the replica
        let set = ["run.seed", "stage.a.temperature", "stage.a.thermostat.temperature"].map(str::to_owned);
        assert_eq!(replica.set.keys().collect::<Vec<_>>(), set.iter().collect::<Vec<_>>());
        assert_eq!((&replica.set[&set[0]], &replica.set[&set[2]]), (&(index + 1).into(), &kelvin.into()));
        // a replica is repeated as a single run in another folder, with the effective input file that the replica wrote
        let effective = text(case.path(&directory).join("effective.toml"));
        assert!(!effective.contains("ensemble"), "{effective}");
        std::fs::write(case.path("input.toml"), effective).unwrap();
        let alone = format!("alone-{}", index + 1);
        case.ends_with(0, &["--output-dir", &alone]);
        assert_same(&case.record(&directory), &case.record(&alone));
    }
    assert_ne!(case.record("out/replica-1").hash, case.record("out/replica-2").hash);
}

#[test]
fn seeds_alone_make_replicas_differ() {
    let case = case(1, "replicas = 2");
    case.ends_with(0, &["--seed", "7", "--quiet"]);
    let seeds: Vec<_> = status(&case, "out").replicas.iter().map(|replica| replica.set["run.seed"].clone()).collect();
    assert_eq!(seeds, [7, 8]);
    assert_ne!(case.record("out/replica-1").energies, case.record("out/replica-2").energies);
}

#[test]
fn a_replica_that_fails_does_not_stop_the_others() {
    let hot = "{ name = \"hot\", set = { \"stage.a.temperature\" = \"3e8 K\", \"run.seed\" = 9 } }";
    let case = case(1, &format!("replica = [{{}}, {hot}, {{}}]"));
    let said = case.ends_with(4, &[]);
    for part in ["hot: failed: step ", "error: replica-2 (hot): step ", "replica-2/unstable.pdb", "replica-3: finished"]
    {
        assert!(said.contains(part), "{part} in {said}");
    }
    let whole = status(&case, "out");
    assert_eq!(whole.state, RunState::Failed);
    assert_eq!(states(&case), [RunState::Finished, RunState::Failed, RunState::Finished]);
    let failed = &whole.replicas[1];
    assert!(failed.reason.as_ref().is_some_and(|reason| reason.contains("largest energy term")), "{failed:?}");
    assert_eq!((failed.name.as_str(), &failed.set["run.seed"]), ("hot", &9.into()));
    // the failed replica is run again, and the files of all other replicas are unchanged
    let before = ["out/replica-1", "out/replica-3"].map(|directory| case.contents(directory));
    let said = case.ends_with(4, &[]);
    assert!(!said.contains("replica-1: "), "{said}");
    assert!(before == ["out/replica-1", "out/replica-3"].map(|directory| case.contents(directory)));
}

#[test]
fn a_signal_stops_all_and_the_same_command_continues() {
    let case = Case::endless("checkpoint = { every = \"1 h\" }\n[ensemble]\nreplicas = 3\nat_once = 2");
    let options = ["--threads", "2"];
    let mut child = case.start(&options);
    wait_for("a few rows", || ["out/replica-1", "out/replica-2"].iter().all(|directory| case.rows(directory) > 3));
    assert_eq!(status(&case, "out").state, RunState::Running);
    signal(&child, "TERM");
    assert_eq!(child.wait().unwrap().code(), Some(3));
    assert_eq!(states(&case), [RunState::Stopped, RunState::Stopped, RunState::Waiting]);
    let done = [1, 2].map(|number| case.state(&format!("out/replica-{number}")).step);
    assert!(done.iter().all(|&step| step > 0) && !case.path("out/replica-3").exists());
    // all replicas are continued to the same step, and compared with uninterrupted runs to the same step
    let last = (done[0].max(done[1]) + 50).to_string();
    let options = [&options[..], &["--steps", &last]].concat();
    let said = case.ends_with(0, &options);
    assert!(said.contains("replica-1: continues") && said.contains("replica-3: begins"), "{said}");
    assert_eq!(states(&case), [RunState::Finished; 3]);
    case.ends_with(0, &[&options[..], &["--output-dir", "whole"]].concat());
    for number in 1..=3 {
        let [stopped, whole] = ["out", "whole"].map(|directory| case.state(&format!("{directory}/replica-{number}")));
        assert!(stopped == whole, "replica {number}");
    }
    // when all replicas are finished, a further command changes nothing
    let everything = || -> BTreeMap<PathBuf, Vec<u8>> {
        let folders = ["out/replica-1", "out/replica-2", "out/replica-3"];
        let mut files: BTreeMap<_, _> = ["out/ensemble.json", "out/ensemble.log"]
            .map(|name| (PathBuf::from(name), std::fs::read(case.path(name)).unwrap()))
            .into();
        for folder in folders {
            files.extend(case.contents(folder).into_iter().map(|(name, bytes)| (Path::new(folder).join(name), bytes)));
        }
        files
    };
    let before = everything();
    assert!(case.ends_with(0, &options).contains("already finished"));
    assert!(before == everything());
    case.ends_with(0, &[&options[..], &["--force"]].concat());
    assert!(case.path("out/replica-1.bak1").exists() && before != everything());
}

#[test]
fn a_limit_of_time_stops_the_queue() {
    let case = Case::endless("[ensemble]\nreplicas = 3");
    case.ends_with(3, &["--max-hours", "1e-4"]);
    assert_eq!(states(&case), [RunState::Stopped, RunState::Waiting, RunState::Waiting]);
}

#[test]
fn one_replica_runs_by_itself_into_the_same_folders() {
    let case = case(1, "replica = [{}, { name = \"warm\", set = { \"stage.a.thermostat.temperature\" = \"310 K\" } }]");
    case.ends_with(0, &["--replica", "2"]);
    assert_eq!(states(&case), [RunState::Waiting, RunState::Finished]);
    assert!(!case.path("out/replica-1").exists());
    let before = case.contents("out/replica-2");
    assert!(case.ends_with(0, &["--replica", "warm"]).contains("already finished"));
    case.ends_with(0, &[]);
    assert_eq!(states(&case), [RunState::Finished; 2]);
    assert!(before == case.contents("out/replica-2"), "it had finished");
    // a replica that ran alone must equal the same replica of the ensemble
    case.ends_with(0, &["--output-dir", "all"]);
    assert_same(&case.record("out/replica-2"), &case.record("all/replica-2"));
    case.ends_with(6, &["--replica", "1", "--output-dir", "none", "--device", "cuda:63"]);
    assert!(!case.path("none").exists(), "nothing was begun");
    assert!(
        case.ends_with(2, &["--replica", "3"]).contains("the replica does not exist help: give a number from 1 to 2")
    );
    let text = check(&case, &["--replica", "warm", "--effective"]);
    assert!(
        text.contains("temperature = \"310 K\"") && text.contains("seed = 2") && !text.contains("ensemble"),
        "{text}"
    );
    case.rewrite("peptide-vacuum", FORCES);
    assert!(case.ends_with(2, &["--replica", "2"]).contains("there is nothing to run"));
}

#[test]
fn what_is_wrong_with_one_replica_is_found_before_any_begins() {
    let cases = [
        // each case has an error in the input file, in the system, or in the timestep of one replica
        ("\"forces.cutof\" = \"1 nm\"", &["replica-2: unknown key \"cutof\"", "input.toml:"][..]),
        ("\"stage.b.steps\" = 5", &["replica-2: there is no stage \"b\"", "input.toml:"]),
        ("\"system.coordinates\" = \"none.rst7\"", &["replica-2: coordinates: the file"]),
        ("\"stage.a.timestep\" = \"20 fs\"", &["replica-2: stage \"a\": the timestep of 20 fs is too long"]),
        (
            "\"forces.cutoff\" = \"0.9 nm\", \"forces.electrostatics\" = \"pme\"",
            &["replica-2: electrostatics = \"pme\" needs a periodic cell"],
        ),
    ];
    for (setting, parts) in cases {
        let case = case(1, &format!("replica = [{{}}, {{ set = {{ {setting} }} }}]"));
        let said = case.ends_with(2, &[]);
        assert!(parts.iter().all(|part| said.contains(part)), "{parts:?} in {said}");
        assert!(!case.path("out").exists(), "{setting}: something has begun");
    }
    let case = case(2, "replicas = 3\nat_once = 3");
    assert!(case.ends_with(2, &[]).contains("at_once = 3 needs at least 3 threads, but only 2 are available"));
}

#[test]
fn check_says_what_differs_and_where_it_runs() {
    let case = case(2, "pressure = \"1 bar\"");
    assert!(case.ends_with(2, &[]).contains("no stage has a constant value"));
    let stages = "[[stage]]\nname = \"heat\"\nkind = \"dynamics\"\nsteps = 10\ntimestep = \"2 fs\"\nvelocities = \"generate\"\n\
        thermostat = { temperature = [[\"0 ps\", \"10 K\"], [\"20 fs\", \"300 K\"]] }\n\
        [[stage]]\nname = \"hold\"\nkind = \"dynamics\"\nsteps = 10\ntimestep = \"2 fs\"\n\
        thermostat = { temperature = \"300 K\" }\n";
    let list = "[ensemble]\ntemperature = [\"300 K\", \"320 K\", \"340 K\"]\nat_once = 1\n";
    case.rewrite("peptide-vacuum", &format!("[run]\nthreads = 2\n{FORCES}{stages}{list}"));
    let text = check(&case, &[]);
    for part in [
        "ensemble     3 replicas, 1 at once with 2 threads each",
        "replica-2    320 K, seed 2\n",
        "note         stage \"heat\" keeps its schedule of temperatures in all replicas\n",
        "MB for the replicas that run at the same time",
        "for all replicas (",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert!(check(&case, &["--effective"]).contains("temperature = [\"300 K\", \"320 K\", \"340 K\"]"));
    assert!(case.ends_with(0, &[]).contains("note: stage \"heat\" keeps its schedule"));
    let alone = check(&case, &["--replica", "3"]);
    assert!(
        alone.contains("hold: leapfrog, 10 steps of 2 fs = 20 fs; stochastic velocity rescaling at 340 K (1 ps)")
            && !alone.contains("ensemble"),
        "{alone}"
    );
}

#[test]
fn the_example_runs() {
    let folder = tempfile::tempdir().unwrap();
    let input = Path::new(env!("CARGO_MANIFEST_DIR")).join("inputs/ala2-vacuum/ensemble.toml");
    let mut command = Command::cargo_bin("md").unwrap();
    let command = command.arg("run").arg(input).args(["--steps", "50", "--quiet", "--output-dir"]).arg(folder.path());
    assert!(command.status().unwrap().success());
    for number in 1..=4 {
        assert!(folder.path().join(format!("replica-{number}/final.pdb")).exists());
    }
}

/// Tests a build without MPI under `mpirun`, which would start the same run several times in one folder and must be
/// refused.
#[cfg(not(feature = "mpi"))]
#[test]
fn ranks_need_a_build_with_mpi() {
    let case = case(1, "replicas = 2");
    let run = |variables: &[(&str, &str)], arguments: &[&str]| {
        let mut command = Command::cargo_bin("md").unwrap();
        command.args(["run", "input.toml", "--quiet", "--steps", "5"]).args(arguments).current_dir(case.path(""));
        let output = command.envs(variables.iter().copied()).output().unwrap();
        // the words are joined to one line, because the wrapping of messages depends on the length of words
        let said = String::from_utf8(output.stderr).unwrap();
        (output.status.code(), said.split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>().join(" "))
    };
    for [size, rank] in [
        ["OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"],
        ["PMI_SIZE", "PMI_RANK"],
        ["MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_RANK"],
        ["SLURM_STEP_NUM_TASKS", "SLURM_PROCID"],
    ] {
        let (code, said) = run(&[(size, "2"), (rank, "0")], &[]);
        for part in
            ["this process has the rank 0 of 2", size, "this md was built without MPI", "--features mpi", "env -u"]
        {
            assert!(code == Some(2) && said.contains(part), "{part} in {code:?}: {said}");
        }
        // only rank 0 prints the message
        assert_eq!(run(&[(size, "2"), (rank, "1")], &[]), (Some(2), String::new()));
    }
    assert!(!case.path("out").exists());
    let alone = [
        // Slurm variables of a single process: in the batch script of a job with several tasks, and in a job step with
        // one task
        (&[("SLURM_NTASKS", "4"), ("SLURM_PROCID", "0")][..], &[][..]),
        (&[("SLURM_NTASKS", "4"), ("SLURM_STEP_NUM_TASKS", "1"), ("SLURM_PROCID", "0")], &[]),
        // variables of one MPI rank within a Slurm job on two nodes
        (&[("OMPI_COMM_WORLD_SIZE", "1"), ("OMPI_COMM_WORLD_RANK", "0"), ("SLURM_STEP_NUM_TASKS", "2")], &[]),
        // variables of a Slurm job step in which each task runs one replica
        (&[("SLURM_STEP_NUM_TASKS", "2"), ("SLURM_PROCID", "1")], &["--replica", "2"]),
    ];
    for (index, (variables, arguments)) in alone.into_iter().enumerate() {
        let directory = format!("out-{index}");
        let (code, said) = run(variables, &[arguments, &["--output-dir", &directory]].concat());
        assert_eq!((code, said.as_str()), (Some(0), ""), "{variables:?}");
    }
}
