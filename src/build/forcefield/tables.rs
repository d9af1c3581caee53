//! Lookup of parameters by the types and classes of atoms.

use std::collections::HashMap;

use md_engine::format::xml::Node;

use super::Parsed;
use super::atom_types::{AtomTypes, Kind, Pattern, all_match, match_either_way};

/// Parameters of energy terms that act on N atoms, in the order of the files.
#[derive(Clone, Debug)]
pub(super) struct Terms<const N: usize, T> {
    pub(super) entries: Vec<([Pattern; N], T)>,
}

impl<const N: usize, T> Default for Terms<N, T> {
    fn default() -> Self {
        Self { entries: vec![] }
    }
}

/// Whether at least one of the patterns is a wildcard, which matches every atom.
pub(super) fn has_wildcard(patterns: &[Pattern]) -> bool {
    patterns.contains(&Pattern::Any)
}

impl<const N: usize, T> Terms<N, T> {
    pub(super) fn push(&mut self, patterns: [Pattern; N], parameters: T) {
        self.entries.push((patterns, parameters));
    }

    /// Adds parameters for the atom classes or types that an element names.
    pub(super) fn add(&mut self, node: &Node<'_>, types: &AtomTypes, parameters: T) -> Parsed<()> {
        if let Some(patterns) = types.patterns(node)? {
            self.push(patterns, parameters);
        }
        Ok(())
    }

    /// Returns the first parameters that match the atoms in the given or in the reversed order.
    pub(super) fn first(&self, atoms: [Kind; N]) -> Option<&T> {
        self.entries.iter().find(|(patterns, _)| match_either_way(patterns, atoms)).map(|(_, parameters)| parameters)
    }

    /// Returns the first matching parameters without wildcards. If all matching parameters have wildcards, the function
    /// returns the first matching parameters. The second returned value is true if the atoms match in the given order,
    /// and false if the atoms match only in the reversed order.
    pub(super) fn most_specific(&self, atoms: [Kind; N]) -> Option<(&T, bool)> {
        let mut matching = self.entries.iter().filter(|(patterns, _)| match_either_way(patterns, atoms));
        let first = matching.next()?;
        let specific = std::iter::once(first).chain(matching).find(|(patterns, _)| !has_wildcard(patterns));
        let (patterns, parameters) = specific.unwrap_or(first);
        Some((parameters, all_match(patterns, atoms)))
    }
}

/// Values by atom type or class. A later value replaces an earlier value.
#[derive(Clone, Debug)]
pub(super) struct OfAtoms<T> {
    all: Option<(usize, T)>,
    classes: HashMap<u32, (usize, T)>,
    types: HashMap<u32, (usize, T)>,
    count: usize,
}

impl<T> Default for OfAtoms<T> {
    fn default() -> Self {
        Self { all: None, classes: HashMap::new(), types: HashMap::new(), count: 0 }
    }
}

impl<T> OfAtoms<T> {
    pub(super) fn insert(&mut self, pattern: Pattern, value: T) {
        self.count += 1;
        let value = (self.count, value);
        match pattern {
            Pattern::Any => self.all = Some(value),
            Pattern::Class(class) => drop(self.classes.insert(class, value)),
            Pattern::Type(of_type) => drop(self.types.insert(of_type, value)),
        }
    }

    /// Returns the last inserted value that applies to an atom.
    pub(super) fn get(&self, atom: Kind) -> Option<&T> {
        let values = [self.all.as_ref(), self.classes.get(&atom.class), self.types.get(&atom.of_type)];
        values.into_iter().flatten().max_by_key(|(number, _)| *number).map(|(_, value)| value)
    }
}
