//! Table of standard residues: kinds, bonds, and aliases of residues and atoms.
//!
//! `src/build/data/residues.py` makes the table from `residues.xml` and `pdbNames.xml` of OpenMM. [`super::names`]
//! holds further residue names of AMBER, CHARMM and GROMACS.

use std::collections::HashMap;
use std::io::Read;
use std::sync::LazyLock;

/// Text of the table of standard residues, compressed with xz.
const TABLE: &[u8] = include_bytes!("../data/residues.txt.xz");

/// Kinds of standard residues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResidueKind {
    /// amino acid, or a cap of a peptide
    Protein,
    /// nucleotide
    Nucleic,
    /// water
    Water,
}

/// A standard residue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StandardResidue {
    /// residue name in PDB files, version 3
    pub name: String,
    /// kind of the residue
    pub kind: ResidueKind,
    /// names of all atoms, in ascending order
    pub atoms: Vec<String>,
    /// pairs of names of bonded atoms
    pub bonds: Vec<[String; 2]>,
    /// standard atom name for each alias of an atom
    pub aliases: HashMap<String, String>,
    /// names of the two atoms of the bond to the preceding residue: first the atom of this standard residue, then the
    /// atom of the preceding residue
    pub before: Option<[String; 2]>,
}

impl StandardResidue {
    /// Whether the residue has an atom of this name.
    pub fn has(&self, atom: &str) -> bool {
        self.atoms.binary_search_by(|known| known.as_str().cmp(atom)).is_ok()
    }

    /// Returns the names of the heavy atoms that the residue has within a chain. Atoms that occur only at the ends of a
    /// chain are not returned.
    pub fn heavy_atoms(&self) -> impl Iterator<Item = &str> {
        let is_inner = |name: &&String| !name.starts_with('H') && !matches!(name.as_str(), "OXT" | "OP3");
        self.atoms.iter().filter(is_inner).map(String::as_str)
    }
}

/// All standard residues, and the standard name of a residue for each of its aliases.
#[derive(Default)]
struct Table {
    residues: HashMap<String, StandardResidue>,
    aliases: HashMap<String, String>,
}

static STANDARD: LazyLock<Table> = LazyLock::new(read_table);

/// Returns the standard residue of this name in PDB files, version 3; `None` if the residue is not a standard residue.
pub fn standard_residue(name: &str) -> Option<&'static StandardResidue> {
    STANDARD.residues.get(name)
}

/// Returns the standard name of a residue for an alias that OpenMM accepts.
pub(super) fn standard_name(name: &str) -> Option<&'static str> {
    STANDARD.aliases.get(name).map(String::as_str)
}

fn read_table() -> Table {
    let mut text = String::new();
    let read = lzma_rust2::XzReader::new(TABLE, true).read_to_string(&mut text);
    // the table is part of the program, and the tests of this module prove that it can be unpacked
    read.expect("the table of residues is intact");
    let mut table = Table::default();
    let mut residue: Option<StandardResidue> = None;
    for line in text.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        match (&words[..], &mut residue) {
            (["residue", name, kind, others @ ..], _) => {
                table.add(residue.take());
                table.aliases.extend(others.iter().map(|other| (other.to_string(), name.to_string())));
                residue = Some(empty(name, kind));
            }
            (["bond", a, b], Some(residue)) => residue.add_bond(a, b),
            (["atom", name, others @ ..], Some(residue)) => {
                residue.aliases.extend(others.iter().map(|other| (other.to_string(), name.to_string())));
            }
            _ => {}
        }
    }
    table.add(residue);
    table
}

fn empty(name: &str, kind: &str) -> StandardResidue {
    let kind = match kind {
        "nucleic" => ResidueKind::Nucleic,
        "water" => ResidueKind::Water,
        _ => ResidueKind::Protein,
    };
    let (atoms, bonds, aliases) = (vec![], vec![], HashMap::new());
    StandardResidue { name: name.into(), kind, atoms, bonds, aliases, before: None }
}

impl StandardResidue {
    fn add_bond(&mut self, a: &str, b: &str) {
        if let Some(before) = a.strip_prefix('-') {
            self.before = Some([b.into(), before.into()]);
            return;
        }
        self.bonds.push([a.into(), b.into()]);
        self.atoms.extend([a.to_owned(), b.to_owned()]);
    }
}

impl Table {
    /// Adds a residue that has been read completely. The residue UNK is left out, because it stands for an unknown
    /// amino acid.
    fn add(&mut self, residue: Option<StandardResidue>) {
        if let Some(mut residue) = residue.filter(|residue| residue.name != "UNK") {
            residue.atoms.sort_unstable();
            residue.atoms.dedup();
            self.residues.insert(residue.name.clone(), residue);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amino_acids_nucleotides_and_water_are_known() {
        // expected numbers of heavy atoms within a chain, from the chemical formulas
        for (name, heavy) in [
            ("ALA", 5),
            ("ARG", 11),
            ("ASN", 8),
            ("ASP", 8),
            ("CYS", 6),
            ("GLN", 9),
            ("GLU", 9),
            ("GLY", 4),
            ("HIS", 10),
            ("ILE", 8),
            ("LEU", 8),
            ("LYS", 9),
            ("MET", 8),
            ("PHE", 11),
            ("PRO", 7),
            ("SER", 6),
            ("THR", 7),
            ("TRP", 14),
            ("TYR", 12),
            ("VAL", 7),
            ("A", 22),
            ("C", 20),
            ("G", 23),
            ("U", 20),
            ("DA", 21),
            ("DC", 19),
            ("DG", 22),
            ("DT", 20),
            ("HOH", 1),
            ("ACE", 3),
            ("NME", 2),
            ("NH2", 1),
        ] {
            let residue = standard_residue(name).unwrap_or_else(|| panic!("{name}"));
            assert_eq!(residue.heavy_atoms().count(), heavy, "{name}");
            assert!(residue.bonds.iter().flatten().all(|atom| residue.has(atom)), "{name}");
        }
        assert!(standard_residue("UNK").is_none());
    }

    #[test]
    fn other_names_lead_to_standard_names() {
        assert_eq!(standard_name("HIE"), Some("HIS"));
        assert_eq!(standard_name("TIP3"), Some("HOH"));
        assert_eq!(standard_name("ALA"), None);
        let isoleucine = standard_residue("ILE").unwrap();
        assert_eq!(isoleucine.aliases["CD"], "CD1");
        assert_eq!(isoleucine.before, Some(["N".to_owned(), "C".to_owned()]));
        assert_eq!(standard_residue("DT").unwrap().before, Some(["P".to_owned(), "O3'".to_owned()]));
    }
}
