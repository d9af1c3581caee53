//! Tests of a single system on several ranks: results equal the results on one rank, and a rank may be stopped or
//! killed.

use super::case::{Case, assert_same, signal, wait_for};
use super::{ends_with, over, process_of, said};
use std::process::{Command, Stdio};

/// Returns a case with a peptide in water. The cutoff is so short that two domains fit along each edge of the cell.
fn case(stage: &str) -> Case {
    let forces = "[run]\nthreads = 1\n[forces]\ncutoff = \"0.45 nm\"\nconstraints = \"h-bonds\"\n[output]\n\
        energies = { every = \"20 fs\" }\ntrajectory = { every = \"40 fs\", velocities = true }\n";
    let dynamics = "[[stage]]\nname = \"a\"\nkind = \"dynamics\"\n";
    Case::new("peptide-ff19sb", &format!("{forces}{dynamics}{stage}"))
}

/// Stage of 120 steps at constant temperature and pressure.
const COUPLED: &str = "velocities = \"file\"\nsteps = 120\ntimestep = \"2 fs\"\n\
    thermostat = { temperature = \"300 K\", coupling_time = \"0.1 ps\" }\n\
    barostat = { pressure = \"1 bar\", coupling_time = \"1 ps\" }\n";

#[test]
fn a_system_is_the_same_on_any_number_of_ranks() {
    let case = case(COUPLED);
    case.ends_with(0, &["--output-dir", "alone", "--quiet"]);
    for ranks in [2, 4] {
        let directory = format!("on-{ranks}");
        let text = ends_with(0, &case, ranks, &["--output-dir", &directory]);
        assert_eq!(text.matches("output in ").count(), 1, "{text}");
        assert_eq!(case.rows(&directory), case.rows("alone"));
        communicates(&case, &directory, ranks);
        // energies of the first configuration agree within the rounding of mixed precision; later the trajectories
        // diverge
        for (name, tolerances) in [
            ("potential (kJ/mol)", [1e-6, 2e-3]),
            ("conserved (kJ/mol)", [1e-6, 1e-5]),
            ("pressure (bar)", [1e-3, 0.5]),
        ] {
            let [alone, ours] = ["alone", &directory].map(|directory| case.column(directory, name));
            for (row, tolerance) in [0, alone.len() - 1].into_iter().zip(tolerances) {
                let (ours, alone) = (ours[row], alone[row]);
                let near = (ours - alone).abs() < tolerance * alone.abs();
                assert!(near, "{ranks} ranks, {name} in row {row}: {ours}, not {alone}");
            }
        }
    }
}

/// Asserts that the summary and the log of a run state the messages that its ranks have sent.
fn communicates(case: &Case, directory: &str, ranks: u32) {
    let (summary, others) = (case.summary(directory), f64::from(ranks) - 1.0);
    let of = |name: &str| summary.communication.iter().find(|row| row.name == name).unwrap();
    let imbalance = summary.pair_imbalance.unwrap();
    assert!((1.0..1.3).contains(&imbalance), "{imbalance}");
    for row in &summary.communication {
        for number in [row.bytes, row.messages] {
            assert!(number.mean > 0.0 && number.mean <= number.largest, "{row:?}");
        }
    }
    // a step has at least one evaluation of forces, with a message of each rank along each divided direction
    let directions = f64::from(ranks.ilog2());
    for name in ["halo positions", "halo forces"] {
        assert!(of(name).messages.mean >= directions, "{:?}", of(name));
        // a message has 24 bytes for each of some hundred halo atoms
        assert!(of(name).bytes.mean > 2400.0, "{:?}", of(name));
    }
    // marks of planes; two transposes to each other rank; charges, and the potential back, where there are any
    let (mesh, rounds) = (of("mesh").messages, directions);
    assert!(mesh.mean > rounds + 2.0 * others && mesh.largest <= rounds + 4.0 * others, "{mesh:?}");
    // rank 0 sends a command in log₂ n messages, and all other ranks receive it once; at least the commands to compute
    // forces and to integrate are sent in each step
    let commands = of("commands").messages;
    let received = commands.mean * f64::from(ranks) / others;
    assert!((received * rounds - commands.largest).abs() < 1e-9 * commands.largest, "{commands:?}");
    assert!(received >= 2.0, "{commands:?}");
    let table = "sent in a step  bytes  largest";
    let log = |directory: &str| std::fs::read_to_string(case.path(directory).join("run.log")).unwrap();
    let words = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let is_in = |directory| words(log(directory)).contains(&words(table.to_owned()));
    assert!(is_in(directory) && !is_in("alone"));
    assert_eq!(case.summary("alone").communication, []);
}

/// Stages with methods that act on more than the atoms of one rank: restraints and multiple time steps, pulling and a
/// Monte Carlo barostat, frozen atoms.
const METHODS: [&str; 3] = [
    "thermostat = { kind = \"langevin\", temperature = \"300 K\", friction = \"2 1/ps\" }\n\
     multiple_time_steps = { every = 2 }\n\
     position_restraints = [{ select = \"protein and heavy\", force_constant = \"1000 kJ/mol/nm^2\" }]\n",
    "thermostat = { temperature = \"300 K\", coupling_time = \"0.1 ps\" }\n\
     barostat = { kind = \"monte-carlo\", pressure = \"1 bar\", every = 10 }\n\
     restraints = [{ kind = \"distance\", groups = [\"index 4\", \"index 30\"], rate = \"0.1 nm/ns\", \
     force_constant = \"500 kJ/mol/nm^2\" }]\n",
    "frozen = \"protein\"\nthermostat = { temperature = \"300 K\", coupling_time = \"0.1 ps\" }\n",
];

#[test]
fn methods_of_all_atoms_run_on_any_number_of_ranks() {
    for method in METHODS {
        let case = case(&format!("velocities = \"file\"\nsteps = 60\ntimestep = \"2 fs\"\n{method}"));
        case.ends_with(0, &["--output-dir", "alone", "--quiet"]);
        for ranks in [2, 4] {
            let directory = format!("on-{ranks}");
            ends_with(0, &case, ranks, &["--output-dir", &directory]);
            assert_eq!(case.rows(&directory), case.rows("alone"));
            for (name, tolerance) in
                [("conserved (kJ/mol)", 1e-5), ("potential (kJ/mol)", 2e-3), ("volume (nm^3)", 1e-5)]
            {
                let [alone, ours] = ["alone", &directory].map(|directory| case.column(directory, name));
                for (row, (ours, alone)) in ours.iter().zip(&alone).enumerate() {
                    let near = (ours - alone).abs() < tolerance * alone.abs();
                    assert!(near, "{ranks} ranks, {name} in row {row}: {ours}, not {alone}\n{method}");
                }
            }
        }
        // the run is interrupted within a cycle of multiple time steps, between two reciprocal-space impulses
        ends_with(0, &case, 2, &["--steps", "31"]);
        ends_with(0, &case, 2, &[]);
        assert_same(&case.record("out"), &case.record("on-2"));
    }
}

#[test]
fn an_interrupted_run_is_that_which_was_not() {
    let case = case(COUPLED);
    ends_with(0, &case, 2, &["--output-dir", "whole"]);
    ends_with(0, &case, 2, &["--steps", "50"]);
    ends_with(0, &case, 2, &[]);
    assert_same(&case.record("out"), &case.record("whole"));
    // a run can continue on another number of ranks, but then its results are not bit for bit the same
    ends_with(0, &case, 2, &["--steps", "50", "--output-dir", "other"]);
    ends_with(0, &case, 4, &["--output-dir", "other"]);
    assert_eq!(case.state("other").step, 120);
    let [whole, other] = ["whole", "other"].map(|directory| case.column(directory, "conserved (kJ/mol)"));
    let last = whole.len() - 1;
    assert!((whole[last] - other[last]).abs() < 1e-5 * whole[last].abs(), "{} and {}", whole[last], other[last]);
}

/// Returns the processes of the first and of the second rank of a run on two ranks.
fn processes(case: &Case) -> [u32; 2] {
    let first = process_of(case, "out");
    let parent = |process: u32| {
        let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
        status.lines().find(|line| line.starts_with("PPid")).unwrap().to_owned()
    };
    let names = std::fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let is_md =
        |process: u32| std::fs::read_to_string(format!("/proc/{process}/comm")).is_ok_and(|name| name == "md\n");
    let mut others = names.filter_map(|name| name.parse().ok()).filter(|&process| process != first && is_md(process));
    let other = others.find(|&process| parent(process) == parent(first)).unwrap();
    [first, other]
}

#[test]
fn signals_to_the_second_rank_act_on_the_run() {
    let case = case("velocities = \"file\"\nduration = \"20 ns\"\ntimestep = \"2 fs\"\n");
    let mut child = over(&case, 2, "run", &["--quiet"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_for("a few rows", || case.rows("out") > 3);
    let [_, second] = processes(&case);
    let send = |name: &str| Command::new("kill").args([name, &second.to_string()]).status().unwrap().success();
    assert!(send("-USR1"));
    wait_for("a checkpoint", || case.path("out/checkpoint.md").exists() && case.state("out").step > 0);
    let early = case.state("out").step;
    assert!(send("-TERM"));
    assert_eq!(child.wait().unwrap().code(), Some(3));
    assert!(case.state("out").step > early);
}

#[test]
fn a_rank_that_is_killed_ends_the_job_and_the_same_command_continues() {
    let case = case("velocities = \"file\"\nduration = \"20 ns\"\ntimestep = \"2 fs\"\n");
    let quiet = &["--quiet"];
    let mut child = over(&case, 2, "run", quiet).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_for("a few rows", || case.rows("out") > 3);
    signal(&child, "USR1");
    wait_for("a checkpoint", || case.path("out/checkpoint.md").exists() && case.state("out").step > 0);
    let [first, other] = processes(&case);
    assert!(Command::new("kill").args(["-KILL", &other.to_string()]).status().unwrap().success());
    let mut code = None;
    wait_for("the end of the job", || {
        code = child.try_wait().unwrap();
        code.is_some()
    });
    assert!(!code.unwrap().success());
    let is_over = || std::fs::read(format!("/proc/{first}/cmdline")).map_or(true, |line| line.is_empty());
    wait_for("the end of the first rank", is_over);
    let last = case.state("out").step + 20;
    ends_with(0, &case, 2, &["--steps", &last.to_string()]);
    assert_eq!(case.state("out").step, last);
}

#[test]
fn what_cannot_be_divided_is_refused_once() {
    let vacuum = super::case("");
    let text = ends_with(2, &vacuum, 2, &[]);
    assert_eq!(text.matches("a system without a periodic cell cannot be divided among").count(), 1, "{text}");
    // a single rank runs the system, without messages
    assert!(ends_with(0, &vacuum, 1, &["--quiet", "--steps", "5"]).is_empty());
    let crowded = case(COUPLED);
    let text = ends_with(2, &crowded, 5, &[]);
    assert_eq!(text.matches("cannot be divided among 5 ranks").count(), 1, "{text}");
    assert!(!crowded.path("out").exists(), "something has begun");
}

#[test]
fn double_precision_is_the_same_bit_for_bit_on_any_number_of_ranks() {
    const DOUBLE: [&str; 4] = ["--set", "run.precision=\"double\"", "--steps", "20"];
    // ranks share the pairs and divide nothing, so that any number of ranks computes systems with and without a cell
    for (case, ranks) in [(case(COUPLED), 3), (super::case(""), 2)] {
        case.ends_with(0, &[&DOUBLE[..], &["--output-dir", "alone", "--quiet"]].concat());
        let text = ends_with(0, &case, ranks, &DOUBLE);
        assert!(text.contains(&format!("double precision, pairs shared among {ranks} ranks")), "{text}");
        assert_same(&case.record("out"), &case.record("alone"));
        let output = over(&case, ranks, "check", &["--set", "run.precision=\"double\""]).output().unwrap();
        let text = said(&output);
        assert!(text.contains(&format!("on {ranks} ranks of 1 thread in double precision")), "{text}");
        assert!(text.contains(" MB on each rank "), "{text}");
    }
}

#[test]
fn check_says_how_a_system_is_divided() {
    let output = over(&case(COUPLED), 4, "check", &[]).output().unwrap();
    let text = said(&output);
    assert!(output.status.success(), "{text}");
    assert_eq!(text.matches("domains, one domain on each of 4 ranks with 1 thread").count(), 1, "{text}");
    assert_eq!(text.matches("MB on each other rank").count(), 1, "{text}");
    assert!(text.contains("on 4 ranks of 1 thread ") && text.contains("% messages of the PME mesh"), "{text}");
}
