//! Neighbour search for the atoms of an entry.

use std::collections::HashMap;

use md_engine::vec3::Vec3;

/// Maximum number of atoms in a cell of the grid. A cube with an edge of 0.3 nm has space for about three heavy atoms,
/// so only damaged files have more; the limit bounds the time of a search in such files.
const MOST: usize = 64;

/// A grid of cubic cells, with the list of atoms in each cell.
pub(crate) struct Grid<'a> {
    positions: &'a [Vec3],
    /// edge of a cell in nm, which is also the largest radius of a search
    edge: f64,
    cells: HashMap<[i64; 3], Vec<u32>>,
}

impl<'a> Grid<'a> {
    /// Sorts the given atoms into a grid, for searches within `radius` (nm).
    pub(crate) fn new(positions: &'a [Vec3], atoms: impl Iterator<Item = u32>, radius: f64) -> Self {
        let mut grid = Self { positions, edge: radius, cells: HashMap::new() };
        for atom in atoms {
            let key = grid.cell(positions[atom as usize]);
            let cell = grid.cells.entry(key).or_default();
            if cell.len() < MOST {
                cell.push(atom);
            }
        }
        grid
    }

    fn cell(&self, position: Vec3) -> [i64; 3] {
        [position.x, position.y, position.z].map(|x| (x / self.edge).floor() as i64)
    }

    /// Returns the atoms within the search radius of an atom, with their distances in nm, nearest first. The result
    /// does not contain the atom itself.
    pub(crate) fn around(&self, atom: u32) -> Vec<(f64, u32)> {
        let center = self.positions[atom as usize];
        let [x, y, z] = self.cell(center);
        let mut found = vec![];
        for index in 0..27 {
            let cell = [x + index % 3 - 1, y + index / 3 % 3 - 1, z + index / 9 - 1];
            for &other in self.cells.get(&cell).into_iter().flatten() {
                let distance = (self.positions[other as usize] - center).norm();
                if other != atom && distance <= self.edge {
                    found.push((distance, other));
                }
            }
        }
        found.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        found
    }
}
