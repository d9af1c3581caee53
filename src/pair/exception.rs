//! Which clusters and blocks may hold a pair of types that a Lennard-Jones combination rule does not give.

use std::ops::BitOr;

/// What atoms have to do with pairs of types that a Lennard-Jones combination rule does not give: a bit for a type and all
/// that it makes such pairs with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// of the type itself
    pub keys: u32,
    /// of its partners
    pub partners: u32,
}

impl Marks {
    /// Whether such a pair may meet.
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
