//! Grouping of atom records into chains and residues, for PDB and PDBx/mmCIF files.

use std::collections::{HashMap, HashSet};

use md_engine::error::Problem;
use md_engine::format::element;
use md_engine::system::polymer::has_backbone;
use md_engine::units::{ANGSTROM, FARTHEST};
use md_engine::vec3::{Vec3, vec3};

use super::model::{Chain, Entry, EntryAtom, EntryResidue};
use super::names::standard;
use super::table::ResidueKind;

/// Maximum number of residues at the end of a chain that are searched for the residue of an atom record. The searched
/// residues have the same number and insertion code; a site with microheterogeneity has two or three residues.
const MOST_KINDS: usize = 16;

/// An atom record.
pub(super) struct AtomRecord<'a> {
    /// identifier of the chain
    pub(super) chain: &'a str,
    /// name of the unit, as in [`Entry::units`]
    pub(super) unit: &'a str,
    pub(super) residue: &'a str,
    pub(super) number: i32,
    pub(super) insertion_code: Option<char>,
    pub(super) is_hetero: bool,
    /// whether the record is in the part of the chain where residues may belong to a polymer
    pub(super) may_be_polymer: bool,
    /// index into the sequence of the chain, if the file states the index
    pub(super) position: Option<usize>,
    pub(super) atom: EntryAtom,
}

/// Indices of an atom in an entry: chain, residue of the chain, and atom of the residue.
pub(super) type Place = [usize; 3];

/// An entry that is being read.
#[derive(Default)]
pub(super) struct Collector {
    pub(super) entry: Entry,
    /// index of the last chain with each identifier
    chains: HashMap<String, usize>,
    units: HashMap<String, u32>,
}

impl Collector {
    /// Returns the index of the last chain with the given identifier. Adds a chain if no chain has this identifier.
    pub(super) fn chain(&mut self, id: &str) -> usize {
        match self.chains.get(id) {
            Some(&index) => index,
            None => self.begin_chain(id),
        }
    }

    /// Adds a chain, to which all subsequent records with its identifier belong.
    pub(super) fn begin_chain(&mut self, id: &str) -> usize {
        let index = self.entry.chains.len();
        self.entry.chains.push(Chain { id: id.to_owned(), ..Chain::default() });
        self.chains.insert(id.to_owned(), index);
        index
    }

    /// Adds an atom and returns its indices.
    pub(super) fn add(&mut self, record: AtomRecord<'_>) -> Place {
        let chain = self.chain(record.chain);
        let residue = self.residue_of(chain, &record).unwrap_or_else(|| self.begin_residue(chain, &record));
        let atoms = &mut self.entry.chains[chain].residues[residue].atoms;
        atoms.push(record.atom);
        [chain, residue, atoms.len() - 1]
    }

    /// Returns the index of the residue to which an atom record belongs; `None` if the record begins a new residue. An
    /// atom with the same name and location as the first atom of a residue begins a new residue. In some files, for
    /// example, all waters have the same number.
    fn residue_of(&self, chain: usize, record: &AtomRecord<'_>) -> Option<usize> {
        let residues = &self.entry.chains[chain].residues;
        let place = (record.number, record.insertion_code);
        let same = residues.iter().enumerate().rev().take(MOST_KINDS);
        let found = same
            .take_while(|(_, residue)| (residue.number, residue.insertion_code) == place)
            .find(|(_, residue)| residue.name == record.residue)?;
        let first = found.1.atoms.first();
        let again =
            first.is_some_and(|first| (&first.name, first.location) == (&record.atom.name, record.atom.location));
        (!again).then_some(found.0)
    }

    fn begin_residue(&mut self, chain: usize, record: &AtomRecord<'_>) -> usize {
        let count = self.units.len() as u32;
        let unit = match self.units.get(record.unit) {
            Some(&unit) => unit,
            None => {
                self.units.insert(record.unit.to_owned(), count);
                self.entry.units.push(record.unit.to_owned());
                count
            }
        };
        let residues = &mut self.entry.chains[chain].residues;
        residues.push(EntryResidue {
            name: record.residue.to_owned(),
            number: record.number,
            insertion_code: record.insertion_code,
            is_hetero: record.is_hetero,
            is_polymer: record.may_be_polymer,
            unit,
            position: record.position,
            atoms: vec![],
        });
        residues.len() - 1
    }

    /// Returns the complete entry. In the part of a chain that may belong to a polymer, a residue counts as polymer in
    /// three cases: it is a standard residue of polymers, it is in the sequence, or it has all backbone atoms.
    pub(super) fn finish(mut self) -> Entry {
        for chain in &mut self.entry.chains {
            let sequence: HashSet<&str> = chain.sequence.iter().map(|position| position.name.as_str()).collect();
            for residue in &mut chain.residues {
                residue.is_polymer = residue.is_polymer && is_polymer(residue, &sequence);
                let is_known = residue.position.is_some_and(|position| position < chain.sequence.len());
                residue.position = residue.position.filter(|_| is_known && residue.is_polymer);
            }
        }
        self.entry.chains.retain(|chain| !chain.residues.is_empty());
        self.entry
    }
}

fn is_polymer(residue: &EntryResidue, sequence: &HashSet<&str>) -> bool {
    match standard(&residue.name, &residue.atoms).map(|standard| standard.kind) {
        Some(ResidueKind::Water) => false,
        Some(_) => true,
        None => {
            let names: HashSet<&str> = residue.atoms.iter().map(|atom| atom.name.as_str()).collect();
            sequence.contains(residue.name.as_str()) || has_backbone(|name| names.contains(name))
        }
    }
}

/// Returns a position in nm from coordinates in Å.
pub(super) fn position([x, y, z]: [Option<f64>; 3]) -> Result<Vec3, Problem> {
    let (Some(x), Some(y), Some(z)) = (x, y, z) else {
        let problem = Problem::new("the atom has no coordinates x, y and z");
        return Err(problem.help("perhaps the line is cut off, or its columns are shifted"));
    };
    let position = vec3(x, y, z) * ANGSTROM;
    if position.norm() <= FARTHEST {
        return Ok(position);
    }
    Err(Problem::new(format!("the atom at {x} {y} {z} Å is farther than 1 mm from the origin"))
        .help("the file is damaged"))
}

/// Returns the atomic number, and whether the atom is deuterium. If the file states no element, the element follows
/// from the names of the atom and of its residue.
pub(super) fn element_of(symbol: &str, name: &str, residue: &str) -> (u8, bool) {
    let letters = symbol.trim_end_matches(|c: char| !c.is_ascii_alphabetic());
    let stated = element::number(letters);
    let found = if stated == 0 { element::of_names(name, residue) } else { stated };
    (found, letters.eq_ignore_ascii_case("D"))
}

/// Returns the first character of a text; `None` if the text is empty.
pub(super) fn code(text: &str) -> Option<char> {
    text.chars().next()
}
