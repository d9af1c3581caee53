//! Position restraints.

use super::Lattice;
use crate::backend::cuda::shared::{Element, Member, members, shared};
use bytemuck::{Pod, Zeroable};

members!(Lattice);

/// How references follow the cell ([`crate::restraint::ReferenceScaling`]): not at all, their centre does, each does.
pub(in crate::backend::cuda) const REFERENCES_FIXED: u32 = 0;
pub(in crate::backend::cuda) const REFERENCES_WITH_CENTER: u32 = 1;
pub(in crate::backend::cuda) const REFERENCES_WITH_CELL: u32 = 2;

shared! {
    /// An atom with a reference position.
    RestrainedAtom {
        atom: u32,
        /// number of its [`RestraintSet`]
        set: u32,
        /// nm
        reference: [f64; 3],
        /// lattice image of the atom
        image: [f64; 3],
    }
}

shared! {
    /// Some atoms with a force constant in common ([`crate::restraint::PositionRestraints`]).
    RestraintSet {
        /// the cell that the references belong to
        cell: Lattice,
        /// their centre there, nm
        center: [f64; 3],
        /// nm
        flat_radius: f64,
        /// at present, kJ/mol/nm²
        force_constant: f64,
        /// one of the above
        scaling: u32,
        /// of the force constant's schedule
        first_point: u32,
        points: u32,
        unused: u32,
    }
}

shared! {
    /// The work of force constants that change ([`crate::restraint::Restraining`]).
    RestraintWork {
        /// that the force constants are those of, ps since the start of the stage
        time: f64,
        /// half a step after the last, kJ/mol
        after: f64,
        /// at the last step, kJ/mol
        at_step: f64,
        /// 0 before the first step
        begun: u32,
        /// how many [`RestraintSet`]s there are
        sets: u32,
    }
}
