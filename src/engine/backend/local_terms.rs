//! The interactions that one of several ranks computes.

use crate::system::Topology;

/// The interactions that a rank computes.
#[derive(Debug, Default)]
pub(super) struct LocalTerms {
    /// atoms, bonded terms that this rank computes, and all exclusions between its atoms
    pub(super) topology: Topology,
    /// excluded pairs that this rank corrects, [i, j] with i < j, ascending
    pub(super) excluded: Vec<[u32; 2]>,
}
