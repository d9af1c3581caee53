//! Benchmarks of three-dimensional real Fourier transforms of the compute core.

use std::time::Duration;

use num_complex::Complex;
use serde::{Deserialize, Serialize};

use super::core::{Place, cpu, seconds_per_call};
use super::row::Range;
use crate::compute::Core;
use crate::error::Result;

/// Numbers of grid points along an edge of cubic grids. A PME grid has 56 to 64 points along an edge for DHFR, and
/// about 100 points for a system of 156,000 atoms.
const SIZES: [usize; 10] = [32, 40, 48, 56, 64, 72, 80, 96, 108, 128];
/// Duration of the measurement of one grid size.
const PATIENCE: Duration = Duration::from_millis(100);

/// Timing of Fourier transforms of n³ grid points. The time is the mean of a forward and an inverse transform.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FftRow {
    /// number of grid points n along an edge
    pub size: usize,
    /// name of the device: `cpu`, or for example `cuda:0`
    #[serde(default = "cpu")]
    pub device: String,
    /// number of CPU threads; 0 for a GPU
    pub threads: usize,
    /// wall time of a transform, µs
    pub us: Range,
    /// speed in GFLOP/s at the median time; a transform of N real points counts as 5/2 N log₂ N operations
    pub gflops: f64,
    /// speed as a fraction of the measured peak; `None` if the peak is unknown
    #[serde(default)]
    pub peak_share: Option<f64>,
}

/// Times transforms in `f32` of cubic grids of several sizes. The arrays stay in the memory of the device that
/// transforms them.
pub fn measure_fft(core: &impl Core, place: &Place, repeats: usize) -> Result<Vec<FftRow>> {
    SIZES.iter().map(|&size| measure_size(core, size, place, repeats)).collect()
}

fn measure_size(core: &impl Core, size: usize, place: &Place, repeats: usize) -> Result<FftRow> {
    let points = (size * size * size) as f64;
    let mut fft = core.plan::<f32>([size; 3])?;
    // the arrays hold zeros, which remain zeros: other values would overflow, because a forward and an inverse
    // transform together multiply values by the number of points
    let mut real = core.zeros::<f32>(size * size * size)?;
    let mut complex = core.zeros::<Complex<f32>>(size * size * (size / 2 + 1))?;
    let mut both_ways = || {
        core.forward(&mut fft, &mut real, &mut complex)?;
        core.inverse(&mut fft, &mut complex, &mut real)
    };
    both_ways()?;
    let times = (0..repeats.max(1)).map(|_| Ok(0.5 * seconds_per_call(core, PATIENCE, &mut both_ways)? * 1e6));
    let us = Range::new(&times.collect::<Result<Vec<f64>>>()?);
    let rate = 2.5 * points * points.log2() / (us.median * 1e-6);
    let (device, peak_share) = (place.device.clone(), place.peak.map(|peak| rate / peak));
    Ok(FftRow { size, device, threads: place.threads, us, gflops: rate * 1e-9, peak_share })
}
