//! Charge correlations, which affect the errors of electrostatic sums.

use std::f64::consts::{FRAC_2_SQRT_PI, PI, TAU};

use rayon::prelude::*;

use super::reciprocal_rows;
use crate::cell::PeriodicCell;
use crate::term::Special;
use crate::vec3::{Vec3, vec3};

/// The charge structure factor S(m) = |Σ q e^{2πi m·r}|²/Σq², averaged over directions. S = 1 for uncorrelated
/// charges.
///
/// In a liquid of neutral molecules S is far below 1 at the wave numbers of an Ewald sum, because the contributions of
/// the atoms of one molecule nearly cancel. For wave numbers beyond the table S = 1.
#[derive(Clone, Debug)]
pub struct ChargeStructure {
    /// structure factor S at the wave numbers m = (i + ½) · [`WIDTH`], where i is the index
    shells: Vec<f64>,
}

/// Width of the shells of wave numbers in 1/nm. In a liquid the peaks of S are at least as wide as the inverse of a few
/// molecular diameters.
const WIDTH: f64 = 0.5;
/// Number of shells. The shells extend to wave numbers of 12/nm. The corresponding wavelength of 0.08 nm is shorter
/// than a bond.
const SHELLS: usize = 24;
/// Number of wave vectors per shell. The value at one wave vector has a relative standard deviation of 1, so that the
/// mean over a shell has a standard error of 25 %, and sums over many shells have a standard error of 10 %.
const WAVES: usize = 16;

impl ChargeStructure {
    /// Returns the structure factor of uncorrelated charges: S = 1.
    pub fn uncorrelated() -> Self {
        Self { shells: vec![] }
    }

    /// Samples S from one configuration. The wave vectors are not random, so that the result is deterministic. The
    /// cost is 384 sines per atom.
    pub fn sample(cell: &PeriodicCell, positions: &[Vec3], charges: &[f64]) -> Self {
        let square: f64 = charges.iter().map(|q| q * q).sum();
        if square == 0.0 {
            return Self::uncorrelated();
        }
        let (rows, shakes) = (cell.rows(), reciprocal_rows(cell));
        let factor = |index: usize| {
            let length = (index / WAVES) as f64 * WIDTH + WIDTH * ((index % WAVES) as f64 + 0.5) / WAVES as f64;
            let wanted = direction(index) * length;
            // indices of the nonzero reciprocal lattice vector that is nearest to `wanted`
            let mut numbers = rows.map(|row| row.dot(wanted).round());
            if numbers == [0.0; 3] {
                numbers[index % 3] = 1.0;
            }
            let wave = shakes[0] * numbers[0] + shakes[1] * numbers[1] + shakes[2] * numbers[2];
            let (sine, cosine) = positions.iter().zip(charges).fold((0.0, 0.0), |(sine, cosine), (r, q)| {
                let (s, c) = (TAU * wave.dot(*r)).sin_cos();
                (sine + q * s, cosine + q * c)
            });
            (sine * sine + cosine * cosine) / square
        };
        let factors: Vec<f64> = (0..SHELLS * WAVES).into_par_iter().map(factor).collect();
        Self { shells: factors.chunks_exact(WAVES).map(|f| f.iter().sum::<f64>() / WAVES as f64).collect() }
    }

    /// Returns S at |m| = `wave` (1/nm), interpolated linearly between the shells.
    pub fn at(&self, wave: f64) -> f64 {
        let place = (wave / WIDTH - 0.5).max(0.0);
        let shell = place as usize;
        let at = |shell: usize| self.shells.get(shell).copied().unwrap_or(1.0);
        let fraction = place - shell as f64;
        at(shell) * (1.0 - fraction) + at(shell + 1) * fraction
    }

    /// Returns ∫ |f|² S over all space (1/nm, for unit charges and without Coulomb's constant), where f is the
    /// direct-space Ewald force beyond `cutoff`. For S = 1 the integral is computed over distances r (Parseval's
    /// theorem). Other values of S reduce the integral by the part that charge correlations cancel: 4π∫ m² |f(m)|² (1 −
    /// S) dm with f(m) = 4π∫ r² f(r) j₁(2πmr) dr.
    pub(super) fn neglected_force_square(&self, alpha: f64, cutoff: f64) -> f64 {
        // the force f falls by a factor of e over the length 1/(2α²r_c). The integral is computed by the trapezoidal
        // rule in steps of a tenth of this length, over twelve lengths, which contain all but 10⁻⁵ of f
        let step = 0.05 / (alpha * alpha * cutoff);
        // radius r, trapezoidal weight times r², and force f(r)
        let points: Vec<[f64; 3]> = (0..=120)
            .map(|i| {
                let r = cutoff + f64::from(i) * step;
                let x = alpha * r;
                let force = (Special::erfc(x) / r + FRAC_2_SQRT_PI * alpha * (-x * x).exp()) / r;
                [r, r * r * if i == 0 { 0.5 * step } else { step }, force]
            })
            .collect();
        let everything = 4.0 * PI * points.iter().map(|[_, weight, f]| weight * f * f).sum::<f64>();
        // five samples for each period 1/(2 r_c) of the oscillations of |f(m)|²
        let wave_step = 0.1 / cutoff;
        let waves = (self.shells.len() as f64 * WIDTH / wave_step) as usize;
        let cancelled: f64 = (1..=waves)
            .map(|i| {
                let m = i as f64 * wave_step;
                let transform: f64 = points.iter().map(|[r, weight, f]| weight * f * bessel(TAU * m * r)).sum();
                wave_step * m * m * (4.0 * PI * transform).powi(2) * (1.0 - self.at(m))
            })
            .sum();
        // because of the sampling noise of S, the result has a lower bound
        (everything - 4.0 * PI * cancelled).max(LEAST_REMAINDER * everything)
    }
}

/// Lower bound of the squared direct-space error with charge correlations, divided by the squared error without
/// correlations. In water the ratio is one half.
const LEAST_REMAINDER: f64 = 0.25;

/// Returns the spherical Bessel function j₁(x) = (sin x/x − cos x)/x, for x well away from 0.
fn bessel(x: f64) -> f64 {
    (x.sin() / x - x.cos()) / x
}

/// Returns the direction with this index in a sequence of directions that the golden angle spreads over the sphere.
fn direction(index: usize) -> Vec3 {
    let z = 1.0 - 2.0 * ((index as f64 + 0.5) * 0.618_033_988_749_894_9).fract();
    let azimuth = TAU * (index as f64 * 0.754_877_666_246_692_7).fract();
    let radius = (1.0 - z * z).sqrt();
    vec3(radius * azimuth.cos(), radius * azimuth.sin(), z)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, Stream};

    #[test]
    fn a_gas_has_no_structure() {
        let mut random = Stream::new(1, Purpose::Test, 0, 0);
        let mut place = || random.between(0.0, 3.0);
        let positions: Vec<Vec3> = (0..2000).map(|_| vec3(place(), place(), place())).collect();
        let charges: Vec<f64> = (0..2000).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
        let structure = ChargeStructure::sample(&PeriodicCell::orthorhombic([3.0; 3]), &positions, &charges);
        let mean = structure.shells.iter().sum::<f64>() / SHELLS as f64;
        // the mean of 384 samples with a standard deviation of 1 has a standard error of 5 %
        assert!((mean - 1.0).abs() < 0.2, "{mean}");
    }

    #[test]
    fn a_dipole_is_invisible_from_afar() {
        // |1 − e^{ix}|²/2 = 1 − cos x with x = 2πmd: (2πmd)²/6 on the average over directions
        let positions = [vec3(1.0, 1.0, 1.0), vec3(1.01, 1.0, 1.0)];
        let structure = ChargeStructure::sample(&PeriodicCell::orthorhombic([50.0; 3]), &positions, &[1.0, -1.0]);
        let expected = (TAU * 0.01 * 5.25f64).powi(2) / 6.0;
        assert!((structure.at(5.25) / expected - 1.0).abs() < 0.5, "{} {expected}", structure.at(5.25));
        assert_eq!(structure.at(1e3), 1.0);
    }
}
