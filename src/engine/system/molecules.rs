//! Molecules: atoms joined by bonds, constraints and virtual sites.

use super::{Atom, System, Topology, VirtualSite};
use std::ops::Range;

/// Connected components of atoms, numbered in the order of their first atoms. The atoms of each component are in
/// ascending order.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Molecules {
    starts: Vec<u32>,
    members: Vec<u32>,
    of_atom: Vec<u32>,
}

impl Molecules {
    /// Connected components of the graph with `atoms` vertices and the given edges.
    pub fn from_bonds(atoms: usize, bonds: &[[u32; 2]]) -> Self {
        let mut parent: Vec<u32> = (0..atoms as u32).collect();
        fn root(parent: &mut [u32], mut i: u32) -> u32 {
            while parent[i as usize] != i {
                parent[i as usize] = parent[parent[i as usize] as usize];
                i = parent[i as usize];
            }
            i
        }
        for &[i, j] in bonds {
            let (a, b) = (root(&mut parent, i), root(&mut parent, j));
            // the smaller index becomes the root of the union-find tree, so that the root is the first atom of a
            // molecule
            parent[a.max(b) as usize] = a.min(b);
        }
        let mut of_atom = vec![0u32; atoms];
        let mut count = 0;
        for i in 0..atoms as u32 {
            let r = root(&mut parent, i);
            of_atom[i as usize] = if r == i {
                count += 1;
                count - 1
            } else {
                of_atom[r as usize]
            };
        }
        Self::numbered(of_atom, count)
    }

    /// Returns the components of a range of atoms. No component may have atoms inside and outside of the range. The
    /// first atom of the range gets the number 0.
    pub fn within(&self, atoms: Range<usize>) -> Self {
        let of_atom = &self.of_atom[atoms];
        let first = of_atom.iter().copied().min().unwrap_or(0);
        let of_atom: Vec<u32> = of_atom.iter().map(|component| component - first).collect();
        let count = of_atom.iter().map(|component| component + 1).max().unwrap_or(0);
        Self::numbered(of_atom, count)
    }

    /// Components from the component of each atom.
    fn numbered(of_atom: Vec<u32>, count: u32) -> Self {
        let mut starts = vec![0u32; count as usize + 1];
        for &m in &of_atom {
            starts[m as usize + 1] += 1;
        }
        for m in 0..count as usize {
            starts[m + 1] += starts[m];
        }
        let mut next = starts.clone();
        let mut members = vec![0u32; of_atom.len()];
        for (i, &m) in of_atom.iter().enumerate() {
            members[next[m as usize] as usize] = i as u32;
            next[m as usize] += 1;
        }
        Self { starts, members, of_atom }
    }

    /// Number of molecules.
    pub fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// Whether there are no molecules, and therefore no atoms.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Atoms of molecule `m`, ascending.
    #[inline(always)]
    pub fn atoms(&self, m: usize) -> &[u32] {
        &self.members[self.starts[m] as usize..self.starts[m + 1] as usize]
    }

    /// Whether molecule `m` has the same atom names, types, masses and charges as the preceding molecule, in the same
    /// order.
    pub fn repeats(&self, topology: &Topology, m: usize) -> bool {
        let kind = |&atom: &u32| {
            let Atom { name, type_name, mass, charge, .. } = topology.atoms[atom as usize];
            (name, type_name, mass.to_bits(), charge.to_bits())
        };
        m > 0 && self.atoms(m).iter().map(kind).eq(self.atoms(m - 1).iter().map(kind))
    }

    /// Index of the molecule that contains atom `i`.
    pub fn of_atom(&self, i: usize) -> usize {
        self.of_atom[i] as usize
    }
}

impl Topology {
    /// Pairs of nearby atoms of one molecule. The pairs are the chemical bonds, and the constraints of the force field
    /// between atoms with or without a chemical bond (function types 1 and 2 of `[ constraints ]` in GROMACS). The
    /// atoms of a rigid water are linked by the chemical bonds of the water.
    pub fn links(&self) -> Vec<[u32; 2]> {
        let constrained = self.constraints.iter().map(|constraint| constraint.atoms);
        self.connectivity.iter().copied().chain(constrained).collect()
    }

    /// Pairs of atoms that belong to one molecule because a virtual site connects them. The atoms of a pair may be far
    /// apart. The first atom of the construction is paired with each of the other atoms of the construction, and with
    /// the site.
    pub fn site_joins(&self) -> Vec<[u32; 2]> {
        let joins = |site: &VirtualSite| {
            let atoms = site.construction.atoms();
            let others = atoms.iter().skip(1).copied().chain([site.site]);
            others.filter_map(|other| Some([*atoms.first()?, other])).collect::<Vec<_>>()
        };
        self.virtual_sites.iter().flat_map(joins).collect()
    }

    /// Molecules of the topology. Atoms belong to the same molecule if [`Self::links`] and [`Self::site_joins`] connect
    /// them directly or through other atoms.
    pub fn molecules(&self) -> Molecules {
        let mut pairs = self.links();
        pairs.extend(self.site_joins());
        Molecules::from_bonds(self.atoms.len(), &pairs)
    }
}

impl System {
    /// Groups of atoms that are connected by constraints. A virtual site belongs to the group of the first atom of its
    /// construction. An atom without a constraint forms a separate group.
    pub fn constrained_groups(&self) -> Molecules {
        self.connected_with(self.topology.site_links())
    }

    /// Groups of atoms that one rank holds together: atoms that are connected by constraints, and all atoms from which
    /// a virtual site is constructed, with the site. Each group consists of one or several of the
    /// [`Self::constrained_groups`].
    pub fn rank_groups(&self) -> Molecules {
        self.connected_with(self.topology.site_joins())
    }

    /// Groups of atoms that constraints and the given pairs connect.
    fn connected_with(&self, pairs: impl IntoIterator<Item = [u32; 2]>) -> Molecules {
        let settles = self.constraints.settles.iter().map(|settle| settle.atoms);
        let rigid = settles.flat_map(|[o, h1, h2]| [[o, h1], [o, h2]]);
        let constrained = rigid.chain(self.constraints.bonds.iter().map(|bond| bond.atoms));
        Molecules::from_bonds(self.topology.atoms.len(), &constrained.chain(pairs).collect::<Vec<_>>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_are_numbered_by_first_atom() {
        let m = Molecules::from_bonds(6, &[[4, 0], [1, 2]]);
        assert_eq!(m.len(), 4);
        assert_eq!(m.atoms(0), &[0, 4]);
        assert_eq!(m.atoms(1), &[1, 2]);
        assert_eq!(m.atoms(3), &[5]);
        assert_eq!(m.of_atom(4), 0);
    }
}
