//! `md check`: checks an input and describes the run.

use std::fmt::Write;
use std::process::ExitCode;

use clap::Args;

use super::estimate::{self, Processors};
use super::info;
use super::input::Input;
use super::launch::{on_ranks, same_input};
use super::replicas::{self, Replicas};
use crate::config::{Config, read_text};
use crate::error::Result;
use crate::observe::lock::check_place;
use crate::observe::progress::counted;
use crate::observe::trajectory::Format;
use crate::prepare::{ConstrainedTerms, Prepared};
use crate::ranks::Ranks;
use crate::run::{
    Engine, Plan, StageKind, TrajectoryOptions, describe_conventions, describe_cutoffs, describe_degrees_of_freedom,
    describe_device, describe_electrostatics, describe_lists, describe_methods, describe_stage, load, preflight,
    processors, warnings,
};
use crate::system::{State, System, Topology};

/// Check an input file and the files it names, and describe the run without starting it
#[derive(Debug, Args)]
pub(super) struct Check {
    #[command(flatten)]
    input: Input,
    /// Also print the effective configuration with all defaults
    #[arg(long)]
    effective: bool,
    /// Check only this replica of an ensemble, by number from 1 or by name
    #[arg(long, value_name = "N")]
    replica: Option<String>,
}

/// Describes a run without replicas. Time and memory are estimated for the threads and ranks of `engine`. If there is
/// no engine, the number of threads follows from the plan.
fn plain(plan: &Plan, engine: Option<&Engine>) -> Result<String> {
    let Prepared { system, state, left_out, .. } = load(plan, ConstrainedTerms::Drop)?;
    let (threads, level) = match engine {
        Some(engine) => (engine.threads, engine.level),
        None => processors(plan)?,
    };
    let mut text = summary(plan, &system, &state)?;
    let division = engine.map(|engine| engine.division(engine.ranks(), plan, &system, &state)).transpose()?.flatten();
    let memory = estimate::memory(&system, &state, threads) / 1e6;
    let ranks = engine.map_or(1, Engine::ranks);
    if engine.is_none() {
        let _ = writeln!(text, "device       {}", describe_device(plan, &system)?);
    }
    match &division {
        Some(share) => {
            let each = counted(threads, "thread");
            let domains = format!("{share}, one domain on each of {} ranks with {each}", share.ranks);
            let of_rank = estimate::memory_of_rank(&system, &state, threads, share) / 1e6;
            let memory = format!("at most about {memory:.0} MB on rank 0, about {of_rank:.0} MB on each other rank");
            let _ = writeln!(text, "domains      {domains}\nmemory       {memory}");
        }
        None => {
            let each = if ranks > 1 { " on each rank" } else { "" };
            let _ = writeln!(text, "memory       about {memory:.0} MB{each}");
        }
    }
    let processors = Processors { threads, level, ranks, share: division.as_ref() };
    if !plan.stages.is_empty() {
        let _ = writeln!(text, "time         {}", estimate::time(plan, &system, &state, processors));
        if division.is_some() {
            let _ = writeln!(text, "a step       {}", estimate::parts(plan, &system, &state, processors));
        }
    }
    preflight(plan, &system, &state)?;
    write_warnings(&mut text, warnings(plan, &system, &state, left_out));
    Ok(text)
}

/// Describes the first replica of an ensemble, and the differences of the other replicas from the first.
fn described(replicas: &Replicas<'_>) -> Result<String> {
    let (plan, start) = replicas.first();
    let mut text = summary(plan, &start.system, &start.state)? + &replicas.describe()?;
    write_warnings(&mut text, warnings(plan, &start.system, &start.state, start.left_out));
    write_warnings(&mut text, replicas.further_warnings());
    Ok(text)
}

fn write_warnings(text: &mut String, warnings: Vec<String>) {
    for warning in warnings {
        let _ = writeln!(text, "warning      {warning}");
    }
}

impl Check {
    pub(super) fn execute(&self) -> ExitCode {
        on_ranks(self.replica.is_some(), |ranks| self.on(ranks).map(|()| ExitCode::SUCCESS))
    }

    /// Checks and describes the run on one of the MPI ranks. Only rank 0 prints.
    fn on(&self, ranks: &Ranks) -> Result<()> {
        let (config, text) = ranks.agree(self.config())?;
        same_input(ranks, &text, &config)?;
        self.described(&config, ranks).map_err(|error| config.source.locate(error))
    }

    fn described(&self, config: &Config, ranks: &Ranks) -> Result<()> {
        let replicas = Replicas::read(&self.input, &[], config, ranks)?;
        let is_divided = ranks.count() > 1 && replicas.is_none();
        let engine = is_divided.then(|| Engine::among(&config.plan, ranks)).transpose()?;
        let print = || self.print(config, replicas.as_ref(), engine.as_ref());
        ranks.agree(if ranks.is_first() { print() } else { Ok(()) })
    }

    /// Returns the configuration and the text of the input file. With `--replica`, the configuration is that of the
    /// named replica.
    fn config(&self) -> Result<(Config, String)> {
        let shared = self.input.read(vec![])?;
        let config = match &self.replica {
            Some(which) => replicas::one(&self.input, &[], &shared, which)?,
            None => shared,
        };
        Ok((config, read_text(self.input.path())?))
    }

    fn print(&self, config: &Config, replicas: Option<&Replicas<'_>>, engine: Option<&Engine>) -> Result<()> {
        check_place(&config.plan.output.directory)?;
        let mut text = match replicas {
            Some(replicas) => described(replicas)?,
            None => plain(&config.plan, engine)?,
        };
        if self.effective {
            text.push('\n');
            text.push_str(&config.effective);
        }
        super::print(&text)
    }
}

// The results of `writeln!` are dropped below, because writing to a String cannot fail.

fn summary(plan: &Plan, system: &System, state: &State) -> Result<String> {
    let mut text = String::new();
    let _ = writeln!(text, "system       {}", info::contents(&system.topology));
    match &state.cell {
        Some(cell) => {
            let density = system.topology.density(cell.volume());
            let _ = writeln!(text, "cell         {}, density {density:.4} g/cm3", info::cell_line(cell));
        }
        None => text.push_str("cell         none\n"),
    }
    let (cutoffs, electrostatics) = (describe_cutoffs(&system.settings), describe_electrostatics(&system.settings));
    let _ = writeln!(text, "forces       cutoff {cutoffs}; {electrostatics}");
    if let Some(conventions) = describe_conventions(plan, system) {
        let _ = writeln!(text, "conventions  {conventions}");
    }
    if let Some(methods) = describe_methods(system) {
        let _ = writeln!(text, "ignored      {methods}");
    }
    let _ = writeln!(text, "pair lists   {}", describe_lists(plan, system, state));
    let constraints = &system.constraints;
    let freedom = describe_degrees_of_freedom(plan, system, state.cell.is_some());
    let (waters, bonds) = (constraints.settles.len(), constraints.bonds.len());
    let fixed = if waters > 0 && !plan.forces.rigid_water { " (fixed by the topology)" } else { "" };
    let _ = writeln!(
        text,
        "constraints  {waters} rigid waters{fixed}, {bonds} distance constraints; {freedom} degrees of freedom"
    );
    for (index, stage) in plan.stages.iter().enumerate() {
        let _ = writeln!(text, "stage {:<6} {}: {}", index + 1, stage.name, describe_stage(plan, stage));
    }
    let _ = writeln!(text, "output       {}", output(plan, &system.topology)?);
    Ok(text)
}

fn output(plan: &Plan, topology: &Topology) -> Result<String> {
    let directory = plan.output.directory.display();
    let file = |trajectory: &TrajectoryOptions| {
        let intervals = plan.intervals(&trajectory.file);
        // the end of a stage and the start of the next stage of dynamics have the same step, and one frame
        let (mut frames, mut has_start) = (0, false);
        for (index, stage) in plan.stages.iter().enumerate() {
            let StageKind::Dynamics(stage) = &stage.kind else { continue };
            let Some(every) = intervals.of_stage(index).map(|every| every.steps(stage.timestep)) else {
                has_start &= stage.steps == 0;
                continue;
            };
            frames += stage.steps / every + u64::from(!has_start);
            has_start = stage.steps.is_multiple_of(every);
        }
        let selected = trajectory.selected(topology)?.map(|atoms| topology.subset(&atoms));
        let TrajectoryOptions { velocities, forces, images, .. } = *trajectory;
        let vectors = [velocities, forces, images].map(u64::from).iter().sum();
        let format = Format::of_name(&trajectory.file)?;
        let bytes = format.most_bytes(selected.as_ref().unwrap_or(topology), frames, vectors);
        Ok(format!("{frames} frames in {}, at most {}", trajectory.file, size(bytes)))
    };
    let files = plan.output.trajectories.iter().map(file).collect::<Result<Vec<String>>>()?;
    Ok(match files.is_empty() {
        true => format!("{directory}: no frames"),
        false => format!("{directory}: {}", files.join("; ")),
    })
}

/// Formats an upper bound of the size of a file, rounded up to kilobytes or to tenths of a megabyte.
fn size(bytes: f64) -> String {
    match (bytes / 1e3).ceil() {
        kilobytes if kilobytes < 1e3 => format!("{kilobytes} kB"),
        _ => format!("{:.1} MB", (bytes / 1e5).ceil() / 10.0),
    }
}
