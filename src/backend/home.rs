//! The part of a system that is at home in a process, where several share the atoms.

/// Numbers of the atoms at home in the topology, and the other way.
#[derive(Clone, Copy, Debug)]
pub struct Home<'a> {
    /// number in the topology of each atom here
    pub atoms: &'a [u32],
    /// number of each group of atoms that constraints hold together ([`crate::system::System::constrained_groups`])
    pub groups: &'a [u32],
    /// numbers here of all atoms of the topology; more than there are atoms at home for those that are not
    pub(super) places: &'a [u32],
    /// whether what all processes find alike counts here
    pub is_first: bool,
}

impl Home<'_> {
    /// The number here of an atom of the topology, if it is at home.
    pub fn place(&self, atom: u32) -> Option<u32> {
        self.places.get(atom as usize).copied().filter(|&place| (place as usize) < self.atoms.len())
    }
}
