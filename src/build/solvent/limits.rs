//! Bounds of the input, checked before memory is allocated.

use md_engine::cell::PeriodicCell;
use md_engine::error::Problem;
use md_engine::vec3::Vec3;

/// Largest volume of a cell (nm³). A cell of this volume has 33 million waters, which need a few GB of memory.
const LARGEST_VOLUME: f64 = 1e6;
/// Smallest distance (nm) between opposite faces of a cell. In a thinner cell even a cutoff of 0.5 nm would violate the
/// minimum-image convention.
const SMALLEST_WIDTH: f64 = 1.0;
/// Largest magnitude of a coordinate (nm). Differences of larger coordinates lose significant digits.
const LARGEST_COORDINATE: f64 = 1e6;

/// Refuses cells that are too large, too small or not finite.
pub(super) fn check_cell(cell: &PeriodicCell) -> Result<(), Problem> {
    let volume = cell.volume();
    if volume.is_nan() || volume > LARGEST_VOLUME {
        return Err(Problem::new(format!("the cell volume is {volume:.3e} nm³, more than {LARGEST_VOLUME:e} nm³"))
            .help("lengths are in nm; choose a smaller cell or a smaller padding"));
    }
    let width = cell.face_distances().into_iter().fold(f64::INFINITY, f64::min);
    if width >= SMALLEST_WIDTH && cell.rows().iter().all(|row| row.is_finite()) {
        return Ok(());
    }
    Err(Problem::new(format!("opposite faces of the cell are {width:.3} nm apart, less than {SMALLEST_WIDTH} nm"))
        .help("lengths are in nm; choose a larger cell or a larger padding"))
}

/// Refuses positions that are not finite or far from the origin.
pub(super) fn check_positions(positions: &[Vec3]) -> Result<(), Problem> {
    if u32::try_from(positions.len()).is_err() {
        return Err(Problem::new(format!("there are {} positions, more than md can number", positions.len()))
            .help("choose a smaller system"));
    }
    let is_bad = |p: &Vec3| !p.to_array().iter().all(|v| v.abs() <= LARGEST_COORDINATE);
    match positions.iter().position(is_bad) {
        None => Ok(()),
        Some(index) => {
            let [x, y, z] = positions[index].to_array();
            Err(Problem::new(format!("atom {} is at ({x}, {y}, {z}) nm", index + 1))
                .help("give finite positions in nm, near the origin"))
        }
    }
}
