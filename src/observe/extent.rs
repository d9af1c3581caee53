//! How much of a growing output a checkpoint has seen.

use serde::{Deserialize, Serialize};

/// The first `count` records of an output (frames of a trajectory, rows of a table) and what they hold: with it a
/// resumed run sees whether the file still begins with what was written before the checkpoint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extent {
    /// number of records
    pub count: u64,
    /// CRC-32 of their contents, each continued from the one before; 0 where there are none
    pub checksum: u32,
}

/// An output as a checkpoint knows it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// what there was
    pub extent: Extent,
    /// step of the last record; `None` where there are none, or where the file itself tells
    pub last_step: Option<u64>,
}
