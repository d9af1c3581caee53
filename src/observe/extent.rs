//! Number of records and checksum of an output file, which a checkpoint stores.

use serde::{Deserialize, Serialize};

/// Number and checksum of the records of an output file (frames of a trajectory, rows of a table). A continued run
/// compares the file with the extent in the checkpoint, to check that the file still begins with the records that were
/// written before the checkpoint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extent {
    /// number of records (frames or rows)
    pub count: u64,
    /// CRC-32 of the contents of all records in order; 0 without records
    pub checksum: u32,
}

/// State of an output file that a checkpoint stores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// number and checksum of the records
    pub extent: Extent,
    /// step number of the last record; `None` if there are no records, or if the output file itself stores this step
    /// number
    pub last_step: Option<u64>,
}
