//! Tests that a run that is interrupted and continued gives bit for bit the same result as an uninterrupted run.

use std::path::Path;

use crate::case::{Case, Record, assert_same, signal, wait_for};

/// Forces of a periodic system. The cell is 2 nm wide; the cutoff is below half of this width to leave a margin for
/// the barostat.
const PERIODIC: &str = "[forces]\ncutoff = \"0.8 nm\"\npme = { spacing = \"0.15 nm\" }";
const VACUUM: &str = "[forces]\ncutoff = \"none\"\nelectrostatics = \"plain\"";
const OUTPUT: &str = "[output]\ndirectory = \"whole\"\nenergies = { every = \"20 fs\" }\ntrajectory = { every = \"60 fs\", velocities = true }";
const NVE: &str = "[[stage]]\nname = \"a\"\nkind = \"dynamics\"\nduration = \"10 ps\"\ntimestep = \"2 fs\"\n\
    velocities = \"generate\"\ntemperature = \"300 K\"";
const THERMOSTAT: &str = "thermostat = { temperature = \"300 K\", coupling_time = \"0.1 ps\" }";
const BAROSTAT: &str = "barostat = { pressure = \"1 bar\", coupling_time = \"2 ps\" }";

fn stages() -> String {
    format!(
        "[[stage]]\nname = \"minimize\"\nkind = \"minimize\"\nsteps = 60\n\
         [[stage]]\nname = \"nvt\"\nkind = \"dynamics\"\nduration = \"0.3 ps\"\ntimestep = \"2 fs\"\n\
         velocities = \"generate\"\n{THERMOSTAT}\n\
         [[stage]]\nname = \"npt\"\nkind = \"dynamics\"\nduration = \"0.4 ps\"\ntimestep = \"2 fs\"\n{THERMOSTAT}\n{BAROSTAT}"
    )
}

/// Runs 200 steps at once and in pieces, and compares the results. The pieces end at different ages of the pair lists,
/// and at different positions between steps with couplings and output.
fn in_pieces(system: &str, rest: &str, steps: [&str; 4]) {
    let case = Case::new(system, &format!("{rest}\n{OUTPUT}"));
    case.ends_with(0, &["--steps", steps[3]]);
    for part in steps {
        case.ends_with(0, &["--steps", part, "--output-dir", "parts"]);
    }
    assert_same(&case.record("whole"), &case.record("parts"));
}

/// Assembles an input file. `[run]` comes before the stages, because a TOML table ends where the next one begins.
fn input(run: &str, forces: &str, stage: &str) -> String {
    format!("[run]\n{run}\n{forces}\n{stage}")
}

#[test]
fn dynamics_in_vacuum() {
    in_pieces("peptide-vacuum", &input("threads = 1", VACUUM, NVE), ["1", "100", "163", "200"]);
}

#[test]
fn dynamics_in_water_on_two_threads() {
    in_pieces("water", &input("threads = 2", PERIODIC, NVE), ["37", "100", "101", "200"]);
}

#[test]
fn constant_pressure() {
    let stage = format!("{NVE}\n{THERMOSTAT}\n{BAROSTAT}").replace("temperature = \"300 K\"\nthermo", "thermo");
    in_pieces("peptide-charged", &input("threads = 1", PERIODIC, &stage), ["37", "100", "110", "200"]);
}

#[test]
fn directions_and_trial_moves() {
    let stage = format!("{NVE}\n{THERMOSTAT}\n{BAROSTAT}").replace("temperature = \"300 K\"\nthermo", "thermo");
    let with = |barostat: &str| input("threads = 2", PERIODIC, &stage.replace("pressure = \"1 bar\"", barostat));
    let semi = with("pressure = \"1 bar\", coupling = \"semi-isotropic\", surface_tension = \"30 mN/m\"");
    in_pieces("peptide-charged", &semi, ["37", "100", "110", "200"]);
    // some volume moves are in steps with output: steps 10 and 120
    let trials = with("kind = \"monte-carlo\", every = 11, coupling = \"anisotropic\"");
    let trials = trials.replace(", coupling_time = \"2 ps\" }", " }");
    in_pieces("peptide-charged", &trials, ["10", "120", "121", "200"]);
    in_pieces("tip5p", &trials, ["21", "22", "43", "60"]);
}

#[test]
fn multiple_time_steps() {
    let impulses = "multiple_time_steps = { every = 2 }";
    let stage = format!("{NVE}\n{THERMOSTAT}\n{BAROSTAT}\n{impulses}");
    let stage = stage.replace("temperature = \"300 K\"\nthermo", "thermo");
    let rescaled = input("threads = 2", PERIODIC, &stage);
    in_pieces("peptide-charged", &rescaled, ["37", "100", "111", "200"]);
    let trials = rescaled.replace("coupling_time = \"2 ps\" }", "kind = \"monte-carlo\", every = 4 }");
    let noise = trials.replace("coupling_time = \"0.1 ps\" }", "kind = \"langevin\", every = 3 }");
    in_pieces("tip5p", &noise, ["23", "24", "43", "60"]);
}

#[test]
fn virtual_sites() {
    let stage = format!("{NVE}\n{THERMOSTAT}\n{BAROSTAT}").replace("temperature = \"300 K\"\nthermo", "thermo");
    in_pieces("tip5p", &input("threads = 2", PERIODIC, &stage), ["37", "100", "110", "200"]);
}

#[test]
fn friction_noise_and_restraints() {
    let thermostat = "thermostat = { kind = \"langevin\", temperature = \"300 K\", every = 3 }\n\
        position_restraints = { select = \"protein and heavy\" }";
    let stage = format!("{NVE}\n{thermostat}\n{BAROSTAT}").replace("temperature = \"300 K\"\nthermo", "thermo");
    in_pieces("peptide-charged", &input("threads = 2", PERIODIC, &stage), ["37", "100", "110", "200"]);
    let andersen = stage.replace("langevin", "andersen");
    in_pieces(
        "water",
        &input("threads = 2", PERIODIC, &andersen.replace("protein and heavy", "name O")),
        ["7", "20", "21", "60"],
    );
}

#[test]
fn pulling_and_frozen_atoms() {
    // the first restraint is centered on its value at the start of the stage; the minimisation before it moves the
    // atoms
    let restraints = "restraints = [\
        { kind = \"distance\", groups = [\"index 0-4\", \"index 15\"], force_constant = \"500 kJ/mol/nm^2\", rate = \"0.2 nm/ps\" },\
        { kind = \"rmsd\", groups = [\"protein and heavy\"], at = \"0.05 nm\", force_constant = \"900 kJ/mol/nm^2\" },\
        { kind = \"angle\", groups = [\"index 0\", \"index 4\", \"index 9\"], force = \"5 kJ/mol/rad\" }]";
    let still = restraints.replace(", rate = \"0.2 nm/ps\"", "");
    let minimize = format!("[[stage]]\nname = \"down\"\nkind = \"minimize\"\nsteps = 5\n{still}");
    let stage = format!("{minimize}\n{NVE}\n{restraints}\nfrozen = \"resid 9\"");
    let case = Case::new("peptide-charged", &format!("{}\n{OUTPUT}", input("threads = 2", PERIODIC, &stage)));
    case.ends_with(0, &["--steps", "200"]);
    for part in ["5", "37", "100", "110", "200"] {
        case.ends_with(0, &["--steps", part, "--output-dir", "parts"]);
    }
    assert_same(&case.record("whole"), &case.record("parts"));
    let [whole, parts] =
        ["whole", "parts"].map(|name| case.contents(name).remove(Path::new("restraints.csv")).unwrap());
    assert_eq!(String::from_utf8(whole).unwrap(), String::from_utf8(parts).unwrap());
}

#[test]
fn reproducible_on_any_number_of_threads() {
    let stage = format!("{NVE}\n{THERMOSTAT}\n{BAROSTAT}").replace("temperature = \"300 K\"\nthermo", "thermo");
    let record = |reproducible: bool, threads: &str| {
        let run = format!("reproducible = {reproducible}");
        let case = Case::new("peptide-charged", &format!("{}\n{OUTPUT}", input(&run, PERIODIC, &stage)));
        case.ends_with(0, &["--steps", "60", "--threads", threads]);
        case.record("whole")
    };
    let one = record(true, "1");
    assert_same(&one, &record(true, "2"));
    assert_same(&one, &record(true, "3"));
    assert_ne!(record(false, "1").hash, record(false, "2").hash, "no difference to be seen in this test");
}

#[test]
fn double_precision() {
    let stage = format!("{NVE}\n{THERMOSTAT}\n{BAROSTAT}").replace("temperature = \"300 K\"\nthermo", "thermo");
    in_pieces("water", &input("threads = 1\nprecision = \"double\"", PERIODIC, &stage), ["7", "20", "21", "30"]);
    in_pieces("peptide-vacuum", &input("precision = \"double\"", VACUUM, NVE), ["37", "100", "101", "200"]);
}

#[test]
fn lists_by_displacement() {
    let forces = format!("{PERIODIC}\nlist = {{ buffer = \"0.08 nm\" }}");
    let stage = format!("{NVE}\n{THERMOSTAT}\n{BAROSTAT}").replace("temperature = \"300 K\"\nthermo", "thermo");
    in_pieces("water", &input("threads = 1", &forces, &stage), ["37", "100", "101", "200"]);
}

/// Runs all stages at once, for comparison.
fn whole() -> (Case, Record) {
    let case = Case::new("water", &format!("{}\n{OUTPUT}", input("threads = 1", PERIODIC, &stages())));
    case.ends_with(0, &[]);
    let record = case.record("whole");
    (case, record)
}

/// Starts the run repeatedly until the run has finished, and ends each start with the signal `end`. Returns the number
/// of starts.
fn until_done(case: &Case, directory: &str, end: &str, expected: Option<i32>) -> usize {
    for (attempt, delay) in [20, 150, 300, 450, 600, 700].into_iter().cycle().enumerate() {
        let mut child = case.start(&["--output-dir", directory]);
        if attempt < 12 {
            std::thread::sleep(std::time::Duration::from_millis(delay));
            signal(&child, end);
        }
        let code = child.wait().unwrap().code();
        if code == Some(0) {
            return attempt + 1;
        }
        // the program cannot handle a signal in its first moments, so that the signal kills it
        assert!(code == expected || code.is_none(), "attempt {attempt}: {code:?}");
    }
    unreachable!("the attempts after the twelfth are left alone")
}

#[test]
fn stopped_and_killed_at_any_moment_of_any_stage() {
    let (case, record) = whole();
    let stops = until_done(&case, "stopped", "TERM", Some(3));
    assert!(stops > 1, "never stopped");
    assert_same(&record, &case.record("stopped"));
    // a killed run continues from the checkpoint at the end of the last finished stage, or at the start of the run
    let kills = until_done(&case, "killed", "KILL", None);
    assert!(kills > 1, "never killed");
    assert_same(&record, &case.record("killed"));
    let often = OUTPUT.to_owned() + "\ncheckpoint = { every = \"0.001 s\" }";
    case.rewrite("water", &format!("{}\n{often}", input("threads = 1", PERIODIC, &stages())));
    until_done(&case, "often", "KILL", None);
    assert_same(&record, &case.record("often"));
    // averages of all stages do not depend on interruptions
    let averages = |directory: &str| serde_json::to_value(case.summary(directory).stages).unwrap();
    for directory in ["stopped", "killed", "often"] {
        assert_eq!(averages("whole"), averages(directory), "{directory}");
    }
}

#[test]
fn out_of_time_and_continued() {
    let case = Case::new("water", &format!("{}\n{OUTPUT}", input("threads = 1", PERIODIC, &stages())));
    // each call with this time limit, which expires before the first step, does one step of one stage
    let arguments = ["--steps", "2", "--max-hours", "1e-9", "--output-dir", "parts"];
    let mut calls = 1;
    while case.run(&arguments).code == Some(3) {
        assert_eq!(case.summary("parts").steps, 1);
        calls += 1;
        assert!(calls < 20, "no end");
    }
    assert!(calls > 3, "stopped only {} times", calls - 1);
    case.ends_with(0, &["--steps", "2", "--output-dir", "short"]);
    assert_same(&case.record("short"), &case.record("parts"));
    case.ends_with(0, &["--output-dir", "parts"]);
    case.ends_with(0, &["--output-dir", "short"]);
    assert_same(&case.record("short"), &case.record("parts"));
}

#[test]
fn a_checkpoint_on_request_changes_nothing() {
    let (case, record) = whole();
    let mut child = case.start(&["--output-dir", "asked"]);
    wait_for("a few rows", || case.rows("asked") > 3);
    // the checkpoint at the end of the minimisation has replaced the checkpoint of the start
    let checkpoint = case.path("asked/checkpoint.md");
    let before = std::fs::metadata(&checkpoint).unwrap().modified().unwrap();
    signal(&child, "USR1");
    wait_for("a checkpoint", || std::fs::metadata(&checkpoint).is_ok_and(|m| m.modified().unwrap() > before));
    assert!(child.try_wait().unwrap().is_none(), "the run ended before the checkpoint was seen");
    assert!(child.wait().unwrap().success());
    assert_same(&record, &case.record("asked"));
}

#[test]
fn neither_output_nor_repetition_changes_the_final_state() {
    let (case, record) = whole();
    case.ends_with(0, &["--output-dir", "again"]);
    assert_same(&record, &case.record("again"));
    for output in [
        "energies = \"none\"\ntrajectory = \"none\"",
        "energies = { every = \"2 fs\" }\ntrajectory = { every = \"2 fs\", velocities = true, forces = true }\ncheckpoint = { every = \"0.001 s\" }",
    ] {
        let rest = input("threads = 1", PERIODIC, &stages());
        case.rewrite("water", &format!("{rest}\n[output]\ndirectory = \"other\"\n{output}"));
        case.ends_with(0, &["--force"]);
        assert_eq!(case.summary("other").final_state_hash.unwrap(), record.hash, "{output}");
    }
}
