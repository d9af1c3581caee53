//! Writer of Lennard-Jones types and tables, and of the scaling of 1-4 pairs.

use std::collections::{BTreeMap, HashMap};

use super::refused;
use super::sections::Text;
use crate::format::prmtop::dihedral::{AMBER_SCALES, CHARMM_SCALES};
use crate::format::prmtop::sections::Parsed;
use crate::system::{Description, LennardJones, Name, Pair14, Topology};
use crate::units::{ANGSTROM, KCAL};

/// Maximum relative difference at which two numbers count as equal. The tolerance allows for the rounding of numbers in
/// AMBER topologies, which have eight decimals.
const SAME: f64 = 1e-7;

/// Lennard-Jones types of a file, and their tables.
pub(super) struct Types {
    of_atom: Vec<u32>,
    /// c6 and c12 of pairs of types (a, b) with b ≤ a, at index a (a + 1)/2 + b
    pairs: Vec<LennardJones>,
    /// c4 of pairs of types, in the order of `pairs`; empty without 12-6-4 ions
    c4: Vec<f64>,
    /// c6 and c12 of 1-4 pairs, in CHAMBER files; `None` in other files
    pairs14: Option<Vec<LennardJones>>,
    count: usize,
}

impl Types {
    pub(super) fn new(description: &Description) -> Parsed<Self> {
        let Description { topology, nonbonded, .. } = description;
        let bonded = &topology.bonded;
        let lj = |i: u32, j: u32| {
            let (c6, c12) = nonbonded.pair(i, j);
            LennardJones { c6, c12 }
        };
        let chamber = topology.charmm || !bonded.urey_bradleys.is_empty() || !bonded.harmonic_impropers.is_empty();
        // CHAMBER files distinguish atom types also by name, because two atom types may differ only in the parameters
        // of 1-4 pairs
        let key = |atom: &crate::system::Atom| (atom.lj_type, if chamber { atom.type_name } else { Name::default() });
        let mut numbers: BTreeMap<(u32, Name), u32> = topology.atoms.iter().map(|atom| (key(atom), 0)).collect();
        numbers.values_mut().zip(0..).for_each(|(number, next)| *number = next);
        let kinds: Vec<u32> = numbers.keys().map(|(lj_type, _)| *lj_type).collect();
        let of_atom: Vec<u32> = topology.atoms.iter().map(|atom| numbers[&key(atom)]).collect();
        let places = || (0..kinds.len()).flat_map(|a| (0..=a).map(move |b| (a, b)));
        let pairs: Vec<LennardJones> = places().map(|(a, b)| lj(kinds[a], kinds[b])).collect();
        let c4 = if nonbonded.c4.is_empty() {
            vec![]
        } else {
            places().map(|(a, b)| nonbonded.c4(kinds[a], kinds[b])).collect()
        };
        let mut types = Types { of_atom, pairs, c4, pairs14: None, count: kinds.len() };
        if chamber {
            types.pairs14 = Some(types.table_of_pairs14(topology)?);
        }
        Ok(types)
    }

    /// Returns the Lennard-Jones parameters of 1-4 pairs for each pair of types. For two types that have no 1-4 pair in
    /// the system, the table holds the parameters of their ordinary non-bonded pairs. Fails if two 1-4 pairs of the
    /// same types have different parameters.
    fn table_of_pairs14(&self, topology: &Topology) -> Parsed<Vec<LennardJones>> {
        let mut table = self.pairs.clone();
        let mut set = HashMap::new();
        for pair in &topology.bonded.pairs14 {
            let place = self.place(pair.atoms);
            let own = LennardJones { c6: pair.c6, c12: pair.c12 };
            let known = *set.entry(place).or_insert(own);
            if !(close(known.c6, own.c6) && close(known.c12, own.c12)) {
                let [i, j] = pair.atoms.map(|atom| atom + 1);
                let message = format!(
                    "the 1-4 pair of atoms {i} and {j} has other Lennard-Jones parameters than pairs of the same types"
                );
                return Err(refused(message, "an AMBER topology stores Lennard-Jones parameters by atom types"));
            }
            table[place] = own;
        }
        Ok(table)
    }

    fn place(&self, atoms: [u32; 2]) -> usize {
        let [a, b] = atoms.map(|atom| self.of_atom[atom as usize] as usize);
        let (high, low) = (a.max(b), a.min(b));
        high * (high + 1) / 2 + low
    }

    pub(super) fn is_chamber(&self) -> bool {
        self.pairs14.is_some()
    }

    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Returns the 1-based type of each atom.
    pub(super) fn of_atoms(&self) -> impl Iterator<Item = usize> + '_ {
        self.of_atom.iter().map(|&kind| kind as usize + 1)
    }

    /// Returns the 1-based table index of each ordered pair of types.
    pub(super) fn index(&self) -> impl Iterator<Item = usize> + '_ {
        let pairs = (0..self.count).flat_map(|a| (0..self.count).map(move |b| (a.max(b), a.min(b))));
        pairs.map(|(high, low)| high * (high + 1) / 2 + low + 1)
    }

    /// Returns the usual divisors of the Coulomb and Lennard-Jones interactions of 1-4 pairs, which are written for
    /// torsions without a 1-4 pair. A 1-4 pair whose charges or Lennard-Jones parameters are zero also gets the usual
    /// divisor.
    pub(super) fn usual_scales(&self) -> [f64; 2] {
        if self.is_chamber() { CHARMM_SCALES } else { AMBER_SCALES }
    }

    /// Returns the divisors that convert the charge product and the Lennard-Jones parameters of two atoms to those of
    /// their 1-4 pair.
    pub(super) fn scales(&self, topology: &Topology, pair: &Pair14) -> Parsed<[f64; 2]> {
        let usual = self.usual_scales();
        let [a, b] = pair.atoms.map(|atom| topology.atoms[atom as usize].charge);
        let table = self.pairs14.as_ref().unwrap_or(&self.pairs)[self.place(pair.atoms)];
        let charges = ratio(a * b, pair.charge_product);
        let (Some(charges), Some(lj)) = (charges, lj_scale(table, pair)) else {
            let [i, j] = pair.atoms.map(|atom| atom + 1);
            let message =
                format!("the 1-4 interaction of atoms {i} and {j} is not a fraction of their non-bonded interaction");
            return Err(refused(
                message,
                "an AMBER topology divides 1-4 interactions by one number for charges and one for Lennard-Jones \
                 parameters",
            ));
        };
        Ok([charges.unwrap_or(usual[0]), if self.is_chamber() { 1.0 } else { lj.unwrap_or(usual[1]) }])
    }

    /// Writes the sections of the Lennard-Jones tables, in kcal/mol and Å.
    pub(super) fn write(&self, text: &mut Text) {
        text.reals("SOLTY", std::iter::repeat_n(0.0, self.count));
        let (c6, c12) = (KCAL * ANGSTROM.powi(6), KCAL * ANGSTROM.powi(12));
        text.reals("LENNARD_JONES_ACOEF", self.pairs.iter().map(|pair| pair.c12 / c12));
        text.reals("LENNARD_JONES_BCOEF", self.pairs.iter().map(|pair| pair.c6 / c6));
        if !self.c4.is_empty() {
            text.reals("LENNARD_JONES_CCOEF", self.c4.iter().map(|c4| c4 / (KCAL * ANGSTROM.powi(4))));
        }
        if let Some(pairs14) = &self.pairs14 {
            text.reals("LENNARD_JONES_14_ACOEF", pairs14.iter().map(|pair| pair.c12 / c12));
            text.reals("LENNARD_JONES_14_BCOEF", pairs14.iter().map(|pair| pair.c6 / c6));
        }
    }
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= SAME * b.abs()
}

/// Returns the divisor by which `whole` must be divided to give `part`. If both numbers are zero, any divisor is right,
/// and the result is `Some(None)`. If there is no positive divisor, the result is `None`.
fn ratio(whole: f64, part: f64) -> Option<Option<f64>> {
    if whole == 0.0 && part == 0.0 {
        return Some(None);
    }
    let ratio = whole / part;
    (ratio.is_finite() && ratio > 0.0).then_some(Some(ratio))
}

/// Returns the common divisor by which c6 and c12 of the table must be divided to give those of the pair. Returns
/// `Some(None)` if all four coefficients are zero, and `None` if there is no common divisor.
fn lj_scale(table: LennardJones, pair: &Pair14) -> Option<Option<f64>> {
    match (ratio(table.c6, pair.c6)?, ratio(table.c12, pair.c12)?) {
        (Some(sixth), Some(twelfth)) => close(sixth, twelfth).then_some(Some(sixth)),
        (one, other) => Some(one.or(other)),
    }
}
