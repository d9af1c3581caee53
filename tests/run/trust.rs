//! What a run says of itself before anybody believes it: the comparison of its first step, and warnings.

use crate::case::Case;

const STAGE: &str = "[forces]\npme = { spacing = \"0.15 nm\" }\n[output]\ntrajectory = \"none\"\n[[stage]]\nname = \"a\"\n\
                     kind = \"dynamics\"\nsteps = 60\ntimestep = \"2 fs\"\nvelocities = \"generate\"\n\
                     thermostat = { temperature = \"300 K\" }\n";

#[test]
fn the_first_step_of_every_part_is_compared_with_the_reference() {
    let case = Case::new("peptide-charged", STAGE);
    let lines = || {
        let log = std::fs::read_to_string(case.path("out").join("run.log")).unwrap();
        log.lines().filter(|line| line.starts_with("forces on 729 atoms are within")).map(str::to_owned).collect()
    };
    case.ends_with(0, &["--steps", "13"]);
    let first: Vec<String> = lines();
    assert!(first.len() == 1 && first[0].contains("energies within"), "{first:?}");
    // in the middle of the lives of both lists
    case.ends_with(0, &[]);
    assert_eq!(lines().len(), 2);
    // nothing to compare the reference with
    let double = Case::new("peptide-vacuum", &STAGE.replace("pme = { spacing = \"0.15 nm\" }", "cutoff = \"none\""));
    double.ends_with(0, &["--set", "run.precision=\"double\"", "--steps", "1"]);
    let log = std::fs::read_to_string(double.path("out").join("run.log")).unwrap();
    assert!(!log.contains("double-precision reference,") && !log.contains("are within"), "{log}");
}

#[test]
fn warnings_are_in_the_log_and_the_summary() {
    let case = Case::new("peptide-charged", STAGE);
    let shown = case.ends_with(0, &["--steps", "1"]);
    assert!(shown.contains("Warning: the net charge is -1.000 e"), "{shown}");
    let warnings = case.summary("out").warnings;
    assert!(warnings.len() == 1 && warnings[0].contains("net charge"), "{warnings:?}");
}

#[test]
fn a_timestep_too_long_for_flexible_bonds_is_refused_before_anything_is_written() {
    let case = Case::new("peptide-charged", &STAGE.replace("[forces]\n", "[forces]\nconstraints = \"none\"\n"));
    let shown = case.ends_with(2, &[]);
    let words = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("the timestep of 2 fs") && words.contains("steps, fewer than 5"), "{words}");
    assert!(!case.path("out").exists());
    case.ends_with(0, &["--steps", "1", "--set", "stage.a.timestep=\"0.5 fs\""]);
}
