//! Radial functions of r² as piecewise quartics that fit into registers.
//!
//! Four bins per octave of r² over eight octaves are 32 bins. The exponent and the two leading mantissa bits of r² give
//! the bin (`Float::look_up`). Each bin has a quartic in u, the exact offset of r² from the start of the bin. For
//! erfc(αr)/r the relative error of the force is at most 5·10⁻⁶, and 2·10⁻⁶ RMS (`tests`). Arguments below the lowest
//! bin are raised to the lower end of this bin, which affects only overlapping atoms. SIMD levels without enough
//! registers for the tables, and GPUs, compute 1/r and subtract the square of a polynomial ([`super::RootPolynomial`]).

use crate::simd::Tables;

/// Number of bins per octave of r².
const BINS_PER_OCTAVE: usize = 4;
/// Number of octaves of r² that the table covers.
const OCTAVES: i32 = 8;
/// Number of coefficients of a quartic.
const COEFFICIENTS: usize = 5;

/// A function of a distance (nm).
pub type RadialFunction<'a> = &'a dyn Fn(f64) -> f64;

/// A radial function of r² as coefficients for kernels.
#[derive(Clone, Debug)]
pub struct RadialTable {
    /// `tables.0[k][bin]` is the coefficient of u^k
    pub tables: Tables,
    /// lowest r² covered, nm²; kernels must raise smaller arguments to this value
    pub lowest: f32,
}

impl RadialTable {
    /// Makes the table of `function(r)` for r up to `largest` nm.
    pub fn new(function: RadialFunction, largest: f64) -> Self {
        let [bottom, top] = octaves(largest);
        let mut table = Self::zero(2f64.powi(bottom) as f32);
        for octave in bottom..top {
            for quarter in 0..BINS_PER_OCTAVE {
                let width = 2f64.powi(octave) / BINS_PER_OCTAVE as f64;
                let start = 2f64.powi(octave) + quarter as f64 * width;
                let bin = ((start as f32).to_bits() >> 21) as usize % 32;
                for (power, c) in quartic(|u| function((start + u).sqrt()), width).into_iter().enumerate() {
                    table.tables.0[power][bin] = c as f32;
                }
            }
        }
        table
    }

    /// Makes a table of zeros.
    pub fn zero(lowest: f32) -> Self {
        RadialTable { tables: Tables([[0.0; 32]; 5]), lowest }
    }

    /// Returns the tabulated value at r² (scalar form of the kernels' arithmetic).
    pub fn value(&self, r2: f32) -> f32 {
        let r2 = r2.max(self.lowest);
        let bin = (r2.to_bits() >> 21) as usize % 32;
        let u = r2 - f32::from_bits(r2.to_bits() & !0x1f_ffff);
        self.tables.0.iter().rev().fold(0.0, |sum, c| sum.mul_add(u, c[bin]))
    }
}

/// Returns the base-2 logarithms of the lowest and the highest r² in the table of a function up to `largest` nm.
fn octaves(largest: f64) -> [i32; 2] {
    let top = (largest * largest).log2().ceil() as i32;
    [top - OCTAVES, top]
}

/// Returns the lowest and the highest r² (nm²) that kernels evaluate if the largest distance is `largest` nm.
pub(super) fn range(largest: f64) -> [f64; 2] {
    [2f64.powi(octaves(largest)[0]), largest * largest]
}

/// Returns the monomial coefficients of the quartic through the Chebyshev nodes of [0, width].
fn quartic(function: impl Fn(f64) -> f64, width: f64) -> Vec<f64> {
    let node = |k: usize| {
        let angle = std::f64::consts::PI * (k as f64 + 0.5) / COEFFICIENTS as f64;
        0.5 * width * (1.0 + angle.cos())
    };
    let nodes: [f64; COEFFICIENTS] = std::array::from_fn(node);
    interpolate(function, &nodes)
}

/// Returns the monomial coefficients of the polynomial that equals `function` at `nodes` (Newton's divided
/// differences).
pub(super) fn interpolate(function: impl Fn(f64) -> f64, nodes: &[f64]) -> Vec<f64> {
    let count = nodes.len();
    let mut differences: Vec<f64> = nodes.iter().map(|&node| function(node)).collect();
    for order in 1..count {
        for k in (order..count).rev() {
            differences[k] = (differences[k] - differences[k - 1]) / (nodes[k] - nodes[k - order]);
        }
    }
    let mut polynomial = vec![0.0; count];
    for k in (0..count).rev() {
        // polynomial ← polynomial · (u − node_k) + difference_k
        let mut next = vec![0.0; count];
        for (power, &c) in polynomial.iter().enumerate() {
            if power + 1 < count {
                next[power + 1] += c;
            }
            next[power] -= c * nodes[k];
        }
        next[0] += differences[k];
        polynomial = next;
    }
    polynomial
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tolerance of relative errors. Interpolation of x^(−3/2) at five Chebyshev nodes of a bin of width w = x/4 has
    /// the relative error (3/2 · 5/2 · 7/2 · 9/2 · 11/2)/5! · (w/2)⁵/2⁴ = 5.2·10⁻⁶, to which a few rounding errors of
    /// 6·10⁻⁸ are added.
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
