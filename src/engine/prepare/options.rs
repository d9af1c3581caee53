//! Force settings from the input file or from code. Force settings are plain data, independent of a system.

use serde::{Deserialize, Serialize};

use super::scaled_solute::ScaledSolute;
pub use crate::constraint::ConstraintKind;
use crate::system::{DispersionCorrection, ListPolicy, LjModifier, Modifier, PmeParameters, Topology};
use crate::units::BAR;

/// A setting that is either given or left to the convention of the force field.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Setting<T> {
    /// the setting follows the convention of the force field
    ForceField,
    /// the value that the input states
    Given(T),
}

impl<T> Setting<T> {
    fn or(self, convention: T) -> T {
        match self {
            Setting::ForceField => convention,
            Setting::Given(value) => value,
        }
    }
}

/// Options of the force computation: cutoffs, Coulomb method, modifiers, constraints and pair lists.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ForceOptions {
    /// Coulomb cutoff in nm; `None` = all pairs
    pub cutoff: Setting<Option<f64>>,
    /// Lennard-Jones cutoff in nm; `None` = all pairs; the convention of all force fields is the Coulomb cutoff
    pub cutoff_lj: Setting<Option<f64>>,
    /// Coulomb method
    pub electrostatics: ElectrostaticsSpec,
    /// modifier of the Lennard-Jones potential at the cutoff
    pub lj_modifier: Setting<LjModifier>,
    /// modifier of the direct-space Coulomb potential at the cutoff
    pub coulomb_modifier: Modifier,
    /// treatment of Lennard-Jones interactions beyond the cutoff
    pub dispersion_correction: Setting<DispersionCorrection<LjPmeSpec>>,
    /// constrained bonds
    pub constraints: ConstraintKind,
    /// whether waters are rigid
    pub rigid_water: bool,
    /// relative tolerance of constraints
    pub constraint_tolerance: f64,
    /// mass of hydrogens after repartitioning, in amu; `None` leaves the masses of the topology
    pub hydrogen_mass: Option<f64>,
    /// part of the system whose interactions are scaled; `None` if nothing is scaled
    #[serde(default)]
    pub scaled_solute: Option<ScaledSolute>,
    /// when pair lists are rebuilt
    pub list: ListPolicy,
}

/// Cutoffs, Lennard-Jones modifier and dispersion correction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Truncation {
    pub(super) cutoff: Option<f64>,
    pub(super) cutoff_lj: Option<f64>,
    pub(super) lj_modifier: LjModifier,
    pub(super) dispersion_correction: DispersionCorrection<LjPmeSpec>,
}

/// Cutoffs and corrections for all force fields except CHARMM. The cutoffs are shorter than in CHARMM, and the
/// dispersion correction adds the mean attraction beyond the cutoff.
const USUAL: Truncation = Truncation {
    cutoff: Some(0.9),
    cutoff_lj: Some(0.9),
    lj_modifier: LjModifier::PotentialShift,
    dispersion_correction: DispersionCorrection::AllPairs,
};
/// The convention of CHARMM36 (Huang et al. 2017, doi:10.1038/nmeth.4067). The lipids of CHARMM36 were parametrised
/// with this convention (Klauda et al. 2010, doi:10.1021/jp101759q).
const CHARMM: Truncation = Truncation {
    cutoff: Some(1.2),
    cutoff_lj: Some(1.2),
    lj_modifier: LjModifier::ForceSwitch { from: 1.0 },
    dispersion_correction: DispersionCorrection::Off,
};
/// Default RMS error of the PME forces, relative to the RMS electrostatic force.
const FORCE_ERROR: f64 = 5e-4;
/// Default tolerated energy drift, kJ/mol/ps per atom.
const DRIFT: f64 = 0.005;
/// Default tolerated error of the mean pressure, kJ/mol/nm³.
const PRESSURE: f64 = 0.5 * BAR;

impl Default for ForceOptions {
    /// The defaults of the input file: PME, the cutoffs of the force field (1.2 nm for CHARMM, 0.9 nm for all other
    /// force fields), rigid water, and constrained bonds to hydrogen.
    fn default() -> Self {
        ForceOptions {
            cutoff: Setting::ForceField,
            cutoff_lj: Setting::ForceField,
            electrostatics: ElectrostaticsSpec::Pme(PmeSpec::ForceError(FORCE_ERROR)),
            lj_modifier: Setting::ForceField,
            coulomb_modifier: Modifier::PotentialShift,
            dispersion_correction: Setting::ForceField,
            constraints: ConstraintKind::HBonds,
            rigid_water: true,
            constraint_tolerance: 1e-6,
            hydrogen_mass: None,
            scaled_solute: None,
            list: ListPolicy::Drift { tolerance: DRIFT, pressure_tolerance: PRESSURE, interval: None },
        }
    }
}

impl ForceOptions {
    /// The defaults of the input file with `cutoff = "none"`, for systems without a periodic cell. All pairs of atoms
    /// interact, with the plain Coulomb potential 1/r.
    pub fn all_pairs() -> Self {
        ForceOptions {
            cutoff: Setting::Given(None),
            cutoff_lj: Setting::Given(None),
            electrostatics: ElectrostaticsSpec::Plain,
            dispersion_correction: Setting::Given(DispersionCorrection::Off),
            ..ForceOptions::default()
        }
    }

    /// Replaces settings that are left to the force field by the conventions of the force field. Without a cutoff the
    /// Lennard-Jones modifier and the dispersion correction are off.
    pub(super) fn truncation(&self, topology: &Topology) -> Truncation {
        let convention = if topology.charmm { CHARMM } else { USUAL };
        let cutoff = self.cutoff.or(convention.cutoff);
        let cutoff_lj = self.cutoff_lj.or(cutoff);
        let (modifier, correction) = match cutoff_lj {
            Some(_) => (convention.lj_modifier, convention.dispersion_correction),
            None => (USUAL.lj_modifier, DispersionCorrection::Off),
        };
        let dispersion_correction = self.dispersion_correction.or(correction);
        // with LJ-PME the mesh sums the interactions beyond the cutoff, so that no switch is needed
        let is_pme = matches!(dispersion_correction, DispersionCorrection::Pme(_));
        let modifier = if is_pme { USUAL.lj_modifier } else { modifier };
        Truncation { cutoff, cutoff_lj, lj_modifier: self.lj_modifier.or(modifier), dispersion_correction }
    }

    /// Returns the longer one of the two cutoffs (nm) for a topology; `None` without cutoffs.
    pub fn longest_cutoff(&self, topology: &Topology) -> Option<f64> {
        let truncation = self.truncation(topology);
        Some(truncation.cutoff?.max(truncation.cutoff_lj?))
    }

    /// Returns the keys of the input file whose values are left to the convention of the force field.
    pub fn left_to_force_field(&self) -> Vec<&'static str> {
        let keys = [
            ("cutoff", self.cutoff == Setting::ForceField),
            ("lj_modifier", self.lj_modifier == Setting::ForceField),
            ("dispersion_correction", self.dispersion_correction == Setting::ForceField),
        ];
        keys.into_iter().filter(|(_, left)| *left).map(|(key, _)| key).collect()
    }
}

/// Requested treatment of Coulomb interactions. Parameters of PME may be derived from the cell later.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ElectrostaticsSpec {
    /// no Coulomb interactions
    Off,
    /// plain 1/r, truncated at the Coulomb cutoff if there is a cutoff
    Plain,
    /// reaction field
    ReactionField {
        /// relative permittivity beyond the cutoff; infinity = conducting
        permittivity: f64,
    },
    /// smooth particle-mesh Ewald
    Pme(PmeSpec),
}

/// How PME parameters are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PmeSpec {
    /// the input states the PME parameters, which are not tuned
    Explicit {
        /// Ewald splitting parameter α in 1/nm
        alpha: f64,
        /// grid points along a, b, c
        grid: [usize; 3],
        /// B-spline order
        order: usize,
    },
    /// maximum grid spacing; α follows from erfc(α·cutoff) = 1e-5; tuning keeps the accuracy that the spacing gives
    Spacing {
        /// maximum grid spacing in nm
        spacing: f64,
        /// B-spline order
        order: usize,
    },
    /// maximum RMS force error, relative to the RMS electrostatic force
    ForceError(f64),
}

/// How the parameters of LJ-PME are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LjPmeSpec {
    /// the input states the parameters of LJ-PME
    Explicit(PmeParameters),
    /// maximum grid spacing; the splitting parameter is chosen such that the direct-space potential at the cutoff is
    /// 10⁻³ times the full potential r⁻⁶
    Spacing {
        /// maximum grid spacing in nm
        spacing: f64,
        /// B-spline order
        order: usize,
    },
}

/// How pair lists and PME grid are chosen for the requested accuracy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TuningMethod {
    /// the conventional choice: pair lists for 20 steps, PME of order 4
    Off,
    /// the choice of a cost model, which is the same in every run
    #[default]
    Model,
    /// the fastest candidate in a timing of the few candidates that the cost model ranks best
    Measure,
}

impl TuningMethod {
    /// Name of the tuning method in the input file.
    pub fn name(self) -> &'static str {
        match self {
            TuningMethod::Off => "off",
            TuningMethod::Model => "model",
            TuningMethod::Measure => "measure",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn truncation(options: &ForceOptions, charmm: bool) -> Truncation {
        options.truncation(&Topology { charmm, ..Topology::default() })
    }

    #[test]
    fn a_charmm_force_field_has_conventions_of_its_own() {
        assert_eq!(truncation(&ForceOptions::default(), true), CHARMM);
        assert_eq!(truncation(&ForceOptions::default(), false), USUAL);
        let keys = ["cutoff", "lj_modifier", "dispersion_correction"];
        assert_eq!(ForceOptions::default().left_to_force_field(), keys);
    }

    #[test]
    fn what_is_given_stays() {
        let given = Truncation {
            cutoff: Some(1.0),
            cutoff_lj: Some(1.1),
            lj_modifier: LjModifier::None,
            dispersion_correction: DispersionCorrection::NonExcluded,
        };
        let options = ForceOptions {
            cutoff: Setting::Given(given.cutoff),
            cutoff_lj: Setting::Given(given.cutoff_lj),
            lj_modifier: Setting::Given(given.lj_modifier),
            dispersion_correction: Setting::Given(given.dispersion_correction),
            ..ForceOptions::default()
        };
        assert_eq!(truncation(&options, true), given);
        assert_eq!(options.left_to_force_field(), Vec::<&str>::new());
        // an explicit value of one setting does not change the other settings
        let longer = ForceOptions { cutoff: Setting::Given(Some(1.3)), ..ForceOptions::default() };
        let expected = Truncation { cutoff: Some(1.3), cutoff_lj: Some(1.3), ..CHARMM };
        assert_eq!(truncation(&longer, true), expected);
    }

    #[test]
    fn without_a_cutoff_nothing_is_switched_or_corrected() {
        for charmm in [false, true] {
            let ends = truncation(&ForceOptions::all_pairs(), charmm);
            assert_eq!((ends.cutoff, ends.cutoff_lj), (None, None));
            assert_eq!(ends.lj_modifier.switch_distance(), None);
            assert_eq!(ends.dispersion_correction, DispersionCorrection::Off);
        }
    }
}
