//! The shared compute core by itself: three-dimensional real Fourier transforms.

use std::time::{Duration, Instant};

use num_complex::Complex;
use serde::{Deserialize, Serialize};

use super::roofline::Roofline;
use super::row::Range;
use crate::compute::Fft3;
use crate::run::Engine;

/// Edges of cubes: the mesh of DHFR is 56 to 64, that of 156,000 atoms about 100.
const SIZES: [usize; 10] = [32, 40, 48, 56, 64, 72, 80, 96, 108, 128];
/// Time spent on each repeat of each size.
const PATIENCE: Duration = Duration::from_millis(100);

/// A forward or an inverse transform of n³ points, the mean of both.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct FftRow {
    /// points along an edge
    pub size: usize,
    /// threads
    pub threads: usize,
    /// wall time of a call
    pub us: Range,
    /// at 5/2 N log₂ N operations for N real points, at the median
    pub gflops: f64,
    /// the same over the measured peak
    #[serde(default)]
    pub peak_share: f64,
}

/// Times [`Fft3`] in `f32` on the threads of `engine`.
pub fn measure_fft(engine: &Engine, roofline: &Roofline, repeats: usize) -> Vec<FftRow> {
    engine.pool.install(|| SIZES.map(|size| measure_size(size, engine.threads, roofline.peak, repeats)).into())
}

fn measure_size(size: usize, threads: usize, peak: f64, repeats: usize) -> FftRow {
    let points = (size * size * size) as f64;
    let mut fft = Fft3::<f32>::new([size; 3]);
    // zeros stay zeros: forward and inverse together multiply by the number of points, and soon nothing else would be finite
    let mut real = vec![0f32; size * size * size];
    let mut complex = vec![Complex::default(); fft.reciprocal_size().iter().product()];
    let mut both_ways = || {
        fft.forward(&mut real, &mut complex);
        fft.inverse(&mut complex, &mut real);
    };
    both_ways();
    let times = (0..repeats.max(1)).map(|_| 0.5 * seconds_per_call(PATIENCE, &mut both_ways) * 1e6);
    let us = Range::new(&times.collect::<Vec<f64>>());
    let rate = 2.5 * points * points.log2() / (us.median * 1e-6);
    FftRow { size, threads, us, gflops: rate * 1e-9, peak_share: rate / peak }
}

/// The mean over as many calls as fill `patience`, at least one.
pub(super) fn seconds_per_call(patience: Duration, mut call: impl FnMut()) -> f64 {
    let (begin, mut calls) = (Instant::now(), 0);
    while calls == 0 || begin.elapsed() < patience {
        call();
        calls += 1;
    }
    begin.elapsed().as_secs_f64() / f64::from(calls)
}
