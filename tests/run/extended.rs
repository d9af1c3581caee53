//! Tests of finished runs that are extended by steps or by stages, and of the averages of their stages.

use crate::case::Case;

/// Error of the mean of numbers that the energy table rounds to six decimals.
const ROUNDING: f64 = 1e-6;

/// Returns an input file of a peptide in vacuum, with rows of the energy table at the interval `every` (steps).
fn vacuum(every: u32, stages: &[String]) -> String {
    format!(
        "[run]\nthreads = 1\n[forces]\ncutoff = \"none\"\nelectrostatics = \"plain\"\n\
         [output]\nenergies = {{ every = \"{every} steps\" }}\ntrajectory = \"none\"\n{}",
        stages.concat()
    )
}

/// Returns a stage of dynamics at constant temperature.
fn stage(name: &str, steps: u32, thermostat: &str) -> String {
    let velocities = if name == "a" { "velocities = \"generate\"\n" } else { "" };
    format!(
        "[[stage]]\nname = \"{name}\"\nkind = \"dynamics\"\nsteps = {steps}\ntimestep = \"2 fs\"\n{velocities}\
         thermostat = {{ temperature = \"300 K\"{thermostat} }}\n"
    )
}

/// Checks that the averages of the stage with index `index` are means over the rows of this stage in the energy table,
/// and returns the steps of these rows.
fn steps_of_averages(case: &Case, directory: &str, index: usize) -> Vec<f64> {
    let stages = case.column(directory, "stage");
    let of_stage = |name: &str| -> Vec<f64> {
        let rows = case.column(directory, name).into_iter().zip(&stages);
        rows.filter(|(_, stage)| **stage == (index + 1) as f64).map(|(value, _)| value).collect()
    };
    for (name, column) in [("potential", "potential (kJ/mol)"), ("temperature", "temperature (K)")] {
        let values = of_stage(column);
        let averages = &case.summary(directory).stages[index].averages;
        let average = averages.iter().find(|average| average.name == name).unwrap();
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        assert_eq!(average.samples, values.len() as u64, "{directory} {name}");
        assert!((average.mean - mean).abs() < ROUNDING, "{directory} {name}: {average:?}, mean of the rows {mean}");
    }
    of_stage("step")
}

/// Tests that the last row of a finished run, which the continued run does not compute again, remains in the averages.
#[test]
fn averages_have_the_last_row_of_a_finished_run() {
    let case = Case::new("peptide-vacuum", &vacuum(20, &[stage("a", 100, "")]));
    for directory in ["more", "parts", "same", "stage"] {
        case.ends_with(0, &["--output-dir", directory]);
    }
    case.rewrite("peptide-vacuum", &vacuum(20, &[stage("a", 200, "")]));
    case.ends_with(0, &["--output-dir", "same"]);
    assert_eq!(steps_of_averages(&case, "same", 0).len(), 11);
    case.rewrite("peptide-vacuum", &vacuum(30, &[stage("a", 200, "")]));
    // the second command ends at a step without a row, the third command at a step with a row
    for (directory, steps) in [("more", "200"), ("parts", "110"), ("parts", "180"), ("parts", "200")] {
        case.ends_with(0, &["--output-dir", directory, "--steps", steps]);
    }
    let steps = [0.0, 20.0, 40.0, 60.0, 80.0, 100.0, 120.0, 150.0, 180.0];
    assert_eq!(steps_of_averages(&case, "more", 0), steps);
    assert_eq!(steps_of_averages(&case, "parts", 0), steps);
    case.rewrite("peptide-vacuum", &vacuum(20, &[stage("a", 100, ""), stage("b", 40, "")]));
    case.ends_with(0, &["--output-dir", "stage"]);
    assert_eq!(steps_of_averages(&case, "stage", 0), steps[..6]);
    assert_eq!(steps_of_averages(&case, "stage", 1), [100.0, 120.0, 140.0]);
}

#[test]
fn a_stage_with_other_columns_needs_a_new_table() {
    let case = Case::new("peptide-vacuum", &vacuum(20, &[stage("a", 100, "")]));
    case.ends_with(0, &[]);
    let groups = ", groups = { select = \"index 0-9\", temperature = \"310 K\" }";
    let stages = [stage("a", 100, ""), stage("b", 40, groups)];
    case.rewrite("peptide-vacuum", &vacuum(20, &stages));
    let messages = case.ends_with(2, &[]);
    for part in ["energies.csv:1: the stages of this run now need other columns", "added: temperature_", "--no-append"]
    {
        assert!(messages.contains(part), "{part}: {messages}");
    }
    case.ends_with(0, &["--no-append"]);
    assert_eq!(case.column("out", "step"), [100.0, 120.0, 140.0]);
    let samples = |index: usize| case.summary("out").stages[index].averages[0].samples;
    assert_eq!([samples(0), samples(1)], [6, 3]);
}

/// Tests that a minimisation does not list the volume moves of the stage before it.
#[test]
fn volume_moves_belong_to_the_stage_of_their_barostat() {
    let rest = [
        "[run]\nthreads = 1\n[forces]\ncutoff = \"0.8 nm\"\n[output]\ntrajectory = \"none\"\n",
        &stage("a", 20, "").replace("}\n", "}\nbarostat = { kind = \"monte-carlo\", every = 5 }\n"),
        "[[stage]]\nname = \"down\"\nkind = \"minimize\"\nsteps = 2\n",
    ];
    let case = Case::new("water", &rest.concat());
    case.ends_with(0, &[]);
    let trials =
        case.summary("out").stages.into_iter().map(|stage| {
            stage.averages.into_iter().filter(|average| average.name.starts_with("accepted trials")).count()
        });
    assert_eq!(trials.collect::<Vec<_>>(), [1, 0]);
}
