//! Syntax tree of a parsed selection.

use std::ops::{Range, RangeInclusive};

use super::residues::Kind;

/// Selection of atoms as a syntax tree.
#[derive(Clone, Debug)]
pub(super) enum Expression {
    /// atoms in at least one of the selections
    Any(Vec<Expression>),
    /// atoms in all of the selections
    All(Vec<Expression>),
    Not(Box<Expression>),
    Class(Class),
    Text(Text, Vec<Value>),
    Numbers(Number, Vec<RangeInclusive<i64>>, Place),
    Residues(Vec<RangeInclusive<ResidueNumber>>),
    Compare(Number, Comparison, f64, Place),
    Expand(Expansion, Box<Expression>, Place),
}

/// Number and insertion code of a residue. The residue without a code comes before the residues with the same number
/// and a code.
pub(super) type ResidueNumber = (i64, Option<char>);

/// Byte range in the text of the selection.
pub(super) type Place = Range<usize>;

/// Class of atoms that a single keyword selects.
#[derive(Clone, Copy, Debug)]
pub(super) enum Class {
    All,
    Backbone,
    Sidechain,
    Hydrogen,
    Heavy,
    Residues(Kind),
}

/// Text property of atoms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Text {
    Name,
    Resname,
    Element,
    Type,
    Chain,
    Segid,
}

/// Value with which a text property is compared.
#[derive(Clone, Debug)]
pub(super) struct Value {
    pub(super) text: String,
    /// whether the text was in quotes, so that `*` and `?` are literal characters
    pub(super) quoted: bool,
    pub(super) place: Place,
}

impl Value {
    pub(super) fn is_pattern(&self) -> bool {
        !self.quoted && self.text.contains(['*', '?'])
    }
}

/// Numeric property of atoms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Number {
    Resid,
    Index,
    Molecule,
    Mass,
    Charge,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Comparison {
    Equal,
    Unequal,
    Less,
    AtMost,
    Greater,
    AtLeast,
}

impl Comparison {
    pub(super) fn of(symbol: &str) -> Option<Self> {
        Some(match symbol {
            "==" => Comparison::Equal,
            "!=" => Comparison::Unequal,
            "<" => Comparison::Less,
            "<=" => Comparison::AtMost,
            ">" => Comparison::Greater,
            ">=" => Comparison::AtLeast,
            _ => return None,
        })
    }

    pub(super) fn holds(self, value: f64, bound: f64) -> bool {
        match self {
            Comparison::Equal => value == bound,
            Comparison::Unequal => value != bound,
            Comparison::Less => value < bound,
            Comparison::AtMost => value <= bound,
            Comparison::Greater => value > bound,
            Comparison::AtLeast => value >= bound,
        }
    }
}

/// Relation of selected atoms to the atoms of another selection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Expansion {
    SameResidue,
    SameMolecule,
    SameChain,
    BondedTo,
    /// atoms within a distance (nm) of the inner selection, without the atoms of the inner selection
    Around(f64),
    /// atoms within a distance (nm) of the inner selection, with the atoms of the inner selection
    Within(f64),
}

impl Expression {
    /// Whether the selected atoms depend on positions.
    pub(super) fn needs_positions(&self) -> bool {
        self.first_distance().is_some()
    }

    /// Returns the byte range of the first distance in the text; `None` if the selection has no distance.
    pub(super) fn first_distance(&self) -> Option<Place> {
        match self {
            Expression::Any(parts) | Expression::All(parts) => parts.iter().find_map(Self::first_distance),
            Expression::Not(inner) => inner.first_distance(),
            Expression::Expand(Expansion::Around(_) | Expansion::Within(_), _, place) => Some(place.clone()),
            Expression::Expand(_, inner, _) => inner.first_distance(),
            _ => None,
        }
    }
}
