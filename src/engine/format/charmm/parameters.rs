//! Parameters of a CHARMM force field by atom types, and the look-up of the parameters of a bonded term.
//!
//! Energies are in kcal/mol, lengths in Å and angles in degrees, as in the parameter files.

use std::collections::HashMap;

use super::Parsed;
use super::table::{Entry, Table};

/// An atom type: its index in [`Parameters::names`].
pub(super) type Type = u32;

/// Wildcard type, named `X` in a row of parameters, which matches any type.
pub(super) const ANY: Type = 0;

/// Parameters of an angle k (θ − θ₀)², and optionally of a Urey–Bradley term k (s − s₀)², where s is the distance of
/// the outer atoms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct AngleParameters {
    /// force constant k in kcal/mol/rad² and equilibrium angle θ₀ in degrees
    pub(super) angle: [f64; 2],
    /// force constant k in kcal/mol/Å² and equilibrium distance s₀ in Å of the Urey–Bradley term
    pub(super) urey_bradley: Option<[f64; 2]>,
}

/// Parameters of a torsion k (1 + cos(nφ − δ)). For n = 0, the parameters are those of an improper k (φ − δ)².
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct TorsionParameters {
    pub(super) force_constant: f64,
    pub(super) periodicity: u8,
    /// phase δ of the torsion in degrees
    pub(super) phase: f64,
}

/// Parameters of a Lennard-Jones potential ε [(R/r)¹² − 2 (R/r)⁶] with depth ε and distance R of the minimum.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Well {
    /// depth |ε| of the Lennard-Jones potential in kcal/mol
    pub(super) depth: f64,
    /// distance R of the minimum in Å for a pair of types; R/2 for a single type
    pub(super) r_min: f64,
}

/// Lennard-Jones parameters of a type or a pair of types.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct LennardJonesParameters {
    pub(super) general: Well,
    /// Lennard-Jones parameters of 1-4 pairs
    pub(super) pairs14: Well,
}

/// Energies (kcal/mol) of a correction map on a grid over φ and ψ that begins at −180°; ψ varies fastest.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct CmapParameters {
    pub(super) size: usize,
    pub(super) energies: Vec<f64>,
}

/// All parameters of a force field, by the types of the atoms. A term and the same term in reverse order of its atoms
/// have the same key: see [`pair`], [`triple`], [`quadruple`], [`two_quadruples`].
#[derive(Debug, Default)]
pub(super) struct Parameters {
    pub(super) names: Names,
    /// atom types by the numbers of their `MASS` lines
    pub(super) numbers: Table<i32, Type>,
    /// masses in amu
    pub(super) masses: Table<Type, f64>,
    /// force constant k (kcal/mol/Å²) and equilibrium length b₀ (Å) of the bond k (b − b₀)²
    pub(super) bonds: Table<[Type; 2], [f64; 2]>,
    pub(super) angles: Table<[Type; 3], AngleParameters>,
    /// all terms of each torsion, which differ in the periodicity n
    pub(super) dihedrals: HashMap<[Type; 4], Vec<Entry<TorsionParameters>>>,
    pub(super) impropers: Table<[Type; 4], TorsionParameters>,
    pub(super) cmaps: Table<[Type; 8], CmapParameters>,
    pub(super) nonbonded: Table<Type, LennardJonesParameters>,
    /// Lennard-Jones parameters of pairs of types, which replace those of the combination rule
    pub(super) nbfix: Table<[Type; 2], LennardJonesParameters>,
    /// factor of the Coulomb energy of 1-4 pairs (`E14FAC`)
    pub(super) electrostatics14: Option<f64>,
}

impl Parameters {
    /// Returns all terms of a torsion with the types A B C D. If no row has the types `A B C D`, the terms are those of
    /// the row `X B C X`.
    pub(super) fn dihedral(&self, types: [Type; 4]) -> Parsed<Option<Vec<&TorsionParameters>>> {
        let [_, b, c, _] = types;
        let forms = [types, [ANY, b, c, ANY]];
        let found = forms.into_iter().find_map(|form| self.dihedrals.get(&quadruple(form)));
        found.map(|terms| terms.iter().map(Entry::get).collect()).transpose()
    }

    /// Returns the parameters of an improper. For the types A B C D, rows are searched in the order of CHARMM's
    /// `parmfile.doc`: `A B C D`, `A X X D`, `X B C D`, `X B C X`, `X X C D`, each in both directions.
    pub(super) fn improper(&self, types: [Type; 4]) -> Parsed<Option<TorsionParameters>> {
        let forms = |[a, b, c, d]: [Type; 4]| {
            [[a, b, c, d], [a, ANY, ANY, d], [ANY, b, c, d], [ANY, b, c, ANY], [ANY, ANY, c, d]]
        };
        let [a, b, c, d] = types;
        let both = forms(types).into_iter().zip(forms([d, c, b, a]));
        let mut both = both.flat_map(|(form, reversed)| [form, reversed]);
        let found = both.find_map(|form| self.impropers.get(&quadruple(form)).transpose());
        Ok(found.transpose()?.copied())
    }
}

/// Whether a `DIHEDRALS` row may have these types. A row may have two wildcards, for the first and the last type, or no
/// wildcard.
pub(super) fn is_dihedral_form([a, b, c, d]: [Type; 4]) -> bool {
    b != ANY && c != ANY && (a == ANY) == (d == ANY)
}

/// Whether an `IMPROPER` row may have these types, in either direction. A type may be a wildcard only in the forms that
/// [`Parameters::improper`] searches.
pub(super) fn is_improper_form(types: [Type; 4]) -> bool {
    let [a, b, c, d] = types.map(|t| t == ANY);
    matches!(
        [a, b, c, d],
        [false, false, false, false]
            | [false, true, true, false]
            | [true, false, false, false]
            | [false, false, false, true]
            | [true, false, false, true]
            | [true, true, false, false]
            | [false, false, true, true]
    )
}

/// Returns the key of a bond or of a pair of types, which does not depend on the order of the two types.
pub(super) fn pair([a, b]: [Type; 2]) -> [Type; 2] {
    [a.min(b), a.max(b)]
}

/// Returns the key of an angle, which is the same for both orders of the atoms (A B C and C B A).
pub(super) fn triple([a, b, c]: [Type; 3]) -> [Type; 3] {
    [a.min(c), b, a.max(c)]
}

/// Returns the key of a torsion, which is the same for both orders of the atoms (A B C D and D C B A).
pub(super) fn quadruple(types: [Type; 4]) -> [Type; 4] {
    let [a, b, c, d] = types;
    types.min([d, c, b, a])
}

/// Returns the key of a correction map, which is the same for both directions of each torsion.
pub(super) fn two_quadruples([a, b, c, d, e, f, g, h]: [Type; 8]) -> [Type; 8] {
    let [a, b, c, d] = quadruple([a, b, c, d]);
    let [e, f, g, h] = quadruple([e, f, g, h]);
    [a, b, c, d, e, f, g, h]
}

/// Names of the atom types, and the index of each type.
#[derive(Debug)]
pub(super) struct Names {
    names: Vec<String>,
    types: HashMap<String, Type>,
}

impl Default for Names {
    /// Creates a list of names with the single type `X`, which matches any type.
    fn default() -> Self {
        Names { names: vec!["X".to_owned()], types: HashMap::from([("X".to_owned(), ANY)]) }
    }
}

impl Names {
    /// Returns the type with this name. A name that is not in the list is added.
    pub(super) fn number(&mut self, name: &str) -> Type {
        if let Some(&known) = self.types.get(name) {
            return known;
        }
        let new = self.names.len() as Type;
        self.names.push(name.to_owned());
        self.types.insert(name.to_owned(), new);
        new
    }

    /// Returns the type with this name; `None` if no file names such a type.
    pub(super) fn get(&self, name: &str) -> Option<Type> {
        self.types.get(name).copied()
    }

    /// Returns the names of the types, separated by blanks, for a message.
    pub(super) fn of(&self, types: &[Type]) -> String {
        types.iter().map(|&t| self.names[t as usize].as_str()).collect::<Vec<_>>().join(" ")
    }
}
