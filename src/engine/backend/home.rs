//! The home atoms of a process, when several processes share the atoms (domain decomposition).

/// Home atoms and home constraint groups of a process, as indices into the whole system.
#[derive(Clone, Copy, Debug)]
pub struct Home<'a> {
    /// index in the topology of each home atom
    pub atoms: &'a [u32],
    /// index of each home constraint group ([`crate::system::System::constrained_groups`])
    pub groups: &'a [u32],
}
