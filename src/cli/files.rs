//! Checks of the files that commands write.

use std::path::Path;

use crate::error::{Problem, Result};

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
