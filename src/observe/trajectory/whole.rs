//! Molecules made whole, the form in which positions are written.

use crate::cell::PeriodicCell;
use crate::vec3::Vec3;

/// The order in which atoms are visited so that each comes after an atom it is bonded to.
#[derive(Clone, Debug)]
pub struct WholeMolecules {
    /// (atom, bonded atom visited before it); the first of a molecule names itself
    walk: Vec<[u32; 2]>,
    /// where each molecule begins in `walk`, and the end
    starts: Vec<usize>,
    /// placed positions, nm (scratch)
    placed: Vec<Vec3>,
}

impl WholeMolecules {
    /// Breadth-first walks over the bond graph; molecules are its connected components.
    pub fn new(atoms: usize, bonds: &[[u32; 2]]) -> Self {
        let mut neighbour_starts = vec![0usize; atoms + 1];
        for &atom in bonds.iter().flatten() {
            neighbour_starts[atom as usize + 1] += 1;
        }
        for i in 0..atoms {
            neighbour_starts[i + 1] += neighbour_starts[i];
        }
        let mut next = neighbour_starts.clone();
        let mut neighbours = vec![0u32; 2 * bonds.len()];
        for &[i, j] in bonds {
            for (from, to) in [(i, j), (j, i)] {
                neighbours[next[from as usize]] = to;
                next[from as usize] += 1;
            }
        }
        let mut visited = vec![false; atoms];
        let mut walk: Vec<[u32; 2]> = Vec::with_capacity(atoms);
        let mut starts = vec![];
        for first in 0..atoms {
            if std::mem::replace(&mut visited[first], true) {
                continue;
            }
            starts.push(walk.len());
            let mut head = walk.len();
            walk.push([first as u32; 2]);
            while let Some(&[atom, _]) = walk.get(head) {
                head += 1;
                for &other in &neighbours[neighbour_starts[atom as usize]..neighbour_starts[atom as usize + 1]] {
                    if !std::mem::replace(&mut visited[other as usize], true) {
                        walk.push([other, atom]);
                    }
                }
            }
        }
        starts.push(walk.len());
        Self { walk, starts, placed: vec![Vec3::ZERO; atoms] }
    }

    /// Moves atoms by lattice vectors so that every bond is a minimum-image vector; the first atom of each molecule stays.
    pub fn mend(&mut self, cell: &PeriodicCell, positions: &mut [Vec3]) {
        for &[atom, before] in &self.walk {
            let (atom, before) = (atom as usize, before as usize);
            if atom != before {
                positions[atom] = positions[before] + cell.minimum_image(positions[atom] - positions[before]);
            }
        }
    }

    /// Writes positions (nm) in which every bond is a minimum-image vector and the mean position of every molecule
    /// lies in the cell (0 ≤ s < 1); without a cell they are copied. `images` takes, unless it is empty, the whole
    /// lattice vectors n taken off each atom: given = placed + shift(n).
    pub fn place(
        &mut self,
        cell: Option<&PeriodicCell>,
        positions: &[Vec3],
        out: &mut [[f32; 3]],
        images: &mut [[i32; 3]],
    ) {
        let single = |r: Vec3| r.map(|v| v as f32).to_array();
        let Some(cell) = cell else {
            for (out, &r) in out.iter_mut().zip(positions) {
                *out = single(r);
            }
            images.fill([0; 3]);
            return;
        };
        for molecule in self.starts.windows(2) {
            let members = &self.walk[molecule[0]..molecule[1]];
            let mut sum = Vec3::ZERO;
            for &[atom, before] in members {
                let (atom, before) = (atom as usize, before as usize);
                let r = if atom == before {
                    positions[atom]
                } else {
                    self.placed[before] + cell.minimum_image(positions[atom] - positions[before])
                };
                self.placed[atom] = r;
                sum += r;
            }
            let (_, image) = cell.wrap(sum / members.len() as f64);
            let shift = cell.shift(image);
            for &[atom, _] in members {
                let atom = atom as usize;
                let r = self.placed[atom] - shift;
                out[atom] = single(r);
                if let Some(image) = images.get_mut(atom) {
                    *image = cell.to_fractional(positions[atom] - r).map(|n| n.round() as i32).to_array();
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vec3::vec3;

    /// f32 keeps 24 bits: positions below 4 nm are rounded by at most 1.2e-7 nm, a distance by twice √3 times that
    const SINGLE: f64 = 5e-7;

    fn double(r: [f32; 3]) -> Vec3 {
        Vec3::from(r.map(f64::from))
    }

    #[test]
    fn scattered_molecules_come_back_whole_and_inside() {
        let cell = PeriodicCell::from_lengths_angles([3.0; 3], [109.471_219; 3]).unwrap();
        // a chain longer than half the cell, an order of bonds unlike the order of atoms, and a lone ion
        let chain: Vec<Vec3> = (0..8).map(|i| vec3(0.2 * i as f64, 0.1 * (i % 2) as f64, 0.05 * i as f64)).collect();
        let order = [3usize, 0, 6, 1, 5, 2, 7, 4];
        let bonds: Vec<[u32; 2]> = order.windows(2).map(|w| [w[0] as u32, w[1] as u32]).collect();
        let mut positions = vec![Vec3::ZERO; 9];
        for (place, &atom) in order.iter().enumerate() {
            let image = [atom as i32 - 4, 2 * (atom as i32 % 2), -(atom as i32)];
            positions[atom] = chain[place] + vec3(7.0, -11.0, 3.0) + cell.shift(image);
        }
        positions[8] = vec3(-100.0, 0.3, 50.0);
        let (mut out, mut images) = (vec![[0f32; 3]; 9], vec![[0; 3]; 9]);
        WholeMolecules::new(9, &bonds).place(Some(&cell), &positions, &mut out, &mut images);

        for (w, &atom) in order.iter().enumerate() {
            let from_first = double(out[atom]) - double(out[order[0]]);
            assert!((from_first - (chain[w] - chain[0])).norm() < SINGLE, "atom {atom}: {from_first:?}");
        }
        let centre: Vec3 = out[..8].iter().map(|&r| double(r)).sum::<Vec3>() / 8.0;
        for r in [centre, double(out[8])] {
            let s = cell.to_fractional(r).to_array();
            assert!(s.iter().all(|v| (-SINGLE..1.0 + SINGLE).contains(v)), "{s:?}");
        }
        for atom in 0..9 {
            let restored = double(out[atom]) + cell.shift(images[atom]);
            assert!((restored - positions[atom]).norm() < SINGLE, "atom {atom}");
        }
    }

    #[test]
    fn mending_moves_atoms_to_the_first_of_their_molecule() {
        let cell = PeriodicCell::orthorhombic([2.0; 3]);
        let mut positions = [vec3(1.9, 0.0, 0.0), vec3(0.1, 1.9, 0.0), vec3(5.0, 5.0, 5.0), vec3(0.2, 0.1, -2.0)];
        WholeMolecules::new(4, &[[0, 1], [1, 3]]).mend(&cell, &mut positions);
        let expected = [vec3(1.9, 0.0, 0.0), vec3(2.1, -0.1, 0.0), vec3(5.0, 5.0, 5.0), vec3(2.2, 0.1, 0.0)];
        assert!(positions.iter().zip(expected).all(|(r, e)| (*r - e).norm() < 1e-15), "{positions:?}");
    }

    #[test]
    fn without_a_cell_positions_are_copied() {
        let mut out = [[0f32; 3]; 2];
        let mut images = [[1; 3]; 2];
        let positions = [vec3(100.0, -3.0, 0.5), vec3(-7.0, 0.25, 2.0)];
        WholeMolecules::new(2, &[[0, 1]]).place(None, &positions, &mut out, &mut images);
        assert_eq!(out, [[100.0, -3.0, 0.5], [-7.0, 0.25, 2.0]]);
        assert_eq!(images, [[0; 3]; 2]);
    }

    #[test]
    fn a_chain_bonded_to_its_own_image_ends() {
        let cell = PeriodicCell::orthorhombic([1.0, 2.0, 2.0]);
        let positions: Vec<Vec3> = (0..4).map(|i| vec3(0.25 * i as f64, 0.0, 0.0)).collect();
        let mut out = vec![[0f32; 3]; 4];
        WholeMolecules::new(4, &[[0, 1], [1, 2], [2, 3], [3, 0]]).place(Some(&cell), &positions, &mut out, &mut []);
        assert!(out.iter().flatten().all(|v| v.is_finite()));
    }
}
