//! Output of a run: trajectories, energy table, checkpoint, log, progress, status, summary, and the lock on the output
//! directory.
//!
//! This module prints nothing except the progress bar, and keeps no global state. The files of checkpoint, status and
//! summary are replaced atomically. Trajectories, energy table and log are extended by appending data; after a crash,
//! these files can be read up to the last flush. A continued run truncates trajectories and the energy table to their
//! length at the checkpoint, and appends new data.

pub mod checkpoint;
pub mod clock;
pub mod energies;
pub mod exchange;
pub mod extent;
pub mod files;
pub mod lock;
pub mod log;
pub mod minimisation;
pub mod progress;
pub mod replace;
pub mod replicas;
pub mod restraints;
pub mod statistics;
pub mod status;
pub mod summary;
pub mod table;
pub mod trajectory;
pub mod tuning;
