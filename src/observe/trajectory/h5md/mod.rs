//! H5MD, the default format of a run: one HDF5 file that is both H5MD 1.1 and MDTraj-HDF5.
//!
//! ```text
//! /particles/trajectory (= /particles/system)      H5MD; the second name is the one GROMACS uses
//!     box/edges  position  velocity  force  each {value, step, time}, steps and times shared
//!     species mass charge id                       static
//! /observables/NAME/{value, step, time}            numbers at the same frames
//! /connectivity/bonds                              pairs of atoms, 0-based
//! /coordinates /time /velocities /cell_lengths /cell_angles /topology /potentialEnergy …   MDTraj, hard links
//! /parameters/{run_id, input, seed, version, commit, host} how the file was made
//! /md/checksum                                     CRC-32 of the stored bytes of each frame and all before it
//! ```
//!
//! A frame of a time series with values of all atoms is divided into HDF5 chunks of at least 4,096 atoms, so that the
//! first atoms can be read without the remaining atoms (`layout.rs`).
//!
//! An attribute of the velocity dataset says that the velocities of a frame belong to the half step before the frame's
//! time.
//!
//! The writer guarantees two invariants.
//!
//! **Every flushed frame can be read after the process is killed.** Each dataset is extended, written and flushed in a
//! fixed order. The positions come after all other fields, and the checksum comes last. A frame is complete when every
//! dataset has a row for the frame. Other programs accept the file only after [`repair`], which changes 48 bytes of the
//! header of the file; [`TrajectoryWriter::append`] itself repairs the header.
//!
//! **Every frame written before a checkpoint survives a loss of power.** At each sync a journal beside the file saves
//! the bytes that later frames change in place. A run that appends to the file first restores the saved bytes
//! (`journal.rs`). Frames survive a loss of power on local file systems only: NFS does not guarantee the order of
//! writes.
//!
//! To read the code, begin with [`TrajectoryWriter`]. `layout.rs` creates the layout, `datasets.rs` writes the frames,
//! and [`TrajectoryReader`] reads the layout and the frames. `packed.rs` decodes frames in parallel. [`verify`]
//! compares every frame with its checksum. [`repair`] saves the intact frames of a damaged file. `foreign.rs` reads
//! files of other programs. `format.rs` describes H5MD for the list of all formats.

mod datasets;
mod foreign;
mod format;
mod hdf;
mod info;
mod journal;
mod layout;
mod names;
mod packed;
mod reader;
mod salvage;
mod series;
mod superblock;
mod writer;

pub(super) use format::FORMAT;
pub use info::{TrajectoryInfo, info};
pub use reader::TrajectoryReader;
pub use salvage::{repair, verify};
pub use writer::TrajectoryWriter;
