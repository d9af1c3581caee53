//! The interactions that one of several ranks computes.

use crate::system::Topology;

/// Atoms and interactions of one rank.
#[derive(Debug, Default)]
pub(super) struct LocalTerms {
    /// atoms of the rank, the bonded terms that it computes, and all exclusions between these atoms
    pub(super) topology: Topology,
    /// excluded pairs for which this rank computes the reciprocal-space correction, [i, j] with i < j, ascending
    pub(super) excluded: Vec<[u32; 2]>,
}
