//! Ideal heavy atoms of standard residues, divided into rigid units.
//!
//! The table `src/build/data/heavy.txt` holds a conformation of each residue. A bond is rotatable if three conditions
//! are met: the bond is in no ring, both atoms have further heavy neighbours, and the bond is not a partial double
//! bond. Removing the rotatable bonds divides a residue into pieces. A [`Unit`] consists of a piece and the atoms that
//! are bonded to the piece. The geometry of a unit does not depend on torsions.

use std::collections::HashMap;
use std::sync::LazyLock;

use md_engine::units::ANGSTROM;
use md_engine::vec3::{Vec3, vec3};

use super::edit::element_of;
use crate::entry::standard_residue;
use crate::geometry::unit;

/// Table of ideal conformations of standard residues, as text.
const TABLE: &str = include_str!("../data/heavy.txt");
/// Atoms NE and CZ of the guanidinium group of Arg. The bond NE–CZ is not rotatable, although the bond is in no ring.
const RIGID: [&str; 2] = ["NE", "CZ"];
/// Largest triple product of the unit vectors along three bonds at which the central atom counts as planar. The triple
/// product of a tetrahedral atom is 0.77.
const FLAT: f64 = 0.3;

/// A rigid unit of a residue.
#[derive(Clone, Debug)]
pub(super) struct Unit {
    /// atoms of the piece, which contains no rotatable bond
    pub(super) piece: Vec<usize>,
    /// atoms of the piece, and atoms that are bonded to the piece
    pub(super) atoms: Vec<usize>,
}

/// Heavy atoms of a residue in an ideal conformation.
#[derive(Clone, Debug, Default)]
pub(super) struct Ideal {
    pub(super) names: Vec<String>,
    /// positions, nm
    pub(super) positions: Vec<Vec3>,
    /// bonded atoms of each atom
    pub(super) bonded: Vec<Vec<usize>>,
    /// number of bonds on the shortest path between each pair of atoms, `[atom][atom]`
    pub(super) steps: Vec<Vec<usize>>,
    pub(super) units: Vec<Unit>,
}

static IDEAL: LazyLock<HashMap<&'static str, Ideal>> = LazyLock::new(read_table);

/// Returns the ideal heavy atoms of a standard residue.
pub(super) fn ideal(name: &str) -> Option<&'static Ideal> {
    IDEAL.get(name)
}

fn read_table() -> HashMap<&'static str, Ideal> {
    let mut table: HashMap<&str, Ideal> = HashMap::new();
    let mut current = "";
    for line in TABLE.lines() {
        let mut words = line.split(' ');
        let (Some(name), numbers) = (words.next(), words.clone().filter_map(|word| word.parse().ok())) else {
            continue;
        };
        let numbers: Vec<f64> = numbers.collect();
        match numbers[..] {
            [x, y, z] => {
                let residue = table.entry(current).or_default();
                residue.names.push(name.to_owned());
                residue.positions.push(vec3(x, y, z) * ANGSTROM);
            }
            _ => current = words.next().unwrap_or_default(),
        }
    }
    table.iter_mut().for_each(|(name, residue)| residue.connect(name));
    table
}

/// Returns the number of bonds on the shortest path from `start` to each atom, along bonds for which `is_open` is true;
/// `usize::MAX` if there is no such path.
fn steps_from(start: usize, bonded: &[Vec<usize>], is_open: impl Fn(usize, usize) -> bool) -> Vec<usize> {
    let mut steps = vec![usize::MAX; bonded.len()];
    steps[start] = 0;
    let mut queue = std::collections::VecDeque::from([start]);
    while let Some(atom) = queue.pop_front() {
        for &next in bonded[atom].iter().filter(|&&next| is_open(atom, next)) {
            if steps[next] == usize::MAX {
                steps[next] = steps[atom] + 1;
                queue.push_back(next);
            }
        }
    }
    steps
}

impl Ideal {
    pub(super) fn index(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|known| known == name)
    }

    /// Returns the residue `name` with only the atoms that `is_kept` accepts. The first nucleotide of a chain, for
    /// example, has no phosphate.
    pub(super) fn restricted(&self, name: &str, is_kept: impl Fn(&str) -> bool) -> Self {
        let kept: Vec<usize> = (0..self.names.len()).filter(|&atom| is_kept(&self.names[atom])).collect();
        let names = kept.iter().map(|&atom| self.names[atom].clone()).collect();
        let positions = kept.iter().map(|&atom| self.positions[atom]).collect();
        let mut part = Self { names, positions, ..Self::default() };
        part.connect(name);
        part
    }

    /// Computes the bonds, the rotatable bonds and the units of a residue.
    fn connect(&mut self, name: &str) {
        let count = self.names.len();
        self.bonded = vec![vec![]; count];
        for [a, b] in standard_residue(name).map(|standard| &standard.bonds[..]).unwrap_or_default() {
            if let (Some(a), Some(b)) = (self.index(a), self.index(b)) {
                self.bonded[a].push(b);
                self.bonded[b].push(a);
            }
        }
        self.bonded.iter_mut().for_each(|list| list.sort_unstable());
        let bonded = &self.bonded;
        self.steps = (0..count).map(|atom| steps_from(atom, bonded, |_, _| true)).collect();
        let turns = |a: usize, b: usize| {
            let same = |from: usize, to: usize| (from, to) == (a, b) || (from, to) == (b, a);
            let is_rigid = RIGID.iter().all(|name| self.names[a] == *name || self.names[b] == *name);
            let around = steps_from(a, bonded, |from, to| !same(from, to))[b];
            bonded[a].len() > 1 && bonded[b].len() > 1 && !is_rigid && around == usize::MAX
        };
        let mut units: Vec<Unit> = vec![];
        for atom in 0..count {
            if units.iter().any(|unit| unit.piece.contains(&atom)) {
                continue;
            }
            let steps = steps_from(atom, bonded, |a, b| !turns(a, b));
            let piece: Vec<usize> = (0..count).filter(|&other| steps[other] != usize::MAX).collect();
            let is_near = |other: &usize| piece.contains(other) || bonded[*other].iter().any(|at| piece.contains(at));
            units.push(Unit { atoms: (0..count).filter(is_near).collect(), piece });
        }
        self.units = units;
    }

    /// Whether the bonds of an atom lie in a plane. Nitrogens with two bonds within a residue and the carbonyl carbon
    /// of the backbone are planar.
    pub(super) fn is_planar(&self, atom: usize) -> bool {
        let toward = |&other: &usize| unit(self.positions[other] - self.positions[atom]);
        let directions: Vec<Vec3> = self.bonded[atom].iter().map(toward).collect();
        match directions[..] {
            [a, b, c] => a.dot(b.cross(c)).abs() < FLAT,
            _ => element_of(&self.names[atom]) == 7 || self.names[atom] == "C",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn residues_are_complete() {
        for name in
            "ALA ARG ASN ASP CYS GLN GLU GLY HIS ILE LEU LYS MET PHE PRO SER THR TRP TYR VAL A C G U DA DC DG DT"
                .split(' ')
        {
            let found = ideal(name).unwrap_or_else(|| panic!("{name}"));
            let mut names: Vec<&str> = found.names.iter().map(String::as_str).collect();
            names.sort_unstable();
            assert_eq!(names, standard_residue(name).unwrap().heavy_atoms().collect::<Vec<_>>(), "{name}");
            // single, double and P-O bonds of organic molecules are 0.12 to 0.185 nm long
            for (atom, list) in found.bonded.iter().enumerate() {
                let length = |&other: &usize| (found.positions[other] - found.positions[atom]).norm();
                assert!(list.iter().map(length).all(|d| (0.12..0.185).contains(&d)), "{name}");
            }
        }
    }

    #[test]
    fn units_are_divided_by_bonds_that_turn() {
        let pieces = |name: &str| {
            let found = ideal(name).unwrap();
            let piece =
                |unit: &Unit| unit.piece.iter().map(|&at| found.names[at].as_str()).collect::<Vec<_>>().join(" ");
            found.units.iter().map(piece).collect::<Vec<_>>()
        };
        assert_eq!(pieces("LYS"), ["N CA", "CB", "CG", "CD", "CE NZ", "C O"]);
        assert_eq!(pieces("ALA"), ["N CA CB", "C O"]);
        assert_eq!(pieces("PHE"), ["N CA", "CB", "CG CD1 CE1 CZ CE2 CD2", "C O"]);
        assert_eq!(pieces("ARG"), ["N CA", "CB", "CG", "CD", "NE CZ NH1 NH2", "C O"]);
        assert_eq!(pieces("PRO"), ["N CD CG CB CA", "C O"]);
        assert_eq!(pieces("DC")[..3], ["P OP1 OP2", "O5'", "C5'"]);
        assert_eq!(pieces("DC").len(), 5);
        let leucine = ideal("LEU").unwrap();
        assert!(!leucine.is_planar(leucine.index("CG").unwrap()));
        let asparagine = ideal("ASN").unwrap();
        assert!(asparagine.is_planar(asparagine.index("CG").unwrap()));
    }
}
