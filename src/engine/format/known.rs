//! Tables of the topology and coordinate formats that md reads and writes, with one row for each format. The format of
//! a file is recognised by its contents, not by its name.

use std::path::Path;

use super::coordinates::Coordinates;
use super::foreign::foreign;
use super::options::TopologyOptions;
use super::{charmm, gromacs, mmcif, netcdf, openmm, pdb, prmtop, restart};
use crate::cell::PeriodicCell;
use crate::error::{Parsed, Problem, Result};
use crate::system::Description;

/// A format of input files.
pub struct Format<R> {
    /// name of the format in messages and in `md info`
    pub name: &'static str,
    /// function that recognises a file of this format by its first unpacked bytes
    pub recognises: fn(&[u8]) -> bool,
    /// function that reads files of this format
    pub read: R,
}

/// Function that reads a topology from its path and its unpacked bytes. Messages name the path. Relative paths of
/// included files start at the folder of the topology.
pub type TopologyReader = fn(&Path, &[u8], &TopologyOptions) -> Parsed<Description>;

/// Function that reads coordinates from unpacked bytes. If the file states only the edges of the box, the box gets the
/// given angle (degrees).
pub type CoordinatesReader = fn(&[u8], Option<f64>) -> Parsed<Coordinates>;

/// Topology formats. A file is read with the first format in this table that recognises the file.
pub const TOPOLOGIES: &[Format<TopologyReader>] = &[
    Format { name: "AMBER topology (prmtop, parm7)", recognises: prmtop::is_topology, read: prmtop::read },
    Format { name: "GROMACS topology (top)", recognises: gromacs::is_topology, read: gromacs::read_topology },
    Format { name: "CHARMM topology (psf)", recognises: charmm::is_psf, read: charmm::read },
    Format { name: "OpenMM system (XML)", recognises: openmm::is_system, read: openmm::read },
    Format { name: "CHARMM residues (rtf, str)", recognises: charmm::is_residues, read: charmm::read_residues },
];

/// Returns the position restraints of a GROMACS topology, with the macros in `options` defined. The result is empty
/// for a topology in another format.
pub fn read_position_restraints(path: &Path, options: &TopologyOptions) -> Result<Vec<gromacs::AtomRestraint>> {
    let bytes = super::read(path)?;
    if !gromacs::is_topology(&bytes) {
        return Ok(vec![]);
    }
    Ok(gromacs::read_position_restraints(path, &bytes, options)?)
}

/// A topology in the form of a file.
pub struct WrittenTopology {
    /// contents of the file
    pub text: String,
    /// sentences about names and numbers that the file does not contain, or contains in another form
    pub losses: Vec<String>,
}

/// Function that writes a topology. If the format states the cell, the function needs the cell of the coordinates. If
/// the format cannot express a term exactly, the error names the term.
pub type TopologyWriter = fn(&Description, Option<&PeriodicCell>) -> Parsed<WrittenTopology>;

/// A topology format that can be written.
pub struct WritableTopology {
    /// name of the format in messages
    pub name: &'static str,
    /// endings of the file names of this format
    pub endings: &'static [&'static str],
    /// whether a topology in this format states the cell
    pub states_cell: bool,
    /// function that writes a topology in this format
    pub write: TopologyWriter,
}

/// Table of the topology formats that can be written, with one row for each format.
pub const WRITABLE_TOPOLOGIES: &[WritableTopology] = &[
    WritableTopology { name: "AMBER topology", endings: &["prmtop", "parm7"], states_cell: true, write: prmtop::write },
    WritableTopology {
        name: "GROMACS topology",
        endings: &["top"],
        states_cell: false,
        write: |description, _| gromacs::write_topology(description),
    },
];

/// Returns the topology format that the ending of `path` names. Returns `None` if md writes no format with this
/// ending.
pub fn writable_topology(path: &Path) -> Option<&'static WritableTopology> {
    let ending = path.extension()?.to_str()?;
    WRITABLE_TOPOLOGIES.iter().find(|format| format.endings.contains(&ending))
}

/// Coordinate formats. A file is read with the first format in this table that recognises the file. AMBER coordinates
/// as text come last, because such a file begins with an arbitrary title.
pub const COORDINATES: &[Format<CoordinatesReader>] = &[
    Format {
        name: "AMBER coordinates (NetCDF restart)",
        recognises: |bytes| bytes.starts_with(b"CDF"),
        read: |bytes, _| netcdf::read_restart(bytes),
    },
    Format {
        name: "GROMACS coordinates (gro)",
        recognises: gromacs::is_gro,
        read: |bytes, _| gromacs::read_gro(bytes),
    },
    Format {
        name: "GROMOS-96 coordinates (g96)",
        recognises: gromacs::is_g96,
        read: |bytes, _| gromacs::read_g96(bytes),
    },
    Format { name: "PDB", recognises: pdb::is_pdb, read: |bytes, _| pdb::read_structure(bytes) },
    Format { name: "PDBx/mmCIF (cif)", recognises: mmcif::is_mmcif, read: |bytes, _| mmcif::read(bytes) },
    Format { name: "CHARMM coordinates (crd)", recognises: charmm::is_card, read: |bytes, _| charmm::read_card(bytes) },
    Format { name: "OpenMM state (XML)", recognises: openmm::is_state, read: |bytes, _| openmm::read_state(bytes) },
    Format { name: "AMBER coordinates (rst7, inpcrd)", recognises: restart::is_text, read: restart::read_text },
];

/// Function that reads all models of a coordinate file.
type ModelsReader = fn(&[u8]) -> Parsed<Vec<Coordinates>>;

/// Name of each coordinate format that can hold several models, and the function that reads all models.
pub const MODELS: [(&str, ModelsReader); 2] = [("PDB", pdb::read_models), ("PDBx/mmCIF (cif)", mmcif::read_models)];

/// Advice on an OpenMM state that is given as a topology.
const OF_STATE: &str = "give the State as coordinates, and a System as topology: XmlSerializer.serialize(system)";

/// Returns the format of a file with these unpacked bytes. If the format is unknown, the error lists the formats in
/// the table, or says what to do with a file of another program. `what` names the kind of file in the error.
pub fn recognise<R>(formats: &'static [Format<R>], what: &str, bytes: &[u8]) -> Parsed<&'static Format<R>> {
    if let Some(problem) = foreign(bytes) {
        return Err(problem);
    }
    formats.iter().find(|format| (format.recognises)(bytes)).ok_or_else(|| {
        if openmm::is_state(bytes) {
            return Problem::new("expected a <System> of OpenMM, found a <State>").help(OF_STATE);
        }
        let names: Vec<&str> = formats.iter().map(|format| format.name).collect();
        let problem = Problem::new(format!("unknown format of a {what} file")).at_line(1);
        problem.help(format!("known formats: {}", names.join(", ")))
    })
}

/// Returns the name of the topology or coordinate format of a file with these unpacked bytes. AMBER coordinates as text
/// are not recognised, because an arbitrary text may resemble AMBER coordinates.
pub fn recognised(bytes: &[u8]) -> Option<&'static str> {
    let topologies = TOPOLOGIES.iter().filter(|format| (format.recognises)(bytes)).map(|format| format.name);
    let coordinates = COORDINATES[..COORDINATES.len() - 1].iter();
    topologies.chain(coordinates.filter(|format| (format.recognises)(bytes)).map(|format| format.name)).next()
}

/// Reads a topology of any known format, compressed or not. The format is recognised by the contents. The error is a
/// [`Problem`] that names file and line.
pub fn read_topology(path: &Path) -> Result<Description> {
    read_topology_with(path, &TopologyOptions::default())
}

/// Reads a topology like [`read_topology`], with include folders, macros and parameter files.
pub fn read_topology_with(path: &Path, options: &TopologyOptions) -> Result<Description> {
    let bytes = super::read(path)?;
    let format = recognise(TOPOLOGIES, "topology", &bytes).map_err(|problem| problem.in_file(path))?;
    Ok((format.read)(path, &bytes, options)?)
}

/// Reads a coordinate file of any known format, compressed or not. The format is recognised by the contents.
///
/// `expected_atoms` is the number of atoms in the topology, if there is one. If the file states only the edges of the
/// box, as old files do, the box gets the angle `box_angle` (degrees); see [`crate::system::CellHint::angle_degrees`].
/// The error is a [`Problem`] that names file and line.
pub fn read_coordinates(path: &Path, expected_atoms: Option<usize>, box_angle: Option<f64>) -> Result<Coordinates> {
    let bytes = super::read(path)?;
    let coordinates = recognise(COORDINATES, "coordinate", &bytes).and_then(|format| (format.read)(&bytes, box_angle));
    let coordinates = coordinates.and_then(|coordinates| of_topology(coordinates, expected_atoms));
    Ok(coordinates.map_err(|problem| problem.in_file(path))?)
}

/// Reads all models of a coordinate file, in the same way as [`read_coordinates`]. There is at least one model, and
/// all models have the same number of atoms.
pub fn read_models(path: &Path, expected_atoms: Option<usize>) -> Result<Vec<Coordinates>> {
    let bytes = super::read(path)?;
    let models = recognise(COORDINATES, "coordinate", &bytes).and_then(|format| {
        match MODELS.into_iter().find(|(name, _)| *name == format.name) {
            Some((_, read)) => read(&bytes),
            None => (format.read)(&bytes, None).map(|only| vec![only]),
        }
    });
    let models = models
        .and_then(|models| models.into_iter().map(|model| of_topology(model, expected_atoms)).collect::<Parsed<_>>());
    Ok(models.map_err(|problem| problem.in_file(path))?)
}

/// Returns the coordinates. Returns an error if the number of atoms in the coordinates differs from `expected_atoms`.
fn of_topology(coordinates: Coordinates, expected_atoms: Option<usize>) -> Parsed<Coordinates> {
    let found = coordinates.positions.len();
    match expected_atoms.filter(|&expected| expected != found) {
        Some(expected) => {
            Err(Problem::new(format!("the coordinates have {found} atoms, but the topology has {expected}"))
                .help("topology and coordinates must belong together"))
        }
        None => Ok(coordinates),
    }
}
