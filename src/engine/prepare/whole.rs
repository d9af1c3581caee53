//! Molecules that a file left broken over the faces of the cell, made whole.

use crate::cell::PeriodicCell;
use crate::system::{Molecules, Topology};
use crate::vec3::Vec3;

/// Moves atoms by lattice vectors so that bonded neighbours are nearest images. Whole molecules keep their bits.
pub(super) fn make_molecules_whole(topology: &Topology, cell: &PeriodicCell, positions: &mut [Vec3]) {
    // nanometres where a bond crosses the cell, else roundings of 1e-15
    let to_image = |from: Vec3, to: Vec3| cell.minimum_image(to - from) - (to - from);
    let is_broken = |images: Vec3| images.norm() > 0.5 * cell.max_cutoff();
    let bonds = &topology.connectivity;
    if !bonds.iter().any(|&[i, j]| is_broken(to_image(positions[i as usize], positions[j as usize]))) {
        return;
    }
    let mut neighbours = vec![vec![]; positions.len()];
    for &[i, j] in bonds {
        neighbours[i as usize].push(j as usize);
        neighbours[j as usize].push(i as usize);
    }
    let molecules = Molecules::from_bonds(positions.len(), bonds);
    let mut placed = vec![false; positions.len()];
    for molecule in 0..molecules.len() {
        let first = molecules.atoms(molecule)[0] as usize;
        placed[first] = true;
        let mut reached = vec![first];
        while let Some(i) = reached.pop() {
            for &j in &neighbours[i] {
                if !std::mem::replace(&mut placed[j], true) {
                    let images = to_image(positions[i], positions[j]);
                    if is_broken(images) {
                        positions[j] += images;
                    }
                    reached.push(j);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vec3::vec3;

    #[test]
    fn broken_molecules_are_joined_and_whole_ones_untouched() {
        let cell = PeriodicCell::orthorhombic([2.0, 2.0, 2.0]);
        let topology = Topology { connectivity: vec![[0, 1], [1, 2], [3, 4]], ..Topology::default() };
        let whole = [vec3(1.95, 0.0, 0.1), vec3(2.04, 0.0, 0.1), vec3(2.13, 0.0, 0.1), vec3(0.3, 0.3, 0.3)];
        let mut positions = vec![whole[0], whole[1] - vec3(2.0, 0.0, 0.0), whole[2] - vec3(2.0, 4.0, 0.0), whole[3]];
        positions.push(vec3(0.4, 0.3, 0.3));
        make_molecules_whole(&topology, &cell, &mut positions);
        // two additions of numbers near 2: a few roundings of 4e-16
        assert!(whole.iter().zip(&positions).all(|(a, b)| (*a - *b).norm() < 2e-15), "{positions:?}");
        let before = positions.clone();
        make_molecules_whole(&topology, &cell, &mut positions);
        assert_eq!(before, positions);
    }
}
