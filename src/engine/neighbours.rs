//! Neighbour search: the points within a distance of a position, in any periodic cell.
//!
//! Points are sorted into bins that are half as wide as the search distance. If there are few points, bins are wider,
//! but not wider than the search distance. All points within the search distance of a position are then in the bins
//! around the position; a bin beyond a face of the cell is the image of a bin inside the cell.

use crate::arrays::from_fn;
use crate::cell::PeriodicCell;
use crate::vec3::{Vec3, vec3};
use std::ops::Range;

/// Maximum number of bins along an axis, which limits the memory of the bins to 2 MB. The bins of more than
/// `MOST_BINS`³ points may be as many as the points.
const MOST_BINS: usize = 64;
/// Largest number of bins per search distance. With more bins, the visited bins contain less volume beyond the search
/// distance, but visiting the bins takes longer.
const BINS_ALONG: f64 = 2.0;
/// Largest number of bins per point; more bins are used only if the bins would otherwise be wider than the search
/// distance. More bins than points are useful, because points are often dense in a small part of the cell, for example
/// the atoms of a protein in water.
const BINS_PER_POINT: f64 = 2.0;
/// Relative margin that keeps rounding from placing a point outside of the bins that are visited.
const MARGIN: f64 = 1e-9;

/// Points sorted into bins, to find the points within a distance of a position.
pub struct Neighbours {
    cell: PeriodicCell,
    periodic: bool,
    distance: f64,
    bins: [i32; 3],
    /// distances (nm) between opposite faces of a bin
    widths: [f64; 3],
    starts: Vec<u32>,
    /// index of each point, in the order of the bins, which are consecutive along the first lattice vector
    points: Vec<u32>,
    /// coordinates x, y and z (nm) of the points, wrapped into the cell, in the order of `points`
    positions: [Vec<f64>; 3],
}

impl Neighbours {
    /// Sorts points (nm) for searches within `distance` (nm). Without a cell there are no periodic images.
    ///
    /// # Panics
    ///
    /// Panics if `distance` is not positive.
    pub fn new(cell: Option<&PeriodicCell>, points: &[Vec3], distance: f64) -> Self {
        assert!(distance > 0.0, "a distance is positive");
        let space = cell.copied().unwrap_or_else(|| surrounding(points, distance));
        let faces = space.face_distances();
        let least = (space.volume() / (BINS_PER_POINT * points.len() as f64)).cbrt();
        let width = least.clamp(distance / BINS_ALONG, distance);
        let most = MOST_BINS.max((points.len() as f64).cbrt() as usize);
        let bins = faces.map(|face| ((face / width) as usize).clamp(1, most) as i32);
        let mut grid = Neighbours {
            cell: space,
            periodic: cell.is_some(),
            distance,
            bins,
            widths: from_fn(|d| faces[d] / f64::from(bins[d])),
            starts: vec![0; bins.iter().product::<i32>() as usize + 1],
            points: vec![],
            positions: [const { vec![] }; 3],
        };
        let placed: Vec<(usize, Vec3)> = points
            .iter()
            .map(|&point| {
                let wrapped = grid.wrapped(point);
                (grid.index(grid.bin(wrapped)), wrapped)
            })
            .collect();
        placed.iter().for_each(|(bin, _)| grid.starts[bin + 1] += 1);
        for bin in 1..grid.starts.len() {
            grid.starts[bin] += grid.starts[bin - 1];
        }
        let mut next = grid.starts.clone();
        grid.points = vec![0; points.len()];
        grid.positions = [0, 1, 2].map(|_| vec![0.0; points.len()]);
        for (point, (bin, wrapped)) in placed.into_iter().enumerate() {
            let place = next[bin] as usize;
            grid.points[place] = point as u32;
            grid.positions.iter_mut().zip(wrapped.to_array()).for_each(|(values, value)| values[place] = value);
            next[bin] += 1;
        }
        grid
    }

    fn wrapped(&self, position: Vec3) -> Vec3 {
        if self.periodic { self.cell.wrap(position).0 } else { position }
    }

    fn bin(&self, wrapped: Vec3) -> [i32; 3] {
        let fractions = self.cell.to_fractional(wrapped).to_array();
        // without a cell, fractional coordinates may lie outside of 0 to 1, because the origin is arbitrary
        from_fn(|d| {
            let bin = (fractions[d] * f64::from(self.bins[d])).floor() as i32;
            if self.periodic { bin.clamp(0, self.bins[d] - 1) } else { bin.rem_euclid(self.bins[d]) }
        })
    }

    fn index(&self, [x, y, z]: [i32; 3]) -> usize {
        ((z * self.bins[1] + y) * self.bins[0] + x) as usize
    }

    /// Calls `found` with the index and the displacement (nm) from `position` of each point within the distance. If the
    /// distance is longer than half of the cell, images of a point count as further points.
    #[inline]
    pub fn visit(&self, position: Vec3, mut found: impl FnMut(u32, Vec3)) {
        self.any_within(position, self.distance, |point, displacement| {
            found(point, displacement);
            false
        });
    }

    /// Calls `found` as [`Neighbours::visit`] does, for the points within `range` (nm), until `found` returns true.
    /// Returns whether `found` returned true. The search is slow if `range` is much longer than the distance for which
    /// the points were sorted.
    ///
    /// # Panics
    ///
    /// Panics if there is no cell and `range` is longer than the distance for which the points were sorted.
    #[inline]
    pub fn any_within(&self, position: Vec3, range: f64, mut found: impl FnMut(u32, Vec3) -> bool) -> bool {
        assert!(self.periodic || range <= self.distance, "without a cell, points are sorted for the longest range");
        let [x, y, z] = &self.positions;
        self.rows(position, range, |mut places, origin| {
            places.any(|place| {
                let displacement = vec3(x[place], y[place], z[place]) + origin;
                displacement.norm_squared() <= range * range && found(self.points[place], displacement)
            })
        })
    }

    /// Calls `found` with the indices of points and the squares (nm²) of their distances from `position`. All points
    /// within the distance are included, and some points at longer distances. If the distance is longer than half of
    /// the cell, images of a point count as further points, as for [`Neighbours::visit`]. The squares are in `scratch`
    /// until the next call.
    #[inline]
    pub fn squares(&self, position: Vec3, scratch: &mut Vec<f64>, mut found: impl FnMut(&[u32], &[f64])) {
        let [x, y, z] = &self.positions;
        self.rows(position, self.distance, |places, origin| {
            let points = x[places.clone()].iter().zip(&y[places.clone()]).zip(&z[places.clone()]);
            scratch.clear();
            scratch.extend(points.map(|((x, y), z)| (vec3(*x, *y, *z) + origin).norm_squared()));
            found(&self.points[places], scratch);
            false
        });
    }

    /// Calls `row` with each range of consecutive points in bins within `range` (nm) of `position`, and with a vector
    /// (nm), until `row` returns true. The displacement of a point from `position` is the sum of the stored position of
    /// the point and this vector. Returns whether `row` returned true.
    #[inline]
    fn rows(&self, position: Vec3, range: f64, mut row: impl FnMut(Range<usize>, Vec3) -> bool) -> bool {
        let wrapped = self.wrapped(position);
        let center = self.bin(wrapped);
        // number of bins to visit on each side of the position
        let reach: [i32; 3] = from_fn(|d| (range * (1.0 + MARGIN) / self.widths[d]).ceil() as i32);
        let [first, last] = [center[0] - reach[0], center[0] + reach[0]];
        let along = self.bins[0];
        let copies = first.div_euclid(along)..=last.div_euclid(along);
        for z in center[2] - reach[2]..=center[2] + reach[2] {
            let (image_z, z) = (z.div_euclid(self.bins[2]), z.rem_euclid(self.bins[2]));
            for y in center[1] - reach[1]..=center[1] + reach[1] {
                let (image_y, y) = (y.div_euclid(self.bins[1]), y.rem_euclid(self.bins[1]));
                let start = self.index([0, y, z]);
                for copy in copies.clone() {
                    let bin = |x: i32| start + (x - copy * along) as usize;
                    let (from, to) = (bin(first.max(copy * along)), bin(last.min(copy * along + along - 1)));
                    let places = self.starts[from] as usize..self.starts[to + 1] as usize;
                    if !places.is_empty() {
                        let shift = if self.periodic { self.cell.shift([copy, image_y, image_z]) } else { Vec3::ZERO };
                        if row(places, shift - wrapped) {
                            return true;
                        }
                    }
                }
            }
        }
        false
    }
}

/// Returns a rectangular cell that is so large that no bin is visited twice for one position.
fn surrounding(points: &[Vec3], distance: f64) -> PeriodicCell {
    let (mut low, mut high) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
    for point in points.iter().filter(|point| point.is_finite()) {
        for (d, value) in point.to_array().into_iter().enumerate() {
            (low[d], high[d]) = (low[d].min(value), high[d].max(value));
        }
    }
    let edges = [0, 1, 2].map(|d| (high[d] - low[d]).max(0.0) + 4.0 * distance);
    PeriodicCell::orthorhombic(edges)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn cells() -> [Option<PeriodicCell>; 4] {
        [
            None,
            Some(PeriodicCell::orthorhombic([2.0, 3.0, 4.0])),
            PeriodicCell::from_lengths_angles([3.0; 3], [109.471_219; 3]),
            PeriodicCell::from_lengths_angles([3.0, 3.0, 1.0], [60.0, 60.0, 90.0]),
        ]
    }

    proptest! {
        /// The test compares the neighbour search with a search over all images within six lattice vectors.
        #[test]
        fn the_grid_finds_what_all_images_do(
            which in 0usize..4,
            fractions in prop::collection::vec([-1.5f64..1.5, -1.5..1.5, -1.5..1.5], 1..40),
            distances in [0.05f64..2.5, 0.05f64..2.5],
        ) {
            let cell = cells()[which];
            let space = cell.unwrap_or(PeriodicCell::orthorhombic([2.0; 3]));
            let positions: Vec<Vec3> = fractions.iter().map(|&s| space.to_cartesian(Vec3::from(s))).collect();
            // without a cell, the range may not be longer than the distance
            let range = if cell.is_some() { distances[1] } else { distances[0].min(distances[1]) };
            let distance = distances[0];
            let grid = Neighbours::new(cell.as_ref(), &positions, distance);
            let images: Vec<Vec3> = match cell {
                None => vec![Vec3::ZERO],
                Some(cell) => (0..13 * 13 * 13).map(|i| cell.shift([i % 13 - 6, i / 13 % 13 - 6, i / 169 - 6])).collect(),
            };
            let position = positions[0];
            let sorted = |mut found: Vec<(u32, f64)>| {
                found.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
                found.into_iter().map(|(point, d)| (point, (d * 1e9).round() as i64)).collect::<Vec<_>>()
            };
            let expected = |range: f64| {
                let of_image = |image: Vec3| positions.iter().map(move |&point| (point - position + image).norm());
                let all = images.iter().flat_map(|&image| (0..).zip(of_image(image)));
                sorted(all.filter(|&(_, d)| d <= range).collect())
            };
            let (mut found, mut scratch) = (vec![], vec![]);
            grid.squares(position, &mut scratch, |points, squares| {
                let near = points.iter().zip(squares).map(|(&point, square)| (point, square.sqrt()));
                found.extend(near.filter(|&(_, d)| d <= distance));
            });
            prop_assert_eq!(sorted(found), expected(distance));
            let mut found = vec![];
            grid.visit(position, |point, d| found.push((point, d.norm())));
            prop_assert_eq!(sorted(found), expected(distance));
            let is_last = |point: u32| point as usize + 1 == positions.len();
            let is_near = expected(range).into_iter().any(|(point, _)| is_last(point));
            prop_assert_eq!(grid.any_within(position, range, |point, _| is_last(point)), is_near);
        }
    }
}
