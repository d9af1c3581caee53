//! Verification and repair of trajectories whose files are a header followed by frames.
//!
//! [`verify`] decodes every frame. [`repair`] copies the frames that can be decoded to a new file. If the time of a
//! frame follows from its index in the file, the frames after a lost frame would move to earlier times; [`repair`] then
//! copies only the frames before the first lost frame.

use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::records::{Opened, Records};
use super::refusal::{nothing_to_save, unused_backup};
use super::{StoredFrame, regular_file};
use crate::error::{Error, Result};
use crate::observe::lock::OutputLock;
use crate::observe::replace::{behind_link, sync_directory, temporary_beside};

/// Result of verifying all frames of a trajectory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verification {
    /// number of frames in the file; a stretch of damaged bytes counts as one frame
    pub frames: u64,
    /// index of each frame that cannot be read, or that differs from the frame that was written, with the reason
    pub bad: Vec<(u64, String)>,
    /// number of frames that the header counts in addition to the frames in the file
    pub missing: u64,
    /// whether the file has checksums; without checksums a frame counts as good if it can be read
    pub checksums: bool,
}

/// Result of the repair of a trajectory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Repair {
    /// number of frames in the repaired file
    pub frames: u64,
    /// indices, in the damaged file, of the frames that could not be saved
    pub lost: Vec<u64>,
    /// number of readable frames after the first lost frame that were left out, because their times follow from their
    /// indices
    pub left_out: u64,
    /// number of frames that the header counted, but the damaged file did not have
    pub missing: u64,
    /// number of bytes of the damaged file in which no frame begins; each stretch of such bytes counts as one lost
    /// frame, but may have held several frames
    pub unreadable: u64,
    /// path under which the damaged file is kept; `None` if every frame was intact, even if the writer had not closed
    /// the file
    pub backup: Option<PathBuf>,
}

/// Decodes every frame of a file.
pub(super) fn verify(path: &Path, format: &Records) -> Result<Verification> {
    examine(&mut Opened::new(path, format)?, |_| Ok(()))
}

/// Copies the readable frames of a damaged file to a new file, which replaces the damaged file. An intact file stays
/// unchanged.
pub(super) fn repair(path: &Path, format: &Records) -> Result<Repair> {
    regular_file(path)?;
    let path = &*behind_link(path)?;
    let _lock = OutputLock::acquire_if_present(path)?;
    let mut opened = Opened::new(path, format)?;
    let Verification { frames, bad, missing, .. } = examine(&mut opened, |_| Ok(()))?;
    if bad.is_empty() && missing == 0 {
        return Ok(Repair { frames, ..Repair::default() });
    }
    let (good, first) = (frames - bad.len() as u64, bad.first().map_or(frames, |(index, _)| *index));
    let saved = if opened.facts.is_indexed { first } else { good };
    if saved == 0 {
        let absent = "its header counts frames, but none follows";
        let reason = bad.first().map_or(absent, |(_, reason)| reason);
        return Err(if good > 0 { only_later_frames(path, reason) } else { nothing_to_save(path, reason) });
    }
    let io = |e| Error::io(path, e);
    let mut copy = temporary_beside(path)?;
    let mut header = vec![0; opened.index.header as usize];
    opened.file.seek(SeekFrom::Start(0)).and_then(|_| opened.file.read_exact(&mut header)).map_err(io)?;
    copy.write_all(&header).map_err(io)?;
    let mut count = 0;
    examine(&mut opened, |bytes| {
        if count == saved {
            return Ok(());
        }
        count += 1;
        copy.write_all(bytes).map_err(io)
    })?;
    if let Some((place, bytes)) = opened.layout.counts(saved, None) {
        copy.seek(SeekFrom::Start(place)).and_then(|_| copy.write_all(&bytes)).map_err(io)?;
    }
    copy.as_file().sync_all().map_err(io)?;
    let backup = unused_backup(path);
    std::fs::rename(path, &backup).map_err(io)?;
    copy.persist(path).map_err(|e| Error::io(path, e.error))?;
    sync_directory(path)?;
    Ok(Repair {
        frames: saved,
        lost: bad.into_iter().map(|(frame, _)| frame).collect(),
        left_out: good - saved,
        missing,
        unreadable: damaged_bytes(&opened).iter().sum(),
        backup: Some(backup),
    })
}

/// Returns the error of a repair whose first frame is lost, in a format in which the time of a frame follows from its
/// index.
fn only_later_frames(path: &Path, reason: &str) -> Error {
    let message = format!(
        "the first frame cannot be read: {reason}; without it the other frames would move to earlier times, because the \
         time of a frame follows from its index; the file stays as it is, and `md convert --frame` writes each of them"
    );
    Error::io(path, message)
}

/// Returns the size in bytes of each stretch of damaged bytes.
fn damaged_bytes(opened: &Opened) -> Vec<u64> {
    let ranges = opened.index.damage.iter().map(|&(index, _)| opened.index.frame(index));
    ranges.map(|range| range.end - range.start).collect()
}

/// Decodes every frame of a file, and passes the bytes of the readable frames to `good`. Damaged bytes, and bytes
/// after the last frame, count as an unreadable frame.
fn examine(opened: &mut Opened, mut good: impl FnMut(&[u8]) -> Result<()>) -> Result<Verification> {
    let (mut bytes, mut frame) = (vec![], StoredFrame::default());
    let mut found = Verification { frames: opened.index.count() as u64, ..Verification::default() };
    let sizes = damaged_bytes(opened);
    let damage = std::mem::take(&mut opened.index.damage);
    let mut damaged = damage.iter().zip(&sizes).peekable();
    for index in 0..opened.index.count() {
        if let Some(((_, reason), size)) = damaged.next_if(|((at, _), _)| *at == index) {
            let reason = format!("{reason}; no frame begins in these {size} bytes, which may have held several frames");
            found.bad.push((index as u64, reason));
            continue;
        }
        opened.bytes(index, &mut bytes)?;
        match opened.layout.decode(index, &bytes, &mut frame) {
            Ok(()) => good(&bytes)?,
            Err(reason) => found.bad.push((index as u64, reason)),
        }
    }
    opened.index.damage = damage;
    if let Some(rest) = opened.rest() {
        found.bad.push((found.frames, rest));
        found.frames += 1;
    }
    found.missing = opened.missing();
    Ok(found)
}
