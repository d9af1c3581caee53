//! Autocorrelation of series by FFT.

use std::sync::Arc;

use md_fft::{ComplexToReal, RealToComplex, plan_real};
use num_complex::Complex;

/// Plan for autocorrelations of series of up to a given length.
///
/// A series is padded with zeros to twice its length and transformed. The inverse transform of the squared magnitude of
/// the spectrum is Σ_t x(t) x(t+k) (the Wiener–Khinchin theorem), with O(n log n) operations for all lags k.
pub struct Autocorrelation {
    length: usize,
    forward: Arc<dyn RealToComplex<f64>>,
    inverse: Arc<dyn ComplexToReal<f64>>,
    padded: Vec<f64>,
    spectrum: Vec<Complex<f64>>,
    work: Vec<Complex<f64>>,
}

impl Clone for Autocorrelation {
    fn clone(&self) -> Self {
        Autocorrelation {
            length: self.length,
            forward: Arc::clone(&self.forward),
            inverse: Arc::clone(&self.inverse),
            padded: self.padded.clone(),
            spectrum: self.spectrum.clone(),
            work: self.work.clone(),
        }
    }
}

impl Autocorrelation {
    /// Plans autocorrelations of series of up to `length` values.
    pub fn new(length: usize) -> Self {
        let size = (2 * length).next_power_of_two().max(2);
        let (forward, inverse) = plan_real(size);
        let work = forward.get_scratch_len().max(inverse.get_scratch_len());
        Autocorrelation {
            length,
            padded: vec![0.0; size],
            spectrum: forward.make_output_vec(),
            work: vec![Complex::default(); work],
            forward,
            inverse,
        }
    }

    /// Adds Σ_t x(t) x(t+k) of a series x to `sums[k]`, for each lag k below the length of `sums`.
    ///
    /// # Panics
    ///
    /// Panics if the series is longer than planned, or if `sums` is longer than the series.
    pub fn add(&mut self, series: impl ExactSizeIterator<Item = f64>, sums: &mut [f64]) {
        assert!(series.len() <= self.length && sums.len() <= series.len(), "the series or `sums` is too long");
        self.padded[series.len()..].fill(0.0);
        self.padded.iter_mut().zip(series).for_each(|(to, from)| *to = from);
        let work = &mut self.work[..self.forward.get_scratch_len()];
        self.forward.process_with_scratch(&mut self.padded, &mut self.spectrum, work).expect("planned lengths");
        self.spectrum.iter_mut().for_each(|x| *x = Complex::new(x.norm_sqr(), 0.0));
        let work = &mut self.work[..self.inverse.get_scratch_len()];
        self.inverse.process_with_scratch(&mut self.spectrum, &mut self.padded, work).expect("planned lengths");
        let scale = 1.0 / self.padded.len() as f64;
        sums.iter_mut().zip(&self.padded).for_each(|(sum, value)| *sum += value * scale);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_over_all_lags() {
        let series: Vec<f64> = (0..37).map(|t| f64::from(t * t % 11) - 4.5).collect();
        let mut plan = Autocorrelation::new(37);
        for length in [37, 20, 37] {
            let mut sums = vec![1.0; length];
            plan.add(series[..length].iter().copied(), &mut sums);
            for (lag, sum) in sums.iter().enumerate() {
                let expected: f64 = (0..length - lag).map(|t| series[t] * series[t + lag]).sum();
                assert!((sum - 1.0 - expected).abs() < 1e-10, "{lag}: {sum} {expected}");
            }
        }
    }
}
