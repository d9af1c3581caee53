//! The Coulomb pair potential of the settings: what the reference loops call and the CPU tables are filled from.

use crate::system::{Electrostatics, ForceSettings, Modifier};
use crate::term::{ReactionField, coulomb, ewald_direct, ewald_excluded, inverse_norm, reaction_field};

/// The Coulomb pair. A shift is the potential of two unit charges at the cutoff (1/nm); it lowers interacting pairs within
/// the cutoff only, neither excluded pairs nor self terms. The reaction field too acts on interacting pairs only, as in
/// OpenMM.
#[derive(Clone, Copy, Debug)]
pub(super) enum CoulombPotential {
    Off,
    Plain { shift: f64 },
    ReactionField(ReactionField<f64>),
    Ewald { alpha: f64, shift: f64 },
}

impl CoulombPotential {
    pub(super) fn new(settings: &ForceSettings) -> Self {
        let cutoff = settings.cutoff.unwrap_or(f64::INFINITY);
        let shifted = if settings.coulomb_modifier == Modifier::PotentialShift { 1.0 } else { 0.0 };
        match settings.electrostatics {
            Electrostatics::Off => CoulombPotential::Off,
            Electrostatics::Plain => CoulombPotential::Plain { shift: shifted * coulomb(1.0, 1.0 / cutoff).1 },
            Electrostatics::ReactionField { permittivity } => {
                CoulombPotential::ReactionField(ReactionField::new(permittivity, cutoff))
            }
            Electrostatics::Pme(pme) => CoulombPotential::Ewald {
                alpha: pme.alpha,
                shift: shifted * ewald_direct(1.0, cutoff * cutoff, 1.0 / cutoff, pme.alpha).1,
            },
        }
    }

    /// f/r (kJ/mol/nm²) and energy of an interacting pair; `charge_product` in kJ nm/mol.
    #[inline(always)]
    pub(super) fn interacting(&self, charge_product: f64, r2: f64) -> (f64, f64) {
        let inverse_r = inverse_norm(r2);
        match *self {
            CoulombPotential::Off => (0.0, 0.0),
            CoulombPotential::Plain { shift } => lowered(coulomb(charge_product, inverse_r), charge_product * shift),
            CoulombPotential::ReactionField(field) => reaction_field(charge_product, r2, inverse_r, field),
            CoulombPotential::Ewald { alpha, shift } => {
                lowered(ewald_direct(charge_product, r2, inverse_r, alpha), charge_product * shift)
            }
        }
    }

    /// f/r and energy of an excluded pair: what the reciprocal sum counts for it, taken out again.
    #[inline(always)]
    pub(super) fn excluded(&self, charge_product: f64, r2: f64) -> (f64, f64) {
        match *self {
            CoulombPotential::Ewald { alpha, .. } => ewald_excluded(charge_product, r2, inverse_norm(r2), alpha),
            _ => (0.0, 0.0),
        }
    }

    /// True when excluded pairs need [`Self::excluded`].
    pub(super) fn corrects_excluded(&self) -> bool {
        matches!(self, CoulombPotential::Ewald { .. })
    }
}

fn lowered((force, energy): (f64, f64), shift: f64) -> (f64, f64) {
    (force, energy - shift)
}
