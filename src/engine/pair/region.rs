//! The region whose atoms a [`Grid`](super::Grid) sorts: the whole cell, or one domain and its halo.
//!
//! A domain is a part of the cell between planes that are parallel to the faces of the cell. The home atoms of a domain
//! are in zone number 0. Halo atoms are copied from the next higher domains along one or more divided directions. Each
//! bit of the zone number of a halo atom stands for one divided direction. A pair of atoms may be present in several
//! domains. A pair that is present in several domains is computed in the domain that is the lowest along every divided
//! direction. The zone numbers of the two atoms have no common bit only in this lowest domain (the eighth-shell method:
//! Bowers, Dror & Shaw 2007, 10.1016/j.jcp.2006.08.014).

use crate::cell::PeriodicCell;
use crate::vec3::{Vec3, vec3};

/// Maximum number of zones of a domain.
pub const ZONES: usize = 8;

/// The region of one domain and its halo, with the atoms sorted by zone.
#[derive(Clone, Debug, Default)]
pub struct Region {
    /// lower end along each lattice vector, as a fraction of the vector
    pub low: [f64; 3],
    /// upper end including halo atoms, as a fraction of the vector
    pub high: [f64; 3],
    /// directions along which the cell is divided into several domains; along these directions no periodic images are
    /// used
    pub divided: [bool; 3],
    /// lattice image (na, nb, nc) of each atom, as in [`Grid::images`](super::Grid::images)
    pub images: Vec<[i32; 3]>,
    /// first atom of each zone, followed by the total number of atoms
    pub zone_starts: Vec<u32>,
}

impl Region {
    /// Returns the number of zones, which is 2 to the power of the number of divided directions.
    pub fn zones(&self) -> usize {
        self.zone_starts.len() - 1
    }

    /// Returns the zone of an atom.
    pub fn zone_of(&self, atom: u32) -> usize {
        self.zone_starts.partition_point(|&start| start <= atom) - 1
    }

    /// Returns the number of home atoms.
    pub fn home(&self) -> usize {
        self.zone_starts[1] as usize
    }

    /// Returns the position (nm) of an atom in the region: the position minus the lattice shift of the atom's image.
    pub fn wrapped(&self, cell: &PeriodicCell, positions: &[Vec3], atom: u32) -> Vec3 {
        positions[atom as usize] - cell.shift(self.images[atom as usize])
    }

    /// Converts fractional coordinates of the cell to fractions of the extent of the region.
    pub(super) fn part(&self, s: Vec3) -> Vec3 {
        let [x, y, z] = [0, 1, 2].map(|k| (s.to_array()[k] - self.low[k]) / self.extent(k));
        vec3(x, y, z)
    }

    /// Returns the extent of the region along a direction, as a fraction of the lattice vector.
    pub(super) fn extent(&self, direction: usize) -> f64 {
        self.high[direction] - self.low[direction]
    }
}
