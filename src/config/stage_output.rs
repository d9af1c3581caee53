//! Output settings of a stage that differ from the output settings of the run.

use std::time::Duration;

use super::value::{Table, report};
use crate::error::Problem;
use crate::observe::files::{ENERGIES, RESTRAINTS};
use crate::run::{CheckpointOptions, Interval, OutputOptions, StageOutput};

/// Returns the output settings of a stage from its table `output`. `run` has the output settings of the run.
pub(super) fn stage_output(
    stage: &Table,
    run: Option<&OutputOptions>,
    problems: &mut Vec<Problem>,
) -> Option<StageOutput> {
    let Some(table) = stage.table("output") else { return (!stage.is_set("output")).then(StageOutput::default) };
    let (run, before) = (run?, problems.len());
    let mut output = StageOutput::default();
    for (key, file, runs) in
        [("energies", ENERGIES, run.energies.is_some()), ("restraints", RESTRAINTS, run.restraints.is_some())]
    {
        let every = if table.word(key).is_some() { Some(None) } else { table.table(key).and_then(every) };
        let Some(every) = every else { continue };
        if every.is_some() && !runs {
            no_file(table, key, problems);
        } else if runs {
            output.every.insert(file.to_owned(), every);
        }
    }
    if table.word("trajectory").is_some() {
        output.every.extend(run.trajectories.iter().map(|options| (options.file.clone(), None)));
    }
    for inner in table.tables("trajectory") {
        trajectory(inner, run, &mut output, problems);
    }
    if let Some(inner) = table.table("checkpoint") {
        let every = Duration::from_secs_f64(inner.number("every")?);
        output.checkpoint = Some(CheckpointOptions { every });
    }
    (problems.len() == before).then_some(output)
}

/// Returns the interval `every` of a table; `Some(None)` for the word "none".
fn every(table: &Table) -> Option<Option<Interval>> {
    table.word("every").map(|_| None).or_else(|| table.interval("every").map(Some))
}

fn no_file(table: &Table, key: &str, problems: &mut Vec<Problem>) {
    let message = format!("stage.output.{key} has no effect with output.{key} = \"none\"");
    let help = format!("set output.{key} in [output], and set {key} = \"none\" in the output of other stages");
    report(problems, table, key, message, &help);
}

/// Sets the interval of the trajectories that the table selects: of one trajectory, or of all trajectories.
fn trajectory(table: &Table, run: &OutputOptions, output: &mut StageOutput, problems: &mut Vec<Problem>) {
    let Some(every) = every(table) else { return };
    let known = || run.trajectories.iter().map(|options| options.file.as_str());
    let files: Vec<&str> = known().filter(|file| table.text("file").is_none_or(|asked| asked == *file)).collect();
    if files.is_empty() && known().next().is_none() {
        return no_file(table, "trajectory", problems);
    }
    if let Some(file) = table.text("file").filter(|_| files.is_empty()) {
        let message = format!("stage.output.trajectory.file: the run writes no trajectory \"{file}\"");
        let help = format!("the run writes {}, as set in [output]", known().collect::<Vec<_>>().join(", "));
        report(problems, table, "file", message, &help);
    }
    for file in files {
        if output.every.insert(file.to_owned(), every).is_some() {
            let message = format!("stage.output.trajectory: \"{file}\" has two intervals");
            report(problems, table, "file", message, "keep one of the two intervals");
        }
    }
}
