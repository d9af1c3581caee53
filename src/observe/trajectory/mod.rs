//! Trajectories: sequences of frames of a system, in files of several formats.
//!
//! Each format has an entry in [`FORMATS`]. The entry ([`Format`]) gives the name of the format, the data that the
//! format can store, and the functions that write and read its files. Files are written in the format given by the
//! extension of their name ([`Format::of_name`]), and read in the format recognised from their first bytes
//! ([`Format::of_file`]). A [`FrameSink`] writes the frames of one file of any format, and a [`FrameSource`] reads
//! them, one by one or in batches. A [`Chain`] reads several files one after the other. A new format needs a module and
//! an entry in [`FORMATS`].
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
//! A run writes all atoms or a selection. Every molecule is whole, and its mean position is in the cell
//! ([`crate::image`], [`Placement`]). The velocities of a frame are leapfrog velocities, which belong to half a step
//! before the time of the frame.
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

mod batch;
mod chain;
mod compressed;
mod contents;
mod dcd;
pub mod h5md;
mod index;
mod netcdf;
mod pdb;
mod placement;
mod records;
mod refusal;
mod salvage;
mod stored;
mod trr;
mod xdr;
mod xtc;

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;

pub use chain::{Chain, doubtful_times};
pub use compressed::refuse_compressed;
pub use contents::{Contents, Observable, Provenance, Spacing};
pub use placement::Placement;
pub use salvage::{Repair, Verification};
pub use stored::StoredFrame;

use super::energies::TABLE_START;
use super::extent::{Extent, Mark};
use crate::cell::PeriodicCell;
use crate::error::{Error, Problem, Result};
use crate::format::compressed::{missing, packing};
use crate::format::foreign::foreign;
use crate::format::{Label, file};
use crate::system::Topology;
use crate::vec3::{Vec3, vec3};

/// All trajectory formats; the first format is the default format of a run.
pub const FORMATS: [Format; 6] = [h5md::FORMAT, xtc::FORMAT, dcd::FORMAT, trr::FORMAT, netcdf::FORMAT, pdb::FORMAT];

/// File name extensions of all formats, in the order of [`FORMATS`].
pub const EXTENSIONS: [&str; FORMATS.len()] = {
    let (mut names, mut index) = ([""; FORMATS.len()], 0);
    while index < FORMATS.len() {
        names[index] = FORMATS[index].extension;
        index += 1;
    }
    names
};

static REGISTRY: [Format; FORMATS.len()] = FORMATS;

/// Number of bytes at the beginning of a file from which its format is recognised.
const BEGINNING: u64 = 1024;

/// Description of a trajectory format.
#[derive(Clone, Copy)]
pub struct Format {
    /// name of the format, shown to users
    pub name: &'static str,
    /// file name extension of the format
    pub extension: &'static str,
    /// maximum number of bytes in which the format stores the position of an atom
    pub atom_bytes: u64,
    /// maximum number of bytes of a frame in addition to the values of its atoms
    pub frame_bytes: u64,
    /// data that the format can store in addition to positions and the cell
    pub holds: Holds,
    /// operations on files of this format
    pub files: &'static dyn Files,
}

/// Data that a format can store in addition to positions and cells, and how it stores positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Holds {
    /// whether the format can store velocities
    pub velocities: bool,
    /// whether the format can store forces
    pub forces: bool,
    /// whether the format can store image flags: for each atom, the numbers of lattice vectors that were subtracted
    /// from its position
    pub images: bool,
    /// whether the format can store observables, numbers that are recorded with every frame
    pub observables: bool,
    /// whether the format can store positions with all bits of `f32`
    pub lossless: bool,
    /// whether the format can store positions rounded to 0.001 nm or 0.0001 nm
    pub rounded: bool,
    /// whether the format requires names of atoms and residues
    pub names: bool,
    /// whether the format stores the time of each frame; false if the format stores one interval for all frames
    pub times: bool,
}

impl Holds {
    /// Data of a format that stores only the positions, the cell and the time of each frame. Each format starts from
    /// this constant and sets further fields.
    const POSITIONS: Self = Holds {
        velocities: false,
        forces: false,
        images: false,
        observables: false,
        lossless: false,
        rounded: false,
        names: false,
        times: true,
    };
}

/// Operations on the files of a format: create, continue, read, verify, repair.
pub trait Files: Sync {
    /// Whether a file that begins with these bytes has this format.
    fn recognises(&self, beginning: &[u8]) -> bool;

    /// Creates a file at `path`. Returns an error if there is already a file with frames.
    fn create(&self, path: &Path, contents: &Contents<'_>) -> Result<Box<dyn FrameSink>>;

    /// Returns an error if a file does not begin with the frames whose number and checksum are in `checkpointed`.
    /// Checks that could change the file are made only in [`Self::append`].
    fn check(&self, path: &Path, checkpointed: Mark) -> Result<()>;

    /// Returns an error if the file was created with settings that differ from `contents`.
    fn continues(&self, path: &Path, contents: &Contents<'_>) -> Result<()>;

    /// Opens a file to continue it after the frames whose number and checksum are in `checkpointed`, and removes later
    /// frames. Returns an error if the file does not begin with the checkpointed frames. The appended frames have the
    /// fields and the precision of the file; `contents` provides the topology.
    fn append(&self, path: &Path, contents: &Contents<'_>, checkpointed: Mark) -> Result<Box<dyn FrameSink>>;

    /// Opens a file for reading. If a run is writing to the file, all complete frames can be read.
    fn open(&self, path: &Path) -> Result<Box<dyn FrameSource>>;

    /// Returns the identifier of the run that wrote a file; `None` if the file does not store the identifier.
    fn run_id(&self, path: &Path) -> Option<String>;

    /// Whether a file is closed, and the number and checksum of its frames agree with `extent`.
    fn is_complete(&self, path: &Path, extent: Extent) -> bool;

    /// Describes the contents of a trajectory file in words.
    fn describe(&self, path: &Path) -> Result<Description>;

    /// Reads every frame of a file, and compares each frame with its checksum if the file has checksums.
    fn verify(&self, path: &Path) -> Result<Verification>;

    /// Repairs a file whose writer was killed, so that all programs can read the file. For a damaged file, copies the
    /// readable frames to a new file, which replaces the damaged file. Returns an error while a run locks the
    /// directory. An intact file stays unchanged.
    fn repair(&self, path: &Path) -> Result<Repair>;

    /// Returns the maximum number of bytes that a file of all atoms of `_topology` has in addition to its frames.
    fn header_bytes(&self, _topology: &Topology) -> u64 {
        2048
    }

    /// Returns the names of other files, such as links or journals, that belong to the trajectory file `_name`.
    fn companions(&self, _name: &str) -> Vec<String> {
        vec![]
    }
}

/// Writer of the frames of one file. If the writer is dropped without being closed, frames that were synced are kept.
pub trait FrameSink: Send {
    /// Writes one frame, unless the last frame has the same step number. The last state of a stage is also the first
    /// state of the next stage, has the same step number in both stages, and is written only once.
    fn write(&mut self, frame: &Frame<'_>) -> Result<()>;

    /// Waits until every frame is on disk. Returns the number and checksum of the frames and the last step, for a
    /// checkpoint.
    fn sync(&mut self) -> Result<Mark>;

    /// Writes pending frames and closes the file. Returns the number and checksum of the frames and the last step.
    fn close(self: Box<Self>) -> Result<Mark>;

    /// Returns a warning for the user about this file and the frames written to it; `None` if there is nothing to warn
    /// of.
    fn warning(&self) -> Option<&'static str> {
        None
    }
}

/// Reader of the frames of a trajectory, in any order.
pub trait FrameSource: Send {
    /// Returns the number of atoms in each frame.
    fn atoms(&self) -> usize;

    /// Returns the number of complete frames.
    fn frames(&self) -> usize;

    /// Returns the topology: atoms with names, elements, masses and charges, residues and bonds, but no force field.
    /// Returns `None` for formats that do not store a topology. If there is a topology, molecules are whole in all
    /// frames.
    fn topology(&self) -> Option<&Topology> {
        None
    }

    /// Returns names and elements of all atoms. The list is empty if the format has no names, or if [`Self::topology`]
    /// returns a topology.
    fn labels(&self) -> &[Label] {
        &[]
    }

    /// Returns the number of atoms that are left out of the first frame because they are at alternative locations. In
    /// each residue, only the atoms at the first alternative location are read.
    fn left_out(&self) -> usize {
        0
    }

    /// Returns the index of the first frame of each run, in ascending order, if the trajectory has frames of separate
    /// runs.
    fn run_starts(&self) -> Vec<usize> {
        vec![]
    }

    /// Whether the file gives the times of its frames. If the file gives no times, the time of a frame is the index of
    /// the frame, or follows from [`Self::doubtful_interval`].
    fn has_times(&self) -> bool {
        true
    }

    /// Returns the interval (ps) between frames in a header whose writer may not have known the times.
    fn doubtful_interval(&self) -> Option<f64> {
        None
    }

    /// Whether the cell is the unit cell of a crystal instead of a simulation cell. The symmetry of the crystal puts
    /// further copies of the atoms into the cell.
    fn is_crystal(&self) -> bool {
        false
    }

    /// Returns the rounding step (nm) of the positions, the smallest of all frames. Returns `None` if the positions are
    /// not rounded, or if the step is unknown.
    fn resolution(&self) -> Option<f64> {
        None
    }

    /// Returns the number of records that are skipped because they have no positions.
    fn skipped(&self) -> u64 {
        0
    }

    /// Returns the data that the file stores with every frame, but [`Self::read`] does not return.
    fn unread(&self) -> Unread {
        Unread::default()
    }

    /// Whether the cell of the first frame has other lattice vectors than the file, which span the same lattice.
    fn has_other_vectors(&self) -> bool {
        false
    }

    /// Describes an incomplete end of the file, which is left out; `None` if the file ends with a complete frame.
    fn cut_off(&self) -> Option<String> {
        None
    }

    /// Returns warnings for the user about the frames that are left out, and about the times of the frames that have
    /// been read up to now. New warnings are added at the end.
    fn warnings(&self) -> Vec<String> {
        self.cut_off().into_iter().collect()
    }

    /// Requests that later calls read only the first `_atoms` atoms of a frame. A format that must read whole frames
    /// ignores the request.
    fn limit(&mut self, _atoms: usize) {}

    /// Reads the frame with the 0-based index `index` into `frame`, and reuses the memory of `frame`.
    fn read(&mut self, index: usize, frame: &mut StoredFrame) -> Result<()>;

    /// Reads the frames with the indices `indices` into `frames`. Both slices have the same length. A format whose
    /// frames can be decoded independently decodes them on all threads of the current pool.
    fn read_batch(&mut self, indices: &[usize], frames: &mut [StoredFrame]) -> Result<()> {
        indices.iter().zip(frames).try_for_each(|(&index, frame)| self.read(index, frame))
    }
}

impl Format {
    /// Returns an upper bound of the size in bytes of a file of `frames` frames, whose atoms are those of `topology`.
    /// Each atom of a frame has `vectors` vectors in addition to its position, such as velocities.
    pub fn most_bytes(&self, topology: &Topology, frames: u64, vectors: u64) -> f64 {
        let atom = self.atom_bytes + vectors * size_of::<[f32; 3]>() as u64;
        let frame = self.frame_bytes + topology.atoms.len() as u64 * atom;
        self.files.header_bytes(topology) as f64 + frames as f64 * frame as f64
    }

    /// Returns the format for the file name extension of `name`. The [`Problem`] lists all known extensions.
    pub fn of_name(name: &str) -> std::result::Result<&'static Format, Problem> {
        let extension = Path::new(name).extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        let format = find(|format| format.extension == extension);
        format.ok_or_else(|| {
            let known: Vec<String> = EXTENSIONS.iter().map(|extension| format!(".{extension}")).collect();
            let problem = Problem::new(format!("\"{name}\" has no known file name extension"));
            problem.help(format!("the extensions of trajectories are {}", known.join(", ")))
        })
    }

    /// Returns the coarsest precision with which this format can store positions with a rounding step of at most
    /// `rounding` (nm). Without `rounding`, returns the precision that keeps all bits of `f32`. Returns `None` if the
    /// format cannot store positions with this precision.
    pub fn precision(&self, rounding: Option<f64>) -> Option<Precision> {
        let rounded = match rounding {
            // the margin of 0.1 % covers rounding errors of unit conversions
            Some(step) if step > 0.999e-3 => Some(Precision::Decimals3),
            Some(step) if step > 0.999e-4 => Some(Precision::Decimals4),
            _ => None,
        };
        rounded.filter(|_| self.holds.rounded).or(self.holds.lossless.then_some(Precision::Lossless))
    }

    /// Returns the format of the file at `path`, recognised from its first bytes, or from its name if the file is empty
    /// or begins with zeros, as it may after a crash of the machine.
    pub fn of_file(path: &Path) -> Result<&'static Format> {
        let mut beginning = vec![];
        let io = |error| Error::io(path, error);
        regular_file(path)?.take(BEGINNING).read_to_end(&mut beginning).map_err(io)?;
        let found = match beginning.iter().all(|byte| *byte == 0) {
            true => path.file_name().and_then(|name| Format::of_name(&name.to_string_lossy()).ok()),
            false => find(|format| format.files.recognises(&beginning)),
        };
        found.ok_or_else(|| {
            if let Some(kind) = packing(&beginning) {
                return compressed::problem(kind, path).into();
            }
            if let Some(problem) = foreign(&beginning) {
                return problem.in_file(path).into();
            }
            if beginning.starts_with(TABLE_START.as_bytes()) {
                let problem = Problem::new("the file is a table of a run, not a trajectory").in_file(path);
                return problem.help("`md info` describes the table; `md analyze energies` computes averages").into();
            }
            let names: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
            Problem::new("unknown format of a trajectory")
                .in_file(path)
                .help(format!("md reads {}; convert structures first with `md convert`", names.join(", ")))
                .into()
        })
    }
}

/// Converts vectors from `f32` to `f64` and appends them. The three components are converted one by one, because the
/// compiler may not inline `map` of an array.
fn widen(vectors: &[[f32; 3]], widened: &mut Vec<Vec3>) {
    widened.extend(vectors.iter().map(|&[x, y, z]| vec3(x.into(), y.into(), z.into())));
}

/// Opens a regular file for reading. Returns a [`Problem`] for the user if there is no such file, or if the file is a
/// pipe or a device.
fn regular_file(path: &Path) -> Result<File> {
    file::open(path).map_err(|error| match error.kind() {
        ErrorKind::NotFound => missing(path).into(),
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

/// Data that a file stores with every frame, but that are not read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unread {
    /// whether the file stores image flags
    pub images: bool,
    /// whether the file stores observables
    pub observables: bool,
}

/// Optional fields that the frames of a trajectory have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Fields {
    /// whether frames have velocities, nm/ps
    pub velocities: bool,
    /// whether frames have forces, kJ/mol/nm
    pub forces: bool,
    /// whether frames have image flags: for each atom, the numbers of lattice vectors that were subtracted from its
    /// position to make molecules whole; false if there is no cell
    pub image: bool,
}

/// Storage of positions in a trajectory. Velocities and forces always keep all bits of `f32`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Precision {
    /// uncompressed `f32`: 12 bytes per atom, cheapest to write
    Raw,
    /// all bits of `f32`, compressed if the format supports compression
    Lossless,
    /// multiples of 1e-3 nm: about 5 bytes per atom, error of each coordinate at most 0.5e-3 nm
    #[default]
    Decimals3,
    /// multiples of 1e-4 nm: about 6 bytes per atom, error of each coordinate at most 0.5e-4 nm
    Decimals4,
}

/// Frame to write, with all atoms in topology order. A field that the trajectory does not store may be an empty slice.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// number of steps since the start of the run
    pub step: u64,
    /// simulated time, ps
    pub time: f64,
    /// unit cell; must be `Some` if the trajectory is periodic, and `None` otherwise
    pub cell: Option<PeriodicCell>,
    /// positions, nm
    pub positions: &'a [Vec3],
    /// velocities, nm/ps, half a step before `time`
    pub velocities: &'a [Vec3],
    /// forces, kJ/mol/nm
    pub forces: &'a [Vec3],
    /// values of the observables, in the order of [`Contents::observables`] and in their units
    pub observables: &'a [f64],
}

/// Description of the contents of a file, in words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Description {
    /// kind of the file, in words
    pub title: String,
    /// names and values of the properties of the file
    pub lines: Vec<(&'static str, String)>,
}
