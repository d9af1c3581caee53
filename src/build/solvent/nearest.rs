//! Distances of nearest images, for many pairs in one cell.
//!
//! A displacement d that is reduced along c, b and a has components up to half of the diagonal of the cell matrix. The
//! shortest image is d + s with |d + s| ≤ |d|, so that the lattice vector s is not longer than 2|d|, at most
//! √(a_x² + b_y² + c_z²). All lattice vectors up to this length are known beforehand, and the squared distance is |d|² +
//! min(0, |s|² − 2|d·s|) over pairs ±s.

use md_engine::cell::PeriodicCell;
use md_engine::vec3::Vec3;

/// A cell with its short lattice vectors.
#[derive(Clone, Debug)]
pub(super) struct NearestImages<'a> {
    cell: &'a PeriodicCell,
    /// square of the distance up to which a reduced displacement is the shortest image, nm²
    certain: f64,
    /// lattice vectors (nm), one of each pair ±s, with their squared lengths
    shifts: Vec<(Vec3, f64)>,
}

impl<'a> NearestImages<'a> {
    pub(super) fn new(cell: &'a PeriodicCell) -> Self {
        let [a, b, c] = cell.rows();
        let longest = a.x * a.x + b.y * b.y + c.z * c.z;
        // the components along c, b and a of a lattice vector are multiples of c_z, b_y and a_x up to the other vectors
        let count = |edge: f64| (longest.sqrt() / edge).ceil() as i32 + 1;
        let mut shifts = vec![];
        for k in 0..=count(c.z) {
            for j in -count(b.y)..=count(b.y) {
                for i in -count(a.x)..=count(a.x) {
                    let shift = cell.shift([i, j, k]);
                    let square = shift.norm_squared();
                    if (k, j, i) > (0, 0, 0) && square <= longest {
                        shifts.push((shift, square));
                    }
                }
            }
        }
        Self { cell, certain: cell.max_cutoff().powi(2), shifts }
    }

    /// Length (nm) of the shortest image of a displacement.
    pub(super) fn distance(&self, displacement: Vec3) -> f64 {
        let near = self.cell.image_within_cutoff(displacement);
        let square = near.norm_squared();
        if square < self.certain {
            return square.sqrt();
        }
        let changes = self.shifts.iter().map(|&(shift, length)| length - 2.0 * near.dot(shift).abs());
        (square + changes.fold(0.0, f64::min)).max(0.0).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use md_engine::rng::{Purpose, Stream};
    use md_engine::vec3::vec3;

    /// Every displacement has the length of its shortest image, which the engine finds by enumeration.
    #[test]
    fn distances_are_those_of_the_shortest_image() {
        let lengths = [[3.0; 3], [2.0, 3.0, 9.0], [9.0, 2.0, 2.0], [3.0, 8.0, 3.5]];
        let angles = [[90.0; 3], [60.0, 60.0, 90.0], [109.471_219; 3], [75.0, 80.0, 65.0]];
        let mut random = Stream::new(9, Purpose::Test, 0, 0);
        for cell in lengths.iter().flat_map(|&l| angles.iter().map(move |&a| PeriodicCell::from_lengths_angles(l, a))) {
            let Some(cell) = cell else { continue };
            let images = NearestImages::new(&cell);
            for _ in 0..2000 {
                let d = vec3(random.between(-20.0, 20.0), random.between(-20.0, 20.0), random.between(-20.0, 20.0));
                let (found, expected) = (images.distance(d), cell.minimum_image(d).norm());
                assert!((found - expected).abs() < 1e-9, "{cell:?} {d:?}: {found} against {expected}");
            }
        }
    }

    /// A rhombic dodecahedron has 12 nearest lattice vectors and 6 that are longer by √2.
    #[test]
    fn few_lattice_vectors_are_needed() {
        let d = 5.0;
        let rows = [vec3(d, 0.0, 0.0), vec3(0.0, d, 0.0), vec3(0.5 * d, 0.5 * d, 0.5f64.sqrt() * d)];
        let cell = PeriodicCell::from_rows(rows).unwrap();
        assert_eq!(NearestImages::new(&cell).shifts.len(), 9);
    }
}
