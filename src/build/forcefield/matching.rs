//! Choice of the template of each residue, by the rules of OpenMM's `ForceField`.
//!
//! Templates without patches are tried first, then templates with patches of single residues, then patches of several
//! bonded residues, and finally templates of whole molecules. Several templates may match and assign different types.
//! In this case, OpenMM refuses the structure, but md uses the template with the fewest patches. For example, thymidine
//! in CHARMM36 results from thymine with one patch (deoxygenation), but also from uracil with two patches
//! (deoxygenation and methylation). Ions of one element differ only in their charges, and sugars of one formula only in
//! the configuration of their carbons, so that the names of the residue and of the template decide.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use md_engine::error::{Error, Problem, Result};

use super::assignment::Assignment;
use super::clusters;
use super::difference;
use super::isomorphism::ResidueGraph;
use super::template::{Composition, Template};
use super::templates::Templates;
use crate::ion_charges::ion_charge;
use crate::structure::Structure;

/// Largest number of residues without a template that are reported in detail.
const MOST_REPORTED: usize = 10;
/// Largest number of further residues without a template whose labels are reported.
const MOST_LABELS: usize = 40;

/// Residues that match no template, and their atoms and bonds.
type Unmatched<'a> = BTreeMap<usize, ResidueGraph<'a>>;

/// Finds the template of every residue.
pub(super) fn assign(structure: &Structure, neighbours: &[Vec<u32>], templates: &Templates) -> Result<Assignment> {
    let (assignment, unmatched) = assign_known(structure, neighbours, templates)?;
    report(structure, templates, &unmatched)?;
    Ok(assignment)
}

/// Returns the indices of the residues that match no template.
pub(super) fn unmatched(structure: &Structure, neighbours: &[Vec<u32>], templates: &Templates) -> Result<Vec<usize>> {
    Ok(assign_known(structure, neighbours, templates)?.1.into_keys().collect())
}

/// Finds the templates of all residues that match a template.
fn assign_known<'a>(
    structure: &'a Structure,
    neighbours: &'a [Vec<u32>],
    templates: &Templates,
) -> Result<(Assignment, Unmatched<'a>)> {
    let residues = structure.residues.len();
    let mut assignment = Assignment::new(structure.atoms.len(), residues);
    let graph = |residue: usize| {
        let atoms = structure.residue_atoms(residue).map(|atom| atom as u32).collect();
        ResidueGraph::new(structure, neighbours, atoms)
    };
    let mut unmatched = Unmatched::new();
    for residue in 0..residues {
        let graph = graph(residue);
        let candidates = templates.of_composition(&graph.composition());
        match choose(&graph, candidates, &structure.residues[residue].name, &label(structure, residue))? {
            Some((template, found)) => {
                assignment.record(&graph, template, &found);
                assignment.name(residue, template);
            }
            None => {
                unmatched.insert(residue, graph);
            }
        }
    }
    let mut kept: HashMap<Composition, Vec<Template>> = HashMap::new();
    if !unmatched.is_empty() {
        unmatched.values().for_each(|graph| drop(kept.insert(graph.composition(), vec![])));
        let wanted: Vec<Composition> = kept.keys().cloned().collect();
        templates.for_each_patched(&wanted, |template| {
            if let Some(list) = kept.get_mut(&template.composition()) {
                list.push(template);
            }
        })?;
    }
    let waiting: Vec<usize> = unmatched.keys().copied().collect();
    for residue in waiting {
        let graph = &unmatched[&residue];
        let candidates = kept.get(&graph.composition()).into_iter().flatten();
        let name = &structure.residues[residue].name;
        if let Some((template, found)) = choose(graph, candidates, name, &label(structure, residue))? {
            assignment.record(graph, template, &found);
            assignment.name(residue, template);
            unmatched.remove(&residue);
        }
    }
    clusters::assign(neighbours, templates, &mut unmatched, &mut assignment, structure)?;
    molecules(structure, neighbours, templates, &mut unmatched, &mut assignment)?;
    Ok((assignment, unmatched))
}

fn label(structure: &Structure, residue: usize) -> impl Fn() -> String + '_ {
    move || structure.residue_label(residue)
}

/// Returns the first template that matches. Molecules of topology files come before templates of force fields. If
/// several templates match and assign different types or parameters, only the templates with the fewest patches are
/// considered. If these templates also differ, only templates with the name `name` of the residue are considered, if
/// there are any: ions of one element and stereoisomers of sugars differ only in their names. The function fails if the
/// remaining templates still differ.
fn choose<'t>(
    graph: &ResidueGraph<'_>,
    candidates: impl Iterator<Item = &'t Template>,
    name: &str,
    label: &dyn Fn() -> String,
) -> std::result::Result<Option<(&'t Template, Vec<u32>)>, Problem> {
    let matches = candidates.filter_map(|template| Some((template, graph.matches(template)?)));
    let mut matches: Vec<(&Template, Vec<u32>)> = matches.collect();
    if matches.iter().any(|(template, _)| template.is_of_topology) {
        matches.retain(|(template, _)| template.is_of_topology);
    }
    if let (1, Some(charge)) = (graph.atoms.len(), ion_charge(name)) {
        matches = of_charge(matches, charge, label)?;
    }
    let differing = |matches: &[(&'t Template, Vec<u32>)]| {
        let (first, found) = matches.first()?;
        let other = matches.iter().find(|(other, others)| !first.agrees(found, other, others))?;
        Some([first.label(), other.0.label()])
    };
    if differing(&matches).is_some() {
        let fewest = matches.iter().map(|(template, _)| template.patches.len()).min();
        matches.retain(|(template, _)| Some(template.patches.len()) == fewest);
    }
    let is_named = |template: &Template| &*template.name == name;
    if differing(&matches).is_some() && matches.iter().any(|(template, _)| is_named(template)) {
        matches.retain(|(template, _)| is_named(template));
    }
    match differing(&matches) {
        None => Ok(matches.into_iter().next()),
        Some([a, b]) => {
            let message = format!("the templates {a} and {b}, which differ, both match the residue {}", label());
            Err(Problem::new(message).help("use force-field files in which only one template matches"))
        }
    }
}

/// Returns the templates of an ion that have its charge (e). A template may have a scaled charge. Fails if all
/// templates have the charges of other ions of the element.
fn of_charge<'t>(
    mut matches: Vec<(&'t Template, Vec<u32>)>,
    charge: f64,
    label: &dyn Fn() -> String,
) -> std::result::Result<Vec<(&'t Template, Vec<u32>)>, Problem> {
    let others: Vec<f64> = matches.iter().filter_map(|(template, _)| template.atoms[0].parameters[0]).collect();
    let is_close = |other: f64| (other - charge).abs() < 0.5;
    matches.retain(|(template, _)| template.atoms[0].parameters[0].is_none_or(is_close));
    if matches.is_empty() && !others.is_empty() {
        let charges: Vec<String> = others.iter().map(|other| format!("{other:+}")).collect();
        let message = format!(
            "{} is an ion of charge {charge:+} e, and the force field has this element with a charge of {} e only",
            label(),
            charges.join(" or ")
        );
        let help = "choose another water model or force field, or leave the ion out with --drop-hetero";
        return Err(Problem::new(message).help(help));
    }
    Ok(matches)
}

/// Matches whole molecules of several bonded residues to templates.
fn molecules(
    structure: &Structure,
    neighbours: &[Vec<u32>],
    templates: &Templates,
    unmatched: &mut Unmatched<'_>,
    assignment: &mut Assignment,
) -> Result<()> {
    let residue_of = structure.residue_of_atoms();
    let mut tried = BTreeSet::new();
    for start in unmatched.keys().copied().collect::<Vec<usize>>() {
        if !tried.insert(start) {
            continue;
        }
        let (mut molecule, mut pending) = (BTreeSet::from([start]), vec![start]);
        while let Some(residue) = pending.pop() {
            for atom in structure.residue_atoms(residue).flat_map(|atom| &neighbours[atom]) {
                let other = residue_of[*atom as usize] as usize;
                if molecule.insert(other) {
                    pending.push(other);
                }
            }
        }
        tried.extend(&molecule);
        if molecule.len() < 2 || !molecule.iter().all(|residue| unmatched.contains_key(residue)) {
            continue;
        }
        let atoms = molecule.iter().flat_map(|&residue| structure.residue_atoms(residue)).map(|atom| atom as u32);
        let graph = ResidueGraph::new(structure, neighbours, atoms.collect());
        let candidates = templates.of_composition(&graph.composition());
        let name = &structure.residues[start].name;
        if let Some((template, found)) = choose(&graph, candidates, name, &label(structure, start))? {
            assignment.record(&graph, template, &found);
            unmatched.retain(|residue, _| !molecule.contains(residue));
        }
    }
    Ok(())
}

/// Fails with a problem for each residue without a template. Of residues after the first [`MOST_REPORTED`], only labels
/// are reported.
fn report(structure: &Structure, templates: &Templates, unmatched: &Unmatched<'_>) -> Result<()> {
    if unmatched.is_empty() {
        return Ok(());
    }
    let problem =
        |(residue, graph): (&usize, &ResidueGraph<'_>)| difference::problem(structure, *residue, graph, templates);
    let mut problems: Vec<Problem> = unmatched.iter().take(MOST_REPORTED).map(problem).collect();
    if unmatched.len() > MOST_REPORTED {
        let others = unmatched.keys().skip(MOST_REPORTED);
        let labels: Vec<String> = others.take(MOST_LABELS).map(|residue| structure.residue_label(*residue)).collect();
        let more = if unmatched.len() > MOST_REPORTED + MOST_LABELS { ", …" } else { "" };
        let (all, labels) = (unmatched.len(), labels.join(", "));
        problems.push(Problem::new(format!("{all} residues in all match no template; the others are {labels}{more}")));
    }
    Err(Error::Input(problems))
}

#[cfg(test)]
mod tests {
    use super::super::ForceField;
    use crate::structure::{Atom, Residue, Structure};

    #[test]
    fn ions_have_the_charge_of_their_component() {
        let ion = |name: &str, element| Structure {
            chains: vec!["A".to_owned()],
            residues: vec![Residue { name: name.to_owned(), number: 1, insertion_code: None, chain: 0, first: 0 }],
            atoms: vec![Atom { name: name.to_owned(), element }],
            bonds: vec![],
        };
        let charge = |files: &[&str], name: &str, element| {
            let described = ForceField::read(files).expect("files of md").describe(&ion(name, element));
            described.map(|found| found.topology.atoms[0].charge).map_err(|error| error.to_string())
        };
        let (tip3p, opc) = (["amber14/tip3p.xml"], ["amber14/opc.xml"]);
        let charmm = ["charmm36_2024.xml", "charmm36_2024/water.xml"];
        assert_eq!(charge(&tip3p, "CU", 29), Ok(2.0));
        assert_eq!(charge(&opc, "CU1", 29), Ok(1.0));
        let message = charge(&tip3p, "CU1", 29).unwrap_err();
        assert!(message.contains("is an ion of charge +1 e") && message.contains("a charge of +2 e only"), "{message}");
        for (name, element, expected) in
            [("MN", 25, 2.0), ("FE", 26, 3.0), ("FE2", 26, 2.0), ("CU", 29, 2.0), ("CU1", 29, 1.0)]
        {
            assert_eq!(charge(&charmm, name, element), Ok(expected), "{name}");
        }
    }
}
