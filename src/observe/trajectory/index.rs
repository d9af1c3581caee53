//! Where the frames of a file lie.

use std::ops::Range;

/// Offsets of the frames of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Index {
    /// bytes before the first frame
    pub(super) header: u64,
    /// where each complete frame ends, if frames differ in size
    pub(super) ends: Vec<u64>,
    /// number and bytes of frames of the same size: a file may have more of them than a list has room for
    pub(super) equal: (usize, u64),
    /// why what follows the last of them cannot be a frame, not even an incomplete one
    pub(super) damage: Option<String>,
}

impl Index {
    /// Frames of `size` bytes, which is not zero, from the end of the header to that of the file.
    pub(super) fn equal(header: u64, length: u64, size: u64) -> Self {
        let count = usize::try_from((length - header) / size).unwrap_or(usize::MAX);
        Self { header, equal: (count, size), ..Self::default() }
    }

    /// Number of complete frames.
    pub(super) fn count(&self) -> usize {
        self.ends.len() + self.equal.0
    }

    /// Where frame `index` ends.
    fn end_of(&self, index: usize) -> u64 {
        self.ends.get(index).copied().unwrap_or_else(|| self.header + (index as u64 + 1) * self.equal.1)
    }

    /// Bytes of frame `index`.
    pub(super) fn frame(&self, index: usize) -> Range<u64> {
        index.checked_sub(1).map_or(self.header, |before| self.end_of(before))..self.end_of(index)
    }

    /// Bytes of the first `count` frames.
    pub(super) fn frames(&self, count: usize) -> Range<u64> {
        self.header..count.checked_sub(1).map_or(self.header, |last| self.end_of(last))
    }

    /// Where the last complete frame ends.
    pub(super) fn end(&self) -> u64 {
        self.frames(self.count()).end
    }
}
