//! Fixed work partition: about equal parts of each kind of work, one per thread.

use std::ops::Range;

/// Index of a work partition, and number of work partitions.
#[derive(Clone, Copy, Debug)]
pub(super) struct WorkPartition {
    pub index: usize,
    pub count: usize,
}

/// Part `index` of `count` of the range `0..total`, of about equal size.
pub(super) fn partition(total: usize, index: usize, count: usize) -> Range<usize> {
    total * index / count..total * (index + 1) / count
}
