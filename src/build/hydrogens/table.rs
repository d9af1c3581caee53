//! Table of the hydrogens of residues (`hydrogens.xml` of OpenMM, see `src/build/data/README.md`).

use std::collections::HashMap;
use std::io::Read;
use std::path::Path;

use md_engine::error::{Error, Result};
use md_engine::format::xml::Document;

use crate::structure::Component;

/// Text of the table of hydrogens, compressed with xz.
const PACKED: &[u8] = include_bytes!("../data/hydrogens.xml.xz");
/// Cysteine, whose thiolate the table lacks. The thiolate has the hydrogens of the variant with a disulfide bond.
const CYSTEINE: &str = "CYS";
/// Variant of cysteine without a hydrogen on the sulfur and without a disulfide bond.
pub(super) const THIOLATE: &str = "CYM";
/// Variant of cysteine with a disulfide bond.
pub(super) const BRIDGED: &str = "CYX";

/// A hydrogen of a residue.
#[derive(Clone, Debug)]
pub(super) struct Hydrogen {
    /// name of the hydrogen
    pub(super) name: String,
    /// name of the atom to which the hydrogen is bonded
    pub(super) parent: String,
    /// whether only residues at an end of a chain have the hydrogen
    pub(super) is_terminal: bool,
    /// variants that have the hydrogen; empty if every variant has the hydrogen
    pub(super) variants: Vec<String>,
}

/// Hydrogens and variants of a residue.
#[derive(Clone, Debug, Default)]
pub(super) struct Entry {
    /// names of the variants, such as `HID`; empty if the residue has only one variant
    pub(super) variants: Vec<String>,
    pub(super) hydrogens: Vec<Hydrogen>,
}

/// Hydrogens and variants of all known residues, by residue name.
#[derive(Debug)]
pub(super) struct Table(HashMap<String, Entry>);

impl Table {
    /// Reads the table.
    pub(super) fn read() -> Result<Self> {
        let path = Path::new("hydrogens.xml");
        let mut bytes = vec![];
        lzma_rust2::XzReader::new(PACKED, true)
            .read_to_end(&mut bytes)
            .map_err(|error| Error::Internal(format!("the table of hydrogens is damaged: {error}")))?;
        let document = Document::parse(path, &bytes)?;
        let mut entries = HashMap::new();
        for residue in document.root().children() {
            let mut entry = Entry::default();
            for child in residue.children() {
                let name = child.text("name")?.to_owned();
                if child.name() == "Variant" {
                    entry.variants.push(name);
                    continue;
                }
                let variants = child.attribute("variant").unwrap_or_default().split(',');
                entry.hydrogens.push(Hydrogen {
                    name,
                    parent: child.text("parent")?.to_owned(),
                    is_terminal: child.attribute("terminal").is_some(),
                    variants: variants.filter(|name| !name.is_empty()).map(str::to_owned).collect(),
                });
            }
            let name = residue.text("name")?;
            if name == CYSTEINE
                && let Some(bridged) = entry.variants.iter().position(|variant| variant == BRIDGED)
            {
                // the hydrogens of an entry state the first variant with these hydrogens
                entry.variants.insert(bridged, THIOLATE.to_owned());
            }
            entries.insert(name.to_owned(), entry);
        }
        Ok(Table(entries))
    }

    /// Adds a residue that a force field or a topology file defines. The new entry replaces an earlier entry with the
    /// same name.
    pub(super) fn add(&mut self, component: &Component) {
        let hydrogen = |[name, parent]: [&str; 2]| Hydrogen {
            name: name.to_owned(),
            parent: parent.to_owned(),
            is_terminal: false,
            variants: vec![],
        };
        let hydrogens = component.hydrogens().map(hydrogen).collect();
        self.0.insert(component.name.clone(), Entry { variants: vec![], hydrogens });
    }

    /// Returns the entry of a residue. The name may be the name of a residue or of a variant. If the name is that of a
    /// variant, the second value is this variant.
    pub(super) fn find(&self, name: &str) -> Option<(&Entry, Option<&str>)> {
        if let Some(entry) = self.0.get(name) {
            return Some((entry, None));
        }
        let name = super::variant_of_name(name).unwrap_or(name);
        self.0.values().find_map(|entry| {
            let variant = entry.variants.iter().find(|variant| *variant == name)?;
            Some((entry, Some(variant.as_str())))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn residues_are_found_by_their_names_and_variants() {
        let table = Table::read().unwrap();
        let (histidine, none) = table.find("HIS").unwrap();
        assert_eq!((none, histidine.variants.join(" ").as_str()), (None, "HID HIE HIP HIN"));
        assert_eq!(table.find("HSE").unwrap().1, Some("HIE"));
        assert_eq!(["CYX", "CYM"].map(|name| table.find(name).unwrap().1), [Some("CYX"), Some("CYM")]);
        assert!(table.find("XYZ").is_none());
        let on_ring = |variant: &str| {
            let has = |h: &&Hydrogen| h.variants.is_empty() || h.variants.iter().any(|v| v == variant);
            histidine.hydrogens.iter().filter(|h| !h.is_terminal).filter(has).count()
        };
        assert_eq!(["HID", "HIE", "HIP"].map(on_ring), [7, 7, 8]);
    }
}
