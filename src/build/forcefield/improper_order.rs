//! Parameters of improper torsions and the order of their atoms, by the rules of OpenMM.
//!
//! The energy of an improper torsion depends on the order of its atoms. Programs and force fields use different rules
//! ([`Ordering`]).

use std::collections::HashMap;

use super::atom_types::{Kind, Pattern};
use super::tables::has_wildcard;
use super::torsions::{Improper, Ordering};
use md_engine::format::element;

/// Atomic number of carbon.
const CARBON: u8 = 6;
/// Permutations of the three outer atoms, in the order in which they are tried.
const PERMUTATIONS: [[usize; 3]; 6] = [[1, 2, 3], [1, 3, 2], [2, 1, 3], [2, 3, 1], [3, 1, 2], [3, 2, 1]];

/// Data of the atoms of a structure that determine the order of impropers.
pub(super) struct AtomData<'a> {
    pub(super) kinds: &'a [Kind],
    pub(super) elements: &'a [u8],
    /// residue of each atom
    pub(super) residues: &'a [u32],
    /// index of each atom in the template of its residue
    pub(super) places: &'a [u32],
}

/// Index of the parameters of an improper, and its four atoms in the order of the force field.
pub(super) type Ordered = (usize, [u32; 4]);

/// Returns the index of the parameters of an improper and its four atoms in the order of the force field; `None` if no
/// parameters match. `improper` lists the center and three atoms bonded to the center. The last matching parameters
/// without wildcards are used. If only parameters with wildcards match, the first parameters with wildcards are used.
pub(super) fn order<T>(improper: [u32; 4], known: &[Improper<T>], atoms: &AtomData<'_>) -> Option<Ordered> {
    let kinds = improper.map(|atom| atoms.kinds[atom as usize]);
    let mut found = None;
    for (index, Improper { patterns, ordering, .. }) in known.iter().enumerate() {
        let wildcard = has_wildcard(patterns);
        if (found.is_some() && wildcard) || !patterns[0].matches(kinds[0]) {
            continue;
        }
        let fits =
            |order: &&[usize; 3]| order.iter().zip(&patterns[1..]).all(|(&k, p): (_, &Pattern)| p.matches(kinds[k]));
        let Some(order) = PERMUTATIONS.iter().find(fits) else { continue };
        let center = improper[0];
        let [a, b, c] = order.map(|k| improper[k]);
        let atoms_in_order = match ordering {
            Ordering::Default => by_element([a, b, c], center, atoms),
            Ordering::Charmm if wildcard => by_element([a, b, c], center, atoms),
            Ordering::Charmm | Ordering::Smirnoff => [center, a, b, c],
            Ordering::Amber => by_place([a, b, c], center, wildcard, atoms),
        };
        found = Some((index, atoms_in_order));
    }
    found
}

/// Orders the first two outer atoms by element: carbon comes first, other elements by descending mass, and atoms of
/// equal elements by ascending index. The center is the third atom of the result.
fn by_element([mut a, mut b, c]: [u32; 3], center: u32, atoms: &AtomData<'_>) -> [u32; 4] {
    let [first, second] = [a, b].map(|atom| atoms.elements[atom as usize]);
    let swap = if first == second {
        a > b
    } else {
        first != CARBON && (second == CARBON || element::weight(first) < element::weight(second))
    };
    if swap {
        (a, b) = (b, a);
    }
    [a, b, center, c]
}

/// Sorts the outer atoms that may be exchanged, first by residue and then by index in the template. The center is the
/// third atom of the result.
fn by_place([mut a, mut b, mut c]: [u32; 3], center: u32, wildcard: bool, atoms: &AtomData<'_>) -> [u32; 4] {
    let place = |atom: u32| (atoms.residues[atom as usize], atoms.places[atom as usize]);
    // without wildcards, only atoms of equal type are exchanged; with wildcards, the first two atoms may always be
    // exchanged, and the third atom only with an atom of the same element
    let alike = |x: u32, y: u32| match wildcard {
        true => atoms.elements[x as usize] == atoms.elements[y as usize],
        false => atoms.kinds[x as usize].of_type == atoms.kinds[y as usize].of_type,
    };
    let (ac, bc, ab) = (alike(a, c), alike(b, c), wildcard || alike(a, b));
    if ac && place(a) > place(c) {
        (a, c) = (c, a);
    }
    if bc && place(b) > place(c) {
        (b, c) = (c, b);
    }
    if ab && place(a) > place(b) {
        (a, b) = (b, a);
    }
    [a, b, center, c]
}

/// Cache for impropers: parameters and order of atoms, by the types of the four atoms. The atom order of the first
/// improper with four given types applies to all impropers with these types.
#[derive(Default)]
pub(super) struct OrderCache(HashMap<[u32; 4], Option<(usize, [usize; 4])>>);

impl OrderCache {
    pub(super) fn order<T>(
        &mut self,
        improper: [u32; 4],
        known: &[Improper<T>],
        atoms: &AtomData<'_>,
    ) -> Option<Ordered> {
        let types = improper.map(|atom| atoms.kinds[atom as usize].of_type);
        let find = || {
            let (index, ordered) = order(improper, known, atoms)?;
            let place = |atom: u32| improper.iter().position(|&other| other == atom).unwrap_or_default();
            Some((index, ordered.map(place)))
        };
        let (index, places) = (*self.0.entry(types).or_insert_with(find))?;
        Some((index, places.map(|place| improper[place])))
    }
}
