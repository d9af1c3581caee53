//! Entries of the Protein Data Bank. This module reads a PDB or PDBx/mmCIF file and makes a clean [`Structure`] from
//! the entry.
//!
//! [`read`] returns an [`Entry`], which holds the contents of the file: chains with their sequences and residues,
//! links, and assemblies. [`clean`] chooses residues and atoms of the entry, builds an assembly, finds the bonds, and
//! reports what is missing. Every choice is recorded as a [`Decision`]. Positions are in nm. Invalid input returns a
//! [`Problem`] with file and line.
//!
//! ```
//! let line = "ATOM      1  N   ALA A   1      11.104   6.134  -6.504  1.00  0.00           N";
//! let entry = md_build::entry::parse(line.as_bytes(), None)?;
//! let cleaned = md_build::entry::clean(&entry, &Default::default())?;
//! assert_eq!(cleaned.structure.residue_label(0), "ALA 1 of chain A");
//! assert_eq!(cleaned.missing_atoms[0].names, ["C", "CA", "CB", "O", "OXT"]);
//! # Ok::<(), md_engine::error::Problem>(())
//! ```
//!
//! [`Structure`]: crate::structure::Structure

mod align;
mod assembly;
mod bonds;
pub(crate) mod caps;
mod choose;
mod cif;
mod clean;
mod cut;
mod decision;
mod disulfide;
mod draft;
mod ends;
mod gaps;
mod links;
mod metals;
mod mmcif;
mod model;
mod names;
mod near;
mod options;
mod overlap;
mod pdb;
mod records;
mod table;

#[cfg(test)]
mod tests;

use std::path::Path;

use md_engine::error::{Error, Problem};
use md_engine::format::{self, is_mmcif, pdb::is_pdb};

pub use bonds::Unsupported;
pub(crate) use choose::label as residue_label;
pub use clean::{Cleaned, MissingAtoms, ResidueInfo, clean};
pub use decision::{Decision, Subject};
pub use gaps::{Gap, GapPlace};
pub use metals::MetalSite;
pub use model::{
    Address, Assembly, Chain, ComponentBond, Entry, EntryAtom, EntryResidue, Generator, Link, LinkKind, Modified,
    Operator, SequencePosition,
};
pub use names::residue_name;
pub(crate) use names::{CARRIERS, is_standard};
pub(crate) use near::Grid;
pub use options::Options;
pub(crate) use overlap::{SAME_PLACE, check as check_places, contacts};
pub use table::{ResidueKind, StandardResidue, standard_residue};

/// Reads an entry from a PDB or PDBx/mmCIF file, which may be compressed. `model` is the number of the model in the
/// file; `None` means the first model.
pub fn read(path: &Path, model: Option<i32>) -> Result<Entry, Error> {
    let bytes = format::read(path)?;
    parse(&bytes, model).map_err(|problem| problem.in_file(path).into())
}

/// Reads an entry from the text of a PDB or PDBx/mmCIF file. `model` is the number of the model in the file; `None`
/// means the first model.
pub fn parse(bytes: &[u8], model: Option<i32>) -> Result<Entry, Problem> {
    let entry = if is_mmcif(bytes) {
        mmcif::read(bytes, model)?
    } else if is_pdb(bytes) {
        pdb::read(bytes, model)?
    } else {
        let help = "a PDB file begins with a record such as HEADER or ATOM, a PDBx/mmCIF file with a line data_NAME";
        return Err(Problem::new("the file is neither a PDB nor a PDBx/mmCIF file").help(help));
    };
    if entry.chains.iter().all(|chain| chain.residues.is_empty()) {
        let problem = match model {
            Some(model) if entry.models > 0 => Problem::new(format!("the file has no model {model} with atoms"))
                .help(format!("the file has {} models; choose one of their numbers", entry.models)),
            _ => Problem::new("the file has no atoms").help("an entry has ATOM records or an _atom_site loop"),
        };
        return Err(problem);
    }
    Ok(entry)
}
