//! Periodic images of molecules: the one place that decides them, outside pair lists and backends.
//!
//! A file may store every molecule, and every atom, in any periodic image. What is computed from positions must not depend on
//! that choice, so it is made here:
//!
//! - **Molecules** are what bonds, constraints and virtual sites join ([`crate::system::Topology::molecules`]).
//! - **A molecule is whole** where every link is as long as its shortest image ([`WholeMolecules`]).
//! - **Several molecules are gathered** along the shortest distances between their atoms, as a minimum spanning tree
//!   ([`Parts::gather`]), so that a chain of contacts stays together however long it is.
//! - **A reference** has the images of its molecules in which it fits best to what it is compared with ([`Parts::fit`]): it may
//!   come from a crystal, whose cell says nothing about contacts in a simulation.
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
