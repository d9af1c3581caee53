//! Force fields that are part of md. `src/build/data/README.md` names their sources, authors and licences.

use std::io::Read;
use std::path::Path;

use md_engine::error::{Error, Result};

/// Names of the built-in files, and their contents compressed with xz.
macro_rules! files {
    ($($name:literal),+ $(,)?) => {
        const FILES: &[(&str, &[u8])] = &[$(($name, include_bytes!(concat!("../data/", $name, ".xz")))),+];
    };
}

files! {
    "amber14/protein.ff14SB.xml",
    "amber19/protein.ff19SB.xml",
    "amberfb15.xml",
    "amber14/DNA.OL15.xml",
    "amber19/DNA.OL21.xml",
    "amber14/DNA.bsc1.xml",
    "amber14/RNA.OL3.xml",
    "amber14/GLYCAM_06j-1.xml",
    "amber14/lipid17.xml",
    "amber19/lipid21.xml",
    "amber14/tip3p.xml",
    "amber14/tip3pfb.xml",
    "amber14/spce.xml",
    "amber14/tip4pew.xml",
    "amber14/opc.xml",
    "amber14/opc3.xml",
    "charmm36_2024.xml",
    "charmm36_2024/water.xml",
}

/// Returns the names of all built-in force-field files.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    FILES.iter().map(|(name, _)| *name)
}

/// Whether there is a built-in file of this name.
pub(super) fn is_known(path: &Path) -> bool {
    names().any(|name| Path::new(name) == path)
}

/// Returns the text of a built-in file; `None` if there is no file of this name.
pub(super) fn read(path: &Path) -> Result<Option<Vec<u8>>> {
    let Some((name, packed)) = FILES.iter().find(|(name, _)| Path::new(name) == path) else { return Ok(None) };
    let mut bytes = vec![];
    let read = lzma_rust2::XzReader::new(*packed, true).read_to_end(&mut bytes);
    read.map_err(|error| Error::Internal(format!("the force field {name} is damaged: {error}")))?;
    Ok(Some(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use md_engine::format::xml::{Document, Node};
    use md_engine::select::select;
    use md_engine::system::{Atom, Name, Residue, Topology};

    /// Classes of residues of the selection language.
    const CLASSES: [&str; 5] = ["protein", "nucleic", "water", "ion", "lipid"];

    /// Smallest number of carbon atoms at which a residue counts as a phospholipid with two chains. DLPA, the shortest
    /// phospholipid of CHARMM36 with two chains, has more carbon atoms; lysolipids and detergents have up to 24 carbon
    /// atoms.
    const TWO_CHAINS: usize = 26;

    /// Names of residues with a single atom that is not an ion: noble gases, and a dummy atom of CHARMM36.
    const NEUTRAL: [&str; 3] = ["HE1", "NE1", "DUM"];

    /// Returns the class of the selection language to which a residue must belong, judged by the atoms of the residue;
    /// `None` if no class is expected. The residue name Ra stands for radium in AMBER files, but the selection language
    /// assigns the name to nucleotides.
    fn class_of(file: &str, residue: &Node<'_>, element: impl Fn(&str) -> String) -> Option<&'static str> {
        let atoms: Vec<Node<'_>> = residue.children().filter(|child| child.name() == "Atom").collect();
        let has = |names: &[&str]| names.iter().all(|name| atoms.iter().any(|a| a.attribute("name") == Some(*name)));
        let is_linked_at = |name: Option<&str>| {
            let mut links = residue.children().filter(|child| child.name() == "ExternalBond");
            links.any(|link| name.is_none_or(|name| link.attribute("atomName") == Some(name)))
        };
        let count =
            |symbol: &str| atoms.iter().filter(|a| a.attribute("type").is_some_and(|t| element(t) == symbol)).count();
        let name = residue.attribute("name").unwrap_or_default();
        let is = |word: &str| file.contains(word);
        match atoms.len() {
            _ if is("protein") => Some("protein"),
            _ if is("DNA") || is("RNA") || name == "Ra" => Some("nucleic"),
            _ if is("lipid") => Some("lipid"),
            1 => (!NEUTRAL.contains(&name)).then_some("ion"),
            _ if count("O") == 1 && count("H") == 2 && count("C") == 0 => Some("water"),
            _ if has(&["N", "CA", "C"]) && (is_linked_at(Some("N")) || is_linked_at(Some("C"))) => Some("protein"),
            _ if has(&["C1'", "C3'", "O3'"]) && is_linked_at(None) => Some("nucleic"),
            _ if count("P") > 0 && count("C") >= TWO_CHAINS && !is_linked_at(None) => Some("lipid"),
            _ => None,
        }
    }

    /// Returns a topology of one-atom residues with the given names.
    fn topology(names: &[String]) -> Topology {
        let name = Name::new("X");
        let atom = |residue| Atom { name, type_name: name, element: 6, mass: 1.0, charge: 0.0, lj_type: 0, residue };
        Topology {
            atoms: (0..names.len() as u32).map(atom).collect(),
            residues: (0..)
                .zip(names)
                .map(|(k, name)| Residue { name: Name::new(name), number: k, first: k as u32 })
                .collect(),
            ..Topology::default()
        }
    }

    /// Tests that every residue of a force field with an expected class belongs to this class, and to no other class of
    /// the selection language.
    #[test]
    fn selections_know_the_residues_of_all_force_fields() {
        let mut missing = vec![];
        for file in names() {
            let path = Path::new(file);
            let bytes = read(path).unwrap().unwrap();
            let document = Document::parse(path, &bytes).unwrap();
            let root = document.root();
            let section = |name: &'static str| {
                root.children().filter(move |child| child.name() == name).flat_map(|child| child.children())
            };
            let elements: std::collections::HashMap<&str, &str> = section("AtomTypes")
                .filter_map(|kind| Some((kind.attribute("name")?, kind.attribute("element")?)))
                .collect();
            let residues: Vec<Node<'_>> = section("Residues").collect();
            assert!(!residues.is_empty(), "{file}");
            let names: Vec<String> = residues.iter().map(|r| r.attribute("name").unwrap().to_owned()).collect();
            let topology = topology(&names);
            let found = CLASSES.map(|class| select(&topology, class).unwrap_or_default());
            for (index, residue) in (0..).zip(&residues) {
                let expected = class_of(file, residue, |kind| elements.get(kind).unwrap_or(&"").to_string());
                let classes: Vec<&str> = CLASSES
                    .into_iter()
                    .zip(&found)
                    .filter(|(_, atoms)| atoms.contains(&index))
                    .map(|(class, _)| class)
                    .collect();
                // CHARMM36 has modified nucleotides with residue names that the PDB uses for other molecules
                let may_lack = file == "charmm36_2024.xml" && expected == Some("nucleic") && classes.is_empty();
                if expected.is_some() && classes != Vec::from_iter(expected) && !may_lack {
                    missing.push(format!("{file} {}: {classes:?}, not {expected:?}", names[index as usize]));
                }
            }
        }
        assert!(missing.is_empty(), "{missing:#?}");
    }
}
