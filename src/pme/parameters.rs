//! α, grid and order: from a grid spacing, or from the force error that is wanted.

use std::f64::consts::{PI, TAU};

use rayon::prelude::*;

use super::ORDERS;
use crate::cell::PeriodicCell;
use crate::error::Problem;
use crate::system::PmeParameters;
use crate::term::{ReactionField, Special, reaction_field};
use crate::units::COULOMB;
use crate::vec3::Vec3;

/// Where only a spacing is given, α makes the direct-space potential erfc(αr)/r this small, relative to 1/r, at the cutoff.
pub const SPACING_TOLERANCE: f64 = 1e-5;

/// More grid points than this (8 GiB in single precision) are taken for a mistake.
const MAX_POINTS: usize = 1 << 31;

/// α (1/nm) with erfc(α · cutoff) = `tolerance`, cutoff in nm.
pub fn alpha_for_tolerance(cutoff: f64, tolerance: f64) -> f64 {
    // erfc falls monotonically from 1 to below the smallest number at 27
    bisect(0.0, 27.0, |x| Special::erfc(x) > tolerance) / cutoff
}

/// The point between `low` and `high` up to which `holds` is true.
fn bisect(mut low: f64, mut high: f64, holds: impl Fn(f64) -> bool) -> f64 {
    // each halving gives one bit of the 53 of an f64
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if holds(middle) { low = middle } else { high = middle }
    }
    low
}

/// The smallest even number of grid points ≥ `minimum` whose only prime factors are 2, 3, 5 and 7.
pub fn good_size(minimum: usize) -> usize {
    let smooth = |mut n: usize| {
        for prime in [2, 3, 5, 7] {
            while n % prime == 0 {
                n /= prime;
            }
        }
        n == 1
    };
    let mut size = minimum.max(2).next_multiple_of(2);
    while !smooth(size) {
        size += 2;
    }
    size
}

/// Refuses parameters with which the sums are not defined or cannot be held in memory.
pub fn check(parameters: &PmeParameters) -> Result<(), Problem> {
    let PmeParameters { alpha, grid, order } = *parameters;
    check_order(order)?;
    if !(alpha.is_finite() && alpha > 0.0) {
        return Err(Problem::new(format!("PME needs a positive α, not {alpha}")));
    }
    let points = grid.iter().map(|&n| n as f64).product::<f64>();
    if grid.iter().any(|&n| n < order) || points > MAX_POINTS as f64 {
        return Err(Problem::new(format!("a PME grid of {grid:?} points does not work with order {order}"))
            .help(format!("use at least {order} points each way and {MAX_POINTS} in all")));
    }
    Ok(())
}

fn check_order(order: usize) -> Result<(), Problem> {
    if ORDERS.contains(&order) {
        return Ok(());
    }
    Err(Problem::new(format!("PME order {order} is not offered")).help("use order 4, 5, 6 or 8"))
}

/// Parameters for grid points at most `spacing` nm apart.
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

fn grid_for_spacing(cell: &PeriodicCell, spacing: f64, order: usize) -> Result<[usize; 3], Problem> {
    let wanted = cell.rows().map(|row| (row.norm() / spacing).ceil());
    let too_fine = || {
        Problem::new(format!("a PME grid with {spacing} nm between points is too fine for this cell"))
            .help("ask for a larger spacing or force error")
    };
    // also refuses what is not a number
    if !(spacing > 0.0 && wanted.iter().product::<f64>() <= MAX_POINTS as f64) {
        return Err(too_fine());
    }
    Ok(wanted.map(|points| good_size((points as usize).max(order))))
}

/// Expected RMS force errors in kJ/mol/nm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ErrorEstimate {
    /// direct space: what the cutoff leaves out
    pub direct: f64,
    /// reciprocal space: interpolation, aliasing, truncation, and the self-force of a charge on the grid
    pub reciprocal: f64,
}

impl ErrorEstimate {
    /// Both together; they are independent.
    pub fn total(&self) -> f64 {
        self.direct.hypot(self.reciprocal)
    }
}

/// Sums over the charges that the estimates need.
struct Moments {
    atoms: f64,
    /// Σ q²
    second: f64,
    /// Σ q⁴
    fourth: f64,
}

impl Moments {
    fn new(charges: &[f64]) -> Self {
        let sum = |power| charges.iter().map(|q| q.powi(power)).sum::<f64>();
        Self { atoms: charges.len() as f64, second: sum(2), fourth: sum(4) }
    }

    /// Kolafa & Perram, Mol. Simul. 9, 351 (1992): 2 C Σq² (N V r_c)^{−1/2} exp(−α²r_c²).
    fn direct_error(&self, volume: f64, cutoff: f64, alpha: f64) -> f64 {
        let x = alpha * cutoff;
        self.direct_prefactor(volume, cutoff) * (-x * x).exp()
    }

    fn direct_prefactor(&self, volume: f64, cutoff: f64) -> f64 {
        2.0 * COULOMB * self.second / (self.atoms * volume * cutoff).sqrt()
    }

    fn reciprocal_error(&self, volume: f64, mesh: &MeshError) -> f64 {
        let pairs = self.second * self.second / volume * mesh.pair;
        ((pairs + self.fourth * mesh.own) / self.atoms).sqrt()
    }
}

/// Expected RMS force error of PME with these parameters, for charges without correlations.
pub fn estimate_error(parameters: &PmeParameters, cell: &PeriodicCell, cutoff: f64, charges: &[f64]) -> ErrorEstimate {
    let moments = Moments::new(charges);
    let rows = cell.rows();
    let spacing = [0, 1, 2].map(|d| rows[d].norm() / parameters.grid[d] as f64);
    let mesh = MeshError::new(parameters.alpha, spacing, parameters.order);
    ErrorEstimate {
        direct: moments.direct_error(cell.volume(), cutoff, parameters.alpha),
        reciprocal: moments.reciprocal_error(cell.volume(), &mesh),
    }
}

/// Mean squared errors of the mesh force, per squared charges.
///
/// For charges at r₁ and r₂ the mesh gives the potential Σ_m Ĝ(m) Σ_{n,n′} (u_n u_n′/S²) e^{2πi[(m+nK)·r₂ − (m+n′K)·r₁]} with Ĝ
/// the Ewald factor, u_n the transform of the spline at the n-th alias of m, sinc(m/K + n) to the power of the order,
/// and S = Σ u_n (the interpolation's denominator); only n = n′ = 0 with weight 1 is right. The mean square over both
/// positions of the force error is a sum over m of products of one-dimensional sums, as in Hockney & Eastwood
/// and in Wang, Dohm & Holm; it is taken here over a box of [`BOX`] points, since per volume it only depends on α and the spacings.
/// The self-force, its n − n′ = ±1 part, is kept apart.
struct MeshError {
    /// pairs: (kJ/mol/nm)² nm³/e⁴
    pair: f64,
    /// self-force: (kJ/mol/nm)²/e⁴
    own: f64,
}

/// Points of the box, odd so that no wave vector lies on the edge of the zone, where odd orders have S = 0. With α·spacing ≥ 0.1
/// the Gaussian spans at least one wave vector and the sums stand for integrals to a few per cent.
const BOX: i32 = 25;
/// Aliases taken into account on each side; the next one is smaller by (3/4)^(2·order).
const ALIASES: i32 = 3;

/// One-dimensional sums at one wave number.
#[derive(Clone, Copy)]
struct Line {
    /// m, 1/nm
    wave: f64,
    /// Σ u_n²/S²
    square: f64,
    /// Σ u_n² (m + nK)²/S², 1/nm²
    slope: f64,
    /// u_0²/S²
    own: f64,
    /// Σ u_n u_{n−1}/S²
    neighbour: f64,
}

impl Line {
    fn new(k: i32, spacing: f64, order: usize) -> Self {
        let length = f64::from(BOX) * spacing;
        let transform = |n: i32| {
            let x = PI * (f64::from(k) / f64::from(BOX) + f64::from(n));
            if x == 0.0 { 1.0 } else { (x.sin() / x).powi(order as i32) }
        };
        let aliases = -ALIASES..=ALIASES;
        let scale = aliases.clone().map(transform).sum::<f64>().powi(-2);
        let wave = |n: i32| f64::from(k + n * BOX) / length;
        Self {
            wave: wave(0),
            square: scale * aliases.clone().map(|n| transform(n).powi(2)).sum::<f64>(),
            slope: scale * aliases.clone().map(|n| (transform(n) * wave(n)).powi(2)).sum::<f64>(),
            own: scale * transform(0).powi(2),
            neighbour: scale * aliases.map(|n| transform(n) * transform(n - 1)).sum::<f64>(),
        }
    }
}

impl MeshError {
    fn new(alpha: f64, spacing: [f64; 3], order: usize) -> Self {
        let lines = spacing.map(|h| (0..=BOX).map(|k| Line::new(k, h, order)).collect::<Vec<_>>());
        let volume: f64 = spacing.iter().map(|h| f64::from(BOX) * h).product();
        let (mut pair, mut own) = (0.0, [0.0; 3]);
        for (i, a) in lines[0].iter().enumerate() {
            for (j, b) in lines[1].iter().enumerate() {
                for (k, c) in lines[2].iter().enumerate() {
                    // ±k of each axis are alike
                    let copies = [i, j, k].iter().map(|&k| if k == 0 { 1.0 } else { 2.0 }).product::<f64>();
                    let squared = a.wave * a.wave + b.wave * b.wave + c.wave * c.wave;
                    if squared == 0.0 {
                        continue;
                    }
                    let green = COULOMB / (PI * volume) * (-PI * PI * squared / (alpha * alpha)).exp() / squared;
                    let inside = [i, j, k].iter().all(|&k| 2 * k < BOX as usize);
                    let error = if inside { Self::inside(a, b, c, squared) } else { squared };
                    pair += copies * green * green * TAU * TAU * error;
                    if inside {
                        own[0] += copies * green * a.neighbour * b.square * c.square;
                        own[1] += copies * green * a.square * b.neighbour * c.square;
                        own[2] += copies * green * a.square * b.square * c.neighbour;
                    }
                }
            }
        }
        // the self-force along an axis is amplitude · sin(2π place/spacing): half the square of the amplitude
        let own = own.iter().zip(spacing).map(|(sum, h)| 0.5 * (TAU / h * sum).powi(2)).sum();
        Self { pair: pair * volume, own }
    }

    /// Squared error in units of (2π Ĝ)² of a wave vector that the grid represents.
    fn inside(a: &Line, b: &Line, c: &Line, squared: f64) -> f64 {
        let product = a.square * b.square * c.square;
        let slopes = a.slope * b.square * c.square + a.square * b.slope * c.square + a.square * b.square * c.slope;
        // a difference of nearly equal numbers when the grid is fine
        (slopes * product - 2.0 * a.own * b.own * c.own * squared + squared).max(0.0)
    }
}

/// Orders among which [`parameters_for_error`] chooses.
const CHOICES: [usize; 3] = [4, 5, 6];
/// Clock cycles per atom and spline point, spreading and gathering together, measured on Zen 4 with order 4 in single precision.
const CYCLES_PER_WEIGHT: f64 = 1.8;
/// Other orders do not fill the vector registers evenly.
const UNEVEN_ORDER: f64 = 1.3;
/// Clock cycles per grid point for the influence function, and per point and power of two for both transforms.
const CYCLES_PER_POINT: [f64; 2] = [5.0, 1.2];

/// Clock cycles of one PME evaluation, the model by which order and grid are weighed against each other.
fn cost(atoms: f64, parameters: &PmeParameters) -> f64 {
    let points = parameters.grid.iter().product::<usize>() as f64;
    let uneven = if parameters.order == 4 { 1.0 } else { UNEVEN_ORDER };
    atoms * CYCLES_PER_WEIGHT * uneven * (parameters.order as f64).powi(3)
        + points * (CYCLES_PER_POINT[0] + CYCLES_PER_POINT[1] * points.log2())
}

/// The cheapest parameters whose expected RMS force error is at most `force_error` (kJ/mol/nm): α from the direct part, grid
/// and order from the reciprocal part, each allowed half of the squared error.
pub fn parameters_for_error(
    cell: &PeriodicCell,
    cutoff: f64,
    charges: &[f64],
    force_error: f64,
) -> Result<PmeParameters, Problem> {
    let moments = Moments::new(charges);
    let (volume, share) = (cell.volume(), force_error * std::f64::consts::FRAC_1_SQRT_2);
    // without charges, or with a very loose target, any splitting will do
    let excess = (moments.direct_prefactor(volume, cutoff) / share).max(std::f64::consts::E);
    let alpha = excess.ln().sqrt() / cutoff;
    if !(alpha.is_finite() && share > 0.0) {
        return Err(Problem::new(format!("a PME force error of {force_error} kJ/mol/nm cannot be reached"))
            .help("ask for a positive error, relative to the RMS electrostatic force, such as 5e-4"));
    }
    let candidate = |order| {
        let fits = |log_spacing: f64| {
            let mesh = MeshError::new(alpha, [log_spacing.exp() / alpha; 3], order);
            moments.reciprocal_error(volume, &mesh) <= share
        };
        // the error grows with α·spacing; below 0.02 rounding takes over, above 2 no wave vector is left
        let spacing = bisect_coarse(0.02f64.ln(), 2f64.ln(), fits).exp() / alpha;
        Ok(PmeParameters { alpha, grid: grid_for_spacing(cell, spacing, order)?, order })
    };
    let candidates = CHOICES.into_iter().map(candidate).collect::<Result<Vec<_>, Problem>>()?;
    let cheapest = candidates.into_iter().min_by(|a, b| cost(moments.atoms, a).total_cmp(&cost(moments.atoms, b)));
    Ok(cheapest.expect("there are orders to choose from"))
}

/// As [`bisect`], to 10⁻³: grids are rounded far more coarsely.
fn bisect_coarse(mut low: f64, mut high: f64, holds: impl Fn(f64) -> bool) -> f64 {
    while high - low > 1e-3 {
        let middle = 0.5 * (low + high);
        if holds(middle) { low = middle } else { high = middle }
    }
    low
}

/// Atoms on which [`sample_force_rms`] looks: the RMS of 3 · 512 components is known to some per cent.
const SAMPLE: usize = 512;
/// The golden ratio's fraction: multiples of it fill the unit interval evenly and fall into step with no molecule.
const GOLDEN_FRACTION: f64 = 0.618_033_988_749_894_9;

/// RMS electrostatic force (kJ/mol/nm) on a sample of atoms, spread evenly over the system, within a conducting
/// reaction field: the scale that turns a relative force error into an absolute one. Deterministic.
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
            let d = cell.minimum_image(positions[i] - positions[j]);
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
        // the value GROMACS prints for 0.9 nm and 1e-5 (width 0.288146 nm)
        assert!((1.0 / alpha - 0.288146).abs() < 1e-6, "{}", 1.0 / alpha);
    }

    #[test]
    fn sizes_are_smooth_and_even() {
        assert_eq!([1, 11, 13, 22, 33, 61, 64, 97].map(good_size), [2, 12, 14, 24, 36, 64, 64, 98]);
    }

    #[test]
    fn impossible_requests_are_refused() {
        let cell = PeriodicCell::orthorhombic([3.0; 3]);
        for spacing in [0.0, -1.0, f64::NAN, 1e-9, f64::INFINITY] {
            let outcome = parameters_for_spacing(&cell, 0.9, spacing, 4);
            assert_eq!(outcome.is_ok(), spacing == f64::INFINITY, "{spacing}");
        }
        assert!(parameters_for_spacing(&cell, 0.9, 0.12, 7).is_err());
        assert!(parameters_for_error(&cell, 0.9, &[1.0, -1.0], 0.0).is_err());
        assert!(parameters_for_error(&cell, 0.9, &[1.0, -1.0], f64::NAN).is_err());
    }

    #[test]
    fn tighter_targets_cost_finer_grids() {
        let cell = PeriodicCell::orthorhombic([5.0; 3]);
        let charges: Vec<f64> = (0..12_000).map(|i| if i % 3 == 0 { -0.8 } else { 0.4 }).collect();
        let choose = |error| parameters_for_error(&cell, 0.9, &charges, error).unwrap();
        let (loose, tight) = (choose(1.0), choose(0.01));
        assert!(tight.alpha > loose.alpha && tight.grid[0] > loose.grid[0], "{loose:?} {tight:?}");
        for (parameters, target) in [(loose, 1.0), (tight, 0.01)] {
            assert!(estimate_error(&parameters, &cell, 0.9, &charges).total() <= target * 1.001);
        }
    }
}
