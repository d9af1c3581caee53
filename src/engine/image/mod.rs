//! Periodic images of molecules. All code except pair lists and backends uses this module to choose periodic images.
//!
//! A file may store each molecule, and even each atom, in any periodic image. Results must not depend on the stored
//! images. This module therefore defines the following rules:
//!
//! - **Molecules** are the atoms joined by bonds, constraints and virtual sites
//!   ([`crate::system::Topology::molecules`]).
//! - **A molecule is whole** if the vector between two linked atoms is the minimum image, for every link
//!   ([`WholeMolecules`]).
//! - **Several molecules are gathered** along the minimum spanning tree of the shortest distances between their atoms
//!   ([`Parts::gather`]). A long chain of molecules in contact therefore stays together.
//! - **The molecules of a reference structure** get the images in which the reference fits best to the structure with
//!   which it is compared ([`Parts::fit`]). The reference is not gathered, because it may be a crystal structure in
//!   which other molecules are in contact than in the simulation.
//!
//! - **The molecules of a frame that is compared with other frames** get the images that fit best to one of these
//!   frames ([`Parts::fit`]), because gathering can arrange two frames differently.
//! - **A point moves from frame to frame** by the minimum image of the difference between its wrapped positions
//!   ([`Paths`]).
//!
//! The nearest image of a displacement is [`PeriodicCell::minimum_image`](crate::cell::PeriodicCell::minimum_image).

mod fit;
mod parts;
mod path;
mod spanning_tree;
#[cfg(test)]
mod tests;
mod whole;

pub use parts::Parts;
pub use path::Paths;
pub use whole::WholeMolecules;

/// Lattice image of an atom. The position of the atom in this image is position + `cell.shift(image)`.
pub type Image = [i32; 3];
