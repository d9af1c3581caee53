//! Structures, shared by host and kernels, of position restraints.

use super::Lattice;
use crate::backend::cuda::shared::{Element, Member, members, shared};
use bytemuck::{Pod, Zeroable};

members!(Lattice);

/// Values for the scaling of reference positions ([`crate::restraint::ReferenceScaling`]): no scaling, scaling of the
/// center of mass of the references, scaling of all references.
pub(in crate::backend::cuda) const REFERENCES_FIXED: u32 = 0;
pub(in crate::backend::cuda) const REFERENCES_WITH_CENTER: u32 = 1;
pub(in crate::backend::cuda) const REFERENCES_WITH_CELL: u32 = 2;

shared! {
    /// An atom with a position restraint, and the reference position of the atom.
    RestrainedAtom {
        atom: u32,
        /// index of the atom's [`RestraintSet`]
        set: u32,
        /// reference position in nm
        reference: [f64; 3],
        /// lattice image of the atom; the shift of this image is subtracted from the position before the distance from
        /// the reference is computed
        image: [f64; 3],
    }
}

shared! {
    /// Restrained atoms with a common force constant ([`crate::restraint::PositionRestraints`]).
    RestraintSet {
        /// cell for which the reference positions are given
        cell: Lattice,
        /// center of the reference positions in `cell`, nm
        center: [f64; 3],
        /// radius of the flat bottom in nm
        flat_radius: f64,
        /// present force constant, kJ/mol/nm²
        force_constant: f64,
        /// scaling of the reference positions, one of the constants `REFERENCES_…`
        scaling: u32,
        /// index of the set's first point in the schedule of the force constant, and (next field) number of points
        first_point: u32,
        points: u32,
        unused: u32,
    }
}

shared! {
    /// Work (kJ/mol) done by force constants that change with time ([`crate::restraint::Restraining`]).
    RestraintWork {
        /// time (ps since the start of the stage) at which the current force constants apply
        time: f64,
        /// work done until half a step after the last step, kJ/mol
        after: f64,
        /// work done until the last step, kJ/mol
        at_step: f64,
        /// 0 before the first step, then 1
        begun: u32,
        /// number of [`RestraintSet`]s
        sets: u32,
    }
}
