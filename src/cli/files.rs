//! Checks of the files that commands write.

use std::path::{Path, PathBuf};

use crate::error::{Problem, Result};
use crate::observe::replace::behind_link;

/// Returns an error if the file at `output` exists and `force` is not set, or if `output` is `input`.
pub(super) fn check_new(output: &Path, input: &Path, force: bool) -> Result<()> {
    let place = |path: &Path| path.canonicalize().ok();
    if place(output).is_some_and(|there| Some(there) == place(input)) {
        return Err(Problem::new("input and output are the same file").in_file(output).into());
    }
    if output.exists() && !force {
        let problem = Problem::new("the file already exists").in_file(output);
        return Err(problem.help("choose another name, or replace the file with --force").into());
    }
    Ok(())
}

/// Returns the path of an output file, which replaces an existing file. If `output` is a symbolic link, the result is
/// the file to which the link leads. Fails if `output` is a folder, a pipe or a device, or a link to no file.
pub(super) fn destination(output: &Path) -> Result<PathBuf> {
    let problem = match output.metadata() {
        Ok(found) if found.is_file() => return behind_link(output),
        Err(_) if !output.is_symlink() => return Ok(output.to_owned()),
        Ok(_) => Problem::new("the output is a folder, a pipe or a device"),
        Err(_) => Problem::new("the output is a symbolic link that leads to no file"),
    };
    Err(problem.in_file(output).help("give the name of a file").into())
}
