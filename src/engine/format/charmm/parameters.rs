//! Parameters of a CHARMM force field by types of atoms: what they are, and how those of a term are found.
//!
//! Energies in kcal/mol, lengths in Å and angles in degrees, as in the files.

use std::collections::HashMap;

use super::Parsed;
use super::table::{Entry, Table};

/// A type of atoms: its place in [`Parameters::names`].
pub(super) type Type = u32;

/// The type `X` of a row stands for any.
pub(super) const ANY: Type = 0;

/// k (θ − θ₀)² and, where there is one, the Urey–Bradley term k (s − s₀)² of the outer atoms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct AngleParameters {
    /// k, θ₀
    pub(super) angle: [f64; 2],
    /// k, s₀
    pub(super) urey_bradley: Option<[f64; 2]>,
}

/// k (1 + cos(nφ − δ)); of an improper with n = 0: k (φ − δ)².
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct TorsionParameters {
    pub(super) force_constant: f64,
    pub(super) periodicity: u8,
    /// δ
    pub(super) phase: f64,
}

/// ε [(R/r)¹² − 2 (R/r)⁶].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Well {
    /// |ε|
    pub(super) depth: f64,
    /// R of a pair; of one atom, its half of it
    pub(super) r_min: f64,
}

/// Lennard-Jones parameters of a type or a pair of types.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct LennardJonesParameters {
    pub(super) general: Well,
    /// of 1-4 pairs
    pub(super) pairs14: Well,
}

/// Energies of a map of φ and ψ from −180°, φ slow.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct CmapParameters {
    pub(super) size: usize,
    pub(super) energies: Vec<f64>,
}

/// All parameters. Keys read the same from both ends: see [`pair`], [`triple`], [`quadruple`], [`two_quadruples`].
#[derive(Debug, Default)]
pub(super) struct Parameters {
    pub(super) names: Names,
    /// types by the numbers that `MASS` lines give them
    pub(super) numbers: Table<i32, Type>,
    /// k, b₀ of k (b − b₀)²
    pub(super) bonds: Table<[Type; 2], [f64; 2]>,
    pub(super) angles: Table<[Type; 3], AngleParameters>,
    /// all terms of a torsion, which differ in n
    pub(super) dihedrals: HashMap<[Type; 4], Vec<Entry<TorsionParameters>>>,
    pub(super) impropers: Table<[Type; 4], TorsionParameters>,
    pub(super) cmaps: Table<[Type; 8], CmapParameters>,
    pub(super) nonbonded: Table<Type, LennardJonesParameters>,
    /// pairs of types whose parameters replace those of the combination rule
    pub(super) nbfix: Table<[Type; 2], LennardJonesParameters>,
    /// factor of the Coulomb energy of 1-4 pairs (`E14FAC`)
    pub(super) electrostatics14: Option<f64>,
}

impl Parameters {
    /// All terms of a torsion: those of its types, else those of `X B C X`.
    pub(super) fn dihedral(&self, types: [Type; 4]) -> Parsed<Option<Vec<&TorsionParameters>>> {
        let [_, b, c, _] = types;
        let forms = [types, [ANY, b, c, ANY]];
        let found = forms.into_iter().find_map(|form| self.dihedrals.get(&quadruple(form)));
        found.map(|terms| terms.iter().map(Entry::get).collect()).transpose()
    }

    /// An improper by the forms that `parmfile.doc` of CHARMM lists, in their order: `A B C D`, `A X X D`, `X B C D`,
    /// `X B C X`, `X X C D`. Each reads the same from both ends.
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

/// Forms of `DIHEDRALS` rows.
pub(super) fn is_dihedral_form([a, b, c, d]: [Type; 4]) -> bool {
    b != ANY && c != ANY && (a == ANY) == (d == ANY)
}

/// Forms of `IMPROPER` rows, from either end.
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

/// The key of a bond or of a pair of types.
pub(super) fn pair([a, b]: [Type; 2]) -> [Type; 2] {
    [a.min(b), a.max(b)]
}

/// The key of an angle.
pub(super) fn triple([a, b, c]: [Type; 3]) -> [Type; 3] {
    [a.min(c), b, a.max(c)]
}

/// The key of a torsion.
pub(super) fn quadruple(types: [Type; 4]) -> [Type; 4] {
    let [a, b, c, d] = types;
    types.min([d, c, b, a])
}

/// The key of a map: each of its torsions reads the same from both ends.
pub(super) fn two_quadruples([a, b, c, d, e, f, g, h]: [Type; 8]) -> [Type; 8] {
    let [a, b, c, d] = quadruple([a, b, c, d]);
    let [e, f, g, h] = quadruple([e, f, g, h]);
    [a, b, c, d, e, f, g, h]
}

/// Names of types, numbered.
#[derive(Debug)]
pub(super) struct Names {
    names: Vec<String>,
    types: HashMap<String, Type>,
}

impl Default for Names {
    /// Knows `X`, which stands for any type.
    fn default() -> Self {
        Names { names: vec!["X".to_owned()], types: HashMap::from([("X".to_owned(), ANY)]) }
    }
}

impl Names {
    /// The type of this name, new if it is not known yet.
    pub(super) fn number(&mut self, name: &str) -> Type {
        if let Some(&known) = self.types.get(name) {
            return known;
        }
        let new = self.names.len() as Type;
        self.names.push(name.to_owned());
        self.types.insert(name.to_owned(), new);
        new
    }

    /// The type of this name, where a file has it.
    pub(super) fn get(&self, name: &str) -> Option<Type> {
        self.types.get(name).copied()
    }

    /// Names of types, as messages show them.
    pub(super) fn of(&self, types: &[Type]) -> String {
        types.iter().map(|&t| self.names[t as usize].as_str()).collect::<Vec<_>>().join(" ")
    }
}
