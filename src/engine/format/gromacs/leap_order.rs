//! Order of the atoms of impropers in AMBER force fields, as LEaP writes impropers. Newer AMBER force fields of GROMACS
//! request LEaP's order by defining the macro `_FF_AMBER_LEAP_ATOM_REORDERING`.
//!
//! LEaP's order of atoms applies to impropers whose parameters are looked up. LEaP's rules compare the atom-type names
//! in the row of parameters, with a blank in place of a wildcard. The rules are:
//!
//! 1. An improper is reversed if its fourth name sorts before its first name. An improper is also reversed if the
//!    first and the fourth name are equal and the third name sorts before the second name. An improper with a force
//!    constant of zero is not reversed.
//! 2. An improper keeps the order of rule 1, unless an earlier improper with the same type names, or with the same
//!    atoms, has kept the order of rule 1.
//! 3. If an improper does not keep its order, the three atoms around the third (central) atom are sorted by name, and
//!    by atom number if names are equal.

use std::collections::HashSet;

/// Macro by which a force field requests LEaP's order of the atoms in impropers.
pub(super) const MACRO: &str = "_FF_AMBER_LEAP_ATOM_REORDERING";

/// Impropers of one function type that have been read up to now.
#[derive(Default)]
pub(super) struct LeapOrder {
    names: HashSet<[String; 4]>,
    atoms: HashSet<[u32; 4]>,
}

impl LeapOrder {
    /// Returns the atoms of an improper in LEaP's order. `names` are the type names in the row of parameters of the
    /// improper.
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
