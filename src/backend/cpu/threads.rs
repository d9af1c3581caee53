//! Fixed partitions of the work.

use rayon::join;
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

/// `work` on each of some consecutive ranges, each with its piece of `items`, in parallel; the ranges cover the items.
/// Halves the ranges down to single ones, because a list of pieces of different lengths would have to be allocated.
pub(super) fn over_parts<T: Send>(
    ranges: &[Range<usize>],
    items: &mut [T],
    work: &(impl Fn(Range<usize>, &mut [T]) + Sync),
) {
    match ranges {
        [] => (),
        [range] => work(range.clone(), items),
        _ => {
            let (low, high) = ranges.split_at(ranges.len() / 2);
            let (left, right) = items.split_at_mut(high[0].start - low[0].start);
            join(|| over_parts(low, left, work), || over_parts(high, right, work));
        }
    }
}
