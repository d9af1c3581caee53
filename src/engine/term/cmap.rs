//! Torsion–torsion correction maps (CMAP): a periodic bicubic surface E(φ, ψ).
//!
//! MacKerell, Feig & Brooks, J. Comput. Chem. 25, 1400 (2004). The slopes at the grid points come from periodic cubic
//! splines along each grid line. The mixed derivative comes from splines through the slopes. Between grid points the
//! surface is the bicubic polynomial defined by the values, slopes and mixed derivatives at the four corners.

use std::f64::consts::{PI, TAU};

use super::{Dihedral, Real};
use crate::vec3::Vec3;

/// A grid square of a correction map, and a position (u, v) in the square, at which the energy is E = Σ a_mn uᵐ vⁿ.
#[derive(Clone, Copy, Debug)]
pub struct Patch<T> {
    /// coefficients a_mn at index 4m + n, kJ/mol
    pub coefficients: [T; 16],
    /// position along φ from the corner of the square, in grid steps
    pub u: T,
    /// position along ψ from the corner of the square, in grid steps
    pub v: T,
    /// grid steps per radian
    pub steps_per_radian: T,
}

/// Correction-map term. `patch` returns the grid square that contains (φ, ψ). Returns the forces on the four atoms of φ
/// and on the four atoms of ψ (kJ/mol/nm), and E.
#[inline(always)]
pub fn cmap<T: Real>(
    phi: &Dihedral<T>,
    psi: &Dihedral<T>,
    patch: impl FnOnce(T, T) -> Patch<T>,
) -> ([Vec3<T>; 4], [Vec3<T>; 4], T) {
    let Patch { coefficients, u, v, steps_per_radian } = patch(phi.angle(), psi.angle());
    let zero = T::constant(0.0);
    let (mut energy, mut slope_u, mut slope_v) = (zero, zero, zero);
    for row in coefficients.as_chunks::<4>().0.iter().rev() {
        let [a0, a1, a2, a3] = *row;
        let value = a3.mul_add(v, a2).mul_add(v, a1).mul_add(v, a0);
        let slope = (T::constant(3.0) * a3).mul_add(v, T::constant(2.0) * a2).mul_add(v, a1);
        slope_u = slope_u.mul_add(u, energy);
        slope_v = slope_v.mul_add(u, slope);
        energy = energy.mul_add(u, value);
    }
    (phi.forces(slope_u * steps_per_radian), psi.forces(slope_v * steps_per_radian), energy)
}

/// The bicubic polynomials of all squares of a correction map.
#[derive(Clone, Debug)]
pub struct CmapTable {
    /// number of grid points per angle
    size: usize,
    /// coefficients of the square with lower corner (i, j) at index i · size + j
    patches: Vec<[f64; 16]>,
}

impl CmapTable {
    /// Makes a table from size² energies `energies[i · size + j]` (kJ/mol) at φ = −π + 2π i/size, ψ = −π + 2π j/size.
    pub fn new(size: usize, energies: &[f64]) -> Self {
        assert_eq!(energies.len(), size * size, "a correction map is square");
        let transposed = transpose(size, energies);
        let slope_psi = spline_slopes(size, energies);
        let slope_phi_transposed = spline_slopes(size, &transposed);
        let slope_phi = transpose(size, &slope_phi_transposed);
        let mixed = spline_slopes(size, &slope_phi);
        let patches = (0..size * size)
            .map(|index| {
                let (i, j) = (index / size, index % size);
                let (i1, j1) = ((i + 1) % size, (j + 1) % size);
                let corners = |f: &[f64]| [f[index], f[i * size + j1], f[i1 * size + j], f[i1 * size + j1]];
                bicubic(corners(energies), corners(&slope_phi), corners(&slope_psi), corners(&mixed))
            })
            .collect();
        Self { size, patches }
    }

    /// Number of grid points per angle of the correction map.
    pub fn size(&self) -> usize {
        self.size
    }

    /// All squares; the square with corner (i, j) is at index i · size + j.
    pub fn patches(&self) -> &[[f64; 16]] {
        &self.patches
    }

    /// The square that contains (φ, ψ) (rad).
    pub fn patch(&self, phi: f64, psi: f64) -> Patch<f64> {
        let steps_per_radian = self.size as f64 / TAU;
        let locate = |angle: f64| {
            let place = (angle + PI) * steps_per_radian;
            let corner = place.floor();
            ((corner as usize).min(self.size), place - corner)
        };
        let ((i, u), (j, v)) = (locate(phi), locate(psi));
        let coefficients = self.patches[(i % self.size) * self.size + j % self.size];
        Patch { coefficients, u, v, steps_per_radian }
    }
}

/// Transpose of a square array.
fn transpose(size: usize, values: &[f64]) -> Vec<f64> {
    (0..size * size).map(|index| values[(index % size) * size + index / size]).collect()
}

/// Slopes d_j per grid step of the periodic cubic spline through the values f_j of each row, from d_{j−1} + 4 d_j +
/// d_{j+1} = 3 (f_{j+1} − f_{j−1}). The inverse of the circulant matrix of these equations has the elements (zᵏ +
/// zⁿ⁻ᵏ)/((1 − zⁿ) 2√3) with z = √3 − 2.
fn spline_slopes(size: usize, values: &[f64]) -> Vec<f64> {
    let z = 3f64.sqrt() - 2.0;
    let power = |k: usize| z.powi(k as i32);
    let inverse: Vec<f64> =
        (0..size).map(|k| (power(k) + power(size - k)) / ((1.0 - power(size)) * 12f64.sqrt())).collect();
    values
        .chunks_exact(size)
        .flat_map(|row| {
            let right: Vec<f64> = (0..size).map(|j| 3.0 * (row[(j + 1) % size] - row[(j + size - 1) % size])).collect();
            let inverse = &inverse;
            (0..size).map(move |j| (0..size).map(|k| inverse[(j + size - k) % size] * right[k]).sum())
        })
        .collect()
}

/// Coefficients of the bicubic polynomial from values and derivatives at the corners (0,0), (0,1), (1,0), (1,1). The
/// coefficients are A = M F Mᵀ, where F holds the values and derivatives, and M converts values and slopes at 0 and 1
/// to the coefficients of a cubic polynomial.
fn bicubic(value: [f64; 4], slope_u: [f64; 4], slope_v: [f64; 4], mixed: [f64; 4]) -> [f64; 16] {
    const M: [[f64; 4]; 4] =
        [[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [-3.0, 3.0, -2.0, -1.0], [2.0, -2.0, 1.0, 1.0]];
    let f = [
        [value[0], value[1], slope_v[0], slope_v[1]],
        [value[2], value[3], slope_v[2], slope_v[3]],
        [slope_u[0], slope_u[1], mixed[0], mixed[1]],
        [slope_u[2], slope_u[3], mixed[2], mixed[3]],
    ];
    std::array::from_fn(|index| {
        let (m, n) = (index / 4, index % 4);
        (0..4).flat_map(|p| (0..4).map(move |q| (p, q))).map(|(p, q)| M[m][p] * f[p][q] * M[n][q]).sum()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::term::dual::Dual;
    use crate::term::testing::{chain, check, random};

    const SIZE: usize = 24;

    fn energies(mut f: impl FnMut(f64, f64) -> f64) -> Vec<f64> {
        let angle = |i: usize| -PI + TAU * i as f64 / SIZE as f64;
        (0..SIZE * SIZE).map(|k| f(angle(k / SIZE), angle(k % SIZE))).collect()
    }

    fn evaluate(table: &CmapTable, phi: f64, psi: f64) -> f64 {
        let at = |angle: f64| Dihedral { cosine: angle.cos(), sine: angle.sin(), gradient: [Vec3::ZERO; 4] };
        cmap(&at(phi), &at(psi), |phi, psi| table.patch(phi, psi)).2
    }

    #[test]
    fn force_is_the_gradient() {
        let mut random = random(9);
        let table = CmapTable::new(SIZE, &energies(|_, _| random.between(-10.0, 10.0)));
        for _ in 0..100 {
            check(chain::<5>(&mut random), |[a, b, c, d, e]| {
                let (phi, psi) = (Dihedral::new([a - b, c - b, d - c]), Dihedral::new([b - c, d - c, e - d]));
                let (first, second, energy) = cmap(&phi, &psi, |phi, psi| {
                    let found = table.patch(phi.value, psi.value);
                    let steps = Dual::constant(found.steps_per_radian);
                    let place =
                        |angle: Dual, inside: f64| angle * steps - Dual::constant(angle.value * steps.value - inside);
                    Patch {
                        coefficients: found.coefficients.map(Dual::constant),
                        u: place(phi, found.u),
                        v: place(psi, found.v),
                        steps_per_radian: steps,
                    }
                });
                ([first[0], first[1] + second[0], first[2] + second[1], first[3] + second[2], second[3]], energy)
            });
        }
    }

    #[test]
    fn surface_passes_through_its_points() {
        let table = CmapTable::new(SIZE, &energies(|phi, psi| phi * phi - psi.sin()));
        for k in 0..SIZE {
            let (phi, psi) = (-PI + TAU * k as f64 / SIZE as f64, -PI + TAU * ((k * 7) % SIZE) as f64 / SIZE as f64);
            let expected = phi * phi - psi.sin();
            assert!((evaluate(&table, phi, psi) - expected).abs() < 1e-12, "{phi} {psi}");
        }
    }

    #[test]
    fn smooth_surfaces_are_reproduced_to_fourth_order() {
        // a cubic spline with the grid spacing h = 2π/24 has the error h⁴/384 max|f⁗|, which is below 2·10⁻⁵ max|f⁗|;
        // the test function f has max|f⁗| ≤ 2
        let f = |phi: f64, psi: f64| phi.cos() * psi.sin() + psi.cos();
        let table = CmapTable::new(SIZE, &energies(f));
        let mut random = random(10);
        for _ in 0..1000 {
            let (phi, psi) = (random.between(-PI, PI), random.between(-PI, PI));
            assert!((evaluate(&table, phi, psi) - f(phi, psi)).abs() < 5e-5);
        }
    }

    #[test]
    fn the_seam_at_pi_is_inside_the_table() {
        let table = CmapTable::new(SIZE, &energies(|phi, psi| phi.cos() + psi.cos()));
        for angle in [PI, -PI, PI - 1e-16] {
            assert!((evaluate(&table, angle, angle) + 2.0).abs() < 1e-12);
        }
    }
}
