//! Potential energy, term by term.

use crate::system::bonded_terms;

macro_rules! define_energies {
    ($($(#[$doc:meta])* $energy:ident { $($rest:tt)* })*) => {
        /// Energies in kJ/mol. The totals `lj` and `coulomb` include the fields that are documented as parts of `lj`
        /// or `coulomb`.
        #[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
        pub struct Energies {
            $($(#[$doc])* pub $energy: f64,)*
            /// energy of the correction maps (CMAP) of pairs of torsions
            pub cmap: f64,
            /// energy of user-defined forces ([`ExternalForce`](super::ExternalForce))
            pub external: f64,
            /// energy of position restraints ([`crate::restraint`])
            pub position_restraint: f64,
            /// energy of restraints on collective variables ([`crate::restraint`])
            pub restraint: f64,
            /// Lennard-Jones energy: pairs + 1-4 pairs + long-range part (dispersion correction or LJ-PME mesh)
            pub lj: f64,
            /// the 1-4 part of `lj`
            pub lj_14: f64,
            /// the long-range part of `lj`: the dispersion correction, or, with LJ-PME, the energy of the mesh and the
            /// self term of LJ-PME
            pub dispersion_correction: f64,
            /// Coulomb energy: real space + 1-4 pairs + correction of excluded pairs + reciprocal space + self energy +
            /// neutralising plasma
            pub coulomb: f64,
            /// the 1-4 part of `coulomb`
            pub coulomb_14: f64,
            /// the reciprocal + self + neutralising plasma part of `coulomb`
            pub coulomb_reciprocal: f64,
        }

        impl Energies {
            /// Names of the energies in the order of the energy table: bonded terms, other terms, and the sum of all
            /// terms.
            pub const NAMES: &'static [&'static str] = &[
                $(stringify!($energy),)*
                "cmap",
                "external",
                "position_restraint",
                "restraint",
                "lj",
                "lj_14",
                "dispersion_correction",
                "coulomb",
                "coulomb_14",
                "coulomb_reciprocal",
                "potential",
            ];

            /// Returns the values in the order of [`Self::NAMES`].
            pub fn values(&self) -> [f64; Self::NAMES.len()] {
                [
                    $(self.$energy,)*
                    self.cmap,
                    self.external,
                    self.position_restraint,
                    self.restraint,
                    self.lj,
                    self.lj_14,
                    self.dispersion_correction,
                    self.coulomb,
                    self.coulomb_14,
                    self.coulomb_reciprocal,
                    self.potential(),
                ]
            }

            /// Returns mutable references to all terms, without the sum.
            pub(super) fn terms_mut(&mut self) -> [&mut f64; Self::NAMES.len() - 1] {
                [
                    $(&mut self.$energy,)*
                    &mut self.cmap,
                    &mut self.external,
                    &mut self.position_restraint,
                    &mut self.restraint,
                    &mut self.lj,
                    &mut self.lj_14,
                    &mut self.dispersion_correction,
                    &mut self.coulomb,
                    &mut self.coulomb_14,
                    &mut self.coulomb_reciprocal,
                ]
            }

            /// Returns the terms whose sum is the potential energy, kJ/mol.
            fn summands(&self) -> impl Iterator<Item = f64> {
                let bonded = [$(self.$energy),*].into_iter();
                bonded.chain([
                    self.cmap,
                    self.external,
                    self.position_restraint,
                    self.restraint,
                    self.lj,
                    self.coulomb,
                ])
            }

            /// Returns the sum of all terms, kJ/mol.
            pub fn potential(&self) -> f64 {
                self.summands().fold(0.0, |sum, energy| sum + energy)
            }

            /// Returns the sum of the absolute values of all terms, kJ/mol: the scale of the rounding errors of
            /// [`Self::potential`].
            pub fn magnitude(&self) -> f64 {
                self.summands().map(f64::abs).sum()
            }
        }

        impl std::ops::AddAssign for Energies {
            fn add_assign(&mut self, other: Self) {
                $(self.$energy += other.$energy;)*
                self.cmap += other.cmap;
                self.external += other.external;
                self.position_restraint += other.position_restraint;
                self.restraint += other.restraint;
                self.lj += other.lj;
                self.lj_14 += other.lj_14;
                self.dispersion_correction += other.dispersion_correction;
                self.coulomb += other.coulomb;
                self.coulomb_14 += other.coulomb_14;
                self.coulomb_reciprocal += other.coulomb_reciprocal;
            }
        }
    };
}
bonded_terms!(define_energies);

impl Energies {
    /// Returns names and values (kJ/mol) of the energies.
    pub fn named(&self) -> impl Iterator<Item = (&'static str, f64)> {
        Self::NAMES.iter().copied().zip(self.values())
    }
}
