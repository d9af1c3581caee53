//! Subsets of the atoms of a topology.

use super::{Constraint, Residue, Topology};

impl Topology {
    /// Topology of the given atoms (0-based, ascending), with their residues and with the bonds and constraints between
    /// these atoms, but without force-field terms.
    pub fn subset(&self, atoms: &[u32]) -> Topology {
        let mut subset = Topology { title: self.title.clone(), charmm: self.charmm, ..Topology::default() };
        let mut residue = None;
        for (index, &number) in (0u32..).zip(atoms) {
            let mut atom = self.atoms[number as usize];
            if residue.replace(atom.residue) != Some(atom.residue) {
                subset.chain_labels.extend(self.chain_labels.get(atom.residue as usize));
                subset.residues.push(Residue { first: index, ..self.residues[atom.residue as usize] });
            }
            atom.residue = subset.residues.len() as u32 - 1;
            subset.atoms.push(atom);
        }
        let place = |atom: u32| atoms.binary_search(&atom).ok().map(|place| place as u32);
        let bonds = self.connectivity.iter().filter_map(|&[i, j]| Some([place(i)?, place(j)?]));
        subset.connectivity = bonds.collect();
        let constraints = self.constraints.iter().filter_map(|constraint| {
            let [i, j] = constraint.atoms;
            Some(Constraint { atoms: [place(i)?, place(j)?], ..*constraint })
        });
        subset.constraints = constraints.collect();
        subset
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Atom, Name};
    use super::*;

    #[test]
    fn atoms_keep_their_residues_and_bonds() {
        let atom = |residue| Atom {
            name: Name::new("C"),
            type_name: Name::new("CT"),
            element: 6,
            mass: 12.0 + f64::from(residue),
            charge: 0.0,
            lj_type: 0,
            residue,
        };
        let name = Name::new("X");
        let topology = Topology {
            atoms: [0, 0, 1, 2, 2].map(atom).to_vec(),
            residues: [0, 2, 3].map(|first| Residue { name, number: 7 + first as i32, first }).to_vec(),
            connectivity: vec![[0, 1], [1, 2], [2, 3], [3, 4]],
            constraints: [[0, 1], [4, 1]].map(|atoms| Constraint { atoms, length: 0.2 }).to_vec(),
            ..Topology::default()
        };
        let subset = topology.subset(&[1, 3, 4]);
        assert_eq!(
            subset.atoms.iter().map(|atom| (atom.residue, atom.mass)).collect::<Vec<_>>(),
            [(0, 12.0), (1, 14.0), (1, 14.0)]
        );
        assert_eq!(subset.residues.iter().map(|r| (r.number, r.first)).collect::<Vec<_>>(), [(7, 0), (10, 1)]);
        assert_eq!(subset.connectivity, [[1, 2]]);
        assert_eq!(subset.constraints, [Constraint { atoms: [2, 0], length: 0.2 }]);
    }
}
