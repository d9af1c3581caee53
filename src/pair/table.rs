//! Radial functions of r² as piecewise quartics that fit into registers.
//!
//! Four bins per octave of r² over eight octaves are 32 bins, found by the exponent and the two leading mantissa bits
//! of r² (`Float::look_up`), each with a quartic in the exact offset u = r² − r²_bin. The force of erfc(αr)/r is met to
//! 5·10⁻⁶ relative at worst, 2·10⁻⁶ RMS (`tests`); below the lowest bin the argument is clamped, which only overlapping atoms
//! ever see.

use crate::simd::Tables;

/// Bins per octave of r².
const BINS_PER_OCTAVE: usize = 4;
/// Octaves covered.
const OCTAVES: i32 = 8;
/// Coefficients of a quartic.
const COEFFICIENTS: usize = 5;

/// Anything that maps a distance (nm) to a value.
pub type RadialFunction<'a> = &'a dyn Fn(f64) -> f64;

/// A radial function, tabulated in r².
#[derive(Clone, Debug)]
pub struct RadialTable {
    /// `tables.0[k][bin]` = coefficient of u^k
    pub tables: Tables,
    /// lowest r² covered, nm²; smaller arguments must be raised to it
    pub lowest: f32,
}

impl RadialTable {
    /// Tabulate `function(r)` for r up to `largest` nm.
    pub fn new(function: RadialFunction, largest: f64) -> Self {
        let top = (largest * largest).log2().ceil() as i32;
        let mut tables = Tables([[0.0; 32]; 5]);
        for octave in top - OCTAVES..top {
            for quarter in 0..BINS_PER_OCTAVE {
                let width = 2f64.powi(octave) / BINS_PER_OCTAVE as f64;
                let start = 2f64.powi(octave) + quarter as f64 * width;
                let bin = ((start as f32).to_bits() >> 21) as usize % 32;
                for (power, c) in quartic(|u| function((start + u).sqrt()), width).into_iter().enumerate() {
                    tables.0[power][bin] = c as f32;
                }
            }
        }
        Self { tables, lowest: 2f32.powi(top - OCTAVES) }
    }

    /// The tabulated value at r² (scalar twin of the kernels' arithmetic).
    pub fn value(&self, r2: f32) -> f32 {
        let r2 = r2.max(self.lowest);
        let bin = (r2.to_bits() >> 21) as usize % 32;
        let u = r2 - f32::from_bits(r2.to_bits() & !0x1f_ffff);
        self.tables.0.iter().rev().fold(0.0, |sum, c| sum.mul_add(u, c[bin]))
    }
}

/// Monomial coefficients of the quartic through the Chebyshev nodes of [0, width] (Newton's divided differences).
fn quartic(function: impl Fn(f64) -> f64, width: f64) -> [f64; COEFFICIENTS] {
    let node = |k: usize| {
        let angle = std::f64::consts::PI * (k as f64 + 0.5) / COEFFICIENTS as f64;
        0.5 * width * (1.0 + angle.cos())
    };
    let mut differences: [f64; COEFFICIENTS] = std::array::from_fn(|k| function(node(k)));
    for order in 1..COEFFICIENTS {
        for k in (order..COEFFICIENTS).rev() {
            differences[k] = (differences[k] - differences[k - 1]) / (node(k) - node(k - order));
        }
    }
    let mut polynomial = [0.0; COEFFICIENTS];
    for k in (0..COEFFICIENTS).rev() {
        // polynomial ← polynomial · (u − node_k) + difference_k
        let mut next = [0.0; COEFFICIENTS];
        for (power, &c) in polynomial.iter().enumerate() {
            if power + 1 < COEFFICIENTS {
                next[power + 1] += c;
            }
            next[power] -= c * node(k);
        }
        next[0] += differences[k];
        polynomial = next;
    }
    polynomial
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Remainder of interpolating x^(−3/2) at five Chebyshev nodes of a bin of width w = x/4:
    /// (3/2 · 5/2 · 7/2 · 9/2 · 11/2)/5! · (w/2)⁵/2⁴ = 5.2·10⁻⁶ relative, plus a few roundings of 6·10⁻⁸.
    const TOLERANCE: f64 = 5.5e-6;

    #[test]
    fn coulomb_force_is_tabulated_to_its_tolerance() {
        let force = |r: f64| r.powi(-3);
        let table = RadialTable::new(&force, 0.9);
        let mut worst = 0f64;
        for k in 0..200_000 {
            let r2 = 0.01 + 0.80 * f64::from(k) / 200_000.0;
            let exact = force((r2 as f32 as f64).sqrt());
            worst = worst.max((f64::from(table.value(r2 as f32)) / exact - 1.0).abs());
        }
        assert!(worst < TOLERANCE, "{worst:e}");
    }

    #[test]
    fn a_quartic_is_reproduced() {
        let table = RadialTable::new(&|r| 3.0 - r * r + 0.5 * r.powi(4), 1.3);
        for r2 in [0.1f32, 0.5, 1.0, 1.6] {
            assert!((table.value(r2) - (3.0 - r2 + 0.5 * r2 * r2)).abs() < 1e-6);
        }
    }
}
