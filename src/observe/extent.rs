//! Number of records and checksum of an output file at a checkpoint.

use serde::{Deserialize, Serialize};

/// Number and checksum of the records of an output (frames of a trajectory, rows of a table). A resumed run checks
/// with this extent that the file still begins with the records that were written before the checkpoint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extent {
    /// number of records
    pub count: u64,
    /// CRC-32 of the contents of all records in order; 0 without records
    pub checksum: u32,
}

/// State of an output as stored in a checkpoint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// extent of the output
    pub extent: Extent,
    /// step of the last record; `None` if there are no records, or if the output file itself stores this step
    pub last_step: Option<u64>,
}
