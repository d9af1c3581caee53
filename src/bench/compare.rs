//! Comparison with an older report.

use super::{Range, Report, Row};

/// Slower by no more than this is no regression, however little the repeats scatter.
const NOISE: f64 = 0.02;

/// A row that became slower beyond noise.
#[derive(Clone, Debug, PartialEq)]
pub struct Regression {
    /// system, threads, instruction set
    pub what: String,
    /// ns/day before
    pub before: Range,
    /// ns/day now
    pub now: Range,
}

/// Rows of `now` that are slower than the same rows of `before`: ranges that do not overlap, and medians more than 2 %
/// apart. Rows without a partner are not looked at; the second number says how many have one.
pub fn regressions(before: &Report, now: &Report) -> (Vec<Regression>, usize) {
    let partner = |row: &Row| before.rows.iter().find(|old| key(old) == key(row)).map(|old| old.ns_per_day);
    let pairs: Vec<(&Row, Range)> = now.rows.iter().filter_map(|row| Some((row, partner(row)?))).collect();
    let found = pairs.iter().filter(|(row, before)| is_slower(before, &row.ns_per_day)).map(|(row, before)| {
        let what = format!("{}, {} threads, {}, {}", row.name, row.threads, row.simd, row.device);
        Regression { what, before: *before, now: row.ns_per_day }
    });
    (found.collect(), pairs.len())
}

/// What makes two rows the same measurement.
fn key(row: &Row) -> (&str, usize, usize, &str, &str) {
    (&row.name, row.atoms, row.threads, &row.simd, &row.device)
}

fn is_slower(before: &Range, now: &Range) -> bool {
    now.max < before.min && now.median < (1.0 - NOISE) * before.median
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slower_means_apart_and_by_more_than_noise() {
        let range = |min, median, max| Range { median, min, max };
        let before = range(99.0, 100.0, 101.0);
        assert!(is_slower(&before, &range(95.0, 96.0, 97.0)));
        assert!(!is_slower(&before, &range(95.0, 96.0, 99.5)), "ranges overlap");
        assert!(!is_slower(&before, &range(98.5, 98.6, 98.7)), "apart by 1.4 % only");
        assert!(!is_slower(&before, &range(110.0, 111.0, 112.0)), "faster");
    }
}
