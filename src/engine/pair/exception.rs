//! Search for clusters and blocks that may contain a pair of Lennard-Jones types with explicit parameters (NBFIX),
//! which does not follow the combination rule.

use std::ops::BitOr;

/// Bit masks for a set of atoms. An exception is a pair of atoms that does not follow the Lennard-Jones combination
/// rule. The masks tell whether an atom of the set may form an exception. Each Lennard-Jones type has a key of one or
/// more bits. The masks hold the keys of the types of the atoms, and the keys of all types that form an exception with
/// one of these types.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// keys of the types of all atoms in the set
    pub keys: u32,
    /// keys of all types that form an exception with a type in the set
    pub partners: u32,
}

impl Marks {
    /// Returns whether an atom of one set and an atom of the other set may form an exception.
    #[inline(always)]
    pub fn meet(self, other: Self) -> bool {
        self.keys & other.partners | self.partners & other.keys != 0
    }
}

impl BitOr for Marks {
    type Output = Self;
    #[inline(always)]
    fn bitor(self, other: Self) -> Self {
        Marks { keys: self.keys | other.keys, partners: self.partners | other.partners }
    }
}
