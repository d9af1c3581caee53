//! Roofline of the machine: the rate of multiply-adds, and the memory bandwidth as a function of the amount of data.
//!
//! The roofline model is that of S. Williams, A. Waterman, D. Patterson, Commun. ACM 52(4), 65 (2009),
//! doi:10.1145/1498765.1498785. The arithmetic rate is that of `f32` with the instruction set in use. Phases in `f64`
//! (constraints, update, some of the bonded terms) can reach at most half of the arithmetic rate of `f32`.

use std::hint::black_box;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::backend::Work;
use crate::backend::cuda::{self, Limits};
use crate::error::Result;
use crate::run::Engine;
use crate::simd::{Arithmetic, Float, Kernel, LANES, Level, Simd, dispatch};

/// Duration of each of the seven measurements of a roofline.
const PATIENCE: Duration = Duration::from_millis(20);
/// Smallest number of calls per measurement, even if these calls take longer than [`PATIENCE`]. The fastest call
/// determines the measured rate.
const FEWEST_CALLS: u32 = 3;
/// Total sizes of the arrays in bytes; each thread has three arrays. The smallest size fits into any cache, and the
/// largest is larger than most caches.
const SIZES: [usize; 5] = [1 << 20, 1 << 22, 1 << 24, 1 << 26, 1 << 28];
/// Number of multiply-adds of each accumulator in a call. A call takes some 100 µs.
const ROUNDS: usize = 20_000;

/// Text that the roofline of a GPU stores in the field for the instruction set.
pub(super) const GPU: &str = "cuda";

/// Memory bandwidth of a triad (a ← b + s c) over arrays of one size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Bandwidth {
    /// total size of the arrays in bytes; each thread has three arrays
    pub bytes: f64,
    /// bandwidth in bytes per second; the reads and writes that the program requests are counted
    pub rate: f64,
}

/// Roofline of the machine for a number of threads and an instruction set.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Roofline {
    /// number of threads
    pub threads: usize,
    /// instruction set
    pub simd: String,
    /// peak speed in operations per second; a multiply-add counts as two operations
    pub peak: f64,
    /// bandwidths for different amounts of data, the smallest amount first
    pub bandwidths: Vec<Bandwidth>,
}

impl Roofline {
    /// Measures the roofline on the threads of `engine`, in about a fifth of a second.
    pub fn measure(engine: &Engine) -> Self {
        let level = engine.level;
        let on_all = |rate: &(dyn Fn() -> f64 + Sync)| engine.pool.broadcast(|_| rate()).iter().sum::<f64>();
        let bandwidths = SIZES.map(|bytes| {
            // number of whole SIMD vectors in each of the three `f32` arrays of a thread
            let vectors = bytes / (12 * LANES * engine.threads);
            Bandwidth { bytes: bytes as f64, rate: on_all(&|| triad_rate(level, vectors.max(1))) }
        });
        Roofline {
            threads: engine.threads,
            simd: level.name().into(),
            // more accumulators hide longer latencies, but all must fit into the registers; the peak is the faster of
            // two measurements, with 6 and with 12 accumulators
            peak: on_all(&|| peak_rate::<6>(level)).max(on_all(&|| peak_rate::<12>(level))),
            bandwidths: bandwidths.into(),
        }
    }

    /// Computes the roofline of the GPU with the CUDA device number `number` from its clock rates and widths, without a
    /// measurement.
    pub fn of_gpu(number: u32, threads: usize) -> Result<Self> {
        let Limits { flops, bandwidth, memory } = cuda::limits(number)?;
        let bandwidths = vec![Bandwidth { bytes: memory, rate: bandwidth }];
        Ok(Roofline { threads, simd: GPU.into(), peak: flops, bandwidths })
    }

    /// Returns the memory bandwidth in bytes per second for a phase that moves `bytes` bytes.
    pub fn bandwidth(&self, bytes: f64) -> f64 {
        let fitting = self.bandwidths.iter().find(|measured| measured.bytes >= bytes);
        fitting.or(self.bandwidths.last()).map_or(0.0, |measured| measured.rate)
    }

    /// Returns the largest number of operations per second that the machine can reach for an amount of work (operations
    /// and bytes).
    pub fn roof(&self, work: &Work) -> f64 {
        if work.bytes > 0.0 { self.peak.min(work.flops / work.bytes * self.bandwidth(work.bytes)) } else { self.peak }
    }
}

/// Repeats a call for the time [`PATIENCE`], and returns the rate of the fastest call in units per second. One call
/// processes `units` units.
fn best_rate(units: f64, mut call: impl FnMut()) -> f64 {
    let (begin, mut best, mut calls) = (Instant::now(), f64::INFINITY, 0);
    while calls < FEWEST_CALLS || begin.elapsed() < PATIENCE {
        let start = Instant::now();
        call();
        best = best.min(start.elapsed().as_secs_f64());
        calls += 1;
    }
    units / best.max(1e-9)
}

fn peak_rate<const N: usize>(level: Level) -> f64 {
    let operations = (2 * LANES * N * ROUNDS) as f64;
    best_rate(operations, || {
        black_box(dispatch(level, MultiplyAdd::<N> { rounds: black_box(ROUNDS) }));
    })
}

/// Kernel of independent chains of multiply-adds a ← a m + c, whose values converge to 1.
struct MultiplyAdd<const N: usize> {
    rounds: usize,
}

impl<const N: usize> Kernel for MultiplyAdd<N> {
    type Output = f32;

    #[inline(always)]
    fn run<S: Simd>(self) -> f32 {
        let (m, c) = (S::F::splat(0.999), S::F::splat(0.001));
        let mut chains = [S::F::splat(0.0); N];
        for _ in 0..self.rounds {
            for chain in &mut chains {
                *chain = chain.mul_add(m, c);
            }
        }
        chains.iter().fold(0.0, |sum, chain| sum + chain.sum())
    }
}

fn triad_rate(level: Level, vectors: usize) -> f64 {
    // the arrays are not filled with zeros, because the operating system would allocate pages of zeros only during the
    // timing
    let array = |value: f32| vec![[value; LANES]; vectors];
    let (mut a, b, c) = (array(3.0), array(1.0), array(2.0));
    best_rate((12 * LANES * vectors) as f64, || {
        dispatch(level, Triad { a: &mut a, b: &b, c: &c });
        black_box(&mut a);
    })
}

/// Arrays of the triad a ← b + s c (J. D. McCalpin's STREAM).
struct Triad<'a> {
    a: &'a mut [[f32; LANES]],
    b: &'a [[f32; LANES]],
    c: &'a [[f32; LANES]],
}

impl Kernel for Triad<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self) {
        let s = S::F::splat(3.0);
        for ((a, b), c) in self.a.iter_mut().zip(self.b).zip(self.c) {
            S::F::load(c).mul_add(s, S::F::load(b)).store(a);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_roof_is_the_lower_of_arithmetic_and_memory() {
        let at = |bytes, rate| Bandwidth { bytes, rate };
        let bandwidths = vec![at(1e6, 100.0), at(1e9, 10.0)];
        let roofline = Roofline { threads: 1, simd: String::new(), peak: 1000.0, bandwidths };
        let roof = |flops, bytes| roofline.roof(&Work { flops, bytes });
        assert_eq!(roof(1e6, 1e6), 100.0, "in a cache");
        assert_eq!(roof(1e7, 1e7), 10.0, "in memory");
        assert_eq!(roof(1e12, 1e12), 10.0, "beyond the largest size");
        assert_eq!(roof(1e8, 1e6), 1000.0, "bound by arithmetic");
        assert_eq!(roof(1.0, 0.0), 1000.0);
    }
}
