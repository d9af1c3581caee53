//! Restraints of a stage, as the input file describes them.

use crate::ensemble::schedule::Schedule;
use crate::restraint::{Components, Potential, ReferenceScaling, VariableKind};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Restraint of a collective variable.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Restraint {
    /// kind of collective variable
    pub kind: VariableKind,
    /// groups of atoms of the variable, as selections in the language of [`crate::select`]
    pub groups: Vec<String>,
    /// selection of the atom around which the molecules of each group are gathered (moved to neighbouring periodic
    /// images); `None` = molecules are gathered along the shortest distances between them
    pub gather_around: Vec<Option<String>>,
    /// components (x, y, z) of the distance vector from which a restrained distance is computed
    pub along: Components,
    /// coordinate file with the reference structure of an RMSD; `None` = the positions at the start of the run
    pub reference: Option<PathBuf>,
    /// potential energy of the restraint as a function of the variable
    pub potential: Potential,
}

impl Restraint {
    /// Whether the energy of the restraint depends on the orientation of the system, because the restrained distance
    /// has only some of the components x, y and z. Such a restraint exerts a torque.
    pub fn has_fixed_axes(&self) -> bool {
        self.kind == VariableKind::Distance && self.along != [true; 3]
    }
}

/// Position restraint of a set of atoms.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PositionRestraint {
    /// selection of the restrained atoms, in the language of [`crate::select`]
    pub select: String,
    /// force constant k of the energy ½ k d², where d is the distance from the reference position, kJ/mol/nm²
    pub force_constant: Schedule,
    /// distance from the reference position, in nm, up to which no force acts
    pub flat_radius: f64,
    /// coordinate file with the reference positions; `None` = the positions at the start of the run
    pub reference: Option<PathBuf>,
    /// rule by which reference positions are scaled when a barostat scales the cell
    pub reference_scaling: ReferenceScaling,
}
