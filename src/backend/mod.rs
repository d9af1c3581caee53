//! How the phases of a step are computed. One trait of phases, one implementation per device.
//!
//! A backend owns the running copy of the state in whatever order and layout it likes; everything that crosses
//! this interface is in topology order. It is chosen once per run.

pub mod cpu;
mod dispersion;
mod energies;
mod potential;
mod reference;

pub use dispersion::DispersionTail;
pub use energies::Energies;
pub use reference::Reference;

use crate::vec3::{Mat3, Vec3};

/// What a force evaluation must produce beside forces. Decided once per step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Workload {
    /// every energy term
    pub energy: bool,
    /// the virial W = Σ r⊗F
    pub virial: bool,
}

/// The result of one force evaluation, in topology order.
#[derive(Clone, Debug, Default)]
pub struct Evaluation {
    /// kJ/mol/nm
    pub forces: Vec<Vec3>,
    /// kJ/mol, zeros unless asked for
    pub energies: Energies,
    /// W = Σ r⊗F in kJ/mol (no ½), zeros unless asked for
    pub virial: Mat3,
}
