//! PDB files: positions to 0.001 Å with the names of atoms and residues.
//!
//! Each line is a record. The first six columns of a record hold the record name, and the values are in fixed columns
//! (format 3.3, wwPDB). This module uses the records `ATOM`, `HETATM`, `TER`, `CRYST1`, `MODEL`, `ENDMDL` and `TITLE`,
//! and `CONECT` if bonds are requested. The module [`lines`] finds records and columns. Code that reads other records
//! uses this module, too.

mod bonds;
mod connections;
pub mod lines;
mod models;
mod read;
mod write;

pub(super) use bonds::read_bonds;
pub use models::ModelEnds;
pub use read::{Model, is_pdb, read_model};
pub(super) use read::{read_models, read_structure};
pub use write::AtomRecords;
pub use write::{write_pdb, write_pdb_of};
