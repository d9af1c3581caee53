//! Checks of the files that commands write.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::error::{Problem, Result};
use crate::observe::replace::behind_link;

/// Returns an error if the file at `output` is one of the files `inputs` that the command reads, also through links.
pub(super) fn refuse_inputs<'a>(output: &Path, inputs: impl IntoIterator<Item = &'a Path>) -> Result<()> {
    let place = |path: &Path| path.metadata().ok().filter(|found| found.is_file()).map(|file| (file.dev(), file.ino()));
    let Some(there) = place(output) else { return Ok(()) };
    match inputs.into_iter().any(|input| place(input) == Some(there)) {
        true => Err(Problem::new("input and output are the same file").in_file(output).into()),
        false => Ok(()),
    }
}

/// Returns an error if the file at `output` is one of the files `inputs`, or if it exists and `force` is not set.
pub(super) fn check_new<'a>(output: &Path, inputs: impl IntoIterator<Item = &'a Path>, force: bool) -> Result<()> {
    refuse_inputs(output, inputs)?;
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
