//! Drift of the conserved energy over a short run.

use serde::{Deserialize, Serialize};

use crate::analysis::Slope;
use crate::units::BOLTZMANN;

/// Minimum number of samples from which the scatter of the samples can be estimated.
const FEWEST_SAMPLES: usize = 10;

/// Drift of the conserved energy in kT/ns per degree of freedom.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Drift {
    /// slope of the conserved energy, kT/ns per degree of freedom
    pub slope: f64,
    /// standard error of the slope ([`Slope`]), kT/ns per degree of freedom
    pub error: f64,
}

/// Computes the drift from samples of time (ps) and conserved energy (kJ/mol) at equal intervals. Returns `None` if
/// there are too few samples.
pub fn drift(samples: &[(f64, f64)], temperature: f64, degrees_of_freedom: usize) -> Option<Drift> {
    if samples.len() < FEWEST_SAMPLES || temperature <= 0.0 || degrees_of_freedom == 0 {
        return None;
    }
    let (times, energies): (Vec<f64>, Vec<f64>) = samples.iter().copied().unzip();
    let Slope { value, error } = Slope::of(&times, &energies)?;
    // factor from kJ/mol/ps to kT/ns per degree of freedom
    let scale = 1000.0 / (BOLTZMANN * temperature * degrees_of_freedom as f64);
    Some(Drift { slope: value * scale, error: error * scale })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_its_slope_in_units_of_kt() {
        // 1000 degrees of freedom at 300 K have 1000 kT = 2494.34 kJ/mol, and 2 kJ/mol/ps are 2000 kJ/mol/ns
        let samples: Vec<_> = (0..20u32).map(|i| (0.2 * f64::from(i), 0.4 * f64::from(i))).collect();
        let found = drift(&samples, 300.0, 1000).unwrap();
        assert!((found.slope - 2000.0 / 2494.34).abs() < 1e-5, "{found:?}");
        assert!(found.error < 1e-6, "{found:?}");
    }

    #[test]
    fn few_samples_say_nothing() {
        assert_eq!(drift(&[(0.0, 1.0); 9], 300.0, 10), None);
    }
}
