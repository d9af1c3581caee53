//! Writer of `[ defaults ]`, `[ atomtypes ]`, `[ nonbond_params ]`, `[ cmaptypes ]`.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt::Write as _;

use super::{Number, Parsed, line, unique, word};
use crate::error::Problem;
use crate::system::{Cmap, CombinationRule, Description, LennardJones, Name, Nonbonded, Pair14, Topology};

/// Maximum relative difference at which two numbers count as equal. Lennard-Jones parameters are compared with the
/// values from the combination rule. The charge product of a 1-4 pair is compared with `fudgeQQ` times the product of
/// the two charges. The tolerance allows for a few rounding errors of `f64`, which the twelfth power of a distance
/// multiplies by twelve.
const EXACT: f64 = 1e-12;

/// Form of the Lennard-Jones parameters of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// parameters C6 and C12, with geometric means (combination rule 1)
    Coefficients,
    /// parameters σ and ε, with the Lorentz–Berthelot rule (combination rule 2)
    SigmaEpsilon,
}

/// Properties that distinguish atom types. Two atoms with equal properties have the same atom type.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Key {
    type_name: Name,
    lj_type: u32,
    element: u8,
    is_site: bool,
    /// grid of the correction map that has an atom of this type as its central atom
    map: Option<u32>,
}

struct AtomType {
    key: Key,
    name: String,
    mass: f64,
    charge: f64,
}

/// Atom types that are written for a topology.
pub(super) struct AtomTypes {
    form: Form,
    types: Vec<AtomType>,
    of_atom: Vec<u32>,
    /// factor of the charge products of 1-4 pairs (`fudgeQQ`)
    fudge: f64,
}

impl AtomTypes {
    pub(super) fn new(description: &Description) -> Parsed<Self> {
        let topology = &description.topology;
        let maps = middles(topology)?;
        let is_site = topology.site_mask();
        let (mut types, mut known, mut taken) = (vec![], HashMap::new(), HashSet::new());
        let of_atom = topology.atoms.iter().enumerate().map(|(i, atom)| {
            let map = maps.get(&(i as u32)).copied();
            let (lj_type, element, is_site) = (atom.lj_type, atom.element, is_site[i]);
            let key = Key { type_name: atom.type_name, lj_type, element, is_site, map };
            *known.entry(key).or_insert_with(|| {
                let name = unique(type_name(atom.type_name), &mut taken);
                types.push(AtomType { key, name, mass: atom.mass, charge: atom.charge });
                types.len() as u32 - 1
            })
        });
        let of_atom = of_atom.collect();
        Ok(AtomTypes { form: Form::of(description), types, of_atom, fudge: fudge(topology) })
    }

    /// Returns the type name of an atom.
    pub(super) fn name(&self, atom: u32) -> &str {
        &self.types[self.of_atom[atom as usize] as usize].name
    }

    /// Returns the types whose written names differ from those of the system, with the written names.
    pub(super) fn changed_names(&self) -> impl Iterator<Item = (Name, String)> + '_ {
        let changed = self.types.iter().filter(|known| known.name != known.key.type_name.as_str());
        changed.map(|known| (known.key.type_name, known.name.clone()))
    }

    /// Returns the two Lennard-Jones parameters of a 1-4 pair.
    pub(super) fn pair_parameters(&self, pair: &Pair14) -> [Number; 2] {
        self.form.values(pair.c6, pair.c12).map(Number)
    }

    /// Whether the charge product of a 1-4 pair equals `fudgeQQ` (`[ defaults ]`) times the product of the two charges.
    pub(super) fn has_usual_charges(&self, pair: &Pair14, charges: [f64; 2]) -> bool {
        let expected = self.fudge * charges[0] * charges[1];
        (expected - pair.charge_product).abs() <= EXACT * pair.charge_product.abs()
    }

    /// Writes all sections that come before the first molecule type.
    pub(super) fn write(&self, description: &Description, text: &mut String) {
        let number = if self.form == Form::Coefficients { 1 } else { 2 };
        line!(text, "\n[ defaults ]\n; nbfunc comb-rule gen-pairs fudgeLJ fudgeQQ");
        line!(text, "1 {number} no 1 {}", Number(self.fudge));
        let topology = &description.topology;
        let has_maps = !topology.bonded.cmaps.is_empty();
        let columns = if self.form == Form::Coefficients { "C6 C12" } else { "sigma epsilon" };
        let bonded = if has_maps { "bonded " } else { "" };
        line!(text, "\n[ atomtypes ]\n; name {bonded}at.num mass charge ptype {columns}");
        for (index, kind) in self.types.iter().enumerate() {
            let bonded = if has_maps { format!("{:<8} ", self.bonded(index)) } else { String::new() };
            let [first, second] = self.form.type_values(&description.nonbonded, kind.key.lj_type).map(Number);
            let particle = if kind.key.is_site { 'V' } else { 'A' };
            // numbers have a decimal point, because some readers take a word of one character in these columns for
            // the particle type
            line!(
                text,
                "{:<8} {bonded}{:>3} {:<8?} {:?} {particle} {first} {second}",
                kind.name,
                kind.key.element,
                kind.mass,
                kind.charge
            );
        }
        self.write_exceptions(&description.nonbonded, text);
        self.write_maps(topology, text);
    }

    fn write_exceptions(&self, nonbonded: &Nonbonded, text: &mut String) {
        let mut headed = false;
        for (a, first) in self.types.iter().enumerate() {
            for second in &self.types[..=a] {
                let (i, j) = (first.key.lj_type, second.key.lj_type);
                if self.form.gives(nonbonded, i, j) {
                    continue;
                }
                if !std::mem::replace(&mut headed, true) {
                    text.push_str("\n[ nonbond_params ]\n");
                }
                let (c6, c12) = nonbonded.pair(i, j);
                let [x, y] = self.form.values(c6, c12).map(Number);
                line!(text, "{} {} 1 {x} {y}", first.name, second.name);
            }
        }
    }

    /// Returns the bonded type of an atom type. GROMACS finds the correction map of five atoms by their bonded types.
    /// All central atoms of one map, and all atoms that are not the central atom of a map, have the same bonded type.
    /// The bonded type is the name of the first of their types, because GROMACS accepts only names of atom types in
    /// `[ cmaptypes ]`.
    fn bonded(&self, index: usize) -> &str {
        let map = self.types[index].key.map;
        let first = self.types.iter().find(|kind| kind.key.map == map).unwrap_or(&self.types[index]);
        &first.name
    }

    fn write_maps(&self, topology: &Topology, text: &mut String) {
        let bonded = |atom: u32| self.bonded(self.of_atom[atom as usize] as usize);
        let rows = topology.bonded.cmaps.iter().map(|map| (five(map).map(bonded), map.grid));
        let rows: BTreeSet<([&str; 5], u32)> = rows.collect();
        if !rows.is_empty() {
            text.push_str("\n[ cmaptypes ]\n");
        }
        for (types, grid) in rows {
            let grid = &topology.bonded.cmap_grids[grid as usize];
            let _ = write!(text, "{} 1 {} {}", types.join(" "), grid.size, grid.size);
            for energies in grid.energies.chunks(10) {
                text.push_str("\\\n");
                energies.iter().for_each(|&energy| {
                    let _ = write!(text, "{} ", Number(energy));
                });
            }
            text.push('\n');
        }
    }
}

impl Form {
    /// Returns the form of the Lennard-Jones parameters of a topology. The parameters are σ and ε if two conditions
    /// hold: the coefficients c6 and c12 of every pair of types are both zero or both positive, and the
    /// Lorentz–Berthelot rule gives the parameters of at least as many pairs as the geometric rule. Otherwise the
    /// parameters are C6 and C12.
    fn of(description: &Description) -> Self {
        let Description { topology, nonbonded, .. } = description;
        let used: BTreeSet<u32> = topology.atoms.iter().map(|atom| atom.lj_type).collect();
        let used: Vec<u32> = used.into_iter().collect();
        let has_both = |c6: f64, c12: f64| c6 >= 0.0 && c12 >= 0.0 && (c6 == 0.0) == (c12 == 0.0);
        let of_types = |&a: &u32| {
            used.iter().all(|&b| {
                let (c6, c12) = nonbonded.pair(a, b);
                has_both(c6, c12)
            })
        };
        let expressible =
            topology.bonded.pairs14.iter().all(|pair| has_both(pair.c6, pair.c12)) && used.iter().all(of_types);
        let misfits = |rule| nonbonded.exceptions(rule, &used).map_or(usize::MAX, |exceptions| exceptions.len());
        match expressible && misfits(CombinationRule::LorentzBerthelot) <= misfits(CombinationRule::Geometric) {
            true => Form::SigmaEpsilon,
            false => Form::Coefficients,
        }
    }

    fn values(self, c6: f64, c12: f64) -> [f64; 2] {
        match self {
            Form::Coefficients => [c6, c12],
            Form::SigmaEpsilon if c6 == 0.0 => [0.0, 0.0],
            Form::SigmaEpsilon => [(c12 / c6).powf(1.0 / 6.0), c6 * c6 / (4.0 * c12)],
        }
    }

    /// Returns the two Lennard-Jones parameters of a type. If a coefficient is negative, both parameters are zero,
    /// because no combination rule can combine negative coefficients. The pairs of a type with negative coefficients
    /// are listed in `[ nonbond_params ]`.
    fn type_values(self, nonbonded: &Nonbonded, kind: u32) -> [f64; 2] {
        let (c6, c12) = nonbonded.pair(kind, kind);
        if c6 < 0.0 || c12 < 0.0 { [0.0; 2] } else { self.values(c6, c12) }
    }

    /// Whether the combination rule gives the parameters of a pair of types.
    fn gives(self, nonbonded: &Nonbonded, a: u32, b: u32) -> bool {
        let [x, y] = [a, b].map(|kind| self.type_values(nonbonded, kind));
        let second = (x[1] * y[1]).sqrt();
        let LennardJones { c6, c12 } = match self {
            Form::Coefficients => LennardJones { c6: (x[0] * y[0]).sqrt(), c12: second },
            Form::SigmaEpsilon => LennardJones::from_sigma_epsilon(0.5 * (x[0] + y[0]), second),
        };
        let own = nonbonded.pair(a, b);
        let close = |given: f64, own: f64| (given - own).abs() <= EXACT * own.abs();
        close(c6, own.0) && close(c12, own.1)
    }
}

/// Returns a name that GROMACS accepts for a type. GROMACS accepts no number as a type name, so that a `t` is added
/// before a number.
fn type_name(name: Name) -> String {
    let name = word(name.as_str());
    if name.bytes().all(|byte| byte.is_ascii_digit()) { format!("t{name}") } else { name }
}

/// Returns the ratio of the charge product of a 1-4 pair to the product of the charges of its atoms. The ratio is that
/// of the first pair whose atoms have charges, or 1 if there is no such pair.
fn fudge(topology: &Topology) -> f64 {
    let charge = |atom: u32| topology.atoms[atom as usize].charge;
    let factors = topology.bonded.pairs14.iter().map(|pair| {
        let [a, b] = pair.atoms.map(charge);
        pair.charge_product / (a * b)
    });
    { factors }.find(|factor| factor.is_finite() && *factor != 0.0).unwrap_or(1.0)
}

/// Returns the five atoms of a correction map, each bonded to the next.
pub(super) fn five(map: &Cmap) -> [u32; 5] {
    let [a, b, c, d, _, _, _, e] = map.atoms;
    [a, b, c, d, e]
}

/// Returns the central atom of each correction map, with the grid of the map.
fn middles(topology: &Topology) -> Parsed<BTreeMap<u32, u32>> {
    let mut grids = BTreeMap::new();
    let sizes: BTreeSet<usize> =
        topology.bonded.cmaps.iter().map(|map| topology.bonded.cmap_grids[map.grid as usize].size).collect();
    if sizes.len() > 1 {
        return Err(Problem::new("correction maps of several sizes: GROMACS has one size for all of a system"));
    }
    for map in &topology.bonded.cmaps {
        let [a, b, c, d, e] = five(map);
        let problem = |what: &str| Err(Problem::new(format!("the correction map around atom {} {what}", c + 1)));
        if map.atoms != [a, b, c, d, b, c, d, e] {
            return problem("is not on a chain of five atoms; GROMACS has only correction maps on such chains");
        }
        if grids.insert(c, map.grid).is_some_and(|other| other != map.grid) {
            return problem(
                "is one of two maps with different grids on one atom; GROMACS distinguishes maps only by atom types",
            );
        }
    }
    Ok(grids)
}
