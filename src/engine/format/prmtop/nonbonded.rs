//! Lennard-Jones tables: the coefficients of `A/r¹² − B/r⁶` for pairs of types, the coefficients of `−C/r⁴` for 12-6-4
//! ions, and CHARMM's second table for 1-4 pairs.

use super::pointers::Pointers;
use super::sections::{Parsed, Sections};
use super::unsupported;
use crate::system::Nonbonded;
use crate::units::{ANGSTROM, KCAL};

/// Lennard-Jones types of the atoms, and the tables for pairs of types.
pub(super) struct Tables {
    /// 0-based type of each atom
    pub(super) atom_types: Vec<u32>,
    /// table for all pairs except 1-4 pairs
    pub(super) pairs: Nonbonded,
    /// table for 1-4 pairs before scaling; `None` if 1-4 pairs use the table of all other pairs
    pub(super) pairs14: Option<Nonbonded>,
}

impl Tables {
    pub(super) fn read(sections: &Sections<'_>, pointers: &Pointers, chamber: bool) -> Parsed<Self> {
        let types = pointers.types;
        let section = sections.require("ATOM_TYPE_INDEX")?;
        let indices = section.integers(pointers.atoms)?;
        let mut atom_types = Vec::with_capacity(indices.len());
        for (atom, index) in indices.into_iter().enumerate() {
            if index < 1 || index as usize > types {
                return Err(
                    section.problem_at(atom, format!("type {index} of atom {} is not between 1 and {types}", atom + 1))
                );
            }
            atom_types.push(index as u32 - 1);
        }
        let table = PairIndex::read(sections, pointers)?;
        let mut pairs = table.fill(sections, "LENNARD_JONES_ACOEF", "LENNARD_JONES_BCOEF")?;
        pairs.c4 = table.induced_dipoles(sections)?;
        let pairs14 = match chamber {
            true => Some(table.fill(sections, "LENNARD_JONES_14_ACOEF", "LENNARD_JONES_14_BCOEF")?),
            false => None,
        };
        Ok(Self { atom_types, pairs, pairs14 })
    }
}

/// Index of each ordered pair of types in the coefficient lists; `None` for a pair without interaction.
struct PairIndex {
    types: usize,
    places: Vec<Option<usize>>,
}

impl PairIndex {
    fn read(sections: &Sections<'_>, pointers: &Pointers) -> Parsed<Self> {
        let types = pointers.types;
        let section = sections.require("NONBONDED_PARM_INDEX")?;
        let indices = section.integers(types.saturating_mul(types))?;
        let coefficients = triangle(types);
        let mut places = Vec::with_capacity(indices.len());
        for (k, &index) in indices.iter().enumerate() {
            if index != indices[(k % types) * types + k / types] {
                let message = format!("the table is not symmetric for types {} and {}", k / types + 1, k % types + 1);
                return Err(section.problem_at(k, message));
            }
            if index > 0 && index as usize > coefficients {
                return Err(section.problem_at(
                    k,
                    format!("index {index} of a Lennard-Jones coefficient is not between 1 and {coefficients}"),
                ));
            }
            if index < 0 && index.unsigned_abs() as usize > pointers.hydrogen_bond_types {
                let message = format!("10-12 term {} is not between 1 and {}", -index, pointers.hydrogen_bond_types);
                return Err(section.problem_at(k, message));
            }
            places.push(if index > 0 { Some(index as usize - 1) } else { None });
        }
        refuse_hydrogen_bonds(sections, pointers, &indices)?;
        Ok(Self { types, places })
    }

    fn fill(&self, sections: &Sections<'_>, a: &str, b: &str) -> Parsed<Nonbonded> {
        let c12 = sections.require(a)?.rounded_reals(triangle(self.types))?;
        let c6 = sections.require(b)?.rounded_reals(triangle(self.types))?;
        let spread = |values: &[[f64; 2]], unit: f64| {
            let of_place = |place: usize| values[place].map(|v| v * unit);
            let of_pair = |place: &Option<usize>| place.map_or([0.0; 2], of_place);
            self.places.iter().map(of_pair).map(<(f64, f64)>::from).unzip()
        };
        let (c6, rounding6): (_, Vec<f64>) = spread(&c6, KCAL * ANGSTROM.powi(6));
        let (c12, rounding12): (_, Vec<f64>) = spread(&c12, KCAL * ANGSTROM.powi(12));
        let rounding = rounding6.into_iter().zip(rounding12).map(<[f64; 2]>::from).collect();
        Ok(Nonbonded { types: self.types, c6, c12, rounding, c4: vec![] })
    }

    /// Returns the coefficient C of −C/r⁴ for all pairs of types. The list is empty if C is zero for all pairs.
    fn induced_dipoles(&self, sections: &Sections<'_>) -> Parsed<Vec<f64>> {
        let Some(section) = sections.get("LENNARD_JONES_CCOEF") else { return Ok(vec![]) };
        let c4 = section.reals(triangle(self.types))?;
        if c4.iter().all(|&c| c == 0.0) {
            return Ok(vec![]);
        }
        let unit = KCAL * ANGSTROM.powi(4);
        Ok(self.places.iter().map(|place| place.map_or(0.0, |place| c4[place] * unit)).collect())
    }
}

/// Returns the number of unordered pairs of `types` types.
fn triangle(types: usize) -> usize {
    types * (types + 1) / 2
}

/// Returns an error if atoms of the file have a 10-12 hydrogen-bond term with a nonzero coefficient. Current force
/// fields have no 10-12 terms.
fn refuse_hydrogen_bonds(sections: &Sections<'_>, pointers: &Pointers, indices: &[i32]) -> Parsed<()> {
    if indices.iter().all(|&index| index >= 0) {
        return Ok(());
    }
    for name in ["HBOND_ACOEF", "HBOND_BCOEF"] {
        let section = sections.require(name)?;
        let coefficients = section.reals(pointers.hydrogen_bond_types)?;
        let terms = indices.iter().filter(|&&index| index < 0).map(|index| index.unsigned_abs() as usize - 1);
        if let Some(term) = terms.into_iter().find(|&term| coefficients[term] != 0.0) {
            let problem = section.problem_at(term, "10-12 hydrogen-bond terms are not supported");
            return Err(unsupported(problem, "use a force field newer than ff91, without 10-12 terms"));
        }
    }
    Ok(())
}
