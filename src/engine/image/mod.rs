//! Periodic images of molecules. All code except pair lists and backends uses this module to choose periodic images.
//!
//! A file may store each molecule, and even each atom, in any periodic image. Results must not depend on the stored
//! images. This module therefore defines the following rules:
//!
//! - **Molecules** are the atoms joined by bonds, constraints and virtual sites
//!   ([`crate::system::Topology::molecules`]).
//! - **A molecule is whole** if, for every link, the vector between the two linked atoms is the minimum image
//!   ([`WholeMolecules`]).
//! - **Several molecules are gathered**: each molecule is shifted to the image nearest to its neighbour in the minimum
//!   spanning tree of the shortest distances between molecules ([`Parts::gather`]). A long chain of molecules in
//!   contact therefore stays together.
//! - **The molecules of a reference structure** get the images in which the reference fits best to the structure with
//!   which it is compared ([`Parts::fit`]). The reference is not gathered, because the contacts between molecules in a
//!   crystal structure may differ from the contacts in the simulation.
//!
//! - **The molecules of a frame that is compared with other frames** get the images that fit best to a chosen frame
//!   ([`Parts::fit`]), because gathering can arrange two frames differently.
//! - **The displacement of a point between two frames** is the minimum image of the difference between its wrapped
//!   positions ([`Paths`]).
//!
//! [`PeriodicCell::minimum_image`](crate::cell::PeriodicCell::minimum_image) returns the shortest periodic image of a
//! displacement.

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
