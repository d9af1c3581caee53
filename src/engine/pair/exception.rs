//! Exceptions from the Lennard-Jones combination rule: which clusters and blocks may hold a pair of types with an
//! exception.

use std::ops::BitOr;

/// Exceptions from the Lennard-Jones combination rule for a set of atoms, as bits: a key for each type, and the keys
/// of all types with which it forms an exception.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// keys of the atoms' types
    pub keys: u32,
    /// keys of the types' partners
    pub partners: u32,
}

impl Marks {
    /// Whether atoms of the two sets may form an exception.
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
