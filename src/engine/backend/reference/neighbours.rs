//! Neighbour search with linked cells, or over all atoms if the periodic cell is too small for linked cells.

use super::Geometry;
use crate::cell::PeriodicCell;
use crate::vec3::Vec3;
use rayon::prelude::*;

/// Atoms for a neighbour search, either sorted into boxes that are at least one cutoff wide, or unsorted.
pub(super) struct Neighbours<'a> {
    geometry: Geometry<'a>,
    boxes: Option<(&'a Boxes, &'a PeriodicCell)>,
    cutoff_squared: f64,
}

/// Boxes along the lattice vectors. There are at least three boxes along each vector, so that no neighbour is found
/// twice.
#[derive(Default)]
pub(super) struct Boxes {
    size: [usize; 3],
    /// index in `members` of the first atom of each box; the last element is the length of `members`
    starts: Vec<usize>,
    members: Vec<u32>,
    /// scratch memory for sorting atoms into boxes: index in `members` at which the next atom of each box is stored
    next: Vec<usize>,
    of_atom: Vec<[usize; 3]>,
    /// positions wrapped into the cell, nm
    wrapped: Vec<Vec3>,
}

/// Maximum number of boxes per direction. In a liquid this maximum keeps the number of boxes close to the number of
/// atoms, whatever the shape of the cell is.
const MOST_BOXES: f64 = 128.0;
/// Number of atoms per parallel task.
const ATOMS: usize = 4096;

impl<'a> Neighbours<'a> {
    /// Prepares the search for pairs within `cutoff` (nm; infinite for all pairs). `cutoff` must not exceed the largest
    /// cutoff that the cell allows. `boxes` is scratch memory.
    pub(super) fn new(geometry: Geometry<'a>, cutoff: f64, boxes: &'a mut Boxes) -> Self {
        let cell = geometry.cell.filter(|cell| boxes.fill(cell, geometry.positions, cutoff));
        let boxes = cell.map(|cell| (&*boxes, cell));
        Self { geometry, boxes, cutoff_squared: cutoff * cutoff }
    }

    /// Calls `visit(j, r_i − r_j, r²)` for every other atom j within the cutoff, in an order that depends on the
    /// positions only.
    #[inline(always)]
    pub(super) fn for_each(&self, i: usize, mut visit: impl FnMut(usize, Vec3, f64)) {
        let mut consider = |j: usize, d: Vec3| {
            let r2 = d.norm_squared();
            if r2 <= self.cutoff_squared && j != i {
                visit(j, d, r2);
            }
        };
        match &self.boxes {
            None => {
                (0..self.geometry.positions.len()).for_each(|j| consider(j, self.geometry.between(i as u32, j as u32)))
            }
            Some((boxes, cell)) => boxes.around(cell, i, consider),
        }
    }
}

impl Boxes {
    /// Sorts the atoms into boxes. Returns false if the cell is too small for three boxes along each direction.
    fn fill(&mut self, cell: &PeriodicCell, positions: &[Vec3], cutoff: f64) -> bool {
        let size = cell.face_distances().map(|width| (width / cutoff).floor().min(MOST_BOXES) as usize);
        if size.iter().any(|&n| n < 3) {
            return false;
        }
        let Self { starts, members, next, of_atom, wrapped, .. } = self;
        self.size = size;
        positions.par_iter().with_min_len(ATOMS).map(|&r| cell.wrap(r).0).collect_into_vec(wrapped);
        let place = |r: &Vec3| {
            let s = cell.to_fractional(*r).to_array();
            [0, 1, 2].map(|d| ((s[d] * size[d] as f64) as usize).min(size[d] - 1))
        };
        wrapped.par_iter().with_min_len(ATOMS).map(place).collect_into_vec(of_atom);
        let number = |[x, y, z]: [usize; 3]| (x * size[1] + y) * size[2] + z;
        starts.clear();
        starts.resize(size.iter().product::<usize>() + 1, 0);
        for &place in &*of_atom {
            starts[number(place) + 1] += 1;
        }
        for index in 1..starts.len() {
            starts[index] += starts[index - 1];
        }
        next.clone_from(starts);
        members.resize(positions.len(), 0);
        for (i, &place) in of_atom.iter().enumerate() {
            members[next[number(place)]] = i as u32;
            next[number(place)] += 1;
        }
        true
    }

    /// Calls `consider(j, r_i − r_j)` for every atom j in the 27 boxes in and around the box of atom i. Among the
    /// periodic images of atom j, the image in one of the 27 boxes is used.
    #[inline(always)]
    fn around(&self, cell: &PeriodicCell, i: usize, mut consider: impl FnMut(usize, Vec3)) {
        for neighbour in 0..27 {
            let (mut place, mut image) = ([0; 3], [0; 3]);
            for (d, offset) in [neighbour / 9, neighbour / 3 % 3, neighbour % 3].into_iter().enumerate() {
                // the number of boxes is added, so that the lowest index is not negative
                let shifted = self.of_atom[i][d] + self.size[d] + offset - 1;
                place[d] = shifted % self.size[d];
                image[d] = (shifted / self.size[d]) as i32 - 1;
            }
            let from = self.wrapped[i] - cell.shift(image);
            let number = (place[0] * self.size[1] + place[1]) * self.size[2] + place[2];
            for &j in &self.members[self.starts[number]..self.starts[number + 1]] {
                consider(j as usize, from - self.wrapped[j as usize]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vec3::vec3;

    /// Returns positions scattered over several images of the cell.
    fn scattered(cell: &PeriodicCell, number: usize) -> Vec<Vec3> {
        let part = |i: usize, prime: usize| ((i * prime) % 1009) as f64 / 1009.0 * 3.0 - 1.0;
        (0..number).map(|i| cell.to_cartesian(vec3(part(i, 331), part(i, 577), part(i, 823)))).collect()
    }

    #[test]
    fn boxes_find_the_pairs_of_brute_force() {
        let octahedron = PeriodicCell::from_lengths_angles([3.5; 3], [109.471_220_6; 3]).unwrap();
        for cell in [octahedron, PeriodicCell::orthorhombic([3.0, 3.7, 2.8])] {
            let positions = scattered(&cell, 400);
            let mut boxes = Boxes::default();
            let neighbours = Neighbours::new(Geometry { cell: Some(&cell), positions: &positions }, 0.9, &mut boxes);
            assert!(neighbours.boxes.is_some());
            for i in 0..positions.len() {
                let mut found = vec![];
                neighbours.for_each(i, |j, _, _| found.push(j));
                found.sort_unstable();
                let near =
                    |j: &usize| *j != i && cell.minimum_image(positions[i] - positions[*j]).norm_squared() <= 0.9 * 0.9;
                assert_eq!(found, (0..positions.len()).filter(near).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn without_a_cell_everybody_is_a_neighbour() {
        let positions = [vec3(0.0, 0.0, 0.0), vec3(50.0, 0.0, 0.0), vec3(0.0, 9e9, 0.0)];
        let mut found = vec![];
        let geometry = Geometry { cell: None, positions: &positions };
        Neighbours::new(geometry, f64::INFINITY, &mut Boxes::default()).for_each(1, |j, _, _| found.push(j));
        assert_eq!(found, [0, 2]);
    }
}
