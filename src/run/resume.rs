//! The way back into a run: its checkpoint, and what may have changed since.

use super::checkpoint::Checkpoint;
use super::outputs::Directory;
use super::plan::{Stage, StageKind};
use super::runner::Job;
use crate::error::{Problem, Result};

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
    checkpoint.check_system(job.system)?;
    let mut changes = (job.compare)(&checkpoint.plan);
    let steps = |stage: &Stage| match &stage.kind {
        StageKind::Minimize(options) => options.steps,
        StageKind::Dynamics(options) => options.steps,
    };
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
