//! Writer of the sections with values per atom or residue, and of the exclusions.

use super::names::Names;
use super::nonbonded::Types;
use super::sections::Text;
use crate::system::{Name, Topology};
use crate::units::AMBER_CHARGE;

/// Writes names, charges, atomic numbers, masses, types and residues.
pub(super) fn write(topology: &Topology, types: &Types, names: &Names, text: &mut Text) {
    let atoms = &topology.atoms;
    text.labels("ATOM_NAME", names.atoms.iter().map(Name::as_str));
    let charges = atoms.iter().map(|atom| atom.charge * AMBER_CHARGE);
    match types.is_chamber() {
        true => text.long_reals("CHARGE", charges),
        false => text.reals("CHARGE", charges),
    }
    text.integers("ATOMIC_NUMBER", atoms.iter().map(|atom| usize::from(atom.element)));
    text.reals("MASS", atoms.iter().map(|atom| atom.mass));
    text.integers("ATOM_TYPE_INDEX", types.of_atoms());
    text.integers("NUMBER_EXCLUDED_ATOMS", (0..atoms.len()).map(|i| topology.exclusions.of(i).len().max(1)));
    text.integers("NONBONDED_PARM_INDEX", types.index());
    text.labels("RESIDUE_LABEL", names.residues.iter().map(|name| name.as_str()));
    text.integers("RESIDUE_POINTER", topology.residues.iter().map(|residue| residue.first as usize + 1));
}

/// Returns the list of exclusions. The entry of an atom without exclusions is a single 0.
pub(super) fn excluded(topology: &Topology) -> impl Iterator<Item = usize> + '_ {
    (0..topology.atoms.len()).flat_map(|i| {
        let partners = topology.exclusions.of(i);
        let none = partners.is_empty().then_some(0);
        partners.iter().map(|&j| j as usize + 1).chain(none)
    })
}

/// Writes the type names of the atoms, and the sections of older programs that sander still requires.
pub(super) fn write_labels(names: &Names, text: &mut Text) {
    text.labels("AMBER_ATOM_TYPE", names.types.iter().map(Name::as_str));
    text.labels("TREE_CHAIN_CLASSIFICATION", names.types.iter().map(|_| "BLA"));
    text.integers("JOIN_ARRAY", names.types.iter().map(|_| 0));
    text.integers("IROTAT", names.types.iter().map(|_| 0));
}
