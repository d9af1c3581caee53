//! The interactions that one of several ranks computes.

use crate::system::Topology;

/// Atoms and interactions of one rank.
#[derive(Debug, Default)]
pub(super) struct LocalTerms {
    /// atoms of the rank, bonded terms that the rank computes, and all exclusions between atoms of the rank
    pub(super) topology: Topology,
    /// excluded pairs for which this rank computes the reciprocal-space correction, [i, j] with i < j, ascending
    pub(super) excluded: Vec<[u32; 2]>,
}
