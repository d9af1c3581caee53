//! The rollback journal of a trajectory: a file next to it with all bytes that change in place, as they were at the last
//! sync, against a loss of power.
//!
//! HDF5 rewrites object headers, chunk indices and partly filled chunks in place. Of the pages written since the last
//! sync the disk may hold any, in old, new or torn form. Two kinds of bytes are written once and never again: static
//! data and full chunks. They are on disk before the journal is. All others, a few
//! dozen bytes a frame, are in the journal, so that [`restore`] gives back the file of that sync bit for bit. It is
//! replaced at every sync, before the checkpoint that counts on it, and removed when the trajectory is closed. Without
//! it only this safety net is missing.
//!
//! Layout: 8 bytes `MDJOURNL`, u32 CRC-32 of all that follows (little endian), [`Header`] in postcard's form, the
//! bytes of its `saved`.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::datasets::Datasets;
use super::series::Bytes;
use crate::error::{Error, Result};
use crate::observe::extent::Extent;
use crate::observe::replace::{sync_directory, temporary_beside};

const MAGIC: [u8; 8] = *b"MDJOURNL";
/// Bytes before the header.
const START: usize = MAGIC.len() + size_of::<u32>();

/// Data that do not change and may be large; small ones are saved with the rest.
const FIXED: [&str; 7] = [
    "topology",
    "particles/trajectory/mass",
    "particles/trajectory/charge",
    "particles/trajectory/species",
    "particles/trajectory/id",
    "connectivity/bonds",
    "parameters/run_id",
];

#[derive(Serialize, Deserialize)]
struct Header {
    /// extent of the file
    extent: Extent,
    /// bytes of the file
    length: u64,
    /// bytes by which the file is recognised, and their CRC-32: its fixed data and its last frame
    known: Vec<(Bytes, u32)>,
    /// where the bytes that follow belong
    saved: Vec<Bytes>,
}

/// Reads the file as bytes, without the library.
struct Stored {
    file: File,
    length: u64,
    buffer: Vec<u8>,
}

impl Stored {
    /// Opens the file for reading.
    fn open(path: &Path) -> std::io::Result<Self> {
        let file = File::open(path)?;
        Ok(Self { length: file.metadata()?.len(), file, buffer: vec![] })
    }

    /// Bytes of the file, which may have grown.
    fn refresh(&mut self) -> std::io::Result<u64> {
        self.length = self.file.metadata()?.len();
        Ok(self.length)
    }

    /// Reads some bytes; what lies beyond the end of the file is an error before memory is taken for it.
    fn read(&mut self, Bytes { offset, length }: Bytes) -> std::io::Result<&[u8]> {
        let end = offset.saturating_add(length);
        if end > self.length && end > self.refresh()? {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        self.buffer.resize(length as usize, 0);
        self.file.seek(SeekFrom::Start(offset))?;
        self.file.read_exact(&mut self.buffer)?;
        Ok(&self.buffer)
    }
}

/// The journal of a trajectory that is being written.
pub(super) struct Journal {
    path: PathBuf,
    /// fixed data and their CRC-32
    fixed: Vec<(Bytes, u32)>,
    /// bytes that are not written again: from where to where, without touching neighbours
    settled: BTreeMap<u64, u64>,
    /// frames whose complete chunks are in `settled`
    frames: u64,
    /// packed rows of the last of these
    last: Vec<Bytes>,
    trajectory: Stored,
}

impl Journal {
    /// For the trajectory at `path`.
    pub(super) fn new(path: &Path, file: &hdf5::File) -> Result<Self> {
        let io = |e: &dyn std::fmt::Display| Error::io(path, e);
        let mut journal = Self {
            path: beside(path),
            fixed: vec![],
            settled: BTreeMap::new(),
            frames: 0,
            last: vec![],
            trajectory: Stored::open(path).map_err(|e| io(&e))?,
        };
        for name in FIXED {
            let dataset = file.dataset(name).map_err(|e| io(&e))?;
            // no data, or not in one piece: then they are saved with the rest
            let Some(offset) = dataset.offset() else { continue };
            let bytes = Bytes { offset, length: dataset.storage_size() };
            let checksum = crc32fast::hash(journal.trajectory.read(bytes).map_err(|e| io(&e))?);
            journal.fixed.push((bytes, checksum));
            journal.settle(bytes);
        }
        Ok(journal)
    }

    /// Replaces the journal by one of the file as it is: `extent`, all of it on disk.
    pub(super) fn record(&mut self, datasets: &Datasets, extent: Extent) -> Result<()> {
        self.advance(datasets, extent.count)?;
        let path = self.path.clone();
        let io = |e| Error::io(&path, e);
        let length = self.trajectory.refresh().map_err(io)?;
        let mut known = self.fixed.clone();
        for &bytes in &self.last {
            known.push((bytes, crc32fast::hash(self.trajectory.read(bytes).map_err(io)?)));
        }
        let header = Header { extent, length, known, saved: self.unsettled(length) };
        let internal = |e: postcard::Error| Error::Internal(e.to_string());
        let mut image = postcard::to_extend(&header, [0; START].to_vec()).map_err(internal)?;
        for bytes in header.saved {
            image.extend_from_slice(self.trajectory.read(bytes).map_err(io)?);
        }
        let checksum = crc32fast::hash(&image[START..]);
        image[..MAGIC.len()].copy_from_slice(&MAGIC);
        image[MAGIC.len()..START].copy_from_slice(&checksum.to_le_bytes());
        let mut temporary = temporary_beside(&self.path)?;
        temporary.write_all(&image).and_then(|()| temporary.as_file().sync_data()).map_err(io)?;
        temporary.persist(&self.path).map_err(|e| io(e.error))?;
        sync_directory(&self.path)
    }

    /// Takes note of the chunks that `frames` frames fill.
    pub(super) fn advance(&mut self, datasets: &Datasets, frames: u64) -> Result<()> {
        if frames == self.frames {
            return Ok(());
        }
        self.last.clear();
        let found = datasets.complete_chunks(self.frames, frames, |bytes, is_last| {
            self.settle(bytes);
            if is_last {
                self.last.push(bytes);
            }
        });
        self.frames = frames;
        found.map_err(|e| Error::io(&self.path, e))
    }

    fn settle(&mut self, Bytes { offset: mut start, length }: Bytes) {
        let mut end = start.saturating_add(length);
        if let Some(after) = self.settled.remove(&end) {
            end = after;
        }
        if let Some((&before, &middle)) = self.settled.range(..start).next_back()
            && middle == start
        {
            start = before;
        }
        self.settled.insert(start, end);
    }

    /// What is not settled of the first `length` bytes.
    fn unsettled(&self, length: u64) -> Vec<Bytes> {
        let ends = std::iter::once(0).chain(self.settled.values().copied());
        let starts = self.settled.keys().copied().chain([length]);
        ends.zip(starts)
            .filter(|(from, to)| to > from)
            .map(|(from, to)| Bytes { offset: from, length: to - from })
            .collect()
    }
}

/// Path of the journal of a trajectory.
fn beside(path: &Path) -> PathBuf {
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(".journal");
    path.with_file_name(name)
}

/// Removes the journal of a trajectory that is closed and on disk.
pub(super) fn remove(path: &Path) -> Result<()> {
    match std::fs::remove_file(beside(path)) {
        Ok(()) => sync_directory(path),
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(()),
        Err(e) => Err(Error::io(path, e)),
    }
}

/// Restores the last sync of a trajectory that was not closed, if there is a journal that fits and that state has at least
/// the frames of `wanted`. Returns whether it did.
pub(super) fn restore(path: &Path, wanted: Extent) -> Result<bool> {
    match read(&beside(path)) {
        Some((header, _)) if header.extent.count < wanted.count => Ok(false),
        Some((header, _)) if header.extent.count == wanted.count && header.extent != wanted => Ok(false),
        Some(journal) => apply(journal, path),
        None => Ok(false),
    }
}

/// Restores the last sync in `copy` of the trajectory at `path`, if there is a journal that fits.
pub(super) fn restore_to(path: &Path, copy: &Path) -> Result<bool> {
    read(&beside(path)).map_or(Ok(false), |journal| apply(journal, copy))
}

fn apply((header, image): (Header, Vec<u8>), path: &Path) -> Result<bool> {
    let io = |e| Error::io(path, e);
    let mut stored = Stored::open(path).map_err(io)?;
    // a file that was put in the place of the one the journal is of must not be touched
    let is_known = |&(bytes, checksum)| stored.read(bytes).is_ok_and(|found| crc32fast::hash(found) == checksum);
    if !header.known.iter().all(is_known) || stored.refresh().map_err(io)? < header.length {
        return Ok(false);
    }
    let mut file = OpenOptions::new().write(true).open(path).map_err(io)?;
    let mut rest = image.as_slice();
    for Bytes { offset, length } in header.saved {
        let (bytes, after) = rest.split_at(length as usize);
        file.seek(SeekFrom::Start(offset)).and_then(|_| file.write_all(bytes)).map_err(io)?;
        rest = after;
    }
    file.set_len(header.length).and_then(|()| file.sync_all()).map_err(io)?;
    Ok(true)
}

/// The journal at `path` and the saved bytes, if it is there and whole.
fn read(path: &Path) -> Option<(Header, Vec<u8>)> {
    let mut file = File::open(path).ok()?;
    let mut image = vec![];
    file.read_to_end(&mut image).ok()?;
    let body = image.strip_prefix(&MAGIC)?;
    let (checksum, body) = body.split_first_chunk()?;
    if crc32fast::hash(body) != u32::from_le_bytes(*checksum) {
        return None;
    }
    let (header, saved) = postcard::take_from_bytes::<Header>(body).ok()?;
    let announced = header.saved.iter().try_fold(0u64, |sum, bytes| sum.checked_add(bytes.length));
    let inside = header.saved.iter().all(|b| b.offset.checked_add(b.length).is_some_and(|end| end <= header.length));
    (announced == Some(saved.len() as u64) && inside).then(|| (header, saved.to_vec()))
}
