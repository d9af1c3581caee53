//! Errors of operations on existing trajectory files, and the name under which a repair keeps a damaged file.

use std::path::{Path, PathBuf};

use crate::error::{Error, Problem};
use crate::observe::replace::unused;

/// Returns an unused path under which a damaged file can be kept: `trajectory.h5md.bak`, or a name with a number if
/// that file exists.
pub(super) fn unused_backup(path: &Path) -> PathBuf {
    unused(|number| {
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(if number == 1 { ".bak".to_owned() } else { format!(".bak{number}") });
        path.with_file_name(name)
    })
}

/// Returns the error for a trajectory that was to be created but exists already. Existing trajectories are never
/// overwritten.
pub(super) fn exists_already(path: &Path) -> Error {
    Problem::new("the trajectory already exists")
        .in_file(path)
        .help("continue the run that wrote the file, or use --force to move the old output aside")
        .into()
}

/// Returns the error for a trajectory that does not begin with the frames that were written before the checkpoint.
pub(super) fn not_as_checkpointed(path: &Path, what: String) -> Error {
    let help = "the file was changed or replaced after the checkpoint; restore the file, or use --force to start anew";
    Problem::new(what).in_file(path).help(help).into()
}

/// Returns the error of a repair that finds no readable frame. The file stays unchanged, because the repaired file
/// would be empty.
pub(super) fn nothing_to_save(path: &Path, reason: &str) -> Error {
    Error::io(path, format!("no frame can be read: {reason}; the file stays as it is"))
}

/// Returns the error for a trajectory that cannot be continued, because its settings differ from the settings of the
/// run.
pub(super) fn other_settings(path: &Path, message: impl Into<String>) -> Error {
    let help = "restore the settings of output.trajectory, or use --no-append to continue in a new file";
    Problem::new(message).in_file(path).help(help).into()
}
