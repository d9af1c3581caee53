//! Constraints: SETTLE for rigid waters, SHAKE for hydrogens, and a sparse solver for coupled constraints.
//!
//! [`derive()`] selects the constraints, and [`check_independent`] refuses redundant constraints. A [`ConstraintPlan`]
//! sorts the constraints into independent blocks that share no atom. [`ConstraintPlan::apply`] solves the constraints
//! of a section after the unconstrained update of a step. [`ConstraintPlan::project`] removes velocity components along
//! constraints. With unit masses, a plan also removes the components of forces along constraints, if forces are passed
//! in place of velocities.
//!
//! All arithmetic is f64. Positions are not wrapped, and molecules are whole, so that minimum images are not needed.
//! The solution of a block does not depend on other blocks, so that results are the same bit for bit for any
//! distribution of the blocks over threads.

mod approach;
mod block;
mod coupled;
mod hydrogen_mass;
mod lanes;
mod plan;
mod redundant;
mod select;
mod settle;
mod shake;
mod shared;
mod sparse;
#[cfg(test)]
mod tests;

pub use approach::approach;
pub use hydrogen_mass::repartition_hydrogen_mass;
pub use lanes::{LANES, Lanes};
pub use plan::{ConstraintPlan, Groups};
pub use redundant::check_independent;
pub use select::{ConstraintKind, RemovedMotion, degrees_of_freedom, derive};
pub use settle::{SettleShape, settle};
pub use shared::SharedVectors;

use crate::error::Error;
use crate::system::Constraints;
use crate::vec3::Vec3;

/// Input and output of the constraints in one step.
#[derive(Debug)]
pub struct Motion<'a> {
    /// positions at the start of the step (nm), which give the directions of the constraint forces
    pub old: &'a [Vec3],
    /// positions after the unconstrained update (nm), corrected in place
    pub positions: SharedVectors<'a>,
    /// velocities (nm/ps) after the unconstrained update, and 1/dt (1/ps); Δx/dt is added to the velocities for each
    /// position correction Δx; `None` if velocities are not corrected
    pub velocities: Option<(SharedVectors<'a>, f64)>,
}

/// A drift x(t) → x(t+dt). In the middle of the drift, the velocities were changed from v to w. The velocities w need
/// not satisfy the constraints.
///
/// The unconstrained end of the drift is x(t+dt) = ½ (x₀ + x₁) + ½ dt w, where x₀ and x₁ = x₀ + v dt are the start and
/// the end of the drift with the old velocity v. The positions x₀ and x₁ satisfy the constraints. In the middle of the
/// drift the velocity v is perpendicular to all mean bonds ½ (r₀ + r₁), where r₀ and r₁ are the bond vectors at x₀ and
/// x₁. The product (r₁ − r₀)·(r₁ + r₀) = r₁² − r₀² is zero, because the constraints hold at x₀ and x₁. The new velocity
/// w must also be perpendicular to the mean bonds: the components of w along the mean bonds are removed, and positions
/// are changed by ½ dt times the change of w. Then positions are displaced along the mean bonds until the constraints
/// are satisfied. For a free rotor, w then has exactly the Maxwell–Boltzmann distribution of velocities in the tangent
/// plane. A leapfrog step with constraints gives the same velocity w and the same end of the drift.
#[derive(Clone, Copy, Debug)]
pub struct Drift<'a> {
    /// positions at the unconstrained end of the drift (nm), corrected in place
    pub positions: &'a SharedVectors<'a>,
    /// changed velocities w (nm/ps), corrected in place
    pub velocities: &'a SharedVectors<'a>,
    /// half of the time step, ps
    pub half: f64,
}

impl From<ConstraintFailure> for Error {
    fn from(failure: ConstraintFailure) -> Self {
        Error::unstable(failure, failure.atoms)
    }
}

/// Returns the two atoms and the length (nm) of each constraint, including the three constraints of each rigid water.
pub fn lengths(constraints: &Constraints) -> impl Iterator<Item = ([u32; 2], f64)> {
    let waters = constraints.settles.iter().flat_map(|water| {
        let [o, h1, h2] = water.atoms;
        [([o, h1], water.oh), ([o, h2], water.oh), ([h1, h2], water.hh)]
    });
    waters.chain(constraints.bonds.iter().map(|bond| (bond.atoms, bond.length)))
}

/// Largest relative deviation of a constrained distance at `positions` (nm) from the length of the constraint.
pub fn largest_deviation(constraints: &Constraints, positions: &[Vec3]) -> f64 {
    most_violated(constraints, positions).map_or(0.0, |(_, deviation)| deviation)
}

/// Returns the two atoms whose distance at `positions` (nm) deviates most from the length of their constraint, and this
/// deviation relative to the length; `None` without constraints.
pub fn most_violated(constraints: &Constraints, positions: &[Vec3]) -> Option<([u32; 2], f64)> {
    let deviation = |([i, j], length): ([u32; 2], f64)| {
        ([i, j], ((positions[i as usize] - positions[j as usize]).norm() / length - 1.0).abs())
    };
    lengths(constraints).map(deviation).max_by(|a, b| a.1.total_cmp(&b.1))
}

/// A constraint that could not be satisfied, because the atoms moved too far in one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the constraint between atoms {} and {} cannot be satisfied: the atoms moved too far in one step",
    .atoms[0] + 1, .atoms[1] + 1
)]
pub struct ConstraintFailure {
    /// indices of the two atoms, 0-based; the error message prints them 1-based
    pub atoms: [u32; 2],
}
