//! Force settings as the input file or code gives them: plain data, before anything is derived from a system.

use serde::{Deserialize, Serialize};

pub use crate::constraint::ConstraintKind;
use crate::system::{DispersionCorrection, ListPolicy, Modifier};
use crate::units::BAR;

/// How forces are computed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ForceOptions {
    /// Coulomb cutoff in nm; `None` = all pairs
    pub cutoff: Option<f64>,
    /// Lennard-Jones cutoff in nm; `None` = all pairs
    pub cutoff_lj: Option<f64>,
    /// Coulomb method
    pub electrostatics: ElectrostaticsSpec,
    /// end of the Lennard-Jones potential
    pub lj_modifier: Modifier,
    /// end of the direct-space Coulomb potential
    pub coulomb_modifier: Modifier,
    /// Lennard-Jones beyond the cutoff
    pub dispersion_correction: DispersionCorrection,
    /// which bonds keep their length
    pub constraints: ConstraintKind,
    /// waters are rigid bodies
    pub rigid_water: bool,
    /// relative tolerance of a constrained distance
    pub constraint_tolerance: f64,
    /// mass of hydrogens after repartitioning, in amu; `None` leaves the masses of the topology
    pub hydrogen_mass: Option<f64>,
    /// when pair lists are rebuilt
    pub list: ListPolicy,
}

/// Cutoff of the input file's default, nm.
const CUTOFF: f64 = 0.9;
/// RMS error of the PME forces over their RMS value.
const FORCE_ERROR: f64 = 5e-4;
/// kJ/mol/ps per atom.
const DRIFT: f64 = 0.005;
/// Error of the mean pressure, kJ/mol/nm³.
const PRESSURE: f64 = 0.5 * BAR;

impl Default for ForceOptions {
    /// The defaults of the input file: PME, cutoffs of 0.9 nm, rigid water, constrained bonds to hydrogen.
    fn default() -> Self {
        ForceOptions {
            cutoff: Some(CUTOFF),
            cutoff_lj: Some(CUTOFF),
            electrostatics: ElectrostaticsSpec::Pme(PmeSpec::ForceError(FORCE_ERROR)),
            lj_modifier: Modifier::PotentialShift,
            coulomb_modifier: Modifier::PotentialShift,
            dispersion_correction: DispersionCorrection::AllPairs,
            constraints: ConstraintKind::HBonds,
            rigid_water: true,
            constraint_tolerance: 1e-6,
            hydrogen_mass: None,
            list: ListPolicy::Drift { tolerance: DRIFT, pressure_tolerance: PRESSURE, interval: None },
        }
    }
}

impl ForceOptions {
    /// The defaults of the input file with `cutoff = "none"`, for systems without a periodic cell: all pairs, plain 1/r.
    pub fn all_pairs() -> Self {
        ForceOptions {
            cutoff: None,
            cutoff_lj: None,
            electrostatics: ElectrostaticsSpec::Plain,
            dispersion_correction: DispersionCorrection::Off,
            ..ForceOptions::default()
        }
    }
}

/// Treatment of Coulomb interactions as asked for; PME parameters may still have to be derived from the cell.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ElectrostaticsSpec {
    /// no charges
    Off,
    /// 1/r, truncated at the cutoff if there is one
    Plain,
    /// reaction field
    ReactionField {
        /// relative permittivity beyond the cutoff; infinity = conducting
        permittivity: f64,
    },
    /// smooth particle-mesh Ewald
    Pme(PmeSpec),
}

/// How PME parameters are to be found.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PmeSpec {
    /// taken as they are; no tuning
    Explicit {
        /// α in 1/nm
        alpha: f64,
        /// grid points along a, b, c
        grid: [usize; 3],
        /// B-spline order
        order: usize,
    },
    /// α from erfc(α·cutoff) = 1e-5; the accuracy of this spacing is held
    Spacing {
        /// largest distance of grid points in nm
        spacing: f64,
        /// B-spline order
        order: usize,
    },
    /// RMS force error over RMS electrostatic force to stay below
    ForceError(f64),
}

/// How pair lists and PME grid are chosen at the accuracy asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TuningMethod {
    /// the conventional choice: lists for 20 steps, PME of order 4
    Off,
    /// by a cost model, the same on every run
    #[default]
    Model,
    /// by timing the best candidates of the cost model
    Measure,
}

impl TuningMethod {
    /// The word of the input file.
    pub fn name(self) -> &'static str {
        match self {
            TuningMethod::Off => "off",
            TuningMethod::Model => "model",
            TuningMethod::Measure => "measure",
        }
    }
}
