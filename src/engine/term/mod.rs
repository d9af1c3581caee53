//! Potential functions: energy and forces of a single bond, angle, torsion, pair or other term.
//!
//! Each formula is written once in Rust, generic over a small number trait ([`Real`]), and once in CUDA
//! (`kernels/term.cuh`). A formula takes displacement vectors that the caller has reduced to minimum images. Loops over
//! atoms, periodic images, cutoffs and the look-up of parameters are in other modules. A formula returns the forces on
//! all atoms of the term. As an exception, a formula of a two-body term may return only the force on the first atom;
//! the force on the second atom is the opposite force. A formula for pairs returns f/r, the factor that multiplies the
//! displacement r_i − r_j.
//!
//! Units are nm, rad, e and kJ/mol throughout. Start reading at [`bond()`]. The trait [`Real`] is in the module `real`.

mod angle;
mod bond;
mod chain;
mod cmap;
mod coulomb;
mod dihedral;
mod dispersion;
mod g96;
mod improper;
mod lanes;
mod lennard_jones;
mod lj_switch;
mod pair14;
mod real;
mod ryckaert_bellemans;
mod torsion;

#[cfg(test)]
pub(crate) mod dual;
#[cfg(test)]
pub(crate) mod rounded;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;

pub use angle::{angle, bend};
pub use bond::bond;
pub use chain::{DISPLACEMENTS, relative_positions};
pub use cmap::{CmapTable, Patch, cmap};
pub use coulomb::{ReactionField, coulomb, ewald_direct, ewald_excluded, reaction_field};
pub use dihedral::Dihedral;
pub use dispersion::dispersion_off_mesh;
pub use g96::{g96_angle, g96_bond};
pub use improper::harmonic_improper;
pub use lennard_jones::{induced_dipole, lennard_jones};
pub use lj_switch::{ForceSwitch, LjRadial, LjSwitch, PotentialSwitch};
pub use pair14::pair14;
pub use real::{Real, Special, inverse_norm};
pub use ryckaert_bellemans::ryckaert_bellemans;
pub use torsion::{MAX_PERIODICITY, torsion};
