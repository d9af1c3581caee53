//! A smooth radial function as one polynomial in r², for GPUs.
//!
//! A Coulomb function minus its singular part, 1/r or 1/r³, is an entire function of r². A polynomial of degree 10 to
//! 18 approximates this entire function over the whole range. The polynomial is in powers of u = center − r² with
//! center = 0.6 cutoff², so that the terms of the polynomial do not cancel. For r² above the center all terms have the
//! same sign, because the function and the magnitudes of all its derivatives decrease. For r² below the center,
//! rounding errors of the polynomial are small relative to the singular part 1/r or 1/r³.

use super::smooth::SmoothPart;
use super::table::interpolate;
use std::f64::consts::PI;

/// Number of coefficients that a kernel always evaluates.
pub const FIRST_TERMS: usize = 11;
/// Maximum number of pairs of coefficients beyond degree 10; four pairs give degree 18.
const MOST_PAIRS: usize = 4;
/// Position of u = 0, as a fraction of the largest r².
const CENTRE: f64 = 0.6;
/// Number of distances at which the error is measured.
const SAMPLES: usize = 400;

/// The polynomial Σ c_k u^k with u = center − r².
#[derive(Clone, Debug, Default)]
pub struct Polynomial {
    /// r² at which u is zero, nm²
    pub center: f32,
    /// coefficients c₀ to c₁₀
    pub first: [f32; FIRST_TERMS],
    /// additional pairs of coefficients [c₁₂, c₁₁], [c₁₄, c₁₃] … in descending order; empty for most functions
    pub more: Vec<[f32; 2]>,
}

impl Polynomial {
    /// Returns the shortest polynomial that approximates a function of r² to its tolerance. If no polynomial reaches
    /// the tolerance, the most accurate polynomial is returned.
    pub fn fit(part: &SmoothPart) -> Self {
        let [lowest, largest] = part.range;
        let error = |polynomial: &Self| {
            let sample = |k: usize| lowest + (largest - lowest) * k as f64 / SAMPLES as f64;
            let relative =
                |r2: f64| (f64::from(polynomial.value(r2 as f32)) - part.value(f64::from(r2 as f32))) / part.scale(r2);
            (0..=SAMPLES).map(|k| relative(sample(k)).abs()).fold(0.0, f64::max)
        };
        let candidates = (0..=MOST_PAIRS).map(|pairs| Self::through(part, pairs));
        let mut best = (f64::INFINITY, Self::default());
        for candidate in candidates {
            let error = error(&candidate);
            if error < best.0 {
                best = (error, candidate);
            }
            if error < part.tolerance {
                break;
            }
        }
        best.1
    }

    /// Interpolates the function at the n zeros of a Jacobi polynomial, whose exponents are 7/4 (at r = 0) and −½. The
    /// zeros come from an asymptotic formula. With these zeros as interpolation nodes, the maxima of the error relative
    /// to r⁻³ or r⁻¹ are nearly equal.
    fn through(part: &SmoothPart, pairs: usize) -> Self {
        let [_, largest] = part.range;
        let count = FIRST_TERMS + 2 * pairs;
        let node = |k: usize| {
            let angle = PI * (2.0 * k as f64 + 3.25) / (2.0 * count as f64 + 2.25);
            largest * (CENTRE - 0.5 * (1.0 - angle.cos()))
        };
        let center = CENTRE * largest;
        let nodes: Vec<f64> = (0..count).map(node).collect();
        let coefficients = interpolate(|u| part.value(center - u), &nodes);
        let (first, more) = coefficients.split_at(FIRST_TERMS);
        Polynomial {
            center: center as f32,
            first: std::array::from_fn(|k| first[k] as f32),
            more: more.chunks_exact(2).rev().map(|pair| [pair[1] as f32, pair[0] as f32]).collect(),
        }
    }

    /// Returns the value at r² (scalar form of the kernels' arithmetic).
    pub fn value(&self, r2: f32) -> f32 {
        let u = self.center - r2;
        let terms = self.first.iter().rev();
        self.more.iter().flatten().chain(terms).fold(0.0, |sum, &c| sum.mul_add(u, c))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::term::ewald_direct;

    /// Returns the largest error relative to the scale, in units of the tolerance. The error is measured at many more
    /// distances than in the fit.
    fn worst(part: &SmoothPart) -> f64 {
        let polynomial = Polynomial::fit(part);
        let [lowest, largest] = part.range;
        let error = |k: i32| {
            let r2 = (lowest + (largest - lowest) * f64::from(k) / 20_011.0) as f32;
            (f64::from(polynomial.value(r2)) - part.value(f64::from(r2))).abs() / part.scale(f64::from(r2))
        };
        (0..=20_011).map(error).fold(0.0, f64::max) / part.tolerance
    }

    const CUTOFF: f64 = 0.9;
    /// Relative tolerance of forces, equal to the tolerance of the tables (`super::super::table`).
    const FORCE: f64 = 5e-6;
    /// Relative tolerance of energies, which allows for sixteen rounding errors of 6·10⁻⁸.
    const ENERGY: f64 = 1e-6;
    /// Largest error in units of the tolerance. Between the samples of the fit, errors may exceed the tolerance by a
    /// tenth.
    const WORST: f64 = 1.1;

    #[test]
    fn ewald_functions_are_met_without_their_singular_part() {
        // the values of erfc(α·cutoff) are 4·10⁻⁴ to 2·10⁻¹⁰, for very inaccurate to very accurate Ewald sums
        for strength in [2.5, 3.12, 3.5, 4.0, 4.5] {
            let alpha = strength / CUTOFF;
            let direct = |r: f64| ewald_direct(1.0, r * r, r.recip(), alpha);
            let part = |function, singular, tolerance| SmoothPart::new(function, singular, tolerance, CUTOFF);
            let errors = [
                worst(&part(&|r| direct(r).0, &|r| r.powi(-3), FORCE)),
                worst(&part(&|r| direct(r).1, &f64::recip, ENERGY)),
            ];
            assert!(errors.iter().all(|&error| error < WORST), "α·cutoff = {strength}: {errors:?}");
        }
    }

    #[test]
    fn a_short_polynomial_is_reproduced() {
        let parabola = Polynomial::fit(&SmoothPart::new(&|r| 3.0 - r * r + 0.5 * r.powi(4), &|_| 0.0, ENERGY, 1.3));
        for r2 in [0.1f32, 0.5, 1.0, 1.6] {
            assert!((parabola.value(r2) - (3.0 - r2 + 0.5 * r2 * r2)).abs() < 1e-6);
        }
        assert!(parabola.more.is_empty());
    }
}
