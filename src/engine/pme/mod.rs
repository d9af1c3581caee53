//! Smooth particle-mesh Ewald (Essmann et al., J. Chem. Phys. 103, 8577 (1995)): the mathematics shared by all
//! backends.
//!
//! `spline` contains the B-splines, and `influence` contains the influence function. `parameters` chooses α, grid and
//! order for a given force error. `mesh` and `structure` predict the error. `splitting` finds parameters that give the
//! same error with other cutoffs. [`ReferencePme`] is PME in double precision; [`ewald`] is the plain Ewald sum, to
//! which PME converges. [`MeshPotential`] is the interaction that the mesh sums: Coulomb, or r⁻⁶ for LJ-PME. Wave
//! vectors are m = k_a a* + k_b b* + k_c c* in 1/nm, without 2π. Energies include Coulomb's constant.

pub mod ewald;
mod influence;
mod mesh;
mod parameters;
mod potential;
mod reference;
mod spline;
mod splitting;
mod structure;

pub use influence::{Element, Influence, reciprocal_rows};
pub use parameters::{
    ErrorEstimate, ErrorModel, LJ_SPACING_TOLERANCE, SPACING_TOLERANCE, allowed, alpha_for_tolerance,
    beta_for_tolerance, check, cycles, good_size, lj_parameters_for_spacing, parameters_for_spacing, sample_force_rms,
};
pub use potential::{ChargeSums, MeshPotential, gaussian};
pub use reference::ReferencePme;
pub use spline::{ORDERS, spline};
pub use splitting::Splitting;
pub use structure::ChargeStructure;
