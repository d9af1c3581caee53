//! Comparison of a benchmark report with an earlier report.

use super::{Range, Report, Row};

/// Smallest relative slowdown that counts as a regression, even if the repeats scatter by less than this fraction.
const NOISE: f64 = 0.02;

/// Benchmark that became slower by more than the scatter of its repeats.
#[derive(Clone, Debug, PartialEq)]
pub struct Regression {
    /// description of the benchmark: system, threads, instruction set, device
    pub what: String,
    /// speed before, ns/day
    pub before: Range,
    /// speed now, ns/day
    pub now: Range,
}

/// Returns the rows of `now` that are slower than the rows of the same benchmark in `before`, and the number of
/// benchmarks that are in both reports. A row is slower if its whole range of speeds lies below the earlier range, and
/// the median is lower by more than 2 %. Rows of benchmarks that `before` does not contain are ignored.
pub fn regressions(before: &Report, now: &Report) -> (Vec<Regression>, usize) {
    let partner = |row: &Row| before.rows.iter().find(|old| key(old) == key(row)).map(|old| old.ns_per_day);
    let pairs: Vec<(&Row, Range)> = now.rows.iter().filter_map(|row| Some((row, partner(row)?))).collect();
    let found = pairs.iter().filter(|(row, before)| is_slower(before, &row.ns_per_day)).map(|(row, before)| {
        let what = format!("{}, {} threads, {}, {}", row.name, row.threads, row.simd, row.device);
        Regression { what, before: *before, now: row.ns_per_day }
    });
    (found.collect(), pairs.len())
}

/// Describes why [`regressions`] finds no benchmark that is in both reports.
pub fn difference(before: &Report, now: &Report) -> String {
    let Some(row) = now.rows.first() else { return "this command measured no system".to_owned() };
    let setting = |row: &Row| format!("{} threads, {}, {}", row.threads, row.simd, row.device);
    let is_same = |old: &&Row| (&old.name, old.atoms) == (&row.name, row.atoms);
    let older: Vec<String> = before.rows.iter().filter(is_same).map(setting).collect();
    match older.is_empty() {
        true => format!("the older report has no measurement of {} with {} atoms", row.name, row.atoms),
        false => {
            format!(
                "{} was measured with {}, and in the older report with {}",
                row.name,
                setting(row),
                older.join("; ")
            )
        }
    }
}

/// Returns the properties that identify a benchmark: rows with equal properties are results of the same benchmark.
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
