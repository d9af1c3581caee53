//! Neighbour search in a periodic cell, with points sorted into bins.

use md_engine::cell::PeriodicCell;
use md_engine::vec3::{Vec3, vec3};

/// Points sorted into the bins of a grid that divides the cell evenly along its vectors.
pub(super) struct Grid {
    cell: PeriodicCell,
    /// number of bins along each vector of the cell
    counts: [usize; 3],
    /// distances (nm) between opposite faces of the cell
    widths: [f64; 3],
    /// index in `points` of the first point of each bin; the last element is the number of points
    starts: Vec<u32>,
    /// points wrapped into the cell, bin by bin
    points: Vec<Vec3>,
    /// original index of each element of `points`
    indices: Vec<u32>,
}

impl Grid {
    /// Sorts points into bins whose size is efficient for searches within `range` (nm). Searches within other ranges
    /// are also correct. The number of bins is not much larger than the number of points.
    pub(super) fn new(cell: &PeriodicCell, points: &[Vec3], range: f64) -> Self {
        let widths = cell.face_distances();
        let spacing = (cell.volume() / points.len().max(1) as f64).cbrt();
        let counts = widths.map(|width| ((width / range.max(spacing)) as usize).max(1));
        let mut grid = Self {
            cell: *cell,
            counts,
            widths,
            starts: vec![0; counts.iter().product::<usize>() + 1],
            points: vec![Vec3::ZERO; points.len()],
            indices: vec![0; points.len()],
        };
        let wrapped: Vec<Vec3> = points.iter().map(|&p| cell.wrap(p).0).collect();
        let bins: Vec<usize> = wrapped.iter().map(|&p| grid.bin(p)).collect();
        for &bin in &bins {
            grid.starts[bin + 1] += 1;
        }
        for bin in 1..grid.starts.len() {
            grid.starts[bin] += grid.starts[bin - 1];
        }
        let mut next = grid.starts.clone();
        for (index, (&bin, point)) in bins.iter().zip(wrapped).enumerate() {
            let at = next[bin] as usize;
            (grid.points[at], grid.indices[at]) = (point, index as u32);
            next[bin] += 1;
        }
        grid
    }

    fn bin(&self, wrapped: Vec3) -> usize {
        let s = self.cell.to_fractional(wrapped).to_array();
        let [i, j, k] = [0, 1, 2].map(|axis| {
            let count = self.counts[axis];
            ((s[axis] * count as f64) as usize).min(count - 1)
        });
        (i * self.counts[1] + j) * self.counts[2] + k
    }

    /// Calls `found` for every point, and every periodic image of a point, within `range` (nm) of `position`, until
    /// `found` returns true. The arguments of `found` are the index of the point and the squared distance (nm²).
    /// Returns whether `found` returned true.
    pub(super) fn any_near(&self, position: Vec3, range: f64, mut found: impl FnMut(usize, f64) -> bool) -> bool {
        let (wrapped, _) = self.cell.wrap(position);
        let s = self.cell.to_fractional(wrapped).to_array();
        let spans = [0, 1, 2].map(|axis| {
            let (count, reach) = (self.counts[axis] as f64, range / self.widths[axis]);
            let bound = |value: f64| (value * count).floor() as i64;
            bound(s[axis] - reach)..=bound(s[axis] + reach)
        });
        let counts = self.counts.map(|count| count as i64);
        let folded = |axis: usize, bin: i64| (bin.rem_euclid(counts[axis]), bin.div_euclid(counts[axis]) as f64);
        let [first, second, third] = spans;
        for i in first {
            let (i, image_a) = folded(0, i);
            for j in second.clone() {
                let (j, image_b) = folded(1, j);
                for k in third.clone() {
                    let (k, image_c) = folded(2, k);
                    let bin = ((i * counts[1] + j) * counts[2] + k) as usize;
                    let (start, end) = (self.starts[bin] as usize, self.starts[bin + 1] as usize);
                    if start == end {
                        continue;
                    }
                    let from = wrapped - self.cell.to_cartesian(vec3(image_a, image_b, image_c));
                    for at in start..end {
                        let square = (self.points[at] - from).norm_squared();
                        if square < range * range && found(self.indices[at] as usize, square) {
                            return true;
                        }
                    }
                }
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn cells() -> impl Strategy<Value = PeriodicCell> {
        (prop_oneof![Just([90.0; 3]), Just([109.471_219; 3]), Just([60.0, 60.0, 90.0])], [1.0f64..3.0, 1.0..3.0])
            .prop_map(|(angles, [edge, height])| {
                let last = if angles[0] == 90.0 { height } else { edge };
                PeriodicCell::from_lengths_angles([edge, edge, last], angles).unwrap()
            })
    }

    proptest::proptest! {
        #[test]
        fn all_images_in_range_are_found(
            cell in cells(),
            raw in prop::collection::vec([-4.0f64..4.0, -4.0..4.0, -4.0..4.0], 1..40),
            range in 0.1f64..1.5,
            bins in 0.1f64..1.5,
        ) {
            let points: Vec<Vec3> = raw.into_iter().map(Vec3::from).collect();
            let grid = Grid::new(&cell, &points, bins);
            let mut found = vec![];
            grid.any_near(points[0], range, |index, square| {
                found.push((index, square.sqrt()));
                false
            });
            let images: Vec<[i32; 3]> = (0..729).map(|i| [i % 9 - 4, i / 9 % 9 - 4, i / 81 - 4]).collect();
            let mut expected = vec![];
            for (index, &point) in points.iter().enumerate() {
                let d = cell.minimum_image(point - points[0]);
                let distances = images.iter().map(|&image| (d + cell.shift(image)).norm());
                expected.extend(distances.filter(|&distance| distance < range).map(|distance| (index, distance)));
            }
            let order = |a: &(usize, f64), b: &(usize, f64)| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1));
            found.sort_by(order);
            expected.sort_by(order);
            prop_assert_eq!(found.len(), expected.len());
            prop_assert!(found.iter().zip(&expected).all(|(a, b)| a.0 == b.0 && (a.1 - b.1).abs() < 1e-9));
        }
    }
}
