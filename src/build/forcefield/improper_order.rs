//! Choice of the parameters and of the order of the atoms of improper torsions, by the rules of OpenMM.
//!
//! The order matters, because the energy of an improper torsion depends on it. Programs and force fields have
//! different rules ([`Ordering`]).

use std::collections::HashMap;

use super::atom_types::{Kind, Pattern};
use super::tables::has_wildcard;
use super::torsions::{Improper, Ordering};
use md_engine::format::element;

/// Atomic number of carbon.
const CARBON: u8 = 6;
/// Orders of the three outer atoms, in the order in which they are tried.
const PERMUTATIONS: [[usize; 3]; 6] = [[1, 2, 3], [1, 3, 2], [2, 1, 3], [2, 3, 1], [3, 1, 2], [3, 2, 1]];

/// Data of the atoms of a structure by which impropers are ordered.
pub(super) struct AtomData<'a> {
    pub(super) kinds: &'a [Kind],
    pub(super) elements: &'a [u8],
    /// residue of each atom
    pub(super) residues: &'a [u32],
    /// index of each atom in its template
    pub(super) places: &'a [u32],
}

/// Index of the parameters of an improper, and its atoms in order.
pub(super) type Ordered = (usize, [u32; 4]);

/// Finds parameters for an improper: the center, and three bonded atoms. The last parameters with wildcards that match
/// are used up to the first parameters without wildcards, and then the last without wildcards.
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

/// Atoms of equal elements ascend, carbon comes first, and heavier elements come before lighter ones.
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

/// Atoms that the parameters do not distinguish ascend by residue and by place in the template.
fn by_place([mut a, mut b, mut c]: [u32; 3], center: u32, wildcard: bool, atoms: &AtomData<'_>) -> [u32; 4] {
    let place = |atom: u32| (atoms.residues[atom as usize], atoms.places[atom as usize]);
    // atoms keep their types while they are exchanged, so that the kinds at the three places stay as they are
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

/// Parameters and orders by the types of the atoms: impropers of the same types have the order of the first of them.
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
