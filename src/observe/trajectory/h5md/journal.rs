//! Rollback journal of a trajectory, which protects the trajectory against a loss of power. The journal is a file next
//! to the trajectory. The journal holds all bytes of the trajectory that later frames change in place, as they were at
//! the last sync.
//!
//! HDF5 rewrites object headers, chunk indices and partly filled chunks in place. After a loss of power, each page
//! written since the last sync may be on disk in its old form, in its new form, or partly in both. Two kinds of bytes
//! are written once and never again: static data and full chunks. Static data and full chunks are on disk before the
//! journal is written. All other bytes of the trajectory, a few dozen per frame, are in the journal, so that
//! [`restore`] recovers, bit for bit, the file as it was at the last sync. The journal is replaced at every sync,
//! before the checkpoint of this sync is written, and removed when the trajectory is closed. A trajectory without a
//! journal is valid, but is not protected against a loss of power.
//!
//! Layout: 8 bytes `MDJOURNL`, u32 CRC-32 of all following bytes (little endian), [`Header`] as encoded by the crate
//! `postcard`, and the saved bytes of the ranges in `Header::saved`.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, ErrorKind, Read, Seek, SeekFrom, Take, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::datasets::Datasets;
use super::series::Bytes;
use crate::error::{Error, Result};
use crate::observe::extent::Extent;
use crate::observe::replace::{sync_directory, temporary_beside, unless_missing};

const MAGIC: [u8; 8] = *b"MDJOURNL";
/// Number of bytes of a journal before its header.
const START: usize = MAGIC.len() + size_of::<u32>();

/// Datasets that never change and may be large, so they are not copied to the journal. All other datasets that never
/// change are small, and are copied to the journal.
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
    /// number and checksum of the frames at the last sync
    extent: Extent,
    /// length of the trajectory file in bytes at the last sync
    length: u64,
    /// byte ranges of the fixed data and of the last frame, with the CRC-32 of each range; the journal belongs to a
    /// file only if the file has these checksums
    known: Vec<(Bytes, u32)>,
    /// byte range in the trajectory of each block of saved bytes
    saved: Vec<Bytes>,
}

/// Reader of the bytes of an HDF5 file, which does not use the HDF5 library.
struct Stored {
    file: File,
    length: u64,
}

impl Stored {
    /// Opens an HDF5 file for reading its bytes.
    fn open(path: &Path) -> std::io::Result<Self> {
        let file = File::open(path)?;
        Ok(Self { length: file.metadata()?.len(), file })
    }

    /// Returns the present size of the file in bytes, which may have grown since the last call.
    fn refresh(&mut self) -> std::io::Result<u64> {
        self.length = self.file.metadata()?.len();
        Ok(self.length)
    }

    /// Returns a reader of a range of bytes, or an error if the range ends beyond the end of the file.
    fn range(&mut self, Bytes { offset, length }: Bytes) -> std::io::Result<Take<&mut File>> {
        let end = offset.saturating_add(length);
        if end > self.length && end > self.refresh()? {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        self.file.seek(SeekFrom::Start(offset))?;
        Ok((&mut self.file).take(length))
    }

    /// Appends a range of bytes to `image`.
    fn append(&mut self, bytes: Bytes, image: &mut Vec<u8>) -> std::io::Result<()> {
        let read = self.range(bytes)?.read_to_end(image)?;
        if read as u64 == bytes.length { Ok(()) } else { Err(ErrorKind::UnexpectedEof.into()) }
    }

    /// Returns the CRC-32 of a range of bytes. The range may be large, and is read in pieces.
    fn checksum(&mut self, bytes: Bytes) -> std::io::Result<u32> {
        let (mut hasher, mut left) = (crc32fast::Hasher::new(), bytes.length);
        let mut reader = BufReader::new(self.range(bytes)?);
        while left > 0 {
            let piece = reader.fill_buf()?;
            if piece.is_empty() {
                return Err(ErrorKind::UnexpectedEof.into());
            }
            hasher.update(piece);
            let read = piece.len();
            left -= read as u64;
            reader.consume(read);
        }
        Ok(hasher.finalize())
    }
}

/// Journal of a trajectory that is being written.
pub(super) struct Journal {
    path: PathBuf,
    /// byte ranges of the fixed data, with their CRC-32
    fixed: Vec<(Bytes, u32)>,
    /// byte ranges that are never written again, as a map from first offset to end offset; adjacent ranges are merged
    final_ranges: BTreeMap<u64, u64>,
    /// number of frames whose full chunks are in `final_ranges`
    frames: u64,
    /// byte ranges of the packed rows of frame number `frames`, counted from 1
    last: Vec<Bytes>,
    trajectory: Stored,
}

impl Journal {
    /// Creates the journal of the trajectory at `path`.
    pub(super) fn new(path: &Path, file: &hdf5::File) -> Result<Self> {
        let io = |e: &dyn std::fmt::Display| Error::io(path, e);
        let mut journal = Self {
            path: journal_path(path),
            fixed: vec![],
            final_ranges: BTreeMap::new(),
            frames: 0,
            last: vec![],
            trajectory: Stored::open(path).map_err(|e| io(&e))?,
        };
        for name in FIXED {
            let dataset = file.dataset(name).map_err(|e| io(&e))?;
            // a dataset without data, or with data in several pieces, has no offset, and is saved in the journal
            // instead
            let Some(offset) = dataset.offset() else { continue };
            let bytes = Bytes { offset, length: dataset.storage_size() };
            let checksum = journal.trajectory.checksum(bytes).map_err(|e| io(&e))?;
            journal.fixed.push((bytes, checksum));
            journal.mark_final(bytes);
        }
        Ok(journal)
    }

    /// Replaces the journal, so that it protects the present state of the trajectory file. `extent` has the number and
    /// checksum of the frames in the trajectory file. All data of the trajectory file must be on disk before the call.
    pub(super) fn record(&mut self, datasets: &Datasets, extent: Extent) -> Result<()> {
        self.advance(datasets, extent.count)?;
        let path = self.path.clone();
        let io = |e| Error::io(&path, e);
        let length = self.trajectory.refresh().map_err(io)?;
        let mut known = self.fixed.clone();
        for &bytes in &self.last {
            known.push((bytes, self.trajectory.checksum(bytes).map_err(io)?));
        }
        let header = Header { extent, length, known, saved: self.rewritable(length) };
        let internal = |e: postcard::Error| Error::Internal(e.to_string());
        let mut image = postcard::to_extend(&header, [0; START].to_vec()).map_err(internal)?;
        for bytes in header.saved {
            self.trajectory.append(bytes, &mut image).map_err(io)?;
        }
        let checksum = crc32fast::hash(&image[START..]);
        image[..MAGIC.len()].copy_from_slice(&MAGIC);
        image[MAGIC.len()..START].copy_from_slice(&checksum.to_le_bytes());
        let mut temporary = temporary_beside(&self.path)?;
        temporary.write_all(&image).and_then(|()| temporary.as_file().sync_data()).map_err(io)?;
        temporary.persist(&self.path).map_err(|e| io(e.error))?;
        sync_directory(&self.path)
    }

    /// Adds the chunks that are full after `frames` frames to the byte ranges that are never written again.
    pub(super) fn advance(&mut self, datasets: &Datasets, frames: u64) -> Result<()> {
        if frames == self.frames {
            return Ok(());
        }
        self.last.clear();
        let found = datasets.complete_chunks(self.frames, frames, |bytes, is_last| {
            self.mark_final(bytes);
            if is_last {
                self.last.push(bytes);
            }
        });
        self.frames = frames;
        found.map_err(|e| Error::io(&self.path, e))
    }

    fn mark_final(&mut self, Bytes { offset: mut start, length }: Bytes) {
        let mut end = start.saturating_add(length);
        if let Some(after) = self.final_ranges.remove(&end) {
            end = after;
        }
        if let Some((&before, &middle)) = self.final_ranges.range(..start).next_back()
            && middle == start
        {
            start = before;
        }
        self.final_ranges.insert(start, end);
    }

    /// Returns the byte ranges within the first `length` bytes of the file that may still be rewritten.
    fn rewritable(&self, length: u64) -> Vec<Bytes> {
        let ends = std::iter::once(0).chain(self.final_ranges.values().copied());
        let starts = self.final_ranges.keys().copied().chain([length]);
        ends.zip(starts)
            .filter(|(from, to)| to > from)
            .map(|(from, to)| Bytes { offset: from, length: to - from })
            .collect()
    }
}

/// Returns the path of the journal of a trajectory.
fn journal_path(path: &Path) -> PathBuf {
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(".journal");
    path.with_file_name(name)
}

/// Removes the journal of a trajectory that is closed and completely on disk.
pub(super) fn remove(path: &Path) -> Result<()> {
    unless_missing(std::fs::remove_file(journal_path(path)), path)?.map_or(Ok(()), |()| sync_directory(path))
}

/// Restores a trajectory that was not closed; the restored state is the state at the last sync. Returns true if the
/// file was restored. The file is restored only if there is a journal that belongs to the file, and if the restored
/// state has at least `wanted.count` frames.
pub(super) fn restore(path: &Path, wanted: Extent) -> Result<bool> {
    match read(&journal_path(path)) {
        Some((header, _)) if header.extent.count < wanted.count => Ok(false),
        Some((header, _)) if header.extent.count == wanted.count && header.extent != wanted => Ok(false),
        Some((header, image)) => apply(header, &image, path),
        None => Ok(false),
    }
}

/// Writes the trajectory at `path`, in its state at the last sync, to the new file `copy`. Returns false if there is no
/// journal that belongs to the trajectory.
pub(super) fn restore_to(path: &Path, copy: &Path) -> Result<bool> {
    read(&journal_path(path)).map_or(Ok(false), |(header, image)| apply(header, &image, copy))
}

fn apply(header: Header, mut image: &[u8], path: &Path) -> Result<bool> {
    let io = |e| Error::io(path, e);
    let mut stored = Stored::open(path).map_err(io)?;
    // somebody may have replaced the trajectory by another file, to which this journal does not belong; such a file
    // must not be changed
    let is_known = |&(bytes, checksum)| stored.checksum(bytes).is_ok_and(|found| found == checksum);
    if !header.known.iter().all(is_known) || stored.refresh().map_err(io)? < header.length {
        return Ok(false);
    }
    let mut file = OpenOptions::new().write(true).open(path).map_err(io)?;
    for Bytes { offset, length } in header.saved {
        let (bytes, rest) = image.split_at(length as usize);
        file.seek(SeekFrom::Start(offset)).and_then(|_| file.write_all(bytes)).map_err(io)?;
        image = rest;
    }
    file.set_len(header.length).and_then(|()| file.sync_all()).map_err(io)?;
    Ok(true)
}

/// Reads the header and the saved bytes of the journal at `path`; `None` if the file is missing or incomplete.
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
