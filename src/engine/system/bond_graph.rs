//! Graph of the bonds between atoms. Excluded pairs and scaled 1-4 pairs are derived from the number of bonds between
//! two atoms, which is the smallest number of bonds on a path between the atoms.

/// Lists of the bonded atoms of each atom, and a search for the atoms that are a given number of bonds away.
pub struct BondGraph {
    bonded: Vec<Vec<u32>>,
    /// number of the last search that reached each atom; 0 if no search has reached the atom
    reached_in: Vec<u64>,
    /// number of searches so far
    searches: u64,
}

impl BondGraph {
    /// Makes the bond graph of `atoms` atoms.
    pub fn new(atoms: usize, bonds: &[[u32; 2]]) -> Self {
        let mut bonded = vec![vec![]; atoms];
        for &[i, j] in bonds {
            bonded[i as usize].push(j);
            bonded[j as usize].push(i);
        }
        Self::from_lists(bonded)
    }

    /// Makes the bond graph in which the atoms of list i are bonded to atom i.
    pub fn from_lists(bonded: Vec<Vec<u32>>) -> Self {
        BondGraph { reached_in: vec![0; bonded.len()], bonded, searches: 0 }
    }

    /// Returns the atoms that are bonded to `atom`.
    pub fn of(&self, atom: u32) -> &[u32] {
        &self.bonded[atom as usize]
    }

    /// Atoms that are 1, 2, … `most` bonds away from `atom`, one list for each number of bonds.
    pub fn shells(&mut self, atom: u32, most: usize) -> Vec<Vec<u32>> {
        let center = [atom];
        self.searches += 1;
        self.reached_in[atom as usize] = self.searches;
        let mut shells: Vec<Vec<u32>> = vec![];
        while shells.len() < most {
            let last = shells.last().map_or(&center[..], |shell| shell);
            let mut next = vec![];
            for &j in last.iter().flat_map(|&i| &self.bonded[i as usize]) {
                if std::mem::replace(&mut self.reached_in[j as usize], self.searches) != self.searches {
                    next.push(j);
                }
            }
            if next.is_empty() {
                break;
            }
            shells.push(next);
        }
        shells
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bonds of a five-membered ring with a chain of two atoms bonded to the first ring atom.
    const RING: [[u32; 2]; 7] = [[0, 1], [1, 2], [2, 3], [3, 4], [4, 0], [0, 5], [6, 5]];

    fn shells(atom: u32, most: usize) -> Vec<Vec<u32>> {
        let sorted = |mut shell: Vec<u32>| {
            shell.sort_unstable();
            shell
        };
        BondGraph::new(8, &RING).shells(atom, most).into_iter().map(sorted).collect()
    }

    #[test]
    fn the_shortest_way_counts() {
        assert_eq!(shells(0, 3), [vec![1, 4, 5], vec![2, 3, 6]]);
        assert_eq!(shells(6, 3), [vec![5], vec![0], vec![1, 4]]);
        assert_eq!(shells(6, 2), [vec![5], vec![0]]);
        assert_eq!(shells(6, 9), [vec![5], vec![0], vec![1, 4], vec![2, 3]]);
        assert!(shells(7, 3).is_empty());
    }

    #[test]
    fn one_search_leaves_nothing_for_the_next() {
        let mut graph = BondGraph::new(8, &RING);
        let first = graph.shells(6, 3);
        graph.shells(0, 3);
        assert_eq!(graph.shells(6, 3), first);
    }

    #[test]
    fn a_search_from_the_same_atom_finds_the_same() {
        let mut graph = BondGraph::new(8, &RING);
        let first = graph.shells(6, 3);
        assert_eq!(graph.shells(6, 3), first);
    }
}
