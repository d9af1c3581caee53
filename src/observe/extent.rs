//! Extent of an output at a checkpoint.

use serde::{Deserialize, Serialize};

/// Number and checksum of the records of an output (frames of a trajectory, rows of a table). By it a resumed run checks
/// that the file still begins with what was written before the checkpoint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extent {
    /// number of records
    pub count: u64,
    /// CRC-32 of their contents, each continued from the one before; 0 where there are none
    pub checksum: u32,
}

/// An output as stored in a checkpoint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// its extent
    pub extent: Extent,
    /// step of the last record; `None` without records, or if the file itself stores it
    pub last_step: Option<u64>,
}
