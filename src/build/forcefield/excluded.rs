//! Pairs of atoms that are at most three bonds apart. These pairs are excluded from the usual non-bonded interactions.

use md_engine::error::Problem;
use md_engine::system::{BondGraph, Exclusions};

use super::assignment::AssignedSite;

/// Pairs of atoms [i, j] with i < j, grouped by the number of bonds between i and j.
#[derive(Clone, Debug, Default)]
pub(super) struct ExcludedPairs {
    /// pairs that are one or two bonds apart
    pub(super) near: Vec<[u32; 2]>,
    /// pairs that are three bonds apart
    pub(super) pairs14: Vec<[u32; 2]>,
}

/// Finds the excluded pairs. For this search, a virtual site has the bonds of the atom whose exclusions the site
/// shares, and a bond to this atom.
pub(super) fn find(neighbours: &[Vec<u32>], sites: &[AssignedSite]) -> Result<ExcludedPairs, Problem> {
    let atoms = neighbours.len();
    let mut linked = BondGraph::from_lists(linked(neighbours, sites));
    let mut found = ExcludedPairs::default();
    for start in 0..atoms as u32 {
        for (bonds, shell) in (1..).zip(linked.shells(start, 3)) {
            let list = if bonds == 3 { &mut found.pairs14 } else { &mut found.near };
            list.extend(shell.into_iter().filter(|&other| other > start).map(|other| [start, other]));
        }
        Exclusions::check_number((found.near.len() + found.pairs14.len()) as u64, atoms)?;
    }
    Ok(found)
}

/// Returns, for each atom, the bonded atoms that determine exclusions. The bonds are the chemical bonds and the assumed
/// bonds of virtual sites.
fn linked(neighbours: &[Vec<u32>], sites: &[AssignedSite]) -> Vec<Vec<u32>> {
    let mut children = vec![vec![]; neighbours.len()];
    sites.iter().for_each(|site| children[site.exclude_with as usize].push(site.site.site));
    let with_children = |atom: u32| std::iter::once(atom).chain(children[atom as usize].iter().copied());
    let mut linked = vec![vec![]; neighbours.len()];
    for (atom, bonded) in (0..).zip(neighbours) {
        for &other in bonded {
            for a in with_children(atom) {
                linked[a as usize].extend(with_children(other));
            }
        }
    }
    for site in sites {
        linked[site.site.site as usize].push(site.exclude_with);
        linked[site.exclude_with as usize].push(site.site.site);
    }
    for list in &mut linked {
        list.sort_unstable();
        list.dedup();
    }
    linked
}

#[cfg(test)]
mod tests {
    use md_engine::system::{Construction, VirtualSite};

    use super::*;
    use crate::structure::neighbours;

    #[test]
    fn sites_share_the_exclusions_of_their_atom() {
        // a chain 0-1-2-3-4, and a site 5 that shares the exclusions of atom 1
        let bonds = [[0, 1], [1, 2], [2, 3], [3, 4]];
        let construction = Construction::Average2 { atoms: [1, 2], weights: [0.5, 0.5] };
        let site = AssignedSite { site: VirtualSite { site: 5, construction }, exclude_with: 1 };
        let mut found = find(&neighbours(6, &bonds), &[site]).expect("few pairs");
        found.near.sort_unstable();
        assert_eq!(found.pairs14, [[0, 3], [1, 4], [4, 5]]);
        assert_eq!(
            found.near,
            [[0, 1], [0, 2], [0, 5], [1, 2], [1, 3], [1, 5], [2, 3], [2, 4], [2, 5], [3, 4], [3, 5]]
        );
    }
}
