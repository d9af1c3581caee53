//! The three-dimensional real Fourier transform.

use std::sync::Arc;

use md_fft::{ComplexToReal, Fft, RealToComplex, plan_complex, plan_real};
use num_complex::Complex;
use rayon::prelude::*;

/// Number types that can be transformed: `f32` and `f64`. Lines of both types are transformed in `f64`, so that
/// `rustfft` is compiled only once.
pub trait FftReal: Copy + Default + Into<f64> + Send + Sync {
    /// Returns the nearest number of this type.
    fn nearest(value: f64) -> Self;
}
impl FftReal for f32 {
    fn nearest(value: f64) -> Self {
        value as f32
    }
}
impl FftReal for f64 {
    fn nearest(value: f64) -> Self {
        value
    }
}

fn widen<T: FftReal>(value: Complex<T>) -> Complex<f64> {
    Complex { re: value.re.into(), im: value.im.into() }
}

fn narrow<T: FftReal>(value: Complex<f64>) -> Complex<T> {
    Complex { re: T::nearest(value.re), im: T::nearest(value.im) }
}

/// Edge of the square blocks that a transposition moves at once. A row of 16 complex doubles fills four cache lines.
const BLOCK: usize = 16;
/// Number of portions per thread into which the x-slabs are divided, for load balance. Results do not depend on this
/// number, because lines are transformed independently.
const PORTIONS_PER_THREAD: usize = 4;

/// A plan for Fourier transforms of one size, with its work space.
///
/// Real data are indexed `(x · n_y + y) · n_z + z`. Complex data are indexed `(x · n_y + y) · m_z + z`, with m_z =
/// n_z/2 + 1. Elements of the spectrum with z ≥ m_z are not stored, since F(−k) = F(k)*. The forward transform is F(k)
/// = Σ f(r) e^{−2πi k·r/n}. The inverse transform is not normalised: a forward and an inverse transform together
/// multiply by n_x n_y n_z. Any size works; transforms are fast for sizes that are products of small primes. Lines are
/// transformed in parallel on the current rayon pool. Results do not depend on the number of threads.
pub struct Fft3 {
    size: [usize; 3],
    real_to_complex: Arc<dyn RealToComplex<f64>>,
    complex_to_real: Arc<dyn ComplexToReal<f64>>,
    /// plans for transforms along x: forward, inverse
    along_x: [Arc<dyn Fft<f64>>; 2],
    /// plans for transforms along y: forward, inverse
    along_y: [Arc<dyn Fft<f64>>; 2],
    /// number of x-slabs in a portion
    slabs: usize,
    /// work space of each portion
    scratch: Vec<Scratch>,
    /// work space: the complex array with x as the innermost index
    columns: Vec<Complex<f64>>,
}

/// Work space of one portion of slabs.
#[derive(Clone)]
struct Scratch {
    /// values of a line along z
    real: Vec<f64>,
    /// transform of the line along z
    line: Vec<Complex<f64>>,
    /// the lines of a slab with y as the innermost index
    slab: Vec<Complex<f64>>,
    /// work space of `rustfft`
    work: Vec<Complex<f64>>,
}

impl Fft3 {
    /// Plans transforms of n_x × n_y × n_z real points, with each number at least 1.
    pub fn new(size: [usize; 3]) -> Self {
        assert!(size.iter().all(|&n| n > 0), "a grid must have points in every direction");
        let [nx, ny, nz] = size;
        let mz = nz / 2 + 1;
        let (real_to_complex, complex_to_real) = plan_real(nz);
        let [along_x, along_y] = [nx, ny].map(plan_complex);

        let slabs = nx.div_ceil(PORTIONS_PER_THREAD * rayon::current_num_threads());
        let work = along_x.iter().chain(&along_y).map(|fft| fft.get_inplace_scratch_len());
        let work = work.chain([real_to_complex.get_scratch_len(), complex_to_real.get_scratch_len()]).max();
        let zeros = |length| vec![Complex::default(); length];
        let scratch =
            Scratch { real: vec![0.0; nz], line: zeros(mz), slab: zeros(ny * mz), work: zeros(work.unwrap_or(0)) };
        let scratch = vec![scratch; nx.div_ceil(slabs)];
        let columns = zeros(nx * ny * mz);
        Self { size, real_to_complex, complex_to_real, along_x, along_y, slabs, scratch, columns }
    }

    /// Returns the number of real points along x, y, z.
    pub fn size(&self) -> [usize; 3] {
        self.size
    }

    /// Returns the number of complex points along x, y, z.
    pub fn reciprocal_size(&self) -> [usize; 3] {
        [self.size[0], self.size[1], self.size[2] / 2 + 1]
    }

    /// Transforms `real` into `complex`. `real` is overwritten.
    pub fn forward<T: FftReal>(&mut self, real: &mut [T], complex: &mut [Complex<T>]) {
        let [nx, ny, nz] = self.size;
        let mz = nz / 2 + 1;
        assert_eq!((real.len(), complex.len()), (nx * ny * nz, nx * ny * mz), "arrays must have the planned size");
        let (plan_z, plan_y) = (&self.real_to_complex, &self.along_y[0]);
        complex
            .par_chunks_mut(self.slabs * ny * mz)
            .zip(real.par_chunks_mut(self.slabs * ny * nz))
            .zip(self.scratch.par_iter_mut())
            .for_each(|((complex, real), scratch)| {
                for (output, input) in complex.chunks_exact_mut(mz).zip(real.chunks_exact_mut(nz)) {
                    let Scratch { real, line, work, .. } = &mut *scratch;
                    real.iter_mut().zip(&*input).for_each(|(to, &from)| *to = from.into());
                    plan_z
                        .process_with_scratch(real, line, &mut work[..plan_z.get_scratch_len()])
                        .expect("the lines have the lengths of the plan");
                    output.iter_mut().zip(&*line).for_each(|(to, &from)| *to = narrow(from));
                }
                for slab in complex.chunks_exact_mut(ny * mz) {
                    transform_columns(slab, ny, mz, plan_y.as_ref(), scratch);
                }
            });
        self.transform_x(complex, 0);
    }

    /// Transforms `complex` back into `real` and overwrites `complex`. The imaginary parts of elements that are real in
    /// every transform of real numbers are not read.
    pub fn inverse<T: FftReal>(&mut self, complex: &mut [Complex<T>], real: &mut [T]) {
        let [nx, ny, nz] = self.size;
        let mz = nz / 2 + 1;
        assert_eq!((real.len(), complex.len()), (nx * ny * nz, nx * ny * mz), "arrays must have the planned size");
        self.transform_x(complex, 1);
        let (plan_z, plan_y) = (&self.complex_to_real, &self.along_y[1]);
        complex
            .par_chunks_mut(self.slabs * ny * mz)
            .zip(real.par_chunks_mut(self.slabs * ny * nz))
            .zip(self.scratch.par_iter_mut())
            .for_each(|((complex, real), scratch)| {
                for slab in complex.chunks_exact_mut(ny * mz) {
                    transform_columns(slab, ny, mz, plan_y.as_ref(), scratch);
                }
                for (input, output) in complex.chunks_exact_mut(mz).zip(real.chunks_exact_mut(nz)) {
                    let Scratch { real, line, work, .. } = &mut *scratch;
                    line.iter_mut().zip(&*input).for_each(|(to, &from)| *to = widen(from));
                    line[0].im = 0.0;
                    if nz % 2 == 0 {
                        line[mz - 1].im = 0.0;
                    }
                    plan_z
                        .process_with_scratch(line, real, &mut work[..plan_z.get_scratch_len()])
                        .expect("the lines have the lengths of the plan, and their first and last elements are real");
                    output.iter_mut().zip(&*real).for_each(|(to, &from)| *to = T::nearest(from));
                }
            });
    }

    /// Transforms all lines along x, through a copy of the array with x as the innermost index.
    fn transform_x<T: FftReal>(&mut self, complex: &mut [Complex<T>], direction: usize) {
        let nx = self.size[0];
        let columns = complex.len() / nx;
        let portion = columns.div_ceil(self.scratch.len());
        let plan = &self.along_x[direction];
        self.columns.par_chunks_mut(portion * nx).zip(self.scratch.par_iter_mut()).enumerate().for_each(
            |(index, (lines, scratch))| {
                let first = index * portion;
                let count = lines.len() / nx;
                transpose(&complex[first..], columns, lines, nx, [nx, count], widen);
                plan.process_with_scratch(lines, &mut scratch.work[..plan.get_inplace_scratch_len()]);
            },
        );
        let transformed = &self.columns;
        complex.par_chunks_mut(self.slabs * columns).enumerate().for_each(|(index, slabs)| {
            let first = index * self.slabs;
            let count = slabs.len() / columns;
            transpose(&transformed[first..], nx, slabs, columns, [columns, count], narrow);
        });
    }
}

/// Transforms the columns of a `rows` × `columns` array.
fn transform_columns<T: FftReal>(
    array: &mut [Complex<T>],
    rows: usize,
    columns: usize,
    plan: &dyn Fft<f64>,
    scratch: &mut Scratch,
) {
    let Scratch { slab, work, .. } = scratch;
    transpose(array, columns, slab, rows, [rows, columns], widen);
    plan.process_with_scratch(slab, &mut work[..plan.get_inplace_scratch_len()]);
    transpose(slab, rows, array, columns, [columns, rows], narrow);
}

/// Transposes block by block: `output[j · output_stride + i] = convert(input[i · input_stride + j])` for i <
/// `extent[0]`, j < `extent[1]`.
fn transpose<T: Copy, U>(
    input: &[T],
    input_stride: usize,
    output: &mut [U],
    output_stride: usize,
    extent: [usize; 2],
    convert: impl Fn(T) -> U,
) {
    for i0 in (0..extent[0]).step_by(BLOCK) {
        for j0 in (0..extent[1]).step_by(BLOCK) {
            for j in j0..(j0 + BLOCK).min(extent[1]) {
                for i in i0..(i0 + BLOCK).min(extent[0]) {
                    output[j * output_stride + i] = convert(input[i * input_stride + j]);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Grid sizes of the tests: even, odd, prime, mixed and degenerate.
    const SIZES: [[usize; 3]; 7] = [[4, 6, 8], [5, 7, 9], [8, 3, 5], [1, 1, 1], [17, 2, 10], [18, 20, 1], [2, 33, 6]];

    fn data(size: [usize; 3]) -> Vec<f64> {
        (0..size.iter().product()).map(|i| ((i * i * 31 + 7 * i) % 101) as f64 / 50.0 - 1.0).collect()
    }

    /// Returns Σ f(r) e^{−2πi k·r/n}, summed by the definition.
    fn naive(size: [usize; 3], real: &[f64], k: [usize; 3]) -> Complex<f64> {
        let [nx, ny, nz] = size;
        let turns = |k: usize, r: usize, n: usize| ((k * r) % n) as f64 / n as f64;
        let mut sum = Complex::default();
        for (index, &value) in real.iter().enumerate() {
            let (x, y, z) = (index / (ny * nz), index / nz % ny, index % nz);
            let phase = turns(k[0], x, nx) + turns(k[1], y, ny) + turns(k[2], z, nz);
            sum += Complex::from_polar(value, -std::f64::consts::TAU * phase);
        }
        sum
    }

    #[test]
    fn forward_is_the_definition() {
        for size in SIZES {
            let input = data(size);
            let mut fft = Fft3::new(size);
            let [nx, ny, mz] = fft.reciprocal_size();
            let mut complex = vec![Complex::default(); nx * ny * mz];
            // the second round would fail if the first round had left wrong values in the work space
            for _ in 0..2 {
                fft.forward(&mut input.clone(), &mut complex);
            }
            for (index, &value) in complex.iter().enumerate() {
                let expected = naive(size, &input, [index / (ny * mz), index / mz % ny, index % mz]);
                // the rounding error grows like log n · ε · √n, which is far below this tolerance for a few hundred
                // points
                assert!((value - expected).norm() < 1e-12 * input.len() as f64, "{size:?} at {index}");
            }
        }
    }

    #[test]
    fn inverse_undoes_forward_times_the_number_of_points() {
        for size in SIZES {
            let input = data(size);
            let mut fft = Fft3::new(size);
            let mut complex = vec![Complex::default(); fft.reciprocal_size().iter().product()];
            let mut real = input.clone();
            fft.forward(&mut real, &mut complex);
            fft.inverse(&mut complex, &mut real);
            let points = input.len() as f64;
            assert!(real.iter().zip(&input).all(|(a, b)| (a / points - b).abs() < 1e-14), "{size:?}");
        }
    }

    #[test]
    fn single_precision_agrees() {
        let size = [12, 10, 14];
        let input: Vec<f32> = data(size).iter().map(|&v| v as f32).collect();
        let mut fft = Fft3::new(size);
        let mut complex = vec![Complex::default(); fft.reciprocal_size().iter().product()];
        let mut real = input.clone();
        fft.forward(&mut real, &mut complex);
        fft.inverse(&mut complex, &mut real);
        let points = input.len() as f32;
        // tolerance for several rounding errors of 6e-8 on values up to 1
        assert!(real.iter().zip(&input).all(|(a, b)| (a / points - b).abs() < 1e-6));
    }

    #[test]
    fn bits_do_not_depend_on_the_number_of_threads() {
        let size = [30, 21, 16];
        let spectrum = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let mut fft = Fft3::new(size);
                let mut complex = vec![Complex::default(); fft.reciprocal_size().iter().product()];
                fft.forward(&mut data(size), &mut complex);
                complex
            })
        };
        assert!(spectrum(1) == spectrum(3));
    }
}
