//! Alternative locations of the atoms of a residue, as PDB and PDBx/mmCIF files give them.

/// Which of several locations is taken: the first that comes in each residue. Atoms without alternatives are always taken.
#[derive(Default)]
pub(super) struct Alternative<'a, Residue> {
    residue: Residue,
    /// the first that was given
    first: &'a [u8],
}

impl<'a, Residue: PartialEq> Alternative<'a, Residue> {
    /// Whether the next atom, of this residue and with this name of the alternative (or none), is taken.
    pub(super) fn is_taken(&mut self, residue: Residue, given: &'a [u8]) -> bool {
        if self.residue != residue {
            *self = Self { residue, first: &[] };
        }
        if self.first.is_empty() {
            self.first = given;
        }
        given.is_empty() || given == self.first
    }
}
