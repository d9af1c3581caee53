//! Matching of a residue to a template: an isomorphism of the graphs of bonds. The isomorphism maps each atom of the
//! residue to a template atom with the same element, the same number of bonds within the residue, and the same number
//! of bonds to other residues.
//!
//! Several isomorphisms can exist, for example because a ring is symmetric; the search returns the same isomorphism as
//! OpenMM. The search order is therefore the order of OpenMM: the search begins with the atom that has the fewest
//! candidates, and follows the bonds.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::template::{Composition, Template, composition};
use crate::structure::Structure;

/// Number of steps after which a search is abandoned. A search in a residue of 500 atoms takes about a thousand steps.
const MOST_STEPS: usize = 10_000_000;

/// Graph of the bonds of a residue, or of several bonded residues that are matched to one template.
#[derive(Clone, Debug)]
pub(super) struct ResidueGraph<'a> {
    structure: &'a Structure,
    /// atoms of the structure, ascending
    pub(super) atoms: Vec<u32>,
    /// bonded atoms within the residue, as indices into `atoms`
    pub(super) bonded: Vec<Vec<u32>>,
    /// number of bonds to atoms outside of the residue
    pub(super) external: Vec<u32>,
}

impl<'a> ResidueGraph<'a> {
    /// Makes the graph of the given atoms, which are in ascending order. `neighbours` lists, for each atom of the
    /// structure, the bonded atoms in ascending order.
    pub(super) fn new(structure: &'a Structure, neighbours: &[Vec<u32>], atoms: Vec<u32>) -> Self {
        let (mut bonded, mut external) = (vec![], vec![]);
        for &atom in &atoms {
            let all = &neighbours[atom as usize];
            let inside = all.iter().filter_map(|other| Some(atoms.binary_search(other).ok()? as u32));
            let inside: Vec<u32> = inside.collect();
            external.push((all.len() - inside.len()) as u32);
            bonded.push(inside);
        }
        Self { structure, atoms, bonded, external }
    }

    /// Counts the atoms of each element.
    pub(super) fn composition(&self) -> Composition {
        composition((0..self.atoms.len()).map(|index| self.element(index)))
    }

    pub(super) fn element(&self, index: usize) -> u8 {
        self.structure.atoms[self.atoms[index] as usize].element
    }

    pub(super) fn name(&self, index: usize) -> &'a str {
        &self.structure.atoms[self.atoms[index] as usize].name
    }

    /// Returns a sorted list with, for each atom, the element, the number of bonds within the residue, and the number
    /// of bonds to other residues.
    fn summary(&self) -> Vec<(u8, usize, u32)> {
        let atoms = 0..self.atoms.len();
        let mut all: Vec<_> = atoms.map(|i| (self.element(i), self.bonded[i].len(), self.external[i])).collect();
        all.sort_unstable();
        all
    }

    /// Returns the template atoms to which an atom of the residue may be mapped. Virtual sites, and all atoms of
    /// molecules that topology files describe, are mapped to the template atom with the same name, if this template
    /// atom exists.
    fn candidates(&self, template: &Template, index: usize) -> Vec<u32> {
        let (element, name) = (self.element(index), self.name(index));
        let is_named = element == 0 || template.is_of_topology;
        let by_name = is_named && template.atoms.iter().any(|atom| atom.element == element && &*atom.name == name);
        let fits = |atom: &super::template::TemplateAtom| {
            atom.element == element
                && (!by_name || &*atom.name == name)
                && atom.bonded.len() == self.bonded[index].len()
                && atom.external == self.external[index]
        };
        (0..).zip(&template.atoms).filter(|(_, atom)| fits(atom)).map(|(other, _)| other).collect()
    }

    /// Returns the index of the template atom for each atom of the residue, or `None` if the template does not match.
    pub(super) fn matches(&self, template: &Template) -> Option<Vec<u32>> {
        let count = self.atoms.len();
        if count != template.atoms.len() {
            return None;
        }
        let mut theirs: Vec<_> =
            template.atoms.iter().map(|atom| (atom.element, atom.bonded.len(), atom.external)).collect();
        theirs.sort_unstable();
        if self.summary() != theirs {
            return None;
        }
        let candidates: Vec<Vec<u32>> = (0..count).map(|index| self.candidates(template, index)).collect();
        let order = self.search_order(&candidates);
        let mut place = vec![0; count];
        order.iter().enumerate().for_each(|(position, &index)| place[index] = position);
        let bonded = |index: usize| self.bonded[index].iter().map(|&other| place[other as usize]).collect();
        let search = Search {
            template,
            bonded: order.iter().map(|&index| bonded(index)).collect(),
            candidates: order.iter().map(|&index| candidates[index].as_slice()).collect(),
        };
        let found = search.run()?;
        Some(place.into_iter().map(|position| found[position]).collect())
    }

    /// Returns the order in which atoms are mapped. The atom with the fewest candidates is first, and the following
    /// atoms are bonded to earlier atoms.
    fn search_order(&self, candidates: &[Vec<u32>]) -> Vec<usize> {
        let count = candidates.len();
        let (mut order, mut ordered, mut waiting) = (vec![], vec![false; count], vec![false; count]);
        let mut heap = BinaryHeap::new();
        while order.len() < count {
            let next = match heap.pop() {
                Some(Reverse((_, index))) => index,
                None => match (0..count).filter(|&i| !ordered[i]).min_by_key(|&i| candidates[i].len()) {
                    Some(index) => index,
                    None => break,
                },
            };
            order.push(next);
            ordered[next] = true;
            for other in self.bonded[next].iter().map(|&other| other as usize) {
                if !ordered[other] && !waiting[other] {
                    waiting[other] = true;
                    heap.push(Reverse((candidates[other].len(), other)));
                }
            }
        }
        order
    }
}

/// Data of a search for an isomorphism. Atoms of the residue are given by their positions in the search order.
struct Search<'a> {
    template: &'a Template,
    bonded: Vec<Vec<usize>>,
    candidates: Vec<&'a [u32]>,
}

impl Search<'_> {
    /// Performs a depth-first search. Returns the template atom for each position of the search order.
    fn run(&self) -> Option<Vec<u32>> {
        let count = self.candidates.len();
        let (mut found, mut used, mut next) = (vec![0; count], vec![false; count], vec![0; count + 1]);
        let mut position = 0;
        for _ in 0..MOST_STEPS {
            if position == count {
                return Some(found);
            }
            let options = self.options(&found, position);
            let fits = |&option: &u32| !used[option as usize] && self.fits(&found, position, option);
            match options[next[position]..].iter().position(fits) {
                Some(skipped) => {
                    next[position] += skipped + 1;
                    found[position] = options[next[position] - 1];
                    used[found[position] as usize] = true;
                    position += 1;
                    next[position] = 0;
                }
                None => {
                    position = position.checked_sub(1)?;
                    used[found[position] as usize] = false;
                }
            }
        }
        None
    }

    /// Returns the template atoms to try at a position in the search order. If an atom earlier in the search order is
    /// bonded to the atom at this position, the function returns the neighbours of the earlier atom's template atom.
    /// Otherwise the function returns all candidates.
    fn options(&self, found: &[u32], position: usize) -> &[u32] {
        match self.bonded[position].iter().find(|&&other| other < position) {
            Some(&other) => &self.template.atoms[found[other] as usize].bonded,
            None => self.candidates[position],
        }
    }

    fn fits(&self, found: &[u32], position: usize, option: u32) -> bool {
        let theirs = &self.template.atoms[option as usize].bonded;
        let bond_exists = |&other: &usize| other > position || theirs.contains(&found[other]);
        self.candidates[position].contains(&option) && self.bonded[position].iter().all(bond_exists)
    }
}
