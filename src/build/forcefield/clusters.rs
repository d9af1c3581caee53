//! Patches that change several bonded residues, such as disulfide bridges.
//!
//! At most one patch of several residues is applied to a residue. Patches of a single residue can be applied to the
//! same residue, as in OpenMM.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use md_engine::error::Problem;

use super::assignment::Assignment;
use super::isomorphism::ResidueGraph;
use super::patch::{Patch, PatchAtom};
use super::template::{Composition, Template};
use super::templates::Templates;
use crate::structure::Structure;

/// Largest number of clusters of bonded residues that are tried.
const MOST_CLUSTERS: usize = 1_000_000;

/// A template with one part of a patch applied, and the index of the template atom for each atom of the residue.
type Candidate = (Template, Vec<u32>);

/// Graphs of the residues without a template, by residue index.
type Unmatched<'a> = BTreeMap<usize, ResidueGraph<'a>>;

/// Finds patches of several residues for residues without a template, and removes the matched residues from
/// `unmatched`.
pub(super) fn assign(
    neighbours: &[Vec<u32>],
    templates: &Templates,
    unmatched: &mut Unmatched<'_>,
    assignment: &mut Assignment,
    structure: &Structure,
) -> Result<(), Problem> {
    let most = templates.patches.iter().map(|patch| patch.residues).max().unwrap_or(1);
    if most < 2 || unmatched.is_empty() {
        return Ok(());
    }
    let patched = patched_templates(templates, unmatched)?;
    let residue_of = structure.residue_of_atoms();
    let mut bonds: BTreeSet<[usize; 2]> = BTreeSet::new();
    for [a, b] in structure.bonds.iter().map(|bond| bond.map(|atom| residue_of[atom as usize] as usize)) {
        if a != b && unmatched.contains_key(&a) && unmatched.contains_key(&b) {
            bonds.insert([a.min(b), a.max(b)]);
        }
    }
    let mut clusters: BTreeSet<Vec<usize>> = bonds.iter().map(|bond| bond.to_vec()).collect();
    for size in 2..=most {
        for patch in templates.patches.iter().filter(|patch| patch.residues == size) {
            for cluster in &clusters {
                if !cluster.iter().all(|residue| unmatched.contains_key(residue)) {
                    continue;
                }
                let Some((residues, found)) = best(patch, cluster, unmatched, templates, &patched, neighbours) else {
                    continue;
                };
                for (residue, (template, places)) in residues.iter().zip(&found) {
                    assignment.record(&unmatched[residue], template, places);
                }
                unmatched.retain(|residue, _| !cluster.contains(residue));
            }
        }
        bonds.retain(|bond| bond.iter().all(|residue| unmatched.contains_key(residue)));
        clusters = extend(&clusters, &bonds)?;
    }
    Ok(())
}

/// Returns the templates that result from patches of single residues, by residue name. Only residues to which a patch
/// of several residues may be applied are included.
fn patched_templates(
    templates: &Templates,
    unmatched: &Unmatched<'_>,
) -> Result<HashMap<Arc<str>, Vec<Template>>, Problem> {
    let mut patched: HashMap<Arc<str>, Vec<Template>> = HashMap::new();
    for patch in templates.patches.iter().filter(|patch| patch.residues > 1) {
        for residue in 0..patch.residues {
            for template in templates.allowing(patch, residue) {
                patched.entry(template.name.clone()).or_default();
            }
        }
    }
    let wanted: BTreeSet<Composition> = unmatched.values().map(ResidueGraph::composition).collect();
    templates.for_each_patched(&Vec::from_iter(wanted), |template| {
        if let Some(list) = patched.get_mut(&template.name) {
            list.push(template);
        }
    })?;
    Ok(patched)
}

/// Returns every cluster that results from adding one residue to a given cluster. The added residue is bonded to a
/// residue of the cluster.
fn extend(clusters: &BTreeSet<Vec<usize>>, bonds: &BTreeSet<[usize; 2]>) -> Result<BTreeSet<Vec<usize>>, Problem> {
    let mut larger = BTreeSet::new();
    for cluster in clusters {
        for &[a, b] in bonds {
            let new = match [cluster.contains(&a), cluster.contains(&b)] {
                [true, false] => b,
                [false, true] => a,
                _ => continue,
            };
            let mut extended = cluster.clone();
            extended.push(new);
            extended.sort_unstable();
            larger.insert(extended);
            if larger.len() > MOST_CLUSTERS {
                return Err(Problem::new(format!(
                    "there are more than {MOST_CLUSTERS} groups of residues without a template"
                )));
            }
        }
    }
    Ok(larger)
}

/// Matches a patch to a cluster. Returns the residues in the order of the parts of the patch, and the patched
/// templates; `None` if the patch does not match.
fn best(
    patch: &Patch,
    cluster: &[usize],
    unmatched: &Unmatched<'_>,
    templates: &Templates,
    patched: &HashMap<Arc<str>, Vec<Template>>,
    neighbours: &[Vec<u32>],
) -> Option<(Vec<usize>, Vec<Candidate>)> {
    // candidates[r][k]: templates that match residue k of the cluster after part r of the patch is applied, each with
    // its index in `variants`
    let mut candidates: Vec<Vec<Vec<(usize, Candidate)>>> = vec![];
    for part in 0..patch.residues {
        let variants = templates
            .allowing(patch, part)
            .flat_map(|template| std::iter::once(template).chain(patched.get(&template.name).into_iter().flatten()));
        let variants: Vec<(usize, Template)> =
            variants.enumerate().filter_map(|(rank, template)| Some((rank, patch.apply(template, part)?))).collect();
        let of_residue = |residue: &usize| {
            let graph = &unmatched[residue];
            let matching = variants
                .iter()
                .filter_map(|(rank, template)| Some((*rank, (template.clone(), graph.matches(template)?))));
            matching.collect()
        };
        candidates.push(cluster.iter().map(of_residue).collect());
    }
    let mut found: Option<(Vec<usize>, Vec<usize>, Vec<Candidate>)> = None;
    for order in permutations(cluster.len()) {
        let lists: Vec<&[(usize, Candidate)]> =
            order.iter().enumerate().map(|(part, &k)| candidates[part][k].as_slice()).collect();
        let residues: Vec<usize> = order.iter().map(|&k| cluster[k]).collect();
        let Some((ranks, chosen)) = first_bonded(patch, &lists, &residues, unmatched, neighbours) else { continue };
        if found.as_ref().is_none_or(|(least, ..)| ranks < *least) {
            found = Some((ranks, residues, chosen));
        }
    }
    found.map(|(_, residues, chosen)| (residues, chosen))
}

/// Takes one candidate from each list, and returns the first combination for which the structure has all bonds that the
/// patch requires between residues.
fn first_bonded(
    patch: &Patch,
    lists: &[&[(usize, Candidate)]],
    residues: &[usize],
    unmatched: &Unmatched<'_>,
    neighbours: &[Vec<u32>],
) -> Option<(Vec<usize>, Vec<Candidate>)> {
    let total: usize = lists.iter().map(|list| list.len()).product();
    for number in 0..total {
        let mut rest = number;
        let mut chosen: Vec<&(usize, Candidate)> = vec![];
        for list in lists.iter().rev() {
            chosen.push(&list[rest % list.len()]);
            rest /= list.len();
        }
        chosen.reverse();
        let atom = |PatchAtom { residue, name }: &PatchAtom| {
            let (_, (template, places)) = chosen[*residue];
            let place = template.find(name)?;
            let index = places.iter().position(|&found| found == place)?;
            Some(unmatched[&residues[*residue]].atoms[index])
        };
        let exists = |[a, b]: &[PatchAtom; 2]| {
            a.residue == b.residue
                || matches!([atom(a), atom(b)], [Some(a), Some(b)] if neighbours[a as usize].contains(&b))
        };
        if patch.added_bonds.iter().all(exists) {
            return Some((
                chosen.iter().map(|(rank, _)| *rank).collect(),
                chosen.iter().map(|c| c.1.clone()).collect(),
            ));
        }
    }
    None
}

/// Returns all permutations of the numbers below `count`, which is at most four.
fn permutations(count: usize) -> Vec<Vec<usize>> {
    let mut orders = vec![vec![]];
    for _ in 0..count {
        let longer = |order: Vec<usize>| {
            let unused = (0..count).filter(|k| !order.contains(k)).collect::<Vec<usize>>();
            unused.into_iter().map(move |k| [order.as_slice(), &[k]].concat())
        };
        orders = orders.into_iter().flat_map(longer).collect();
    }
    orders
}
