//! The way back into a run: its checkpoint, and what may have changed since.

use super::checkpoint::Checkpoint;
use super::job::Job;
use super::outputs::Directory;
use super::plan::{Plan, Stage, StageKind};
use crate::error::{Problem, Result};
use crate::observe::summary::StageSummary;

/// The checkpoint of the output directory, and why an older one was taken. Output without one is not touched, nor
/// that whose only intact checkpoint is the one of the start.
pub(super) fn find_checkpoint(directory: &Directory) -> Result<(Option<Checkpoint>, Option<String>)> {
    match Checkpoint::read(&directory.file("checkpoint.md"))? {
        Some(found) if found.warning.is_none() || !found.body.is_start() => Ok((Some(found.body), found.warning)),
        _ => directory.check_unused().map(|()| (None, None)),
    }
}

/// A run goes on only as what it was.
pub(super) fn refuse_changes(job: &Job<'_>, checkpoint: &Checkpoint) -> Result<()> {
    checkpoint.check_system(&job.system)?;
    let mut changes = (job.compare)(&checkpoint.plan);
    for (old, new) in checkpoint.plan.stages.iter().zip(&job.plan.stages).take(checkpoint.stage) {
        if steps(new) > steps(old) {
            changes.push(format!("stage.{}.steps: {} -> {}, but this stage is over", old.name, steps(old), steps(new)));
        }
    }
    if changes.is_empty() {
        return Ok(());
    }
    Err(Problem::new(format!("the run in this directory was begun with other settings:\n  {}", changes.join("\n  ")))
        .in_file(&job.plan.output.directory)
        .help("restore them, choose another output.directory, or use --force to move the old output aside")
        .into())
}

/// Stages that are over, though `--steps` ended them earlier than this run would: the run goes on behind them.
pub(super) fn cut_stages(plan: &Plan, checkpoint: &Checkpoint) -> Vec<String> {
    let over = checkpoint.stages.iter().zip(&plan.stages);
    let cut = over.filter(|(done, stage)| {
        // a minimisation may have converged
        let by_option = match stage.kind {
            StageKind::Minimize(_) => checkpoint.plan.run.max_steps == Some(done.steps),
            StageKind::Dynamics(_) => true,
        };
        by_option && done.steps < plan.target(steps(stage))
    });
    let warning = |(done, stage): (&StageSummary, &Stage)| {
        let all = steps(stage);
        format!("stage {} was ended after {} of {all} steps by --steps; --force starts anew", stage.name, done.steps)
    };
    cut.map(warning).collect()
}

fn steps(stage: &Stage) -> u64 {
    match &stage.kind {
        StageKind::Minimize(options) => options.steps,
        StageKind::Dynamics(options) => options.steps,
    }
}
