//! Trajectories: frames of a system, one after the other, in files of several formats.
//!
//! A [`Format`] is a row of [`FORMATS`]: its name, what it can hold, and how its files are made and read. For writing
//! it is chosen by the extension of the file's name ([`Format::of_name`]), for reading by the first bytes of the file
//! ([`Format::of_file`]). A [`FrameSink`] writes the frames of one file, a [`FrameSource`] reads them; both are independent
//! of the format. To add one: its module, and its row here.
//!
//! | format | positions | other contents | identity of the run | checksums |
//! |---|---|---|---|---|
//! | H5MD ([`h5md`]) | 32 bits, or rounded | velocities, forces, image flags, energies, topology | yes | each frame |
//! | XTC (`xtc.rs`) | rounded | | no | no |
//! | DCD (`dcd.rs`) | 32 bits | | in its title | no |
//! | TRR (`trr.rs`) | 32 bits | velocities, forces | no | no |
//! | AMBER NetCDF (`netcdf.rs`) | 32 bits | velocities, forces | in its header | no |
//! | PDB (`pdb.rs`) | rounded | names | no | no |
//!
//! A run writes positions with every molecule whole and its mean position in the cell ([`crate::image`]), all atoms or
//! some ([`Placement`]). Velocities are leapfrog velocities, half a step before the frame's time.
//!
//! ```no_run
//! use md::observe::trajectory::{StoredFrame, open};
//!
//! let mut trajectory = open("out/trajectory.h5md".as_ref())?;
//! let mut frame = StoredFrame::default();
//! for index in 0..trajectory.frames() {
//!     trajectory.read(index, &mut frame)?;
//!     println!("{} ps: first atom at {:?} nm", frame.time, frame.positions[0]);
//! }
//! # Ok::<(), md::error::Error>(())
//! ```

mod dcd;
pub mod h5md;
mod index;
mod netcdf;
mod pdb;
mod placement;
mod records;
mod trr;
mod xdr;
mod xtc;

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

pub use placement::Placement;

use super::extent::{Extent, Mark};
use crate::cell::PeriodicCell;
use crate::error::{Error, Problem, Result};
use crate::format::compressed::packing;
use crate::format::{Label, file};
use crate::system::Topology;
use crate::vec3::Vec3;

/// Every format, the default of a run first.
pub const FORMATS: [Format; 6] = [h5md::FORMAT, xtc::FORMAT, dcd::FORMAT, trr::FORMAT, netcdf::FORMAT, pdb::FORMAT];

/// File name extensions by which formats are chosen, in the order of [`FORMATS`].
pub const EXTENSIONS: [&str; FORMATS.len()] = {
    let (mut names, mut index) = ([""; FORMATS.len()], 0);
    while index < FORMATS.len() {
        names[index] = FORMATS[index].extension;
        index += 1;
    }
    names
};

static REGISTRY: [Format; FORMATS.len()] = FORMATS;

/// Bytes by which files are recognised.
const BEGINNING: u64 = 1024;

/// One format.
#[derive(Clone, Copy)]
pub struct Format {
    /// name for people
    pub name: &'static str,
    /// file name extension
    pub extension: &'static str,
    /// bytes of the position of an atom, at most
    pub atom_bytes: u64,
    /// what it can hold in addition to positions and the cell
    pub holds: Holds,
    /// its files
    pub files: &'static dyn Files,
}

/// What a format can hold in addition to positions, cells and times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Holds {
    /// velocities
    pub velocities: bool,
    /// forces
    pub forces: bool,
    /// image flags
    pub images: bool,
    /// numbers recorded with every frame
    pub observables: bool,
    /// positions in all bits of `f32`
    pub lossless: bool,
    /// positions rounded to 0.001 nm or 0.0001 nm
    pub rounded: bool,
    /// names of atoms and residues: it cannot be written without
    pub names: bool,
    /// the time of each frame; otherwise one interval for all
    pub times: bool,
}

/// Operations on the files of a format: create, continue, read, verify, repair.
pub trait Files: Sync {
    /// Whether a file with these first bytes is of this format.
    fn recognises(&self, beginning: &[u8]) -> bool;

    /// Creates `path`; refuses an existing file, unless it has no frames.
    fn create(&self, path: &Path, contents: &Contents<'_>) -> Result<Box<dyn FrameSink>>;

    /// Refuses a file that does not begin with the frames of `checkpointed`, as far as this can be checked without changing
    /// it.
    fn check(&self, path: &Path, checkpointed: Mark) -> Result<()>;

    /// Refuses a file that was begun with other settings than those of `contents`.
    fn continues(&self, path: &Path, contents: &Contents<'_>) -> Result<()>;

    /// Continues after the frames of `checkpointed` and cuts off what follows them; refuses a file that does not begin with
    /// these. Fields and precision are those of the file; `contents` provides the topology.
    fn append(&self, path: &Path, contents: &Contents<'_>, checkpointed: Mark) -> Result<Box<dyn FrameSink>>;

    /// Opens a file for reading; of a file that is being written it reads the frames so far.
    fn open(&self, path: &Path) -> Result<Box<dyn FrameSource>>;

    /// Identity of the run that wrote a file; `None` if the file does not store one.
    fn run_id(&self, path: &Path) -> Option<String>;

    /// Whether a file is closed and holds exactly `extent`.
    fn is_complete(&self, path: &Path, extent: Extent) -> bool;

    /// What a file holds.
    fn describe(&self, path: &Path) -> Result<Description>;

    /// Reads every frame, and compares it with its checksum where there are checksums.
    fn verify(&self, path: &Path) -> Result<Verification>;

    /// Makes a file whose writer was killed readable by all programs, and copies the readable frames of a damaged one to
    /// a new file in its place. Refused while a run holds the directory. A good file stays as it is.
    fn repair(&self, path: &Path) -> Result<Repair>;

    /// Other files that belong to the one of this name.
    fn companions(&self, _name: &str) -> Vec<String> {
        vec![]
    }
}

/// Writes the frames of one file. Dropping it loses no synced frame.
pub trait FrameSink: Send {
    /// Writes one frame. A frame at the step of the last one (the end of one stage is the start of the next) is the same
    /// state and not written again.
    fn write(&mut self, frame: &Frame<'_>) -> Result<()>;

    /// Waits until every frame is on disk; returns the extent for a checkpoint.
    fn sync(&mut self) -> Result<Mark>;

    /// Writes pending frames, closes the file and returns its extent.
    fn close(self: Box<Self>) -> Result<Mark>;

    /// A warning for the user about this file and the frames written so far.
    fn warning(&self) -> Option<&'static str> {
        None
    }
}

/// Reads the frames of one file, in any order.
pub trait FrameSource {
    /// Atoms in each frame.
    fn atoms(&self) -> usize;

    /// Complete frames.
    fn frames(&self) -> usize;

    /// Atoms with names, elements, masses and charges, residues and bonds, but no force field; `None` in formats that
    /// hold positions only. With it frames hold whole molecules.
    fn topology(&self) -> Option<&Topology> {
        None
    }

    /// Names and elements of all atoms where a format has these but no topology; else none.
    fn labels(&self) -> &[Label] {
        &[]
    }

    /// Atoms at alternative locations that are left out of the first frame: of each residue the first location is taken.
    fn left_out(&self) -> usize {
        0
    }

    /// Reads frame `index`, from 0, into `frame`, which can be used again and again.
    fn read(&mut self, index: usize, frame: &mut StoredFrame) -> Result<()>;
}

/// A frame as it was read, in topology order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StoredFrame {
    /// steps since the start of the run
    pub step: i64,
    /// ps
    pub time: f64,
    /// lattice, where there is one
    pub cell: Option<PeriodicCell>,
    /// nm
    pub positions: Vec<Vec3>,
    /// nm/ps; empty where the frame has none
    pub velocities: Vec<Vec3>,
    /// kJ/mol/nm; empty where the frame has none
    pub forces: Vec<Vec3>,
}

impl StoredFrame {
    /// Without cell and atoms.
    fn clear(&mut self) {
        self.cell = None;
        [&mut self.positions, &mut self.velocities, &mut self.forces].into_iter().for_each(Vec::clear);
    }

    /// Takes the cell of these lattice vectors (nm) in any orientation, and turns the frame, read before, with it. `None` if
    /// they make no cell.
    fn take_lattice(&mut self, rows: [Vec3; 3]) -> Option<()> {
        if let Some(cell) = PeriodicCell::from_rows(rows) {
            self.cell = Some(cell);
            return Some(());
        }
        let (cell, axes) = PeriodicCell::from_vectors(rows)?;
        self.cell = Some(cell);
        for vector in [&mut self.positions, &mut self.velocities, &mut self.forces].into_iter().flatten() {
            *vector = Vec3::from(axes.map(|axis| vector.dot(axis)));
        }
        Some(())
    }
}

impl Format {
    /// The format for files of this name, by its ending; a [`Problem`] names those that there are.
    pub fn of_name(name: &str) -> std::result::Result<&'static Format, Problem> {
        let extension = Path::new(name).extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        let format = find(|format| format.extension == extension);
        format.ok_or_else(|| {
            let known: Vec<String> = EXTENSIONS.iter().map(|extension| format!(".{extension}")).collect();
            let problem = Problem::new(format!("\"{name}\" has no ending by which its format is known"));
            problem.help(format!("trajectories end in {}", known.join(", ")))
        })
    }

    /// How positions are stored that may be rounded to `rounding` (nm) and no coarser; `None` for all bits of `f32`.
    /// Nothing where the format cannot.
    pub fn precision(&self, rounding: Option<f64>) -> Option<Precision> {
        let rounded = match rounding {
            // 0.1 % covers the rounding of units
            Some(step) if step > 0.999e-3 => Some(Precision::Decimals3),
            Some(step) if step > 0.999e-4 => Some(Precision::Decimals4),
            _ => None,
        };
        rounded.filter(|_| self.holds.rounded).or(self.holds.lossless.then_some(Precision::Lossless))
    }

    /// The format of a file, by how it begins; one that is still empty goes by its name.
    pub fn of_file(path: &Path) -> Result<&'static Format> {
        let mut beginning = vec![];
        let io = |error| Error::io(path, error);
        regular_file(path)?.take(BEGINNING).read_to_end(&mut beginning).map_err(io)?;
        let found = match beginning.is_empty() {
            true => path.file_name().and_then(|name| Format::of_name(&name.to_string_lossy()).ok()),
            false => find(|format| format.files.recognises(&beginning)),
        };
        found.ok_or_else(|| {
            if let Some(kind) = packing(&beginning) {
                let problem = Problem::new(format!("a file packed with {kind} is not read as a trajectory"));
                let help = "unpack it first; md convert reads packed PDB and mmCIF files";
                return problem.in_file(path).help(help).into();
            }
            let names: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
            Problem::new("not a trajectory of a format that md knows")
                .in_file(path)
                .help(format!("md reads {}", names.join(", ")))
                .into()
        })
    }
}

/// Opens a regular file for reading; pipes and devices are the user's [`Problem`].
fn regular_file(path: &Path) -> Result<File> {
    file::open(path).map_err(|error| match error.kind() {
        ErrorKind::InvalidInput => Problem::new(error.to_string()).in_file(path).into(),
        _ => Error::io(path, error),
    })
}

fn find(is_it: impl Fn(&Format) -> bool) -> Option<&'static Format> {
    REGISTRY.iter().find(|format| is_it(format))
}

/// Opens a trajectory of any format for reading.
pub fn open(path: &Path) -> Result<Box<dyn FrameSource>> {
    Format::of_file(path)?.files.open(path)
}

/// Which optional fields a trajectory holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Fields {
    /// velocities, nm/ps
    pub velocities: bool,
    /// forces, kJ/mol/nm
    pub forces: bool,
    /// lattice vectors taken off each atom to place it; only where there is a cell
    pub image: bool,
}

/// How positions are stored; velocities and forces always keep all bits of `f32`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Precision {
    /// `f32` as it is: 12 bytes an atom, cheapest to write
    Raw,
    /// `f32`, packed where the format can: every bit kept
    Lossless,
    /// multiples of 1e-3 nm: about 5 bytes an atom, error at most half of that
    #[default]
    Decimals3,
    /// multiples of 1e-4 nm: about 6 bytes an atom, error at most half of that
    Decimals4,
}

/// A quantity recorded with every frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observable {
    /// name, e.g. `potential_energy` (`potential_energy`, `kinetic_energy` and `temperature` also get MDTraj's names)
    pub name: String,
    /// H5MD unit, e.g. `kJ mol-1`; empty where there is none
    pub unit: String,
}

/// Origin of a trajectory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Provenance {
    /// identity of the run, the same in all its files
    pub run_id: String,
    /// version of this program
    pub version: String,
    /// source revision it was built from, where the build knew it
    pub commit: String,
    /// name of the computer
    pub host: String,
    /// person, if known
    pub author: String,
    /// the input file, word for word
    pub input: String,
    /// random seed
    pub seed: u64,
}

/// Everything that is fixed when a trajectory is created; a format takes what it can hold.
#[derive(Clone, Copy, Debug)]
pub struct Contents<'a> {
    /// atoms that are written, their residues and bonds
    pub topology: &'a Topology,
    /// how positions of frames become those of the file
    pub placement: Placement<'a>,
    /// whether every frame has a cell
    pub periodic: bool,
    /// optional fields
    pub fields: Fields,
    /// storage of positions
    pub precision: Precision,
    /// numbers recorded with every frame, at most about ten: each costs a flush
    pub observables: &'a [Observable],
    /// origin
    pub provenance: &'a Provenance,
    /// interval between frames, for formats that store no times
    pub spacing: Spacing,
}

/// Interval between frames.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spacing {
    /// steps from one frame to the next
    pub steps: u64,
    /// ps from one step to the next
    pub timestep: f64,
}

/// One frame of all atoms in topology order; slices the file has no field for may be empty.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// steps since the start of the run
    pub step: u64,
    /// ps
    pub time: f64,
    /// lattice; `Some` exactly if the trajectory is periodic
    pub cell: Option<PeriodicCell>,
    /// nm
    pub positions: &'a [Vec3],
    /// nm/ps, half a step before `time`
    pub velocities: &'a [Vec3],
    /// kJ/mol/nm
    pub forces: &'a [Vec3],
    /// in the order of [`Contents::observables`]
    pub observables: &'a [f64],
}

/// What a file holds, in words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Description {
    /// the kind of file
    pub title: String,
    /// what there is, and how much
    pub lines: Vec<(&'static str, String)>,
}

/// What an examination of a trajectory found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verification {
    /// number of frames
    pub frames: u64,
    /// those that cannot be read or are not what was written, and why
    pub bad: Vec<(u64, String)>,
    /// false for files without checksums: then a frame is good if it can be read
    pub checksums: bool,
}

/// What a repair did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Repair {
    /// frames in the file as it is now
    pub frames: u64,
    /// frames that could not be saved, numbered as in the damaged file
    pub lost: Vec<u64>,
    /// where the damaged file is kept; `None` where the file was good, or only not closed
    pub backup: Option<PathBuf>,
}

/// `trajectory.h5md.bak`, or with a number if that is there: where a damaged file is kept.
fn unused_backup(path: &Path) -> PathBuf {
    let named = |number: usize| {
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(if number == 0 { ".bak".to_owned() } else { format!(".bak{number}") });
        path.with_file_name(name)
    };
    (0..).map(named).find(|backup| !backup.exists()).unwrap_or_else(|| named(0))
}

/// A trajectory that exists already is never overwritten.
fn exists_already(path: &Path) -> Error {
    Problem::new("the trajectory exists already")
        .in_file(path)
        .help("continue the run it belongs to, or use --force to move the old output aside")
        .into()
}

/// A file that does not begin with the frames that a checkpoint stores.
fn not_as_checkpointed(path: &Path, what: String) -> Error {
    let help = "the file was changed or replaced since; restore it, or use --force to start anew";
    Problem::new(what).in_file(path).help(help).into()
}
