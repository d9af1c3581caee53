//! The force field: `[ defaults ]`, atom types, Lennard-Jones parameters of pairs, and the tables of bonded
//! parameters.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::Parsed;
use super::bonded_types::{ANY, Tables};
use super::cmap::CmapTypes;
use super::directive::{Directive, unsupported};
use super::fields::Fields;
use super::function::{function, same_state};
use super::leap_order::LeapOrder;
use crate::arrays;
use crate::error::Problem;
use crate::format::number;
use crate::format::options::Factors14;
use crate::system::{LennardJones, ordered};

/// Combination rule of the force field. The combination rule also determines whether Lennard-Jones parameters in the
/// file are C6 and C12, or σ and ε.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CombinationRule {
    /// rule 1: C6 and C12, geometric means
    Coefficients,
    /// rule 2: σ and ε, arithmetic mean of σ and geometric mean of ε
    LorentzBerthelot,
    /// rule 3: σ and ε, geometric means
    Geometric,
}

impl CombinationRule {
    /// Combines the parameters of two types. A negative σ means that the pair has no attraction.
    fn combine(self, [a, b]: [[f64; 2]; 2]) -> [f64; 2] {
        let sign = if a[0] < 0.0 || b[0] < 0.0 { -1.0 } else { 1.0 };
        let second = (a[1] * b[1]).sqrt();
        match self {
            CombinationRule::Coefficients => [(a[0] * b[0]).sqrt(), second],
            CombinationRule::LorentzBerthelot => [sign * 0.5 * (a[0].abs() + b[0].abs()), second],
            CombinationRule::Geometric => [sign * (a[0] * b[0]).abs().sqrt(), second],
        }
    }

    /// Converts the parameters of a pair to coefficients C6 and C12.
    fn coefficients(self, [first, second]: [f64; 2]) -> LennardJones {
        match self {
            CombinationRule::Coefficients => LennardJones { c6: first, c12: second },
            _ => {
                let whole = LennardJones::from_sigma_epsilon(first.abs(), second);
                if first < 0.0 { LennardJones { c6: 0.0, ..whole } } else { whole }
            }
        }
    }
}

/// Contents of `[ defaults ]`.
#[derive(Clone, Copy, Debug)]
struct Defaults {
    rule: CombinationRule,
    generate_pairs: bool,
    fudge_lj: f64,
    fudge_coulomb: f64,
}

/// Row of `[ atomtypes ]`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct AtomType {
    pub(super) name: String,
    /// atom type by which bonded parameters are looked up
    pub(super) bonded: u32,
    pub(super) element: Option<u8>,
    /// mass, amu
    pub(super) mass: f64,
    /// charge, e
    pub(super) charge: f64,
    /// C6 and C12, or σ and ε, depending on the combination rule
    parameters: [f64; 2],
}

/// Contents of a topology before its first molecule type: the force field.
#[derive(Default)]
pub(super) struct ForceField {
    defaults: Option<Defaults>,
    /// whether a line of `[ defaults ]` has been read
    has_defaults: bool,
    pub(super) types: Vec<AtomType>,
    by_name: HashMap<String, u32>,
    bonded_names: HashMap<String, u32>,
    /// Lennard-Jones parameters of pairs of types; in each key, the smaller type comes first
    nonbonded: HashMap<[u32; 2], LennardJones>,
    pairs: HashMap<[u32; 2], LennardJones>,
    pub(super) bonds: Tables<2>,
    pub(super) constraints: Tables<2>,
    pub(super) angles: Tables<3>,
    pub(super) dihedrals: Tables<4>,
    pub(super) cmaps: CmapTypes,
    /// whether the atoms of impropers are put into LEaP's order when parameters are looked up
    pub(super) leap_order: bool,
    /// impropers that have been read up to now, by function type
    leap_orders: BTreeMap<u8, LeapOrder>,
}

impl ForceField {
    /// Reads a line below a directive of the force field. Returns whether the line replaces an earlier line of the same
    /// types that has different parameters.
    pub(super) fn line(&mut self, directive: Directive, fields: Fields<'_, '_>) -> Parsed<bool> {
        match directive {
            Directive::Defaults => self.read_defaults(fields).map(|()| false),
            Directive::AtomTypes => self.read_atom_type(fields),
            Directive::NonbondParameters | Directive::PairTypes => self.read_pair(directive, fields),
            Directive::BondTypes => add(&mut self.bonds, directive, &self.bonded_names, fields),
            Directive::ConstraintTypes => add(&mut self.constraints, directive, &self.bonded_names, fields),
            Directive::AngleTypes => add(&mut self.angles, directive, &self.bonded_names, fields),
            Directive::DihedralTypes => self.read_dihedral_type(fields),
            Directive::CmapTypes => {
                let bonded = &self.bonded_names;
                self.cmaps.read(fields, |name| bonded.get(name).copied()).map(|()| false)
            }
            _ => Err(Problem::new("the heading above this line belongs to another part of the topology")),
        }
    }

    fn read_defaults(&mut self, mut fields: Fields<'_, '_>) -> Parsed<()> {
        if std::mem::replace(&mut self.has_defaults, true) {
            let help = "a topology has one force field; remove the #include of the other force field";
            return Err(Problem::new("the topology has a second line of [ defaults ]").help(help));
        }
        if fields.integer("the function type of non-bonded interactions")? != 1 {
            return Err(unsupported("Buckingham potentials (nbfunc 2)", "use a force field with Lennard-Jones"));
        }
        let rule = match fields.integer("the combination rule")? {
            1 => CombinationRule::Coefficients,
            2 => CombinationRule::LorentzBerthelot,
            3 => CombinationRule::Geometric,
            other => return Err(Problem::new(format!("the combination rule {other} is not 1, 2 or 3"))),
        };
        let generate_pairs = match fields.rest().first() {
            Some(_) => fields.word("yes or no")?.to_ascii_lowercase().starts_with('y'),
            None => false,
        };
        let mut factor = |what| if fields.is_empty() { Ok(1.0) } else { fields.real(what) };
        let (fudge_lj, fudge_coulomb) = (factor("fudgeLJ")?, factor("fudgeQQ")?);
        if !fields.is_empty() && fields.real("the repulsion power")? != 12.0 {
            return Err(unsupported("a repulsion power other than 12", "use a force field with r⁻¹² repulsion"));
        }
        self.defaults = Some(Defaults { rule, generate_pairs, fudge_lj, fudge_coulomb });
        fields.end()
    }

    /// Returns a force field with the given 1-4 factors and without atom types, for a file that describes molecules for
    /// another topology.
    pub(super) fn of_molecules(factors: Factors14) -> Self {
        let rule = CombinationRule::LorentzBerthelot;
        let Factors14 { coulomb: fudge_coulomb, lennard_jones: fudge_lj } = factors;
        let defaults = Defaults { rule, generate_pairs: true, fudge_lj, fudge_coulomb };
        ForceField { defaults: Some(defaults), ..ForceField::default() }
    }

    fn defaults(&self) -> Parsed<Defaults> {
        let help = "begin with #include of a force field, or with [ defaults ]";
        self.defaults.ok_or_else(|| Problem::new("there is no [ defaults ] before this line").help(help))
    }

    /// Reads an atom type. The position of the letter for the particle type tells whether the bonded type and the
    /// atomic number precede the mass.
    fn read_atom_type(&mut self, mut fields: Fields<'_, '_>) -> Parsed<bool> {
        let rule = self.defaults()?.rule;
        let words = fields.rest();
        let is_letter =
            |at: usize| words.get(at).is_some_and(|w| w.len() == 1 && w.as_bytes()[0].is_ascii_alphabetic());
        let optional = [5, 3, 4].into_iter().find(|&at| is_letter(at)).ok_or_else(|| {
            Problem::new(
                "expected name, bonded type, atomic number, mass, charge, particle type A, V or D, two parameters",
            )
            .help("bonded type and atomic number may be left out")
        })? - 3;
        let name = fields.word("a name")?;
        let numbered = optional == 2 || (optional == 1 && number::integer(words[1].as_bytes()).is_some());
        let bonded = if optional > usize::from(numbered) { fields.word("a bonded type")? } else { name };
        let element = if numbered { u8::try_from(fields.integer("an atomic number")?).ok() } else { None };
        let (mass, charge) = (fields.real("a mass")?, fields.real("a charge")?);
        let particle = fields.word("a particle type")?;
        if !["A", "V", "D"].iter().any(|known| particle.eq_ignore_ascii_case(known)) {
            let help = "shells and other particles are not supported; A is an atom, V or D a virtual site";
            return Err(unsupported(format!("particle type {particle}"), help));
        }
        let parameters = [fields.real("C6 or sigma")?, fields.real("C12 or epsilon")?];
        let negative = |value: f64| value < 0.0;
        if negative(parameters[1]) || (rule == CombinationRule::Coefficients && negative(parameters[0])) {
            return Err(Problem::new(format!(
                "the Lennard-Jones parameters {parameters:?} of type {name} are negative"
            )));
        }
        fields.end()?;
        let next = self.bonded_names.len() as u32;
        let bonded = *self.bonded_names.entry(bonded.to_owned()).or_insert(next);
        let element = element.filter(|&number| number > 0);
        let row = AtomType { name: name.to_owned(), bonded, element, mass, charge, parameters };
        if let Some(&index) = self.by_name.get(name) {
            let replaced = self.types[index as usize] != row;
            self.types[index as usize] = row;
            return Ok(replaced);
        }
        self.by_name.insert(name.to_owned(), self.types.len() as u32);
        self.types.push(row);
        Ok(false)
    }

    /// Returns the index of the atom type with this name.
    pub(super) fn atom_type(&self, name: &str) -> Parsed<u32> {
        self.by_name.get(name).copied().ok_or_else(|| {
            let problem = Problem::new(format!("there is no atom type {}", number::quoted(name.as_bytes())));
            problem.help("the type is missing from [ atomtypes ]")
        })
    }

    /// Reads a row of `[ nonbond_params ]` or `[ pairtypes ]`. The row has two types, function type 1, and either C6
    /// and C12 or σ and ε.
    fn read_pair(&mut self, directive: Directive, mut fields: Fields<'_, '_>) -> Parsed<bool> {
        let rule = self.defaults()?.rule;
        let types = [self.atom_type(fields.word("a type")?)?, self.atom_type(fields.word("a type")?)?];
        fields.function_one("pairs of types")?;
        let coefficients = self.pair_parameters(rule, &mut fields)?;
        let table = if directive == Directive::PairTypes { &mut self.pairs } else { &mut self.nonbonded };
        Ok(table.insert(ordered(types), coefficients).is_some_and(|before| before != coefficients))
    }

    /// Reads the two Lennard-Jones parameters at the end of a line. The line may also contain the parameters of the
    /// perturbed state (B), which must be the same.
    fn pair_parameters(&self, rule: CombinationRule, fields: &mut Fields<'_, '_>) -> Parsed<LennardJones> {
        let first = [fields.real("C6 or sigma")?, fields.real("C12 or epsilon")?];
        if !fields.is_empty() {
            same_state(&first, &[fields.real("C6 or sigma")?, fields.real("C12 or epsilon")?])?;
        }
        fields.end()?;
        Ok(rule.coefficients(first))
    }

    /// Reads a row of `[ dihedraltypes ]` with four types or with two types. A row with two types states the inner
    /// types of a torsion, or the outer types of an improper (function type 2).
    fn read_dihedral_type(&mut self, mut fields: Fields<'_, '_>) -> Parsed<bool> {
        let words = fields.rest();
        let is_function = |at: usize| words.get(at).is_some_and(|w| w.len() == 1 && w.as_bytes()[0].is_ascii_digit());
        let types = if is_function(2) {
            let [a, b] = bonded_types(&self.bonded_names, &mut fields)?;
            if words[2] == "2" { [a, ANY, ANY, b] } else { [ANY, a, b, ANY] }
        } else {
            bonded_types(&self.bonded_names, &mut fields)?
        };
        add_to(&mut self.dihedrals, Directive::DihedralTypes, types, fields)
    }

    /// Returns the Lennard-Jones parameters of two types, from `[ nonbond_params ]` if the pair is listed there, and
    /// otherwise from the combination rule.
    pub(super) fn lennard_jones(&self, a: u32, b: u32) -> Parsed<LennardJones> {
        if let Some(&own) = self.nonbonded.get(&ordered([a, b])) {
            return Ok(own);
        }
        let rule = self.defaults()?.rule;
        Ok(rule.coefficients(rule.combine([a, b].map(|t| self.types[t as usize].parameters))))
    }

    /// Returns the types that occur in `[ nonbond_params ]`.
    pub(super) fn special_types(&self) -> HashSet<u32> {
        self.nonbonded.keys().flatten().copied().collect()
    }

    /// Returns the Lennard-Jones parameters of an atom type as a key. Two atom types with equal keys have equal
    /// Lennard-Jones parameters with every other type, unless `[ nonbond_params ]` lists one of the two types.
    pub(super) fn lennard_jones_key(&self, kind: u32) -> [u64; 2] {
        let [first, second] = self.types[kind as usize].parameters;
        let of_sigma = self.defaults.is_some_and(|defaults| defaults.rule != CombinationRule::Coefficients);
        // if ε is zero, σ has no effect and is left out of the key
        if of_sigma && second == 0.0 { [0; 2] } else { [first.to_bits(), second.to_bits()] }
    }

    /// Returns the Lennard-Jones parameters of a 1-4 pair of two types, and the factor of its charge product. The
    /// parameters are those of `[ pairtypes ]`. If `[ pairtypes ]` does not list the pair and `gen-pairs` is set, the
    /// parameters are those of [`Self::lennard_jones`], scaled by fudgeLJ.
    pub(super) fn pair14(&self, a: u32, b: u32) -> Parsed<(LennardJones, f64)> {
        let Defaults { generate_pairs, fudge_lj, fudge_coulomb, .. } = self.defaults()?;
        if let Some(&own) = self.pairs.get(&ordered([a, b])) {
            return Ok((own, fudge_coulomb));
        }
        if !generate_pairs {
            let names = [a, b].map(|t| self.types[t as usize].name.as_str());
            let message = format!("[ pairtypes ] has no types {} and {}, and gen-pairs is no", names[0], names[1]);
            let help = "add the pair to [ pairtypes ], or give the parameters of the pair in this line";
            return Err(Problem::new(message).help(help));
        }
        let LennardJones { c6, c12 } = self.lennard_jones(a, b)?;
        Ok((LennardJones { c6: fudge_lj * c6, c12: fudge_lj * c12 }, fudge_coulomb))
    }

    /// Reads the parameters of a 1-4 pair from the line of the pair. Parameters in the line of a pair are not scaled.
    /// Returns the Lennard-Jones parameters and the factor of the charge product.
    pub(super) fn own_pair14(&self, fields: &mut Fields<'_, '_>) -> Parsed<(LennardJones, f64)> {
        let defaults = self.defaults()?;
        Ok((self.pair_parameters(defaults.rule, fields)?, defaults.fudge_coulomb))
    }

    /// Returns the atoms of an improper in the order that the force field requests. LEaP's order of the atoms depends
    /// on the types in the row of parameters of the improper.
    pub(super) fn improper_order(
        &mut self,
        table: u8,
        atoms: [u32; 4],
        row: [u32; 4],
        force_constant: f64,
    ) -> [u32; 4] {
        if !self.leap_order {
            return atoms;
        }
        let name =
            |kind: u32| self.bonded_names.iter().find(|(_, index)| **index == kind).map_or(" ", |(name, _)| name);
        self.leap_orders.entry(table).or_default().arrange(atoms, row.map(name), force_constant)
    }

    /// Returns the bonded types of the given atom types, by which bonded parameters are looked up.
    pub(super) fn bonded_of<const N: usize>(&self, types: [u32; N]) -> [u32; N] {
        types.map(|kind| self.types[kind as usize].bonded)
    }
}

/// Reads `N` words as atom types by which bonded parameters are looked up. `names` has the index of each type.
fn bonded_types<const N: usize>(names: &HashMap<String, u32>, fields: &mut Fields<'_, '_>) -> Parsed<[u32; N]> {
    arrays::try_from_fn(|_| {
        let name = fields.word("a type")?;
        let wildcard = (name == "X").then_some(ANY);
        names.get(name).copied().or(wildcard).ok_or_else(|| {
            let message = format!("no atom type has the bonded type {}", number::quoted(name.as_bytes()));
            Problem::new(message).help("the type is missing from [ atomtypes ]")
        })
    })
}

/// Reads types, function type and parameters of a line, and adds the parameters to the tables of the directive.
fn add<const N: usize>(
    tables: &mut Tables<N>,
    directive: Directive,
    names: &HashMap<String, u32>,
    mut fields: Fields<'_, '_>,
) -> Parsed<bool> {
    let types = bonded_types(names, &mut fields)?;
    add_to(tables, directive, types, fields)
}

/// Reads function type and parameters of a line, and adds the parameters to the tables of the directive.
fn add_to<const N: usize>(
    tables: &mut Tables<N>,
    directive: Directive,
    types: [u32; N],
    mut fields: Fields<'_, '_>,
) -> Parsed<bool> {
    let function = function(directive, fields.word("the function type")?)?;
    let parameters = function.read(fields.rest())?;
    let parameters = parameters.ok_or_else(|| Problem::new("the line ends, but parameters are expected"))?;
    tables.entry(function.table).or_default().add(types, parameters, function.multiple)
}
