//! Readers and writers of topologies and coordinates, one module per format. The modules compute no energies or
//! forces.
//!
//! Every reader receives its bytes from [`compressed::read`], which accepts only regular files ([`file`](mod@file)).
//! [`known`] is the table of formats, and [`foreign`](mod@foreign) the table of formats that are recognised but not
//! read. [`read_topology`] and [`read_coordinates`] use the reader that recognises the contents. Topology readers
//! return a [`crate::system::Description`], and coordinate readers return [`Coordinates`]. All readers return values
//! in the engine's units. Bad input is a [`crate::error::Problem`] that names file and line.
//!
//! [`restart`], [`pdb`], [`write_mmcif`] and [`write_gro`] write coordinates. [`known::WRITABLE_TOPOLOGIES`] lists
//! the writers of topologies.

mod alternative;
mod charmm;
pub mod compressed;
pub mod coordinates;
pub mod element;
pub mod file;
pub mod foreign;
mod gromacs;
pub mod known;
mod mmcif;
mod names;
pub mod netcdf;
pub mod npy;
mod number;
mod openmm;
mod options;
mod order;
mod parts;
pub mod pdb;
mod prmtop;
pub mod restart;
mod text;
pub mod unit;
pub mod xml;

pub use compressed::read;
pub use coordinates::{Coordinates, Label, LeftOut, OTHER_VECTORS};
pub use gromacs::{AtomRestraint, RestraintShape, write_gro};
pub use known::{read_coordinates, read_models, read_position_restraints, read_topology, read_topology_with};
pub use mmcif::{Value, Word, Words, is_mmcif, write_mmcif};
pub use names::{Names, read_names, take_names};
pub use options::{Factors14, Molecules, TopologyOptions};
pub use order::check_order;
pub use pdb::{write_pdb, write_pdb_of};
pub use restart::write_rst7;
