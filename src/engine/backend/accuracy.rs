//! Limits for the errors of backends with interactions in `f32`, relative to double precision. Tests of all backends,
//! and the comparisons at the start of a run, use the same limits.

/// Largest RMS error of the forces, relative to the RMS force.
pub const FORCE: f64 = 2e-5;
/// Largest RMS error of the forces (kJ/mol/nm) on a perfect lattice, where forces cancel but rounding errors do not.
pub const LATTICE_FORCE: f64 = 1e-3;
/// Largest error of an energy term, relative to the sum of the absolute energy terms.
pub const ENERGY: f64 = 1e-6;
/// Separate repulsive and attractive energy (kJ/mol) of an atom, which may cancel in the energy terms. Two atoms at the
/// Lennard-Jones distance σ have two terms of 4 ε, which are 2 ε for each atom, and whose sum is zero. The largest ε of
/// common force fields is 5.6 kJ/mol (Martini, doi:10.1021/jp071097f). In `f32` the terms have errors of some 16
/// roundings of 6·10⁻⁸, because r⁻¹² is the sixth power of r⁻². These errors are [`ENERGY`] of the separate terms.
const SEPARATE_TERMS: f64 = 10.0;

/// Returns the smallest scale (kJ/mol) to which [`ENERGY`] is relative in a system of `atoms` atoms. The sum of the
/// absolute energy terms may be smaller, in systems of a few atoms whose energies cancel or are zero. Rounding errors
/// of different atoms are independent, so that their sum grows with the square root of the number of atoms. The energy
/// of a liquid grows with the number of atoms, and exceeds this scale from about a hundred atoms on.
pub fn least_energy_scale(atoms: usize) -> f64 {
    SEPARATE_TERMS * (atoms as f64).sqrt()
}
