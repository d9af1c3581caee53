//! Conversion of the residue and atom names of AMBER, CHARMM, GROMACS and older PDB files to standard names.
//!
//! The table of [`super::table`] holds the names that OpenMM accepts. The present module adds names from the residue
//! libraries of AmberTools 23 (`leap/lib`), CHARMM36 (`top_all36_prot.rtf`, `top_all36_na.rtf`,
//! `toppar_water_ions.str`) and GROMACS 2023 (`share/top/*.ff`).

use super::model::{EntryAtom, EntryResidue};
use super::table::{StandardResidue, standard_name, standard_residue};

/// Aliases of amino acids, nucleotides and waters, each with the standard residue name.
const RESIDUES: [(&str, &str); 63] = [
    // protonation states
    ("ASPP", "ASP"),
    ("ASPH", "ASP"),
    ("GLUP", "GLU"),
    ("GLUH", "GLU"),
    ("CYM", "CYS"),
    ("CYSH", "CYS"),
    ("CYS1", "CYS"),
    ("CYS2", "CYS"),
    ("CYSD", "CYS"),
    ("HSE", "HIS"),
    ("HISA", "HIS"),
    ("HISB", "HIS"),
    ("HISD", "HIS"),
    ("HISE", "HIS"),
    ("HISH", "HIS"),
    ("HIS1", "HIS"),
    ("HIS2", "HIS"),
    ("LYN", "LYS"),
    ("LYP", "LYS"),
    ("LSN", "LYS"),
    ("LYSH", "LYS"),
    ("ARGN", "ARG"),
    ("ARN", "ARG"),
    ("TYM", "TYR"),
    // RNA in AMBER and GROMACS
    ("RA", "A"),
    ("RA3", "A"),
    ("RA5", "A"),
    ("RAN", "A"),
    ("RC", "C"),
    ("RC3", "C"),
    ("RC5", "C"),
    ("RCN", "C"),
    ("RG", "G"),
    ("RG3", "G"),
    ("RG5", "G"),
    ("RGN", "G"),
    ("RU", "U"),
    ("RU3", "U"),
    ("RU5", "U"),
    ("RUN", "U"),
    ("AN", "A"),
    ("CN", "C"),
    ("GN", "G"),
    ("UN", "U"),
    // DNA in AMBER, GROMACS and older PDB files
    ("DAN", "DA"),
    ("DCN", "DC"),
    ("DGN", "DG"),
    ("DTN", "DT"),
    ("T", "DT"),
    ("+A", "A"),
    ("+C", "C"),
    ("+G", "G"),
    ("+U", "U"),
    ("+T", "DT"),
    // water
    ("TIP4", "HOH"),
    ("TP4", "HOH"),
    ("TIP5", "HOH"),
    ("SPCE", "HOH"),
    ("OPC", "HOH"),
    ("OPC3", "HOH"),
    ("TP5", "HOH"),
    ("HO4", "HOH"),
    ("DOD", "HOH"),
];

/// Names of monatomic ions in other programs, each with the name in the PDB.
const IONS: [(&str, &str); 27] = [
    ("SOD", "NA"),
    ("NA+", "NA"),
    ("Na+", "NA"),
    ("Na", "NA"),
    ("NAT", "NA"),
    ("CLA", "CL"),
    ("CL-", "CL"),
    ("Cl-", "CL"),
    ("Cl", "CL"),
    ("POT", "K"),
    ("K+", "K"),
    ("LIT", "LI"),
    ("Li+", "LI"),
    ("LI+", "LI"),
    ("RUB", "RB"),
    ("Rb+", "RB"),
    ("CES", "CS"),
    ("Cs+", "CS"),
    ("CAL", "CA"),
    ("Ca2+", "CA"),
    ("CA2", "CA"),
    ("Mg2+", "MG"),
    ("MG2", "MG"),
    ("ZN2", "ZN"),
    ("Zn2+", "ZN"),
    ("BAR", "BA"),
    ("CAD", "CD"),
];

/// Aliases of atoms in the caps of peptides: residue, alias, standard name.
const CAPS: [(&str, &str, &str); 8] = [
    ("ACE", "HH31", "H1"),
    ("ACE", "HH32", "H2"),
    ("ACE", "HH33", "H3"),
    ("ACE", "CAY", "CH3"),
    ("NME", "CH3", "C"),
    ("NME", "HH31", "H1"),
    ("NME", "HH32", "H2"),
    ("NME", "HH33", "H3"),
];

/// Pairs of an RNA and a DNA nucleotide that have the same name in CHARMM and in PDB files before version 3.
const RNA_AND_DNA: [(&str, &str); 3] = [("A", "DA"), ("C", "DC"), ("G", "DG")];

/// Returns the standard residue for a residue name in any of the known conventions; `None` if the name is unknown. If a
/// DNA and an RNA nucleotide have this name, the atoms decide.
pub(super) fn standard(name: &str, atoms: &[EntryAtom]) -> Option<&'static StandardResidue> {
    let added = || RESIDUES.iter().find(|(other, _)| *other == name).map(|(_, standard)| *standard);
    let found = if standard_residue(name).is_some() { name } else { standard_name(name).or_else(added)? };
    let Some((_, dna)) = RNA_AND_DNA.iter().find(|(rna, _)| *rna == found) else { return standard_residue(found) };
    let has = |names: [&str; 2]| atoms.iter().any(|atom| names.contains(&atom.name.as_str()));
    let is_dna = has(["C2'", "C2*"]) && !has(["O2'", "O2*"]);
    standard_residue(if is_dna { dna } else { found })
}

/// Returns whether a residue is standard, under its standard name or any known alias.
pub(crate) fn is_standard(residue: &EntryResidue) -> bool {
    residue.name == "MSE" || standard(&residue.name, &residue.atoms).is_some()
}

/// Returns the PDB name of a monatomic ion; `None` if the name is not in the table.
pub(super) fn ion(name: &str) -> Option<&'static str> {
    IONS.iter().find(|(other, _)| *other == name).map(|(_, standard)| *standard)
}

/// Renames the atoms of a standard residue to their standard names, and returns the number of names that changed. An
/// atom keeps its name if another atom of the residue already has the standard name.
pub(super) fn rename_atoms(residue: &StandardResidue, atoms: &mut [EntryAtom]) -> usize {
    let mut changed = 0;
    for index in 0..atoms.len() {
        let name = &atoms[index].name;
        if residue.has(name) {
            continue;
        }
        let of_cap = CAPS.iter().find(|(cap, other, _)| *cap == residue.name && other == name);
        let standard = residue.aliases.get(name).map(String::as_str).or(of_cap.map(|(_, _, standard)| *standard));
        let Some(standard) = standard else { continue };
        if !atoms.iter().any(|atom| atom.name == standard) {
            atoms[index].name = standard.to_owned();
            changed += 1;
        }
    }
    changed
}

#[cfg(test)]
mod tests {
    use super::*;
    use md_engine::vec3::Vec3;

    fn atoms(names: &[&str]) -> Vec<EntryAtom> {
        let atom = |name: &&str| EntryAtom {
            name: name.to_string(),
            element: 0,
            is_deuterium: false,
            position: Vec3::default(),
            occupancy: 1.0,
            location: None,
        };
        names.iter().map(atom).collect()
    }

    fn renamed(residue: &str, names: &[&str]) -> Vec<String> {
        let mut atoms = atoms(names);
        rename_atoms(standard_residue(residue).unwrap(), &mut atoms);
        atoms.into_iter().map(|atom| atom.name).collect()
    }

    #[test]
    fn names_of_other_programs_become_standard() {
        for (name, expected) in [
            ("HSE", "HIS"),
            ("GLUP", "GLU"),
            ("RU5", "U"),
            ("T", "DT"),
            ("TIP4", "HOH"),
            ("DOD", "HOH"),
            ("ALA", "ALA"),
        ] {
            assert_eq!(standard(name, &[]).map(|residue| residue.name.as_str()), Some(expected), "{name}");
        }
        assert!(standard("XYZ", &[]).is_none());
        assert_eq!((ion("SOD"), ion("NA")), (Some("NA"), None));
        assert!(RESIDUES.iter().all(|(_, name)| standard_residue(name).is_some()));
    }

    #[test]
    fn the_sugar_tells_dna_from_rna() {
        let of = |names: &[&str]| standard("ADE", &atoms(names)).map(|residue| residue.name.clone());
        assert_eq!(of(&["C2'", "O2'"]).as_deref(), Some("A"));
        assert_eq!(of(&["C2*", "C3*"]).as_deref(), Some("DA"));
    }

    #[test]
    fn atoms_are_renamed_unless_the_name_is_taken() {
        assert_eq!(renamed("ILE", &["CD", "HN", "CG1"]), ["CD1", "H", "CG1"]);
        assert_eq!(renamed("ALA", &["H1", "H2", "H3", "OT1", "OT2"]), ["H", "H2", "H3", "O", "OXT"]);
        assert_eq!(renamed("LEU", &["HB1", "HB2"]), ["HB3", "HB2"]);
        assert_eq!(renamed("LEU", &["HB1", "HB2", "HB3"]), ["HB1", "HB2", "HB3"]);
        assert_eq!(renamed("NME", &["N", "CH3", "HH31"]), ["N", "C", "H1"]);
        assert_eq!(renamed("DT", &["C5M", "O1P", "C1*"]), ["C7", "OP1", "C1'"]);
    }
}
