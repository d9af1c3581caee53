//! The shared compute core by itself: three-dimensional real Fourier transforms.

use std::time::{Duration, Instant};

use num_complex::Complex;
use serde::{Deserialize, Serialize};

use super::row::Range;
use crate::compute::Fft3;
use crate::error::{Error, Result};

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
}

/// Times [`Fft3`] in `f32` on so many threads.
pub fn measure_fft(threads: usize, repeats: usize) -> Result<Vec<FftRow>> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.map_err(|error| Error::Device(format!("cannot start {threads} threads: {error}")))?;
    Ok(pool.install(|| SIZES.map(|size| measure_size(size, threads, repeats)).into()))
}

fn measure_size(size: usize, threads: usize, repeats: usize) -> FftRow {
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
    let mut timed = || {
        let (begin, mut calls) = (Instant::now(), 0);
        while calls == 0 || begin.elapsed() < PATIENCE {
            both_ways();
            calls += 2;
        }
        begin.elapsed().as_secs_f64() * 1e6 / f64::from(calls)
    };
    let us = Range::new(&(0..repeats.max(1)).map(|_| timed()).collect::<Vec<f64>>());
    FftRow { size, threads, us, gflops: 2.5 * points * points.log2() / us.median * 1e-3 }
}
