//! H5MD: one HDF5 file that is both H5MD 1.1 and MDTraj-HDF5, and the format of a run unless another is asked for.
//!
//! ```text
//! /particles/trajectory (= /particles/system)      H5MD; the second name is the one GROMACS uses
//!     box/edges  position  velocity  force  each {value, step, time}, steps and times shared
//!     species mass charge id                       static
//! /observables/NAME/{value, step, time}            numbers at the same frames
//! /connectivity/bonds                              pairs of atoms, 0-based
//! /coordinates /time /velocities /cell_lengths /cell_angles /topology /potentialEnergy …   MDTraj, hard links
//! /parameters/{run_id, input, seed, version, commit, host} how it was made
//! /md/checksum                                     CRC-32 of the stored bytes of each frame and all before it
//! ```
//!
//! Velocities carry an attribute that says that they belong to half a step before the frame's time.
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
//! ones of a damaged file. `foreign.rs` reads files of other programs. `format.rs` is the entry in the
//! registry of formats.

mod datasets;
mod foreign;
mod format;
mod hdf;
mod info;
mod journal;
mod layout;
mod names;
mod reader;
mod salvage;
mod series;
mod superblock;
mod writer;

pub(super) use format::FORMAT;
pub use info::{TrajectoryInfo, info};
pub use reader::TrajectoryReader;
pub use salvage::{Repaired, repair, verify};
pub use writer::TrajectoryWriter;
