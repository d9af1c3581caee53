//! A smooth radial function in eight equal bins of r², for SIMD levels whose registers hold eight floats.
//!
//! The range of r² from 0 to r²_max, the square of the largest distance, is mapped to y = 1 + r²/r²_max from 1 to 2.
//! The bins are equally wide in y, so that the three leading mantissa bits of y give the bin. Each bin has a polynomial
//! in the exact offset of y from the start of the bin. For the usual Ewald splittings a polynomial of degree 4
//! suffices: without its singular part 1/r or 1/r³, a Coulomb function is an entire function of r².

use super::smooth::SmoothPart;
use super::table::interpolate;
use std::f64::consts::PI;

/// Number of bins.
const BINS: usize = 8;
/// Number of coefficients that a kernel always evaluates.
pub const QUARTIC: usize = 5;
/// Maximum number of coefficients.
const MOST_TERMS: usize = 10;
/// Number of distances at which the error of a bin is measured.
const SAMPLES: usize = 100;
/// Factor by which r²_max is increased, so that y stays below 2 in spite of rounding.
const MARGIN: f64 = 1.0 + 1e-6;

/// Piecewise polynomials of y = 1 + `scale` · r².
#[derive(Clone, Debug, Default)]
pub struct Eighths {
    /// 1/r²_max, nm⁻²
    pub scale: f32,
    /// coefficients c₀ to c₄ of each bin
    pub quartic: [[f32; BINS]; QUARTIC],
    /// coefficients of the higher powers, in descending order; empty for most functions
    pub more: Vec<[f32; BINS]>,
}

impl Eighths {
    /// Returns the shortest polynomials that approximate a function of r² to its tolerance. If no polynomials reach the
    /// tolerance, the longest polynomials are returned.
    pub fn fit(part: &SmoothPart) -> Self {
        let [lowest, largest] = part.range;
        let length = largest * MARGIN;
        let bins = |terms: usize| {
            let bin = |bin: usize| {
                let of_y = |y: f64| part.value((y - 1.0) * length);
                let weight =
                    |y: f64| if (y - 1.0) * length < lowest { 0.0 } else { part.scale((y - 1.0) * length).recip() };
                of_bin(of_y, weight, 1.0 + bin as f64 / BINS as f64, terms)
            };
            let bins: [(Vec<f64>, f64); BINS] = std::array::from_fn(bin);
            let error = bins.iter().map(|(_, error)| *error).fold(0.0, f64::max);
            (bins.map(|(coefficients, _)| coefficients), error)
        };
        let mut found = bins(QUARTIC);
        for terms in QUARTIC + 1..=MOST_TERMS {
            if found.1 > part.tolerance {
                found = bins(terms);
            }
        }
        let (coefficients, _) = found;
        let power = |k: usize| std::array::from_fn(|bin| coefficients[bin][k] as f32);
        Eighths {
            scale: length.recip() as f32,
            quartic: std::array::from_fn(power),
            more: (QUARTIC..coefficients[0].len()).rev().map(power).collect(),
        }
    }

    /// Returns the value at r² (scalar form of the kernels' arithmetic).
    pub fn value(&self, r2: f32) -> f32 {
        let y = r2.mul_add(self.scale, 1.0);
        let bin = (y.to_bits() >> 20) as usize % BINS;
        let u = y - f32::from_bits(y.to_bits() & !0xf_ffff);
        let terms = self.more.iter().chain(self.quartic.iter().rev());
        terms.fold(0.0, |sum, c| sum.mul_add(u, c[bin]))
    }
}

/// Returns the coefficients of a polynomial, and the largest value of its error times `weight(y)`. The polynomial in y
/// − `start` approximates `function(y)` in the bin that begins at `start`. The interpolation nodes are Chebyshev nodes
/// of [0, 1], raised to a power. Powers below 1 shift the nodes towards the end of the bin, where weights are larger.
/// Several powers are tried, and the power with the smallest error is used.
fn of_bin(function: impl Fn(f64) -> f64, weight: impl Fn(f64) -> f64, start: f64, terms: usize) -> (Vec<f64>, f64) {
    let width = 1.0 / BINS as f64;
    let samples = (0..=SAMPLES).map(|k| width * k as f64 / SAMPLES as f64);
    let samples: Vec<[f64; 3]> = samples.map(|u| [u, function(start + u), weight(start + u)]).collect();
    let with_power = |power: f64| {
        let node = |k: usize| 0.5 + 0.5 * (PI * (k as f64 + 0.5) / terms as f64).cos();
        let nodes: Vec<f64> = (0..terms).map(|k| width * node(k).powf(power)).collect();
        let coefficients = interpolate(|u| function(start + u), &nodes);
        let value = |u: f64| coefficients.iter().rev().fold(0.0, |sum, c| sum * u + c);
        let error = |[u, exact, weight]: &[f64; 3]| ((value(*u) - exact) * weight).abs();
        let error = samples.iter().map(error).fold(0.0, f64::max);
        (coefficients, error)
    };
    let powers = (0..=20).map(|k| 1.0 - 0.025 * f64::from(k));
    let mut best = (vec![], f64::INFINITY);
    for (coefficients, error) in powers.map(with_power) {
        if error < best.1 {
            best = (coefficients, error);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::term::{ewald_direct, ewald_excluded};

    const CUTOFF: f64 = 0.9;

    /// Returns the largest error relative to the scale, and the degree of the polynomials. The error is measured at
    /// many more distances than in the fit.
    fn worst(part: &SmoothPart) -> (f64, usize) {
        let eighths = Eighths::fit(part);
        let [lowest, largest] = part.range;
        let error = |k: i32| {
            let r2 = (lowest + (largest - lowest) * f64::from(k) / 20_011.0) as f32;
            (f64::from(eighths.value(r2)) - part.value(f64::from(r2))).abs() / part.scale(f64::from(r2))
        };
        ((0..=20_011).map(error).fold(0.0, f64::max), QUARTIC - 1 + eighths.more.len())
    }

    /// Relative tolerance of forces, equal to the tolerance of the tables (`super::super::table`).
    const FORCE: f64 = 5e-6;
    /// Relative tolerance of excluded pairs, equal to the tolerance of the kernel.
    const EXCLUDED: f64 = 5e-7;
    /// Rounding error of the values of the steepest function that the tests fit. The argument of the function is
    /// rounded to `f32`, by up to 6·10⁻⁸ of its largest value.
    const ROUNDING: f64 = 7e-7;

    #[test]
    fn ewald_forces_are_met_without_their_singular_part() {
        // the values of erfc(α·cutoff) are 4·10⁻⁴ to 2·10⁻¹⁰, for very inaccurate to very accurate Ewald sums
        for (strength, degree) in [(2.5, 4), (3.12, 4), (3.5, 5), (4.0, 6), (4.5, 6)] {
            let alpha = strength / CUTOFF;
            let direct = |r: f64| ewald_direct(1.0, r * r, r.recip(), alpha).0;
            let excluded = |r: f64| ewald_excluded(1.0, r * r, r.recip(), alpha).0;
            let (error, found) = worst(&SmoothPart::new(&direct, &|r| r.powi(-3), FORCE, CUTOFF));
            // errors between the samples of the fit may be larger by a tenth
            assert!(error < 1.1 * FORCE, "α·cutoff = {strength}: {error:e}");
            assert!(found <= degree, "α·cutoff = {strength}: degree {found}");
            let (error, _) = worst(&SmoothPart::new(&excluded, &|_| 0.0, EXCLUDED, CUTOFF));
            assert!(error < EXCLUDED + ROUNDING, "excluded pairs, α·cutoff = {strength}: {error:e}");
        }
    }

    #[test]
    fn every_distance_up_to_the_largest_is_in_a_bin() {
        let eighths = Eighths::fit(&SmoothPart::new(&|r| r * r, &|_| 0.0, FORCE, CUTOFF));
        let largest = (CUTOFF * CUTOFF) as f32;
        for r2 in [0.0, 0.01, 0.5 * largest, largest.next_down(), largest] {
            assert!((eighths.value(r2) - r2).abs() < 1e-6, "{r2}: {}", eighths.value(r2));
        }
        assert!(eighths.more.is_empty());
    }
}
