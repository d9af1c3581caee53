//! Unit system and physical constants.
//!
//! The internal units are nm for length, ps for time, amu for mass, kJ/mol for energy, e for charge, K for
//! temperature, and rad for angles. The units are coherent (1 kJ/mol = 1 amu nm²/ps²), so that the integration loop
//! needs no conversion factor except Coulomb's constant. Forces are in kJ/mol/nm, velocities in nm/ps, internal
//! pressures in kJ/mol/nm³.

mod physical;
mod quantity;

pub use physical::{FARTHEST, FASTEST, Range};
pub use quantity::Dimension;

/// Coulomb's constant 1/(4πε₀) = N_A e²/(4πε₀) in kJ nm/(mol e²), from CODATA 2018; the value of OpenMM 8.
pub const COULOMB: f64 = 138.935_457_644_381_98;

/// Molar gas constant in kJ/mol/K, exact in the SI of 2019 (CODATA 2018).
pub const BOLTZMANN: f64 = 8.314_462_618_153_24e-3;

/// 1 bar in kJ/mol/nm³: 10⁵ Pa · N_A · 10⁻²⁷ m³/nm³ · 10⁻³ kJ/J, with N_A exact (SI 2019).
pub const BAR: f64 = 0.060_221_407_6;

/// Thermochemical kilocalorie in kJ, exact.
pub const KCAL: f64 = 4.184;

/// 1 Å in nm.
pub const ANGSTROM: f64 = 0.1;

/// Factor by which charges (e) are multiplied in AMBER files. AMBER's Coulomb constant is 18.2223² kcal Å/(mol e²).
pub const AMBER_CHARGE: f64 = 18.2223;

/// Unit of velocities in AMBER files, in nm/ps: 1 Å per AMBER time unit, which is 1/20.455 ps.
pub const AMBER_VELOCITY: f64 = ANGSTROM * 20.455;

/// Rounds a time (ps) to 10⁻⁶ ps, to remove the rounding errors of a product of time step and number of steps.
pub fn rounded_time(time: f64) -> f64 {
    (time * 1e6).round() / 1e6
}

/// Factor that converts a speed of simulation from ps per second to ns per day.
pub const NS_PER_DAY: f64 = 1e-3 * 86_400.0;

/// Factor that converts a mass density from amu/nm³ to g/cm³ (the atomic mass constant in g times 10²¹ nm³/cm³,
/// CODATA 2018).
pub const DENSITY: f64 = 1.660_539_066_60e-3;
