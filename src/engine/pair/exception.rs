//! Exceptions from the Lennard-Jones combination rule: which clusters and blocks may hold such a pair of types.

use std::ops::BitOr;

/// Exceptions from the Lennard-Jones combination rule among some atoms, as bits: one for a type, one for all types with
/// which it forms an exception.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// of the type itself
    pub keys: u32,
    /// of its partners
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
