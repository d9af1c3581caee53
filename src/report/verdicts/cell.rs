//! Verdicts on the size of the periodic cell and on the change of its volume.

use super::Verdict;
use super::means::{ERRORS, relaxation_samples};
use crate::analysis::{Equilibrated, inefficiency};
use crate::cell::PeriodicCell;
use crate::report::folder::RunFolder;
use crate::report::number::with_error;
use crate::report::production::Production;
use crate::vec3::{Vec3, vec3};

/// Minimum ratio of the longest possible cutoff, which is half of the shortest cell height, to the cutoff of the run.
const MARGIN: f64 = 1.05;
/// Maximum relative change of the volume from the first to the last quarter of the production stage. Water, which has a
/// compressibility of 4.5e-5 1/bar, changes its volume by 5 % under a pressure of about 1000 bar.
const CHANGE: f64 = 0.05;
/// Minimum number of rows in a quarter of the stage from which the standard error of the mean volume is computed.
const ROWS: usize = 3;

pub(super) fn verdicts(run: &RunFolder, production: &Production<'_>) -> Vec<Verdict> {
    [margin(run, production), change(production)].into_iter().flatten().collect()
}

/// Returns the cell of each row of the production stage; `None` without a cell.
fn cells(production: &Production<'_>) -> Option<Vec<PeriodicCell>> {
    let columns = ["a_x", "b_x", "b_y", "c_x", "c_y", "c_z"].map(|name| production.values(name));
    let [ax, bx, by, cx, cy, cz] = columns;
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

/// Compares the mean volumes of the first and of the last quarter of the stage. Unlike the range of the volume, the
/// difference of the means does not grow with the number of rows of a stage at equilibrium.
fn change(production: &Production<'_>) -> Option<Verdict> {
    let aspect = "Volume of the cell";
    let volume = production.values("volume")?;
    let barostat = production.dynamics.barostat.as_ref()?;
    let rows = volume.len() / 4;
    if rows < ROWS {
        let found = format!("not judged: the stage has only {} rows in the energy table", volume.len());
        return Some(Verdict::information(aspect, found, ""));
    }
    let quarters = [&volume[..rows], &volume[volume.len() - rows..]];
    let [first, last] = quarters.map(|values| Equilibrated::from(values, 0, inefficiency(values)));
    let length = 0.25 * production.length();
    // Both quarters have the same error at equilibrium. A relaxation of the volume raises the variance of a quarter and
    // would hide itself, so that the smaller error is taken. The error of a mean is at most that of a single sample.
    let error_of = |quarter: &Equilibrated| {
        let samples = relaxation_samples(quarter, length, barostat.coupling_time).max(1.0);
        quarter.error * (quarter.samples / samples).sqrt()
    };
    let error = error_of(&first).min(error_of(&last));
    let difference = last.mean - first.mean;
    let change = difference / (volume.iter().sum::<f64>() / volume.len() as f64);
    let is_significant = difference.abs() > ERRORS * error * 2.0f64.sqrt();
    let words = if difference < 0.0 { "shrinks" } else { "grows" };
    Some(Verdict::of(
        aspect,
        change.abs() <= CHANGE || !is_significant,
        format!(
            "mean volume of {} nm³ in the first and {} nm³ in the last quarter of the stage, a change of {:+.1} %",
            with_error(first.mean, error),
            with_error(last.mean, error),
            100.0 * change
        ),
        format!("a change of at most {:.0} % or at most {ERRORS} standard errors", 100.0 * CHANGE),
        &format!(
            "The cell {words}. Look for vacuum in the cell, for a wrong pressure or unit, and equilibrate in an earlier \
             stage."
        ),
    ))
}
