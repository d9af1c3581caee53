//! Lookup of atoms of the clean structure by their addresses in an entry.

use std::collections::{HashMap, HashSet};

use super::draft::Draft;
use super::model::{Address, Link};

/// Key of a residue: operator of the assembly, chain identifier, number, insertion code and name in the file.
type Key<'a> = (usize, &'a str, i32, Option<char>, &'a str);

/// Residues and atoms of the clean structure, by their addresses in the entry.
pub(super) struct Places<'a> {
    draft: &'a Draft<'a>,
    residues: HashMap<Key<'a>, usize>,
    /// atom by residue and name
    atoms: HashMap<(usize, &'a str), u32>,
}

impl<'a> Places<'a> {
    pub(super) fn new(draft: &'a Draft<'a>) -> Self {
        let mut places = Self { draft, residues: HashMap::new(), atoms: HashMap::new() };
        if draft.entry.links.is_empty() {
            return places;
        }
        for (index, copy) in draft.copies.iter().enumerate() {
            let picked = &draft.picked[copy.residue];
            let chain = draft.entry.chains[picked.chain].id.as_str();
            let key = (copy.operator, chain, picked.number, picked.insertion_code, picked.given.as_str());
            places.residues.entry(key).or_insert(index);
            for atom in draft.structure.residue_atoms(index) {
                places.atoms.insert((index, draft.structure.atoms[atom].name.as_str()), atom as u32);
            }
        }
        places
    }

    /// Returns the atom at `address` in the copy that the given operator makes; `None` if the atom was left out.
    fn atom(&self, operator: usize, address: &Address) -> Option<u32> {
        let Address { chain, residue, number, insertion_code, atom } = address;
        let index = *self.residues.get(&(operator, chain.as_str(), *number, *insertion_code, residue.as_str()))?;
        let standard = self.draft.source(index).standard;
        let alias = standard.and_then(|standard| standard.aliases.get(atom)).map(String::as_str);
        let selenium = (residue == "MSE" && atom == "SE").then_some("SD");
        let names = [Some(atom.as_str()), selenium, alias].into_iter().flatten();
        { names }.find_map(|name| self.atoms.get(&(index, name)).copied())
    }

    /// Returns the atom at an address in the first copy that has the atom.
    pub(super) fn first(&self, address: &Address) -> Option<u32> {
        (0..self.draft.operators).find_map(|operator| self.atom(operator, address))
    }

    /// Whether a copy of the residue at an address is in the structure.
    pub(super) fn has_residue(&self, Address { chain, residue, number, insertion_code, .. }: &Address) -> bool {
        let key = |operator| (operator, chain.as_str(), *number, *insertion_code, residue.as_str());
        (0..self.draft.operators).any(|operator| self.residues.contains_key(&key(operator)))
    }

    /// Returns the pairs of atoms at the two ends of a link: one pair for each copy in the assembly, without
    /// duplicates. The two atoms of a pair are the same if the link is between symmetry copies of one atom.
    pub(super) fn pairs(&self, link: &Link) -> Vec<[u32; 2]> {
        let operators = 0..self.draft.operators;
        let pair = |operator| {
            let [a, b] = [self.atom(operator, &link.ends[0])?, self.atom(operator, &link.ends[1])?];
            (a != b || link.is_symmetry).then(|| [a.min(b), a.max(b)])
        };
        let found: HashSet<[u32; 2]> = operators.filter_map(pair).collect();
        let mut found: Vec<[u32; 2]> = found.into_iter().collect();
        found.sort_unstable();
        found
    }
}
