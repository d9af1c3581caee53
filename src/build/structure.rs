//! Molecular structures: chains, residues, atoms and bonds, without parameters of a force field.
//!
//! Atoms are numbered from 0 in the order of the structure. The atoms of a residue are consecutive.

use md_engine::error::Problem;

/// A molecular structure.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Structure {
    /// identifiers of the chains, such as `A`
    pub chains: Vec<String>,
    /// all residues, in ascending order of their first atoms
    pub residues: Vec<Residue>,
    /// all atoms
    pub atoms: Vec<Atom>,
    /// chemical bonds as pairs of atom indices; each bond is listed once
    pub bonds: Vec<[u32; 2]>,
}

/// A residue of a structure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Residue {
    /// residue name, such as `ALA`
    pub name: String,
    /// residue number in the file
    pub number: i32,
    /// insertion code, which distinguishes residues of the same number
    pub insertion_code: Option<char>,
    /// index into [`Structure::chains`]
    pub chain: u32,
    /// index of the first atom of the residue
    pub first: u32,
}

/// An atom of a structure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Atom {
    /// atom name, such as `CA`
    pub name: String,
    /// atomic number; 0 for a virtual site
    pub element: u8,
}

/// A kind of residue that a force field or a topology file defines: its atoms, with hydrogens, and its bonds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Component {
    /// residue name, such as `LIG`
    pub name: String,
    /// atoms, each with a different name
    pub atoms: Vec<Atom>,
    /// bonds, as indices into `atoms`
    pub bonds: Vec<[u32; 2]>,
}

impl Component {
    /// Names of the atoms that are neither hydrogens nor virtual sites.
    pub fn heavy_atoms(&self) -> impl Iterator<Item = &str> {
        self.atoms.iter().filter(|atom| atom.element > 1).map(|atom| atom.name.as_str())
    }

    /// Names of the hydrogens, each with the name of the atom to which the hydrogen is bonded.
    pub fn hydrogens(&self) -> impl Iterator<Item = [&str; 2]> {
        let atom = |index: u32| &self.atoms[index as usize];
        let directions = self.bonds.iter().flat_map(|&[a, b]| [[a, b], [b, a]]);
        let hydrogens = directions.filter(move |&[a, b]| atom(a).element == 1 && atom(b).element > 1);
        hydrogens.map(move |pair| pair.map(|index| atom(index).name.as_str()))
    }
}

impl Structure {
    /// Atoms of residue `index`.
    pub fn residue_atoms(&self, index: usize) -> std::ops::Range<usize> {
        let end = self.residues.get(index + 1).map_or(self.atoms.len(), |next| next.first as usize);
        self.residues[index].first as usize..end
    }

    /// Returns the atom of residue `index` with this name.
    pub fn atom_named(&self, index: usize, name: &str) -> Option<usize> {
        self.residue_atoms(index).find(|&atom| self.atoms[atom].name == name)
    }

    /// Returns the index of the residue of each atom.
    pub fn residue_of_atoms(&self) -> Vec<u32> {
        let residues = 0..self.residues.len();
        residues.flat_map(|residue| self.residue_atoms(residue).map(move |_| residue as u32)).collect()
    }

    /// Returns the name of a residue for messages, such as `ALA 7B of chain A`.
    pub fn residue_label(&self, index: usize) -> String {
        let Residue { name, number, insertion_code, chain, .. } = &self.residues[index];
        let code = insertion_code.map(String::from).unwrap_or_default();
        match self.chains.get(*chain as usize).map(String::as_str) {
            None | Some("") => format!("{name} {number}{code}"),
            Some(chain) => format!("{name} {number}{code} of chain {chain}"),
        }
    }

    /// Returns the chain and the number of a residue as options of the command line name them, such as `A:7B`.
    pub fn residue_address(&self, index: usize) -> String {
        let Residue { number, insertion_code, chain, .. } = &self.residues[index];
        let code = insertion_code.map(String::from).unwrap_or_default();
        format!("{}:{number}{code}", self.chains[*chain as usize])
    }

    /// Returns the name of an atom for messages, such as `HB2 of ALA 7B of chain A`. Every atom must belong to a
    /// residue.
    pub fn atom_label(&self, index: usize) -> String {
        let residue = self.residues.partition_point(|residue| residue.first as usize <= index) - 1;
        format!("{} of {}", self.atoms[index].name, self.residue_label(residue))
    }

    /// Checks that every atom belongs to exactly one residue, that every bond joins two different atoms of the
    /// structure, and that no bond is listed twice.
    pub fn check(&self) -> Result<(), Problem> {
        let atoms = self.atoms.len();
        if u32::try_from(atoms).is_err() {
            return Err(Problem::new(format!("the structure has {atoms} atoms, more than md can number")));
        }
        let firsts: Vec<usize> = self.residues.iter().map(|residue| residue.first as usize).collect();
        let ascending = firsts.windows(2).all(|pair| pair[0] < pair[1]);
        if !ascending || firsts.first().copied().unwrap_or(atoms) != 0 || firsts.last().is_some_and(|&f| f >= atoms) {
            return Err(Problem::new("the atoms of the structure are not divided into residues"));
        }
        if let Some(residue) = self.residues.iter().find(|residue| residue.chain as usize >= self.chains.len()) {
            return Err(Problem::new(format!("the residue {} {} has no chain", residue.name, residue.number)));
        }
        if let Some(bond) = self.bonds.iter().find(|[a, b]| a == b || *a.max(b) as usize >= atoms) {
            let message = format!(
                "the bond of the atoms {} and {} is impossible in a structure of {atoms} atoms",
                bond[0], bond[1]
            );
            return Err(Problem::new(message));
        }
        let mut sorted: Vec<[u32; 2]> = self.bonds.iter().map(|[a, b]| [*a.min(b), *a.max(b)]).collect();
        sorted.sort_unstable();
        match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => {
                Err(Problem::new(format!("the bond of the atoms {} and {} occurs twice", pair[0][0], pair[0][1]))
                    .help("list each bond once"))
            }
            None => Ok(()),
        }
    }
}

/// Lists, for each atom, the atoms that are bonded to that atom, in ascending order.
pub(crate) fn neighbours(atoms: usize, bonds: &[[u32; 2]]) -> Vec<Vec<u32>> {
    let mut neighbours = vec![vec![]; atoms];
    for &[a, b] in bonds {
        neighbours[a as usize].push(b);
        neighbours[b as usize].push(a);
    }
    neighbours.iter_mut().for_each(|list| list.sort_unstable());
    neighbours
}

/// Returns the number of bonds on the shortest path between two atoms; `None` if the path has more than `most` bonds.
pub(crate) fn bonds_between(bonded: &[Vec<u32>], from: usize, to: usize, most: usize) -> Option<usize> {
    let mut reached = vec![from];
    let mut start = 0;
    for bonds in 0..=most {
        let shell = start..reached.len();
        if reached[shell.clone()].contains(&to) {
            return Some(bonds);
        }
        start = reached.len();
        for k in shell {
            for &next in &bonded[reached[k]] {
                if !reached.contains(&(next as usize)) {
                    reached.push(next as usize);
                }
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn water() -> Structure {
        let residue = Residue { name: "HOH".into(), number: 7, insertion_code: Some('B'), chain: 0, first: 0 };
        let atom = |name: &str, element| Atom { name: name.into(), element };
        Structure {
            chains: vec!["W".into()],
            residues: vec![residue],
            atoms: vec![atom("O", 8), atom("H1", 1), atom("H2", 1)],
            bonds: vec![[0, 1], [2, 0]],
        }
    }

    #[test]
    fn faults_of_a_structure_are_found() {
        let good = water();
        assert_eq!(good.check(), Ok(()));
        assert_eq!(good.residue_label(0), "HOH 7B of chain W");
        let two = Structure {
            residues: vec![
                Residue { number: 6, ..good.residues[0].clone() },
                Residue { first: 1, ..good.residues[0].clone() },
            ],
            ..water()
        };
        assert_eq!([0, 2].map(|atom| two.atom_label(atom)), ["O of HOH 6B of chain W", "H2 of HOH 7B of chain W"]);
        assert_eq!(Structure::default().check(), Ok(()));
        let faulty = |change: fn(&mut Structure)| {
            let mut structure = water();
            change(&mut structure);
            structure.check().unwrap_err().message
        };
        assert!(faulty(|s| s.bonds.push([1, 0])).contains("occurs twice"));
        assert!(faulty(|s| s.bonds.push([1, 1])).contains("bond of the atoms 1 and 1"));
        assert!(faulty(|s| s.bonds.push([1, 3])).contains("of 3 atoms"));
        assert!(faulty(|s| s.residues[0].first = 1).contains("not divided into residues"));
        assert!(faulty(|s| s.residues[0].chain = 1).contains("has no chain"));
    }

    #[test]
    fn bonds_are_counted_along_the_shortest_path() {
        // a ring of six atoms with a side chain of two atoms
        let bonds = [[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [5, 0], [3, 6], [6, 7]];
        let bonded = neighbours(8, &bonds);
        let between = |a: usize, b: usize, most: usize| bonds_between(&bonded, a, b, most);
        assert_eq!(
            [between(0, 3, 4), between(0, 7, 5), between(0, 7, 4), between(2, 2, 0)],
            [Some(3), Some(5), None, Some(0)]
        );
    }
}
