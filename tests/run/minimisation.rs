//! Tests of runs with stages of minimisation: the table of each step, and the output of dynamics around a minimisation.

use std::path::Path;

use crate::case::{Case, assert_same};

const VACUUM: &str = "[run]\nthreads = 1\n[forces]\ncutoff = \"none\"\nelectrostatics = \"plain\"\n\
    [output]\nenergies = { every = \"20 fs\" }\ntrajectory = { every = \"60 fs\", velocities = true }";
const MINIMIZE: &str = "\n[[stage]]\nname = \"down\"\nkind = \"minimize\"\nsteps = 25";

fn dynamics(name: &str, velocities: &str) -> String {
    format!(
        "\n[[stage]]\nname = \"{name}\"\nkind = \"dynamics\"\nsteps = 60\ntimestep = \"2 fs\"\n{velocities}\n\
         thermostat = {{ temperature = \"300 K\", coupling_time = \"0.1 ps\" }}"
    )
}

/// Returns the rows of the table of minimisations.
fn rows(case: &Case, folder: &str) -> Vec<Vec<f64>> {
    let text = String::from_utf8(case.contents(folder).remove(Path::new("minimisation.csv")).unwrap()).unwrap();
    text.lines().skip(1).map(|line| line.split(',').map(|value| value.parse().unwrap()).collect()).collect()
}

#[test]
fn each_step_of_a_minimisation_has_a_row() {
    let case = Case::new("peptide-vacuum", &format!("{VACUUM}{MINIMIZE}"));
    case.ends_with(0, &[]);
    let rows = rows(&case, "out");
    let steps: Vec<Vec<f64>> = (0..=25).map(|step| vec![f64::from(step), 0.0, 1.0]).collect();
    assert_eq!(rows.iter().map(|row| row[..3].to_vec()).collect::<Vec<_>>(), steps);
    assert!(rows.windows(2).all(|pair| pair[1][3] <= pair[0][3]) && rows[25][3] < rows[0][3], "{rows:?}");
    // the last row has the numbers of the summary and of the log
    let averages = &case.summary("out").stages[0].averages;
    assert!((rows[25][3] / averages[0].mean - 1.0).abs() < 1e-8, "{averages:?}");
    assert!((rows[25][4] / averages[1].mean - 1.0).abs() < 1e-5, "{averages:?}");
    let log = std::fs::read_to_string(case.path("out/run.log")).unwrap();
    let line = log.lines().find(|line| line.contains("after 25 steps")).unwrap();
    assert!(line.ends_with(&format!("on atom {}", rows[25][5])), "{line}");
}

/// Tests that new files of a continued run begin after the last row of the old files.
#[test]
fn parts_of_the_table_join_without_a_repeated_row() {
    let case = Case::new("peptide-vacuum", &format!("{VACUUM}{MINIMIZE}"));
    case.ends_with(0, &["--output-dir", "whole"]);
    case.ends_with(0, &["--steps", "10"]);
    case.ends_with(0, &["--no-append"]);
    let parts = ["minimisation.part1.csv", "minimisation.csv"].map(|name| {
        let text = String::from_utf8(case.contents("out").remove(Path::new(name)).unwrap()).unwrap();
        text.split_once('\n').unwrap().1.to_owned()
    });
    let whole = String::from_utf8(case.contents("whole").remove(Path::new("minimisation.csv")).unwrap()).unwrap();
    assert_eq!(whole.split_once('\n').unwrap().1, parts.concat());
}

/// Tests that the last frame and the last row of a stage of dynamics are written if a minimisation follows, and that
/// `md check` counts the frames.
#[test]
fn dynamics_before_a_minimisation_is_reported_to_its_end() {
    let velocities = "velocities = \"generate\"";
    let input = [VACUUM, &dynamics("a", velocities), MINIMIZE, &dynamics("b", "")].concat();
    let case = Case::new("peptide-vacuum", &input);
    case.ends_with(0, &["--output-dir", "whole"]);
    let whole = case.record("whole");
    // frames at the steps 0, 30 and 60 of the first stage, and 90 and 120 of the second
    let times: Vec<i64> = whole.times.iter().map(|time| (1000.0 * time).round() as i64).collect();
    assert_eq!(times, [0, 60, 120, 180, 240]);
    let stages = case.column("whole", "stage");
    assert_eq!(stages, [[1.0; 7], [3.0; 7]].concat());
    let potential = case.column("whole", "potential (kJ/mol)");
    assert!(potential[7] < potential[6], "{potential:?}");
    let mut check = assert_cmd::Command::cargo_bin("md").unwrap();
    let output = check.args(["check", "input.toml"]).current_dir(case.path(".")).output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(printed.contains("5 frames in trajectory.h5md"), "{printed}");
    // the run may stop at the end of the first stage, and in the minimisation
    for steps in ["60", "72", "145"] {
        case.ends_with(0, &["--steps", steps, "--output-dir", "parts"]);
    }
    assert_same(&whole, &case.record("parts"));
}
