//! The order of atoms in impropers of AMBER force fields, as LEaP writes it and newer force fields of GROMACS ask for by
//! defining `_FF_AMBER_LEAP_ATOM_REORDERING`.
//!
//! It concerns impropers whose parameters are looked up. Names are those of the row that was found, a blank for any type. An
//! improper is turned round if its last name comes before its first, or with these equal its third before its second. Then the
//! first of its names, on atoms not seen yet, stays; all others have the three atoms around the third in the order of their
//! names, and of the atoms where names are equal.

use std::collections::HashSet;

/// The macro that asks for it.
pub(super) const MACRO: &str = "_FF_AMBER_LEAP_ATOM_REORDERING";

/// What impropers of one function type have been seen.
#[derive(Default)]
pub(super) struct LeapOrder {
    names: HashSet<[String; 4]>,
    atoms: HashSet<[u32; 4]>,
}

impl LeapOrder {
    /// The atoms of an improper in LEaP's order; `names` are those of the row of its parameters.
    pub(super) fn arrange(&mut self, atoms: [u32; 4], names: [&str; 4], force_constant: f64) -> [u32; 4] {
        let mut named: [(&str, u32); 4] = std::array::from_fn(|k| (names[k], atoms[k]));
        let [a, b, c, d] = names;
        if force_constant != 0.0 && (a > d || (a == d && b > c)) {
            named.reverse();
        }
        let (names, atoms) = (named.map(|(name, _)| name.to_owned()), named.map(|(_, atom)| atom));
        if !self.names.contains(&names) && !self.atoms.contains(&atoms) {
            self.names.insert(names);
            self.atoms.insert(atoms);
            return atoms;
        }
        let mut around = [named[0], named[1], named[3]];
        around.sort_unstable();
        [around[0].1, around[1].1, named[2].1, around[2].1]
    }
}
