//! Periodic images of molecules. Pair lists and backends aside, every choice of images is made here.
//!
//! A file may store every molecule, and every atom, in any periodic image. Results must not depend on that choice.
//! This module therefore defines:
//!
//! - **Molecules** are the atoms joined by bonds, constraints and virtual sites
//!   ([`crate::system::Topology::molecules`]).
//! - **A molecule is whole** if every link is as long as its shortest image ([`WholeMolecules`]).
//! - **Several molecules are gathered** along the shortest distances between their atoms, as a minimum spanning tree
//!   ([`Parts::gather`]), so that a chain of contacts stays together however long it is.
//! - **A reference** gets the images of its molecules in which it fits best to the structure that it is compared with
//!   ([`Parts::fit`]): it may come from a crystal, whose cell says nothing about contacts in a simulation.
//!
//! The nearest image of a displacement is [`PeriodicCell::minimum_image`](crate::cell::PeriodicCell::minimum_image).

mod fit;
mod parts;
mod spanning_tree;
#[cfg(test)]
mod tests;
mod whole;

pub use parts::Parts;
pub use whole::WholeMolecules;

/// Lattice image: position + `cell.shift(image)` is the position in that image.
pub type Image = [i32; 3];
