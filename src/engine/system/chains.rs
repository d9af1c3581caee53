//! Chains of a topology, for file formats with chains.

use std::ops::Range;

use super::Topology;

impl Topology {
    /// Chains as ranges of residues. A chain is one molecule of several residues, or a run of consecutive molecules of
    /// one residue each (water, ions). The flag of a chain is true if the chain is a run of molecules of one residue
    /// each.
    pub fn chains(&self) -> Vec<(Range<usize>, bool)> {
        let molecules = self.molecules();
        let molecule_of = |residue: usize| molecules.of_atom(self.residues[residue].first as usize);
        let is_alone = |residue: usize| {
            molecules.atoms(molecule_of(residue)).iter().all(|&i| self.atoms[i as usize].residue as usize == residue)
        };
        let mut chains: Vec<(Range<usize>, bool)> = vec![];
        for index in 0..self.residues.len() {
            let alone = is_alone(index);
            match chains.last_mut() {
                Some((chain, others_alone))
                    if molecule_of(index) == molecule_of(index - 1) || (alone && *others_alone) =>
                {
                    chain.end = index + 1;
                }
                _ => chains.push((index..index + 1, alone)),
            }
        }
        chains
    }
}
