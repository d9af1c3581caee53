//! Everything a run writes: trajectories, energies, checkpoint, log, progress, status, summary, and the lock on the
//! directory they are in.
//!
//! Nothing here depends on the engine, prints, or keeps global state. Checkpoint, status and summary are replaced
//! atomically; trajectories, energies and log are appended to and stay readable up to the last flush after a crash;
//! trajectories and energies can be cut back to a checkpoint and continued.

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
