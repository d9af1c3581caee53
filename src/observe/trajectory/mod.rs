//! The trajectory: one HDF5 file that is both H5MD 1.1 and MDTraj-HDF5.
//!
//! ```text
//! /particles/trajectory (= /particles/system)      H5MD; the second name is the one GROMACS uses
//!     box/edges  position  velocity  force  image  each {value, step, time}, steps and times shared
//!     species mass charge id                       static
//! /observables/NAME/{value, step, time}            numbers at the same frames
//! /connectivity/bonds                              pairs of atoms, 0-based
//! /coordinates /time /velocities /cell_lengths /cell_angles /topology /potentialEnergy …   MDTraj, hard links
//! /parameters/{run_id, input, seed, version, commit, host} how it was made
//! /md/checksum                                     CRC-32 of the stored bytes of each frame and all before it
//! ```
//!
//! Positions are written with every molecule whole and its mean position in the cell ([`WholeMolecules`]); with
//! [`Fields::image`] the lattice vectors taken off are kept, so that the engine's continuous path can be restored.
//! Velocities are leapfrog velocities, half a step before the frame's time, and carry an attribute that says so.
//!
//! Two invariants. **Every frame that was flushed can be read after a kill**: each dataset is extended, written and
//! flushed in a fixed order, positions last of those that others read, then the checksum; a frame counts when all have
//! it. The file needs [`repair`] (48 bytes of its header) before plain readers take it; [`TrajectoryWriter::append`]
//! does that by itself. **Every frame that a checkpoint counts is there after a loss of power**: at each sync a journal
//! beside the file keeps what later frames change in place, and appending begins with restoring it (`journal.rs`).
//! Local file systems only: on NFS the order of writes is not promised.
//!
//! Start reading at [`TrajectoryWriter`]; the layout is made in `layout.rs`, the frames in `datasets.rs`, and
//! [`TrajectoryReader`] gives both back. [`verify`] compares every frame with its checksum, [`repair`] saves the good
//! ones of a damaged file.

mod datasets;
mod hdf;
mod info;
mod journal;
mod layout;
mod names;
mod reader;
mod salvage;
mod series;
mod superblock;
mod whole;
mod writer;

pub use info::{TrajectoryInfo, info};
pub use reader::TrajectoryReader;
pub use salvage::{Repaired, Verification, repair, verify};
pub use whole::WholeMolecules;
pub use writer::TrajectoryWriter;

use crate::cell::PeriodicCell;
use crate::system::Topology;
use crate::vec3::Vec3;

/// What beside positions a trajectory holds.
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
    /// `f32`, shuffled and deflated: about a fifth smaller, every bit kept
    Lossless,
    /// multiples of 1e-3 nm, like XTC: about 5 bytes an atom, error at most half of that
    #[default]
    Decimals3,
    /// multiples of 1e-4 nm: about 6 bytes an atom, error at most half of that
    Decimals4,
}

/// A number recorded with every frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observable {
    /// name, e.g. `potential_energy` (`potential_energy`, `kinetic_energy` and `temperature` also get MDTraj's names)
    pub name: String,
    /// H5MD unit, e.g. `kJ mol-1`; empty where there is none
    pub unit: String,
}

/// How a trajectory came to be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Provenance {
    /// identity of the run, the same in all its files
    pub run_id: String,
    /// version of this program
    pub version: String,
    /// source revision it was built from
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

/// Everything that is fixed when a trajectory is created.
#[derive(Clone, Copy, Debug)]
pub struct Contents<'a> {
    /// atoms, residues, bonds
    pub topology: &'a Topology,
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
}

/// One frame in topology order; slices the file has no field for may be empty.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// steps since the start of the run
    pub step: u64,
    /// ps
    pub time: f64,
    /// lattice; `Some` exactly if the trajectory is periodic
    pub cell: Option<PeriodicCell>,
    /// nm, unwrapped
    pub positions: &'a [Vec3],
    /// nm/ps, half a step before `time`
    pub velocities: &'a [Vec3],
    /// kJ/mol/nm
    pub forces: &'a [Vec3],
    /// in the order of [`Contents::observables`]
    pub observables: &'a [f64],
}
