//! Structures, shared by host and kernels, of virtual sites.

use crate::backend::cuda::shared::{Element, Member, shared};
use crate::system::Construction;
use bytemuck::{Pod, Zeroable};

/// Weighted average of any number of atoms; parameters: the weight w of each atom.
pub(in crate::backend::cuda) const SITE_AVERAGE: u32 = 0;
/// Site at a fixed distance from the first of two atoms; parameter: d of [`Construction`].
pub(in crate::backend::cuda) const SITE_FIXED_DISTANCE2: u32 = 1;
/// Site at a fixed distance from the first of three atoms, in the plane of the atoms; parameters: a and d of
/// [`Construction`].
pub(in crate::backend::cuda) const SITE_FIXED_DISTANCE3: u32 = 2;
/// Site at a fixed distance and a fixed angle, in the plane of three atoms; parameters: d cos θ and d sin θ, with d and
/// θ of [`Construction`].
pub(in crate::backend::cuda) const SITE_FIXED_ANGLE3: u32 = 3;
/// Site out of the plane of three atoms; parameters: a, b and c of [`Construction`].
pub(in crate::backend::cuda) const SITE_OUT_OF_PLANE: u32 = 4;
/// Site at a fixed distance from the first of four atoms; parameters: a, b and d of [`Construction`].
pub(in crate::backend::cuda) const SITE_FIXED_DISTANCE4: u32 = 5;
/// Site in a local frame; parameters: p, followed by w, u and v of each atom, all defined by [`Construction`].
pub(in crate::backend::cuda) const SITE_LOCAL_FRAME: u32 = 6;

shared! {
    /// A virtual site ([`crate::system::VirtualSite`]).
    VirtualSite {
        site: u32,
        kind: u32,
        /// index of the first of the `atoms` atoms from which the site is constructed
        first_atom: u32,
        atoms: u32,
        first_parameter: u32,
    }
}

/// Returns kind and parameters of a construction.
pub(in crate::backend::cuda) fn site_parameters(construction: &Construction) -> (u32, Vec<f64>) {
    match construction {
        Construction::Average2 { weights, .. } => (SITE_AVERAGE, weights.to_vec()),
        Construction::Average3 { weights, .. } => (SITE_AVERAGE, weights.to_vec()),
        Construction::Average { weights, .. } => (SITE_AVERAGE, weights.clone()),
        Construction::FixedDistance2 { distance, .. } => (SITE_FIXED_DISTANCE2, vec![*distance]),
        Construction::FixedDistance3 { weight, distance, .. } => (SITE_FIXED_DISTANCE3, vec![*weight, *distance]),
        Construction::FixedAngle3 { angle, distance, .. } => {
            (SITE_FIXED_ANGLE3, vec![distance * angle.cos(), distance * angle.sin()])
        }
        Construction::OutOfPlane { weights: [a, b], cross, .. } => (SITE_OUT_OF_PLANE, vec![*a, *b, *cross]),
        Construction::FixedDistance4 { weights: [a, b], distance, .. } => {
            (SITE_FIXED_DISTANCE4, vec![*a, *b, *distance])
        }
        Construction::LocalFrame { weights, position, .. } => {
            (SITE_LOCAL_FRAME, position.iter().chain(weights.as_flattened()).copied().collect())
        }
    }
}
