//! Limits for the errors of backends with interactions in `f32`, relative to double precision. Tests of all backends,
//! and the comparisons at the start of a run, use the same limits.

/// Largest RMS error of the forces, relative to the RMS force.
pub const FORCE: f64 = 2e-5;
/// Largest RMS error of the forces (kJ/mol/nm) on a perfect lattice, where forces cancel but rounding errors do not.
pub const LATTICE_FORCE: f64 = 1e-3;
/// Largest error of an energy term, relative to the sum of the absolute energy terms.
pub const ENERGY: f64 = 1e-6;
