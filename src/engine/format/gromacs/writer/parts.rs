//! Distinct molecules of a system, and the order of their copies in the system. The atoms of each molecule are
//! numbered from 0.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use super::{unique, word};
use crate::format::parts::{all_links, starts};
use crate::system::{BondedTerms, Exclusions, Residue, Topology, VirtualSite};

/// Molecule types, and the sequence of their copies in the system.
#[derive(Default)]
pub(super) struct Parts {
    pub(super) distinct: Vec<Topology>,
    pub(super) names: Vec<String>,
    /// index of a molecule type and number of consecutive copies, in the order of the system
    pub(super) sequence: Vec<(usize, usize)>,
    /// index in the system of the first atom of each molecule type
    pub(super) firsts: Vec<u32>,
    /// index of a molecule type of several residues whose copies have other residue numbers or insertion codes
    pub(super) renumbered: Option<usize>,
}

impl Parts {
    pub(super) fn new(topology: &Topology) -> Self {
        let starts = starts(topology.atoms.len(), |see| all_links(topology, see));
        let mut parts = Parts::default();
        let (mut known, mut taken) = (HashMap::<u64, Vec<usize>>::new(), HashSet::new());
        for (molecule, range) in split(topology, &starts).into_iter().zip(starts.windows(2)) {
            let alike = known.entry(hash(&molecule)).or_default();
            let index = match alike.iter().find(|&&index| is_same(&parts.distinct[index], &molecule)) {
                Some(&index) => {
                    let first = &parts.distinct[index];
                    if first.residues.len() > 1 && labels(first) != labels(&molecule) {
                        parts.renumbered.get_or_insert(index);
                    }
                    index
                }
                None => {
                    alike.push(parts.distinct.len());
                    parts.names.push(unique(name(&molecule, parts.names.len()), &mut taken));
                    parts.firsts.push(range[0]);
                    parts.distinct.push(molecule);
                    parts.distinct.len() - 1
                }
            };
            match parts.sequence.last_mut() {
                Some((last, copies)) if *last == index => *copies += 1,
                _ => parts.sequence.push((index, 1)),
            }
        }
        parts
    }
}

/// Returns the name of a molecule. If the molecule has one residue, its name is that of the residue.
fn name(molecule: &Topology, number: usize) -> String {
    match &molecule.residues[..] {
        [residue] => word(residue.name.as_str()),
        _ => format!("molecule_{}", number + 1),
    }
}

/// Splits the topology into molecules. `starts` has the first atom of each molecule, in ascending order, and the number
/// of all atoms as its last element.
fn split(topology: &Topology, starts: &[u32]) -> Vec<Topology> {
    let count = starts.len() - 1;
    let mut part_of = vec![0; topology.atoms.len()];
    for (part, range) in starts.windows(2).enumerate() {
        part_of[range[0] as usize..range[1] as usize].fill(part);
    }
    let part = |atom: u32| part_of[atom as usize];
    let bonded = topology.bonded.by_part(count, part);
    let mut molecules: Vec<Topology> = { bonded }
        .into_iter()
        .zip(starts.windows(2))
        .map(|(bonded, range)| atoms_of(topology, bonded, range))
        .collect();
    for &[i, j] in &topology.connectivity {
        let first = starts[part(i)];
        molecules[part(i)].connectivity.push([i.min(j) - first, i.max(j) - first]);
    }
    for constraint in &topology.constraints {
        let mut constraint = *constraint;
        let index = part(constraint.atoms[0]);
        constraint.atoms.iter_mut().for_each(|atom| *atom -= starts[index]);
        molecules[index].constraints.push(constraint);
    }
    for VirtualSite { site, construction } in &topology.virtual_sites {
        let (index, mut construction) = (part(*site), construction.clone());
        construction.atoms_mut().iter_mut().for_each(|atom| *atom -= starts[index]);
        molecules[index].virtual_sites.push(VirtualSite { site: site - starts[index], construction });
    }
    molecules
}

/// Returns a topology with the atoms, residues, terms and exclusions of a range of atoms.
fn atoms_of(topology: &Topology, mut bonded: BondedTerms, range: &[u32]) -> Topology {
    let (first, end) = (range[0], range[1]);
    bonded.renumber(|atom| atom - first);
    let residue = topology.atoms[first as usize].residue;
    let atoms = topology.atoms[first as usize..end as usize].iter().map(|atom| {
        let mut atom = *atom;
        atom.residue -= residue;
        atom
    });
    let atoms: Vec<_> = atoms.collect();
    let last = residue + atoms.last().map_or(0, |atom| atom.residue);
    let range = residue as usize..=last as usize;
    let chain_labels = topology.chain_labels.get(range.clone()).unwrap_or_default().to_vec();
    let residues = topology.residues[range].iter();
    let residues = residues.map(|own| Residue { first: own.first.saturating_sub(first), ..*own }).collect();
    let pairs =
        (first..end).flat_map(|i| topology.exclusions.of(i as usize).iter().map(move |j| [i - first, j - first]));
    let exclusions = Exclusions::from_pairs(atoms.len(), pairs);
    Topology { atoms, residues, chain_labels, bonded, exclusions, ..Topology::default() }
}

/// Returns a hash that is equal for equal molecules.
fn hash(molecule: &Topology) -> u64 {
    let mut hasher = DefaultHasher::new();
    for atom in &molecule.atoms {
        (atom.name, atom.type_name, atom.lj_type, atom.charge.to_bits()).hash(&mut hasher);
    }
    (molecule.bonded.counts(), molecule.constraints.len(), molecule.exclusions.len()).hash(&mut hasher);
    hasher.finish()
}

/// Returns the number and the insertion code of each residue.
fn labels(molecule: &Topology) -> Vec<(i32, Option<char>)> {
    let code = |residue: usize| molecule.chain_labels.get(residue).and_then(|label| label.insertion_code);
    molecule.residues.iter().enumerate().map(|(index, residue)| (residue.number, code(index))).collect()
}

/// Whether two molecules differ at most in residue numbers, insertion codes, chains and segments.
fn is_same(a: &Topology, b: &Topology) -> bool {
    let names = |topology: &Topology| topology.residues.iter().map(|r| (r.name, r.first)).collect::<Vec<_>>();
    a.atoms == b.atoms
        && a.bonded == b.bonded
        && a.constraints == b.constraints
        && a.exclusions == b.exclusions
        && a.virtual_sites == b.virtual_sites
        && a.connectivity == b.connectivity
        && names(a) == names(b)
}
