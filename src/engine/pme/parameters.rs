//! Choice of α, grid and B-spline order of PME, from a grid spacing or from a target force error.

use rayon::prelude::*;

use super::mesh::MeshError;
use super::{ChargeStructure, ORDERS};
use crate::cell::PeriodicCell;
use crate::error::Problem;
use crate::system::PmeParameters;
use crate::term::{ReactionField, Special, reaction_field};
use crate::units::COULOMB;
use crate::vec3::Vec3;

/// Value of erfc(αr) at the cutoff, which determines α if only a grid spacing is given. The value is the ratio of the
/// direct-space potential erfc(αr)/r to 1/r at the cutoff, like `ewald-rtol` of GROMACS.
pub const SPACING_TOLERANCE: f64 = 1e-5;

/// Value of g(βr) at the cutoff (see [`beta_for_tolerance`]), which determines β of LJ-PME if only a grid spacing is
/// given. The value is the ratio of the direct-space potential to r⁻⁶ at the cutoff. The value may be larger than
/// [`SPACING_TOLERANCE`], because the dispersion attraction is weak at the cutoff. 10⁻³ is the default of
/// `ewald-rtol-lj` in GROMACS.
pub const LJ_SPACING_TOLERANCE: f64 = 1e-3;

/// Maximum number of grid points (8 GiB in single precision). Larger grids are an error, because they are probably a
/// mistake of the user.
const MAX_POINTS: usize = 1 << 31;

/// Returns the splitting parameter α (1/nm) with erfc(α · cutoff) = `tolerance`; `cutoff` is in nm.
pub fn alpha_for_tolerance(cutoff: f64, tolerance: f64) -> f64 {
    // erfc(x) decreases monotonically from 1 at x = 0, and at x = 27 it is below the smallest f64
    bisect(0.0, 27.0, |x| Special::erfc(x) > tolerance) / cutoff
}

/// Returns the splitting parameter β (1/nm) of LJ-PME with g(β · cutoff) = `tolerance`, where g(x) = (1 + x² + x⁴/2)
/// exp(−x²); `cutoff` is in nm.
pub fn beta_for_tolerance(cutoff: f64, tolerance: f64) -> f64 {
    let left = |x: f64| (1.0 + x * x + 0.5 * x.powi(4)) * (-x * x).exp();
    bisect(0.0, 27.0, |x| left(x) > tolerance) / cutoff
}

/// Returns the largest number between `low` and `high` for which `holds` is true, by bisection. `holds` must be true
/// below the returned number and false above the returned number.
fn bisect(mut low: f64, mut high: f64, holds: impl Fn(f64) -> bool) -> f64 {
    // each bisection determines one of the 53 bits of an f64
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if holds(middle) { low = middle } else { high = middle }
    }
    low
}

/// Returns the smallest allowed number of grid points along an axis that is at least `minimum`. An allowed number is
/// even and has only the prime factors 2, 3, 5 and 7, with 7 at most once and only together with 5. A transform of 70
/// points takes as long as a transform of 72 points, and a transform of 98 points takes as long as a transform of 100
/// points; 72 and 100 are the next larger sizes. Among the allowed sizes the measured cost does not decrease with size,
/// apart from measurement noise. The smallest allowed size is therefore the cheapest. A size with a factor of 11 or 13
/// costs more than the next larger allowed size.
pub fn good_size(minimum: usize) -> usize {
    let smooth = |mut n: usize| {
        for prime in [2, 3, 5] {
            while n.is_multiple_of(prime) {
                n /= prime;
            }
        }
        n == 1
    };
    let good = |n: usize| smooth(n) || n.is_multiple_of(7) && !n.is_multiple_of(5) && smooth(n / 7);
    let mut size = minimum.max(2).next_multiple_of(2);
    while !good(size) {
        size += 2;
    }
    size
}

/// Returns an error for parameters with which the Ewald sums are undefined or the grid does not fit into memory.
pub fn check(parameters: &PmeParameters) -> Result<(), Problem> {
    let PmeParameters { alpha, grid, order } = *parameters;
    check_order(order)?;
    if !(alpha.is_finite() && alpha > 0.0) {
        return Err(Problem::new(format!("PME needs a positive α, not {alpha}")));
    }
    let points = grid.iter().map(|&n| n as f64).product::<f64>();
    if grid.iter().any(|&n| n < order) || points > MAX_POINTS as f64 {
        return Err(Problem::new(format!("a PME grid of {grid:?} points is too small or too large for order {order}"))
            .help(format!("use at least {order} points in each direction and at most {MAX_POINTS} in all")));
    }
    Ok(())
}

fn check_order(order: usize) -> Result<(), Problem> {
    if ORDERS.contains(&order) {
        return Ok(());
    }
    Err(Problem::new(format!("PME order {order} is not supported")).help("use order 4, 5, 6 or 8"))
}

/// Returns the PME parameters for a grid whose points are at most `spacing` nm apart.
pub fn parameters_for_spacing(
    cell: &PeriodicCell,
    cutoff: f64,
    spacing: f64,
    order: usize,
) -> Result<PmeParameters, Problem> {
    check_order(order)?;
    let grid = grid_for_spacing(cell, spacing, order)?;
    Ok(PmeParameters { alpha: alpha_for_tolerance(cutoff, SPACING_TOLERANCE), grid, order })
}

/// Returns the LJ-PME parameters for a grid whose points are at most `spacing` nm apart.
pub fn lj_parameters_for_spacing(
    cell: &PeriodicCell,
    cutoff: f64,
    spacing: f64,
    order: usize,
) -> Result<PmeParameters, Problem> {
    let alpha = beta_for_tolerance(cutoff, LJ_SPACING_TOLERANCE);
    Ok(PmeParameters { alpha, ..parameters_for_spacing(cell, cutoff, spacing, order)? })
}

fn grid_for_spacing(cell: &PeriodicCell, spacing: f64, order: usize) -> Result<[usize; 3], Problem> {
    let wanted = cell.rows().map(|row| (row.norm() / spacing).ceil());
    let too_fine = || {
        Problem::new(format!("a PME grid with {spacing} nm between points is too fine for this cell"))
            .help("set a larger spacing or force error")
    };
    // the condition is the negation of the valid case, so that NaN is also an error
    if !(spacing > 0.0 && wanted.iter().product::<f64>() <= MAX_POINTS as f64) {
        return Err(too_fine());
    }
    Ok(wanted.map(|points| good_size((points as usize).max(order))))
}

/// Spline orders that the automatic choice of PME parameters considers.
pub(super) const CHOICES: [usize; 3] = [4, 5, 6];
/// Clock cycles per atom for spreading charges and interpolating forces, for each spline order, measured on Zen 4 in
/// single precision. The SIMD vectors of spline weights hold four floats up to order 4, and eight floats from order 5.
const CYCLES_PER_ATOM: [(usize, f64); 4] = [(4, 107.0), (5, 250.0), (6, 360.0), (8, 640.0)];
/// Clock cycles per grid point for the two Fourier transforms and the influence function. The first number applies to
/// grids that fit into a cache of 1 MiB. The second number is added for each doubling of the number of points beyond
/// [`CACHED_POINTS`]. The values were measured on grids of 40³ to 192³ points.
const CYCLES_PER_POINT: [f64; 2] = [7.0, 2.0];
/// Base-2 logarithm of the largest number of grid points that fits into the cache.
const CACHED_POINTS: f64 = 17.0;

/// Returns the estimated clock cycles of one PME evaluation, summed over threads. The function is the cost model for
/// the choice of order and grid.
pub fn cycles(atoms: f64, parameters: &PmeParameters) -> f64 {
    let points = parameters.grid.iter().product::<usize>() as f64;
    let cycles_per_point = CYCLES_PER_POINT[0] + CYCLES_PER_POINT[1] * (points.log2() - CACHED_POINTS).max(0.0);
    let per_atom = CYCLES_PER_ATOM.iter().find(|(order, _)| *order == parameters.order);
    atoms * per_atom.expect("the order has been checked against ORDERS").1 + points * cycles_per_point
}

/// Expected RMS force errors in kJ/mol/nm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ErrorEstimate {
    /// direct space: truncation at the cutoff
    pub direct: f64,
    /// reciprocal space: interpolation, aliasing, truncation, and the self-force of a charge on the grid
    pub reciprocal: f64,
}

impl ErrorEstimate {
    /// Returns the total error √(direct² + reciprocal²), because the two errors are independent.
    pub fn total(&self) -> f64 {
        self.direct.hypot(self.reciprocal)
    }
}

/// Model of the force error of PME. The error depends on the cell, the cutoff, the charges and their correlations.
pub struct ErrorModel {
    pub(super) cell: PeriodicCell,
    cutoff: f64,
    atoms: f64,
    /// sum of the squares of the charges, Σ q², e²
    second: f64,
    /// sum of the fourth powers of the charges, Σ q⁴, e⁴
    fourth: f64,
    structure: ChargeStructure,
}

impl ErrorModel {
    /// Makes the error model for a direct-space cutoff in nm.
    pub fn new(cell: &PeriodicCell, cutoff: f64, charges: &[f64], structure: ChargeStructure) -> Self {
        let sum = |power| charges.iter().map(|q| q.powi(power)).sum::<f64>();
        Self { cell: *cell, cutoff, atoms: charges.len() as f64, second: sum(2), fourth: sum(4), structure }
    }

    /// Returns the expected RMS force errors with these parameters.
    pub fn estimate(&self, parameters: &PmeParameters) -> ErrorEstimate {
        let rows = self.cell.rows();
        let spacing = [0, 1, 2].map(|d| rows[d].norm() / parameters.grid[d] as f64);
        ErrorEstimate {
            direct: self.direct(parameters.alpha, self.cutoff),
            reciprocal: self.reciprocal(parameters.alpha, spacing, parameters.order),
        }
    }

    /// Returns the direct-space error, kJ/mol/nm. For uncorrelated charges the error is approximately 2 C Σq² (N V
    /// r_c)^{−1/2} exp(−α²r_c²), with Coulomb's constant C, N charges q, volume V and cutoff r_c (Kolafa & Perram 1992,
    /// doi:10.1080/08927029208049126). In this function the integral over the neglected forces is evaluated exactly.
    pub(super) fn direct(&self, alpha: f64, cutoff: f64) -> f64 {
        let square = self.structure.neglected_force_square(alpha, cutoff);
        COULOMB * self.second * (square / (self.atoms.max(1.0) * self.cell.volume())).sqrt()
    }

    pub(super) fn reciprocal(&self, alpha: f64, spacing: [f64; 3], order: usize) -> f64 {
        let mesh = MeshError::new(alpha, spacing, order, &self.structure);
        let pairs = self.second * self.second / self.cell.volume() * mesh.pair;
        ((pairs + self.fourth * mesh.own) / self.atoms.max(1.0)).sqrt()
    }

    /// Returns the cheapest of the three sets of PME parameters from [`ErrorModel::choices`].
    pub fn parameters(&self, force_error: f64) -> Result<PmeParameters, Problem> {
        Ok(self.cheapest(self.choices(force_error)?))
    }

    /// Returns the choice that takes the fewest [`cycles`].
    pub fn cheapest(&self, choices: [PmeParameters; 3]) -> PmeParameters {
        let [first, others @ ..] = choices;
        let cost = |parameters: &PmeParameters| cycles(self.atoms, parameters);
        others.into_iter().fold(first, |best, other| if cost(&other) < cost(&best) { other } else { best })
    }

    /// Returns PME parameters for each of the orders 4, 5 and 6. The grid is the coarsest grid whose expected RMS force
    /// error is at most `force_error` (kJ/mol/nm). The allowed error of the direct sum determines α, and the allowed
    /// error of the reciprocal sum determines the grid ([`allowed`]).
    pub fn choices(&self, force_error: f64) -> Result<[PmeParameters; 3], Problem> {
        let ErrorEstimate { direct: allowed_direct, reciprocal: allowed_reciprocal } = allowed(force_error);
        // range of α·cutoff; at the lower end the Gaussian is as wide as the cutoff, and at the upper end the
        // neglected forces beyond the cutoff are smaller than rounding errors of f64
        let alpha =
            bisect_coarse(1.0, 6.0, |x| self.direct(x / self.cutoff, self.cutoff) > allowed_direct) / self.cutoff;
        if !(allowed_direct > 0.0 && self.direct(alpha, self.cutoff) <= 1.1 * allowed_direct) {
            return Err(Problem::new(format!("a PME force error of {force_error:e} kJ/mol/nm cannot be reached"))
                .help(
                    "set a larger forces.pme.force_error: it is relative to the RMS electrostatic force, such as 5e-4",
                ));
        }
        let choice = |order| {
            let fits = |spacing: f64| self.reciprocal(alpha, [spacing.exp() / alpha; 3], order) <= allowed_reciprocal;
            // the error grows with α·spacing; below 0.02 rounding dominates, and above 2 the grid represents no wave
            // vector
            let spacing = bisect_coarse(0.02f64.ln(), 2f64.ln(), fits).exp() / alpha;
            Ok(PmeParameters { alpha, grid: grid_for_spacing(&self.cell, spacing, order)?, order })
        };
        let [four, five, six] = CHOICES.map(choice);
        Ok([four?, five?, six?])
    }

    /// Returns the expected errors for a grid spacing of `spacing` nm, with α as in [`parameters_for_spacing`].
    pub fn named_by_spacing(&self, spacing: f64, order: usize) -> ErrorEstimate {
        let alpha = alpha_for_tolerance(self.cutoff, SPACING_TOLERANCE);
        let reciprocal = self.reciprocal(alpha, [spacing; 3], order);
        ErrorEstimate { direct: self.direct(alpha, self.cutoff), reciprocal }
    }
}

/// Returns the allowed errors of the direct and the reciprocal sum for a total force error (kJ/mol/nm). The allowed
/// error of the direct sum is the fraction [`DIRECT_FRACTION`] of the total.
pub fn allowed(force_error: f64) -> ErrorEstimate {
    let reciprocal = force_error * (1.0 - DIRECT_FRACTION * DIRECT_FRACTION).sqrt();
    ErrorEstimate { direct: force_error * DIRECT_FRACTION, reciprocal }
}

/// Fraction of the allowed error for the direct sum. The mesh error acts like a small change of a smooth potential, so
/// that forces with a mesh error still nearly conserve energy. The error of the direct sum comes from the truncation of
/// the force at the cutoff. Pairs that the pair lists miss heat the system in proportion to the truncated force. With
/// pair lists without lookahead, DHFR with a cutoff of 0.9 nm and a time step of 2 fs drifted by 0.049 kT/ns per degree
/// of freedom if the direct error was 0.096 kJ/mol/nm, and by 0.020 kT/ns per degree of freedom if the direct error was
/// 0.041 kJ/mol/nm. The fraction of a twentieth limits the error of the direct sum to 0.024 kJ/mol/nm if the total
/// error has its default value, and makes the PME grid only a few per cent finer.
const DIRECT_FRACTION: f64 = 0.05;

/// Returns the same number as [`bisect`] with a precision of 10⁻³, which suffices because the grid sizes are rounded by
/// more than 10⁻³.
pub(super) fn bisect_coarse(mut low: f64, mut high: f64, holds: impl Fn(f64) -> bool) -> f64 {
    while high - low > 1e-3 {
        let middle = 0.5 * (low + high);
        if holds(middle) { low = middle } else { high = middle }
    }
    low
}

/// Number of atoms in the sample of [`sample_force_rms`]. The RMS of 3 · 512 components is accurate to a few per cent.
const SAMPLE: usize = 512;
/// Fractional part of the golden ratio. The fractional parts of the multiples of the golden ratio fill the unit
/// interval evenly and do not correlate with the number of atoms in a molecule.
const GOLDEN_FRACTION: f64 = 0.618_033_988_749_894_9;

/// Returns the RMS electrostatic force (kJ/mol/nm) on a sample of atoms that is spread evenly over the system. The
/// forces are computed with a reaction field with conducting surroundings. The absolute force error is the relative
/// force error times this RMS force. The same system always has the same sample.
pub fn sample_force_rms(
    cell: &PeriodicCell,
    positions: &[Vec3],
    charges: &[f64],
    excluded: impl Fn(usize, usize) -> bool + Sync,
    cutoff: f64,
) -> f64 {
    let field = ReactionField::new(f64::INFINITY, cutoff);
    let atoms = positions.len();
    let place = |k: usize| ((k as f64 * GOLDEN_FRACTION).fract() * atoms as f64) as usize;
    let sample: Vec<usize> = if atoms <= SAMPLE { (0..atoms).collect() } else { (0..SAMPLE).map(place).collect() };
    let force = |&i: &usize| {
        let mut force = Vec3::ZERO;
        for j in 0..atoms {
            let d = cell.image_within_cutoff(positions[i] - positions[j]);
            let r2 = d.norm_squared();
            if r2 < cutoff * cutoff && r2 > 0.0 && i != j && !excluded(i, j) {
                force += d * reaction_field(COULOMB * charges[i] * charges[j], r2, 1.0 / r2.sqrt(), field).0;
            }
        }
        force.norm_squared()
    };
    let squares: Vec<f64> = sample.par_iter().map(force).collect();
    (squares.iter().sum::<f64>() / squares.len().max(1) as f64).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alpha_solves_its_equation() {
        let alpha = alpha_for_tolerance(0.9, 1e-5);
        let left: f64 = Special::erfc(alpha * 0.9);
        assert!((left / 1e-5 - 1.0).abs() < 1e-12);
        // GROMACS prints a width 1/α of 0.288146 nm for a cutoff of 0.9 nm and a tolerance of 1e-5
        assert!((1.0 / alpha - 0.288146).abs() < 1e-6, "{}", 1.0 / alpha);
    }

    #[test]
    fn sizes_are_smooth_and_even() {
        assert_eq!([1, 11, 13, 22, 33, 61, 64, 69, 83, 97].map(good_size), [2, 12, 14, 24, 36, 64, 64, 72, 84, 100]);
    }

    #[test]
    fn impossible_requests_are_refused() {
        let cell = PeriodicCell::orthorhombic([3.0; 3]);
        for spacing in [0.0, -1.0, f64::NAN, 1e-9, f64::INFINITY] {
            let outcome = parameters_for_spacing(&cell, 0.9, spacing, 4);
            assert_eq!(outcome.is_ok(), spacing == f64::INFINITY, "{spacing}");
        }
        assert!(parameters_for_spacing(&cell, 0.9, 0.12, 7).is_err());
        let model = ErrorModel::new(&cell, 0.9, &[1.0, -1.0], ChargeStructure::uncorrelated());
        assert!(model.parameters(0.0).is_err() && model.parameters(f64::NAN).is_err());
    }

    #[test]
    fn tighter_targets_cost_finer_grids() {
        let cell = PeriodicCell::orthorhombic([5.0; 3]);
        let charges: Vec<f64> = (0..12_000).map(|i| if i % 3 == 0 { -0.8 } else { 0.4 }).collect();
        let model = ErrorModel::new(&cell, 0.9, &charges, ChargeStructure::uncorrelated());
        let choose = |error| model.parameters(error).unwrap();
        let (loose, tight) = (choose(1.0), choose(0.01));
        assert!(tight.alpha > loose.alpha && tight.grid[0] > loose.grid[0], "{loose:?} {tight:?}");
        for (parameters, target) in [(loose, 1.0), (tight, 0.01)] {
            // the tolerance allows for the precision of α, which is 10⁻³
            assert!(model.estimate(&parameters).total() <= target * 1.02);
        }
    }

    #[test]
    fn direct_error_is_that_of_kolafa_and_perram() {
        let cell = PeriodicCell::orthorhombic([5.0; 3]);
        let charges = vec![0.5; 1000];
        let model = ErrorModel::new(&cell, 0.9, &charges, ChargeStructure::uncorrelated());
        let published =
            |alpha: f64| 2.0 * COULOMB * 250.0 / (1000.0 * 125.0 * 0.9f64).sqrt() * (-(alpha * 0.9f64).powi(2)).exp();
        // the formula of Kolafa and Perram is the leading term of the direct-space error in an expansion in 1/(αr_c)²
        for alpha in [3.0, 4.0] {
            assert!((model.direct(alpha, 0.9) / published(alpha) - 1.0).abs() < 0.1, "{alpha}");
        }
    }

    #[test]
    fn no_charges_need_no_grid() {
        let cell = PeriodicCell::orthorhombic([5.0; 3]);
        let model = ErrorModel::new(&cell, 0.9, &[0.0; 10], ChargeStructure::uncorrelated());
        assert!(model.parameters(1.0).unwrap().grid[0] <= 12);
    }
}
