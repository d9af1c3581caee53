//! Opening of regular files, and reading of whole files into memory.
//!
//! Pipes and devices are refused, because reading from a pipe or a device may never end. Sparse files that consist
//! mostly of holes (ranges that take no space on disk) are refused, too. The byte-order mark of a text is removed.

use std::fs::{File, OpenOptions};
use std::io::{Error, ErrorKind, Read, Result};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use super::text::remove_mark;

/// Maximum size in bytes of a file that describes a run, such as a status or summary.
pub const LONGEST_RECORD: u64 = 64 << 20;
/// Size in bytes up to which a sparse file may consist of holes only.
const FREE_HOLES: u64 = 64 << 20;
/// Maximum ratio of the file size to the number of bytes outside of holes, for files larger than [`FREE_HOLES`].
/// In the output of a simulation program the holes (ranges that take no space on disk) are small.
const MOST_HOLES: u64 = 64;

/// Opens a regular file for reading. Any other kind of file is an error, which is returned before a byte is read. A
/// sparse file that occupies almost no disk space but reads as gigabytes of zeros is an error, too.
pub fn open(path: &Path) -> Result<File> {
    let file = open_with(path, OpenOptions::new().read(true))?;
    let length = file.metadata()?.len();
    if length > FREE_HOLES && !holds(&file, length, length / MOST_HOLES) {
        let message = format!(
            "the file has {length} bytes, but nearly all of them are holes that were never written: copy or download it again"
        );
        return Err(Error::new(ErrorKind::InvalidInput, message));
    }
    Ok(file)
}

/// Opens a regular file with the given options, for example for writing. Any other kind of file is an error, which is
/// returned before a byte is read or written.
pub fn open_with(path: &Path, how: &mut OpenOptions) -> Result<File> {
    open_regular(path, how, 0)
}

/// Opens a regular file like [`open_with`]. A symbolic link at `path` is also an error (ELOOP).
pub fn open_unfollowed(path: &Path, how: &mut OpenOptions) -> Result<File> {
    open_regular(path, how, libc::O_NOFOLLOW)
}

fn open_regular(path: &Path, how: &mut OpenOptions, flags: i32) -> Result<File> {
    // without O_NONBLOCK, opening a pipe would wait until another process opens the other end of the pipe. O_NONBLOCK
    // has no effect on regular files.
    let opened = how.custom_flags(flags | libc::O_NONBLOCK).open(path);
    // a pipe cannot be opened for writing while no process reads from it
    let is_pipe = |error: &Error| error.raw_os_error() == Some(libc::ENXIO);
    let kind = match opened {
        Ok(file) => match file.metadata()?.file_type() {
            kind if kind.is_file() => return Ok(file),
            kind => kind,
        },
        Err(error) if is_pipe(&error) => path.metadata()?.file_type(),
        Err(error) => return Err(error),
    };
    let what = if kind.is_dir() {
        "this is a folder, expected a file"
    } else {
        "this is not a regular file: pipes and devices are not read or written; give the path of a regular file"
    };
    Err(Error::new(ErrorKind::InvalidInput, what))
}

/// Creates a regular file, or truncates the existing file.
pub fn create(path: &Path) -> Result<File> {
    open_with(path, OpenOptions::new().write(true).create(true).truncate(true))
}

/// Returns the text of a regular file.
pub fn text(path: &Path) -> Result<String> {
    let mut text = String::new();
    open(path)?.read_to_string(&mut text).map(|_| text)
}

/// Whether a file has at least `wanted` bytes outside of its holes, which are ranges that take no space on disk. If the
/// file system does not report holes, the result is `true`.
fn holds(file: &File, length: u64, wanted: u64) -> bool {
    let (mut at, mut found) = (0, 0);
    // SAFETY: lseek takes the descriptor of an open file and touches no memory
    let seek = |at: u64, whence| u64::try_from(unsafe { libc::lseek(file.as_raw_fd(), at as libc::off_t, whence) });
    while found < wanted {
        let Ok(data) = seek(at, libc::SEEK_DATA) else {
            // ENXIO means that only a hole follows after this offset
            let only_hole = Error::last_os_error().raw_os_error() == Some(libc::ENXIO);
            found = if only_hole { found } else { wanted };
            break;
        };
        let Ok(hole) = seek(data, libc::SEEK_HOLE) else { return true };
        found += hole.min(length).saturating_sub(data);
        // the end of a data range lies after the start of the range, unless the file has been truncated in the meantime
        if hole <= at {
            break;
        }
        at = hole;
    }
    seek(0, libc::SEEK_SET).is_ok() && found >= wanted
}

/// Returns the bytes of a regular file of at most `most` bytes. If the file grows while it is read, the result is an
/// error.
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
        // a file in /proc reports a length of 0 but has contents, and so looks like a file that grows while it is read
        refused(Path::new("/proc/self/status"), "changes while it is read");
        let pipe = folder.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo runs").success());
        refused(&pipe, "not a regular file");
        for path in [&pipe, Path::new("/dev/full"), Path::new("/dev/zero")] {
            for write in [true, false] {
                let error = open_with(path, OpenOptions::new().write(write).read(!write)).expect_err("refused");
                assert!(error.to_string().contains("not a regular file"), "{error}");
            }
        }
    }

    #[test]
    fn files_that_are_mostly_holes_are_refused() {
        use std::io::{Seek, SeekFrom, Write};
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        let mut file = File::create(&path).expect("a file");
        file.set_len(FREE_HOLES).expect("a length");
        open(&path).expect("few holes");
        file.write_all(b"CDF").expect("written");
        file.set_len(4 * FREE_HOLES).expect("a length");
        let error = open(&path).expect_err("refused").to_string();
        assert!(error.contains("268435456 bytes, but nearly all of them are holes"), "{error}");
        file.seek(SeekFrom::Start(FREE_HOLES)).expect("a place");
        file.write_all(&vec![1; (4 * FREE_HOLES / MOST_HOLES) as usize]).expect("written");
        let mut opened = open(&path).expect("enough is written");
        assert_eq!(opened.stream_position().expect("a place"), 0);
    }
}
