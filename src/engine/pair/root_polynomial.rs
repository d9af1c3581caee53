//! The square root of a smooth radial function as one polynomial in r².
//!
//! A Coulomb function minus its singular part, 1/r or 1/r³, is an entire function of r². Its sign is the same at all
//! distances, and its square root varies less than the function itself. For the usual Ewald splittings the square of a
//! polynomial of degree 8 therefore replaces a polynomial of degree 10, with the same accuracy. The polynomial is in
//! powers of u = center − r² with center = 0.6 cutoff², so that its terms do not cancel. For r² above the center all
//! terms have the same sign, because the function and the magnitudes of all its derivatives decrease. For r² below the
//! center, rounding errors of the polynomial are small relative to the singular part 1/r or 1/r³.

use super::smooth::SmoothPart;
use super::table::interpolate;
use std::f64::consts::PI;

/// Maximum number of coefficients.
pub const MOST_TERMS: usize = 17;
/// Position of u = 0, as a fraction of the largest r².
const CENTRE: f64 = 0.6;
/// Number of distances at which the error is measured.
const SAMPLES: usize = 400;

/// The polynomial Σ c_k u^k with u = center − r². Its square approximates the magnitude of a function of r².
#[derive(Clone, Debug)]
pub struct RootPolynomial {
    /// r² at which u is zero, nm²
    pub center: f32,
    /// coefficients, in ascending order of the powers
    pub coefficients: Vec<f32>,
}

impl RootPolynomial {
    /// Returns the shortest polynomial whose square approximates the magnitude of a function of r² to the tolerance of
    /// the function, with at least `fewest` coefficients. If no polynomial reaches the tolerance, the most accurate
    /// polynomial is returned.
    pub fn fit(part: &SmoothPart, fewest: usize) -> Self {
        let [lowest, largest] = part.range;
        let samples: Vec<[f64; 3]> = (0..=SAMPLES)
            .map(|k| lowest + (largest - lowest) * k as f64 / SAMPLES as f64)
            .map(|r2| [r2, part.value(f64::from(r2 as f32)).abs(), part.scale(r2)])
            .collect();
        let error = |polynomial: &Self| {
            let relative =
                |[r2, exact, scale]: &[f64; 3]| ((f64::from(polynomial.square(*r2 as f32)) - exact) / scale).abs();
            samples.iter().map(relative).fold(0.0, f64::max)
        };
        let mut best = (f64::INFINITY, Self { center: 0.0, coefficients: vec![] });
        for count in fewest..=MOST_TERMS {
            // which exponent has the smallest error depends on the weight of the error at short distances
            for candidate in (-2..=8).map(|quarters| Self::through(part, count, 0.25 * f64::from(quarters))) {
                let error = error(&candidate);
                if error < best.0 {
                    best = (error, candidate);
                }
            }
            if best.0 < part.tolerance {
                break;
            }
        }
        best.1
    }

    /// Interpolates the square root at the zeros of a Jacobi polynomial with the exponents `exponent` (at r = 0) and
    /// −½ (at the largest distance). The zeros come from an asymptotic formula.
    fn through(part: &SmoothPart, count: usize, exponent: f64) -> Self {
        let [_, largest] = part.range;
        let node = |k: usize| {
            let angle = PI * (2.0 * k as f64 + exponent + 1.5) / (2.0 * count as f64 + exponent + 0.5);
            largest * (CENTRE - 0.5 * (1.0 - angle.cos()))
        };
        let center = CENTRE * largest;
        let nodes: Vec<f64> = (0..count).map(node).collect();
        let coefficients = interpolate(|u| part.value(center - u).abs().sqrt(), &nodes);
        RootPolynomial { center: center as f32, coefficients: coefficients.into_iter().map(|c| c as f32).collect() }
    }

    /// Returns the coefficients of the `N` lowest powers in ascending order, and all others in descending order.
    pub fn split<const N: usize>(&self) -> ([f32; N], Vec<f32>) {
        let (first, more) = self.coefficients.split_at(N);
        (std::array::from_fn(|k| first[k]), more.iter().rev().copied().collect())
    }

    /// Returns the magnitude of the function at r² (scalar form of the kernels' arithmetic).
    fn square(&self, r2: f32) -> f32 {
        let u = self.center - r2;
        let root = self.coefficients.iter().rev().fold(0.0f32, |sum, &c| sum.mul_add(u, c));
        root * root
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pair::RadialFunction;
    use crate::term::{dispersion_off_mesh, ewald_direct, ewald_excluded};

    const CUTOFF: f64 = 0.9;
    /// smallest number of coefficients in these tests
    const FEWEST: usize = 3;

    /// Returns the largest error in units of the tolerance, and the degree of the polynomial. The error is measured at
    /// many more distances than in the fit.
    fn worst(part: &SmoothPart) -> (f64, usize) {
        let polynomial = RootPolynomial::fit(part, FEWEST);
        let [lowest, largest] = part.range;
        let error = |k: i32| {
            let r2 = (lowest + (largest - lowest) * f64::from(k) / 20_011.0) as f32;
            (f64::from(polynomial.square(r2)) - part.value(f64::from(r2)).abs()).abs() / part.scale(f64::from(r2))
        };
        let error = (0..=20_011).map(error).fold(0.0, f64::max);
        (error / part.tolerance, polynomial.coefficients.len() - 1)
    }

    /// Relative tolerance of forces, equal to the tolerance of the tables (`super::super::table`).
    const FORCE: f64 = 5e-6;
    /// Relative tolerance of the forces of excluded pairs, equal to the tolerance of the kernel.
    const EXCLUDED: f64 = 5e-7;
    /// Relative tolerance of energies, which allows for sixteen rounding errors of 6·10⁻⁸.
    const ENERGY: f64 = 1e-6;
    /// Largest error in units of the tolerance. Between the samples of the fit, errors may exceed the tolerance by a
    /// tenth.
    const WORST: f64 = 1.1;

    #[test]
    fn ewald_functions_are_met_without_their_singular_part() {
        // the values of erfc(α·cutoff) are 4·10⁻⁴ to 2·10⁻¹⁰, for very inaccurate to very accurate Ewald sums
        for (strength, degree) in [(2.5, 7), (3.12, 8), (3.5, 9), (4.0, 10), (4.5, 12)] {
            let alpha = strength / CUTOFF;
            let force = |r: f64| ewald_direct(1.0, r * r, r.recip(), alpha).0;
            let energy = |r: f64| ewald_direct(1.0, r * r, r.recip(), alpha).1;
            let excluded = |r: f64| ewald_excluded(1.0, r * r, r.recip(), alpha).0;
            let dispersion = |r: f64| dispersion_off_mesh(1.0, r * r, r.powi(-2), alpha).0;
            let functions: [(&str, RadialFunction, RadialFunction, f64); 4] = [
                ("force", &force, &|r| r.powi(-3), FORCE),
                ("energy", &energy, &f64::recip, ENERGY),
                ("excluded pairs", &excluded, &|_| 0.0, EXCLUDED),
                ("dispersion", &dispersion, &|_| 0.0, EXCLUDED),
            ];
            for (name, function, singular, tolerance) in functions {
                let (error, found) = worst(&SmoothPart::new(function, singular, tolerance, CUTOFF));
                assert!(error < WORST, "α·cutoff = {strength}, {name}: {error}");
                assert!(name != "force" || found <= degree, "α·cutoff = {strength}: degree {found}");
            }
        }
    }

    #[test]
    fn the_square_of_a_short_polynomial_is_reproduced() {
        let parabola = |r2: f64| (3.0 - r2).powi(2);
        let polynomial = RootPolynomial::fit(&SmoothPart::new(&|r| parabola(r * r), &|_| 0.0, ENERGY, 1.3), FEWEST);
        for r2 in [0.1f32, 0.5, 1.0, 1.6] {
            assert!((f64::from(polynomial.square(r2)) - parabola(f64::from(r2))).abs() < 9.0 * ENERGY);
        }
        assert_eq!(polynomial.coefficients.len(), FEWEST);
    }
}
