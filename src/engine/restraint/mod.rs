//! Restraints: potentials that a stage adds to the potentials of the force field.
//!
//! Position restraints ([`PositionRestraints`]) hold atoms near reference positions. Collective restraints
//! ([`CollectiveRestraint`]) act on the value ξ of a collective variable ([`Variable`]) of some atoms, with the
//! energy of a [`Potential`]. The center of a potential may move, which pulls the variable.

mod collective;
mod position;
mod potential;
#[cfg(test)]
mod tests;
mod variable;

pub use collective::{Applied, CollectiveRestraint, Restraining, RestraintProgress, RestraintSample, Samples};
pub use position::{Held, PositionRestraints, ReferenceScaling};
pub use potential::{Potential, Well};
pub use variable::{Components, Configuration, Group, Members, Superposed, Variable, VariableKind, VariableValue};

use std::sync::Arc;

/// The restraints of a stage.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Restraints {
    /// position restraints
    pub positions: Vec<Arc<PositionRestraints>>,
    /// restraints of collective variables
    pub collective: Vec<Arc<CollectiveRestraint>>,
}

impl Restraints {
    /// Whether the stage has no restraints.
    pub fn is_empty(&self) -> bool {
        self.positions.is_empty() && self.collective.is_empty()
    }
}
