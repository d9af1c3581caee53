//! Residues of the sequences that have no atoms.

use std::collections::HashSet;

use super::align::{Observed, align};
use super::bonds::{chain_atoms, is_chain_bond};
use super::choose::Picked;
use super::decision::{Decision, Subject};
use super::draft::Draft;
use super::model::Entry;

/// Residues that have no atoms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gap {
    /// index of the chain
    pub chain: u32,
    /// position of the missing residues in the chain
    pub place: GapPlace,
    /// number of missing residues; `None` if neither the sequence nor the residue numbers state it
    pub count: Option<usize>,
    /// names of the missing residues; empty if the file does not state the sequence of the chain
    pub names: Vec<String>,
}

impl Gap {
    /// Whether the gap is within a chain and directly before the given residue.
    pub(crate) fn is_before(&self, residue: usize) -> bool {
        matches!(self.place, GapPlace::Inner { before, .. } if before as usize == residue)
    }
}

/// Position of missing residues, with the indices of the adjacent residues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GapPlace {
    /// before the first residue with atoms
    Start {
        /// first residue with atoms
        before: u32,
    },
    /// within the chain
    Inner {
        /// residue before the gap
        after: u32,
        /// residue after the gap
        before: u32,
    },
    /// after the last residue with atoms
    End {
        /// last residue with atoms
        after: u32,
    },
}

/// Finds the position in the sequence of each residue of a polymer, in chains for which the file does not state these
/// positions.
pub(super) fn place_residues(entry: &Entry, residues: &mut [Picked], decisions: &mut Vec<Decision>) {
    for of_chain in residues.chunk_by_mut(|a, b| a.chain == b.chain) {
        let chain = &entry.chains[of_chain[0].chain];
        let mut polymer: Vec<&mut Picked> = of_chain.iter_mut().filter(|residue| residue.is_polymer).collect();
        if chain.sequence.is_empty() || polymer.iter().any(|residue| residue.position.is_some()) {
            continue;
        }
        let breaks: Vec<bool> =
            (0..polymer.len()).map(|i| i == 0 || !is_chain_bond(polymer[i - 1], polymer[i])).collect();
        let observed = polymer.iter().zip(breaks).map(|(residue, is_after_break)| Observed {
            name: &residue.given,
            number: residue.number,
            has_code: residue.insertion_code.is_some(),
            is_after_break,
        });
        let observed: Vec<Observed<'_>> = observed.collect();
        let sequence: Vec<&str> = chain.sequence.iter().map(|position| position.name.as_str()).collect();
        let Some(positions) = align(&sequence, &observed) else {
            let why = "the residue numbers do not match the sequence, and the chain is too long for an alignment";
            let place = format!("chain {}", chain.id);
            decisions.push(Decision::new(Subject::Sequence, place, "missing residues were not searched for", why));
            continue;
        };
        let unplaced = positions.iter().filter(|position| position.is_none()).count();
        let differ = |(position, residue): (&Option<usize>, &Observed<'_>)| {
            position.is_some_and(|position| !super::align::is_same(sequence[position], residue.name))
        };
        let mutated = positions.iter().zip(&observed).filter(|&pair| differ(pair)).count();
        if unplaced + mutated > 0 {
            let what =
                format!("{mutated} residues differ from the sequence, and {unplaced} residues are not in the sequence");
            let why = "the best alignment of the residues with SEQRES was taken";
            decisions.push(Decision::new(Subject::Sequence, format!("chain {}", chain.id), what, why));
        }
        for (residue, position) in polymer.iter_mut().zip(positions) {
            residue.position = position;
        }
    }
}

/// Returns the gaps: residues of the sequences that have no atoms. If the sequence of a chain is unknown, there is a
/// gap between any two consecutive residues that are not bonded.
pub(super) fn find_gaps(draft: &Draft<'_>, bonds: &[[u32; 2]]) -> Vec<Gap> {
    let bonded: HashSet<[u32; 2]> = bonds.iter().copied().collect();
    let mut gaps = vec![];
    for polymer in draft.polymers() {
        let Some(&any) = polymer.first() else { continue };
        let chain = draft.structure.residues[any].chain;
        let sequence = &draft.entry.chains[draft.source(any).chain].sequence;
        let names = |range: std::ops::Range<usize>| -> Vec<String> {
            sequence.get(range).unwrap_or_default().iter().map(|position| position.name.clone()).collect()
        };
        let placed: Vec<(usize, usize)> =
            polymer.iter().filter_map(|&index| Some((index, draft.source(index).position?))).collect();
        let mut add = |place, names: Vec<String>| {
            if !names.is_empty() {
                gaps.push(Gap { chain, place, count: Some(names.len()), names });
            }
        };
        if let (Some(&(first, start)), Some(&(last, end))) = (placed.first(), placed.last()) {
            add(GapPlace::Start { before: first as u32 }, names(0..start));
            for pair in placed.windows(2) {
                let place = GapPlace::Inner { after: pair[0].0 as u32, before: pair[1].0 as u32 };
                add(place, names((pair[0].1 + 1).min(pair[1].1)..pair[1].1));
            }
            add(GapPlace::End { after: last as u32 }, names(end + 1..sequence.len()));
            continue;
        }
        for pair in polymer.windows(2) {
            let joined = chain_atoms(draft, pair[0], pair[1]).is_some_and(|bond| bonded.contains(&bond));
            if !joined {
                let numbers = [pair[0], pair[1]].map(|index| i64::from(draft.source(index).number));
                let count = usize::try_from(numbers[1] - numbers[0] - 1).ok().filter(|&count| count > 0);
                let place = GapPlace::Inner { after: pair[0] as u32, before: pair[1] as u32 };
                gaps.push(Gap { chain, place, count, names: vec![] });
            }
        }
    }
    gaps
}
