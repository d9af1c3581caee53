//! One run per output directory: an advisory lock that ends with the process, however it ends.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::Path;

use crate::error::{Error, Problem, Result};

/// Name of the lock file; it stays behind, the lock on it does not.
const FILE_NAME: &str = ".md.lock";

/// Holds a directory until dropped.
#[derive(Debug)]
pub struct OutputLock {
    file: File,
}

impl OutputLock {
    /// Locks `directory`; if another process has it, the [`Problem`] says which one, on which computer, since when.
    pub fn acquire(directory: &Path) -> Result<Self> {
        let path = directory.join(FILE_NAME);
        let io = |e| Error::io(&path, e);
        let mut file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path).map_err(io)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut holder = String::new();
                // without its words the message is still true
                let _ = (&file).take(1000).read_to_string(&mut holder);
                let holder = if holder.is_empty() { "another process" } else { holder.trim() };
                return Err(Problem::new(format!("the output directory is in use by {holder}"))
                    .in_file(directory)
                    .help("wait for it, stop it, or choose another output directory")
                    .into());
            }
            Err(TryLockError::Error(e)) => return Err(io(e)),
        }
        let since = jiff::Zoned::now().strftime("%Y-%m-%d %H:%M:%S %Z");
        file.set_len(0).map_err(io)?;
        file.rewind().map_err(io)?;
        writeln!(file, "process {} on {} since {since}", std::process::id(), host_name()).map_err(io)?;
        Ok(Self { file })
    }

    /// Locks the directory `file` is in if a run ever used it, else nothing.
    pub(super) fn acquire_if_present(file: &Path) -> Result<Option<Self>> {
        let directory = file.parent().unwrap_or(Path::new(""));
        if directory.join(FILE_NAME).exists() { Self::acquire(directory).map(Some) } else { Ok(None) }
    }
}

impl Drop for OutputLock {
    fn drop(&mut self) {
        // closing the file would release it too; this also does if a child process inherited the handle
        let _ = self.file.unlock();
    }
}

/// Name of this computer, as the kernel knows it.
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
        assert!(OutputLock::acquire_if_present(&directory.path().join("trajectory.h5md")).unwrap().is_some());
    }

    #[test]
    fn a_directory_never_used_is_not_marked() {
        let directory = tempfile::tempdir().unwrap();
        assert!(OutputLock::acquire_if_present(&directory.path().join("a.h5md")).unwrap().is_none());
        assert!(!directory.path().join(FILE_NAME).exists());
    }
}
