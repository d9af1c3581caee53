//! Choice of residues, alternative locations and names from an entry.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};

use md_engine::vec3::Vec3;

use super::caps;
use super::decision::{Decision, Subject};
use super::model::{Chain, Entry, EntryAtom, EntryResidue};
use super::names::{ion, is_rna, rename_atoms, standard, standard_in};
use super::options::Options;
use super::table::{ResidueKind, StandardResidue};

/// Atomic numbers of selenium and sulfur.
const SELENIUM: u8 = 34;
const SULFUR: u8 = 16;

/// Name of the residues that mark the planes of the membrane in files of the database OPM (M. A. Lomize et al., Nucleic
/// Acids Res. 40, D370 (2012), doi:10.1093/nar/gkr703).
const MEMBRANE_MARK: &str = "DUM";

/// A residue that was chosen from the entry, with the atoms of one alternative location.
#[derive(Clone, Debug)]
pub(super) struct Picked {
    /// index of the chain in the entry
    pub(super) chain: usize,
    pub(super) unit: u32,
    pub(super) name: String,
    /// residue name in the file, before standardisation
    pub(super) given: String,
    pub(super) number: i32,
    pub(super) insertion_code: Option<char>,
    pub(super) is_polymer: bool,
    pub(super) standard: Option<&'static StandardResidue>,
    pub(super) position: Option<usize>,
    pub(super) atoms: Vec<PickedAtom>,
}

/// An atom that was chosen from the entry.
#[derive(Clone, Debug)]
pub(super) struct PickedAtom {
    pub(super) name: String,
    pub(super) element: u8,
    pub(super) position: Vec3,
}

/// Residues that were chosen, with the decisions about them.
#[derive(Default)]
pub(super) struct Choice {
    pub(super) residues: Vec<Picked>,
    pub(super) decisions: Vec<Decision>,
    /// number of atoms at alternative locations that were not chosen
    pub(super) left_out: usize,
    /// whether the names A, C and G stand for RNA in the current chain
    is_rna: bool,
    /// chosen alternative location of the preceding residue of the chain, if its backbone has alternative locations
    coupled: Option<char>,
    /// number of residues for each pair of old and new name; one decision reports each pair
    renamed: BTreeMap<(String, String), usize>,
    /// number of dropped residues for each residue name
    dropped: BTreeMap<String, usize>,
    renamed_atoms: usize,
    deuterium: usize,
    waters: usize,
    /// number of virtual sites of waters that were left out
    sites: usize,
    /// numbers of the residues of each chain, by its identifier
    numbers: HashMap<String, caps::Numbers>,
    /// number of heavy atoms that were taken although their occupancy is zero
    unoccupied: usize,
    /// number of residues that were left out because they mark the planes of the membrane
    marks: usize,
}

/// Chooses residues, alternative locations and names.
pub(super) fn choose(entry: &Entry, options: &Options) -> Choice {
    let mut choice = Choice::default();
    for chain in &entry.chains {
        let numbers = chain.residues.iter().map(|residue| (residue.number, residue.insertion_code));
        choice.numbers.entry(chain.id.clone()).or_default().extend(numbers);
    }
    for (index, chain) in entry.chains.iter().enumerate() {
        let is_same_site = |a: &EntryResidue, b: &EntryResidue| {
            let is_same_place = (a.number, a.insertion_code) == (b.number, b.insertion_code);
            if !is_same_place || a.is_polymer != b.is_polymer || a.name == b.name {
                return false;
            }
            let has_location = |atom: &EntryAtom| atom.location.is_some();
            // two residues at the same site can share atoms; shared atoms have no alternative location, and the file
            // lists these atoms with only one of the residues
            let is_part = [a, b].map(|residue| residue.atoms.iter().any(has_location));
            let is_whole = [a, b].map(|residue| residue.atoms.iter().all(has_location));
            is_part == [true; 2] && is_whole != [false; 2]
        };
        choice.is_rna = is_rna(chain);
        choice.coupled = None;
        for kinds in chain.residues.chunk_by(is_same_site) {
            choice.site(entry, index, kinds, options);
        }
    }
    choice.summarise(options);
    choice
}

/// Whether a residue belongs to a chain of at least two residues, or is no hetero residue. A free amino acid in HETATM
/// records is a ligand.
fn is_of_chain(chain: &Chain, residue: &EntryResidue) -> bool {
    let is_other = |other: &EntryResidue| other.is_polymer && other.number != residue.number;
    residue.is_polymer && (!residue.is_hetero || chain.residues.iter().any(is_other))
}

/// Returns the name of a residue for messages.
pub(crate) fn label(name: &str, number: i32, code: Option<char>, chain: &str) -> String {
    let code = code.map(String::from).unwrap_or_default();
    if chain.is_empty() { format!("{name} {number}{code}") } else { format!("{name} {number}{code} of chain {chain}") }
}

/// Returns a count and a noun in the singular or plural.
fn counted(count: usize, thing: &str) -> String {
    format!("{count} {thing}{}", if count == 1 { "" } else { "s" })
}

/// Returns the alternative locations of a residue with the mean occupancies of their heavy atoms. The occupancies are
/// in descending order, and locations with equal occupancies are sorted by letter. Locations without heavy atoms come
/// last, with the mean occupancies of their hydrogens.
fn locations(atoms: &[EntryAtom]) -> Vec<(char, f64)> {
    let mut occupancies: BTreeMap<char, [Vec<f64>; 2]> = BTreeMap::new();
    for atom in atoms {
        if let Some(location) = atom.location {
            let [heavy, hydrogens] = occupancies.entry(location).or_default();
            if atom.element == 1 { hydrogens.push(atom.occupancy) } else { heavy.push(atom.occupancy) }
        }
    }
    let mut means: Vec<(bool, char, f64)> = vec![];
    for (location, [heavy, hydrogens]) in occupancies {
        let is_light = heavy.is_empty();
        let values = if is_light { hydrogens } else { heavy };
        means.push((is_light, location, values.iter().sum::<f64>() / values.len() as f64));
    }
    means.sort_by_key(|&(is_light, location, mean)| (is_light, Reverse(rounded(mean)), location));
    means.into_iter().map(|(_, location, mean)| (location, mean)).collect()
}

/// Returns an occupancy in units of 0.0001. Occupancies have two or three decimals, so mean values that differ only by
/// rounding errors become equal.
fn rounded(occupancy: f64) -> i64 {
    (occupancy * 1e4).round() as i64
}

/// Difference of mean occupancies below which the location of the preceding residue is taken.
const EQUAL_OCCUPANCY: f64 = 0.05;

/// Atoms that bond the residues of a chain, and the atoms between them.
const BACKBONE: [&str; 9] = ["N", "CA", "C", "P", "O5'", "C5'", "C4'", "C3'", "O3'"];

/// Alternative location of the atoms without a letter in a residue in which other atoms have the same names and a
/// letter, as in some old PDB files.
const BLANK: char = ' ';

/// Gives atoms without a letter the location [`BLANK`] if an atom of the same name has a letter.
fn letter_blank_locations(atoms: &mut [EntryAtom]) {
    let lettered: HashSet<String> =
        atoms.iter().filter(|atom| atom.location.is_some()).map(|atom| atom.name.clone()).collect();
    let is_blank = |atom: &&mut EntryAtom| atom.location.is_none() && lettered.contains(&atom.name);
    atoms.iter_mut().filter(is_blank).for_each(|atom| atom.location = Some(BLANK));
}

/// Returns the name of an alternative location for messages.
fn letter_of(location: char) -> String {
    if location == BLANK { "without a letter".to_owned() } else { location.to_string() }
}

impl Choice {
    /// Chooses one of the residues that occupy the same site of a chain. Most sites are occupied by only one residue.
    fn site(&mut self, entry: &Entry, chain: usize, kinds: &[EntryResidue], options: &Options) {
        let best = |residue: &EntryResidue| locations(&residue.atoms).first().copied().unwrap_or((' ', 0.0));
        let order = |a: &&EntryResidue, b: &&EntryResidue| {
            let (a, b) = (best(a), best(b));
            rounded(b.1).cmp(&rounded(a.1)).then(a.0.cmp(&b.0))
        };
        let Some(taken) = kinds.iter().min_by(order) else { return };
        let mut taken = Cow::Borrowed(taken);
        if kinds.len() > 1 {
            let others: Vec<&str> = kinds.iter().map(|kind| kind.name.as_str()).collect();
            let atoms = kinds.iter().filter(|kind| kind.name != taken.name).flat_map(|kind| &kind.atoms);
            let shared: Vec<EntryAtom> = atoms.filter(|atom| atom.location.is_none()).cloned().collect();
            taken.to_mut().atoms.splice(0..0, shared);
            self.left_out += kinds.iter().map(|kind| kind.atoms.len()).sum::<usize>() - taken.atoms.len();
            self.decisions.push(Decision::new(
                Subject::Location,
                label(&taken.name, taken.number, taken.insertion_code, &entry.chains[chain].id),
                format!("took {} of the residues {} at this site", taken.name, others.join(", ")),
                "this residue has the highest mean occupancy; if occupancies are equal, the first letter is taken",
            ));
        }
        let found = standard_in(self.is_rna, &taken.name, &taken.atoms);
        let is_water = found.is_some_and(|standard| standard.kind == ResidueKind::Water);
        let is_kept = if is_water {
            options.waters
        } else {
            options.hetero || is_of_chain(&entry.chains[chain], &taken) || options.kept.contains(&taken.name)
        };
        self.waters += usize::from(is_water);
        if taken.name == MEMBRANE_MARK && !taken.is_polymer {
            self.marks += 1;
            return;
        }
        if !is_kept {
            if !is_water {
                *self.dropped.entry(taken.name.clone()).or_default() += 1;
            }
            return;
        }
        let picked = self.residue(entry, chain, &taken, found);
        let id = &entry.chains[chain].id;
        let taken = self.numbers.entry(id.clone()).or_default();
        self.residues.extend(caps::split(picked, id, taken, &mut self.decisions));
    }

    fn residue(
        &mut self,
        entry: &Entry,
        chain: usize,
        residue: &EntryResidue,
        found: Option<&'static StandardResidue>,
    ) -> Picked {
        let place = label(&residue.name, residue.number, residue.insertion_code, &entry.chains[chain].id);
        let mut atoms = residue.atoms.clone();
        for atom in atoms.iter_mut().filter(|atom| atom.is_deuterium) {
            if let Some(rest) = atom.name.strip_prefix('D') {
                atom.name = format!("H{rest}");
            }
            self.deuterium += 1;
        }
        letter_blank_locations(&mut atoms);
        let mut atoms = self.location(atoms, &place);
        let is_ion = atoms.len() == 1;
        let (mut name, mut found) = (residue.name.clone(), found);
        if let Some(ion) = ion(&name).filter(|_| is_ion && found.is_none()) {
            name = ion.to_owned();
        }
        if name == "MSE" {
            found = self.selenomethionine(&mut atoms, &place);
        }
        if let Some(standard) = found {
            self.renamed_atoms += rename_atoms(standard, &mut atoms);
            if standard.kind == ResidueKind::Water {
                let count = atoms.len();
                atoms.retain(|atom| standard.has(&atom.name) || matches!(atom.element, 1 | 8));
                self.sites += count - atoms.len();
            }
            name = standard.name.clone();
        }
        if name != residue.name && residue.name != "MSE" {
            *self.renamed.entry((residue.name.clone(), name.clone())).or_default() += 1;
        }
        if residue.is_polymer && found.is_none() {
            let parent = entry.modified.iter().find(|modified| modified.name == residue.name);
            let parent = parent.map(|modified| format!(", a modified {}", modified.parent)).unwrap_or_default();
            let why = "md replaces a modified residue only if it differs from the standard residue in just one element";
            self.decisions.push(Decision::new(Subject::Modified, place, format!("kept {name}{parent}"), why));
        }
        self.unoccupied += atoms.iter().filter(|atom| atom.element != 1 && atom.occupancy == 0.0).count();
        let picked = |atom: EntryAtom| PickedAtom { name: atom.name, element: atom.element, position: atom.position };
        Picked {
            chain,
            unit: residue.unit,
            name,
            given: residue.name.clone(),
            number: residue.number,
            insertion_code: residue.insertion_code,
            is_polymer: residue.is_polymer,
            standard: found,
            position: residue.position,
            atoms: atoms.into_iter().map(picked).collect(),
        }
    }

    /// Returns the atoms at the alternative location with the highest mean occupancy. Where the backbones of
    /// consecutive residues have alternative locations, the location of the preceding residue is taken, unless another
    /// one has a higher mean occupancy by more than [`EQUAL_OCCUPANCY`]: locations with one letter belong together. A
    /// heavy atom without a position at the location is taken from the location with the next highest occupancy.
    fn location(&mut self, atoms: Vec<EntryAtom>, place: &str) -> Vec<EntryAtom> {
        let mut order = locations(&atoms);
        let is_moving = |atom: &EntryAtom| atom.location.is_some() && BACKBONE.contains(&atom.name.as_str());
        let has_moving = atoms.iter().any(is_moving);
        let before = self.coupled.filter(|_| has_moving);
        let least = order.first().map_or(0.0, |(_, mean)| mean - EQUAL_OCCUPANCY);
        let same = order.iter().position(|(letter, mean)| Some(*letter) == before && *mean >= least);
        let is_coupled = same.is_some_and(|index| index > 0);
        if let Some(index) = same {
            order[..=index].rotate_right(1);
        }
        self.coupled = order.first().map(|(letter, _)| *letter).filter(|_| has_moving);
        let ranks: HashMap<char, usize> = order.iter().enumerate().map(|(rank, (letter, _))| (*letter, rank)).collect();
        let rank = |atom: &EntryAtom| atom.location.and_then(|letter| ranks.get(&letter).copied()).unwrap_or(0);
        let mut by_rank: Vec<usize> = (0..atoms.len()).collect();
        by_rank.sort_by_key(|&index| rank(&atoms[index]));
        let mut seen: HashSet<&str> = HashSet::new();
        let mut is_taken = vec![false; atoms.len()];
        let mut filled = 0;
        for index in by_rank {
            let atom = &atoms[index];
            let is_other = rank(atom) > 0;
            if (!is_other || atom.element != 1) && seen.insert(&atom.name) {
                is_taken[index] = true;
                filled += usize::from(is_other);
            }
        }
        let left_out = is_taken.iter().filter(|taken| !**taken).count();
        let is_repeated = |(index, atom): (usize, &EntryAtom)| !is_taken[index] && rank(atom) == 0;
        let repeated = atoms.iter().enumerate().filter(|&entry| is_repeated(entry)).count();
        self.left_out += left_out;
        if repeated > 0 {
            let what = format!("left out {repeated} atoms whose names are repeated");
            let why = "atoms of a residue have different names";
            self.decisions.push(Decision::new(Subject::Location, place, what, why));
        }
        if let [(best, occupancy), others @ ..] = &order[..] {
            let letters: Vec<String> =
                others.iter().map(|(letter, mean)| format!("{} ({mean:.2})", letter_of(*letter))).collect();
            let more =
                if filled > 0 { format!(", and {filled} missing atoms from other locations") } else { String::new() };
            let why = match letters.is_empty() {
                true => "the residue has only this location".to_owned(),
                false => format!(
                    "this location has the mean occupancy {occupancy:.2}; other locations: {}{}",
                    letters.join(", "),
                    if is_coupled { "; the preceding residue has this location" } else { "" }
                ),
            };
            let what = format!("took the alternative location {}{more}", letter_of(*best));
            self.decisions.push(Decision::new(Subject::Location, place, what, why));
        }
        atoms.into_iter().zip(is_taken).filter(|(_, taken)| *taken).map(|(atom, _)| atom).collect()
    }

    /// Replaces selenomethionine by methionine.
    fn selenomethionine(&mut self, atoms: &mut [EntryAtom], place: &str) -> Option<&'static StandardResidue> {
        for atom in atoms.iter_mut().filter(|atom| atom.element == SELENIUM || atom.name == "SE") {
            (atom.name, atom.element) = ("SD".to_owned(), SULFUR);
        }
        let why = "selenium replaces sulfur for the solution of crystal structures; force fields have no MSE";
        let what = "replaced MSE by MET, with SD in place of SE";
        self.decisions.push(Decision::new(Subject::Modified, place, what, why));
        standard("MET", &[])
    }

    /// Adds one decision for each kind of choice that concerns many residues.
    fn summarise(&mut self, options: &Options) {
        let mut say = |subject, what: String, why: &str| {
            self.decisions.push(Decision::new(subject, "the whole entry", what, why));
        };
        if self.waters > 0 {
            let (verb, why) = match options.waters {
                true => ("kept", "waters of an entry are kept unless they are dropped on request"),
                false => ("dropped", "this was asked for"),
            };
            say(Subject::Selection, format!("{verb} {}", counted(self.waters, "water")), why);
        }
        for (name, count) in &self.dropped {
            say(Subject::Selection, format!("dropped {} {name}", counted(*count, "residue")), "this was asked for");
        }
        for ((old, new), count) in &self.renamed {
            let what = format!("renamed {} {old} to {new}", counted(*count, "residue"));
            say(Subject::Names, what, "PDB files of version 3 use this name");
        }
        if self.renamed_atoms > 0 {
            let what = format!("renamed {}", counted(self.renamed_atoms, "atom"));
            say(Subject::Names, what, "PDB files of version 3 use other names");
        }
        if self.sites > 0 {
            let what = format!("left out {} of waters", counted(self.sites, "virtual site"));
            say(Subject::Selection, what, "md build adds the virtual sites of the water model");
        }
        if self.marks > 0 {
            let what = format!("left out {} DUM", counted(self.marks, "residue"));
            say(Subject::Selection, what, "residues DUM mark the planes of the membrane in files of OPM");
        }
        if self.unoccupied > 0 {
            let what = format!("took {} with the occupancy 0.00", counted(self.unoccupied, "heavy atom"));
            say(
                Subject::Selection,
                what,
                "the entry states their positions, although the experiment may not show them",
            );
        }
        if self.deuterium > 0 {
            let what = format!("replaced {} of deuterium by hydrogen", counted(self.deuterium, "atom"));
            say(Subject::Names, what, "deuterium is an isotope of hydrogen");
        }
    }
}
