//! Readers and writers of files, one file per format. Nothing here computes physics.
//!
//! Start with [`compressed::read`], which every text reader goes through; it takes regular files only ([`file`](mod@file)).
//! Then [`prmtop`] (AMBER topologies),
//! [`restart`] (AMBER coordinates, text and NetCDF) and [`pdb`] (output for viewers). Every reader gives the
//! engine's units, and answers bad input with a [`crate::error::Problem`] that names file and line.

pub mod compressed;
pub mod element;
pub mod file;
mod netcdf;
pub mod npy;
mod number;
pub mod pdb;
pub mod prmtop;
pub mod restart;
mod text;

pub use compressed::read;
pub use pdb::{write_pdb, write_pdb_of};
pub use prmtop::{AmberTopology, BoxKind, CellHint, read_prmtop};
pub use restart::{Coordinates, read_coordinates, write_rst7};
