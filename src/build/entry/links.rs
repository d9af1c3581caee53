//! Atoms of the clean structure at the addresses of an entry.

use std::collections::{HashMap, HashSet};

use super::clean::Draft;
use super::model::Address;

/// Key of a residue: operator of the assembly, chain, number and insertion code.
type Key<'a> = (usize, &'a str, i32, Option<char>);

/// Residues at each address.
pub(super) struct Places<'a> {
    draft: &'a Draft<'a>,
    residues: HashMap<Key<'a>, Vec<usize>>,
}

impl<'a> Places<'a> {
    pub(super) fn new(draft: &'a Draft<'a>) -> Self {
        let mut residues: HashMap<Key<'a>, Vec<usize>> = HashMap::new();
        for (index, copy) in draft.copies.iter().enumerate() {
            let picked = &draft.picked[copy.residue];
            let chain = draft.entry.chains[picked.chain].id.as_str();
            residues.entry((copy.operator, chain, picked.number, picked.insertion_code)).or_default().push(index);
        }
        Self { draft, residues }
    }

    /// Returns the atom at an address in the copy that an operator makes; `None` if it was not taken.
    fn atom(&self, operator: usize, address: &Address) -> Option<u32> {
        let key = (operator, address.chain.as_str(), address.number, address.insertion_code);
        let picked = |index: &usize| &self.draft.picked[self.draft.copies[*index].residue];
        let index = *self.residues.get(&key)?.iter().find(|index| picked(index).given == address.residue)?;
        let aliases = picked(&index).standard.map(|standard| &standard.aliases);
        let selenium = (address.residue == "MSE" && address.atom == "SE").then_some("SD");
        let names = [
            Some(address.atom.as_str()),
            selenium,
            aliases.and_then(|known| known.get(&address.atom)).map(String::as_str),
        ];
        let structure = &self.draft.structure;
        let of_name = |name: &str| structure.residue_atoms(index).find(|&atom| structure.atoms[atom].name == name);
        names.into_iter().flatten().find_map(of_name).map(|atom| atom as u32)
    }

    /// Returns the pairs of atoms at two addresses, one in each copy of an assembly. A pair appears once.
    pub(super) fn pairs(&self, ends: &[Address; 2]) -> Vec<[u32; 2]> {
        let operators = 0..self.draft.operators;
        let pair = |operator| {
            let (a, b) = (self.atom(operator, &ends[0])?, self.atom(operator, &ends[1])?);
            (a != b).then(|| [a.min(b), a.max(b)])
        };
        let found: HashSet<[u32; 2]> = operators.filter_map(pair).collect();
        let mut found: Vec<[u32; 2]> = found.into_iter().collect();
        found.sort_unstable();
        found
    }
}
