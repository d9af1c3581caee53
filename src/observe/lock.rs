//! Locks that allow only one run at a time in an output directory. The locks are advisory; the operating system
//! releases them when the process ends, for any reason.
//!
//! A run takes two locks. The lock on the directory itself reveals whether the directory was removed. The second lock
//! is on a file in the directory; this file names the process that holds the lock. On file systems that cannot lock
//! directories (NFS), only the file is locked. Because another directory may be put at the same path during a run,
//! [`OutputLock::check`] compares the directory at the path with the locked directory.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Read, Seek, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::replace::unless_missing;
use crate::error::{Error, Problem, Result};
use crate::format::file;

/// Name of the lock file. After the run the lock file stays in the directory, but is not locked any more.
const FILE_NAME: &str = ".md.lock";
/// Maximum number of attempts to lock a directory. An attempt fails if the directory is replaced between opening and
/// locking.
const ATTEMPTS: usize = 10;

/// Returns an error if there can be no folder at `directory`, because a file or a link to nothing is at this path or at
/// the path of a parent folder.
pub fn check_place(directory: &Path) -> Result<()> {
    // the first ancestor that exists is the innermost, because there is nothing in a file
    let Some(there) = directory.ancestors().find(|path| path.symlink_metadata().is_ok()) else { return Ok(()) };
    match there.metadata() {
        Ok(found) if found.is_dir() => Ok(()),
        Err(_) if there.is_symlink() => Err(Error::io(there, "the link points to nothing, expected a folder")),
        // a folder that another process has just removed
        Err(_) => Ok(()),
        Ok(_) => Err(Error::io(there, "this is a file, expected a folder")),
    }
}

/// Lock on an output directory, held until dropped.
#[derive(Debug)]
pub struct OutputLock {
    path: PathBuf,
    directory: File,
    /// whether the directory itself is locked; false on a file system that cannot lock directories
    directory_is_locked: bool,
    file: Option<File>,
}

impl OutputLock {
    /// Creates `directory` if necessary and locks it. If another process holds the lock, the [`Problem`] names this
    /// process, its computer, and the time at which the process took the lock.
    pub fn acquire(directory: &Path) -> Result<Self> {
        for _ in 0..ATTEMPTS {
            if let Err(error) = std::fs::create_dir_all(directory) {
                check_place(directory)?;
                if error.kind() != ErrorKind::AlreadyExists {
                    return Err(Error::io(directory, error));
                }
            }
            if let Some(lock) = Self::acquire_once(directory)? {
                return Ok(lock);
            }
        }
        Err(Error::io(directory, "another process keeps replacing the folder"))
    }

    /// Makes one attempt to lock the directory. Returns `None` if the directory was removed between opening and
    /// locking.
    fn acquire_once(directory: &Path) -> Result<Option<Self>> {
        let path = directory.join(FILE_NAME);
        let Some(held) = unless_missing(File::open(directory), directory)? else { return Ok(None) };
        let lock = Self::on_directory(directory, held)?;
        let mut options = OpenOptions::new();
        let file = file::open_unfollowed(&path, options.read(true).write(true).create(true).truncate(false));
        let Some(file) = unless_missing(file, &path)? else { return Ok(None) };
        let lock = lock.with_file(file)?;
        if lock.check().is_err() {
            return Ok(None);
        }
        lock.sign().map_err(|e| Error::io(&path, e))?;
        Ok(Some(lock))
    }

    /// Locks the directory that contains `file`, and the lock file if there is one. Does not create a lock file.
    pub(super) fn acquire_if_present(file: &Path) -> Result<Self> {
        let directory = super::replace::directory(file);
        let held = File::open(directory).map_err(|e| Error::io(directory, e))?;
        let lock = Self::on_directory(directory, held)?;
        match file::open_unfollowed(&directory.join(FILE_NAME), OpenOptions::new().read(true).write(true)) {
            Ok(file) => lock.with_file(file),
            Err(_) => Ok(lock),
        }
    }

    /// Returns an error if the path no longer leads to the locked directory. On a file system that cannot lock
    /// directories, returns an error if the path of the lock file no longer leads to the locked file.
    pub fn check(&self) -> Result<()> {
        if !is_at(&self.directory, &self.path) {
            let message = "the folder was moved, removed or replaced while a run was writing to it: the run stops, so \
                           that its files do not mix with the files of another run; its last checkpoint is in the \
                           folder at its new place";
            return Err(Error::io(&self.path, message));
        }
        let file = self.path.join(FILE_NAME);
        if !self.directory_is_locked && self.file.as_ref().is_some_and(|held| !is_at(held, &file)) {
            let message = "the lock was removed or replaced during a run: the run stops, because another run could \
                           begin to write here; its last checkpoint is good, and the same command continues";
            return Err(Error::io(&file, message));
        }
        Ok(())
    }

    fn on_directory(path: &Path, directory: File) -> Result<Self> {
        let directory_is_locked = match directory.try_lock() {
            Ok(()) => true,
            Err(TryLockError::WouldBlock) => return Err(in_use(path)),
            // an error means that the file system cannot lock directories
            Err(TryLockError::Error(_)) => false,
        };
        Ok(Self { path: path.to_owned(), directory, directory_is_locked, file: None })
    }

    fn with_file(mut self, file: File) -> Result<Self> {
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(in_use(&self.path)),
            Err(TryLockError::Error(e)) => return Err(Error::io(&self.path.join(FILE_NAME), e)),
        }
        self.file = Some(file);
        Ok(self)
    }

    /// Writes the process number, the name of the computer and the present time into the lock file.
    fn sign(&self) -> std::io::Result<()> {
        let Some(mut file) = self.file.as_ref() else { return Ok(()) };
        let since = super::clock::local("%Y-%m-%d %H:%M:%S %Z");
        file.set_len(0)?;
        file.rewind()?;
        writeln!(file, "process {} on {} since {since}", std::process::id(), host_name())
    }
}

impl Drop for OutputLock {
    fn drop(&mut self) {
        // the locks are released explicitly, because closing a file handle does not release its lock while a child
        // process has inherited the handle
        let _ = self.file.as_ref().map(File::unlock);
        let _ = self.directory.unlock();
    }
}

fn in_use(directory: &Path) -> Error {
    let mut holder = String::new();
    // an unreadable lock file is ignored: the error message then does not name the process that holds the lock
    let _ = file::open(&directory.join(FILE_NAME)).map(|file| file.take(1000).read_to_string(&mut holder));
    let holder = if holder.is_empty() { "another process" } else { holder.trim() };
    Problem::new(format!("the output directory is in use by {holder}"))
        .in_file(directory)
        .help("wait until the other process ends, stop that process, or choose another output directory")
        .into()
}

/// Whether `path` leads to the file or directory that is open as `held`.
fn is_at(held: &File, path: &Path) -> bool {
    let identity = |found: std::fs::Metadata| (found.dev(), found.ino());
    match (held.metadata().map(identity), path.metadata().map(identity)) {
        (Ok(held), Ok(found)) => held == found,
        _ => false,
    }
}

/// Returns the name of this computer.
pub fn host_name() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    if name.trim().is_empty() { "unknown host".to_owned() } else { name.trim().to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn second_holder_is_told_about_the_first() {
        let directory = tempfile::tempdir().unwrap();
        let first = OutputLock::acquire(directory.path()).unwrap();
        let error = OutputLock::acquire(directory.path()).unwrap_err();
        assert_eq!(error.exit_code(), 2);
        let message = error.to_string();
        assert!(message.contains(&format!("process {} on {}", std::process::id(), host_name())), "{message}");
        assert!(OutputLock::acquire_if_present(&directory.path().join("trajectory.h5md")).is_err());
        drop(first);
        drop(OutputLock::acquire(directory.path()).unwrap());
        assert!(OutputLock::acquire_if_present(&directory.path().join("trajectory.h5md")).is_ok());
    }

    #[test]
    fn files_and_broken_links_are_no_directories() {
        let folder = tempfile::tempdir().unwrap();
        let [file, link] = ["file", "link"].map(|name| folder.path().join(name));
        std::fs::write(&file, "").unwrap();
        std::os::unix::fs::symlink("nowhere", &link).unwrap();
        for (path, words) in [(file, "this is a file"), (link, "the link points to nothing")] {
            let message = OutputLock::acquire(&path).unwrap_err().to_string();
            assert!(message.contains(words), "{message}");
        }
    }

    #[test]
    fn a_directory_never_used_is_not_marked() {
        let directory = tempfile::tempdir().unwrap();
        let lock = OutputLock::acquire_if_present(&directory.path().join("a.h5md")).unwrap();
        assert!(!directory.path().join(FILE_NAME).exists());
        assert!(OutputLock::acquire(directory.path()).is_err());
        drop(lock);
        assert!(OutputLock::acquire(directory.path()).is_ok());
    }

    #[test]
    fn without_its_file_a_directory_is_still_held() {
        let directory = tempfile::tempdir().unwrap();
        let mut lock = OutputLock::acquire(directory.path()).unwrap();
        std::fs::remove_file(directory.path().join(FILE_NAME)).unwrap();
        let error = OutputLock::acquire(directory.path()).unwrap_err();
        assert!(error.exit_code() == 2 && error.to_string().contains("in use by"), "{error}");
        lock.check().unwrap();
        // on a file system that cannot lock directories, only the lock file is checked
        lock.directory_is_locked = false;
        let error = lock.check().unwrap_err();
        assert!(error.exit_code() == 5 && error.to_string().contains("lock was removed"), "{error}");
        std::fs::write(directory.path().join(FILE_NAME), "another").unwrap();
        assert!(lock.check().is_err());
    }

    #[test]
    fn a_directory_that_was_moved_or_replaced_is_noticed() {
        let parent = tempfile::tempdir().unwrap();
        let [here, there] = ["here", "there"].map(|name| parent.path().join(name));
        std::fs::create_dir(&here).unwrap();
        let lock = OutputLock::acquire(&here).unwrap();
        std::fs::rename(&here, &there).unwrap();
        for replaced in [false, true] {
            if replaced {
                std::fs::create_dir(&here).unwrap();
            }
            let error = lock.check().unwrap_err();
            assert!(error.exit_code() == 5 && error.to_string().contains("was moved"), "{error}");
        }
        // the lock stays with the directory when the directory is renamed
        assert!(OutputLock::acquire(&there).is_err());
        assert!(OutputLock::acquire(&here).is_ok());
    }
}
