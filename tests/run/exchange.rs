//! Tests of replica exchange: every replica must visit the same sequence of states, even if the run is interrupted.

use std::path::Path;
use std::process::Command;

use crate::case::{Case, assert_same, signal, wait_for};
use crate::swaps::{LANGEVIN, TEMPERATURES, assert_same_exchange, input, records, status};
use assert_cmd::cargo::CommandCargoExt;
use md::observe::exchange::read;
use md::observe::status::RunState;

fn case(threads: usize, at_once: usize) -> Case {
    Case::new("peptide-vacuum", &input(threads, LANGEVIN, TEMPERATURES, at_once))
}

#[test]
fn slots_and_stops_change_nothing() {
    let case = case(1, 1);
    let said = case.ends_with(0, &["--output-dir", "whole"]);
    for part in ["4 replicas, 1 at once", "1 (300 K) - 2 (330 K)", "10 attempts", "replica-4: finished, 0.2 ps"] {
        assert!(said.contains(part), "{part} in {said}");
    }
    let (rows, _) = records(&case, "whole", 4);
    assert_eq!(rows.iter().map(|row| row.step).collect::<Vec<_>>(), (2..=11).map(|k| 10 * k).collect::<Vec<_>>());
    assert!(rows.windows(2).any(|pair| pair[0].states != pair[1].states), "nothing was swapped: {rows:?}");
    let whole = status(&case, "whole");
    let pairs = whole.exchange.unwrap().pairs;
    assert_eq!(pairs.iter().map(|pair| pair.tried).collect::<Vec<_>>(), [5; 3]);
    // the page of a replica does not judge its means, which are over several states
    let run = md::report::RunFolder::read(&case.path("whole/replica-2")).unwrap();
    assert_eq!(run.exchange, Some(md::report::ReplicaExchange { replicas: 4, every: 10 }));
    let verdicts = md::report::verdicts(&run, md::report::Production::of(&run).as_ref());
    let found: Vec<&str> = verdicts.iter().map(|verdict| verdict.found.as_str()).collect();
    assert!(found.contains(&"not judged: the replica moves between the states of 4 replicas"), "{found:?}");
    assert!(!verdicts.iter().any(|verdict| verdict.aspect == "Temperature"), "{found:?}");
    // the run is done in parts whose last steps are before, at and after an exchange attempt
    for steps in ["10", "20", "55", "60", "100"] {
        case.ends_with(0, &["--output-dir", "parts", "--steps", steps]);
    }
    assert_same_exchange(&case, ["whole", "parts"]);
    assert!(case.ends_with(0, &["--output-dir", "parts"]).contains("already finished"));
    // three replicas run at once on three threads
    case.rewrite("peptide-vacuum", &input(3, LANGEVIN, TEMPERATURES, 3));
    case.ends_with(0, &["--output-dir", "wide"]);
    assert_same_exchange(&case, ["whole", "wide"]);
}

/// Tests that the run does not depend on stops after every step of every replica.
#[test]
fn stops_after_every_step_change_nothing() {
    let mut text = input(1, LANGEVIN, TEMPERATURES, 1);
    for (long, short) in [
        ("steps = 10\n", "steps = 1\n"),
        ("steps = 100\n", "steps = 8\n"),
        ("\"10 steps\"", "\"2 steps\""),
        ("\"20 fs\"", "\"4 fs\""),
    ] {
        assert!(text.contains(long), "{long} in {text}");
        text = text.replace(long, short);
    }
    let case = Case::new("peptide-vacuum", &text);
    case.ends_with(0, &["--output-dir", "whole"]);
    let (rows, _) = records(&case, "whole", 4);
    assert!(rows[..2].iter().any(|row| row.states != [0, 1, 2, 3]), "nothing was swapped: {rows:?}");
    // each call with this time limit does about one step of one replica
    let limited = ["--output-dir", "limited", "--steps", "5", "--max-hours", "1e-9"];
    let mut calls = 1;
    while case.run(&limited).code == Some(3) {
        calls += 1;
        assert!(calls < 60, "no end");
    }
    println!("{calls} calls");
    assert!(calls > 4 * 3, "stops are rare: {calls} calls for 6 steps of 4 replicas");
    case.ends_with(0, &["--output-dir", "limited"]);
    assert_same_exchange(&case, ["whole", "limited"]);
}

#[test]
fn a_replica_whose_checkpoint_is_older_repeats_what_is_written() {
    let case = case(2, 2);
    case.ends_with(0, &["--output-dir", "whole"]);
    case.ends_with(0, &["--output-dir", "parts", "--steps", "35"]);
    let [behind, kept] = ["parts/replica-3", "older"].map(|name| case.path(name));
    let copy =
        |from: &Path, to: &Path| assert!(Command::new("cp").arg("-r").args([from, to]).status().unwrap().success());
    copy(&behind, &kept);
    case.ends_with(0, &["--output-dir", "parts", "--steps", "80"]);
    // the older files simulate a kill at step 80 that leaves the replica with its checkpoint of step 35
    std::fs::remove_dir_all(&behind).unwrap();
    copy(&kept, &behind);
    case.ends_with(0, &["--output-dir", "parts"]);
    assert_same_exchange(&case, ["whole", "parts"]);
    // a replica cannot continue if the record of its exchange attempts is missing
    let record = case.path("parts/exchange.csv");
    let cut: String = std::fs::read_to_string(&record).unwrap().split_inclusive('\n').take(4).collect();
    std::fs::write(&record, cut).unwrap();
    std::fs::remove_file(case.path("parts/replica-2/summary.json")).unwrap();
    let said = case.ends_with(2, &["--output-dir", "parts"]);
    assert!(
        said.contains("after exchange attempt 9, but exchange.csv contains another state") && said.contains("--force"),
        "{said}"
    );
    std::fs::remove_dir_all(&behind).unwrap();
    assert!(case.ends_with(2, &["--output-dir", "parts"]).contains("but the folder replica-3 is missing"));
    case.ends_with(0, &["--output-dir", "parts", "--force", "--steps", "20"]);
    assert!(case.path("parts/exchange.bak1.csv").exists());
}

#[test]
fn killed_and_stopped_at_any_moment() {
    let often = "checkpoint = { every = \"0.001 s\" }\n[[stage]]\nname = \"a\"";
    let text = input(2, LANGEVIN, TEMPERATURES, 2).replacen("[[stage]]\nname = \"a\"", often, 1);
    let case = Case::new("peptide-vacuum", &text.replace("steps = 100", "duration = \"20 ns\""));
    let attempts = |name: &str| {
        let rows = read(&case.path(name).join("exchange.csv")).map_or(vec![], |(_, rows)| rows);
        (rows.len(), rows.last().map_or(0, |row| row.step))
    };
    let mut last = 0;
    for (name, end) in [("stopped", "TERM"), ("killed", "KILL")] {
        // the first signal comes while the run starts, and each other signal after some more attempts
        for more in [None, Some(1), None, Some(2), Some(4)] {
            let before = attempts(name).0;
            let mut child = case.start(&["--output-dir", name]);
            wait_for("a folder", || case.path(name).join("ensemble.json").exists());
            if let Some(more) = more {
                wait_for("some attempts", || attempts(name).0 >= before + more);
            }
            signal(&child, end);
            assert_ne!(child.wait().unwrap().code(), Some(0), "the run of 10 million steps has ended");
        }
        last = last.max(attempts(name).1);
    }
    println!("the last attempt is at step {last}");
    let end = (last + 40).to_string();
    case.ends_with(0, &["--output-dir", "whole", "--steps", &end]);
    for name in ["stopped", "killed"] {
        case.ends_with(0, &["--output-dir", name, "--steps", &end]);
        assert_same_exchange(&case, ["whole", name]);
    }
}

#[test]
fn a_replica_that_fails_ends_the_exchange_and_the_others_stop() {
    let case = Case::new("peptide-vacuum", &input(2, LANGEVIN, "temperature = [\"300 K\", \"3e8 K\", \"310 K\"]", 2));
    let said = case.ends_with(4, &[]);
    for part in
        ["replica-2: failed: step ", "error: replica-2: step ", "with a checkpoint, because replica-2 has failed"]
    {
        assert!(said.contains(part), "{part} in {said}");
    }
    let whole = status(&case, "out");
    assert_eq!(whole.state, RunState::Failed);
    // the third replica may not have started yet
    let states: Vec<_> = whole.replicas.iter().map(|replica| replica.state).collect();
    assert_eq!(states[..2], [RunState::Stopped, RunState::Failed]);
    assert!([RunState::Stopped, RunState::Waiting].contains(&states[2]), "{states:?}");
    // a repeated run fails in the same way, and no replica waits without end
    case.ends_with(4, &[]);
}

#[test]
fn signals_reach_those_that_wait() {
    let case = case(1, 1);
    let text = std::fs::read_to_string(case.path("input.toml")).unwrap();
    std::fs::write(case.path("input.toml"), text.replace("steps = 100", "duration = \"20 ns\"")).unwrap();
    let mut child = case.start(&[]);
    wait_for("some attempts", || read(&case.path("out/exchange.csv")).is_ok_and(|(_, rows)| rows.len() > 3));
    signal(&child, "TERM");
    assert_eq!(child.wait().unwrap().code(), Some(3));
    assert_eq!(status(&case, "out").state, RunState::Stopped);
}

/// Tests that exchanges, which scale velocities, do not change the conserved energy, also directly after a thermostat
/// has scaled the velocities.
#[test]
fn swaps_leave_the_conserved_energy_alone() {
    let rescale =
        "thermostat = { kind = \"v-rescale\", temperature = \"300 K\", coupling_time = \"0.5 ps\", every = 1 }";
    let rare = rescale.replace("every = 1 ", "every = 7 ");
    for thermostat in [rescale, &rare, LANGEVIN] {
        let text = input(2, thermostat, TEMPERATURES, 2).replace("steps = 100", "steps = 400");
        let text = text.replace("timestep = \"2 fs\"", "timestep = \"0.5 fs\"").replace("\"4 fs\"", "\"0.5 fs\"");
        let text = text.replace("[output]", "constraints = \"h-bonds\"\n[output]");
        let case = Case::new("peptide-vacuum", &text);
        case.ends_with(0, &[]);
        let (rows, _) = records(&case, "out", 4);
        let (mut at_swaps, mut swaps, mut elsewhere, mut others) = (0.0, 0, 0.0, 0);
        for replica in 0..4 {
            let folder = format!("out/replica-{}", replica + 1);
            let (conserved, step) = (case.column(&folder, "conserved (kJ/mol)"), case.column(&folder, "step"));
            for index in 12..step.len() {
                let change = (conserved[index] - conserved[index - 1]).powi(2);
                let at = rows.iter().position(|row| row.step as f64 == step[index]);
                let before = |at: usize| if at == 0 { replica } else { rows[at - 1].states[replica] };
                match at {
                    Some(at) if rows[at].states[replica] != before(at) => {
                        (at_swaps, swaps) = (at_swaps + change, swaps + 1)
                    }
                    _ => (elsewhere, others) = (elsewhere + change, others + 1),
                }
            }
        }
        assert!(swaps > 20, "{thermostat}: {swaps} swaps");
        let [at_swaps, elsewhere] = [at_swaps / f64::from(swaps), elsewhere / f64::from(others)].map(f64::sqrt);
        println!(
            "{thermostat}: conserved energy changes by {at_swaps:.2e} at {swaps} swaps, {elsewhere:.2e} kJ/mol elsewhere"
        );
        // an exchange adds or removes some 4 kJ/mol of kinetic energy, which counts as work
        assert!(at_swaps < 3.0 * elsewhere, "{thermostat}: {at_swaps} at swaps, {elsewhere} elsewhere");
    }
}

#[test]
fn frames_and_rows_are_sorted_by_state() {
    let case = case(2, 2);
    let demux = |arguments: &[&str]| {
        let mut command = Command::cargo_bin("md").unwrap();
        command.arg("demux").arg(case.path("out")).args(arguments).env("NO_COLOR", "1").output().unwrap()
    };
    assert!(String::from_utf8_lossy(&demux(&[]).stderr).contains("has no exchange.csv"));
    case.ends_with(0, &[]);
    let output = demux(&[]);
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && said.contains("trajectory.h5md: 12 records in each of 4 states"), "{said}");
    let (rows, _) = records(&case, "out", 4);
    let frames = |folder: &str| {
        let file = hdf5::File::open(case.path(folder).join("trajectory.h5md")).unwrap();
        let steps = file.dataset("particles/trajectory/position/step").unwrap().read_raw::<i64>().unwrap();
        let positions = file.dataset("coordinates").unwrap().read_raw::<f32>().unwrap();
        (steps, positions)
    };
    let replicas: Vec<_> = (1..=4).map(|number| frames(&format!("out/replica-{number}"))).collect();
    let lines = |folder: String| -> Vec<String> {
        let text = std::fs::read_to_string(case.path(&folder).join("energies.csv")).unwrap();
        text.lines().map(str::to_owned).collect()
    };
    let replica_of = |state: usize, step: i64| {
        let last = rows.iter().rev().find(|row| row.step as i64 <= step);
        last.map_or(state, |row| row.states.iter().position(|of| *of == state).unwrap())
    };
    let tables: Vec<_> = (1..=4).map(|number| lines(format!("out/replica-{number}"))).collect();
    for state in 0..4 {
        let (steps, positions) = frames(&format!("out/state-{}", state + 1));
        let size = positions.len() / steps.len();
        for (frame, &step) in steps.iter().enumerate() {
            let replica = &replicas[replica_of(state, step)];
            assert_eq!(replica.0[frame], step);
            assert!(
                positions[frame * size..][..size] == replica.1[frame * size..][..size],
                "state {state}, step {step}"
            );
        }
        let table = lines(format!("out/state-{}", state + 1));
        assert_eq!((table.len(), &table[0]), (tables[0].len(), &tables[0][0]));
        for (index, line) in table.iter().enumerate().skip(1) {
            let step = line.split(',').next().unwrap().parse().unwrap();
            assert_eq!(line, &tables[replica_of(state, step)][index]);
        }
    }
    assert!(String::from_utf8_lossy(&demux(&[]).stderr).contains("state-1: the folder already exists"));
    assert!(demux(&["--force"]).status.success());
}

#[test]
fn check_says_what_is_swapped_and_one_replica_is_refused() {
    let far = "temperature = [\"300 K\", \"330 K\", \"2000 K\"]";
    let case = Case::new("peptide-vacuum", &input(2, LANGEVIN, far, 2));
    let check = |arguments: &[&str]| {
        let mut command = Command::cargo_bin("md").unwrap();
        let output = command.arg("check").arg(case.path("input.toml")).args(arguments).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let text = check(&[]);
    for part in [
        "exchange     states are exchanged in stage \"b\" every 10 steps (0.02 ps) in 10 attempts\n",
        "acceptance   about 1-2: 0.",
        "MB for all\n",
        "warning      at most about 0.",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert!(case.ends_with(2, &["--replica", "2"]).contains("a replica of a replica exchange cannot run alone"));
    // a run with another exchange interval is a different run
    case.rewrite("peptide-vacuum", &input(2, LANGEVIN, TEMPERATURES, 2));
    case.ends_with(0, &["--steps", "20"]);
    case.rewrite("peptide-vacuum", &input(2, LANGEVIN, TEMPERATURES, 2).replace("10 steps\" }\n", "5 steps\" }\n"));
    assert!(case.ends_with(2, &[]).contains("exchange.every, in steps: 10 -> 5"));
    // the attempts in exchange.csv belong to the last stage of the run that wrote them
    let text = input(2, LANGEVIN, TEMPERATURES, 2);
    let (stages, ensemble) = text.split_once("[ensemble]").unwrap();
    let (_, last) = stages.rsplit_once("[[stage]]").unwrap();
    let longer = format!("{stages}[[stage]]{}[ensemble]{ensemble}", last.replace("name = \"b\"", "name = \"c\""));
    case.rewrite("peptide-vacuum", &longer);
    assert!(case.ends_with(2, &[]).contains("a stage was added after stage \"b\""));
}

#[test]
fn the_example_runs() {
    let folder = tempfile::tempdir().unwrap();
    let input = Path::new(env!("CARGO_MANIFEST_DIR")).join("inputs/ala2-vacuum/exchange.toml");
    let mut command = Command::cargo_bin("md").unwrap();
    let command = command.arg("run").arg(input).args(["--steps", "50", "--quiet", "--output-dir"]).arg(folder.path());
    assert!(command.status().unwrap().success());
    assert!(folder.path().join("exchange.csv").exists() && folder.path().join("replica-5/final.pdb").exists());
}

/// Tests atoms without interactions, whose sampled distribution and exchange probability are known.
/// `validation/exchange` has the long version and the integrals.
#[test]
fn ideal_systems_have_their_distributions_and_swap_as_often_as_they_should() {
    let folder = tempfile::tempdir().unwrap();
    let [topology, coordinates] = ["atoms.top", "atoms.gro"].map(|name| folder.path().join(name));
    let (mut text, atoms) = ("atoms on a lattice\n16\n".to_owned(), 16);
    for atom in 0..atoms {
        let (x, y) = (0.4 + 0.8 * f64::from(atom % 4), 0.4 + 0.8 * f64::from(atom / 4));
        text += &format!("{0:5}{1:<5}{1:>5}{0:5}{x:8.3}{y:8.3}{2:8.3}\n", atom + 1, "X", 0.4);
    }
    std::fs::write(&coordinates, text + "   3.50000   3.50000   3.50000\n").unwrap();
    let types = "[ defaults ]\n1 2 no 1.0 1.0\n[ atomtypes ]\nX 6 20.0 0.0 A 0.3 0.0\n";
    let molecules = "[ moleculetype ]\nX 0\n[ atoms ]\n1 X 1 X X 1 0.0 20.0\n[ system ]\natoms\n[ molecules ]\nX 16\n";
    std::fs::write(&topology, format!("{types}{molecules}")).unwrap();
    let forces = "[run]\nthreads = 2\n[forces]\ncutoff = \"0.3 nm\"\nelectrostatics = \"off\"\ndispersion_correction = false\n\
        [output]\ntrajectory = \"none\"\nenergies = { every = \"25 steps\" }\n";
    let stage = |steps: u32, more: &str| {
        format!(
            "[[stage]]\nname = \"n{steps}\"\nkind = \"dynamics\"\nsteps = {steps}\ntimestep = \"20 fs\"\nthermostat = {{ kind = \
             \"langevin\", temperature = \"300 K\", friction = \"5 1/ps\" }}\n{more}\n"
        )
    };
    let wells = "position_restraints = { select = \"all\", force_constant = \"1000 kJ/mol/nm^2\" }";
    let piston =
        "barostat = { kind = \"monte-carlo\", pressure = \"16 bar\", every = 5, compressibility = \"0.06 1/bar\" }";
    let temperatures = "temperature = [\"300 K\", \"360 K\", \"432 K\"]\n";
    let both = "temperature = [\"300 K\", \"330 K\", \"370 K\"]\npressure = [\"16 bar\", \"24 bar\", \"36 bar\"]\n";
    let bar = 0.060_221_407_6;
    // E/kT or PV/kT of a state has a gamma distribution with this shape; exchange probabilities follow from the ratios
    // of 1/kT or of P/kT
    for (more, list, column, factors, shape, exact) in [
        (wells, temperatures, "potential (kJ/mol)", [1.0; 3], 24.0, [0.5301, 0.5301]),
        (piston, both, "volume (nm^3)", [16.0, 24.0, 36.0].map(|p| p * bar), 17.0, [0.3703, 0.4004]),
    ] {
        let stages = stage(2000, &format!("velocities = \"generate\"\n{more}")) + &stage(10_000, more);
        let case = Case::new("argon", "");
        let ensemble = format!("[ensemble]\n{list}exchange = {{ every = \"25 steps\" }}\n");
        case.write_input(&topology, &coordinates, &format!("{forces}{stages}{ensemble}"));
        case.ends_with(0, &["--quiet"]);
        let exchange = status(&case, "out").exchange.unwrap();
        assert_eq!(exchange.attempts, 400);
        for (pair, exact) in exchange.pairs.iter().zip(exact) {
            let tried = pair.tried as f64;
            let error = 4.0 * (exact * (1.0 - exact) / tried).sqrt();
            let accepted = pair.accepted as f64 / tried;
            println!("{column}: {:?} {:.3} {accepted:.3}, exact {exact}", pair.states, pair.mean_probability);
            assert!(
                (pair.mean_probability - exact).abs() < error && (accepted - exact).abs() < error,
                "{pair:?} {exact}"
            );
        }
        let mut command = Command::cargo_bin("md").unwrap();
        assert!(command.arg("demux").arg(case.path("out")).output().unwrap().status.success());
        for (state, factor) in factors.into_iter().enumerate() {
            let kelvin: f64 =
                list.split('"').skip(1).step_by(2).nth(state).unwrap().split(' ').next().unwrap().parse().unwrap();
            let values = case.column(&format!("out/state-{}", state + 1), column);
            // the first fifth of the run is equilibration
            let values = &values[values.len() / 5..];
            let mean = values.iter().sum::<f64>() / values.len() as f64 * factor / (8.314_462_618e-3 * kelvin);
            // four standard errors; the correlation time of volumes is about four rows
            let error = 4.0 * (4.0 * shape / values.len() as f64).sqrt();
            println!("{column}: state {} has {mean:.2}, exact {shape} within {error:.2}", state + 1);
            assert!((mean - shape).abs() < error, "state {state}: {mean} {shape}");
        }
    }
}

/// Tests replicas with a scaled solute (REST2): results do not depend on interruptions, and a scale of one changes
/// nothing.
#[test]
fn scaled_solutes_are_swapped() {
    let solute = "solute_temperature = [\"300 K\", \"350 K\", \"420 K\", \"500 K\"]";
    let text = input(1, LANGEVIN, solute, 1);
    let text = text.replace("[forces]\n", "[forces]\nscaled_solute = { select = \"all\" }\n");
    let case = Case::new("peptide-vacuum", &text);
    let said = case.ends_with(0, &["--output-dir", "whole"]);
    assert!(said.contains("1 (solute 300 K) - 2 (solute 350 K)"), "{said}");
    let (rows, _) = records(&case, "whole", 4);
    let moved = rows.windows(2).filter(|pair| pair[0].states != pair[1].states).count();
    assert!(moved > 3, "{rows:?}");
    // an exchange of Hamiltonians changes the conserved energy no more than other steps do
    for replica in 1..=4 {
        let conserved = case.column(&format!("whole/replica-{replica}"), "conserved (kJ/mol)");
        let rows_of_attempts = |row: usize| rows.iter().any(|attempt| attempt.step == 2 * row as u64);
        let change = |swaps: bool| {
            let chosen = (1..conserved.len()).filter(|&row| rows_of_attempts(row) == swaps);
            chosen.map(|row| (conserved[row] - conserved[row - 1]).abs()).fold(0.0, f64::max)
        };
        println!("replica {replica}: {:.3} at attempts, {:.3} elsewhere", change(true), change(false));
        assert!(change(true) < 2.0 * change(false), "replica {replica}");
    }
    for steps in ["10", "25", "60", "83"] {
        case.ends_with(0, &["--output-dir", "parts", "--steps", steps]);
    }
    case.ends_with(0, &["--output-dir", "parts"]);
    assert_same_exchange(&case, ["whole", "parts"]);
    case.rewrite("peptide-vacuum", &text.replace("threads = 1", "threads = 2").replace("at_once = 1", "at_once = 2"));
    case.ends_with(0, &["--output-dir", "wide"]);
    assert_same_exchange(&case, ["whole", "wide"]);
    // a scale factor of one leaves every bit of the results unchanged
    let alone = text.split("[ensemble]").next().unwrap();
    case.rewrite("peptide-vacuum", alone);
    case.ends_with(0, &["--output-dir", "one"]);
    case.rewrite("peptide-vacuum", &alone.replace("scaled_solute = { select = \"all\" }\n", ""));
    case.ends_with(0, &["--output-dir", "none"]);
    assert_same(&case.record("one"), &case.record("none"));
    for (list, reason) in [
        ("solute_temperature = [\"290 K\", \"350 K\"]", "290 K is below the thermostat temperature of 300 K"),
        (
            "solute_temperature = [\"300 K\", \"350 K\"]\ntemperature = [\"300 K\", \"310 K\"]",
            "the same thermostat temperature",
        ),
    ] {
        case.rewrite("peptide-vacuum", &text.replace(solute, list));
        assert!(case.ends_with(2, &[]).contains(reason), "{reason}");
    }
    case.rewrite("peptide-vacuum", &input(1, LANGEVIN, solute, 1));
    assert!(case.ends_with(2, &[]).contains("no solute is defined"));
}

/// Replicas of an exchange at constant volume must have the same volume. Rounding in the files is accepted.
#[test]
fn replicas_of_different_volumes_are_refused_without_a_barostat() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/systems/water/water.rst7.xz");
    let text = String::from_utf8(md::format::read(&file).unwrap()).unwrap();
    let edges = text.lines().last().unwrap();
    let scaled = |factor: f64| {
        let numbers = edges.split_ascii_whitespace().map(|word| word.parse::<f64>().unwrap());
        let numbers =
            numbers.enumerate().map(|(k, value)| format!("{:12.7}", if k < 3 { value * factor } else { value }));
        text.replace(edges, &numbers.collect::<String>())
    };
    let input = |barostat: &str| {
        format!(
            "[run]\nthreads = 2\n[forces]\ncutoff = \"0.8 nm\"\npme = {{ spacing = \"0.15 nm\", order = 4 }}\n\
             [[stage]]\nkind = \"dynamics\"\nname = \"p\"\nsteps = 2\ntimestep = \"1 fs\"\nvelocities = \"generate\"\n\
             {LANGEVIN}\n{barostat}\n[ensemble]\ntemperature = [\"300 K\", \"303 K\"]\nexchange = {{ every = \"2 steps\" }}\n\
             replica = [{{}}, {{ set = {{ \"system.coordinates\" = \"b.rst7\" }} }}]\n"
        )
    };
    let case = Case::new("water", &input(""));
    std::fs::write(case.path("b.rst7"), scaled(1.02)).unwrap();
    let messages = case.ends_with(2, &[]);
    let volume = |factor: f64| {
        let edges: Vec<f64> = edges.split_ascii_whitespace().map(|word| word.parse().unwrap()).collect();
        // the file has edges in angstrom
        format!("{:.4} nm^3", edges[..3].iter().map(|edge| edge * factor / 10.0).product::<f64>())
    };
    for part in ["stage \"p\" has no barostat", &volume(1.0), &volume(1.02), "replica 2"] {
        assert!(messages.contains(part), "{part}: {messages}");
    }
    assert!(!case.path("out").exists());
    std::fs::write(case.path("b.rst7"), scaled(1.0 + 2e-5)).unwrap();
    case.ends_with(0, &["--output-dir", "rounded"]);
    std::fs::write(case.path("b.rst7"), scaled(1.02)).unwrap();
    case.rewrite("water", &input("barostat = { kind = \"c-rescale\", pressure = \"1 bar\" }"));
    case.ends_with(0, &["--output-dir", "npt"]);
}
