//! Force settings: cutoffs, electrostatics, corrections, pair lists, constraints.

use crate::term::LjSwitch;
use std::fmt;

/// Modifier of the direct-space Coulomb potential at the cutoff.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Modifier {
    /// truncation without a modification
    None,
    /// the energy is shifted to zero at the cutoff; forces are unchanged
    #[default]
    PotentialShift,
}

/// Modifier of the Lennard-Jones potential at the cutoff. The modifier does not apply to 1-4 pairs.
#[derive(Clone, Copy, Debug, PartialEq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LjModifier {
    /// truncation without a modification
    None,
    /// the energy is shifted to zero at the cutoff; forces are unchanged
    #[default]
    PotentialShift,
    /// the force is switched to zero at the cutoff ([`LjSwitch::Force`])
    ForceSwitch {
        /// distance at which switching begins, nm
        from: f64,
    },
    /// the potential is switched to zero at the cutoff ([`LjSwitch::Potential`])
    PotentialSwitch {
        /// distance at which switching begins, nm
        from: f64,
    },
}

impl LjModifier {
    /// Distance at which switching begins, nm; `None` without a switch.
    pub fn switch_distance(self) -> Option<f64> {
        match self {
            LjModifier::None | LjModifier::PotentialShift => None,
            LjModifier::ForceSwitch { from } | LjModifier::PotentialSwitch { from } => Some(from),
        }
    }
}

/// Treatment of dispersion beyond the Lennard-Jones cutoff. The type `P` holds the parameters of LJ-PME.
#[derive(Clone, Copy, Debug, PartialEq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DispersionCorrection<P = PmeParameters> {
    /// no correction
    Off,
    /// average of c6 and c12 over all pairs of atoms, with the tails of r⁻⁶ and r⁻¹² (OpenMM); each atom also counts as
    /// a pair with itself, so that N atoms have N(N+1)/2 pairs
    #[default]
    AllPairs,
    /// average of c6 over all pairs that are not excluded, with the tail of r⁻⁶ only (GROMACS)
    NonExcluded,
    /// LJ-PME: r⁻⁶ with geometric means of c6, summed over all images by particle-mesh Ewald (GROMACS, OpenMM)
    Pme(P),
}

/// Parameters of smooth particle-mesh Ewald.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct PmeParameters {
    /// Ewald splitting parameter α in 1/nm (direct space erfc(αr)/r)
    pub alpha: f64,
    /// grid points along a, b, c
    pub grid: [usize; 3],
    /// B-spline order, 4, 5, 6 or 8
    pub order: usize,
}

impl fmt::Display for PmeParameters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PmeParameters { alpha, grid: [a, b, c], order } = self;
        write!(f, "alpha {alpha:.4} 1/nm, grid {a} x {b} x {c}, order {order}")
    }
}

/// Treatment of Coulomb interactions.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub enum Electrostatics {
    /// no Coulomb interactions
    Off,
    /// plain 1/r, truncated at the Coulomb cutoff if there is a cutoff
    Plain,
    /// reaction field 1/r + k_rf r² − c_rf, with the given relative permittivity beyond the cutoff
    ReactionField {
        /// relative permittivity of the surroundings; infinity = conducting
        permittivity: f64,
    },
    /// smooth particle-mesh Ewald
    Pme(PmeParameters),
}

/// When pair lists are rebuilt.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub enum ListPolicy {
    /// lists are rebuilt after a fixed number of steps, with a buffer derived from the tolerated energy drift and
    /// pressure error
    Drift {
        /// tolerated energy drift, kJ/mol/ps per atom
        tolerance: f64,
        /// tolerated error of the mean pressure, kJ/mol/nm³
        pressure_tolerance: f64,
        /// steps between rebuilds; `None` lets the cost model choose
        interval: Option<u32>,
    },
    /// lists are rebuilt when any atom has moved by half of the buffer, so that no pair is ever missed
    Exact {
        /// width of the buffer of the pair list beyond the cutoff, nm
        buffer: f64,
    },
}

/// Settings of the force computation, with the values of all parameters.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ForceSettings {
    /// Coulomb cutoff in nm; `None` = all pairs, which is possible only without a cell
    pub cutoff: Option<f64>,
    /// Lennard-Jones cutoff in nm; `None` = all pairs
    pub cutoff_lj: Option<f64>,
    /// Coulomb method
    pub electrostatics: Electrostatics,
    /// modifier of the Lennard-Jones potential at the cutoff
    pub lj_modifier: LjModifier,
    /// modifier of the direct-space Coulomb potential at the cutoff
    pub coulomb_modifier: Modifier,
    /// treatment of dispersion beyond the cutoff
    pub dispersion_correction: DispersionCorrection,
    /// when pair lists are rebuilt
    pub list: ListPolicy,
}

impl ForceSettings {
    /// The switch of the Lennard-Jones interactions; `None` without a switch.
    pub fn lj_switch(&self) -> Option<LjSwitch<f64>> {
        let cutoff = self.cutoff_lj?;
        match self.lj_modifier {
            LjModifier::None | LjModifier::PotentialShift => None,
            LjModifier::ForceSwitch { from } => Some(LjSwitch::force(from, cutoff)),
            LjModifier::PotentialSwitch { from } => Some(LjSwitch::potential(from, cutoff)),
        }
    }

    /// Parameters of the LJ-PME mesh; `None` without LJ-PME.
    pub fn lj_pme(&self) -> Option<PmeParameters> {
        match self.dispersion_correction {
            DispersionCorrection::Pme(parameters) => Some(parameters),
            _ => None,
        }
    }

    /// Parameters of the meshes of Coulomb interactions and of LJ-PME.
    pub fn meshes(&self) -> impl Iterator<Item = PmeParameters> {
        let coulomb = match self.electrostatics {
            Electrostatics::Pme(parameters) => Some(parameters),
            _ => None,
        };
        coulomb.into_iter().chain(self.lj_pme())
    }

    /// The longer of the Coulomb and the Lennard-Jones cutoff in nm; infinite if either cutoff is `None`.
    pub fn longest_cutoff(&self) -> f64 {
        self.cutoff.unwrap_or(f64::INFINITY).max(self.cutoff_lj.unwrap_or(f64::INFINITY))
    }
}

/// A rigid three-site water, for SETTLE.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Settle {
    /// atom indices of the oxygen and the two hydrogens
    pub atoms: [u32; 3],
    /// O–H distance in nm
    pub oh: f64,
    /// H–H distance in nm
    pub hh: f64,
}

/// A distance constraint between two atoms.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Constraint {
    /// the two atoms
    pub atoms: [u32; 2],
    /// constrained distance, nm
    pub length: f64,
}

/// All constraints of a system.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Constraints {
    /// rigid waters
    pub settles: Vec<Settle>,
    /// all constraints outside rigid waters
    pub bonds: Vec<Constraint>,
    /// relative tolerance of constraint lengths
    pub tolerance: f64,
}

impl Default for Constraints {
    fn default() -> Self {
        // the tolerance is smaller than OpenMM's default of 1e-5, so that constraint errors do not contribute visibly
        // to the energy drift
        Self { settles: vec![], bonds: vec![], tolerance: 1e-6 }
    }
}

impl Constraints {
    /// Number of constrained degrees of freedom.
    pub fn count(&self) -> usize {
        3 * self.settles.len() + self.bonds.len()
    }
}
