//! Verdicts on the size of the periodic cell and on the change of its volume.

use super::Verdict;
use crate::cell::PeriodicCell;
use crate::report::folder::RunFolder;
use crate::report::production::Production;
use crate::vec3::{Vec3, vec3};

/// Minimum ratio of the longest possible cutoff, which is half of the shortest cell height, to the cutoff of the run.
const MARGIN: f64 = 1.05;
/// Maximum range of the volume (largest minus smallest value) in the production stage, relative to the mean volume.
const CHANGE: f64 = 0.1;

pub(super) fn verdicts(run: &RunFolder, production: &Production<'_>) -> Vec<Verdict> {
    [margin(run, production), change(production)].into_iter().flatten().collect()
}

/// Returns the cell of each row of the production stage; `None` without a cell.
fn cells(production: &Production<'_>) -> Option<Vec<PeriodicCell>> {
    let columns = ["a_x", "b_x", "b_y", "c_x", "c_y", "c_z"].map(|name| production.column(name));
    let [ax, bx, by, cx, cy, cz] = columns.map(|column| column.map(|column| column.values.as_slice()));
    let (ax, bx, by, cx, cy, cz) = (ax?, bx?, by?, cx?, cy?, cz?);
    let rows = |k: usize| -> [Vec3; 3] { [vec3(ax[k], 0.0, 0.0), vec3(bx[k], by[k], 0.0), vec3(cx[k], cy[k], cz[k])] };
    (0..ax.len()).map(|k| PeriodicCell::from_rows(rows(k))).collect()
}

fn margin(run: &RunFolder, production: &Production<'_>) -> Option<Verdict> {
    let cutoff = run.summary.as_ref()?.list?.cutoff;
    let largest = cells(production)?.iter().map(PeriodicCell::max_cutoff).fold(f64::INFINITY, f64::min);
    Some(Verdict::of(
        "Cell and minimum image",
        largest >= MARGIN * cutoff,
        format!("half of the shortest cell height is at least {largest:.3} nm; the cutoff is {cutoff:.3} nm"),
        format!("half of the shortest cell height of at least {MARGIN} times the cutoff"),
        "Use a larger cell; if the cell shrinks further, an atom will interact with two images of another atom.",
    ))
}

fn change(production: &Production<'_>) -> Option<Verdict> {
    let volume = production.column("volume")?;
    production.dynamics.barostat.as_ref()?;
    let [least, largest] = volume.values.iter().fold([f64::INFINITY, 0.0], |[a, b]: [f64; 2], &v| [a.min(v), b.max(v)]);
    let change = (largest - least) / volume.average.mean;
    let words = if volume.values.last() < volume.values.first() { "shrinks" } else { "grows" };
    Some(Verdict::of(
        "Volume of the cell",
        change <= CHANGE,
        format!("volume between {least:.2} and {largest:.2} nm³, a range of {:.1} %", 100.0 * change),
        format!("a volume range of at most {:.0} % in the production stage", 100.0 * CHANGE),
        &format!(
            "The cell {words}. Look for vacuum in the cell, for a wrong pressure or unit, and equilibrate in an earlier \
             stage."
        ),
    ))
}
