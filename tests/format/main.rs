//! Tests that every valid file is read correctly, and that every broken file is refused with an explanation.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "in a test both are how a failure is told")]

mod broken;
mod charmm;
mod charmm_residues;
mod cut;
#[path = "../damage/mod.rs"]
mod damage;
mod energy;
mod fuzz;
#[path = "../golden/mod.rs"]
mod golden;
mod gromacs;
mod gromacs_cli;
mod gromacs_text;
mod gromacs_traps;
mod hostile;
mod intermolecular;
mod literal;
mod lone_pairs;
mod long_names;
mod marks;
mod mmcif;
mod openmm;
mod other_readers;
mod pdb;
mod pdb_cell;
#[path = "../python/probe.rs"]
mod probe;
mod residue_labels;
mod restart;
mod systems;
mod traps;
mod twice;
mod writers;
mod written_labels;

use std::path::{Path, PathBuf};

/// Folder of the reference systems: `shared/systems` next to this checkout or above it.
pub(crate) fn shared_systems() -> Option<PathBuf> {
    let found = Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .skip(1)
        .map(|folder| folder.join("shared/systems"))
        .find(|folder| folder.is_dir());
    if found.is_none() {
        println!("skipped: no folder shared/systems beside the checkout");
    }
    found
}

/// Path of the file of a reference system with the given extension, compressed or not.
pub(crate) fn system_file(folder: &Path, extension: &str) -> PathBuf {
    let name = folder.file_name().unwrap().to_str().unwrap();
    let plain = folder.join(format!("{name}.{extension}"));
    if plain.exists() { plain } else { folder.join(format!("{name}.{extension}.xz")) }
}

/// Contents of `ref.json` of a reference system.
pub(crate) fn reference(folder: &Path) -> serde_json::Value {
    serde_json::from_slice(&std::fs::read(folder.join("ref.json")).unwrap()).unwrap()
}
