//! The part of a system that is at home in a process, where several share the atoms.

/// What is at home, by its numbers in the whole system.
#[derive(Clone, Copy, Debug)]
pub struct Home<'a> {
    /// number in the topology of each atom here
    pub atoms: &'a [u32],
    /// number of each group of atoms that constraints hold together ([`crate::system::System::constrained_groups`])
    pub groups: &'a [u32],
}
