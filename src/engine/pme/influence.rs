//! Influence function of PME: the factor by which the charge spectrum is multiplied to obtain the spectrum of the
//! potential.

use std::cmp::Ordering;
use std::f64::consts::TAU;

use super::{MeshPotential, gaussian, spline};
use crate::cell::PeriodicCell;
use crate::system::PmeParameters;
use crate::vec3::{Mat3, Vec3};

/// Threshold below which the squared modulus of the transform of the spline counts as zero. For odd orders the modulus
/// is zero at the wave number K/2 of a grid with an even number K of points. A modulus of zero is replaced by the mean
/// of the moduli at the two neighbouring wave numbers, as in other programs. The contribution of the wave number K/2 is
/// negligible because of the Gaussian factor.
const VANISHING_MODULUS: f64 = 1e-7;

/// Factors of the influence function that depend on α, grid and order, but not on the cell.
#[derive(Clone, Debug)]
pub struct Influence {
    grid: [usize; 3],
    alpha: f64,
    potential: MeshPotential,
    /// 1/|Σ_j M_n(j + 1) e^{2πi jk/K}|² for k = 0 … K − 1 along a, b, c, with the B-spline M_n of order n and K grid
    /// points
    inverse_moduli: [Vec<f64>; 3],
}

/// Influence function at one wave vector m. Units are those of the [`MeshPotential`].
#[derive(Clone, Copy, Debug)]
pub struct Element {
    /// influence function G: the transform of the potential is G times the transform S of the charges, and the energy
    /// is ½ G |S|²
    pub green: f64,
    /// stress G f m⊗m with the [`MeshPotential::virial_factor`] f: the virial is ½ |S|² times (G δ − G f m⊗m), where δ
    /// is the unit matrix
    pub stress: Mat3,
}

impl Influence {
    /// Prepares the influence function for given α, grid and order.
    pub fn new(parameters: &PmeParameters, potential: MeshPotential) -> Self {
        let knots = knots(parameters.order);
        Self {
            grid: parameters.grid,
            alpha: parameters.alpha,
            potential,
            inverse_moduli: parameters.grid.map(|points| inverse_moduli(&knots, points)),
        }
    }

    /// Returns the inverse squared moduli |b(k)|² = 1/|Σ_j M_n(j + 1) e^{2πi jk/K}|² along direction 0, 1, 2, for k = 0
    /// … K − 1.
    pub fn inverse_moduli(&self, direction: usize) -> &[f64] {
        &self.inverse_moduli[direction]
    }

    /// Returns the interaction that the mesh sums.
    pub fn potential(&self) -> MeshPotential {
        self.potential
    }

    /// Returns the splitting parameter α, 1/nm.
    pub fn alpha(&self) -> f64 {
        self.alpha
    }

    /// Returns the wave number of index `k` along direction 0, 1, 2 in one of two parts, r and h; the other part is
    /// zero. Indices below and beyond half the grid have positive and negative wave numbers r.
    ///
    /// A wave number h at half of an even grid stands for both signs, because a mesh cannot tell them apart. Elements
    /// of the influence function are the means for the wave vectors r + h and r − h. Elements k and −k are equal for
    /// this reason, as the transform of a real mesh requires. The real part of a complex transform has the same means,
    /// and OpenMM's reference code takes this part. In an orthorhombic cell r and h are orthogonal, and the lengths of
    /// r + h and r − h are equal.
    #[inline(always)]
    pub fn wave_number(&self, direction: usize, k: usize) -> [f64; 2] {
        let points = self.grid[direction];
        match (2 * k).cmp(&points) {
            Ordering::Less => [k as f64, 0.0],
            Ordering::Equal => [0.0, k as f64],
            Ordering::Greater => [k as f64 - points as f64, 0.0],
        }
    }

    /// Returns element `k` of the influence function: [`MeshPotential::transform`] times |b|²/V, with |b|² from
    /// [`Influence::inverse_moduli`] and the volume V. `reciprocal` from [`reciprocal_rows`] and `volume` (nm³) belong
    /// to the same cell.
    pub fn element(&self, reciprocal: &[Vec3; 3], volume: f64, k: [usize; 3]) -> Element {
        let along = |d: usize| self.wave_number(d, k[d]).map(|number| reciprocal[d] * number);
        let [[x, half_x], [y, half_y], [z, half_z]] = [0, 1, 2].map(along);
        let [rest, half] = [x + y + z, half_x + half_y + half_z];
        let [x, y, z] = [0, 1, 2].map(|d| self.inverse_moduli[d][k[d]]);
        let halves = [rest + half, rest - half].map(|wave| {
            let squared = wave.norm_squared();
            let transform = self.potential.transform(squared, gaussian(squared, self.alpha), self.alpha);
            let green = 0.5 * transform / volume * x * y * z;
            (green, Mat3::outer(wave, wave).scaled(green * self.potential.virial_factor(squared, self.alpha)))
        });
        let [(green, stress), (other_green, other_stress)] = halves;
        Element { green: green + other_green, stress: stress + other_stress }
    }
}

/// Returns the reciprocal lattice vectors a*, b*, c* (1/nm): a*·a = 1, a*·b = 0 …; fractional coordinates are s_a =
/// a*·r.
pub fn reciprocal_rows(cell: &PeriodicCell) -> [Vec3; 3] {
    let [a, b, c] = cell.rows();
    let volume = cell.volume();
    [b.cross(c) / volume, c.cross(a) / volume, a.cross(b) / volume]
}

/// Returns the values M_n(1) … M_n(n − 1) of the B-spline of order n.
fn knots(order: usize) -> Vec<f64> {
    fn at<const N: usize>() -> Vec<f64> {
        spline::<f64, N>(0.0).0[..N - 1].to_vec()
    }
    match order {
        4 => at::<4>(),
        5 => at::<5>(),
        6 => at::<6>(),
        8 => at::<8>(),
        _ => unreachable!("the order has been checked against ORDERS"),
    }
}

fn inverse_moduli(knots: &[f64], points: usize) -> Vec<f64> {
    let modulus = |k: usize| {
        let (mut re, mut im) = (0.0, 0.0);
        for (j, weight) in knots.iter().enumerate() {
            // `j * k` is reduced modulo the number of points first, so that the angle stays precise on large grids
            let angle = TAU * ((j * k) % points) as f64 / points as f64;
            re += weight * angle.cos();
            im += weight * angle.sin();
        }
        re * re + im * im
    };
    let moduli: Vec<f64> = (0..points).map(modulus).collect();
    (0..points)
        .map(|k| {
            let own = moduli[k];
            let neighbours = 0.5 * (moduli[(k + points - 1) % points] + moduli[(k + 1) % points]);
            1.0 / if own < VANISHING_MODULUS { neighbours } else { own }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vec3::vec3;

    #[test]
    fn reciprocal_rows_invert_the_cell() {
        let cell = PeriodicCell::from_lengths_angles([3.0, 4.0, 5.0], [80.0, 95.0, 100.0]).unwrap();
        for (i, shake) in reciprocal_rows(&cell).into_iter().enumerate() {
            for (j, row) in cell.rows().into_iter().enumerate() {
                let expected = if i == j { 1.0 } else { 0.0 };
                assert!((shake.dot(row) - expected).abs() < 1e-14);
            }
        }
        let r = vec3(0.3, -1.2, 2.2);
        let s = cell.to_fractional(r);
        assert!((reciprocal_rows(&cell)[0].dot(r) - s.x).abs() < 1e-14);
    }

    #[test]
    fn modulus_is_one_at_zero_and_falls_as_the_cosine_of_order_four() {
        // M_4 has the values (1, 4, 1)/6 at 1, 2, 3, so that |b|⁻² = ((2 + cos 2πk/K)/3)² is the squared modulus of its
        // transform
        let moduli = inverse_moduli(&knots(4), 20);
        for (k, value) in moduli.iter().enumerate() {
            let expected = ((2.0 + (TAU * k as f64 / 20.0).cos()) / 3.0).powi(-2);
            assert!((value / expected - 1.0).abs() < 1e-13);
        }
    }

    #[test]
    fn odd_order_stays_finite_at_half_the_grid() {
        assert!(inverse_moduli(&knots(5), 20).iter().all(|v| v.is_finite() && *v < 1e4));
    }
}
