//! Conversion of the residue and atom names of AMBER, CHARMM, GROMACS and older PDB files to standard names.
//!
//! The table of [`super::table`] holds the names that OpenMM accepts. The present module adds names from the residue
//! libraries of AmberTools 23 (`leap/lib`), CHARMM36 (`top_all36_prot.rtf`, `top_all36_na.rtf`,
//! `toppar_water_ions.str`) and GROMACS 2023 (`share/top/*.ff`).

use super::model::{Chain, EntryAtom, EntryResidue};
use super::table::{ResidueKind, StandardResidue, standard_name, standard_residue};

/// Standard names of amino acids, nucleotides and waters, each with its aliases.
const RESIDUES: [(&str, &[&str]); 16] = [
    // protonation states
    ("ASP", &["ASPP", "ASPH"]),
    ("GLU", &["GLUP", "GLUH"]),
    ("CYS", &["CYM", "CYSH", "CYS1", "CYS2", "CYSD"]),
    ("HIS", &["HSE", "HISA", "HISB", "HISD", "HISE", "HISH", "HIS1", "HIS2"]),
    ("LYS", &["LYN", "LYP", "LSN", "LYSH"]),
    ("ARG", &["ARGN", "ARN"]),
    ("TYR", &["TYM"]),
    // RNA in AMBER, GROMACS and older PDB files
    ("A", &["RA", "RA3", "RA5", "RAN", "AN", "+A"]),
    ("C", &["RC", "RC3", "RC5", "RCN", "CN", "+C"]),
    ("G", &["RG", "RG3", "RG5", "RGN", "GN", "+G"]),
    ("U", &["RU", "RU3", "RU5", "RUN", "UN", "+U"]),
    // DNA in AMBER, GROMACS and older PDB files
    ("DA", &["DAN"]),
    ("DC", &["DCN"]),
    ("DG", &["DGN"]),
    ("DT", &["DTN", "T", "+T"]),
    // water
    ("HOH", &["TIP4", "TP4", "TIP5", "SPCE", "OPC", "OPC3", "TP5", "HO4", "DOD"]),
];

/// Names of monatomic ions in the PDB, each with the names in other programs.
const IONS: [(&str, &[&str]); 11] = [
    ("NA", &["SOD", "NA+", "Na+", "Na", "NAT"]),
    ("CL", &["CLA", "CL-", "Cl-", "Cl"]),
    ("K", &["POT", "K+"]),
    ("LI", &["LIT", "Li+", "LI+"]),
    ("RB", &["RUB", "Rb+"]),
    ("CS", &["CES", "Cs+"]),
    ("CA", &["CAL", "Ca2+", "CA2"]),
    ("MG", &["Mg2+", "MG2"]),
    ("ZN", &["ZN2", "Zn2+"]),
    ("BA", &["BAR"]),
    ("CD", &["CAD"]),
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

/// Residues of proteins that carry a sugar: name, atom with the bond to the sugar, and name in GLYCAM.
pub(crate) const CARRIERS: [(&str, &str, &str); 3] =
    [("ASN", "ND2", "NLN"), ("SER", "OG", "OLS"), ("THR", "OG1", "OLT")];

/// Pairs of an RNA and a DNA nucleotide that have the same name in CHARMM and in PDB files before version 3.
const RNA_AND_DNA: [(&str, &str); 3] = [("A", "DA"), ("C", "DC"), ("G", "DG")];

/// Returns the standard residue for a residue name or for a known alias of the name; `None` if the name is unknown. If
/// the name can stand for a nucleotide of RNA or of DNA, the atoms of the residue decide. An alias of a nucleotide does
/// not apply if `atoms` is not empty and has no C1' of a sugar, because ligands such as adenine also have these names.
pub(super) fn standard(name: &str, atoms: &[EntryAtom]) -> Option<&'static StandardResidue> {
    let added = || with_alias(&RESIDUES, name);
    let has = |names: [&str; 2]| atoms.iter().any(|atom| names.contains(&atom.name.as_str()));
    let is_alias = standard_residue(name).is_none();
    let found = if is_alias { standard_name(name).or_else(added)? } else { name };
    let is_nucleotide = standard_residue(found).is_some_and(|standard| standard.kind == ResidueKind::Nucleic);
    if is_alias && is_nucleotide && !atoms.is_empty() && !has(["C1'", "C1*"]) {
        return None;
    }
    let Some((_, dna)) = RNA_AND_DNA.iter().find(|(rna, _)| *rna == found) else { return standard_residue(found) };
    let is_dna = has(["C2'", "C2*"]) && !has(["O2'", "O2*"]);
    standard_residue(if is_dna { dna } else { found })
}

/// Names of nucleotides of DNA in PDB files of version 3.
const DNA: [&str; 4] = ["DA", "DC", "DG", "DT"];

/// Returns the standard residue for a residue of a chain. In RNA, names that can stand for RNA or DNA stand for RNA, so
/// that a missing O2' is a missing atom.
pub(super) fn standard_in(is_rna: bool, name: &str, atoms: &[EntryAtom]) -> Option<&'static StandardResidue> {
    let found = standard(name, atoms)?;
    let of_rna = RNA_AND_DNA.iter().find(|(_, dna)| is_rna && *dna == found.name && *dna != name);
    of_rna.map_or(Some(found), |(rna, _)| standard_residue(rna))
}

/// Whether the names A, C and G stand for RNA in the given chain. They do if one of its nucleotides has O2', if the
/// chain or its sequence has U, or if the file names positions in the sequence, as PDBx/mmCIF files do. They do not if
/// the chain or its sequence has T or a nucleotide of DNA. A chain without O2', U and T is DNA, as in PDB files before
/// version 3.
pub(super) fn is_rna(chain: &Chain) -> bool {
    let nucleotide = |residue: &&EntryResidue| is_named(&residue.name, &residue.atoms, |_| true);
    let nucleotides: Vec<&EntryResidue> = chain.residues.iter().filter(nucleotide).collect();
    let of_sequence = chain.sequence.iter().map(|position| position.name.as_str());
    let names: Vec<&str> = nucleotides.iter().map(|residue| residue.name.as_str()).chain(of_sequence).collect();
    let any_is = |wanted: &str| names.iter().any(|name| is_named(name, &[], |standard| standard == wanted));
    let has_oxygen = |residue: &&EntryResidue| residue.atoms.iter().any(|atom| ["O2'", "O2*"].contains(&&*atom.name));
    let is_dna = any_is("DT") || names.iter().any(|name| DNA.contains(name));
    let is_stated = nucleotides.iter().any(|residue| residue.position.is_some());
    !is_dna && (is_stated || any_is("U") || nucleotides.iter().any(has_oxygen))
}

/// Whether a residue is a nucleotide whose standard name fulfils a condition.
fn is_named(name: &str, atoms: &[EntryAtom], fulfils: impl Fn(&str) -> bool) -> bool {
    standard(name, atoms).is_some_and(|found| found.kind == ResidueKind::Nucleic && fulfils(&found.name))
}

/// Returns whether a residue is standard, under its standard name or any known alias.
pub(crate) fn is_standard(residue: &EntryResidue) -> bool {
    residue.name == "MSE" || standard(&residue.name, &residue.atoms).is_some()
}

/// Returns the standard name of a residue for any known name of the residue or of one of its protonation states; `None`
/// if the name is unknown. Selenomethionine, of which crystals are made, counts as methionine.
pub fn residue_name(name: &str) -> Option<&'static str> {
    if name == "MSE" { Some("MET") } else { standard(name, &[]).map(|residue| residue.name.as_str()) }
}

/// Returns the PDB name of a monatomic ion; `None` if the name is not in the table.
pub(super) fn ion(name: &str) -> Option<&'static str> {
    with_alias(&IONS, name)
}

/// Searches a table of names and their aliases for the given alias, and returns the name with this alias.
fn with_alias(table: &[(&'static str, &[&str])], alias: &str) -> Option<&'static str> {
    table.iter().find(|(_, aliases)| aliases.contains(&alias)).map(|(name, _)| *name)
}

/// Renames the atoms of a standard residue to their standard names, and returns the number of names that changed. An
/// atom keeps its old name if another atom of the residue already has the standard name.
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
        assert!(RESIDUES.iter().all(|(name, _)| standard_residue(name).is_some()));
    }

    #[test]
    fn the_sugar_tells_dna_from_rna() {
        let of = |names: &[&str]| standard("ADE", &atoms(names)).map(|residue| residue.name.clone());
        assert_eq!(of(&["C1'", "C2'", "O2'"]).as_deref(), Some("A"));
        assert_eq!(of(&["C1*", "C2*", "C3*"]).as_deref(), Some("DA"));
    }

    #[test]
    fn bases_without_a_sugar_are_no_nucleotides() {
        let base = atoms(&["N1", "C2", "N3", "C4", "C5", "C6"]);
        for name in ["ADE", "GUA", "CYT", "THY", "URA"] {
            assert!(standard(name, &base).is_none(), "{name}");
            assert!(standard(name, &[]).is_some(), "{name}");
        }
        // the names of the standard apply to incomplete nucleotides, and aliases of amino acids need no sugar
        assert!(standard("DT", &base).is_some() && standard("HSE", &base).is_some());
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
