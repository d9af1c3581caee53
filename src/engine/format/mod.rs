//! Readers and writers of topologies and coordinates, one module per format. Nothing here computes physics.
//!
//! Start with [`compressed::read`], which every reader goes through; it takes regular files only ([`file`](mod@file)).
//! [`known`] is the table of formats: [`read_topology`] and [`read_coordinates`] take the reader that recognises the
//! content. Readers of topologies return a [`crate::system::Description`], readers of coordinates [`Coordinates`]. Every
//! reader gives the engine's units, and answers bad input with a [`crate::error::Problem`] that names file and line.
//! [`restart`], [`pdb`], [`write_mmcif`] and [`write_gro`] also write; topologies are written in
//! [`known::WRITABLE_TOPOLOGIES`].

mod alternative;
mod charmm;
pub mod compressed;
pub mod coordinates;
pub mod element;
pub mod file;
mod gromacs;
pub mod known;
mod mmcif;
mod names;
pub mod netcdf;
pub mod npy;
mod number;
mod openmm;
mod order;
mod parts;
pub mod pdb;
mod prmtop;
pub mod restart;
mod text;
pub mod unit;

pub use compressed::read;
pub use coordinates::{Coordinates, Label, LeftOut, read_coordinates, read_models};
pub use gromacs::{AtomRestraint, RestraintShape, write_gro};
pub use known::{TopologyOptions, read_position_restraints, read_topology, read_topology_with};
pub use mmcif::write_mmcif;
pub use names::{Names, read_names, take_names};
pub use order::check_order;
pub use pdb::{write_pdb, write_pdb_of};
pub use restart::write_rst7;
