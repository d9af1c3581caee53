//! User-defined forces, added to the forces of the force field.

use crate::cell::PeriodicCell;
use crate::vec3::{Mat3, Vec3};

/// Energy and virial of an external force.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct External {
    /// energy of the external force, kJ/mol
    pub energy: f64,
    /// virial W = Σ r⊗F in kJ/mol with positions r and external forces F, for the pressure; zero for an applied field
    /// that stays fixed when the box is scaled
    pub virial: Mat3,
}

/// A force outside the force field: an applied field, a wall, a bias, or a force from another program.
///
/// The force acts at every force evaluation (dynamics, minimisation and single points), after the force field and
/// before constraints. The energy of the force is [`Energies::external`](super::Energies::external). A closure with the
/// arguments of [`ExternalForce::apply`] also implements this trait:
///
/// ```
/// use md_engine::backend::External;
/// use md_engine::cell::PeriodicCell;
/// use md_engine::vec3::Vec3;
///
/// // 5 kJ/mol/nm along x on the first atom: E = −F x
/// let pull = |_: Option<&PeriodicCell>, positions: &[Vec3], forces: &mut [Vec3]| {
///     forces[0].x += 5.0;
///     External { energy: -5.0 * positions[0].x, ..External::default() }
/// };
/// # fn takes(_: impl md_engine::backend::ExternalForce) {}
/// # takes(pull);
/// ```
pub trait ExternalForce: Send {
    /// Adds the external forces (kJ/mol/nm) on the atoms at `positions` (nm, topology order, not wrapped into the
    /// cell) to `forces`.
    fn apply(&mut self, cell: Option<&PeriodicCell>, positions: &[Vec3], forces: &mut [Vec3]) -> External;
}

impl<F> ExternalForce for F
where
    F: FnMut(Option<&PeriodicCell>, &[Vec3], &mut [Vec3]) -> External + Send,
{
    fn apply(&mut self, cell: Option<&PeriodicCell>, positions: &[Vec3], forces: &mut [Vec3]) -> External {
        self(cell, positions, forces)
    }
}
