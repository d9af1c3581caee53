//! Pair potentials for given force settings. The reference backend evaluates the potentials of this module directly,
//! and the CPU backend computes its tables from the same potentials.

use crate::system::{Electrostatics, ForceSettings, LjModifier, Modifier, PmeParameters};
use crate::term::{
    LjSwitch, ReactionField, coulomb, dispersion_off_mesh, ewald_direct, ewald_excluded, induced_dipole, inverse_norm,
    lennard_jones, reaction_field,
};

/// Lennard-Jones potential of a pair within the cutoff.
#[derive(Clone, Copy, Debug)]
pub(super) enum LjPotential {
    /// potential with or without a shift: the potential at the cutoff is subtracted if there is a shift. `inverse_r2`
    /// is 1/r² (nm⁻²) at the cutoff, or zero without a shift
    Shifted {
        inverse_r2: f64,
    },
    Switched(LjSwitch<f64>),
}

impl LjPotential {
    pub(super) fn new(settings: &ForceSettings) -> Self {
        let cutoff = settings.cutoff_lj.unwrap_or(f64::INFINITY);
        match settings.lj_switch() {
            Some(switch) => LjPotential::Switched(switch),
            None => {
                let shifted = if settings.lj_modifier == LjModifier::PotentialShift { 1.0 } else { 0.0 };
                LjPotential::Shifted { inverse_r2: shifted / (cutoff * cutoff) }
            }
        }
    }

    /// Returns f/r (kJ/mol/nm²) and energy (kJ/mol) of a pair.
    #[inline(always)]
    pub(super) fn evaluate(&self, r2: f64, c6: f64, c12: f64) -> (f64, f64) {
        let inverse_r = inverse_norm(r2);
        match self {
            LjPotential::Shifted { inverse_r2 } => {
                let (force, energy) = lennard_jones(inverse_r.powi(2), c6, c12);
                (force, energy - lennard_jones(*inverse_r2, c6, c12).1)
            }
            LjPotential::Switched(switch) => switch.radial(r2, inverse_r).pair(6.0 * c6, 12.0 * c12),
        }
    }
}

/// The r⁻⁴ term of 12-6-4 ions within the Lennard-Jones cutoff. With a potential shift, the value of the term at the
/// cutoff is subtracted. `inverse_r2` is 1/r² (nm⁻²) at the cutoff, or zero without a shift.
#[derive(Clone, Copy, Debug)]
pub(super) struct InducedDipole {
    inverse_r2: f64,
}

impl InducedDipole {
    pub(super) fn new(settings: &ForceSettings) -> Self {
        let shifted = settings.cutoff_lj.filter(|_| settings.lj_modifier == LjModifier::PotentialShift);
        InducedDipole { inverse_r2: shifted.map_or(0.0, |cutoff| cutoff.powi(-2)) }
    }

    /// Returns f/r (kJ/mol/nm²) and energy (kJ/mol) of a pair.
    #[inline(always)]
    pub(super) fn evaluate(&self, r2: f64, c4: f64) -> (f64, f64) {
        lowered(induced_dipole(inverse_norm(r2).powi(2), c4), induced_dipole(self.inverse_r2, c4).1)
    }
}

/// Real-space term of LJ-PME. The term subtracts the contribution of the mesh, which includes all pairs, from
/// Lennard-Jones pairs within the cutoff and from excluded pairs.
#[derive(Clone, Copy, Debug)]
pub(super) struct DispersionPotential {
    beta: f64,
    /// potential shift of an interacting pair with √(c6_i c6_j) = 1 kJ/mol nm⁶, in nm⁻⁶
    shift: f64,
}

impl DispersionPotential {
    /// Returns the LJ-PME potential for the settings; `None` without LJ-PME.
    pub(super) fn new(settings: &ForceSettings) -> Option<Self> {
        let PmeParameters { alpha: beta, .. } = settings.lj_pme()?;
        let at_cutoff = |cutoff: f64| dispersion_off_mesh(1.0, cutoff * cutoff, cutoff.powi(-2), beta).1;
        let shifted = settings.cutoff_lj.filter(|_| settings.lj_modifier == LjModifier::PotentialShift);
        Some(DispersionPotential { beta, shift: shifted.map_or(0.0, at_cutoff) })
    }

    /// Returns f/r (kJ/mol/nm²) and energy (kJ/mol) of an interacting pair; `product` is √(c6_i c6_j) in kJ/mol nm⁶.
    #[inline(always)]
    pub(super) fn interacting(&self, product: f64, r2: f64) -> (f64, f64) {
        lowered(self.excluded(product, r2), product * self.shift)
    }

    /// Returns f/r (kJ/mol/nm²) and energy (kJ/mol) of an excluded pair; `product` is √(c6_i c6_j) in kJ/mol nm⁶.
    #[inline(always)]
    pub(super) fn excluded(&self, product: f64, r2: f64) -> (f64, f64) {
        dispersion_off_mesh(product, r2, inverse_norm(r2).powi(2), self.beta)
    }

    /// Returns the energy of an excluded pair minus the energy of an interacting pair, both with √(c6_i c6_j) = 1
    /// kJ/mol nm⁶, in nm⁻⁶.
    pub(super) fn shift(&self) -> f64 {
        self.shift
    }
}

/// Coulomb potential of a pair. With a potential shift, the potential at the cutoff is subtracted for interacting pairs
/// within the cutoff, but not for excluded pairs and self terms. The field `shift` is the potential of two unit charges
/// at the cutoff, 1/nm. The reaction field acts on interacting pairs within the cutoff, but not on excluded pairs, as
/// in OpenMM.
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

    /// Returns f/r (kJ/mol/nm²) and energy (kJ/mol) of an interacting pair; `charge_product` is in kJ nm/mol.
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

    /// Returns f/r (kJ/mol/nm²) and energy (kJ/mol) of an excluded pair. Force and energy cancel the contribution of
    /// the pair to the reciprocal sum.
    #[inline(always)]
    pub(super) fn excluded(&self, charge_product: f64, r2: f64) -> (f64, f64) {
        match *self {
            CoulombPotential::Ewald { alpha, .. } => ewald_excluded(charge_product, r2, inverse_norm(r2), alpha),
            _ => (0.0, 0.0),
        }
    }

    /// Returns the energy of an excluded pair of unit charge product at distance zero, 1/nm: −2α/√π for PME.
    pub(super) fn excluded_at_contact(&self) -> f64 {
        self.excluded(1.0, 0.0).1
    }

    /// Returns whether excluded pairs need the correction [`Self::excluded`].
    pub(super) fn corrects_excluded(&self) -> bool {
        matches!(self, CoulombPotential::Ewald { .. })
    }
}

fn lowered((force, energy): (f64, f64), shift: f64) -> (f64, f64) {
    (force, energy - shift)
}
