//! The `POINTERS` section, which has the counts of terms and atoms in the file, and flags for features such as solvent
//! caps.

use super::sections::{Parsed, Sections};
use super::unsupported;
use crate::system::BoxKind;

/// Numbers of atoms, terms and types in an AMBER topology, and the kind of its box.
pub(super) struct Pointers {
    pub(super) atoms: usize,
    pub(super) types: usize,
    /// numbers of bonds with hydrogen and without hydrogen
    pub(super) bonds: [usize; 2],
    pub(super) angles: [usize; 2],
    pub(super) dihedrals: [usize; 2],
    pub(super) excluded: usize,
    pub(super) residues: usize,
    pub(super) bond_types: usize,
    pub(super) angle_types: usize,
    pub(super) dihedral_types: usize,
    pub(super) parameter_types: usize,
    pub(super) hydrogen_bond_types: usize,
    pub(super) box_kind: BoxKind,
}

/// Minimum number of values in the section `POINTERS`. Up to Amber 6 the section had 30 values. Later versions added
/// NUMEXTRA, and then NCOPY.
const MIN_VALUES: usize = 30;

impl Pointers {
    pub(super) fn read(sections: &Sections<'_>) -> Parsed<Self> {
        let section = sections.require("POINTERS")?;
        let filled = section.filled()?;
        if filled < MIN_VALUES {
            let message = format!("expected at least {MIN_VALUES} values, found {filled}");
            return Err(section.problem(message).help("the file seems cut off: copy it again"));
        }
        let values = section.integers(filled)?;
        let count = |index: usize| {
            let value = values.get(index).copied().unwrap_or(0);
            usize::try_from(value).map_err(|_| section.problem_at(index, format!("count {value} is negative")))
        };
        let refuse = |index: usize, what: &str, help: &str| match count(index)? {
            0 => Ok(()),
            _ => Err(unsupported(section.problem_at(index, what), help)),
        };
        refuse(20, "IFPERT asks for a perturbed topology", "write one end state of the free-energy topology")?;
        refuse(29, "IFCAP asks for a solvent cap", "use a periodic box of solvent")?;
        if count(31)? > 1 {
            return Err(unsupported(section.problem_at(31, "NCOPY asks for a path integral"), "use classical atoms"));
        }
        let box_kind = match count(27)? {
            0 => BoxKind::None,
            1 => BoxKind::Rectangular,
            2 => BoxKind::TruncatedOctahedron,
            3 => BoxKind::Triclinic,
            other => return Err(section.problem_at(27, format!("IFBOX is {other}, expected 0, 1, 2 or 3"))),
        };
        let pointers = Self {
            atoms: count(0)?,
            types: count(1)?,
            bonds: [count(2)?, count(12)?],
            angles: [count(4)?, count(13)?],
            dihedrals: [count(6)?, count(14)?],
            excluded: count(10)?,
            residues: count(11)?,
            bond_types: count(15)?,
            angle_types: count(16)?,
            dihedral_types: count(17)?,
            parameter_types: count(18)?,
            hydrogen_bond_types: count(19)?,
            box_kind,
        };
        for (index, name, value) in [(0, "atoms", pointers.atoms), (1, "atom types", pointers.types)] {
            if value == 0 {
                return Err(section.problem_at(index, format!("there are no {name}")));
            }
        }
        Ok(pointers)
    }
}
