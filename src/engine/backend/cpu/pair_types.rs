//! Lennard-Jones parameters in the form that the pair kernel reads: a combination rule, a combination rule with
//! exceptions, or a table over the types in use.
//!
//! Types that no atom has are dropped, and types with equal parameters are merged. If at most 64 types remain, the
//! kernel looks up parameters in a row of the table by register permutations
//! ([`Float::pick`](crate::simd::Float::pick)). An exception is a pair of types whose parameters deviate from the
//! combination rule. If a rule holds except for some pairs of types, the kernel uses the table only for clusters and
//! blocks that may contain such a pair. Bit masks ([`Marks`]) identify the clusters and blocks that may contain an
//! exception. Pairs of types with an r⁻⁴ term (12-6-4 ions) are treated in the same way, for every rule. The choice
//! between a rule and a table depends only on the counts of types and on constant cost estimates, so the choice is the
//! same on every machine.

use super::pair_rules::{GEOMETRIC, LORENTZ_BERTHELOT, ROWS_OF_16, ROWS_OF_32, ROWS_OF_64, TYPE_TABLE, UNLIMITED};
use super::pair_variants::{end_of, rules};
use crate::pair::{BLOCK, CLUSTER, Marks};
use crate::simd::Aligned16;
use crate::system::{CombinationRule, System};

/// Estimated time of sixteen pairs in a block with exceptions, relative to sixteen pairs that follow the combination
/// rule. In a block with exceptions the kernel computes the four i-atoms as two vectors, one after the other, and reads
/// the parameters of each vector with a gather instruction.
const EXCEPTION_COST: f64 = 3.0;

/// Index of the first bit of a [`Marks`] mask that stands for an exception to the combination rule. Bit 0 stands for
/// r⁻⁴ terms.
const FIRST_BIT: u32 = 1;

/// Lennard-Jones parameters and the rule by which the kernel combines them.
#[derive(Debug)]
pub(super) struct PairTypes {
    /// combination rule of the kernel
    pub(super) rule: u8,
    /// two parameters for each Lennard-Jones type of the system, in the form that the combination rule needs
    pub(super) parameters: Vec<[f32; 2]>,
    /// kernel type of each Lennard-Jones type of the system
    pub(super) of_type: Vec<u32>,
    /// number of kernel types; the last kernel type has no interactions and is the type of empty slots
    pub(super) count: usize,
    /// coefficients (6 c6, 12 c12) of pairs of kernel types, in rows of `count` elements
    pub(super) table: Vec<[f32; 2]>,
    /// coefficients (4 c4, 0) of pairs of kernel types, in rows of `count` elements; empty without 12-6-4 ions
    pub(super) c4: Vec<[f32; 2]>,
    /// a row of 6 c6 and a row of 12 c12 for each kernel type, padded to the row length of the rule
    pub(super) rows: Vec<Aligned16>,
    /// bit masks of each kernel type, which mark the exceptions and r⁻⁴ terms of the type; empty if no pair of types
    /// has an exception or an r⁻⁴ term
    pub(super) marks: Vec<Marks>,
}

impl PairTypes {
    /// Chooses the form of the parameters for `counts` atoms of each Lennard-Jones type.
    pub(super) fn new(system: &System, counts: &[usize]) -> Self {
        let used: Vec<u32> = (0..).zip(counts).filter(|(_, count)| **count > 0).map(|(t, _)| t).collect();
        let (of_type, kept) = merged(system, &used);
        let table = table(&kept, |a, b| pair(system, a, b));
        let count = table.len().isqrt();
        let offered = rules(end_of(&system.settings));
        let (by_table, cost) = by_table(system, count, offered);
        let by_rule = COMBINATIONS.into_iter().filter(|(rule, _)| offered.contains(rule));
        let by_rule = by_rule.filter_map(|(rule, combination)| {
            let exceptions = system.nonbonded.exceptions(combination, &used)?;
            let expected = 1.0 + (EXCEPTION_COST - 1.0) * exception_fraction(&exceptions, counts);
            let mut found = vec![];
            mark(&mut found, &exceptions, &of_type, count, (FIRST_BIT..u32::BITS).map(|bit| 1 << bit))?;
            Some((rule, expected, found))
        });
        let cheapest =
            by_rule.filter(|(_, expected, _)| *expected < cost).min_by(|(_, a, _), (_, b, _)| a.total_cmp(b));
        let (rule, mut marks) = cheapest.map_or((by_table, vec![]), |(rule, _, marks)| (rule, marks));
        let dipoles = induced_dipoles(system, &used);
        // all r⁻⁴ terms share one bit, so that some pairs without an r⁻⁴ term are also marked; these marks cost time,
        // but change no result
        let _ = mark(&mut marks, &dipoles, &of_type, count, std::iter::repeat(1));
        let parameters = (0..system.nonbonded.types as u32).map(|t| lj_parameters(system, rule, t)).collect();
        let rows = match rule {
            ROWS_OF_16 => padded_rows(&table, count, 16),
            ROWS_OF_32 => padded_rows(&table, count, 32),
            ROWS_OF_64 => padded_rows(&table, count, 64),
            _ => vec![],
        };
        let c4 = |a: u32, b: u32| [(4.0 * system.nonbonded.c4(a, b)) as f32, 0.0];
        let c4 = if dipoles.is_empty() { vec![] } else { self::table(&kept, c4) };
        PairTypes { rule, parameters, of_type, count, table, c4, rows, marks }
    }
}

/// Combination rules for which the kernel computes pair parameters from the parameters of two atoms.
const COMBINATIONS: [(u8, CombinationRule); 2] =
    [(GEOMETRIC, CombinationRule::Geometric), (LORENTZ_BERTHELOT, CombinationRule::LorentzBerthelot)];

/// Table rules: for each rule, the maximum number of types, and the estimated time of sixteen pairs relative to the
/// time with a combination rule. The look-up of a coefficient takes one, two or four permutation instructions, or a
/// gather instruction.
const TABLES: [(u8, usize, f64); 4] =
    [(ROWS_OF_16, 16, 1.05), (ROWS_OF_32, 32, 1.15), (ROWS_OF_64, 64, 1.25), (TYPE_TABLE, usize::MAX, 2.0)];

/// Returns the cheapest of the table rules `offered` that allows `count` types, and the estimated time of this rule.
fn by_table(system: &System, count: usize, offered: &[u8]) -> (u8, f64) {
    if system.settings.cutoff.is_none() {
        return (UNLIMITED, 0.0);
    }
    let fits = |&&(rule, most, _): &&(u8, usize, f64)| count <= most && offered.contains(&rule);
    TABLES.iter().find(fits).map_or((TYPE_TABLE, f64::INFINITY), |&(rule, _, cost)| (rule, cost))
}

/// Returns the pairs of types with r⁻⁴ terms.
fn induced_dipoles(system: &System, used: &[u32]) -> Vec<[u32; 2]> {
    let pairs = used.iter().enumerate().flat_map(|(n, &a)| used[..=n].iter().map(move |&b| [a, b]));
    pairs.filter(|&[a, b]| system.nonbonded.c4(a, b) != 0.0).collect()
}

/// Returns (6 c6, 12 c12) of a pair of the system's types.
fn pair(system: &System, a: u32, b: u32) -> [f32; 2] {
    let (c6, c12) = system.nonbonded.pair(a, b);
    [(6.0 * c6) as f32, (12.0 * c12) as f32]
}

/// Merges types with equal parameters. Returns the kernel type of each type of the system, and one type of the system
/// for each kernel type except the last. The last kernel type is the type of empty slots, and also of system types
/// that no atom has.
fn merged(system: &System, used: &[u32]) -> (Vec<u32>, Vec<u32>) {
    let parameters = |a: u32, b: u32| (pair(system, a, b), system.nonbonded.c4(a, b));
    let equal = |a: u32, b: u32| used.iter().all(|&other| parameters(a, other) == parameters(b, other));
    let mut kept: Vec<u32> = vec![];
    let mut of_type = vec![u32::MAX; system.nonbonded.types];
    for &t in used {
        let known = kept.iter().position(|&other| equal(t, other)).unwrap_or(kept.len());
        if known == kept.len() {
            kept.push(t);
        }
        of_type[t as usize] = known as u32;
    }
    let empty = kept.len();
    of_type.iter_mut().filter(|t| **t == u32::MAX).for_each(|t| *t = empty as u32);
    (of_type, kept)
}

/// Returns the table of the values `pair(a, b)` for the types in `kept`, with a last row and a last column of zeros for
/// empty slots.
fn table(kept: &[u32], pair: impl Fn(u32, u32) -> [f32; 2]) -> Vec<[f32; 2]> {
    let empty = kept.len();
    let entry = |a: usize, b: usize| if a == empty || b == empty { [0.0; 2] } else { pair(kept[a], kept[b]) };
    (0..=empty).flat_map(|a| (0..=empty).map(move |b| (a, b))).map(|(a, b)| entry(a, b)).collect()
}

/// Returns, for each type, a row of 6 c6 and a row of 12 c12, each padded to `length` elements.
fn padded_rows(table: &[[f32; 2]], count: usize, length: usize) -> Vec<Aligned16> {
    let value =
        |i: usize, coefficient: usize, j: usize| if j < count { table[i * count + j][coefficient] } else { 0.0 };
    let parts = (0..count).flat_map(|i| [0, 1].map(|coefficient| (i, coefficient)));
    parts
        .flat_map(|(i, coefficient)| {
            (0..length)
                .step_by(16)
                .map(move |first| Aligned16(std::array::from_fn(|k| value(i, coefficient, first + k))))
        })
        .collect()
}

/// Returns the fraction of cluster pairs that contain an exception if atoms of all types are mixed randomly.
fn exception_fraction(exceptions: &[[u32; 2]], counts: &[usize]) -> f64 {
    let atoms = counts.iter().sum::<usize>() as f64;
    let fraction = |t: u32| counts[t as usize] as f64 / atoms;
    let pairs: f64 = exceptions.iter().map(|&[a, b]| 2.0 * fraction(a) * fraction(b)).sum();
    1.0 - (-pairs * (CLUSTER * BLOCK) as f64).exp()
}

/// Adds exceptions to the bit masks `marks`. Each bit belongs to one type, the key. The bit is set in `keys` for the
/// key itself, and in `partners` for all types that form exceptions with the key. Types with the most exceptions get
/// their bits first. Returns `None` if there are not enough bits.
fn mark(
    marks: &mut Vec<Marks>,
    exceptions: &[[u32; 2]],
    of_type: &[u32],
    count: usize,
    mut bits: impl Iterator<Item = u32>,
) -> Option<()> {
    let mut rest: Vec<[usize; 2]> = exceptions.iter().map(|pair| pair.map(|t| of_type[t as usize] as usize)).collect();
    if !rest.is_empty() {
        marks.resize(count, Marks::default());
    }
    while !rest.is_empty() {
        let pairs_with = |t: usize| rest.iter().filter(|pair| pair.contains(&t)).count();
        let key = (0..count).max_by_key(|&t| pairs_with(t))?;
        let bit = bits.next()?;
        marks[key].keys |= bit;
        for &[a, b] in rest.iter().filter(|pair| pair.contains(&key)) {
            marks[if a == key { b } else { a }].partners |= bit;
        }
        rest.retain(|pair| !pair.contains(&key));
    }
    Some(())
}

/// Returns the two Lennard-Jones parameters of an atom type in the form that the combination rule `rule` needs.
pub(in crate::backend) fn lj_parameters(system: &System, rule: u8, lj_type: u32) -> [f32; 2] {
    let (c6, c12) = system.nonbonded.pair(lj_type, lj_type);
    let (sigma, epsilon) = system.nonbonded.sigma_epsilon(lj_type, lj_type);
    match rule {
        GEOMETRIC => [(6.0 * c6).sqrt() as f32, (12.0 * c12).sqrt() as f32],
        LORENTZ_BERTHELOT => [(0.5 * sigma) as f32, (48.0 * epsilon).sqrt() as f32],
        _ => [lj_type as f32, 0.0],
    }
}

/// Returns (6 c6, 12 c12) of all pairs of types, with a last row and column of zeros for empty slots.
pub(in crate::backend) fn type_table(system: &System) -> Vec<[f32; 2]> {
    let types = system.nonbonded.types as u32;
    let entry = |a: u32, b: u32| {
        if a == types || b == types {
            return [0.0; 2];
        }
        let (c6, c12) = system.nonbonded.pair(a, b);
        [(6.0 * c6) as f32, (12.0 * c12) as f32]
    };
    (0..=types).flat_map(|a| (0..=types).map(move |b| entry(a, b))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::{
        Atom, Constraints, DispersionCorrection, Electrostatics, ForceSettings, ListPolicy, LjModifier, Modifier, Name,
        Nonbonded, Topology,
    };

    fn pair_types(system: &System) -> PairTypes {
        PairTypes::new(system, &system.lj_type_counts())
    }

    /// Returns a system with types (σ, ε) that follow the Lorentz–Berthelot rule, and with `counts` atoms of each
    /// type.
    fn system(types: &[(f64, f64)], counts: &[usize]) -> System {
        let pairs = types.iter().flat_map(|a| types.iter().map(move |b| (a, b)));
        let (c6, c12) = pairs
            .map(|(a, b)| {
                let (s6, epsilon) = ((0.5 * (a.0 + b.0)).powi(6), (a.1 * b.1).sqrt());
                (4.0 * epsilon * s6, 4.0 * epsilon * s6 * s6)
            })
            .unzip();
        let name = Name::new("X");
        let atom = |t: usize| Atom {
            name,
            type_name: name,
            element: 6,
            mass: 12.0,
            charge: 0.0,
            lj_type: t as u32,
            residue: 0,
        };
        let atoms = counts.iter().enumerate().flat_map(|(t, &count)| vec![atom(t); count]).collect();
        System {
            topology: Topology { atoms, ..Topology::default() },
            nonbonded: Nonbonded { types: types.len(), c6, c12, ..Nonbonded::default() },
            constraints: Constraints::default(),
            settings: ForceSettings {
                cutoff: Some(0.9),
                cutoff_lj: Some(0.9),
                electrostatics: Electrostatics::Off,
                lj_modifier: LjModifier::None,
                coulomb_modifier: Modifier::None,
                dispersion_correction: DispersionCorrection::Off,
                list: ListPolicy::Exact { buffer: 0.1 },
            },
        }
    }

    fn disturb(system: &mut System, [a, b]: [usize; 2]) {
        let types = system.nonbonded.types;
        system.nonbonded.c6[a * types + b] *= 1.1;
        system.nonbonded.c6[b * types + a] *= 1.1;
    }

    const WATER_AND_IONS: [(f64, f64); 4] = [(0.315, 0.636), (0.04, 0.192), (0.314, 0.364), (0.404, 0.628)];

    #[test]
    fn rare_exceptions_leave_the_rule() {
        let mut salt = system(&WATER_AND_IONS, &[900, 1800, 20, 20]);
        assert!(pair_types(&salt).marks.is_empty());
        disturb(&mut salt, [2, 3]);
        let found = pair_types(&salt);
        assert_eq!(found.rule, LORENTZ_BERTHELOT);
        let meet = |a: usize, b: usize| found.marks[a].meet(found.marks[b]);
        for (a, b) in (0..5).flat_map(|a| (0..5).map(move |b| (a, b))) {
            assert_eq!(meet(a, b), [a.min(b), a.max(b)] == [2, 3], "{a} {b}");
        }
        let (c6, c12) = salt.nonbonded.pair(3, 2);
        assert_eq!(found.table[2 * found.count + 3], [(6.0 * c6) as f32, (12.0 * c12) as f32]);
    }

    #[test]
    fn frequent_exceptions_take_the_table() {
        let mut brine = system(&WATER_AND_IONS, &[900, 1800, 150, 150]);
        disturb(&mut brine, [0, 2]);
        let found = pair_types(&brine);
        assert_eq!(found.rule, ROWS_OF_16);
        assert!(found.marks.is_empty());
    }

    #[test]
    fn types_are_merged_and_those_without_atoms_left_out() {
        // type 1 equals type 3, and no atom has type 2
        let mut types = system(&[(0.3, 0.5), (0.2, 0.4), (0.25, 0.6), (0.2, 0.4)], &[5, 5, 0, 5]);
        disturb(&mut types, [0, 1]);
        disturb(&mut types, [0, 3]);
        let found = pair_types(&types);
        assert_eq!((found.rule, found.count, &found.of_type[..]), (ROWS_OF_16, 3, &[0, 1, 2, 1][..]));
        for (a, b) in [(0u32, 1u32), (1, 0), (1, 3), (0, 0)] {
            let (c6, c12) = types.nonbonded.pair(a, b);
            let [i, j] = [a, b].map(|t| found.of_type[t as usize] as usize);
            assert_eq!(found.rows[2 * i].0[j], (6.0 * c6) as f32);
            assert_eq!(found.rows[2 * i + 1].0[j], (12.0 * c12) as f32);
        }
        assert!(found.rows[2 * 2].0.iter().all(|&c| c == 0.0), "empty slots have no interactions");
    }

    #[test]
    fn rows_are_as_long_as_there_are_types() {
        for (types, rule, length) in
            [(15, ROWS_OF_16, 1), (16, ROWS_OF_32, 2), (63, ROWS_OF_64, 4), (64, TYPE_TABLE, 0)]
        {
            let parameters: Vec<(f64, f64)> = (0..types).map(|t| (0.2 + 0.001 * f64::from(t), 0.5)).collect();
            let mut many = system(&parameters, &vec![3; types as usize]);
            // each pair of consecutive types deviates from the combination rule
            (1..types as usize).for_each(|t| disturb(&mut many, [t - 1, t]));
            let found = pair_types(&many);
            assert_eq!((found.rule, found.count), (rule, types as usize + 1));
            assert_eq!(found.rows.len(), 2 * length * found.count);
        }
    }
}
