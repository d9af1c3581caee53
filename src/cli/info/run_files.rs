//! Descriptions of the output files of a run.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use super::cell_line;
use crate::error::{Problem, Result};
use crate::observe::energies::{EnergyRecord, TableKind, read_energies};
use crate::observe::lock::host_name;
use crate::observe::progress::{duration, three_digits};
use crate::observe::statistics::{Average, Statistics};
use crate::observe::status::{RunState, Status};
use crate::observe::summary::Summary;
use crate::observe::trajectory::{Description, Format};
use crate::run::Checkpoint;
use crate::units::rounded_time;

// The results of `writeln!` are dropped below, because writing to a String cannot fail.

pub(in crate::cli) fn trajectory(path: &Path, format: &Format) -> Result<String> {
    let Description { title, lines } = format.files.describe(path)?;
    let mut text = format!("{title}\n");
    for (label, value) in lines {
        let _ = writeln!(text, "{label:<13}{value}");
    }
    Ok(text)
}

pub(super) fn checkpoint(path: &Path) -> Result<String> {
    let Some(found) = Checkpoint::read(path)? else {
        return Err(Problem::new("the file does not exist").in_file(path).into());
    };
    let before_first_step = found.body.is_start();
    let Checkpoint { run_id, plan, stage, position, state, written, .. } = found.body;
    let mut text = format!("checkpoint of run {run_id}\n");
    if let Some(warning) = found.warning {
        let _ = writeln!(text, "warning      {warning}");
    }
    let name = plan.stages.get(stage).map_or("", |stage| stage.name.as_str());
    let _ = writeln!(text, "stage        {} of {}, {name}: {} steps done", stage + 1, plan.stages.len(), position.done);
    if !before_first_step {
        let _ = writeln!(text, "step         {}, {} ps", state.step, rounded_time(state.time));
        let _ = writeln!(text, "atoms        {}", state.positions.len());
        let _ = writeln!(text, "cell         {}", state.cell.map_or("none".to_owned(), |cell| cell_line(&cell)));
        for (name, mark) in written {
            let records = if name.ends_with(".csv") { "rows" } else { "frames" };
            let _ = writeln!(text, "{records:<13}{} in {name}", mark.extent.count);
        }
    }
    let _ = writeln!(text, "topology     {}", plan.system.topology.display());
    Ok(text)
}

pub(super) fn summary(path: &Path) -> Result<String> {
    let found = Summary::read(path)?;
    let mut text = format!("summary of a run of md {} on {}\n", found.version, found.host);
    let _ = writeln!(text, "run          {}", found.run_id);
    let _ = writeln!(text, "state        {}", found.state.word());
    let _ = writeln!(text, "atoms        {}", found.atoms);
    let _ = writeln!(text, "device       {}", found.device);
    let _ = writeln!(text, "simulated    {} steps, {} ps", found.steps, rounded_time(found.simulated_ps));
    if let Some(speed) = found.ns_per_day {
        let _ = writeln!(text, "speed        {speed:.3} ns/day");
    }
    if let Some(hash) = &found.final_state_hash {
        let _ = writeln!(text, "final state  {hash}");
    }
    for warning in &found.warnings {
        let _ = writeln!(text, "warning      {warning}");
    }
    for stage in &found.stages {
        let _ = writeln!(text, "\n{} ({}, {} steps)", stage.name, stage.kind, stage.steps);
        text.push_str(&means(&stage.averages));
    }
    Ok(text)
}

fn means(averages: &[Average]) -> String {
    let line = |average: &Average| {
        let error = average.error.map_or("unknown".to_owned(), |error| format!("{error:.2e}"));
        format!("{:<24}{:>18.6} {}, error {error}\n", average.name, average.mean, average.unit)
    };
    averages.iter().map(line).collect()
}

pub(super) fn status(path: &Path) -> Result<String> {
    let found = Status::read(path)?;
    let mut text = format!("status of a run, process {} on {}\n", found.process, found.host);
    let _ = writeln!(text, "run          {}", found.run_id);
    let _ = writeln!(text, "state        {}, written {}", found.state.word(), found.updated);
    if found.state == RunState::Running && is_gone(&found) {
        let _ = writeln!(
            text,
            "warning      the process does not exist any more: the run was killed; the same command continues it"
        );
    }
    let stage = (found.stage_number, found.stages, &found.stage, found.step, found.steps);
    let _ = writeln!(text, "stage        {} of {}, {}: step {} of {}", stage.0, stage.1, stage.2, stage.3, stage.4);
    let _ = writeln!(
        text,
        "simulated    {} ps in {} of wall time",
        rounded_time(found.time_ps),
        duration(found.wall_seconds)
    );
    if let Some(speed) = found.ns_per_day {
        let _ = writeln!(text, "speed        {} ns/day", three_digits(speed));
    }
    if let Some(seconds) = found.seconds_left.filter(|_| found.state == RunState::Running) {
        let _ = writeln!(text, "remaining    {} for this stage", duration(seconds));
    }
    if let Some(message) = &found.message {
        let _ = writeln!(text, "message      {message}");
    }
    Ok(text)
}

pub(super) fn energies(path: &Path) -> Result<String> {
    let record = read_energies(path)?;
    let kind = record.kind();
    let EnergyRecord { columns, rows } = record;
    let mut text = format!("{} of a run\nrows         {}\n", kind.words(), rows.len());
    if kind == TableKind::Minimisations {
        text.push_str(&descents(&rows));
        return Ok(text);
    }
    let (Some(first), Some(last)) = (rows.first(), rows.last()) else { return Ok(text) };
    let _ = writeln!(text, "steps        {} to {}, {} to {} ps", first[0], last[0], first[1], last[1]);
    // the rows of each restraint have means of their own
    let is_restraints = kind == TableKind::Restraints;
    let begin = EnergyRecord::FIRST + usize::from(is_restraints);
    let mut parts: BTreeMap<u64, Statistics> = BTreeMap::new();
    for row in rows.iter().filter(|row| row[EnergyRecord::STAGE] == last[EnergyRecord::STAGE]) {
        let part = if is_restraints { row[EnergyRecord::FIRST] as u64 } else { 0 };
        let names = columns[begin..].iter().map(|(name, unit)| (name.as_str(), unit.as_str()));
        let statistics = parts.entry(part).or_insert_with(|| Statistics::new(names));
        statistics.add(row[EnergyRecord::TIME], &row[begin..]);
    }
    for (part, statistics) in parts {
        let part = if is_restraints { format!("restraint {part} in ") } else { String::new() };
        let _ = writeln!(text, "\nmeans of {part}stage {}", last[EnergyRecord::STAGE]);
        text.push_str(&means(&statistics.averages()));
    }
    Ok(text)
}

/// Describes the start and the end of each minimisation in a table of minimisations.
fn descents(rows: &[Vec<f64>]) -> String {
    let mut text = String::new();
    for stage in rows.chunk_by(|a, b| a[EnergyRecord::STAGE] == b[EnergyRecord::STAGE]) {
        let ([first, ..], [.., last]) = (stage, stage) else { continue };
        let _ = writeln!(
            text,
            "\nstage {}, steps {} to {}\nenergy       {:.6e} to {:.6e} kJ/mol\nforce        {:.4e} kJ/mol/nm at the \
             end, on atom {}",
            last[EnergyRecord::STAGE],
            first[EnergyRecord::STEP],
            last[EnergyRecord::STEP],
            first[3],
            last[3],
            last[4],
            last[5]
        );
    }
    text
}

/// Whether the process of a run on this computer does not exist any more.
fn is_gone(status: &Status) -> bool {
    let place = |process: &str| Path::new("/proc").join(process).exists();
    status.host == host_name() && place("self") && !place(&status.process.to_string())
}
