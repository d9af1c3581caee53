//! Exceptions from the Lennard-Jones combination rule: which clusters and blocks may contain a pair of atoms whose
//! parameters are not those of the rule.

use std::ops::BitOr;

/// Exceptions from the Lennard-Jones combination rule for a set of atoms, as bits. Each Lennard-Jones type has a key
/// of one or more bits. The set stores the keys of the types of its atoms, and the keys of all types that form an
/// exception with one of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// keys of the types of all atoms in the set
    pub keys: u32,
    /// keys of all types that form an exception with a type in the set
    pub partners: u32,
}

impl Marks {
    /// Whether an atom of one set and an atom of the other set may form an exception.
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
