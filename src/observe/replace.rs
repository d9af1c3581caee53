//! Files that appear whole or not at all: written under a temporary name in the same directory, then renamed.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use tempfile::NamedTempFile;

use crate::error::{Error, Result};

/// An empty temporary file beside `path`, with the rights of an ordinary new file, removed unless it is renamed.
pub(super) fn temporary_beside(path: &Path) -> Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".").suffix(".tmp");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // temporary files are private by default, these will be output; the process' umask applies
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(directory(path)).map_err(|e| Error::io(path, e))
}

/// Waits until renames and new names in the directory of `path` are on disk.
pub(super) fn sync_directory(path: &Path) -> Result<()> {
    File::open(directory(path)).and_then(|d| d.sync_all()).map_err(|e| Error::io(path, e))
}

/// Replaces `path` by `bytes` at once: a reader sees the old file or the new one. Not forced to disk.
pub(super) fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut file = temporary_beside(path)?;
    file.write_all(bytes).map_err(|e| Error::io(path, e))?;
    file.persist(path).map_err(|e| Error::io(path, e.error))?;
    Ok(())
}

/// The directory `path` is in.
fn directory(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}
