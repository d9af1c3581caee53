//! Alternative locations of the atoms of a residue in PDB and PDBx/mmCIF files.

/// Choice of the alternative location of the atoms in a residue. In each residue, the first alternative location in the
/// file is read, and all other alternative locations are skipped. Atoms without alternatives are always read.
#[derive(Default)]
pub(super) struct Alternative<'a, Residue> {
    residue: Residue,
    /// identifier of the first alternative location in the residue; empty until an atom of the residue has
    /// alternatives
    first: &'a [u8],
}

impl<'a, Residue: PartialEq> Alternative<'a, Residue> {
    /// Whether to read the next atom of the file. `residue` is the residue of the atom, and `given` is the identifier
    /// of its alternative location (empty for an atom without alternatives).
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
