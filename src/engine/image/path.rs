//! Paths of points through the periodic images of a cell.

use crate::cell::{PeriodicCell, displacement};
use crate::vec3::Vec3;

/// Continuous paths of points through periodic images, computed from the positions of the points in consecutive frames.
///
/// The displacement of a point between two consecutive frames is the minimum image of the difference between its
/// positions in these frames. Before the difference is computed, each position is wrapped into the cell of its own
/// frame, whose vectors correspond to those of the frame before. Without this wrapping the paths in a cell whose size
/// fluctuates would depend on the stored images, because a lattice vector differs from frame to frame (S. von Bülow, J.
/// T. Bullerjahn, G. Hummer, J. Chem. Phys. 153, 021101 (2020), doi:10.1063/5.0008316).
#[derive(Clone, Debug, Default)]
pub struct Paths {
    /// wrapped and unwrapped position (nm) of each point in the last frame
    last: Vec<[Vec3; 2]>,
    /// cell into which the points of the last frame were wrapped
    cell: Option<PeriodicCell>,
}

impl Paths {
    /// Adds a frame with the positions `points` (nm). All frames must have the same number of points. Returns the
    /// unwrapped positions of the points, which in the first frame are equal to `points`.
    pub fn add(&mut self, cell: Option<&PeriodicCell>, points: &[Vec3]) -> impl ExactSizeIterator<Item = Vec3> {
        let cell = cell.map(|cell| self.cell.map_or(*cell, |before| cell.corresponding_to(&before)));
        self.cell = cell;
        let wrapped = |point: Vec3| cell.map_or(point, |cell| cell.wrap(point).0);
        if self.last.is_empty() {
            self.last = points.iter().map(|&point| [wrapped(point), point]).collect();
        } else {
            for ([before, path], &point) in self.last.iter_mut().zip(points) {
                let now = wrapped(point);
                *path += displacement(cell.as_ref(), now - *before);
                *before = now;
            }
        }
        self.last.iter().map(|[_, path]| *path)
    }
}
