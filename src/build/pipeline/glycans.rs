//! Names of glycans in GLYCAM. In this force field, the name of a sugar states the sugar, its anomer and the oxygens to
//! which further sugars are bonded; residues of proteins that carry a sugar have names of their own.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use md_engine::error::{Problem, Result};
use md_engine::vec3::Vec3;

use super::sugars::{self, Anomer, Sugar};
use crate::entry::{
    self, Address, CARRIERS, Decision, Entry, EntryAtom, EntryResidue, Link, LinkKind, Modified, Subject,
};
use crate::forcefield::ForceField;

/// File of the force field.
pub(super) const FILE: &str = "amber14/GLYCAM_06j-1.xml";
/// Name of the residue that holds the hydroxyl group of the anomeric carbon of a free sugar, and its oxygen.
const HYDROXYL: [&str; 2] = ["ROH", "O1"];
/// Largest distance (nm) at which an anomeric carbon and oxygen or nitrogen count as bonded if the file does not state
/// the bond. The usual length is 0.14 nm.
const LONGEST: f64 = 0.17;
/// Atomic numbers of nitrogen and oxygen.
const ACCEPTORS: [u8; 2] = [7, 8];

/// Indices of a residue in an entry: chain, and residue of the chain.
type Place = [usize; 2];
/// Atom of a residue in an entry.
type Site = (Place, String);

/// Whether an entry has sugars, or residues with names of GLYCAM.
pub(super) fn has_glycans(entry: &Entry) -> bool {
    let is_of_glycan = |residue: &EntryResidue| {
        let name = residue.name.as_str();
        sugars::named(name).is_some() || name == HYDROXYL[0] || CARRIERS.iter().any(|(_, _, carrier)| *carrier == name)
    };
    residues(entry).any(|(_, residue)| is_of_glycan(residue))
}

/// Whether a force field has the templates of GLYCAM.
pub(super) fn is_known(field: &ForceField) -> bool {
    field.has_template(HYDROXYL[0])
}

/// Gives sugars, and the residues of proteins that carry them, their names of GLYCAM. Does nothing if the force field
/// has no templates of GLYCAM. Residues with the names `others` are left as they are. Bonds of sugars that the file
/// does not state are found by distance.
///
/// # Errors
/// Fails if an anomeric carbon has no bond, and if the force field has no form of a sugar with its bonds.
pub(super) fn name(entry: &mut Entry, field: &ForceField, others: &[String]) -> Result<Vec<Decision>> {
    let mut decisions = vec![];
    if !is_known(field) {
        return Ok(decisions);
    }
    let found = Glycans::find(entry, others);
    let mut names: BTreeMap<Place, String> = BTreeMap::new();
    for (&place, &(sugar, stated)) in &found.sugars {
        let residue = residue_at(entry, place);
        let label = label(entry, place);
        let outer = match found.acceptors.get(&place) {
            Some((other, atom)) => position(residue_at(entry, *other), atom),
            None => position(residue, sugar.hydroxyl()),
        };
        let Some(outer) = outer else {
            return Err(unbonded(entry, place, sugar).into());
        };
        let anomer = sugar.anomer(residue, outer).unwrap_or(stated);
        let links = found.links_of(place, sugar);
        let name = glycam_name(field, sugar, anomer, &links, &label)?;
        let others: Vec<&str> = links.iter().map(String::as_str).filter(|atom| *atom != sugar.anomeric()).collect();
        let bonds =
            if others.is_empty() { String::new() } else { format!(", with a sugar at {}", others.join(" and ")) };
        let why = match anomer == stated {
            true => format!("this is the name of the sugar{bonds} in GLYCAM"),
            false => {
                format!("this is the name of the sugar{bonds} in GLYCAM; by its coordinates it is the other anomer")
            }
        };
        decisions.push(Decision::new(Subject::Names, label, format!("is {name}"), why));
        names.insert(place, name);
    }
    for ((place, atom), carrier) in found.carriers(entry) {
        let why = format!("this is the name of the residue with a sugar at {atom} in GLYCAM");
        decisions.push(Decision::new(Subject::Names, label(entry, place), format!("is {carrier}"), why));
        let modified = Modified { name: carrier.to_owned(), parent: residue_at(entry, place).name.clone() };
        if !entry.modified.contains(&modified) {
            entry.modified.push(modified);
        }
        names.insert(place, carrier.to_owned());
    }
    apply(entry, &found, &names);
    Ok(decisions)
}

/// Adds to a problem the advice that another force field has sugars.
pub(super) fn advised(problem: Problem) -> Problem {
    let advice = "md build names sugars only for the force field amber14 (--forcefield amber14)";
    let help = problem.help.as_ref().map_or(advice.to_owned(), |help| format!("{help}; {advice}"));
    problem.help(help)
}

/// Sugars of an entry and their bonds.
struct Glycans {
    sugars: BTreeMap<Place, (&'static Sugar, Anomer)>,
    /// atom of another residue to which the anomeric carbon of each sugar is bonded
    acceptors: BTreeMap<Place, Site>,
    /// bonds that the file does not state: anomeric carbon, and atom of the other residue
    unstated: Vec<[Site; 2]>,
    /// residues at the two ends of each link of the entry
    ends: Vec<[Option<Place>; 2]>,
}

impl Glycans {
    fn find(entry: &Entry, others: &[String]) -> Self {
        let sugar = |(place, residue): (Place, &EntryResidue)| {
            let found = sugars::named(&residue.name).filter(|_| !others.contains(&residue.name))?;
            Some((place, found))
        };
        let sugars = residues(entry).filter_map(sugar).collect();
        let mut found = Glycans { sugars, acceptors: BTreeMap::new(), unstated: vec![], ends: ends(entry) };
        for (link, ends) in entry.links.iter().zip(&found.ends) {
            let &[Some(a), Some(b)] = ends else { continue };
            if a == b || link.is_symmetry || !matches!(link.kind, LinkKind::Covalent | LinkKind::Connection) {
                continue;
            }
            for (sugar, own, other, atom) in
                [(a, &link.ends[0].atom, b, &link.ends[1].atom), (b, &link.ends[1].atom, a, &link.ends[0].atom)]
            {
                if found.sugars.get(&sugar).is_some_and(|(kind, _)| kind.anomeric() == own) {
                    found.acceptors.insert(sugar, (other, atom.clone()));
                }
            }
        }
        found.find_near(entry);
        found
    }

    /// Finds the bonds of sugars that the file does not state.
    fn find_near(&mut self, entry: &Entry) {
        for (&place, (sugar, _)) in &self.sugars {
            let residue = residue_at(entry, place);
            let has_hydroxyl = position(residue, sugar.hydroxyl()).is_some();
            let Some(carbon) = position(residue, sugar.anomeric()).filter(|_| !has_hydroxyl) else { continue };
            if self.acceptors.contains_key(&place) {
                continue;
            }
            let nearest = nearest_acceptor(entry, place, carbon).filter(|(distance, _)| *distance < LONGEST);
            if let Some((_, site)) = nearest {
                self.unstated.push([(place, sugar.anomeric().to_owned()), site.clone()]);
                self.acceptors.insert(place, site);
            }
        }
    }

    /// Returns the names of the atoms of a sugar that are bonded to other residues.
    fn links_of(&self, place: Place, sugar: &Sugar) -> BTreeSet<String> {
        let of_others = self.acceptors.values().filter(|(other, _)| *other == place).map(|(_, atom)| atom.clone());
        of_others.chain([sugar.anomeric().to_owned()]).collect()
    }

    /// Returns the residues of proteins to which sugars are bonded, with the bonded atoms and the names in GLYCAM.
    fn carriers(&self, entry: &Entry) -> BTreeMap<Site, &'static str> {
        let carrier = |site: &Site| {
            let name = residue_at(entry, site.0).name.as_str();
            let found = CARRIERS.iter().find(|(residue, atom, _)| *residue == name && *atom == site.1)?;
            Some((site.clone(), found.2))
        };
        self.acceptors.values().filter_map(carrier).collect()
    }
}

/// Returns the error about a sugar whose anomeric carbon has no bond outside of the ring.
fn unbonded(entry: &Entry, place: Place, sugar: &Sugar) -> Problem {
    let carbon = position(residue_at(entry, place), sugar.anomeric());
    let nearest = carbon.and_then(|carbon| nearest_acceptor(entry, place, carbon)).map(|(distance, (other, atom))| {
        format!(" (the nearest is {atom} of {}, at a distance of {distance:.3} nm)", label(entry, other))
    });
    let [atom, label] = [sugar.anomeric(), &label(entry, place)];
    Problem::new(format!("{atom} of {label} has no bond to an oxygen or nitrogen outside of its ring")).help(format!(
        "state its bond with a LINK record or in _struct_conn{}, complete the sugar, or leave it out with --drop-hetero",
        nearest.unwrap_or_default()
    ))
}

/// Returns the oxygen or nitrogen of another residue that is nearest to a position (nm), and the distance (nm).
fn nearest_acceptor(entry: &Entry, place: Place, from: Vec3) -> Option<(f64, Site)> {
    let others = residues(entry).filter(|(other, residue)| *other != place && residue.atoms.len() > 1);
    let atoms = others.flat_map(|(other, residue)| {
        let atoms = residue.atoms.iter().filter(|atom| ACCEPTORS.contains(&atom.element));
        atoms.map(move |atom| ((atom.position - from).norm(), (other, atom)))
    });
    let (distance, (other, atom)) = atoms.min_by(|(a, _), (b, _)| a.total_cmp(b))?;
    Some((distance, (other, atom.name.clone())))
}

/// Returns the name of a sugar in GLYCAM. The first character of the name stands for the set of bonded oxygens; it is
/// found by the bonds of the templates.
fn glycam_name(
    field: &ForceField,
    sugar: &Sugar,
    anomer: Anomer,
    links: &BTreeSet<String>,
    label: &str,
) -> Result<String> {
    let suffix = [sugar.letter, anomer.letter()].iter().collect::<String>();
    let is_form = |name: &str| name.len() == 3 && name.ends_with(&suffix);
    let problem = || {
        let links: Vec<&str> = links.iter().map(String::as_str).collect();
        let message = format!("GLYCAM has no form of {label} with bonds to other residues at {}", links.join(" and "));
        Problem::new(message).help(
            "remove LINK, CONECT or _struct_conn records of atoms that are not bonded, or leave sugars out with \
             --drop-hetero",
        )
    };
    Ok(field.template_with_links(is_form, links).ok_or_else(problem)?)
}

/// Renames residues, atoms and the ends of links; adds bonds that the file does not state, and residues of hydroxyl
/// groups.
fn apply(entry: &mut Entry, found: &Glycans, names: &BTreeMap<Place, String>) {
    let address = |entry: &Entry, (place, atom): &Site| {
        let [chain, _] = *place;
        let EntryResidue { name, number, insertion_code, .. } = residue_at(entry, *place);
        Address {
            chain: entry.chains[chain].id.clone(),
            residue: name.clone(),
            number: *number,
            insertion_code: *insertion_code,
            atom: atom.clone(),
        }
    };
    let bond = |ends| Link { kind: LinkKind::Found, ends, is_symmetry: false };
    for pair in &found.unstated {
        let ends = [address(entry, &pair[0]), address(entry, &pair[1])];
        entry.links.push(bond(ends));
    }
    let unstated = found.unstated.iter().map(|[carbon, other]| [Some(carbon.0), Some(other.0)]);
    let places = found.ends.iter().copied().chain(unstated);
    for (link, places) in entry.links.iter_mut().zip(places) {
        for (end, place) in link.ends.iter_mut().zip(places) {
            let Some((place, name)) = place.and_then(|place| Some((place, names.get(&place)?))) else { continue };
            end.residue.clone_from(name);
            if let Some((sugar, _)) = found.sugars.get(&place) {
                end.atom = sugar.atom(&end.atom).to_owned();
            }
        }
    }
    for (place, name) in names {
        let sugar = found.sugars.get(place).map(|(sugar, _)| sugar);
        let residue = &mut entry.chains[place[0]].residues[place[1]];
        residue.name.clone_from(name);
        if let Some(sugar) = sugar {
            residue.atoms.iter_mut().for_each(|atom| atom.name = sugar.atom(&atom.name).to_owned());
        }
    }
    // hydroxyl groups of a file with names of GLYCAM
    let is_hydroxyl = |link: &&mut Link| link.ends.iter().any(|end| end.residue == HYDROXYL[0]);
    entry.links.iter_mut().filter(is_hydroxyl).for_each(|link| link.kind = LinkKind::Found);
    // from the last sugar to the first, so that the indices of the others stay valid
    let is_free = |(place, _): &(&Place, _)| !found.acceptors.contains_key(*place);
    for (&place, (sugar, _)) in found.sugars.iter().rev().filter(is_free) {
        let residue = &mut entry.chains[place[0]].residues[place[1]];
        let mut atoms: Vec<EntryAtom> = residue.atoms.extract_if(.., |atom| atom.name == sugar.hydroxyl()).collect();
        atoms.iter_mut().for_each(|atom| atom.name = HYDROXYL[1].to_owned());
        let added = EntryResidue { name: HYDROXYL[0].to_owned(), atoms, is_polymer: false, ..residue.clone() };
        entry.chains[place[0]].residues.insert(place[1] + 1, added);
        let after = [place[0], place[1] + 1];
        let ends = [(place, sugar.anomeric().to_owned()), (after, HYDROXYL[1].to_owned())];
        let ends = ends.map(|site| address(entry, &site));
        entry.links.push(bond(ends));
    }
}

fn residue_at(entry: &Entry, [chain, residue]: Place) -> &EntryResidue {
    &entry.chains[chain].residues[residue]
}

fn position(residue: &EntryResidue, name: &str) -> Option<Vec3> {
    residue.atoms.iter().find(|atom| atom.name == name).map(|atom| atom.position)
}

/// Returns all residues of an entry with their indices.
fn residues(entry: &Entry) -> impl Iterator<Item = (Place, &EntryResidue)> {
    entry.chains.iter().enumerate().flat_map(|(chain, found)| {
        found.residues.iter().enumerate().map(move |(index, residue)| ([chain, index], residue))
    })
}

/// Returns the residues at the two ends of each link; `None` for a residue that the entry lacks.
fn ends(entry: &Entry) -> Vec<[Option<Place>; 2]> {
    let mut places = HashMap::new();
    for (place, EntryResidue { name, number, insertion_code, .. }) in residues(entry) {
        let chain = entry.chains[place[0]].id.as_str();
        places.entry((chain, *number, *insertion_code, name.as_str())).or_insert(place);
    }
    let place = |end: &Address| {
        places.get(&(end.chain.as_str(), end.number, end.insertion_code, end.residue.as_str())).copied()
    };
    entry.links.iter().map(|link| [place(&link.ends[0]), place(&link.ends[1])]).collect()
}

/// Returns the label of a residue for messages.
fn label(entry: &Entry, place: Place) -> String {
    let EntryResidue { name, number, insertion_code, .. } = residue_at(entry, place);
    entry::residue_label(name, *number, *insertion_code, &entry.chains[place[0]].id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry::parse;

    /// Returns a peptide with a glycan of two sugars after a change of its text, and the decisions about its names.
    fn named(change: impl Fn(&str) -> String) -> std::result::Result<(Entry, Vec<String>), String> {
        let mut entry = parse(change(include_str!("../tests/glycan.pdb")).as_bytes(), None).expect("an entry");
        assert!(has_glycans(&entry));
        let field = ForceField::read(&["amber14/protein.ff14SB.xml", FILE]).expect("files of md");
        let decisions = name(&mut entry, &field, &[]).map_err(|error| error.to_string())?;
        Ok((entry, decisions.iter().map(Decision::to_string).collect()))
    }

    fn names(entry: &Entry) -> Vec<&str> {
        entry.chains.iter().flat_map(|chain| &chain.residues).map(|residue| residue.name.as_str()).collect()
    }

    #[test]
    fn sugars_get_the_names_of_glycam() {
        let (entry, said) = named(str::to_owned).unwrap();
        assert_eq!(names(&entry), ["LYS", "NLN", "GLY", "4YB", "0YB"]);
        let ends = |link: &Link| link.ends.clone().map(|end| format!("{} {}", end.residue, end.atom));
        let links: Vec<[String; 2]> = entry.links.iter().map(ends).collect();
        assert_eq!(links, [["4YB C1", "NLN ND2"], ["0YB C1", "4YB O4"]]);
        assert!(position(&entry.chains[1].residues[0], "C2N").is_some());
        assert!(said[0].contains("NAG 1 of chain B: is 4YB") && said[0].contains("with a sugar at O4"), "{said:?}");
        assert!(said.iter().any(|text| text.contains("ASN 65 of chain A: is NLN")), "{said:?}");
        let mut other = parse(include_bytes!("../tests/glycan.pdb"), None).expect("an entry");
        let field = ForceField::read(&["amber14/protein.ff14SB.xml", FILE]).expect("files of md");
        assert_eq!(name(&mut other, &field, &["NAG".to_owned()]).unwrap(), []);
        assert_eq!(names(&other), ["LYS", "ASN", "GLY", "NAG", "NAG"]);
    }

    #[test]
    fn the_coordinates_tell_the_anomer() {
        let (entry, said) = named(|text| text.replace("NAG B   2", "NDG B   2")).unwrap();
        assert_eq!(names(&entry)[4], "0YB");
        assert!(said[1].contains("NDG 2 of chain B: is 0YB") && said[1].contains("the other anomer"), "{said:?}");
    }

    #[test]
    fn a_free_sugar_has_a_residue_for_its_hydroxyl_group() {
        // the nitrogen of the asparagine becomes the oxygen O1 of the sugar
        let free = |text: &str| {
            let is_kept = |line: &&str| !line.contains(" A  ") || line.contains("ND2");
            let line =
                |line: &str| line.replace(" ND2 ASN A  65", " O1  NAG B   1").replace("           N", "           O");
            text.lines().filter(is_kept).map(|text| line(text) + "\n").collect::<String>()
        };
        let (entry, _) = named(free).unwrap();
        assert_eq!(names(&entry), ["4YB", "ROH", "0YB"]);
        assert_eq!(entry.chains[0].residues[1].atoms.len(), 1);
        assert!(entry.links.iter().any(|link| link.ends[0].atom == "C1" && link.ends[1].residue == "ROH"));
    }

    #[test]
    fn a_sugar_without_its_bond_is_refused_with_the_nearest_atom() {
        let away =
            |text: &str| text.lines().filter(|line| !line.contains("ND2")).map(|line| format!("{line}\n")).collect();
        let message = named(away).unwrap_err();
        assert!(message.contains("C1 of NAG 1 of chain B has no bond to an oxygen or nitrogen"), "{message}");
        assert!(message.contains("the nearest is OD1 of ASN 65 of chain A, at a distance of 0.2"), "{message}");
    }

    #[test]
    fn forms_without_a_template_are_refused() {
        let link = "LINK         O1  XYZ C   1                 C1  NAG B   2     1555   1555  1.40\n";
        let other = |text: &str| {
            let bond = "LINK         O7  NAG B   1                 C1  NAG B   2     1555   1555  1.40\n";
            format!("{bond}{text}")
        };
        let message = named(other).unwrap_err();
        assert!(
            message.contains("GLYCAM has no form of NAG 1 of chain B with bonds to other residues at C1 and O7"),
            "{message}"
        );
        assert!(named(|text| format!("{link}{text}")).is_ok(), "an atom that the entry lacks");
    }
}
