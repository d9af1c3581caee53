//! Grids of correction maps (CMAP) for two dihedral angles.

/// Energies of a correction map on a square periodic grid, starting at −π in both angles.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct CmapGrid {
    /// number of grid points per angle
    pub size: usize,
    /// energies in kJ/mol, `energies[i_phi * size + i_psi]`, at φ = −π + 2π i/size
    pub energies: Vec<f64>,
}

impl CmapGrid {
    /// Allowed numbers of grid points per angle. Bicubic interpolation uses two neighbouring points on each side of a
    /// grid point. No correction map in use has more than 24 points, so a number above the maximum means that the file
    /// is damaged.
    pub const SIZES: std::ops::RangeInclusive<usize> = 4..=1000;

    /// Makes the grid from energies in the order of OpenMM, in which a map begins at an angle of 0 and φ varies
    /// fastest. `size` must be even.
    pub fn from_openmm(size: usize, energies: &[f64]) -> Self {
        let from_zero = |i: usize| (i + size / 2) % size;
        let of = |phi: usize, psi: usize| energies[from_zero(phi) + size * from_zero(psi)];
        CmapGrid { size, energies: (0..size * size).map(|index| of(index / size, index % size)).collect() }
    }
}
