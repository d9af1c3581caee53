//! Benchmarks of products of dense matrices of the compute core.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::core::{Place, cpu, seconds_per_call};
use super::row::Range;
use crate::compute::{Core, Operand, Real};
use crate::error::Result;

/// Numbers of rows of the square matrices that are multiplied.
const SQUARES: [usize; 4] = [256, 512, 1024, 2048];
/// Duration of the measurement of one matrix product. A product that takes longer is computed once.
const PATIENCE: Duration = Duration::from_millis(100);

/// Shape of a matrix product: an m × k matrix times a k × n matrix.
#[derive(Clone, Copy)]
struct Shape {
    name: &'static str,
    size: [usize; 3],
    /// whether each of the two matrices is stored in transposed form
    transposed: [bool; 2],
}

/// Matrix products of `md analyze`, in `f64`, for a protein of 300 residues, which has 2500 heavy atoms and 300 Cα
/// atoms.
const ANALYSIS: [Shape; 4] = [
    Shape { name: "rmsd, a tile", size: [576, 2500, 576], transposed: [false, true] },
    Shape { name: "superposition", size: [3000, 2500, 3], transposed: [false, true] },
    Shape { name: "pca, covariance", size: [900, 10_000, 900], transposed: [true, false] },
    Shape { name: "pca, few frames", size: [1000, 7500, 1000], transposed: [false, true] },
];

/// Timing of a matrix product of one shape.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GemmRow {
    /// name that describes the use of the matrix product
    pub name: String,
    /// type of the numbers: `f32` or `f64`
    pub real: String,
    /// sizes m, k and n of an m × k matrix times a k × n matrix
    pub size: [usize; 3],
    /// name of the device: `cpu`, or for example `cuda:0`
    #[serde(default = "cpu")]
    pub device: String,
    /// number of CPU threads; 0 for a GPU
    pub threads: usize,
    /// wall time of a product, µs
    pub us: Range,
    /// speed in GFLOP/s at the median time; a product counts as 2 m k n operations
    pub gflops: f64,
    /// speed as a fraction of the measured peak; `None` if the peak is unknown. The peak of `f64` is assumed to be half
    /// the peak of `f32`, because an `f64` number takes twice the space in a register
    pub peak_share: Option<f64>,
}

/// Times matrix products. The matrices stay in the memory of the device that multiplies them.
pub fn measure_gemm(core: &impl Core, place: &Place, repeats: usize) -> Result<Vec<GemmRow>> {
    let squares = SQUARES.map(|n| Shape { name: "square", size: [n; 3], transposed: [false; 2] });
    let half = place.peak.map(|peak| 0.5 * peak);
    let single =
        squares.iter().map(|shape| Ok(row(shape, "f32", timed::<f32>(core, shape, repeats)?, place, place.peak)));
    let double = squares.iter().chain(&ANALYSIS);
    let double = double.map(|shape| Ok(row(shape, "f64", timed::<f64>(core, shape, repeats)?, place, half)));
    single.chain(double).collect()
}

fn row(shape: &Shape, real: &str, us: Range, place: &Place, peak: Option<f64>) -> GemmRow {
    let flops = 2.0 * shape.size.iter().map(|&n| n as f64).product::<f64>();
    let rate = flops / (us.median * 1e-6);
    GemmRow {
        name: shape.name.into(),
        real: real.into(),
        size: shape.size,
        device: place.device.clone(),
        threads: place.threads,
        us,
        gflops: rate * 1e-9,
        peak_share: peak.map(|peak| rate / peak),
    }
}

/// Returns the wall time in µs of a product of matrices full of ones.
fn timed<T: Real>(core: &impl Core, shape: &Shape, repeats: usize) -> Result<Range> {
    let [m, k, n] = shape.size;
    let [zero, one] = [0.0, 1.0].map(T::nearest);
    let [a, b] = [m * k, k * n].map(|length| vec![one; length]);
    let (a, b, mut c) = (core.store(&a)?, core.store(&b)?, core.zeros::<T>(m * n)?);
    let mut call = || {
        let a = stored(&a, [m, k], shape.transposed[0]);
        let b = stored(&b, [k, n], shape.transposed[1]);
        core.gemm(one, a, b, zero, &mut c)
    };
    call()?;
    let times = (0..repeats.max(1)).map(|_| Ok(seconds_per_call(core, PATIENCE, &mut call)? * 1e6));
    Ok(Range::new(&times.collect::<Result<Vec<f64>>>()?))
}

/// Returns a view of a whole array as a matrix of `rows` × `columns`. If `transposed` is true, the array stores the
/// transposed matrix.
fn stored<A>(array: &A, [rows, columns]: [usize; 2], transposed: bool) -> Operand<'_, A> {
    if transposed { Operand::new(array, 0..columns, rows).transposed() } else { Operand::new(array, 0..rows, columns) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compute::HostCore;

    #[test]
    fn rates_are_operations_over_time() {
        let place = Place { device: cpu(), threads: 1, peak: Some(420e6) };
        // a product of 2 · 3 · 5 · 7 operations in 2 µs is 105 MFLOP/s
        let shape = Shape { name: "small", size: [3, 5, 7], transposed: [true, false] };
        let found = row(&shape, "f64", Range { median: 2.0, min: 1.0, max: 4.0 }, &place, Some(210e6));
        assert!((found.gflops - 0.105).abs() < 1e-15 && found.peak_share == Some(0.5), "{found:?}");
        assert!(timed::<f32>(&HostCore, &shape, 2).expect("a time").min > 0.0);
    }
}
