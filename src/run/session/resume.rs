//! Continuation of a run from its checkpoint, and checks for changes since the checkpoint was written.

use crate::error::{Error, Problem, Result};
use crate::observe::files::CHECKPOINT;
use crate::observe::summary::StageSummary;
use crate::run::checkpoint::fingerprint::Fingerprint;
use crate::run::checkpoint::{Checkpoint, Written};
use crate::run::output::Outputs;
use crate::run::output::directory::Directory;
use crate::run::output::reporter::RunInfo;
use crate::run::plan::{OutputOptions, Plan, Stage, StageKind};
use crate::run::session::job::Job;

/// Identity of a run, and the checkpoint with which the run starts.
pub(in crate::run) struct RunStart {
    pub(in crate::run) run_id: String,
    /// checkpoint from which the run continues; `None` for a new run
    pub(in crate::run) checkpoint: Option<Checkpoint>,
    /// reason why the newest checkpoint was not used; `None` if it was used
    pub(in crate::run) warning: Option<String>,
}

/// Finds the run in the output directory, or begins a new run. A new run first writes a checkpoint of its start. This
/// checkpoint marks the directory as the directory of this run, even if the run is killed early.
pub(in crate::run) fn find_start(job: &Job<'_>, directory: &Directory, system: &Fingerprint) -> Result<RunStart> {
    let (found, warning) = find_checkpoint(directory, &job.plan.output)?;
    let checkpoint = match found {
        Some(checkpoint) => {
            refuse_changes(job, system, &checkpoint)?;
            checkpoint
        }
        None => {
            let start = Checkpoint::start(new_run_id()?, job.plan, system.clone());
            start.write(&directory.file(CHECKPOINT))?;
            start
        }
    };
    let run_id = checkpoint.run_id.clone();
    if checkpoint.is_start() {
        directory.clear(&run_id, &checkpoint.plan.output)?;
        if checkpoint.plan.output != job.plan.output {
            // the new checkpoint lists files under new names as output files of this run, so no files with these names
            // may exist yet
            directory.check_absent(&job.plan.output)?;
            Checkpoint::start(run_id.clone(), job.plan, system.clone()).write(&directory.file(CHECKPOINT))?;
        }
        return Ok(RunStart { run_id, checkpoint: None, warning });
    }
    Ok(RunStart { run_id, checkpoint: Some(checkpoint), warning })
}

/// Returns the identity of a new run: 128 random bits from the operating system.
fn new_run_id() -> Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)
        .map_err(|error| Error::Internal(format!("cannot get random numbers from the operating system: {error}")))?;
    Ok(format!("{:032x}", u128::from_be_bytes(bytes)))
}

/// Reads the checkpoint in the output directory. If the newest checkpoint is damaged and the previous checkpoint was
/// read instead, also returns the reason. Returns an error if the directory contains output but no checkpoint, or if
/// the newest checkpoint is damaged and the previous checkpoint is from the start of the run.
fn find_checkpoint(directory: &Directory, output: &OutputOptions) -> Result<(Option<Checkpoint>, Option<String>)> {
    match Checkpoint::read(&directory.file(CHECKPOINT))? {
        Some(found) if found.warning.is_none() || !found.body.is_start() => Ok((Some(found.body), found.warning)),
        found => {
            let reason = found
                .and_then(|found| found.warning)
                .map(|why| format!("{why}; the previous checkpoint is from the start of the run"));
            directory.check_unused(output, reason).map(|()| (None, None))
        }
    }
}

/// Returns an error if settings or system have changed in a way that would change the physics of the run.
fn refuse_changes(job: &Job<'_>, system: &Fingerprint, checkpoint: &Checkpoint) -> Result<()> {
    let refuse = |what: &str, changes: Vec<String>| match changes.is_empty() {
        true => Ok(()),
        false => {
            Err(Problem::new(format!("{what}:\n  {}", changes.join("\n  "))).in_file(&job.plan.output.directory).help(
                "restore the old settings, choose another output.directory, or use --force to rename the folder \
                 with the old output",
            ))
        }
    };
    let mut changes = (job.compare)(&checkpoint.plan);
    for old in checkpoint.plan.stages.iter().take(checkpoint.stage) {
        let new = job.plan.stages.iter().find(|new| new.name == old.name);
        if let Some(new) = new.filter(|new| new.steps() > old.steps()) {
            let (name, old, new) = (&old.name, old.steps(), new.steps());
            changes.push(format!("stage.{name}.steps: {old} -> {new}, but this stage is already finished"));
        }
    }
    let (old, new) = (&checkpoint.plan.stages, &job.plan.stages);
    let last = old.last().map_or("", |stage| &stage.name);
    if checkpoint.plan.exchange.is_some() && new.iter().rev().skip(1).any(|stage| stage.name == last) {
        changes.push(format!("a stage was added after stage \"{last}\", whose exchange attempts exchange.csv records"));
    }
    changes.extend(changed_selections(&checkpoint.plan.output, &job.plan.output));
    refuse("the run in this directory was begun with other settings", changes)?;
    let what = "the topology, its parameters or reference positions have changed since the run in this directory began";
    Ok(refuse(what, checkpoint.system.differences(system))?)
}

/// Lists the trajectories for which the new plan selects other atoms than the old plan.
fn changed_selections(old: &OutputOptions, new: &OutputOptions) -> Vec<String> {
    let name = |select: &Option<String>| select.clone().unwrap_or_else(|| "all".to_owned());
    let pairs = new.trajectories.iter().filter_map(|new| {
        let old = old.trajectories.iter().find(|old| old.file == new.file)?;
        (old.select != new.select).then(|| {
            format!("output.trajectory.select of {}: {} -> {}", new.file, name(&old.select), name(&new.select))
        })
    });
    pairs.collect()
}

/// Opens the output files and truncates them to their lengths in the checkpoint. For a run that continues, returns the
/// checkpoint with the lengths of all present files.
pub(in crate::run) fn open_outputs(
    outputs: &mut Outputs,
    job: &Job<'_>,
    directory: &Directory,
    run: &RunInfo<'_>,
    checkpoint: Option<Checkpoint>,
) -> Result<Option<Checkpoint>> {
    let Some(mut checkpoint) = checkpoint else {
        return outputs.open(run, Written::default()).map(|()| None);
    };
    if job.no_append {
        outputs.set_aside(directory, run, &checkpoint.written)?;
    }
    let written = if job.no_append { Written::default() } else { checkpoint.written.clone() };
    outputs.open(run, written)?;
    // the checkpoint is written again if the list of output files has changed
    let written = outputs.sync()?;
    if written != checkpoint.written {
        checkpoint.written = written;
        checkpoint.write(&directory.file(CHECKPOINT))?;
    }
    Ok(Some(checkpoint))
}

/// Warns of stages that an earlier command with `--steps` ended early. The continued run does not complete the stages
/// that ended early.
pub(in crate::run) fn cut_stages(plan: &Plan, checkpoint: &Checkpoint) -> Vec<String> {
    let over = checkpoint.stages.iter().zip(&plan.stages);
    let cut = over.filter(|(done, stage)| {
        // a minimisation may also have ended early because it converged. A minimisation counts as ended by `--steps`
        // only if its number of steps is exactly the number in `--steps`
        let by_option = match stage.kind {
            StageKind::Minimize(_) => checkpoint.plan.run.max_steps == Some(done.steps),
            StageKind::Dynamics(_) => true,
        };
        by_option && done.steps < plan.target(stage.steps())
    });
    let warning = |(done, stage): (&StageSummary, &Stage)| {
        let all = stage.steps();
        format!(
            "an earlier command with --steps ended stage {} after {} of {all} steps, and this stage is not \
             completed; to start again from the beginning use --force",
            stage.name, done.steps
        )
    };
    cut.map(warning).collect()
}
