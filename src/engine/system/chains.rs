//! Chains of a topology, for file formats with chains.
//!
//! Bonds decide which residues form a chain. For residues whose bonds are unknown, as in a structure file, the chain
//! label, the order of the residue numbers and the names of backbone atoms decide.

use std::collections::HashSet;
use std::ops::Range;

use super::polymer::{CHAIN_BONDS, has_backbone};
use super::{Molecules, Topology};

/// Names of the second oxygen at the end of a protein, in the force fields of AMBER, CHARMM and GROMOS.
const END_OXYGENS: [&str; 4] = ["OXT", "OT2", "OC2", "O2"];

impl Topology {
    /// Chains as ranges of residues. A chain is a polymer (consecutive residues that bonds join), or a run of
    /// consecutive molecules of one residue each (water, ions). The flag of a chain is true if the chain is a run of
    /// molecules of one residue each.
    pub fn chains(&self) -> Vec<(Range<usize>, bool)> {
        let joined = Residues::new(self).joined();
        let mut chains: Vec<(Range<usize>, bool)> = vec![];
        for (index, &is_joined) in joined.iter().enumerate() {
            let alone = !is_joined && joined.get(index + 1).is_none_or(|next| !next);
            match chains.last_mut() {
                Some((chain, others_alone)) if is_joined || (alone && *others_alone) => chain.end = index + 1,
                _ => chains.push((index..index + 1, alone)),
            }
        }
        chains
    }

    /// Whether a residue consists of a single backbone atom (Cα or P), as in a structure without the other atoms.
    pub fn is_trace(&self, residue: usize) -> bool {
        match &self.atoms[self.residue_atoms(residue)] {
            [atom] => [("CA", 6), ("P", 15)].contains(&(atom.name.as_str(), atom.element)),
            _ => false,
        }
    }
}

/// Residues of a topology, with the data that decide which residues form a chain.
struct Residues<'a> {
    topology: &'a Topology,
    molecules: Molecules,
    /// whether the residue has the backbone of an amino acid or of a nucleotide
    has_backbone: Vec<bool>,
    /// pairs of residues that a bond joins, in ascending order
    bonded: HashSet<[u32; 2]>,
}

impl<'a> Residues<'a> {
    fn new(topology: &'a Topology) -> Self {
        let has_backbone = (0..topology.residues.len()).map(|residue| {
            let atoms = &topology.atoms[topology.residue_atoms(residue)];
            topology.is_trace(residue) || has_backbone(|name| atoms.iter().any(|atom| atom.name.as_str() == name))
        });
        let residues_of = |pair: [u32; 2]| {
            let [a, b] = pair.map(|atom| topology.atoms[atom as usize].residue);
            [a.min(b), a.max(b)]
        };
        let bonded = topology.links().into_iter().map(residues_of).filter(|[a, b]| a != b).collect();
        Self { topology, molecules: topology.molecules(), has_backbone: has_backbone.collect(), bonded }
    }

    /// Returns, for each residue, whether it belongs to the chain of the residue before.
    fn joined(&self) -> Vec<bool> {
        let count = self.topology.residues.len();
        let mut joined: Vec<bool> = (0..count).map(|residue| residue > 0 && self.is_joined(residue)).collect();
        // residues without a known backbone, such as a chromophore, do not interrupt a chain
        let mut last: Option<usize> = None;
        for residue in (0..count).filter(|&residue| self.has_backbone[residue] && !self.knows_bonds(residue)) {
            if let Some(first) = last.replace(residue).filter(|&first| first + 1 < residue) {
                let is_inside = |other| self.follows(other) && (other == residue || self.is_large(other));
                if !self.is_end(first) && (first + 1..=residue).all(is_inside) {
                    joined[first + 1..=residue].fill(true);
                }
            }
        }
        joined
    }

    /// Whether a residue belongs to the chain of the residue before, by the bonds or by the names of both residues.
    fn is_joined(&self, residue: usize) -> bool {
        let before = residue - 1;
        let [molecule, other] = [residue, before].map(|residue| self.molecule(residue));
        if self.knows_bonds(residue) && self.knows_bonds(before) {
            // one molecule may have several chains, joined by disulfide bonds, or a chain with sugars
            let is_bonded = self.bonded.contains(&[before as u32, residue as u32]);
            let has_backbone = self.has_backbone[before] || self.has_backbone[residue];
            return molecule == other && self.has_same_label(residue) && (is_bonded || !has_backbone);
        }
        let is_next = self.number(residue) - self.number(before) <= 1;
        let is_chain = match [before, residue].map(|residue| self.has_backbone[residue]) {
            [true, true] => true,
            // caps such as acetyl and methylamide
            [one, other] => (one || other) && is_next,
        };
        let is_trace = [before, residue].iter().all(|&residue| self.topology.is_trace(residue));
        let has = |residue: usize, name: &str| self.has(residue, &[name]);
        let can_bond = CHAIN_BONDS.iter().any(|&(end, start, _)| has(before, end) && has(residue, start));
        self.follows(residue) && is_chain && !self.is_end(before) && (is_trace || can_bond)
    }

    /// Whether all bonds of a residue are known: the topology has bonds, which join all atoms of the residue.
    fn knows_bonds(&self, residue: usize) -> bool {
        let molecule = self.molecule(residue);
        let mut atoms = self.topology.residue_atoms(residue);
        !self.topology.connectivity.is_empty() && atoms.all(|atom| self.molecules.of_atom(atom) == molecule)
    }

    /// Whether a residue has the chain label of the residue before, and a larger number or another insertion code.
    fn follows(&self, residue: usize) -> bool {
        let before = residue - 1;
        let code = |residue: usize| self.topology.chain_labels.get(residue).and_then(|label| label.insertion_code);
        let has_other_code = code(residue) != code(before);
        let (number, last) = (self.number(residue), self.number(before));
        self.has_same_label(residue) && (number > last || (number == last && has_other_code))
    }

    /// Whether a residue has the chain and the segment of the residue before.
    fn has_same_label(&self, residue: usize) -> bool {
        let label = |residue: usize| self.topology.chain_labels.get(residue).map(|label| (label.chain, label.segment));
        label(residue) == label(residue - 1)
    }

    /// Whether a residue may belong to a chain: it has several atoms, and is no water.
    fn is_large(&self, residue: usize) -> bool {
        self.topology.residue_atoms(residue).len() > 1 && !self.topology.is_water(residue)
    }

    /// Whether a residue is the end of a protein, by the names of its atoms.
    fn is_end(&self, residue: usize) -> bool {
        self.has(residue, &["CA"]) && self.has(residue, &END_OXYGENS)
    }

    /// Whether a residue has an atom with one of the given names.
    fn has(&self, residue: usize, names: &[&str]) -> bool {
        self.topology.atoms[self.topology.residue_atoms(residue)].iter().any(|atom| names.contains(&atom.name.as_str()))
    }

    fn molecule(&self, residue: usize) -> usize {
        self.molecules.of_atom(self.topology.residues[residue].first as usize)
    }

    fn number(&self, residue: usize) -> i64 {
        i64::from(self.topology.residues[residue].number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::{Atom, ChainLabel, Name, Residue};

    const AMINO: &[(&str, u8)] = &[("N", 7), ("CA", 6), ("C", 6), ("O", 8)];
    const LAST: &[(&str, u8)] = &[("N", 7), ("CA", 6), ("C", 6), ("O", 8), ("OXT", 8)];
    const ACETYL: &[(&str, u8)] = &[("CH3", 6), ("C", 6), ("O", 8)];
    const OTHER: &[(&str, u8)] = &[("N1", 7), ("C3", 6)];
    const WATER: &[(&str, u8)] = &[("O", 8)];
    const TRACE: &[(&str, u8)] = &[("CA", 6)];
    const CALCIUM: &[(&str, u8)] = &[("CA", 20)];

    /// Chain, number, and names and elements of the atoms of a residue.
    type Described<'a> = (&'a str, i32, &'a [(&'a str, u8)]);

    /// Returns a topology of residues without bonds.
    fn unbonded(residues: &[Described<'_>]) -> Topology {
        let mut topology = Topology::default();
        for (&(chain, number, atoms), index) in residues.iter().zip(0u32..) {
            let first = topology.atoms.len() as u32;
            topology.residues.push(Residue { name: Name::new("X"), number, first });
            topology.chain_labels.push(ChainLabel { chain: Name::new(chain), ..ChainLabel::default() });
            topology.atoms.extend(atoms.iter().map(|&(name, element)| Atom {
                name: Name::new(name),
                type_name: Name::default(),
                element,
                mass: 1.0,
                charge: 0.0,
                lj_type: 0,
                residue: index,
            }));
        }
        topology
    }

    #[test]
    fn chains_without_bonds_follow_from_labels_numbers_and_names() {
        for (residues, expected) in [
            // a chain with waters of the same label
            (vec![("A", 1, AMINO), ("A", 2, AMINO), ("A", 3, WATER)], vec![(0..2, false), (2..3, true)]),
            // chains that labels, numbers or the last oxygen separate
            (
                vec![("A", 1, AMINO), ("A", 2, AMINO), ("B", 3, AMINO), ("B", 4, AMINO)],
                vec![(0..2, false), (2..4, false)],
            ),
            (vec![("", 1, AMINO), ("", 2, AMINO), ("", 1, AMINO), ("", 2, AMINO)], vec![(0..2, false), (2..4, false)]),
            (vec![("", 1, AMINO), ("", 2, LAST), ("", 3, AMINO), ("", 4, AMINO)], vec![(0..2, false), (2..4, false)]),
            // missing residues, a residue without a known backbone, and a cap do not end a chain
            (vec![("A", 1, AMINO), ("A", 9, AMINO), ("A", 10, OTHER), ("A", 12, AMINO)], vec![(0..4, false)]),
            (vec![("A", 1, ACETYL), ("A", 2, AMINO), ("A", 30, OTHER)], vec![(0..2, false), (2..3, true)]),
            // atoms with the same name: Cα atoms and calcium
            (vec![("A", 1, TRACE), ("A", 2, TRACE)], vec![(0..2, false)]),
            (vec![("A", 1, CALCIUM), ("A", 2, CALCIUM), ("A", 3, AMINO)], vec![(0..3, true)]),
        ] {
            assert_eq!(unbonded(&residues).chains(), expected, "{residues:?}");
        }
    }

    /// Two chains of two residues, which a disulfide bond joins to one molecule, and a sugar of the second chain.
    #[test]
    fn bonded_chains_of_one_molecule_are_separate() {
        let mut topology = unbonded(&[
            ("", 1, AMINO),
            ("", 2, AMINO),
            ("", 3, AMINO),
            ("", 4, AMINO),
            ("", 5, OTHER),
            ("", 6, OTHER),
            ("", 7, WATER),
        ]);
        let inside = [[0, 1], [1, 2], [2, 3]].map(|pair| [0, 4, 8, 12].map(|first| pair.map(|atom| atom + first)));
        topology.connectivity = inside.concat();
        topology.connectivity.extend([[2, 4], [10, 12], [1, 9], [16, 17], [18, 19], [11, 16], [17, 18]]);
        assert_eq!(topology.chains(), [(0..2, false), (2..4, false), (4..6, false), (6..7, true)]);
    }
}
