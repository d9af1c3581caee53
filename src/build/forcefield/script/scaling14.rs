//! 1-4 scale factors that depend on the types of the four atoms, as topologies of AMBER state them for each torsion.

use std::collections::HashMap;

use super::literal::Literal;
use super::{Tables, map};

/// AMBER's usual divisor of Coulomb interactions of 1-4 pairs.
const SCEE: f64 = 1.2;
/// AMBER's usual divisor of Lennard-Jones interactions of 1-4 pairs.
const SCNB: f64 = 2.0;

/// Divisors of 1-4 interactions, by the names of the types of four atoms.
#[derive(Clone, Debug)]
pub(in crate::forcefield) struct Scaling14 {
    coulomb: HashMap<[String; 4], f64>,
    lennard_jones: HashMap<[String; 4], f64>,
}

impl Scaling14 {
    pub(super) fn read(tables: &Tables) -> Option<Self> {
        let item = |key: &Literal, value: &Literal| {
            let [a, b, c, d] = key.items::<4>()?;
            let text = |item: &Literal| item.text().map(str::to_owned);
            let divisor = value.number().filter(|divisor| *divisor > 0.0)?;
            Some(([text(a)?, text(b)?, text(c)?, text(d)?], divisor))
        };
        Some(Self { coulomb: map(tables, "scee_table", item)?, lennard_jones: map(tables, "scnb_table", item)? })
    }

    /// Reads the set of torsions of GLYCAM whose 1-4 pairs are not scaled. The set has each torsion in both directions.
    pub(super) fn unscaled(tables: &Tables) -> Option<Self> {
        let item = |key: &Literal, _: &Literal| {
            let [a, b, c, d] = key.items::<4>()?;
            let text = |item: &Literal| item.text().map(str::to_owned);
            Some(([text(a)?, text(b)?, text(c)?, text(d)?], 1.0))
        };
        let divisors: HashMap<[String; 4], f64> = map(tables, "unscaled_types", item)?;
        Some(Self { coulomb: divisors.clone(), lennard_jones: divisors })
    }

    /// Returns the Coulomb and Lennard-Jones scale factors of a torsion, given the types of its four atoms; `None` if
    /// the usual factors apply.
    pub(in crate::forcefield) fn factors(&self, types: [&str; 4]) -> Option<[f64; 2]> {
        let types = types.map(str::to_owned);
        let (coulomb, lennard_jones) = (self.coulomb.get(&types), self.lennard_jones.get(&types));
        let found = coulomb.is_some() || lennard_jones.is_some();
        found.then(|| [1.0 / coulomb.unwrap_or(&SCEE), 1.0 / lennard_jones.unwrap_or(&SCNB)])
    }
}
