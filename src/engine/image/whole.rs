//! Restoration of molecules that are broken across periodic boundaries.

use crate::cell::PeriodicCell;
use crate::system::Topology;
use crate::vec3::Vec3;

/// Order in which [`WholeMolecules::make_whole`] visits atoms. Each atom, except the first atom of a molecule, comes
/// after an atom to which it is linked.
#[derive(Clone, Debug)]
pub struct WholeMolecules {
    /// pairs (atom, linked atom visited before it); the first atom of a molecule is paired with itself
    walk: Vec<[u32; 2]>,
    /// offset of each molecule in `walk`, followed by the length of `walk`
    starts: Vec<usize>,
}

impl WholeMolecules {
    /// Determines the order in which the atoms of a topology are visited. Atoms that can be reached by bonds and
    /// constraints are visited before atoms that are joined only by a virtual site. In this order, a site that is
    /// constructed from both ends of a long molecule does not determine the images of these ends.
    pub fn of(topology: &Topology) -> Self {
        Self::walk(topology.atoms.len(), &topology.links(), &topology.site_joins())
    }

    /// Determines the order in which `atoms` atoms, connected by `links`, are visited.
    pub fn new(atoms: usize, links: &[[u32; 2]]) -> Self {
        Self::walk(atoms, links, &[])
    }

    /// Orders atoms by a breadth-first search along links. Molecules are the components connected by `links` and
    /// `joins`, in the order of their first atoms. Pairs in `joins` are followed only after the links of all visited
    /// atoms have been followed.
    fn walk(atoms: usize, links: &[[u32; 2]], joins: &[[u32; 2]]) -> Self {
        let [links, joins] = [links, joins].map(|pairs| Graph::new(atoms, pairs));
        let mut visited = vec![false; atoms];
        let mut walk: Vec<[u32; 2]> = Vec::with_capacity(atoms);
        let mut starts = vec![];
        for first in 0..atoms {
            if std::mem::replace(&mut visited[first], true) {
                continue;
            }
            starts.push(walk.len());
            // `head`: index in `walk` of the next atom whose links are followed; `joined`: index of the next atom whose
            // joins are followed; `followed`: number of joins of the atom `joined` that were followed already
            let (mut head, mut joined, mut followed) = (walk.len(), walk.len(), 0);
            walk.push([first as u32; 2]);
            loop {
                while let Some(&[atom, _]) = walk.get(head) {
                    head += 1;
                    for &other in links.neighbours(atom) {
                        if !std::mem::replace(&mut visited[other as usize], true) {
                            walk.push([other, atom]);
                        }
                    }
                }
                let Some(&[atom, _]) = walk.get(joined) else { break };
                match joins.neighbours(atom).get(followed) {
                    Some(&other) => {
                        followed += 1;
                        if !std::mem::replace(&mut visited[other as usize], true) {
                            walk.push([other, atom]);
                        }
                    }
                    None => (joined, followed) = (joined + 1, 0),
                }
            }
        }
        starts.push(walk.len());
        Self { walk, starts }
    }

    /// Moves atoms by lattice vectors until the vector of every link in `walk` is a minimum image. The first atom of
    /// each molecule does not move. Positions of molecules that are already whole are unchanged bit for bit.
    /// `positions` holds the positions of all atoms, or only of the atoms of the first molecules.
    pub fn make_whole(&self, cell: &PeriodicCell, positions: &mut [Vec3]) {
        // vectors shorter than the largest cutoff of the cell are minimum images
        let shortest = cell.max_cutoff().powi(2);
        for &[atom, before] in &self.walk {
            let (atom, before) = (atom as usize, before as usize);
            if atom >= positions.len() {
                // molecules are in the order of their first atoms, so all later molecules are also missing from
                // `positions`
                break;
            }
            let link = positions[atom] - positions[before];
            if link.norm_squared() < shortest {
                continue;
            }
            let image = cell.nearest_image(link);
            if image != [0; 3] {
                positions[atom] += cell.shift(image);
            }
        }
    }

    /// Makes molecules whole, and moves each molecule by lattice vectors so that the fractional coordinates s of its
    /// mean position are 0 ≤ s < 1.
    pub fn put_into_cell(&self, cell: &PeriodicCell, positions: &mut [Vec3]) {
        self.make_whole(cell, positions);
        for molecule in self.starts.windows(2) {
            let molecule = &self.walk[molecule[0]..molecule[1]];
            let sum: Vec3 = molecule.iter().map(|&[atom, _]| positions[atom as usize]).sum();
            let (_, image) = cell.wrap(sum / molecule.len() as f64);
            if image != [0; 3] {
                let shift = cell.shift(image);
                molecule.iter().for_each(|&[atom, _]| positions[atom as usize] -= shift);
            }
        }
    }
}

/// Adjacency lists of atoms.
struct Graph {
    /// offset of each atom's neighbours in `neighbours`, followed by the length of `neighbours`
    starts: Vec<usize>,
    neighbours: Vec<u32>,
}

impl Graph {
    fn new(atoms: usize, pairs: &[[u32; 2]]) -> Self {
        let mut starts = vec![0usize; atoms + 1];
        for &atom in pairs.iter().flatten() {
            starts[atom as usize + 1] += 1;
        }
        for i in 0..atoms {
            starts[i + 1] += starts[i];
        }
        let mut next = starts.clone();
        let mut neighbours = vec![0u32; 2 * pairs.len()];
        for &[i, j] in pairs {
            for (from, to) in [(i, j), (j, i)] {
                neighbours[next[from as usize]] = to;
                next[from as usize] += 1;
            }
        }
        Graph { starts, neighbours }
    }

    fn neighbours(&self, atom: u32) -> &[u32] {
        &self.neighbours[self.starts[atom as usize]..self.starts[atom as usize + 1]]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vec3::vec3;

    #[test]
    fn broken_molecules_are_joined_and_whole_ones_untouched() {
        let cell = PeriodicCell::orthorhombic([2.0, 2.0, 2.0]);
        let molecules = WholeMolecules::new(5, &[[0, 1], [1, 2], [3, 4]]);
        let whole = [vec3(1.95, 0.0, 0.1), vec3(2.04, 0.0, 0.1), vec3(2.13, 0.0, 0.1), vec3(0.3, 0.3, 0.3)];
        let mut positions = vec![whole[0], whole[1] - vec3(2.0, 0.0, 0.0), whole[2] - vec3(2.0, 4.0, 0.0), whole[3]];
        positions.push(vec3(0.4, 0.3, 0.3));
        molecules.make_whole(&cell, &mut positions);
        // tolerance for several rounding errors of 4e-16, from two additions of numbers near 2
        assert!(whole.iter().zip(&positions).all(|(a, b)| (*a - *b).norm() < 2e-15), "{positions:?}");
        let before = positions.clone();
        molecules.make_whole(&cell, &mut positions);
        assert_eq!(before, positions);
    }

    #[test]
    fn atoms_come_to_the_first_of_their_molecule() {
        let cell = PeriodicCell::orthorhombic([2.0; 3]);
        let mut positions = [vec3(1.9, 0.0, 0.0), vec3(0.1, 1.9, 0.0), vec3(5.0, 5.0, 5.0), vec3(0.2, 0.1, -2.0)];
        WholeMolecules::new(4, &[[0, 1], [1, 3]]).make_whole(&cell, &mut positions);
        let expected = [vec3(1.9, 0.0, 0.0), vec3(2.1, -0.1, 0.0), vec3(5.0, 5.0, 5.0), vec3(2.2, 0.1, 0.0)];
        assert!(positions.iter().zip(expected).all(|(r, e)| (*r - e).norm() < 1e-15), "{positions:?}");
    }

    #[test]
    fn what_only_a_site_joins_comes_last() {
        // a chain is longer than half of the cell; a virtual site is constructed from both ends of the chain and from
        // an atom without bonds
        let cell = PeriodicCell::orthorhombic([2.0; 3]);
        let walk = WholeMolecules::walk(6, &[[0, 1], [1, 2], [2, 3]], &[[0, 3], [0, 4], [0, 5]]);
        let whole = [0.0, 0.4, 0.8, 1.2, 0.6, -0.3].map(|x| vec3(x, 0.0, 0.0));
        let mut positions = whole;
        positions[3].x -= 2.0;
        positions[5].x += 4.0;
        walk.make_whole(&cell, &mut positions);
        assert!(whole.iter().zip(&positions).all(|(a, b)| (*a - *b).norm() < 2e-15), "{positions:?}");
        assert_eq!(walk.starts, [0, 6]);
    }

    #[test]
    fn molecules_lie_in_the_cell_by_their_mean_positions() {
        let cell = PeriodicCell::orthorhombic([2.0; 3]);
        let mut positions = [vec3(-0.1, 0.5, 0.5), vec3(0.2, 0.5, 0.5), vec3(0.5, -0.5, 4.5)];
        WholeMolecules::new(3, &[[0, 1]]).put_into_cell(&cell, &mut positions);
        assert_eq!(positions, [vec3(-0.1, 0.5, 0.5), vec3(0.2, 0.5, 0.5), vec3(0.5, 1.5, 0.5)]);
    }
}
