//! Checkpoint files. A checkpoint is written atomically and has a checksum; the previous checkpoint is kept as a
//! fallback.
//!
//! Layout in little endian: 8 bytes `MDCHECKP`, u32 version of the contents, u64 length of the body, u32 CRC-32 of the
//! version, the length and the body, and then the body. The crate `postcard` encodes the body and keeps all bits of
//! floating-point numbers. A checkpoint is written under a temporary name, forced to disk and renamed. The previous
//! checkpoint stays in the same folder, and is read if the newest checkpoint is damaged or cannot be read. The caller
//! of [`read`] and [`write()`] defines the type of the body.

use std::fs;
use std::io::{BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crc32fast::Hasher;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::replace::{sync_directory, temporary_beside};
use crate::error::{Error, Problem, Result};
use crate::format::file;

const MAGIC: [u8; 8] = *b"MDCHECKP";
const HEADER: usize = 24;
/// Size of the write buffer, in bytes.
const BUFFER: usize = 1 << 16;

/// Contents of a checkpoint that [`read`] returns.
#[derive(Clone, Debug, PartialEq)]
pub struct Restored<T> {
    /// decoded contents of the checkpoint
    pub body: T,
    /// reason why the previous checkpoint was read; `None` if the newest checkpoint was read
    pub warning: Option<String>,
    /// fault of the newest checkpoint, without its path; `None` if the newest checkpoint was read
    pub fault: Option<String>,
}

/// Writes `body` to `path`, with `version` as the version number of its contents. If `path` has an intact checkpoint,
/// this checkpoint is kept under the name [`previous`]. The new checkpoint is on disk when this function returns.
pub fn write<T: Serialize>(path: &Path, version: u32, body: &T) -> Result<()> {
    let io = |e| Error::io(path, e);
    let mut file = temporary_beside(path)?;
    file.write_all(&[0; HEADER]).map_err(io)?;
    let sum = Summed { to: file.as_file(), length: 0, checksum: Hasher::new(), failure: None };
    let mut to = BufWriter::with_capacity(BUFFER, sum);
    let written = postcard::to_io(body, &mut to).map(|_| ());
    let flushed = to.flush();
    if let Some(failure) = to.get_mut().failure.take() {
        return Err(io(failure));
    }
    written.map_err(|e| Error::Internal(format!("checkpoint: {e}")))?;
    flushed.map_err(io)?;
    let Summed { length, checksum: sum, .. } = to.get_ref();
    let mut header = [0; HEADER];
    header[..8].copy_from_slice(&MAGIC);
    header[8..12].copy_from_slice(&version.to_le_bytes());
    header[12..20].copy_from_slice(&length.to_le_bytes());
    let checksum = checksum(&header, sum);
    header[20..].copy_from_slice(&checksum.to_le_bytes());
    drop(to);
    file.seek(SeekFrom::Start(0)).and_then(|_| file.write_all(&header)).map_err(io)?;
    file.as_file().sync_all().map_err(io)?;
    match load(path) {
        Ok(_) => keep(path).map_err(io)?,
        Err(Fault::Missing) => {}
        // a damaged checkpoint must not replace the intact previous checkpoint; the damaged file is kept for inspection
        Err(_) => fs::rename(path, damaged(path)).map_err(io)?,
    }
    file.persist(path).map_err(|e| Error::io(path, e.error))?;
    sync_directory(path)
}

/// Creates the hard link [`previous`] to the checkpoint at `path`, so that a checkpoint exists at `path` at any time.
/// On a file system without hard links, the checkpoint is renamed instead.
fn keep(path: &Path) -> std::io::Result<()> {
    let (older, link) = (previous(path), path.with_extension("link.tmp"));
    let _ = fs::remove_file(&link);
    if fs::hard_link(path, &link).is_err() {
        return fs::rename(path, older);
    }
    fs::rename(&link, older)?;
    // rename(2) does nothing if the two names are already links to the same file, so the temporary link is removed here
    let _ = fs::remove_file(&link);
    Ok(())
}

/// Reads the checkpoint at `path`. If this file is missing, damaged or unreadable, the function reads the previous
/// checkpoint. Returns `None` if both files are missing. A checkpoint whose contents have a different version is a
/// [`Problem`], because reading the previous checkpoint instead would silently lose steps.
pub fn read<T: DeserializeOwned>(path: &Path, version: u32) -> Result<Option<Restored<T>>> {
    let fault = match load(path).and_then(|stored| decode(stored, path, version)) {
        Ok(body) => return Ok(Some(Restored { body, warning: None, fault: None })),
        Err(Fault::Version(problem)) => return Err(problem.into()),
        Err(fault) => fault,
    };
    let older = previous(path);
    match (load(&older).and_then(|stored| decode(stored, &older, version)), fault) {
        (Ok(body), fault) => {
            let warning = format!(
                "{}: {}; the previous checkpoint {} is used instead",
                path.display(),
                fault.reason(),
                older.display()
            );
            Ok(Some(Restored { body, warning: Some(warning), fault: Some(fault.reason()) }))
        }
        (Err(Fault::Version(problem)), _) => Err(problem.into()),
        (Err(Fault::Missing), Fault::Missing) => Ok(None),
        (Err(also), fault) => {
            let help = format!("{}: {}", older.display(), also.reason());
            Err(Error::io(path, format!("{}; {help}", fault.reason())))
        }
    }
}

/// Whether the file begins with the eight bytes that identify a checkpoint.
pub fn is_checkpoint(path: &Path) -> bool {
    let mut magic = [0; MAGIC.len()];
    file::open(path).and_then(|mut file| file.read_exact(&mut magic)).is_ok_and(|()| magic == MAGIC)
}

/// Returns the path of the previous checkpoint: `checkpoint.md` → `checkpoint.prev.md`.
pub fn previous(path: &Path) -> PathBuf {
    with_word(path, "prev")
}

/// Returns the path under which a damaged checkpoint is kept: `checkpoint.md` → `checkpoint.damaged.md`.
fn damaged(path: &Path) -> PathBuf {
    with_word(path, "damaged")
}

fn with_word(path: &Path, word: &str) -> PathBuf {
    let mut extension = std::ffi::OsString::from(word);
    if let Some(own) = path.extension() {
        extension.push(".");
        extension.push(own);
    }
    path.with_extension(extension)
}

/// Reason why a file is not a valid checkpoint.
enum Fault {
    Missing,
    /// description of the damage, as a sentence that a message quotes after the file name
    Damaged(String),
    Version(Problem),
}

impl Fault {
    /// Returns a description of the fault, as a sentence that a message quotes after the file name.
    fn reason(&self) -> String {
        match self {
            Fault::Missing => "the file is missing".to_owned(),
            Fault::Damaged(reason) => reason.clone(),
            Fault::Version(problem) => format!("the file cannot be used: {}", problem.message),
        }
    }
}

struct Stored {
    version: u32,
    body: Vec<u8>,
}

/// Reads one checkpoint file and verifies its checksum.
fn load(path: &Path) -> std::result::Result<Stored, Fault> {
    let fault = |e: std::io::Error| match e.kind() {
        std::io::ErrorKind::NotFound => Fault::Missing,
        std::io::ErrorKind::UnexpectedEof => Fault::Damaged("the file is truncated".into()),
        _ => Fault::Damaged(format!("the file cannot be read: {e}")),
    };
    let mut file = file::open(path).map_err(fault)?;
    let size = file.metadata().map_err(fault)?.len();
    let mut header = [0u8; HEADER];
    file.read_exact(&mut header).map_err(fault)?;
    if header[..8] != MAGIC {
        return Err(Fault::Damaged("the file is not a checkpoint".into()));
    }
    let word = |at: usize| u32::from_le_bytes(std::array::from_fn(|i| header[at + i]));
    let length = u64::from_le_bytes(std::array::from_fn(|i| header[12 + i]));
    let found = size.saturating_sub(HEADER as u64);
    if length != found {
        let message = format!("the file is damaged: it has {found} bytes instead of {length}");
        return Err(Fault::Damaged(message));
    }
    let mut body = vec![];
    file.read_to_end(&mut body).map_err(fault)?;
    let mut sum = Hasher::new();
    sum.update(&body);
    if checksum(&header, &sum) != word(20) {
        return Err(Fault::Damaged("the file is damaged: its checksum is wrong".into()));
    }
    Ok(Stored { version: word(8), body })
}

fn decode<T: DeserializeOwned>(stored: Stored, path: &Path, version: u32) -> std::result::Result<T, Fault> {
    if stored.version != version {
        let message = format!("the checkpoint has version {}, but this md reads version {version}", stored.version);
        let help = "continue with the version of md that wrote the checkpoint, or use --force to start anew";
        return Err(Fault::Version(Problem::new(message).in_file(path).help(help)));
    }
    // the checksum is right, so the file is intact; if decoding fails, the contents were written by another version of
    // md with another definition of the type
    postcard::from_bytes(&stored.body).map_err(|e| Fault::Damaged(format!("the file has unexpected contents: {e}")))
}

/// Returns the CRC-32 of the version, the length and the body of a checkpoint.
fn checksum(header: &[u8; HEADER], body: &Hasher) -> u32 {
    let mut whole = Hasher::new();
    whole.update(&header[8..20]);
    whole.combine(body);
    whole.finalize()
}

/// Writer that counts bytes, updates the checksum of the bytes, and passes the bytes on to another writer. With this
/// writer, the serialised body of a large system is never in memory as a whole.
struct Summed<W> {
    to: W,
    length: u64,
    checksum: Hasher,
    /// first I/O error of the underlying writer, which the serializer does not report
    failure: Option<std::io::Error>,
}

impl<W: Write> Write for Summed<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if let Err(failure) = self.to.write_all(bytes) {
            self.failure = Some(failure);
            return Err(std::io::ErrorKind::Other.into());
        }
        self.length += bytes.len() as u64;
        self.checksum.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.to.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::State;
    use crate::vec3::vec3;

    fn state(step: u64) -> State {
        let awkward = vec3(0.1 + 0.2, -0.0, f64::MIN_POSITIVE / 3.0);
        State { step, time: step as f64 / 3.0, positions: vec![awkward; 100], ..State::default() }
    }

    fn two_written(directory: &Path) -> PathBuf {
        let path = directory.join("checkpoint.md");
        write(&path, 1, &state(1)).unwrap();
        write(&path, 1, &state(2)).unwrap();
        path
    }

    fn restored(path: &Path) -> Restored<State> {
        read(path, 1).unwrap().unwrap()
    }

    #[test]
    fn every_bit_comes_back_and_the_previous_one_is_kept() {
        let directory = tempfile::tempdir().unwrap();
        let path = two_written(directory.path());
        assert_eq!(path.with_file_name("checkpoint.prev.md"), previous(&path));
        for (path, step) in [(path.clone(), 2), (previous(&path), 1)] {
            let found = restored(&path);
            assert_eq!((found.body.step, found.warning), (step, None));
            let bits = |state: &State| bytemuck::cast_slice::<_, u64>(&state.positions).to_vec();
            assert_eq!(bits(&found.body), bits(&state(step)));
        }
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 2, "a temporary file was left");
    }

    #[test]
    fn damage_of_any_kind_leads_back_to_the_previous_one() {
        let directory = tempfile::tempdir().unwrap();
        let path = two_written(directory.path());
        let good = fs::read(&path).unwrap();
        let mut damaged: Vec<(Vec<u8>, &str)> =
            [0, 5, HEADER, HEADER + 1, good.len() - 1].iter().map(|&n| (good[..n].to_vec(), "is ")).collect();
        damaged.extend((0..good.len()).step_by(7).filter(|i| !(8..12).contains(i)).map(|i| {
            let mut bytes = good.clone();
            bytes[i] ^= 1 << (i % 8);
            (bytes, "is ")
        }));
        damaged.push(([good.clone(), vec![0]].concat(), "bytes instead of"));
        for (bytes, words) in damaged {
            fs::write(&path, &bytes).unwrap();
            let found = restored(&path);
            assert_eq!(found.body, state(1));
            let warning = found.warning.unwrap();
            assert!(warning.contains(words) && warning.contains("is used instead"), "{warning}");
        }
        // writing a new checkpoint over a damaged checkpoint keeps the intact previous checkpoint
        write(&path, 1, &state(3)).unwrap();
        assert_eq!(restored(&path).body, state(3));
        assert_eq!(restored(&previous(&path)).body, state(1));
    }

    #[test]
    fn a_flipped_version_is_damage_not_a_version() {
        let directory = tempfile::tempdir().unwrap();
        let path = two_written(directory.path());
        let mut bytes = fs::read(&path).unwrap();
        bytes[8] ^= 4;
        fs::write(&path, bytes).unwrap();
        assert_eq!(restored(&path).body, state(1));
    }

    #[test]
    fn missing_and_foreign_checkpoints() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("checkpoint.md");
        assert!(read::<State>(&path, 1).unwrap().is_none());
        let path = two_written(directory.path());
        let error = read::<State>(&path, 7).unwrap_err();
        assert_eq!(error.exit_code(), 2);
        assert!(error.to_string().contains("version 1, but this md reads version 7"), "{error}");
        // a process that is killed between its two renames of checkpoint files leaves only the previous checkpoint
        fs::remove_file(&path).unwrap();
        let found = restored(&path);
        assert_eq!(found.body, state(1));
        assert!(found.warning.unwrap().contains("missing"));
        // neither file is an intact checkpoint any more
        for bad in [&path, &previous(&path)] {
            fs::write(bad, b"MDCHECKP but no more").unwrap();
        }
        assert_eq!(read::<State>(&path, 1).unwrap_err().exit_code(), 5);
    }

    #[test]
    fn what_cannot_be_read_leads_back_and_is_kept() {
        let directory = tempfile::tempdir().unwrap();
        let path = two_written(directory.path());
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        fs::write(path.join("inside"), "a file of the user").unwrap();
        let found = restored(&path);
        assert_eq!(found.body, state(1));
        let warning = found.warning.unwrap();
        assert!(warning.contains("cannot be read: ") && warning.contains("is used instead"), "{warning}");
        write(&path, 1, &state(3)).unwrap();
        assert_eq!((restored(&path).body, restored(&previous(&path)).body), (state(3), state(1)));
        assert!(damaged(&path).join("inside").exists());
        // neither file can be read, so the error gives both reasons
        for unreadable in [&path, &previous(&path)] {
            fs::remove_file(unreadable).unwrap();
            fs::create_dir(unreadable).unwrap();
        }
        let error = read::<State>(&path, 1).unwrap_err();
        assert!(error.exit_code() == 5 && error.to_string().matches("cannot be read").count() == 2, "{error}");
    }

    #[test]
    fn contents_of_another_shape_are_not_misread() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("checkpoint.md");
        write(&path, 1, &("a text", 3u8)).unwrap();
        assert_eq!(read::<State>(&path, 1).unwrap_err().exit_code(), 5);
    }
}
