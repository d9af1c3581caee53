//! The known formats of topologies and coordinates: one row each. Files are told apart by their content, not their name.

use std::path::{Path, PathBuf};

use super::coordinates::Coordinates;
use super::{charmm, gromacs, mmcif, netcdf, openmm, pdb, prmtop, restart};
use crate::cell::PeriodicCell;
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

/// What a topology is read with in addition to its file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TopologyOptions {
    /// folders in which files are looked for that it includes (GROMACS), after its own
    pub include: Vec<PathBuf>,
    /// macros of its preprocessor (GROMACS), `NAME` or `NAME=text`
    pub define: Vec<String>,
    /// files of parameters (CHARMM), in their order
    pub parameters: Vec<PathBuf>,
    /// atoms of the coordinates that go with it, where they are known: a file that says how many copies of a molecule there
    /// are (GROMACS) is believed in no other number, before they are made
    pub atoms: Option<usize>,
}

impl TopologyOptions {
    /// Refuses macros or parameters for a format that has no use for them; `used` are the keys that it has a use for.
    fn are_used(&self, used: &[&str], path: &Path) -> Parsed<()> {
        let given = [("define", !self.define.is_empty()), ("parameters", !self.parameters.is_empty())];
        match given.into_iter().find(|(key, is_given)| *is_given && !used.contains(key)) {
            Some((key, _)) => {
                let problem = Problem::new(format!("system.{key} has no effect on this topology"));
                Err(problem
                    .in_file(path)
                    .help("remove it: macros are for GROMACS, files of parameters for CHARMM topologies"))
            }
            None => Ok(()),
        }
    }
}

/// Reads the unpacked bytes of the topology at a path, which names the file in messages; other files that it includes are
/// looked for from there.
pub type TopologyReader = fn(&Path, &[u8], &TopologyOptions) -> Parsed<Description>;

/// Reads unpacked coordinates; an angle (degrees) completes a box given by its edges only.
pub type CoordinatesReader = fn(&[u8], Option<f64>) -> Parsed<Coordinates>;

/// Topologies; the first row that recognises a file reads it.
pub const TOPOLOGIES: &[Format<TopologyReader>] = &[
    Format {
        name: "AMBER topology (prmtop, parm7)",
        recognises: |bytes| ["%VERSION", "%FLAG", "%COMMENT"].iter().any(|word| bytes.starts_with(word.as_bytes())),
        read: |path, bytes, options| options.are_used(&[], path).and_then(|()| prmtop::read(path, bytes)),
    },
    Format {
        name: "GROMACS topology (top)",
        recognises: gromacs::is_topology,
        read: |path, bytes, options| {
            options.are_used(&["define"], path)?;
            gromacs::read_topology(path, bytes, options)
        },
    },
    Format {
        name: "CHARMM topology (psf)",
        recognises: charmm::is_psf,
        read: |path, bytes, options| {
            options.are_used(&["parameters"], path)?;
            charmm::read(path, bytes, options)
        },
    },
    Format {
        name: "OpenMM system (XML)",
        recognises: openmm::is_system,
        read: |path, bytes, options| options.are_used(&[], path).and_then(|()| openmm::read(path, bytes)),
    },
];

/// Position restraints that a GROMACS topology has under the macros of `options`; none of a topology in another format.
pub fn read_position_restraints(path: &Path, options: &TopologyOptions) -> Result<Vec<gromacs::AtomRestraint>> {
    let bytes = super::read(path)?;
    if !gromacs::is_topology(&bytes) {
        return Ok(vec![]);
    }
    Ok(gromacs::read_position_restraints(path, &bytes, options)?)
}

/// Makes the text of a topology, with the cell of its coordinates if the format states it. Refuses what the format cannot
/// express exactly, with the term.
pub type TopologyWriter = fn(&Description, Option<&PeriodicCell>) -> Parsed<String>;

/// A format that topologies are written in.
pub struct WritableTopology {
    /// name in messages
    pub name: &'static str,
    /// what names of files end in
    pub endings: &'static [&'static str],
    /// whether it states the cell
    pub states_cell: bool,
    /// the writer
    pub write: TopologyWriter,
}

/// Formats that topologies are written in.
pub const WRITABLE_TOPOLOGIES: &[WritableTopology] = &[
    WritableTopology { name: "AMBER topology", endings: &["prmtop", "parm7"], states_cell: true, write: prmtop::write },
    WritableTopology {
        name: "GROMACS topology",
        endings: &["top"],
        states_cell: false,
        write: |description, _| gromacs::write_topology(description),
    },
];

/// The format of a topology that is to be written, by the ending of its name.
pub fn writable_topology(path: &Path) -> Option<&'static WritableTopology> {
    let ending = path.extension()?.to_str()?;
    WRITABLE_TOPOLOGIES.iter().find(|format| format.endings.contains(&ending))
}

/// Coordinates; the first row that recognises a file reads it. AMBER text, which begins with any title, comes last.
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
    Format { name: "AMBER coordinates (rst7, inpcrd)", recognises: restart::is_text, read: restart::read_text },
];

/// Reads all models of a file.
type ModelsReader = fn(&[u8]) -> Parsed<Vec<Coordinates>>;

/// Readers of all models of the coordinate formats that hold several, by name.
pub const MODELS: [(&str, ModelsReader); 2] = [("PDB", pdb::read_models), ("PDBx/mmCIF (cif)", mmcif::read_models)];

/// What stands for a run input file of GROMACS.
const OF_RUN_INPUT: &str = "take the topology (top) that grompp read, and for trajectories also a structure: \
                            gmx editconf -f run.tpr -o run.gro";

/// Whether the bytes are of a run input file of GROMACS (tpr): a text `VERSION …`, behind one or two lengths in XDR.
fn is_run_input(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0, 0, 0])
        && [4, 8].iter().any(|&at| bytes.get(at..).is_some_and(|text| text.starts_with(b"VERSION")))
}

/// The format of a file by its unpacked bytes. The problem where there is none lists those of the table, and names what they
/// are formats of.
pub fn recognise<R>(formats: &'static [Format<R>], what: &str, bytes: &[u8]) -> Parsed<&'static Format<R>> {
    formats.iter().find(|format| (format.recognises)(bytes)).ok_or_else(|| {
        if is_run_input(bytes) {
            return Problem::new("a run input file of GROMACS (tpr), which md does not read").help(OF_RUN_INPUT);
        }
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

/// [`read_topology`] with a search path of included files, macros, and files of parameters.
pub fn read_topology_with(path: &Path, options: &TopologyOptions) -> Result<Description> {
    let bytes = super::read(path)?;
    let format = recognise(TOPOLOGIES, "topology", &bytes).map_err(|problem| problem.in_file(path))?;
    Ok((format.read)(path, &bytes, options)?)
}
