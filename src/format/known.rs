//! The known formats of topologies and coordinates: one row each. Files are told apart by their content, not their name.

use std::path::{Path, PathBuf};

use super::coordinates::Coordinates;
use super::{charmm, netcdf, openmm, prmtop, restart};
use crate::error::{Problem, Result};
use crate::system::Description;

/// Result of a reading step.
type Parsed<T> = std::result::Result<T, Problem>;

/// A format of input files.
pub struct Format<R> {
    /// name in messages and `md info`
    pub name: &'static str,
    /// recognises a file by its first bytes, unpacked
    pub recognises: fn(&[u8]) -> bool,
    /// the reader of such files
    pub read: R,
}

/// What a topology needs besides its own file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TopologyOptions {
    /// files of parameters (CHARMM), in their order
    pub parameters: Vec<PathBuf>,
}

/// Reads the unpacked bytes of the topology at a path, which only names the file in messages.
pub type TopologyReader = fn(&Path, &[u8], &TopologyOptions) -> Parsed<Description>;

/// Reads unpacked coordinates; an angle (degrees) completes a box given by its edges only.
pub type CoordinatesReader = fn(&[u8], Option<f64>) -> Parsed<Coordinates>;

/// Topologies; the first row that recognises a file reads it.
pub const TOPOLOGIES: &[Format<TopologyReader>] = &[
    Format {
        name: "AMBER topology (prmtop, parm7)",
        recognises: |bytes| bytes.starts_with(b"%"),
        read: |path, bytes, options| without_parameters(path, options).and_then(|()| prmtop::read(path, bytes)),
    },
    Format { name: "CHARMM topology (psf)", recognises: |bytes| bytes.starts_with(b"PSF"), read: charmm::read },
    Format {
        name: "OpenMM system (XML)",
        recognises: openmm::is_system,
        read: |path, bytes, options| without_parameters(path, options).and_then(|()| openmm::read(path, bytes)),
    },
];

/// Refuses files of parameters for a format whose files hold their own.
fn without_parameters(path: &Path, options: &TopologyOptions) -> Parsed<()> {
    if options.parameters.is_empty() {
        return Ok(());
    }
    let problem = Problem::new("system.parameters has no effect on this topology, which holds its own").in_file(path);
    Err(problem.help("remove it; CHARMM's psf files need parameters"))
}

/// Coordinates; the first row that recognises a file reads it. AMBER text begins with a title, which may be any text.
pub const COORDINATES: &[Format<CoordinatesReader>] = &[
    Format {
        name: "AMBER coordinates (NetCDF restart)",
        recognises: |bytes| bytes.starts_with(b"CDF"),
        read: |bytes, _| netcdf::read_restart(bytes),
    },
    Format { name: "CHARMM coordinates (crd)", recognises: charmm::is_card, read: |bytes, _| charmm::read_card(bytes) },
    Format { name: "AMBER coordinates (rst7, inpcrd)", recognises: is_text, read: restart::read_text },
];

/// Bytes of text files hold no zero.
fn is_text(bytes: &[u8]) -> bool {
    const LOOKED_AT: usize = 1024;
    !bytes.iter().take(LOOKED_AT).any(|&byte| byte == 0)
}

/// The format of a file by its unpacked bytes. The problem where there is none lists those of the table, and names what they
/// are formats of.
pub fn recognise<R>(formats: &'static [Format<R>], what: &str, bytes: &[u8]) -> Parsed<&'static Format<R>> {
    formats.iter().find(|format| (format.recognises)(bytes)).ok_or_else(|| {
        let names: Vec<&str> = formats.iter().map(|format| format.name).collect();
        let problem = Problem::new(format!("this is no {what} file of a format that md knows")).at_line(1);
        problem.help(format!("known are: {}", names.join(", ")))
    })
}

/// Read a topology of any known format, compressed or not; the format is told by the content. Fails with a [`Problem`] that
/// names file and line.
pub fn read_topology(path: &Path) -> Result<Description> {
    read_topology_with(path, &TopologyOptions::default())
}

/// As [`read_topology`], with options.
pub fn read_topology_with(path: &Path, options: &TopologyOptions) -> Result<Description> {
    let bytes = super::read(path)?;
    let format = recognise(TOPOLOGIES, "topology", &bytes).map_err(|problem| problem.in_file(path))?;
    Ok((format.read)(path, &bytes, options)?)
}
