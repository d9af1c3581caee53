//! Molecules of a selection of atoms, and the choice of their periodic images.

use super::{Image, spanning_tree};
use crate::cell::PeriodicCell;
use crate::system::Molecules;
use crate::vec3::Vec3;
use serde::{Deserialize, Serialize};

/// Selected atoms, sorted by molecule. A part is the set of selected atoms of one molecule. The methods take the
/// positions (nm) of the selected atoms in the order of the selection, and return one image for each part. Molecules
/// must be whole.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parts {
    /// indices of the atoms in the selection, sorted by part
    places: Vec<u32>,
    /// offset of each part in `places`, followed by the length of `places`
    starts: Vec<u32>,
}

impl Parts {
    /// Splits the selected `atoms` into parts, in the order of the first selected atom of each molecule.
    pub fn new(molecules: &Molecules, atoms: &[u32]) -> Self {
        let mut number = std::collections::HashMap::new();
        let part_of = |&atom: &u32| {
            let next = number.len();
            *number.entry(molecules.of_atom(atom as usize)).or_insert(next)
        };
        let parts: Vec<usize> = atoms.iter().map(part_of).collect();
        let mut places: Vec<u32> = (0..atoms.len() as u32).collect();
        places.sort_by_key(|&place| parts[place as usize]);
        let mut starts: Vec<u32> = vec![0; number.len() + 1];
        parts.iter().for_each(|&part| starts[part + 1] += 1);
        for part in 0..number.len() {
            starts[part + 1] += starts[part];
        }
        Self { places, starts }
    }

    /// Returns the number of parts, which is the number of molecules with selected atoms.
    pub fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// Whether no atom is selected.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Iterates over the parts. Each item holds the indices of a part's atoms in the selection.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u32]> {
        self.starts.windows(2).map(|part| &self.places[part[0] as usize..part[1] as usize])
    }

    /// Returns the image of each part such that the two atoms of every link of the minimum spanning tree are at their
    /// minimum-image distance. The tree connects the parts by the shortest distances between their atoms. The first
    /// part keeps its image.
    pub fn gather(&self, cell: &PeriodicCell, positions: &[Vec3]) -> Vec<Image> {
        match self.len() {
            0 | 1 => vec![[0; 3]; self.len()],
            _ => spanning_tree::images(cell, positions, &self.iter().collect::<Vec<_>>()),
        }
    }

    /// Returns an image for each part: the image in which an atom of the part is as near to `center` (nm) as possible.
    pub fn gather_around(&self, cell: &PeriodicCell, positions: &[Vec3], center: Vec3) -> Vec<Image> {
        let nearest = |part: &[u32]| {
            let displacements = part.iter().map(|&place| positions[place as usize] - center);
            let by_length = |a: &Vec3, b: &Vec3| {
                cell.minimum_image(*a).norm_squared().total_cmp(&cell.minimum_image(*b).norm_squared())
            };
            displacements.min_by(by_length).map_or([0; 3], |d| cell.nearest_image(d))
        };
        self.iter().map(nearest).collect()
    }

    /// Returns an image for each part: the image that minimises the sum of the squared distances of its atoms from
    /// their positions in `target`.
    pub fn nearest_to(&self, cell: &PeriodicCell, positions: &[Vec3], target: &[Vec3]) -> Vec<Image> {
        let displacement = |part: &[u32]| {
            let of_atom = |&place: &u32| positions[place as usize] - target[place as usize];
            part.iter().map(of_atom).sum::<Vec3>() / part.len() as f64
        };
        self.iter().map(|part| cell.nearest_image(displacement(part))).collect()
    }

    /// Moves each part by lattice vectors into the cell, so that the fractional coordinates s of its mean position
    /// are 0 ≤ s < 1.
    pub fn put_into_cell(&self, cell: &PeriodicCell, positions: &mut [Vec3]) {
        let mean = |part: &[u32]| part.iter().map(|&place| positions[place as usize]).sum::<Vec3>() / part.len() as f64;
        let images: Vec<Image> = self.iter().map(|part| cell.wrap(mean(part)).1.map(|n| -n)).collect();
        self.shift(cell, &images, positions);
    }

    /// Moves each part to its image in `images`.
    pub fn shift(&self, cell: &PeriodicCell, images: &[Image], positions: &mut [Vec3]) {
        for (part, &image) in self.iter().zip(images) {
            if image != [0; 3] {
                let shift = cell.shift(image);
                part.iter().for_each(|&place| positions[place as usize] += shift);
            }
        }
    }

    /// Moves each part to the image that [`Self::gather`] returns.
    pub fn make_gathered(&self, cell: &PeriodicCell, positions: &mut [Vec3]) {
        let images = self.gather(cell, positions);
        self.shift(cell, &images, positions);
    }
}
