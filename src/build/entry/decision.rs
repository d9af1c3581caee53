//! Decisions that the program made for the user.

use std::fmt::{Display, Formatter, Result};

/// Subject of a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// choice of one model of the file
    Model,
    /// choice of an alternative location
    Location,
    /// residues that were kept or dropped
    Selection,
    /// names of residues and atoms that were changed
    Names,
    /// replacement of modified residues by their standard residues
    Modified,
    /// biological assembly that was built
    Assembly,
    /// parameters that come from files other than force-field files
    Parameters,
    /// bonds that were made or left out
    Bonds,
    /// atoms that were added or removed at chain ends, at gaps, and in incomplete residues
    Completion,
    /// sequence of a chain
    Sequence,
    /// coordination of a metal
    Metal,
    /// protonation of a residue
    Protonation,
    /// orientation of side chains of Asn, Gln and His
    Orientation,
    /// membrane around the structure
    Membrane,
    /// periodic cell, water and ions
    Solvent,
}

/// A decision in plain language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// subject of the decision
    pub subject: Subject,
    /// result of the decision, such as `took the alternative location A`
    pub what: String,
    /// residue or chain that the decision concerns, such as `SER 12 of chain A`
    pub place: String,
    /// reason for the decision
    pub why: String,
}

impl Decision {
    pub(crate) fn new(
        subject: Subject,
        place: impl Into<String>,
        what: impl Into<String>,
        why: impl Into<String>,
    ) -> Self {
        Self { subject, what: what.into(), place: place.into(), why: why.into() }
    }
}

impl Display for Decision {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "{}: {} ({})", self.place, self.what, self.why)
    }
}
