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

use crate::image::Image;
use crate::system::{State, Topology};
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

    /// Chooses the periodic images of the molecules that position restraints hold, for the state at the start of the
    /// stage.
    pub fn choose_images(&mut self, topology: &Topology, state: &State) {
        if self.positions.is_empty() {
            return;
        }
        let molecules = topology.molecules();
        for one in &mut self.positions {
            Arc::make_mut(one).choose_images(&molecules, state.cell.as_ref(), &state.positions);
        }
    }

    /// Returns the periodic images of the atoms of each position restraint, for a checkpoint.
    pub fn images(&self) -> Vec<Vec<Image>> {
        self.positions.iter().map(|one| one.held.iter().map(|held| held.image).collect()).collect()
    }

    /// Sets the periodic images of the atoms of each position restraint to those of a checkpoint.
    pub fn set_images(&mut self, images: &[Vec<Image>]) {
        for (one, images) in self.positions.iter_mut().zip(images) {
            Arc::make_mut(one).held.iter_mut().zip(images).for_each(|(held, image)| held.image = *image);
        }
    }
}
