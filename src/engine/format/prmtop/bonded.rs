//! Bonds and angles of AMBER topologies, and the rows of atom pointers that every bonded section has.

use super::pointers::Pointers;
use super::sections::{Parsed, Section, Sections};
use crate::arrays;
use crate::system::{Angle, Bond, Topology};
use crate::units::{ANGSTROM, KCAL};

/// Factor that converts a force constant of the file to that of the engine. The energy is k (x − x₀)² in the file and ½
/// k (x − x₀)² in the engine.
pub(super) const HALF: f64 = 2.0;

/// Rows of `N` numbers each: atom pointers, followed by the 1-based type of the term.
pub(super) struct Rows<'s, 'a, const N: usize> {
    pub(super) section: &'s Section<'a>,
    values: Vec<i32>,
}

impl<'s, 'a, const N: usize> Rows<'s, 'a, N> {
    pub(super) fn read(sections: &'s Sections<'a>, name: &str, count: usize) -> Parsed<Self> {
        let section = sections.require(name)?;
        Ok(Self { section, values: section.integers(count.saturating_mul(N))? })
    }

    /// Reads the rows of the terms with hydrogen, and then the rows of the terms without hydrogen. The names of the two
    /// sections begin with `name`, and `counts` are the numbers of rows in the sections.
    pub(super) fn both(
        sections: &'s Sections<'a>,
        name: &'s str,
        counts: [usize; 2],
    ) -> impl Iterator<Item = Parsed<Self>> {
        let kinds = ["INC_HYDROGEN", "WITHOUT_HYDROGEN"].into_iter().zip(counts);
        kinds.map(move |(kind, count)| Self::read(sections, &format!("{name}_{kind}"), count))
    }

    pub(super) fn values(&self) -> &[[i32; N]] {
        self.values.as_chunks().0
    }

    /// Returns the 0-based atom index from a column. The column holds a coordinate pointer, which is three times the
    /// atom index. The sign of the pointer is ignored, because the caller interprets the sign.
    pub(super) fn pointer(&self, row: usize, column: usize, atoms: usize) -> Parsed<u32> {
        let value = self.values()[row][column].unsigned_abs();
        if !value.is_multiple_of(3) || value as usize / 3 >= atoms {
            let message =
                format!("{} is not the pointer 3(i−1) of an atom i from 1 to {atoms}", self.values()[row][column]);
            return Err(self.problem(row, column, message));
        }
        Ok(value / 3)
    }

    /// Returns the 0-based atom index in the same way as [`Self::pointer`]. A negative pointer is an error.
    pub(super) fn plain_pointer(&self, row: usize, column: usize, atoms: usize) -> Parsed<u32> {
        match self.values()[row][column] {
            value if value < 0 => Err(self.problem(row, column, format!("the pointer {value} is negative"))),
            _ => self.pointer(row, column, atoms),
        }
    }

    /// Returns the 0-based index from a column, which has a number between 1 and `count`.
    pub(super) fn counted(&self, row: usize, column: usize, count: usize, what: &str) -> Parsed<u32> {
        let value = self.values()[row][column];
        if value < 1 || value as usize > count {
            return Err(self.problem(row, column, format!("{what} {value} is not between 1 and {count}")));
        }
        Ok(value as u32 - 1)
    }

    /// Returns the atoms in the first `M` columns; the atoms must be different from each other. The columns hold
    /// pointers as in [`Self::plain_pointer`].
    fn atoms<const M: usize>(&self, row: usize, count: usize) -> Parsed<[u32; M]> {
        let atoms = arrays::try_from_fn(|column| self.plain_pointer(row, column, count))?;
        self.distinct(row, &atoms).map(|()| atoms)
    }

    /// Returns the atoms in the first `M` columns; the atoms must be different from each other. The columns hold atom
    /// numbers from 1 to `count`.
    pub(super) fn counted_atoms<const M: usize>(&self, row: usize, count: usize) -> Parsed<[u32; M]> {
        let atoms = arrays::try_from_fn(|column| self.counted(row, column, count, "atom"))?;
        self.distinct(row, &atoms).map(|()| atoms)
    }

    /// Returns an error if a term names an atom twice.
    pub(super) fn distinct(&self, row: usize, atoms: &[u32]) -> Parsed<()> {
        let twice = atoms.iter().enumerate().find(|&(k, atom)| atoms[..k].contains(atom));
        match twice {
            Some((column, atom)) => Err(self.problem(row, column, format!("the term names atom {} twice", atom + 1))),
            None => Ok(()),
        }
    }

    pub(super) fn problem(&self, row: usize, column: usize, message: String) -> crate::error::Problem {
        self.section.problem_at(row * N + column, format!("term {}: {message}", row + 1))
    }
}

/// Reads the bond terms.
pub(super) fn bonds(sections: &Sections<'_>, pointers: &Pointers) -> Parsed<Vec<Bond>> {
    let types = pointers.bond_types;
    let constants = sections.require("BOND_FORCE_CONSTANT")?.reals(types)?;
    let lengths = sections.require("BOND_EQUIL_VALUE")?.reals(types)?;
    let mut bonds = vec![];
    for rows in Rows::<3>::both(sections, "BONDS", pointers.bonds) {
        let rows = rows?;
        bonds.reserve_exact(rows.values().len());
        for row in 0..rows.values().len() {
            let atoms = rows.atoms(row, pointers.atoms)?;
            let kind = rows.counted(row, 2, types, "bond type")? as usize;
            bonds.push(Bond {
                atoms,
                length: lengths[kind] * ANGSTROM,
                force_constant: HALF * constants[kind] * KCAL / (ANGSTROM * ANGSTROM),
            });
        }
    }
    Ok(bonds)
}

/// Returns the bonds of the chemical graph. LEaP gives a water an H–H bond instead of an angle; the result does not
/// contain this bond.
pub(super) fn connectivity(topology: &Topology) -> Vec<[u32; 2]> {
    let pairs = topology.bonded.bonds.iter().map(|bond| bond.atoms);
    pairs.filter(|&pair| !topology.is_water_brace(pair)).collect()
}

/// Reads the angle terms.
pub(super) fn read_angles(sections: &Sections<'_>, pointers: &Pointers, topology: &mut Topology) -> Parsed<()> {
    let types = pointers.angle_types;
    let constants = sections.require("ANGLE_FORCE_CONSTANT")?.reals(types)?;
    let angles = sections.require("ANGLE_EQUIL_VALUE")?.reals(types)?;
    for rows in Rows::<4>::both(sections, "ANGLES", pointers.angles) {
        let rows = rows?;
        topology.bonded.angles.reserve_exact(rows.values().len());
        for row in 0..rows.values().len() {
            let atoms = rows.atoms(row, pointers.atoms)?;
            let kind = rows.counted(row, 3, types, "angle type")? as usize;
            let force_constant = HALF * constants[kind] * KCAL;
            topology.bonded.angles.push(Angle { atoms, angle: angles[kind], force_constant });
        }
    }
    Ok(())
}
