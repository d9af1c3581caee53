//! Disulfide bonds between cysteines, which are stated in the file or found by the distances between sulfur atoms.
//! Names of residues can state a disulfide bond (`CYX`) or a thiolate (`CYM`).

use std::collections::HashSet;

use super::decision::{Decision, Subject};
use super::draft::Draft;
use super::links::Places;
use super::model::LinkKind;
use super::near::Grid;

/// Range (nm) of the distances at which two sulfur atoms count as bonded. The length of the bond is 0.203 nm (R. A.
/// Engh and R. Huber, Acta Cryst. A47, 392 (1991)). The range allows for coordinate errors and excludes sulfur atoms in
/// contact, whose distance is 0.36 nm (A. Bondi, J. Phys. Chem. 68, 441 (1964)).
const BONDED: [f64; 2] = [0.18, 0.25];

/// Largest length (nm) at which a disulfide bond is accepted that the file states with a record or with the names of
/// both residues. The value is the cutoff of `Topology.createDisulfideBonds` in OpenMM 8.
const LONGEST_STATED: f64 = 0.3;

/// Residue names of AMBER and GROMACS for a cysteine with a disulfide bond.
const BRIDGED: [&str; 2] = ["CYX", "CYS2"];
/// Residue name of AMBER and CHARMM for a thiolate.
const THIOLATE: &str = "CYM";

/// Returns the pairs of bonded sulfur atoms, sorted by index. Pairs that the file states have precedence over other
/// pairs, and near pairs have precedence over distant pairs. Each sulfur atom has at most one disulfide bond and must
/// have no hydrogen.
pub(super) fn find_disulfides(draft: &Draft<'_>, places: &Places<'_>, decisions: &mut Vec<Decision>) -> Vec<[u32; 2]> {
    let free = free_sulfurs(draft);
    let mut taken: HashSet<u32> = HashSet::new();
    let mut found: HashSet<[u32; 2]> = HashSet::new();
    let residues = draft.structure.residue_of_atoms();
    let owner = |atom: u32| residues[atom as usize] as usize;
    let label = |atom: u32| draft.structure.residue_label(owner(atom));
    let mut say = |pair: [u32; 2], what: &str, why: String| {
        let place = format!("{} and {}", label(pair[0]), label(pair[1]));
        decisions.push(Decision::new(Subject::Bonds, place, what, why));
    };
    for link in draft.entry.links.iter().filter(|link| link.kind == LinkKind::Disulfide) {
        for pair in places.pairs(link) {
            let distance = draft.distance(pair[0], pair[1]);
            let refusal = if link.is_symmetry {
                Some("the bond is between symmetry copies of a crystal, which --assembly builds".to_owned())
            } else if distance > LONGEST_STATED {
                Some(format!("the distance is {distance:.3} nm"))
            } else if pair.iter().any(|atom| free.binary_search(atom).is_err()) {
                Some(
                    "a sulfur atom has a hydrogen, or does not belong to a cysteine, or belongs to a thiolate"
                        .to_owned(),
                )
            } else if pair.iter().any(|atom| taken.contains(atom)) {
                (!found.contains(&pair)).then(|| "a sulfur atom has another disulfide bond".to_owned())
            } else {
                taken.extend(pair);
                found.insert(pair);
                say(
                    pair,
                    "made a disulfide bond",
                    format!("the file states the bond; the distance is {distance:.3} nm"),
                );
                None
            };
            if let Some(why) = refusal {
                say(pair, "left out a disulfide bond that the file states", why);
            }
        }
    }
    let bridged: HashSet<u32> = free.iter().copied().filter(|&atom| is_named(draft, owner(atom), &BRIDGED)).collect();
    let longest =
        |pair: [u32; 2]| if pair.iter().all(|atom| bridged.contains(atom)) { LONGEST_STATED } else { BONDED[1] };
    let grid = Grid::new(&draft.positions, free.iter().copied(), LONGEST_STATED);
    let around = |&atom: &u32| {
        let pair = move |(distance, other)| (distance, [atom, other]);
        grid.around(atom).into_iter().filter(move |(_, other)| *other > atom).map(pair)
    };
    let is_bond = |(distance, pair): &(f64, [u32; 2])| *distance >= BONDED[0] && *distance <= longest(*pair);
    let mut near: Vec<(f64, [u32; 2])> = free.iter().flat_map(around).filter(is_bond).collect();
    near.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    for (distance, pair) in near {
        if pair.iter().all(|atom| !taken.contains(atom)) {
            taken.extend(pair);
            found.insert(pair);
            let why = if distance <= BONDED[1] {
                format!("the sulfur atoms are {distance:.3} nm apart and have no hydrogen")
            } else {
                format!("the names of both residues state the bond; the distance is {distance:.3} nm")
            };
            say(pair, "made a disulfide bond", why);
        }
    }
    report_unpaired(draft, &taken, decisions);
    let mut found: Vec<[u32; 2]> = found.into_iter().collect();
    found.sort_unstable();
    found
}

/// Whether the residue has one of the given names in the file.
fn is_named(draft: &Draft<'_>, residue: usize, names: &[&str]) -> bool {
    names.contains(&draft.source(residue).given.as_str())
}

/// Adds a decision for each residue whose name states a disulfide bond that was not made.
fn report_unpaired(draft: &Draft<'_>, taken: &HashSet<u32>, decisions: &mut Vec<Decision>) {
    for residue in (0..draft.copies.len()).filter(|&residue| is_named(draft, residue, &BRIDGED)) {
        if draft.atom(residue, "SG").is_some_and(|sulfur| taken.contains(&sulfur)) {
            continue;
        }
        let place = draft.structure.residue_label(residue);
        let what = format!("made no disulfide bond, which the name {} states", draft.source(residue).given);
        let why = format!(
            "no sulfur atom of another residue CYX or CYS2 without a bond and without a hydrogen is within {LONGEST_STATED} nm"
        );
        decisions.push(Decision::new(Subject::Bonds, place, what, why));
    }
}

/// Returns the sulfur atoms of cysteines without a hydrogen, in ascending order. Sulfur atoms of thiolates are left
/// out.
fn free_sulfurs(draft: &Draft<'_>) -> Vec<u32> {
    let is_cysteine = |&index: &usize| draft.structure.residues[index].name == "CYS";
    let cysteines = (0..draft.copies.len()).filter(is_cysteine).filter(|&index| !is_named(draft, index, &[THIOLATE]));
    let sulfur = |index| draft.atom(index, "SG").filter(|_| draft.atom(index, "HG").is_none());
    cysteines.filter_map(sulfur).collect()
}
