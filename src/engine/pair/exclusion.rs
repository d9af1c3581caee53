//! Symmetric exclusions: each excluded pair is stored twice, once for each of its atoms.

use crate::system::Exclusions;

/// Excluded partners of every atom; each excluded pair is stored for both of its atoms.
#[derive(Clone, Debug, Default)]
pub struct SymmetricExclusions {
    starts: Vec<u32>,
    partners: Vec<u32>,
}

impl SymmetricExclusions {
    /// Makes symmetric exclusions from exclusions that hold each pair once.
    pub fn new(atoms: usize, exclusions: &Exclusions) -> Self {
        let mut starts = vec![0u32; atoms + 1];
        for [i, j] in exclusions.pairs() {
            starts[i as usize + 1] += 1;
            starts[j as usize + 1] += 1;
        }
        for i in 0..atoms {
            starts[i + 1] += starts[i];
        }
        let mut next = starts.clone();
        let mut partners = vec![0; exclusions.len() * 2];
        for [i, j] in exclusions.pairs() {
            for (a, b) in [(i, j), (j, i)] {
                partners[next[a as usize] as usize] = b;
                next[a as usize] += 1;
            }
        }
        Self { starts, partners }
    }

    /// Returns the exclusions as compressed rows in two arrays. The first array holds the offset of the partners of
    /// each atom, followed by the total number of partners. The second array holds the partners of all atoms.
    pub fn into_rows(self) -> (Vec<u32>, Vec<u32>) {
        (self.starts, self.partners)
    }

    #[inline(always)]
    pub(super) fn of(&self, atom: u32) -> &[u32] {
        &self.partners[self.starts[atom as usize] as usize..self.starts[atom as usize + 1] as usize]
    }
}
