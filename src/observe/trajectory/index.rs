//! Index of a trajectory file: the byte offset of each frame.

use std::ops::Range;

/// Byte offsets of the frames in a trajectory file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Index {
    /// number of bytes of the file before the first frame
    pub(super) header: u64,
    /// end offset of each complete frame and of each stretch of damaged bytes; empty if all frames have the same size
    pub(super) ends: Vec<u64>,
    /// number of frames, and size in bytes of each frame, if all frames have the same size. These two numbers replace
    /// `ends`, because a list of offsets would be too long for a file with very many frames
    pub(super) equal: (usize, u64),
    /// indices that belong to stretches of damaged bytes instead of frames, in ascending order, each with a description
    /// of the damage
    pub(super) damage: Vec<(usize, String)>,
}

impl Index {
    /// Creates the index of frames that all have `size` bytes (not zero). The frames extend from the end of the header,
    /// at byte `header`, to the end of the file, at byte `length`.
    pub(super) fn equal(header: u64, length: u64, size: u64) -> Self {
        let count = usize::try_from((length - header) / size).unwrap_or(usize::MAX);
        Self { header, equal: (count, size), ..Self::default() }
    }

    /// Adds a stretch of damaged bytes, which ends at byte `end`.
    pub(super) fn add_damage(&mut self, damage: String, end: u64) {
        self.damage.push((self.ends.len(), damage));
        self.ends.push(end);
    }

    /// Moves the end of the last frame, or of the header if there is no frame, to byte `end`.
    pub(super) fn end_last_at(&mut self, end: u64) {
        *self.ends.last_mut().unwrap_or(&mut self.header) = end;
    }

    /// Returns the number of complete frames and stretches of damaged bytes.
    pub(super) fn count(&self) -> usize {
        self.ends.len() + self.equal.0
    }

    /// Returns the byte offset at which frame `index` ends.
    fn end_of(&self, index: usize) -> u64 {
        self.ends.get(index).copied().unwrap_or_else(|| self.header + (index as u64 + 1) * self.equal.1)
    }

    /// Returns the byte range of frame `index`.
    pub(super) fn frame(&self, index: usize) -> Range<u64> {
        index.checked_sub(1).map_or(self.header, |before| self.end_of(before))..self.end_of(index)
    }

    /// Returns the byte range of the first `count` frames.
    pub(super) fn frames(&self, count: usize) -> Range<u64> {
        self.header..count.checked_sub(1).map_or(self.header, |last| self.end_of(last))
    }

    /// Returns the byte offset at which the last complete frame ends.
    pub(super) fn end(&self) -> u64 {
        self.frames(self.count()).end
    }
}
