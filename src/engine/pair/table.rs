//! Radial functions of r² as piecewise quartics that fit into registers.
//!
//! Four bins per octave of r² over eight octaves are 32 bins. The exponent and the two leading mantissa bits of r² give
//! the bin (`Float::look_up`). Each bin has a quartic in u, the exact offset of r² from the start of the bin
//! ([`RadialTable`]), or in r² itself ([`PowerTable`]). For erfc(αr)/r the relative error of the force is at most
//! 5·10⁻⁶, and 2·10⁻⁶ RMS (`tests`). SIMD levels without enough registers for the tables, and GPUs, compute 1/r and
//! subtract the square of a polynomial ([`super::RootPolynomial`]).
//!
//! The 32 bins end at the bin of the largest distance. For distances up to 1 nm, the bins begin at 0.0625 nm or less.
//! For larger distances, the bins begin at more than 0.0625 nm, and a second table has the 32 bins below. Excluded
//! pairs and contacts of hydrogen atoms need these bins. Arguments below (0.0625 nm)² are raised to this limit, which
//! affects only overlapping atoms. The tables of excluded pairs have all lower bins, because extra points with charges
//! are closer to their atoms.

use crate::simd::Tables;

/// Number of bins per octave of r².
const BINS_PER_OCTAVE: usize = 4;
/// Factor between the r² at the end and at the start of 32 bins, which are eight octaves.
const RANGE: f64 = 256.0;
/// Number of coefficients of a quartic.
const COEFFICIENTS: usize = 5;
/// r² (nm²) of 0.0625 nm, at which the tables begin. The shortest distance of charges in models of water with four
/// sites is 0.078 nm, between a hydrogen and the virtual site of OPC (S. Izadi et al., J. Phys. Chem. Lett. 5, 3863
/// (2014), doi:10.1021/jz501780a).
const CONTACT: f64 = 0.0625 * 0.0625;

/// A function of a distance (nm).
pub type RadialFunction<'a> = &'a dyn Fn(f64) -> f64;

/// Quartics of a radial function in bins of r².
#[derive(Clone, Debug)]
pub struct Bins {
    /// `tables.0[k][bin]` is the coefficient of the k-th power in the upper 32 bins
    pub tables: Tables,
    /// coefficients in the 32 bins below `start`
    pub below: Tables,
    /// start of the upper 32 bins, nm²
    pub start: f32,
    /// lowest r² covered, nm²; kernels must raise smaller arguments to this value
    pub lowest: f32,
}

impl Bins {
    /// Makes the bins of a function up to `largest` nm, and down to `lowest` (nm²) or the start of the lower bins.
    /// `quartic` returns the coefficients of the bin from one r² to another (nm²).
    fn new(largest: f64, lowest: f64, quartic: impl Fn([f64; 2]) -> [f32; COEFFICIENTS]) -> Self {
        let start = start(largest);
        let (tables, below) = (tables(start, &quartic), tables(start / RANGE, &quartic));
        Bins { tables, below, start: start as f32, lowest: lowest.max(start / RANGE) as f32 }
    }

    /// Makes bins of zeros.
    fn zero(lowest: f32) -> Self {
        let zero = || Tables([[0.0; 32]; COEFFICIENTS]);
        Bins { tables: zero(), below: zero(), start: lowest, lowest }
    }

    /// Whether there are arguments below the upper 32 bins.
    #[inline(always)]
    pub fn is_divided(&self) -> bool {
        self.lowest < self.start
    }

    /// Evaluates the quartic of r², with the given argument (scalar form of the kernels' arithmetic).
    fn value(&self, r2: f32, argument: f32) -> f32 {
        let tables = if r2 < self.start { &self.below } else { &self.tables };
        tables.0.iter().rev().fold(0.0, |sum, c| sum.mul_add(argument, c[bin(r2)]))
    }
}

/// A radial function of r² as coefficients for kernels.
#[derive(Clone, Debug)]
pub struct RadialTable(pub Bins);

impl RadialTable {
    /// Makes the table of `function(r)` for r up to `largest` nm.
    pub fn new(function: RadialFunction, largest: f64) -> Self {
        Self::from(CONTACT, function, largest)
    }

    /// Makes the table of a function that is finite at r = 0. The table has all lower bins.
    pub fn finite(function: RadialFunction, largest: f64) -> Self {
        Self::from(0.0, function, largest)
    }

    fn from(lowest: f64, function: RadialFunction, largest: f64) -> Self {
        let quartic = |[start, end]: [f64; 2]| quartic(|u| function((start + u).sqrt()), [0.0, end - start]);
        RadialTable(Bins::new(largest, lowest, quartic))
    }

    /// Makes a table of zeros.
    pub fn zero(lowest: f32) -> Self {
        RadialTable(Bins::zero(lowest))
    }

    /// Returns the tabulated value at r² (scalar form of the kernels' arithmetic).
    pub fn value(&self, r2: f32) -> f32 {
        let r2 = r2.max(self.0.lowest);
        self.0.value(r2, r2 - f32::from_bits(r2.to_bits() & !0x1f_ffff))
    }
}

/// A radial function of r² as coefficients of powers of r². Kernels need two operations fewer than for a
/// [`RadialTable`]. The rounding errors of the operations are larger, because the magnitudes of the five terms add up
/// to 70 times the value of 1/r³. The table is for forces: in an energy, rounding errors of many pairs at one distance
/// would add up.
#[derive(Clone, Debug)]
pub struct PowerTable(pub Bins);

impl PowerTable {
    /// Makes the table of `function(r)` for r up to `largest` nm.
    pub fn new(function: RadialFunction, largest: f64) -> Self {
        Self::from(CONTACT, function, largest)
    }

    /// Makes the table of a function that is finite at r = 0. The table has all lower bins.
    pub fn finite(function: RadialFunction, largest: f64) -> Self {
        Self::from(0.0, function, largest)
    }

    fn from(lowest: f64, function: RadialFunction, largest: f64) -> Self {
        PowerTable(Bins::new(largest, lowest, |bin| quartic(|r2| function(r2.sqrt()), bin)))
    }

    /// Makes a table of zeros.
    pub fn zero(lowest: f32) -> Self {
        PowerTable(Bins::zero(lowest))
    }

    /// Returns the tabulated value at r² (scalar form of the kernels' arithmetic).
    pub fn value(&self, r2: f32) -> f32 {
        let r2 = r2.max(self.0.lowest);
        self.0.value(r2, r2)
    }
}

/// Returns the bin that contains r².
fn bin(r2: f32) -> usize {
    (r2.to_bits() >> 21) as usize % 32
}

/// Returns the r² (nm²) at which the upper 32 bins of a function up to `largest` nm begin.
pub(super) fn start(largest: f64) -> f64 {
    let square = largest * largest;
    let octave = 2f64.powi(square.log2().floor() as i32);
    let width = octave / BINS_PER_OCTAVE as f64;
    (square / width).ceil() * width / RANGE
}

/// Returns the lowest r² (nm²) at which a function up to `largest` nm is tabulated.
fn lowest(largest: f64) -> f64 {
    CONTACT.max(start(largest) / RANGE)
}

/// Makes the tables of the 32 bins from `start` (nm²) on. `quartic` returns the coefficients of the bin from one r² to
/// another (nm²).
fn tables(start: f64, quartic: impl Fn([f64; 2]) -> [f32; COEFFICIENTS]) -> Tables {
    let mut tables = Tables([[0.0; 32]; COEFFICIENTS]);
    let mut next = start;
    for _ in 0..tables.0[0].len() {
        let width = 2f64.powi(next.log2().floor() as i32) / BINS_PER_OCTAVE as f64;
        for (power, coefficient) in quartic([next, next + width]).into_iter().enumerate() {
            tables.0[power][bin(next as f32)] = coefficient;
        }
        next += width;
    }
    tables
}

/// Returns the lowest and the highest r² (nm²) that kernels evaluate if the largest distance is `largest` nm.
pub(super) fn range(largest: f64) -> [f64; 2] {
    [lowest(largest), largest * largest]
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

    /// Tests that the error from contact to the cutoff is within the tolerance for every cutoff.
    #[test]
    fn coulomb_force_is_tabulated_to_its_tolerance() {
        let force = |r: f64| r.powi(-3);
        for cutoff in [0.6, 0.9, 1.0, 1.0001, 1.2, 1.4, 1.5, 2.5, 4.5, 12.0] {
            let (offsets, powers) = (RadialTable::new(&force, cutoff), PowerTable::new(&force, cutoff));
            let mut worst = [0f64; 2];
            for k in 0..50_000 {
                let r = CONTACT.sqrt() * (cutoff / CONTACT.sqrt()).powf(f64::from(k) / 50_000.0);
                let r2 = (r * r) as f32;
                let exact = force(f64::from(r2).sqrt());
                for (worst, value) in worst.iter_mut().zip([offsets.value(r2), powers.value(r2)]) {
                    *worst = worst.max((f64::from(value) / exact - 1.0).abs());
                }
            }
            assert!(worst.iter().all(|worst| *worst < TOLERANCE), "{cutoff}: {worst:?}");
        }
    }

    /// Tests functions of excluded pairs down to a twentieth of the distance of an extra point from its atom.
    #[test]
    fn finite_functions_are_tabulated_to_the_origin() {
        let function = |r: f64| (-4.0 * r * r).exp();
        for cutoff in [0.9, 1.2, 4.0] {
            let (offsets, powers) = (RadialTable::finite(&function, cutoff), PowerTable::finite(&function, cutoff));
            for k in 0..10_000 {
                let r2 = ((0.02 + (cutoff - 0.02) * f64::from(k) / 10_000.0) as f32).powi(2);
                for value in [offsets.value(r2), powers.value(r2)] {
                    assert!((f64::from(value) - function(f64::from(r2).sqrt())).abs() < 1e-6, "{cutoff} {r2} {value}");
                }
            }
        }
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
