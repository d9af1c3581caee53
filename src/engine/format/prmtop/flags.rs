//! Known sections of a file. An unknown section is an error, because it could hold an energy term.

use super::sections::{Parsed, Section, Sections};
use super::{unsupported, whole};

/// Names of the sections of AMBER topologies that md reads, separated by blanks.
const READ: &str = "\
    POINTERS ATOM_NAME CHARGE ATOMIC_NUMBER MASS ATOM_TYPE_INDEX NUMBER_EXCLUDED_ATOMS EXCLUDED_ATOMS_LIST \
    NONBONDED_PARM_INDEX RESIDUE_LABEL RESIDUE_POINTER AMBER_ATOM_TYPE BOND_FORCE_CONSTANT BOND_EQUIL_VALUE \
    BONDS_INC_HYDROGEN BONDS_WITHOUT_HYDROGEN ANGLE_FORCE_CONSTANT ANGLE_EQUIL_VALUE ANGLES_INC_HYDROGEN \
    ANGLES_WITHOUT_HYDROGEN DIHEDRAL_FORCE_CONSTANT DIHEDRAL_PERIODICITY DIHEDRAL_PHASE DIHEDRALS_INC_HYDROGEN \
    DIHEDRALS_WITHOUT_HYDROGEN SCEE_SCALE_FACTOR SCNB_SCALE_FACTOR LENNARD_JONES_ACOEF LENNARD_JONES_BCOEF \
    LENNARD_JONES_CCOEF LENNARD_JONES_14_ACOEF LENNARD_JONES_14_BCOEF HBOND_ACOEF HBOND_BCOEF BOX_DIMENSIONS IPOL \
    CHARMM_UREY_BRADLEY_COUNT CHARMM_UREY_BRADLEY CHARMM_UREY_BRADLEY_FORCE_CONSTANT \
    CHARMM_UREY_BRADLEY_EQUIL_VALUE CHARMM_NUM_IMPROPERS CHARMM_IMPROPERS CHARMM_NUM_IMPR_TYPES \
    CHARMM_IMPROPER_FORCE_CONSTANT CHARMM_IMPROPER_PHASE RESIDUE_NUMBER RESIDUE_CHAINID RESIDUE_ICODE";

/// Returns an error about the first unknown section in the file.
pub(super) fn check(sections: &Sections<'_>) -> Parsed<()> {
    if let Some(section) = sections.get("IPOL")
        && section.integers(1)? != [0]
    {
        return Err(unsupported(section.problem("polarizable force field"), "use a force field with fixed charges"));
    }
    let strange = |section: &&Section<'_>| {
        let name = section.name();
        !READ.split(' ').any(|read| read == name)
            && !super::cmap::is_cmap(name)
            && !whole::unread().any(|unread| unread == name)
    };
    match sections.iter().filter(strange).min_by_key(|section| section.line()) {
        Some(section) => Err(refusal(section)),
        None => Ok(()),
    }
}

fn refusal(section: &Section<'_>) -> crate::error::Problem {
    let name = section.name();
    let (what, help) = if name.starts_with("POLARIZABILITY") || name.starts_with("DIPOLE_DAMP") {
        ("polarizable force field", "use a force field with fixed charges")
    } else if name == "LENNARD_JONES_DCOEF" {
        ("Lennard-Jones terms of ions beyond 12-6-4", "use a 12-6 or 12-6-4 ion model")
    } else if name.starts_with("PERT_") || name.starts_with("LES_") || name.starts_with("ALMASS") {
        ("perturbed or locally enhanced topology", "write a topology of one end state")
    } else if name.starts_with("AMOEBA_") {
        ("AMOEBA force field", "use a force field with fixed charges")
    } else {
        let known = whole::unread()
            .chain(READ.split(' '))
            .max_by(|a, b| strsim::jaro_winkler(name, a).total_cmp(&strsim::jaro_winkler(name, b)));
        let help = format!("the most similar known section is {}", known.unwrap_or_default());
        return section.problem("unknown section, which may hold an energy term").help(help);
    };
    unsupported(section.problem(what), help)
}
