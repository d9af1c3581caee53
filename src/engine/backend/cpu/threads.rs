//! Fixed work partitions: each kind of work is divided into a fixed number of parts of about equal size, by default one
//! per thread.

use std::ops::Range;

/// Index of a work partition, and number of work partitions.
#[derive(Clone, Copy, Debug)]
pub(super) struct WorkPartition {
    pub index: usize,
    pub count: usize,
}

/// Returns part `index` of the range `0..total` divided into `count` parts of about equal size.
pub(super) fn partition(total: usize, index: usize, count: usize) -> Range<usize> {
    total * index / count..total * (index + 1) / count
}
