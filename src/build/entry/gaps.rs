//! Residues of the sequences that have no atoms, and breaks of chains.

use std::collections::{BTreeMap, HashSet};
use std::ops::Range;

use super::align::{Observed, align};
use super::bonds::is_chain_bond;
use super::choose::Picked;
use super::decision::{Decision, Subject};
use super::draft::Draft;
use super::model::Entry;

/// Residues that have no atoms, or a break between two residues of a chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gap {
    /// index of the chain
    pub chain: u32,
    /// position of the missing residues or of the break in the chain
    pub place: GapPlace,
    /// number of missing residues; `None` if neither the sequence nor the residue numbers state this number
    pub count: Option<usize>,
    /// names of the missing residues; empty if the sequence of the chain does not state them
    pub names: Vec<String>,
}

impl Gap {
    /// Whether the gap is within a chain and directly before the given residue.
    pub(crate) fn is_before(&self, residue: usize) -> bool {
        matches!(self.place, GapPlace::Inner { before, .. } if before as usize == residue)
    }
}

/// Position of missing residues or of a break, with the indices of the adjacent residues.
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
    // pieces of a chain that TER records separate have the same identifier and the same sequence
    let mut of_chains: BTreeMap<&str, Vec<&mut Picked>> = BTreeMap::new();
    for residue in residues.iter_mut().filter(|residue| residue.is_polymer) {
        of_chains.entry(&entry.chains[residue.chain].id).or_default().push(residue);
    }
    for mut polymer in of_chains.into_values() {
        let chain = &entry.chains[polymer[0].chain];
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

/// Returns the gaps: residues of the sequences that have no atoms, and breaks of the chains. A break is between two
/// consecutive residues that are not bonded, and between which the sequence has no missing residues.
pub(super) fn find_gaps(draft: &Draft<'_>, bonds: &[[u32; 2]]) -> Vec<Gap> {
    let bonded = bonded_residues(draft, bonds);
    let mut gaps = vec![];
    for polymer in draft.molecules() {
        let Some(&any) = polymer.first() else { continue };
        let chain = |index: usize| draft.structure.residues[index].chain;
        let sequence = &draft.entry.chains[draft.source(any).chain].sequence;
        let missing = |at: usize, place: GapPlace, range: Range<usize>| {
            let positions = sequence.get(range).unwrap_or_default();
            let names: Vec<String> = positions.iter().map(|position| position.name.clone()).collect();
            (!names.is_empty()).then_some(Gap { chain: chain(at), place, count: Some(names.len()), names })
        };
        let inner = |after: usize, before: usize| GapPlace::Inner { after: after as u32, before: before as u32 };
        let placed: Vec<(usize, usize)> =
            polymer.iter().filter_map(|&index| Some((index, draft.source(index).position?))).collect();
        // each inner gap, by the residue before the gap
        let mut found: BTreeMap<usize, Gap> = BTreeMap::new();
        let mut covered: HashSet<usize> = HashSet::new();
        for pair in placed.windows(2) {
            let ((after, start), (before, end)) = (pair[0], pair[1]);
            if let Some(gap) = missing(after, inner(after, before), (start + 1).min(end)..end) {
                covered.extend(after..before);
                found.insert(after, gap);
            }
        }
        let in_one_piece = |pair: &&[usize]| chain(pair[0]) == chain(pair[1]);
        for pair in polymer.windows(2).filter(in_one_piece) {
            let (after, before) = (pair[0], pair[1]);
            // OXT ends a protein, also where the file has neither TER nor another chain after it
            let ends = || draft.atom(after, "OXT").is_some();
            if covered.contains(&after) || bonded.contains(&[after as u32, before as u32]) || ends() {
                continue;
            }
            let [first, second] = [after, before].map(|index| i64::from(draft.source(index).number));
            let count = usize::try_from(second - first - 1).ok().filter(|&count| count > 0 && placed.is_empty());
            found.insert(after, Gap { chain: chain(after), place: inner(after, before), count, names: vec![] });
        }
        gaps.extend(placed.first().and_then(|&(first, start)| {
            let place = GapPlace::Start { before: first as u32 };
            missing(first, place, 0..start)
        }));
        gaps.extend(found.into_values());
        gaps.extend(placed.last().and_then(|&(last, end)| {
            let place = GapPlace::End { after: last as u32 };
            missing(last, place, end + 1..sequence.len())
        }));
    }
    gaps
}

/// Reports the TER records within a chain at which the residue numbers jump, although no sequence states whether
/// residues are missing there. Pieces of a chain that end with OXT are complete, and are not reported.
pub(super) fn report_jumps(draft: &Draft<'_>, bonds: &[[u32; 2]], decisions: &mut Vec<Decision>) {
    let bonded = bonded_residues(draft, bonds);
    for polymer in draft.molecules() {
        for (after, before) in polymer.windows(2).map(|pair| (pair[0], pair[1])) {
            let [last, first] = [after, before].map(|index| draft.source(index));
            let jumps = i64::from(first.number) - i64::from(last.number) > 1;
            let is_one_piece = draft.structure.residues[after].chain == draft.structure.residues[before].chain;
            let is_placed = last.position.is_some() || first.position.is_some();
            let ends = draft.atom(after, "OXT").is_some() || bonded.contains(&[after as u32, before as u32]);
            if is_one_piece || !jumps || is_placed || ends {
                continue;
            }
            let place = [after, before].map(|index| draft.structure.residue_label(index)).join(" and ");
            let why = format!(
                "a TER record ends the chain, and no sequence states whether residues are missing, although the residue \
                 numbers jump from {} to {}; without the TER record the residues between count as missing",
                last.number, first.number
            );
            decisions.push(Decision::new(Subject::Sequence, place, "took the residues as ends of two chains", why));
        }
    }
}

/// Returns the pairs of residues between which there is a bond. The first residue of a pair has the lower index. The
/// bond may join any two atoms, because residues such as the chromophore of GFP have a backbone with other atom names.
fn bonded_residues(draft: &Draft<'_>, bonds: &[[u32; 2]]) -> HashSet<[u32; 2]> {
    let residue_of = draft.structure.residue_of_atoms();
    let pair = |bond: &[u32; 2]| {
        let [a, b] = bond.map(|atom| residue_of[atom as usize]);
        [a.min(b), a.max(b)]
    };
    bonds.iter().map(pair).collect()
}
