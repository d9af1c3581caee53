//! Atomic replacement of files: written under a temporary name in the same directory, then renamed.

use std::ffi::OsString;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use tempfile::{NamedTempFile, TempPath};

use crate::error::{Error, Result};
use crate::format::file;

/// An empty temporary file in the directory of `path`, removed unless it is renamed. Its name is fixed, so that the next
/// run overwrites what a killed one leaves; only one process may write to the directory (it is locked).
pub(super) fn temporary_beside(path: &Path) -> Result<NamedTempFile> {
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(".tmp");
    let temporary = directory(path).join(name);
    let file = file::create(&temporary).map_err(|e| Error::io(&temporary, e))?;
    let temporary = TempPath::try_from_path(temporary).map_err(|e| Error::io(path, e))?;
    Ok(NamedTempFile::from_parts(file, temporary))
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

/// Replaces `path` at once by what `write` writes; when this returns it is on disk.
pub fn replace_synced(path: &Path, write: impl FnOnce(&mut BufWriter<&File>) -> std::io::Result<()>) -> Result<()> {
    let io = |e| Error::io(path, e);
    let file = temporary_beside(path)?;
    let mut out = BufWriter::new(file.as_file());
    write(&mut out).and_then(|()| out.flush()).map_err(io)?;
    drop(out);
    file.as_file().sync_all().map_err(io)?;
    file.persist(path).map_err(|e| io(e.error))?;
    sync_directory(path)
}

/// The directory `path` is in.
pub(super) fn directory(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}
