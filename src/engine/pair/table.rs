//! Radial functions of r² as piecewise quartics that fit into registers.
//!
//! Four bins per octave of r² over eight octaves are 32 bins. The exponent and the two leading mantissa bits of r² give
//! the bin (`Float::look_up`). Each bin has a quartic in u, the exact offset of r² from the start of the bin
//! ([`RadialTable`]), or in r² itself ([`PowerTable`]). For erfc(αr)/r the relative error of the force is at most
//! 5·10⁻⁶, and 2·10⁻⁶ RMS (`tests`). Arguments below the lowest bin are raised to the lower end of this bin, which
//! affects only overlapping atoms. SIMD levels without enough registers for the tables, and GPUs, compute 1/r and
//! subtract the square of a polynomial ([`super::RootPolynomial`]).

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
        let quartic = |[start, end]: [f64; 2]| quartic(|u| function((start + u).sqrt()), [0.0, end - start]);
        RadialTable { tables: tables(largest, quartic), lowest: lowest(largest) }
    }

    /// Makes a table of zeros.
    pub fn zero(lowest: f32) -> Self {
        RadialTable { tables: Tables([[0.0; 32]; 5]), lowest }
    }

    /// Returns the tabulated value at r² (scalar form of the kernels' arithmetic).
    pub fn value(&self, r2: f32) -> f32 {
        let r2 = r2.max(self.lowest);
        let u = r2 - f32::from_bits(r2.to_bits() & !0x1f_ffff);
        evaluated(&self.tables, bin(r2), u)
    }
}

/// A radial function of r² as coefficients of powers of r². Kernels need two operations fewer than for a
/// [`RadialTable`]. The rounding errors of the operations are larger, because the magnitudes of the five terms add up
/// to 70 times the value of 1/r³. The table is for forces: in an energy, rounding errors of many pairs at one distance
/// would add up.
#[derive(Clone, Debug)]
pub struct PowerTable {
    /// `tables.0[k][bin]` is the coefficient of r²ᵏ
    pub tables: Tables,
    /// lowest r² covered, nm²; kernels must raise smaller arguments to this value
    pub lowest: f32,
}

impl PowerTable {
    /// Makes the table of `function(r)` for r up to `largest` nm.
    pub fn new(function: RadialFunction, largest: f64) -> Self {
        let tables = tables(largest, |bin| quartic(|r2| function(r2.sqrt()), bin));
        PowerTable { tables, lowest: lowest(largest) }
    }

    /// Makes a table of zeros.
    pub fn zero(lowest: f32) -> Self {
        PowerTable { tables: Tables([[0.0; 32]; 5]), lowest }
    }

    /// Returns the tabulated value at r² (scalar form of the kernels' arithmetic).
    pub fn value(&self, r2: f32) -> f32 {
        let r2 = r2.max(self.lowest);
        evaluated(&self.tables, bin(r2), r2)
    }
}

/// Returns the bin that contains r².
fn bin(r2: f32) -> usize {
    (r2.to_bits() >> 21) as usize % 32
}

/// Evaluates the polynomial of a bin.
fn evaluated(tables: &Tables, bin: usize, argument: f32) -> f32 {
    tables.0.iter().rev().fold(0.0, |sum, c| sum.mul_add(argument, c[bin]))
}

/// Returns the lowest r² (nm²) in the table of a function up to `largest` nm.
fn lowest(largest: f64) -> f32 {
    2f64.powi(octaves(largest)[0]) as f32
}

/// Makes the tables of a function up to `largest` nm. `quartic` returns the coefficients of the bin from one r² to
/// another (nm²).
fn tables(largest: f64, quartic: impl Fn([f64; 2]) -> [f32; COEFFICIENTS]) -> Tables {
    let mut tables = Tables([[0.0; 32]; COEFFICIENTS]);
    let [bottom, top] = octaves(largest);
    for octave in bottom..top {
        for quarter in 0..BINS_PER_OCTAVE {
            let width = 2f64.powi(octave) / BINS_PER_OCTAVE as f64;
            let start = 2f64.powi(octave) + quarter as f64 * width;
            for (power, coefficient) in quartic([start, start + width]).into_iter().enumerate() {
                tables.0[power][bin(start as f32)] = coefficient;
            }
        }
    }
    tables
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

/// Returns the monomial coefficients of the quartic through the Chebyshev nodes of an interval. Within a bin the powers
/// of r² are nearly linearly dependent, so that lower coefficients make up for the rounding of higher coefficients.
fn quartic(function: impl Fn(f64) -> f64, interval: [f64; 2]) -> [f32; COEFFICIENTS] {
    let mut exact = interpolate(function, &chebyshev_nodes(COEFFICIENTS, interval));
    let mut rounded = [0.0; COEFFICIENTS];
    for power in (0..COEFFICIENTS).rev() {
        rounded[power] = exact[power] as f32;
        let rest = exact[power] - f64::from(rounded[power]);
        let correction = interpolate(|x| rest * x.powi(power as i32), &chebyshev_nodes(power, interval));
        exact.iter_mut().zip(correction).for_each(|(coefficient, change)| *coefficient += change);
    }
    rounded
}

/// Returns the Chebyshev nodes of an interval.
fn chebyshev_nodes(count: usize, [start, end]: [f64; 2]) -> Vec<f64> {
    let node = |k: usize| {
        let angle = std::f64::consts::PI * (k as f64 + 0.5) / count as f64;
        start + 0.5 * (end - start) * (1.0 + angle.cos())
    };
    (0..count).map(node).collect()
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
        let (offsets, powers) = (RadialTable::new(&force, 0.9), PowerTable::new(&force, 0.9));
        let mut worst = [0f64; 2];
        for k in 0..200_000 {
            let r2 = (0.01 + 0.80 * f64::from(k) / 200_000.0) as f32;
            let exact = force(f64::from(r2).sqrt());
            for (worst, value) in worst.iter_mut().zip([offsets.value(r2), powers.value(r2)]) {
                *worst = worst.max((f64::from(value) / exact - 1.0).abs());
            }
        }
        assert!(worst.iter().all(|worst| *worst < TOLERANCE), "{worst:?}");
    }

    #[test]
    fn a_quartic_is_reproduced() {
        let function = |r: f64| 3.0 - r * r + 0.5 * r.powi(4);
        let (offsets, powers) = (RadialTable::new(&function, 1.3), PowerTable::new(&function, 1.3));
        for r2 in [0.1f32, 0.5, 1.0, 1.6] {
            for value in [offsets.value(r2), powers.value(r2)] {
                assert!((value - (3.0 - r2 + 0.5 * r2 * r2)).abs() < 1e-6);
            }
        }
    }
}
