//! Files of an output folder that are opened without following symbolic links, or replaced atomically. For an atomic
//! replacement, the new version of a file is written under a temporary name in the same directory and then renamed.
//!
//! An output folder may come from someone else and contain symbolic links to files of the user. Files are written only
//! inside the output folder, never through a symbolic link.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

use tempfile::{NamedTempFile, TempPath};

use crate::error::{Error, Problem, Result};
use crate::format::file;

/// Opens or creates a regular file of an output folder. Returns an error if `path` is a symbolic link.
pub(super) fn open_file(path: &Path, options: &mut OpenOptions) -> Result<File> {
    file::open_unfollowed(path, options).map_err(|error| refusal(path, error))
}

/// Returns the result of an operation on the file at `path`; `None` if the file does not exist.
pub fn unless_missing<T>(done: std::io::Result<T>, path: &Path) -> Result<Option<T>> {
    match done {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(refusal(path, error)),
    }
}

/// Converts an error of the operating system into an error for the user.
fn refusal(path: &Path, error: std::io::Error) -> Error {
    match error.raw_os_error() {
        Some(libc::ELOOP) => is_link(path).into(),
        _ => Error::io(path, error),
    }
}

/// Returns an error if `path` is a symbolic link, before an external library opens the file.
pub fn refuse_link(path: &Path) -> Result<()> {
    if path.is_symlink() { Err(is_link(path).into()) } else { Ok(()) }
}

/// Returns the path of the file or folder to which a symbolic link leads; the path itself if it is no link. The path
/// has no separator at its end.
pub fn behind_link(path: &Path) -> Result<PathBuf> {
    let path: PathBuf = path.components().collect();
    if path.is_symlink() { path.canonicalize().map_err(|e| Error::io(&path, e)) } else { Ok(path) }
}

/// Returns the first path among `named(1)`, `named(2)`, … at which no file exists.
pub fn unused(named: impl FnMut(u32) -> PathBuf) -> PathBuf {
    (1..).map(named).find(|path| !path.exists()).expect("at least one number is not used yet")
}

fn is_link(path: &Path) -> Problem {
    let problem = Problem::new("a symbolic link has the name of a file of the run").in_file(path);
    problem.help("remove the link, or replace it by the file itself; only the output folder as a whole can be a link")
}

/// Creates an empty temporary file in the directory of `path`. The temporary file is removed when dropped, unless it
/// has been renamed. The name of the temporary file is fixed, so that the next run replaces the file that a killed run
/// leaves behind. Only the process that has locked the directory may call this function.
pub(super) fn temporary_beside(path: &Path) -> Result<NamedTempFile> {
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(".tmp");
    let temporary = directory(path).join(name);
    unless_missing(std::fs::remove_file(&temporary), path)?;
    // `create_new` sets the flag O_EXCL, with which open(2) fails if a symbolic link with this name exists
    let file = File::options().write(true).create_new(true).open(&temporary).map_err(|e| Error::io(path, e))?;
    let temporary = TempPath::try_from_path(temporary).map_err(|e| Error::io(path, e))?;
    Ok(NamedTempFile::from_parts(file, temporary))
}

/// Waits until the directory that contains `path` is on disk, with the entries of new and renamed files.
pub(super) fn sync_directory(path: &Path) -> Result<()> {
    File::open(directory(path)).and_then(|d| d.sync_all()).map_err(|e| Error::io(path, e))
}

/// Encodes a value as the text of a JSON file.
pub(super) fn json(value: &impl serde::Serialize) -> Result<Vec<u8>> {
    let mut text = serde_json::to_vec_pretty(value).map_err(|e| Error::Internal(e.to_string()))?;
    text.push(b'\n');
    Ok(text)
}

/// Replaces the contents of `path` by `bytes` atomically: a reader sees either the old file or the new file. Does not
/// wait until the file is on disk.
pub(super) fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut file = temporary_beside(path)?;
    file.write_all(bytes).map_err(|e| Error::io(path, e))?;
    file.persist(path).map_err(|e| Error::io(path, e.error))?;
    Ok(())
}

/// Replaces the file at `path` atomically by the bytes that `write` writes. The new file is on disk when this function
/// returns. If `write` returns an error that contains a [`Problem`], the result is this problem, with the name of the
/// file.
pub fn replace_synced(path: &Path, write: impl FnOnce(&mut BufWriter<&File>) -> std::io::Result<()>) -> Result<()> {
    let io = |e| Error::io(path, e);
    let file = temporary_beside(path)?;
    let mut out = BufWriter::new(file.as_file());
    write(&mut out).and_then(|()| out.flush()).map_err(|error| match error.downcast::<Problem>() {
        Ok(problem) => problem.in_file(path).into(),
        Err(error) => io(error),
    })?;
    drop(out);
    file.as_file().sync_all().map_err(io)?;
    file.persist(path).map_err(|e| io(e.error))?;
    sync_directory(path)
}

/// Text file that replaces an existing file once the new text is complete.
pub struct Replacement {
    path: PathBuf,
    file: BufWriter<NamedTempFile>,
}

impl Replacement {
    /// Creates a replacement for the file at `path`; the new text is empty at first.
    pub fn new(path: &Path) -> Result<Self> {
        Ok(Self { path: path.to_owned(), file: BufWriter::new(temporary_beside(path)?) })
    }

    /// Adds a line to the new text.
    pub fn line(&mut self, line: &str) -> Result<()> {
        writeln!(self.file, "{line}").map_err(|e| Error::io(&self.path, e))
    }

    /// Replaces the existing file with the complete new text.
    pub fn finish(self) -> Result<()> {
        let file = self.file.into_inner().map_err(|e| Error::io(&self.path, e.error()))?;
        file.persist(&self.path).map_err(|e| Error::io(&self.path, e.error)).map(drop)
    }
}

/// Returns the directory that contains `path`; `.` if the path has no directory.
pub fn directory(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_written_through_planted_links() {
        let parent = tempfile::tempdir().unwrap();
        let (victim, folder) = (parent.path().join("victim"), parent.path().join("out"));
        std::fs::write(&victim, "precious").unwrap();
        std::fs::create_dir(&folder).unwrap();
        let link = |name: &str| std::os::unix::fs::symlink(&victim, folder.join(name)).unwrap();
        ["run.log", ".status.json.tmp", "status.json", ".md.lock", "exchange.csv"].into_iter().for_each(link);
        replace(&folder.join("status.json"), b"new").unwrap();
        assert_eq!(std::fs::read(folder.join("status.json")).unwrap(), b"new");
        for (name, opened) in [
            ("run.log", super::super::log::RunLog::open(&folder.join("run.log"), None).map(drop)),
            (".md.lock", super::super::lock::OutputLock::acquire(&folder).map(drop)),
            (
                "exchange.csv",
                super::super::exchange::ExchangeTable::open(&folder.join("exchange.csv"), 2, |_| ()).map(drop),
            ),
        ] {
            let error = opened.unwrap_err();
            assert!(error.exit_code() == 2 && error.to_string().contains("symbolic link"), "{name}: {error}");
        }
        assert_eq!(std::fs::read(&victim).unwrap(), b"precious");
    }

    /// Tests that the output folder itself may be a symbolic link, because the user may keep the output on another
    /// disk.
    #[test]
    fn the_folder_itself_may_be_a_link() {
        let parent = tempfile::tempdir().unwrap();
        let [disk, folder] = ["disk", "out"].map(|name| parent.path().join(name));
        std::fs::create_dir(&disk).unwrap();
        std::os::unix::fs::symlink(&disk, &folder).unwrap();
        drop(super::super::lock::OutputLock::acquire(&folder).unwrap());
        replace_synced(&folder.join("summary.json"), |out| out.write_all(b"{}")).unwrap();
        assert_eq!(std::fs::read(disk.join("summary.json")).unwrap(), b"{}");
    }
}
