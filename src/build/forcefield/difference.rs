//! Error messages for a residue that matches no template.

use std::collections::BTreeMap;

use md_engine::error::{Problem, nearest};
use md_engine::format::element;
use md_engine::system::ordered;
use md_engine::system::polymer::is_chain_bond;

use super::isomorphism::ResidueGraph;
use super::template::Template;
use super::templates::Templates;
use crate::structure::Structure;

/// Smallest length of an unknown residue name for which the error message suggests a similar known name. Most shorter
/// names are similar to each other, so that a suggestion would not help.
const LONG_NAME: usize = 4;
/// Largest number of names of atoms or bonds in a message.
const MOST_NAMES: usize = 8;

/// Advice for a free amino acid, with charges at both ends. Force fields of AMBER have no templates of free amino
/// acids.
const FREE_AMINO_ACID: &str = "cap it with --cap ACE,NME --cap-ends, or add a force-field file that has its template";

/// Advice for a thiolate at a chain end. Force fields of AMBER have thiolates only within a chain.
const THIOLATE: &str = "SG has neither a hydrogen nor a bond to another residue, as at a metal, and the force field has no such \
                        form at a chain end: choose the thiol with --variant CHAIN:NUMBER=CYS, or cap the chain with \
                        --cap ACE,NME --cap-ends";

/// Creates the error for a residue that matches no template. The message compares the residue with the most similar
/// template, and names its bonds to other residues that are not bonds of a chain.
pub(super) fn problem(
    structure: &Structure,
    residue: usize,
    graph: &ResidueGraph<'_>,
    templates: &Templates,
) -> Problem {
    let links = links(structure, residue);
    let problem = comparison(structure, residue, graph, templates);
    if links.is_empty() {
        return problem;
    }
    let advice = "a residue with such a bond needs a template with the bond (--forcefield amber14,FILE.xml); hetero \
                  residues can be left out with --drop-hetero";
    Problem { message: format!("{}; {}", problem.message, links.join("; ")), ..problem }.help(advice)
}

/// Describes the bonds of a residue to other residues that are neither bonds of a chain nor between cysteines.
fn links(structure: &Structure, residue: usize) -> Vec<String> {
    let own = structure.residue_atoms(residue);
    let name = |atom: u32| structure.atoms[atom as usize].name.as_str();
    let outer = structure.bonds.iter().filter_map(|&[a, b]| {
        let [a_is_own, b_is_own] = [a, b].map(|atom| own.contains(&(atom as usize)));
        (a_is_own != b_is_own).then_some(if a_is_own { [a, b] } else { [b, a] })
    });
    let is_usual = |names: [&str; 2]| is_chain_bond(names) || names == ["SG"; 2];
    let others = outer.filter(|pair| !is_usual(pair.map(name))).take(MOST_NAMES);
    others.map(|[a, b]| format!("{} is bonded to {}", name(a), structure.atom_label(b as usize))).collect()
}

/// Compares a residue that matches no template with the most similar template.
fn comparison(structure: &Structure, residue: usize, graph: &ResidueGraph<'_>, templates: &Templates) -> Problem {
    let (label, name) = (structure.residue_label(residue), &structure.residues[residue].name);
    let intro = format!("no template of the force field matches the residue {label}");
    let is_free = |template: &Template| template.external_bonds.is_empty() && template.find("OXT").is_some();
    let has_free = !templates.patches.is_empty() || templates.all().iter().any(is_free);
    if is_free_amino_acid(graph) && !has_free {
        return Problem::new(format!("{intro}, a free amino acid: the force field has amino acids within chains only"))
            .help(FREE_AMINO_ACID);
    }
    let templates = templates.all();
    let similar = templates.iter().min_by_key(|template| distance(graph, template, name));
    let Some(template) = similar.filter(|template| distance(graph, template, name).0 <= graph.atoms.len()) else {
        let names = templates.iter().map(|template| &*template.name);
        let known = nearest(name, names).filter(|_| name.len() >= LONG_NAME);
        let advice = match known {
            Some(known) => {
                format!("is {known} the right name? Otherwise add a force-field file that has a template of {name}")
            }
            None => format!("add a force-field file that has a template of {name}"),
        };
        return Problem::new(format!("{intro}, and no template is similar")).help(advice);
    };
    let (differences, advice) = differences(graph, template);
    let message = format!(
        "{intro}; the most similar template is {}, from which the residue differs: {differences}",
        template.label()
    );
    Problem::new(message).help(advice)
}

/// Whether a residue has both ends of an amino acid and no bonds to other residues.
fn is_free_amino_acid(graph: &ResidueGraph<'_>) -> bool {
    let has = |name: &&str| (0..graph.atoms.len()).any(|index| graph.name(index) == *name);
    outer_of(graph) == 0 && ["N", "CA", "C", "O", "OXT"].iter().all(has)
}

/// Whether a residue has a sulfur SG without a hydrogen and without a bond to another residue.
fn is_thiolate(graph: &ResidueGraph<'_>) -> bool {
    let is_bare = |index: usize| graph.bonded[index].len() == 1 && graph.external[index] == 0;
    (0..graph.atoms.len()).any(|index| graph.name(index) == "SG" && is_bare(index))
}

/// Returns the difference between a residue and a template, and whether the names differ. The difference is the number
/// of bonds that differ plus twice the number of atoms that differ.
fn distance(graph: &ResidueGraph<'_>, template: &Template, name: &str) -> (usize, bool) {
    let atoms = excess(&elements_of(graph), &elements(template));
    let count: usize = atoms.values().map(|n| n.unsigned_abs() as usize).sum();
    let pairs = excess(&bonds_of(graph), &bonds(template)).values().map(|n| n.unsigned_abs() as usize).sum::<usize>();
    let outer = outer_of(graph).abs_diff(template.external_bonds.len());
    (2 * count + pairs + outer, &*template.name != name)
}

fn elements_of(graph: &ResidueGraph<'_>) -> Vec<u8> {
    (0..graph.atoms.len()).map(|index| graph.element(index)).collect()
}

fn elements(template: &Template) -> Vec<u8> {
    template.atoms.iter().map(|atom| atom.element).collect()
}

fn bonds_of(graph: &ResidueGraph<'_>) -> Vec<[u8; 2]> {
    let ends = |(a, others): (usize, &Vec<u32>)| {
        let later = others.iter().map(|&b| b as usize).filter(|&b| b > a).collect::<Vec<usize>>();
        later.into_iter().map(move |b| [a, b])
    };
    let pairs = graph.bonded.iter().enumerate().flat_map(ends);
    pairs.map(|pair| ordered(pair.map(|index| graph.element(index)))).collect()
}

fn bonds(template: &Template) -> Vec<[u8; 2]> {
    template.bonds.iter().map(|pair| ordered(pair.map(|index| template.atoms[index as usize].element))).collect()
}

fn outer_of(graph: &ResidueGraph<'_>) -> usize {
    graph.external.iter().map(|&number| number as usize).sum()
}

/// Returns, for each item, the number of occurrences in `ours` minus the number in `theirs`. Items with the difference
/// zero are left out.
fn excess<T: Ord + Copy>(ours: &[T], theirs: &[T]) -> BTreeMap<T, i64> {
    let mut counts = BTreeMap::new();
    ours.iter().for_each(|item| *counts.entry(*item).or_insert(0) += 1);
    theirs.iter().for_each(|item| *counts.entry(*item).or_insert(0) -= 1);
    counts.retain(|_, count| *count != 0);
    counts
}

/// Describes the differences between residue and template, and advises how to remove them.
fn differences(graph: &ResidueGraph<'_>, template: &Template) -> (String, String) {
    let atoms = excess(&elements_of(graph), &elements(template));
    if !atoms.is_empty() {
        return atom_differences(graph, template, &atoms);
    }
    let pairs = excess(&bonds_of(graph), &bonds(template));
    if !pairs.is_empty() {
        let symbols = |[a, b]: [u8; 2]| format!("{}-{}", symbol(a), symbol(b));
        let parts = pairs.iter().map(|(pair, n)| amount(*n, &format!("{} bond", symbols(*pair))));
        let advice = "check the bonds of the residue: atoms may be too close, too far apart or misnamed";
        return (parts.collect::<Vec<String>>().join(", "), advice.to_owned());
    }
    let (ours, theirs) = (outer_of(graph), template.external_bonds.len());
    if ours != theirs {
        let with_outer = (0..graph.atoms.len()).filter(|&index| graph.external[index] > 0);
        let names = list(with_outer.map(|index| graph.name(index)));
        let bonds = amount(ours as i64 - theirs as i64, "bond to other residues");
        let message =
            if names.is_empty() { bonds } else { format!("{bonds} (bonds to other residues are at {names})") };
        let usual = "the residue may be at a chain end or beside a gap, or may lack a bond such as a disulfide bridge";
        return (message, if is_thiolate(graph) { THIOLATE } else { usual }.to_owned());
    }
    let advice = "compare the bonds of the residue with those of the template";
    ("the numbers of atoms and bonds agree, but the bonds connect different atoms".to_owned(), advice.to_owned())
}

fn atom_differences(graph: &ResidueGraph<'_>, template: &Template, atoms: &BTreeMap<u8, i64>) -> (String, String) {
    let ours: Vec<&str> = (0..graph.atoms.len()).map(|index| graph.name(index)).collect();
    let parts = atoms.iter().map(|(&number, &count)| {
        let names = if count < 0 {
            let missing = template.atoms.iter().filter(|atom| atom.element == number && !ours.contains(&&*atom.name));
            list(missing.map(|atom| &*atom.name))
        } else {
            let extra = (0..ours.len()).filter(|&k| graph.element(k) == number && template.find(ours[k]).is_none());
            list(extra.map(|k| ours[k]))
        };
        let what = amount(count, &format!("{} atom", symbol(number)));
        if names.is_empty() { what } else { format!("{what} (such as {names})") }
    });
    let message = parts.collect::<Vec<String>>().join(", ");
    let lacks = |number: u8| atoms.get(&number).is_some_and(|count| *count < 0);
    let advice = if lacks(1) && atoms.len() == 1 {
        "add hydrogens to the structure"
    } else if lacks(0) && atoms.len() == 1 {
        "add the virtual sites of the water model to the structure"
    } else if atoms.iter().any(|(number, count)| *number > 1 && *count < 0) {
        "add the missing atoms to the structure, or end the chain at this residue"
    } else {
        "remove the additional atoms, or add a force-field file that has a template with them"
    };
    (message, advice.to_owned())
}

fn symbol(number: u8) -> &'static str {
    if number == 0 { "virtual-site" } else { element::symbol(number) }
}

/// Returns a phrase such as `2 H atoms more` or `1 O atom less`.
fn amount(count: i64, what: &str) -> String {
    let number = count.unsigned_abs();
    let plural = match what.split_once(' ') {
        Some((first, rest)) if number > 1 && first == "bond" => format!("bonds {rest}"),
        _ if number > 1 => format!("{what}s"),
        _ => what.to_owned(),
    };
    format!("{number} {plural} {}", if count > 0 { "more" } else { "less" })
}

/// Joins at most [`MOST_NAMES`] names, with an ellipsis if there are more.
fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.collect();
    let more = if names.len() > MOST_NAMES { ", …" } else { "" };
    format!("{}{more}", names[..names.len().min(MOST_NAMES)].join(", "))
}
