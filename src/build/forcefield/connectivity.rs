//! Angles, torsions and impropers that follow from bonds.

/// Bonded atoms and the groups of atoms on which bonded terms may act.
#[derive(Clone, Debug, Default)]
pub(super) struct Connectivity {
    /// angles i-j-k with i < k, sorted
    pub(super) angles: Vec<[u32; 3]>,
    /// proper torsions i-j-k-l with i < l, sorted
    pub(super) propers: Vec<[u32; 4]>,
    /// impropers: a center, and three atoms that are bonded to the center, in ascending order
    pub(super) impropers: Vec<[u32; 4]>,
    /// sorted chains of five bonded atoms; each chain is listed in only one direction
    pub(super) chains: Vec<[u32; 5]>,
}

impl Connectivity {
    pub(super) fn new(bonds: &[[u32; 2]], neighbours: &[Vec<u32>]) -> Self {
        let mut found = Self::default();
        for (center, bonded) in (0..).zip(neighbours) {
            for (n, &a) in bonded.iter().enumerate() {
                for (m, &b) in bonded.iter().enumerate().skip(n + 1) {
                    found.angles.push([a, center, b]);
                    found.impropers.extend(bonded[m + 1..].iter().map(|&c| [center, a, b, c]));
                }
            }
        }
        for &[b, c] in bonds {
            let ends =
                |center: u32, other: u32| neighbours[center as usize].iter().copied().filter(move |&a| a != other);
            for a in ends(b, c) {
                let torsions = ends(c, b).filter(|&d| d != a);
                found.propers.extend(torsions.map(|d| if a < d { [a, b, c, d] } else { [d, c, b, a] }));
            }
        }
        for &[a, b, c, d] in &found.propers {
            let before = neighbours[a as usize].iter().filter(|&&e| e != b).map(|&e| [e, a, b, c, d]);
            let after = neighbours[d as usize].iter().filter(|&&e| e != c).map(|&e| [a, b, c, d, e]);
            found.chains.extend(before.chain(after).map(one_direction));
        }
        found.angles.sort_unstable();
        found.propers.sort_unstable();
        found.chains.sort_unstable();
        found.chains.dedup();
        found
    }
}

/// Returns the chain in the direction that begins with the end atom of smaller index.
fn one_direction(mut chain: [u32; 5]) -> [u32; 5] {
    if (chain[0], chain[1]) > (chain[4], chain[3]) {
        chain.reverse();
    }
    chain
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::structure::neighbours;

    #[test]
    fn groups_of_a_branched_ring() {
        // a ring of three atoms, with a chain of two atoms at one of them
        let bonds = [[0, 1], [1, 2], [2, 0], [2, 3], [4, 3]];
        let found = Connectivity::new(&bonds, &neighbours(5, &bonds));
        assert_eq!(found.angles, [[0, 1, 2], [0, 2, 1], [0, 2, 3], [1, 0, 2], [1, 2, 3], [2, 3, 4]]);
        assert_eq!(found.propers, [[0, 1, 2, 3], [0, 2, 3, 4], [1, 0, 2, 3], [1, 2, 3, 4]]);
        assert_eq!(found.impropers, [[2, 0, 1, 3]]);
        // as in OpenMM, the two ends of a chain of five atoms may be bonded to each other; consecutive atoms of a chain
        // are different
        assert!(found.chains.contains(&[0, 1, 2, 3, 4]));
        assert!(found.chains.iter().all(|chain| chain[0] <= chain[4]));
    }
}
