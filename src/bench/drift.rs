//! Drift of the conserved energy over a short run.

use serde::{Deserialize, Serialize};

use crate::units::BOLTZMANN;

/// Minimum number of samples from which the scatter of the samples can be estimated.
const FEWEST_SAMPLES: usize = 10;

/// Drift of the conserved energy in kT/ns per degree of freedom.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Drift {
    /// slope of the least-squares line through the samples, kT/ns per degree of freedom
    pub slope: f64,
    /// standard error of the slope, kT/ns per degree of freedom
    pub error: f64,
}

/// Computes the drift from samples of time (ps) and conserved energy (kJ/mol) at equal intervals. Returns `None` if
/// there are too few samples.
///
/// The standard error is s/√Σ(t − t̄)², where s is the scatter of the residuals and t̄ the mean of the times t. If
/// the correlation ρ of consecutive residuals is positive, the error is multiplied by √((1 + ρ)/(1 − ρ)) (Lee & Lund,
/// Biometrika 91, 240 (2004), doi:10.1093/biomet/91.1.240).
pub fn drift(samples: &[(f64, f64)], temperature: f64, degrees_of_freedom: usize) -> Option<Drift> {
    if samples.len() < FEWEST_SAMPLES || temperature <= 0.0 || degrees_of_freedom == 0 {
        return None;
    }
    let count = samples.len() as f64;
    let mean = |pick: fn(&(f64, f64)) -> f64| samples.iter().map(pick).sum::<f64>() / count;
    let (time, energy) = (mean(|s| s.0), mean(|s| s.1));
    let spread: f64 = samples.iter().map(|s| (s.0 - time).powi(2)).sum();
    let slope = samples.iter().map(|s| (s.0 - time) * (s.1 - energy)).sum::<f64>() / spread;
    let residuals: Vec<f64> = samples.iter().map(|s| s.1 - energy - slope * (s.0 - time)).collect();
    let squares: f64 = residuals.iter().map(|r| r * r).sum();
    let correlation = if squares > 0.0 {
        (residuals.windows(2).map(|r| r[0] * r[1]).sum::<f64>() / squares).clamp(0.0, 0.99)
    } else {
        0.0
    };
    let error = (squares / (count - 2.0) / spread * (1.0 + correlation) / (1.0 - correlation)).sqrt();
    // factor from kJ/mol/ps to kT/ns per degree of freedom
    let scale = 1000.0 / (BOLTZMANN * temperature * degrees_of_freedom as f64);
    Some(Drift { slope: slope * scale, error: error * scale })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_with_alternating_noise_has_its_slope_and_textbook_error() {
        // samples are y = 2t ± 0.5 at t = 0, 0.2, … 3.8 ps; the signs of ±0.5 are + − − +, repeated, and are orthogonal
        // to 1 and to t
        let signs = [1.0, -1.0, -1.0, 1.0];
        let samples: Vec<_> =
            (0..20u32).map(|i| (0.2 * f64::from(i), 0.4 * f64::from(i) + 0.5 * signs[i as usize % 4])).collect();
        let found = drift(&samples, 300.0, 1000).unwrap();
        let unit = 1000.0 / (BOLTZMANN * 300.0 * 1000.0);
        // Σ(t − t̄)² = 0.2² n(n² − 1)/12 for n = 20 samples; nine of the 19 pairs of consecutive residuals have equal
        // signs and ten have different signs, so that there is no positive correlation
        let spread: f64 = 0.04 * 20.0 * 399.0 / 12.0;
        let error = (20.0 * 0.25 / 18.0 / spread).sqrt();
        assert!((found.slope / (2.0 * unit) - 1.0).abs() < 1e-12, "{found:?}");
        assert!((found.error / (error * unit) - 1.0).abs() < 1e-9, "{found:?}");
    }

    #[test]
    fn correlated_noise_has_a_larger_error() {
        // samples are ±0.5 in blocks of five with the signs + − − +. Of the 19 pairs of consecutive samples, 17 have
        // equal signs and two have different signs, so that ρ = 15/20 about the mean. By symmetry the fitted line has
        // slope zero, so that ρ has the same value about the fitted line as about the mean.
        let samples: Vec<_> = (0..20u32).map(|i| (f64::from(i), [0.5, -0.5, -0.5, 0.5][i as usize / 5])).collect();
        let found = drift(&samples, 300.0, 1000).unwrap();
        let unit = 1000.0 / (BOLTZMANN * 300.0 * 1000.0);
        let error = (20.0 * 0.25 / 18.0 / (20.0 * 399.0 / 12.0) * 1.75 / 0.25f64).sqrt();
        assert!((found.error / (error * unit) - 1.0).abs() < 1e-9, "{found:?}");
    }

    #[test]
    fn few_samples_say_nothing() {
        assert_eq!(drift(&[(0.0, 1.0); 9], 300.0, 10), None);
    }
}
