//! Bonds of a structure: within standard residues, along chains, between cysteines, and bonds that the file states.

use std::collections::{HashMap, HashSet};

use md_engine::system::polymer::CHAIN_BONDS;

use super::choose::Picked;
use super::cut;
use super::decision::{Decision, Subject};
use super::disulfide::find_disulfides;
use super::draft::Draft;
use super::links::Places;
use super::metals::is_metal;
use super::model::LinkKind;
use super::near::Grid;

/// Largest distance of two atoms that count as bonded along a chain, in units of the length of their bond, as in the
/// function `are_connected` of Gemmi 0.7 (`gemmi/polyheur.hpp`).
const LONGEST_OF_CHAIN: f64 = 1.5;

/// Largest length (nm) of a covalent bond that the file states. A longer link is a contact without a bond, or an error
/// of the file. OpenMM 8 accepts disulfide bonds of at most 0.3 nm (`Topology.createDisulfideBonds`).
const LONGEST_STATED: f64 = 0.3;

/// Maximum number of bonds that are read for each first atom in the bond list of a component. Atoms of real molecules
/// have fewer bonds.
const MOST_PARTNERS: usize = 16;

/// A residue whose bonds are unknown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsupported {
    /// index of the residue
    pub residue: u32,
    /// number of atoms of the residue that have no bond
    pub unbonded: usize,
    /// advice for the user
    pub help: String,
}

/// Bonds of a structure, disulfide bonds, and residues whose bonds are unknown.
#[derive(Default)]
pub(super) struct Found {
    pub(super) bonds: Vec<[u32; 2]>,
    pub(super) disulfides: Vec<[u32; 2]>,
    pub(super) unsupported: Vec<Unsupported>,
}

/// Set of bonds without duplicates.
#[derive(Default)]
struct Bonds {
    bonds: Vec<[u32; 2]>,
    seen: HashSet<[u32; 2]>,
}

impl Bonds {
    /// Adds a bond, and returns whether the bond is new.
    fn add(&mut self, a: u32, b: u32) -> bool {
        let pair = [a.min(b), a.max(b)];
        let is_new = a != b && self.seen.insert(pair);
        if is_new {
            self.bonds.push(pair);
        }
        is_new
    }
}

/// Finds all bonds.
pub(super) fn find_bonds(draft: &Draft<'_>, decisions: &mut Vec<Decision>) -> Found {
    let mut bonds = Bonds::default();
    within_residues(draft, &mut bonds);
    along_chains(draft, &mut bonds, decisions);
    between_ends(draft, &mut bonds, decisions);
    let places = Places::new(draft);
    let disulfides = find_disulfides(draft, &places, decisions);
    for [a, b] in &disulfides {
        bonds.add(*a, *b);
    }
    stated(draft, &places, &mut bonds, decisions);
    cut::report(draft, &places, LONGEST_STATED, decisions);
    let unsupported = unsupported(draft, &bonds.bonds);
    bonds.bonds.sort_unstable();
    Found { bonds: bonds.bonds, disulfides, unsupported }
}

/// Adds the bonds of standard residues, and of the components that the file describes.
fn within_residues(draft: &Draft<'_>, bonds: &mut Bonds) {
    let mut components: HashMap<[&str; 2], Vec<&str>> = HashMap::new();
    for bond in &draft.entry.component_bonds {
        let partners = components.entry([&bond.residue, &bond.atoms[0]]).or_default();
        if partners.len() < MOST_PARTNERS {
            partners.push(&bond.atoms[1]);
        }
    }
    for index in 0..draft.copies.len() {
        let atoms = draft.structure.residue_atoms(index);
        let names: HashMap<&str, u32> =
            atoms.map(|atom| (draft.structure.atoms[atom].name.as_str(), atom as u32)).collect();
        let source = draft.source(index);
        let mut add = |a: &str, b: &str| {
            if let (Some(&a), Some(&b)) = (names.get(a), names.get(b)) {
                bonds.add(a, b);
            }
        };
        match source.standard {
            Some(standard) => standard.bonds.iter().for_each(|[a, b]| add(a, b)),
            None => {
                for a in names.keys() {
                    let partners = components.get(&[source.given.as_str(), a]).into_iter().flatten();
                    partners.for_each(|b| add(a, b));
                }
            }
        }
    }
}

/// Returns the two atoms that form the bond between consecutive residues `a` and `b` of a chain.
fn chain_atoms(draft: &Draft<'_>, a: usize, b: usize) -> Option<[u32; 2]> {
    let atoms = |&(end, start, _): &(&str, &str, f64)| Some([draft.atom(a, end)?, draft.atom(b, start)?]);
    CHAIN_BONDS.iter().find_map(atoms)
}

/// Whether two residues are near enough for a bond along the chain.
pub(super) fn is_chain_bond(a: &Picked, b: &Picked) -> bool {
    let atom =
        |residue: &Picked, name: &str| residue.atoms.iter().find(|atom| atom.name == name).map(|atom| atom.position);
    CHAIN_BONDS.iter().any(|(end, start, length)| match (atom(a, end), atom(b, start)) {
        (Some(end), Some(start)) => (end - start).norm() <= LONGEST_OF_CHAIN * length,
        _ => false,
    })
}

/// Adds the bonds between consecutive residues of polymers, unless residues are missing between them.
fn along_chains(draft: &Draft<'_>, bonds: &mut Bonds, decisions: &mut Vec<Decision>) {
    for polymer in draft.polymers() {
        for pair in polymer.windows(2) {
            let (a, b) = (pair[0], pair[1]);
            let follows = match (draft.source(a).position, draft.source(b).position) {
                (Some(a), Some(b)) => a + 1 == b,
                _ => true,
            };
            let Some([end, start]) = chain_atoms(draft, a, b) else { continue };
            let is_near = is_chain_bond(draft.source(a), draft.source(b));
            if is_near && follows {
                bonds.add(end, start);
            } else if is_near != follows {
                let place = format!("{} and {}", draft.structure.residue_label(a), draft.structure.residue_label(b));
                let distance = draft.distance(end, start);
                let why = match follows {
                    true => format!("the distance of {distance:.3} nm is too long for a bond"),
                    false => format!(
                        "the sequence has further residues between these two residues, although only {distance:.3} nm separate them"
                    ),
                };
                decisions.push(Decision::new(Subject::Bonds, place, "no bond along the chain", why));
            }
        }
    }
}

/// Adds the bonds between the last residue of a polymer and the first residue of a polymer. The two residues belong to
/// the same polymer if the peptide is cyclic, and to different polymers if a TER record stands within a chain. A
/// polymer that ends with OXT has no such bond.
fn between_ends(draft: &Draft<'_>, bonds: &mut Bonds, decisions: &mut Vec<Decision>) {
    let polymers = draft.polymers();
    let starts = |&(_, start, _): &(&str, &'static str, f64)| {
        let atoms = polymers.iter().filter_map(move |polymer| Some((draft.atom(polymer[0], start)?, polymer[0])));
        atoms.collect::<HashMap<u32, usize>>()
    };
    for bond @ (end, _, length) in CHAIN_BONDS {
        let starts = starts(&bond);
        let grid = Grid::new(&draft.positions, starts.keys().copied(), LONGEST_OF_CHAIN * length);
        for &last in polymers.iter().filter_map(|polymer| polymer.last()) {
            let Some(atom) = draft.atom(last, end).filter(|_| draft.atom(last, "OXT").is_none()) else { continue };
            let follows = |&&(_, start): &&(f64, u32)| starts[&start] != last && is_next(draft, last, starts[&start]);
            if let Some(&(distance, start)) = grid.around(atom).iter().find(follows) {
                bonds.add(atom, start);
                let ends = [last, starts[&start]].map(|residue| draft.structure.residue_label(residue));
                let why = format!("an end and a beginning of chains are {distance:.3} nm apart");
                decisions.push(Decision::new(Subject::Bonds, ends.join(" and "), "made a bond", why));
            }
        }
    }
}

/// Whether the first residue of a polymer may follow the last residue of a polymer: the sequences have no residues
/// after the last or before the first residue, or the two residues are consecutive in a sequence.
fn is_next(draft: &Draft<'_>, last: usize, first: usize) -> bool {
    let [end, start] = [last, first].map(|index| draft.source(index).position);
    let length = draft.entry.chains[draft.source(last).chain].sequence.len();
    match (end, start) {
        (Some(end), Some(start)) => end + 1 == start || (end + 1 == length && start == 0),
        _ => true,
    }
}

/// Adds the covalent bonds that the file states, and those that were found by their lengths. Bonds between a metal and
/// another residue are left out; a metal within a residue, such as the iron of heme, keeps its bonds. CONECT bonds
/// between standard residues are also left out, because the table of standard residues has these bonds.
fn stated(draft: &Draft<'_>, places: &Places<'_>, bonds: &mut Bonds, decisions: &mut Vec<Decision>) {
    let residues = draft.structure.residue_of_atoms();
    let label = |atom: u32| draft.structure.atom_label(atom as usize);
    for link in &draft.entry.links {
        if !matches!(link.kind, LinkKind::Covalent | LinkKind::Connection | LinkKind::Found) {
            continue;
        }
        for [a, b] in places.pairs(link) {
            let is_standard = [a, b].map(|atom| draft.source(residues[atom as usize] as usize).standard.is_some());
            let is_within = residues[a as usize] == residues[b as usize];
            let has_metal = [a, b].iter().any(|&atom| is_metal(draft.structure.atoms[atom as usize].element));
            let is_of_table = link.kind == LinkKind::Connection && is_standard == [true; 2];
            if is_of_table || (has_metal && !is_within) || bonds.seen.contains(&[a, b]) {
                continue;
            }
            let distance = draft.distance(a, b);
            let place = format!("{} and {}", label(a), label(b));
            let mut say =
                |what: &str, why: String| decisions.push(Decision::new(Subject::Bonds, place.clone(), what, why));
            if link.is_symmetry {
                say("left out a bond", "the file states a bond between symmetry copies of a crystal".to_owned());
            } else if distance > LONGEST_STATED {
                say("left out a bond", format!("the file states the bond, but the distance is {distance:.3} nm"));
            } else if bonds.add(a, b) && !is_within {
                say(
                    "made a bond",
                    match link.kind {
                        LinkKind::Found => format!("the distance of {distance:.3} nm is that of a bond"),
                        _ => format!("the file states the bond; the distance is {distance:.3} nm"),
                    },
                );
            }
        }
    }
}

/// Returns the nonstandard residues in which at least one atom has no bond. A residue of a single atom needs no bond.
fn unsupported(draft: &Draft<'_>, bonds: &[[u32; 2]]) -> Vec<Unsupported> {
    let mut is_bonded = vec![false; draft.positions.len()];
    bonds.iter().flatten().for_each(|&atom| is_bonded[atom as usize] = true);
    let mut found = vec![];
    for index in 0..draft.copies.len() {
        let atoms = draft.structure.residue_atoms(index);
        if draft.source(index).standard.is_some() || atoms.len() == 1 {
            continue;
        }
        let unbonded = atoms.filter(|&atom| !is_bonded[atom]).count();
        if unbonded > 0 {
            let name = &draft.structure.residues[index].name;
            let help = format!(
                "give the bonds of {name} by CONECT records or _chem_comp_bond, or drop the residue; a force field with parameters of {name} is needed, too"
            );
            found.push(Unsupported { residue: index as u32, unbonded, help });
        }
    }
    found
}
