//! Fixed partitions of the work.

use std::ops::Range;

/// One of several parts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parts {
    pub index: usize,
    pub count: usize,
}

/// Part `index` of `count` of the numbers below `total`, of about equal size.
pub(super) fn part(total: usize, index: usize, count: usize) -> Range<usize> {
    total * index / count..total * (index + 1) / count
}
