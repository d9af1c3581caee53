//! Voxels near points: a test that is much faster than a search for neighbours.

use md_engine::arrays::map;
use md_engine::vec3::{Vec3, vec3};

/// Voxels of a box, each with the mark whether a point of the voxel may be near one of several centers.
pub(super) struct Voxels {
    /// lowest corner, nm
    low: Vec3,
    /// edge of a voxel, nm
    edge: f64,
    counts: [usize; 3],
    marked: Vec<bool>,
}

impl Voxels {
    /// Makes the voxels of the box between the corners `low` and `high` (nm), with no voxel marked.
    pub(super) fn new(low: Vec3, high: Vec3, edge: f64) -> Self {
        let counts = (high - low).to_array().map(|length| (length / edge).ceil().max(0.0) as usize + 1);
        Self { low, edge, counts, marked: vec![false; counts.iter().product()] }
    }

    /// Marks all voxels with a point within `radius` (nm) of `center`, and some voxels that are farther away by less
    /// than the diagonal of a voxel.
    pub(super) fn mark(&mut self, center: Vec3, radius: f64) {
        let (edge, at) = (self.edge, center - self.low);
        let farthest = radius + 0.5 * 3.0f64.sqrt() * edge;
        let range = |at: f64, count: usize| {
            let index = |x: f64| (x / edge).clamp(0.0, count as f64) as usize;
            index(at - farthest)..count.min(index(at + farthest) + 1)
        };
        let [x, y, z] = [0, 1, 2].map(|axis| range(at.to_array()[axis], self.counts[axis]));
        for k in z {
            for j in y.clone() {
                for i in x.clone() {
                    let middle = vec3(i as f64 + 0.5, j as f64 + 0.5, k as f64 + 0.5) * edge;
                    if (middle - at).norm_squared() <= farthest * farthest {
                        self.marked[(k * self.counts[1] + j) * self.counts[0] + i] = true;
                    }
                }
            }
        }
    }

    /// Whether a position (nm) is in a marked voxel.
    pub(super) fn contains(&self, position: Vec3) -> bool {
        let at = position - self.low;
        if at.x < 0.0 || at.y < 0.0 || at.z < 0.0 {
            return false;
        }
        let [i, j, k] = map(at.to_array(), |x| (x / self.edge) as usize);
        (i < self.counts[0] && j < self.counts[1] && k < self.counts[2])
            && self.marked[(k * self.counts[1] + j) * self.counts[0] + i]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn voxels_near_centers_are_marked() {
        let (low, high, edge, radius) = (vec3(-1.0, 0.0, 0.5), vec3(1.0, 1.5, 1.7), 0.05, 0.2);
        let centers = [vec3(0.1, 0.7, 1.0), vec3(-1.05, 0.01, 0.5), vec3(1.0, 1.5, 1.9), vec3(5.0, 5.0, 5.0)];
        let mut voxels = Voxels::new(low, high, edge);
        centers.iter().for_each(|&center| voxels.mark(center, radius));
        let inside = |i: u32, range: f64| f64::from(i) / 30.0 * range;
        for (i, j, k) in (0..30).flat_map(|i| (0..30).flat_map(move |j| (0..30).map(move |k| (i, j, k)))) {
            let d = high - low;
            let p = low + vec3(inside(i, d.x), inside(j, d.y), inside(k, d.z));
            let nearest = centers.iter().map(|&center| (center - p).norm()).fold(f64::INFINITY, f64::min);
            assert!(voxels.contains(p) || nearest > radius, "{p:?}");
            assert!(!voxels.contains(p) || nearest <= radius + 3.0f64.sqrt() * edge, "{p:?}");
        }
        assert!(!voxels.contains(vec3(-1.01, 0.01, 0.5)) && !voxels.contains(vec3(0.1, 0.7, 9.0)));
    }
}
