//! PDBx/mmCIF files, which hold positions and names of atoms and residues. Each file lists the names of its columns.
//!
//! The syntax is that of CIF 1.1 (International Tables for Crystallography G, chapter 2.2; [`token`]). The items are
//! those of the PDBx/mmCIF dictionary of the wwPDB. This module uses `_atom_site`, `_cell` and `_struct.title`. Code
//! that reads other items uses the iterator [`Words`].

mod read;
mod token;
mod write;

pub use read::is_mmcif;
pub(super) use read::{read, read_models};
pub use token::{Value, Word, Words};
pub use write::write_mmcif;
