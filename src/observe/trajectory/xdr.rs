//! Reading of 32-bit words in network byte order (XDR), of which the binary formats of GROMACS consist.

use std::fs::File;
use std::io::{BufReader, Read, Seek};

use super::index::Index;
use super::records::Checked;

/// Returns the four-byte word with the 0-based index `at`; `None` beyond the end.
pub(super) fn word(bytes: &[u8], at: usize) -> Option<[u8; 4]> {
    bytes.get(4 * at..4 * at + 4)?.try_into().ok()
}

/// Returns the integer in the four-byte word with the 0-based index `at`.
pub(super) fn integer(bytes: &[u8], at: usize) -> Option<i32> {
    word(bytes, at).map(i32::from_be_bytes)
}

/// Moves the read position to byte offset `place` of the file. The read buffer is kept if it contains this offset.
pub(super) fn go_to(file: &mut BufReader<File>, place: u64) -> Checked<()> {
    let moved = file.stream_position().and_then(|here| file.seek_relative(place as i64 - here as i64));
    moved.map_err(|error| error.to_string())
}

/// Header of a frame, with the number of atoms and the size of the frame in bytes.
pub(super) struct FrameHead<H> {
    pub(super) atoms: usize,
    pub(super) bytes: u64,
    pub(super) rest: H,
}

/// Number of bytes that are read at once in the search for a frame.
const SEARCHED: usize = 1 << 16;

/// Search for the frames of a file that consists of frames with the same number of atoms.
pub(super) struct Search<R> {
    /// size of the file in bytes
    pub(super) length: u64,
    /// largest number of bytes at the beginning of a frame that `read` needs
    pub(super) most: usize,
    /// numbers with which frames begin
    pub(super) magic: &'static [i32],
    /// function that reads a header from the first bytes of a frame; the second argument is the byte offset of the
    /// frame. The result is `None` if the file ends before the end of the frame; the error describes the damage
    pub(super) read: R,
}

impl<H, R: Fn(&[u8], u64) -> Checked<Option<FrameHead<H>>>> Search<R> {
    /// Finds the frames. Calls `found` with the index, the header of each complete frame and the byte offset of its
    /// end; `found` adds the frame to the index. Bytes that form no frame are added to the index as damage, and the
    /// search goes on at the next valid header. Returns the number of atoms, or 0 if there is no frame.
    pub(super) fn frames(
        &self,
        file: &mut BufReader<File>,
        index: &mut Index,
        mut found: impl FnMut(&mut Index, H, u64),
    ) -> Checked<usize> {
        let (mut start, mut before, mut bytes, mut atoms) = (0, None, vec![], 0);
        while start < self.length {
            go_to(file, start)?;
            bytes.clear();
            file.by_ref().take(self.most as u64).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
            let damage = match (self.read)(&bytes, start) {
                Ok(Some(head)) if atoms == 0 || head.atoms == atoms => match self.end_of(&head, start) {
                    Some(end) => {
                        (atoms, before) = (head.atoms, Some(start));
                        found(index, head.rest, end);
                        start = end;
                        continue;
                    }
                    None => None,
                },
                Ok(Some(head)) => {
                    let atoms_here = head.atoms;
                    Some(format!("byte {start}: a frame has {atoms_here} atoms, and frames before it have {atoms}"))
                }
                Ok(None) => None,
                Err(damage) => Some(damage),
            };
            // if the size of the frame before is wrong, the next frame begins inside the frame before
            let from = before.filter(|_| damage.is_some()).unwrap_or(start);
            match (self.next(file, from + 1, atoms)?, damage) {
                (Some(next), _) if next < start => {
                    index.end_last_at(next);
                    start = next;
                }
                (Some(next), damage) => {
                    let size = || format!("byte {start}: the size of the frame is wrong");
                    index.add_damage(damage.unwrap_or_else(size), next);
                    start = next;
                }
                (None, Some(damage)) => {
                    index.add_damage(damage, self.length);
                    break;
                }
                // the last frame is incomplete
                (None, None) => break,
            }
        }
        Ok(atoms)
    }

    /// Returns the byte offset of the end of a frame; `None` if the file ends before.
    fn end_of(&self, head: &FrameHead<H>, start: u64) -> Option<u64> {
        start.checked_add(head.bytes).filter(|&end| end <= self.length)
    }

    /// Returns the byte offset of the first complete frame that begins at byte `from` or later and has `atoms` atoms,
    /// or any number of atoms if `atoms` is 0. The time is proportional to the number of bytes that are searched.
    fn next(&self, file: &mut BufReader<File>, from: u64, atoms: usize) -> Checked<Option<u64>> {
        let (mut window, mut place) = (vec![], from);
        while place < self.length {
            go_to(file, place)?;
            window.clear();
            let count = (SEARCHED + self.most) as u64;
            file.by_ref().take(count).read_to_end(&mut window).map_err(|error| error.to_string())?;
            for at in 0..window.len().min(SEARCHED) {
                let (bytes, start) = (&window[at..window.len().min(at + self.most)], place + at as u64);
                if !integer(bytes, 0).is_some_and(|number| self.magic.contains(&number)) {
                    continue;
                }
                if let Ok(Some(head)) = (self.read)(bytes, start)
                    && (atoms == 0 || head.atoms == atoms)
                    && self.end_of(&head, start).is_some()
                {
                    return Ok(Some(start));
                }
            }
            place += SEARCHED as u64;
        }
        Ok(None)
    }
}

/// Step numbers of the frames of a file that stores only the low 32 bits of each step number.
///
/// The step number of a frame exceeds that of the frame before by the difference of their low 32 bits, if this
/// difference, as a signed number, is at least 0 and the time rises. Otherwise the numbers begin anew with the signed
/// low 32 bits; a negative number at a positive time is then taken as unsigned, because md counts steps from 0.
#[derive(Default)]
pub(super) struct Steps {
    /// low 32 bits of the step number, and time (ps), of the last frame
    last: Option<(i32, f64)>,
    /// multiple of 2³² that is added to the low 32 bits of the last frame as a signed number
    offset: i64,
    /// index of each frame from which a different offset applies, with this offset
    changes: Vec<(usize, i64)>,
}

impl Steps {
    /// Adds the frame with the index `index`, at the time `time` (ps), whose step number has the low bits `low`.
    pub(super) fn add(&mut self, index: usize, low: i32, time: f64) {
        const RANGE: i64 = 1 << 32;
        let first = if low < 0 && time > 0.0 { RANGE } else { 0 };
        let offset = match self.last.replace((low, time)) {
            Some((before, earlier)) if time >= earlier && low.wrapping_sub(before) >= 0 => {
                self.offset + if low < before { RANGE } else { 0 }
            }
            _ => first,
        };
        if offset != self.offset {
            self.offset = offset;
            self.changes.push((index, offset));
        }
    }

    /// Returns the step number of the frame with the index `index` and the low bits `low`.
    pub(super) fn step(&self, index: usize, low: i32) -> i64 {
        let count = self.changes.partition_point(|&(first, _)| first <= index);
        i64::from(low) + count.checked_sub(1).map_or(0, |last| self.changes[last].1)
    }
}
