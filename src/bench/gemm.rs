//! The shared compute core by itself: products of dense matrices.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::fft::seconds_per_call;
use super::roofline::Roofline;
use super::row::Range;
use crate::compute::{GemmReal, Matrix, gemm};
use crate::run::Engine;

/// Edges of square matrices.
const SQUARES: [usize; 4] = [256, 512, 1024, 2048];
/// Time spent on each repeat of each shape, or one call.
const PATIENCE: Duration = Duration::from_millis(100);

/// A product of m × k by k × n.
#[derive(Clone, Copy)]
struct Shape {
    name: &'static str,
    size: [usize; 3],
    /// which of the two is stored as its transpose
    transposed: [bool; 2],
}

/// What `md analyze` multiplies, in `f64`: 2500 atoms are the heavy ones of a protein of 300 residues, 300 their Cα.
const ANALYSIS: [Shape; 4] = [
    Shape { name: "rmsd, a tile", size: [576, 2500, 576], transposed: [false, true] },
    Shape { name: "superposition", size: [3000, 2500, 3], transposed: [false, true] },
    Shape { name: "pca, covariance", size: [900, 10_000, 900], transposed: [true, false] },
    Shape { name: "pca, few frames", size: [1000, 7500, 1000], transposed: [false, true] },
];

/// A shape, timed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GemmRow {
    /// what it is for
    pub name: String,
    /// `f32` or `f64`
    pub real: String,
    /// m, k and n
    pub size: [usize; 3],
    /// threads
    pub threads: usize,
    /// wall time of a call
    pub us: Range,
    /// at 2 m k n operations, at the median
    pub gflops: f64,
    /// the same over the measured peak, which for `f64` is half of that for `f32`: registers hold half as many
    pub peak_share: f64,
}

/// Times [`gemm`] on the threads of `engine`.
pub fn measure_gemm(engine: &Engine, roofline: &Roofline, repeats: usize) -> Vec<GemmRow> {
    let squares = SQUARES.map(|n| Shape { name: "square", size: [n; 3], transposed: [false; 2] });
    engine.pool.install(|| {
        let single =
            squares.iter().map(|shape| row(shape, "f32", timed(shape, 1f32, 0.0, repeats), engine, roofline.peak));
        let double = squares.iter().chain(&ANALYSIS);
        let double =
            double.map(|shape| row(shape, "f64", timed(shape, 1f64, 0.0, repeats), engine, 0.5 * roofline.peak));
        single.chain(double).collect()
    })
}

fn row(shape: &Shape, real: &str, us: Range, engine: &Engine, peak: f64) -> GemmRow {
    let flops = 2.0 * shape.size.iter().map(|&n| n as f64).product::<f64>();
    let rate = flops / (us.median * 1e-6);
    GemmRow {
        name: shape.name.into(),
        real: real.into(),
        size: shape.size,
        threads: engine.threads,
        us,
        gflops: rate * 1e-9,
        peak_share: rate / peak,
    }
}

/// Microseconds of a product of matrices full of ones.
fn timed<T: GemmReal>(shape: &Shape, one: T, zero: T, repeats: usize) -> Range {
    let [m, k, n] = shape.size;
    let (a, b, mut c) = (vec![one; m * k], vec![one; k * n], vec![zero; m * n]);
    let stored = |data, [rows, columns]: [usize; 2], transposed| {
        if transposed { Matrix::new(data, rows).transposed() } else { Matrix::new(data, columns) }
    };
    let (a, b) = (stored(&a, [m, k], shape.transposed[0]), stored(&b, [k, n], shape.transposed[1]));
    let mut call = || gemm(one, a, b, zero, &mut c);
    call();
    let times = (0..repeats.max(1)).map(|_| seconds_per_call(PATIENCE, &mut call) * 1e6);
    Range::new(&times.collect::<Vec<f64>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_operations_over_time() {
        let engine = Engine::on(1).unwrap();
        // 2 · 3 · 5 · 7 operations in 2 µs are 105 MFLOP/s
        let shape = Shape { name: "small", size: [3, 5, 7], transposed: [true, false] };
        let found = row(&shape, "f64", Range { median: 2.0, min: 1.0, max: 4.0 }, &engine, 210e6);
        assert!((found.gflops - 0.105).abs() < 1e-15 && (found.peak_share - 0.5).abs() < 1e-15, "{found:?}");
        assert!(timed(&shape, 1f32, 0.0, 2).min > 0.0);
    }
}
