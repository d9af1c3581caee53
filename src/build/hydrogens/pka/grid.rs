//! Neighbour search with points sorted into cubes.

use std::collections::HashMap;

use md_engine::vec3::Vec3;

/// Edge of the cubes in nm. The edge is equal to the cutoff of most interactions, so that a search visits few cubes.
const EDGE: f64 = 1.0;

/// Points, sorted into cubes.
pub(super) struct Grid<'a> {
    positions: &'a [Vec3],
    cubes: HashMap<[i32; 3], Vec<u32>>,
}

impl<'a> Grid<'a> {
    /// Sorts the points with the given indices into cubes. `positions` are in nm.
    pub(super) fn new(positions: &'a [Vec3], points: impl Iterator<Item = u32>) -> Self {
        let mut cubes: HashMap<[i32; 3], Vec<u32>> = HashMap::new();
        for point in points {
            cubes.entry(cube(positions[point as usize])).or_default().push(point);
        }
        Self { positions, cubes }
    }

    /// Calls `visit` with the index and the squared distance (nm²) of each point nearer than `radius` (nm) to a
    /// position. The order of the calls depends only on the points and the position.
    pub(super) fn within(&self, position: Vec3, radius: f64, mut visit: impl FnMut(u32, f64)) {
        let reach = (radius / EDGE).ceil() as i32;
        let [x, y, z] = cube(position);
        let steps = || -reach..=reach;
        for (i, j, k) in steps().flat_map(|i| steps().flat_map(move |j| steps().map(move |k| (i, j, k)))) {
            for &point in self.cubes.get(&[x + i, y + j, z + k]).into_iter().flatten() {
                let squared = (self.positions[point as usize] - position).norm_squared();
                if squared < radius * radius {
                    visit(point, squared);
                }
            }
        }
    }
}

/// Returns the indices of the cube that contains a position.
fn cube(position: Vec3) -> [i32; 3] {
    position.map(|x| (x / EDGE).floor() as i32).to_array()
}
