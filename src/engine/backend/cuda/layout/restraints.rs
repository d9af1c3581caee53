//! Shared structures of position restraints.

use super::Lattice;
use crate::backend::cuda::shared::{Element, Member, members, shared};
use bytemuck::{Pod, Zeroable};

members!(Lattice);

/// Reference scaling ([`crate::restraint::ReferenceScaling`]): none, center, all references.
pub(in crate::backend::cuda) const REFERENCES_FIXED: u32 = 0;
pub(in crate::backend::cuda) const REFERENCES_WITH_CENTER: u32 = 1;
pub(in crate::backend::cuda) const REFERENCES_WITH_CELL: u32 = 2;

shared! {
    /// An atom with a reference position.
    RestrainedAtom {
        atom: u32,
        /// index of the atom's [`RestraintSet`]
        set: u32,
        /// reference position in nm
        reference: [f64; 3],
        /// lattice image of the atom
        image: [f64; 3],
    }
}

shared! {
    /// Restrained atoms with a common force constant ([`crate::restraint::PositionRestraints`]).
    RestraintSet {
        /// cell to which the references belong
        cell: Lattice,
        /// center of the references in that cell, nm
        center: [f64; 3],
        /// radius of the flat bottom in nm
        flat_radius: f64,
        /// present force constant, kJ/mol/nm²
        force_constant: f64,
        /// reference scaling, one of the constants above
        scaling: u32,
        /// range of the points of the force constant's schedule
        first_point: u32,
        points: u32,
        unused: u32,
    }
}

shared! {
    /// Work of time-dependent force constants ([`crate::restraint::Restraining`]).
    RestraintWork {
        /// time of the present force constants, ps since the start of the stage
        time: f64,
        /// work half a step after the last step, kJ/mol
        after: f64,
        /// work at the last step, kJ/mol
        at_step: f64,
        /// 0 before the first step
        begun: u32,
        /// number of [`RestraintSet`]s
        sets: u32,
    }
}
