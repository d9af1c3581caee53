//! Positions of the frames in a file.

use std::ops::Range;

/// Byte offsets of the frames in a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Index {
    /// number of bytes before the first frame
    pub(super) header: u64,
    /// end offset of each complete frame, if frames differ in size
    pub(super) ends: Vec<u64>,
    /// number and size in bytes of frames that all have the same size; used instead of `ends`, because a list of
    /// offsets would be too long for a file with very many frames
    pub(super) equal: (usize, u64),
    /// reason why the bytes after the last complete frame are damaged and not just the beginning of a frame
    pub(super) damage: Option<String>,
}

impl Index {
    /// Creates the index of frames that all have `size` bytes (not zero). The frames extend from the end of the
    /// header to the end of the file.
    pub(super) fn equal(header: u64, length: u64, size: u64) -> Self {
        let count = usize::try_from((length - header) / size).unwrap_or(usize::MAX);
        Self { header, equal: (count, size), ..Self::default() }
    }

    /// Returns the number of complete frames.
    pub(super) fn count(&self) -> usize {
        self.ends.len() + self.equal.0
    }

    /// Returns the offset at which frame `index` ends.
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

    /// Returns the offset at which the last complete frame ends.
    pub(super) fn end(&self) -> u64 {
        self.frames(self.count()).end
    }
}
