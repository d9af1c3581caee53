//! PDB files: positions to 0.001 Å with the names of atoms and residues.
//!
//! Records are lines whose first six columns name them; the rest lies in fixed columns (format 3.3, wwPDB). Here `ATOM`,
//! `HETATM`, `TER`, `CRYST1`, `MODEL`, `ENDMDL` and `TITLE` count, and `CONECT` where bonds are asked for.

mod bonds;
mod lines;
mod models;
mod read;
mod write;

pub(super) use bonds::read_bonds;
pub use models::ModelEnds;
pub use read::{Model, is_pdb, read_model};
pub(super) use read::{read_models, read_structure};
pub use write::AtomRecords;
pub use write::{write_pdb, write_pdb_of};
