//! Reads whole regular files into memory; pipes and devices, which may have no end, are refused. The byte-order mark of a text
//! is left out.

use std::fs::{File, OpenOptions};
use std::io::{Error, ErrorKind, Read, Result};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use super::text::remove_mark;

/// Opens a regular file for reading; anything else is an error before a byte is read.
pub fn open(path: &Path) -> Result<File> {
    // O_NONBLOCK: opening a pipe would wait for a writer; no effect on regular files
    let file = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path)?;
    let kind = file.metadata()?.file_type();
    if kind.is_file() {
        return Ok(file);
    }
    let what = if kind.is_dir() {
        "this is a folder, expected a file"
    } else {
        "not a regular file: pipes and devices are not read"
    };
    Err(Error::new(ErrorKind::InvalidInput, what))
}

/// The bytes of a regular file of at most `most` bytes; one that grows meanwhile is an error.
pub fn read(path: &Path, most: u64) -> Result<Vec<u8>> {
    let file = open(path)?;
    let length = file.metadata()?.len();
    let invalid = |what: String| Error::new(ErrorKind::InvalidInput, what);
    if length > most {
        return Err(invalid(format!("the file has {length} bytes, expected at most {most}")));
    }
    let mut bytes = Vec::with_capacity(length as usize);
    file.take(length + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 != length {
        return Err(invalid("the file changes while it is read".into()));
    }
    remove_mark(&mut bytes);
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn refused(path: &Path, expected: &str) {
        let error = read(path, 1000).expect_err("refused");
        assert!(error.to_string().contains(expected), "{error}");
    }

    #[test]
    fn only_regular_files_of_known_length_are_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        std::fs::write(&path, [7; 1000]).expect("a file");
        assert_eq!(read(&path, 1000).expect("a file"), [7; 1000]);
        std::fs::write(&path, b"\xef\xbb\xbftext").expect("a file");
        assert_eq!(read(&path, 1000).expect("a file"), b"text");
        std::fs::write(&path, [7; 1001]).expect("a file");
        refused(&path, "expected at most 1000");
        refused(folder.path(), "this is a folder");
        refused(Path::new("/dev/zero"), "not a regular file");
        // says that it is empty, and is not: as a file that grows
        refused(Path::new("/proc/self/status"), "changes while it is read");
        let pipe = folder.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo runs").success());
        refused(&pipe, "not a regular file");
    }
}
