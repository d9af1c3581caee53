//! Output of a run: trajectories, energies, checkpoint, log, progress, status, summary, and the lock on the output
//! directory.
//!
//! This module does not depend on the engine, prints nothing, and keeps no global state. Checkpoint, status and
//! summary are replaced atomically. Trajectories, energies and log grow. After a crash, these files are readable up
//! to the last flush. Trajectories and energies can be cut back to a checkpoint and continued.

pub mod checkpoint;
pub mod clock;
pub mod energies;
pub mod exchange;
pub mod extent;
pub mod lock;
pub mod log;
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
