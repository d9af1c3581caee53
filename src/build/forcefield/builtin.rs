//! Force fields that are part of md. `src/build/data/README.md` names their sources, authors and licences.

use std::io::Read;
use std::path::Path;

use md_engine::error::{Error, Result};

/// Names of the built-in files, and their contents compressed with xz.
macro_rules! files {
    ($($name:literal),+ $(,)?) => {
        const FILES: &[(&str, &[u8])] = &[$(($name, include_bytes!(concat!("../data/", $name, ".xz")))),+];
    };
}

files! {
    "amber14/protein.ff14SB.xml",
    "amber19/protein.ff19SB.xml",
    "amberfb15.xml",
    "amber14/DNA.OL15.xml",
    "amber19/DNA.OL21.xml",
    "amber14/DNA.bsc1.xml",
    "amber14/RNA.OL3.xml",
    "amber14/lipid17.xml",
    "amber19/lipid21.xml",
    "amber14/tip3p.xml",
    "amber14/tip3pfb.xml",
    "amber14/spce.xml",
    "amber14/tip4pew.xml",
    "amber14/opc.xml",
    "amber14/opc3.xml",
    "charmm36_2024.xml",
    "charmm36_2024/water.xml",
}

/// Names of all built-in force-field files.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    FILES.iter().map(|(name, _)| *name)
}

/// Whether there is a built-in file of this name.
pub(super) fn is_known(path: &Path) -> bool {
    names().any(|name| Path::new(name) == path)
}

/// Returns the text of a built-in file; `None` if there is no file of this name.
pub(super) fn read(path: &Path) -> Result<Option<Vec<u8>>> {
    let Some((name, packed)) = FILES.iter().find(|(name, _)| Path::new(name) == path) else { return Ok(None) };
    let mut bytes = vec![];
    let read = lzma_rust2::XzReader::new(*packed, true).read_to_end(&mut bytes);
    read.map_err(|error| Error::Internal(format!("the force field {name} is damaged: {error}")))?;
    Ok(Some(bytes))
}
