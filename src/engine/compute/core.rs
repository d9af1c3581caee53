//! Common interface to Fourier transforms and matrix products on the host and on a GPU.

use super::{Fft3, FftReal, GemmReal, Matrix, gemm};
use crate::error::Result;
use num_complex::Complex;
use std::borrow::Cow;
use std::ops::Range;

/// Element type of an array: a real or complex number.
///
/// # Safety
/// The type has no padding, and every bit pattern is a valid value.
pub unsafe trait Number: Copy + Default + Send + Sync + 'static {}
// SAFETY: every bit pattern is a float; a complex number is two floats without padding
unsafe impl Number for f32 {}
// SAFETY: the reason is the same as for `f32`
unsafe impl Number for f64 {}
// SAFETY: the reason is the same as for `f32`
unsafe impl<T: Real> Number for Complex<T> {}

/// Precision of a floating-point type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    /// `f32`
    Single,
    /// `f64`
    Double,
}

/// Real number types for transforms and products: `f32` and `f64`.
pub trait Real: FftReal + GemmReal + Number {
    /// Precision of the type. The precision selects the library function for the type.
    const PRECISION: Precision;
}
impl Real for f32 {
    const PRECISION: Precision = Precision::Single;
}
impl Real for f64 {
    const PRECISION: Precision = Precision::Double;
}

/// A device for Fourier transforms and matrix products, with its own memory.
///
/// Operations run asynchronously in the order of the calls: an operation may still run when its call returns, and its
/// errors may be reported later. A mismatch of sizes is an error of the caller and causes a panic.
pub trait Core {
    /// An array in the memory of the device. An array on the host may borrow its elements.
    type Array<'a, T: Number>;
    /// A plan for Fourier transforms of one size.
    type Fft<T: Real>;

    /// Creates an array with the given values.
    fn store<'a, T: Number>(&self, values: &'a [T]) -> Result<Self::Array<'a, T>>;
    /// Creates an array of zeros.
    fn zeros<T: Number>(&self, length: usize) -> Result<Self::Array<'static, T>>;
    /// Waits for all work, and returns the values of an array.
    fn read<'b, T: Number>(&self, array: &'b Self::Array<'_, T>) -> Result<Cow<'b, [T]>>;
    /// Plans transforms of n_x × n_y × n_z real points, with each number at least 1. Arrays are laid out as for
    /// [`Fft3`].
    fn plan<T: Real>(&self, size: [usize; 3]) -> Result<Self::Fft<T>>;
    /// Transforms `real` into `complex` and overwrites `real`; see [`Fft3::forward`].
    fn forward<T: Real>(
        &self,
        fft: &mut Self::Fft<T>,
        real: &mut Self::Array<'_, T>,
        complex: &mut Self::Array<'_, Complex<T>>,
    ) -> Result<()>;
    /// Transforms `complex` into `real` and overwrites `complex`. The result is not normalised. `complex` must be the
    /// transform of real numbers, so that the elements at wave vectors k with k = −k (modulo the size) are real.
    fn inverse<T: Real>(
        &self,
        fft: &mut Self::Fft<T>,
        complex: &mut Self::Array<'_, Complex<T>>,
        real: &mut Self::Array<'_, T>,
    ) -> Result<()>;
    /// Computes C ← α A B + β C, where C is row-major and begins at the start of its array; see [`gemm`].
    fn gemm<T: Real>(
        &self,
        alpha: T,
        a: Operand<'_, Self::Array<'_, T>>,
        b: Operand<'_, Self::Array<'_, T>>,
        beta: T,
        c: &mut Self::Array<'_, T>,
    ) -> Result<()>;
    /// Waits until all operations that earlier calls have started are done.
    fn wait(&self) -> Result<()>;
}

/// Location of a matrix in an array. The matrix is the stored row-major matrix or its transpose.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Layout {
    /// range of the elements of the matrix in the array
    pub(super) span: Range<usize>,
    /// number of columns of the stored matrix
    pub(super) columns: usize,
    pub(super) transposed: bool,
}

impl Layout {
    /// Returns the numbers of rows and columns of the matrix, after transposition.
    pub(super) fn size(&self) -> [usize; 2] {
        let rows = self.span.len() / self.columns;
        if self.transposed { [self.columns, rows] } else { [rows, self.columns] }
    }
}

/// A matrix in an array of a [`Core`].
#[derive(Debug)]
pub struct Operand<'a, A> {
    pub(super) array: &'a A,
    pub(super) layout: Layout,
}

impl<'a, A> Operand<'a, A> {
    /// Returns the matrix that consists of the given rows of an array. The array stores rows of `columns` ≥ 1 elements
    /// one after another.
    pub fn new(array: &'a A, rows: Range<usize>, columns: usize) -> Self {
        Operand { array, layout: Layout { span: rows.start * columns..rows.end * columns, columns, transposed: false } }
    }

    /// Returns the transpose of the matrix, which uses the same elements in memory.
    pub fn transposed(mut self) -> Self {
        self.layout.transposed ^= true;
        self
    }
}

/// The host as a [`Core`], with the threads of the current rayon pool and the memory of the host.
#[derive(Clone, Copy, Debug)]
pub struct HostCore;

impl Core for HostCore {
    type Array<'a, T: Number> = Cow<'a, [T]>;
    type Fft<T: Real> = Fft3;

    fn store<'a, T: Number>(&self, values: &'a [T]) -> Result<Cow<'a, [T]>> {
        Ok(Cow::Borrowed(values))
    }

    fn zeros<T: Number>(&self, length: usize) -> Result<Cow<'static, [T]>> {
        Ok(Cow::Owned(vec![T::default(); length]))
    }

    fn read<'b, T: Number>(&self, array: &'b Cow<'_, [T]>) -> Result<Cow<'b, [T]>> {
        Ok(Cow::Borrowed(array))
    }

    fn plan<T: Real>(&self, size: [usize; 3]) -> Result<Fft3> {
        Ok(Fft3::new(size))
    }

    fn forward<T: Real>(
        &self,
        fft: &mut Fft3,
        real: &mut Cow<'_, [T]>,
        complex: &mut Cow<'_, [Complex<T>]>,
    ) -> Result<()> {
        fft.forward(real.to_mut(), complex.to_mut());
        Ok(())
    }

    fn inverse<T: Real>(
        &self,
        fft: &mut Fft3,
        complex: &mut Cow<'_, [Complex<T>]>,
        real: &mut Cow<'_, [T]>,
    ) -> Result<()> {
        fft.inverse(complex.to_mut(), real.to_mut());
        Ok(())
    }

    fn gemm<T: Real>(
        &self,
        alpha: T,
        a: Operand<'_, Cow<'_, [T]>>,
        b: Operand<'_, Cow<'_, [T]>>,
        beta: T,
        c: &mut Cow<'_, [T]>,
    ) -> Result<()> {
        let (a, b) = (matrix(&a), matrix(&b));
        gemm(alpha, a, b, beta, &mut c.to_mut()[..a.rows() * b.columns()]);
        Ok(())
    }

    fn wait(&self) -> Result<()> {
        Ok(())
    }
}

fn matrix<'a, T>(operand: &Operand<'a, Cow<'_, [T]>>) -> Matrix<'a, T>
where
    [T]: ToOwned,
{
    let Layout { span, columns, transposed } = operand.layout.clone();
    let stored = Matrix::new(&operand.array[span], columns);
    if transposed { stored.transposed() } else { stored }
}

#[cfg(test)]
#[allow(clippy::print_stderr, reason = "a skipped test says why")]
mod tests {
    use super::*;
    use crate::compute::CudaCore;
    use std::fmt::Debug;

    const SIZE: [usize; 3] = [4, 6, 10];
    /// Wave vector k that differs from −k, modulo the grid size, along every axis.
    const WAVE: [usize; 3] = [1, 2, 3];

    /// Tests transforms of 3 + 2 cos φ + ½ sin φ with φ = 2π k·r/n on N grid points. The transform is 3 N at 0, N (1 −
    /// i/4) at k, and zero elsewhere in the stored half. The inverse transform is N times the input. `rounding` is the
    /// tolerance for values up to 3 N.
    fn check_waves<T: Real + Debug>(core: &impl Core, rounding: f64) {
        let [nx, ny, nz] = SIZE;
        let (mz, points) = (nz / 2 + 1, (nx * ny * nz) as f64);
        let values: Vec<T> = (0..nx * ny * nz)
            .map(|index| {
                let r = [index / (ny * nz), index / nz % ny, index % nz];
                let turns: f64 = (0..3).map(|axis| (WAVE[axis] * r[axis]) as f64 / SIZE[axis] as f64).sum();
                let (sin, cos) = (std::f64::consts::TAU * turns).sin_cos();
                T::nearest(3.0 + 2.0 * cos + 0.5 * sin)
            })
            .collect();
        let double = |value: T| -> f64 { value.into() };
        let mut fft = core.plan::<T>(SIZE).expect("a plan");
        let mut real = core.store(&values).expect("room");
        let mut complex = core.zeros::<Complex<T>>(nx * ny * mz).expect("room");
        core.forward(&mut fft, &mut real, &mut complex).expect("a transform");
        for (index, found) in core.read(&complex).expect("a spectrum").iter().enumerate() {
            let expected = match [index / (ny * mz), index / mz % ny, index % mz] {
                [0, 0, 0] => Complex::new(3.0, 0.0),
                WAVE => Complex::new(1.0, -0.25),
                _ => Complex::default(),
            };
            let error = Complex::new(double(found.re), double(found.im)) - expected * points;
            assert!(error.norm() <= rounding * points, "{index}: {found:?} for {expected}");
        }
        core.inverse(&mut fft, &mut complex, &mut real).expect("a transform");
        for (found, value) in core.read(&real).expect("a grid").iter().zip(&values) {
            assert!((double(*found) - points * double(*value)).abs() <= rounding * points, "{found:?} for {value:?}");
        }
    }

    /// Tests products of (1 2; 3 4; 5 6) with rows of (7 8; 9 10). Products of small integers are exact.
    fn check_products<T: Real + Debug + PartialEq>(core: &impl Core) {
        let numbers = |values: &[i32]| values.iter().map(|&v| T::nearest(f64::from(v))).collect::<Vec<T>>();
        let [minus_one, zero, one] = [-1.0, 0.0, 1.0].map(T::nearest);
        let (left, right) = (numbers(&[0, 0, 1, 2, 3, 4, 5, 6]), numbers(&[7, 8, 9, 10]));
        let [a, b] = [&left, &right].map(|values| core.store(values).expect("room"));
        let mut c = core.zeros::<T>(6).expect("room");
        let matrix = || Operand::new(&a, 1..4, 2);
        core.gemm(one, matrix(), Operand::new(&b, 0..2, 2), zero, &mut c).expect("a product");
        assert_eq!(*core.read(&c).expect("numbers"), numbers(&[25, 28, 57, 64, 89, 100]));
        core.gemm(one, matrix(), Operand::new(&b, 0..2, 2).transposed(), minus_one, &mut c).expect("a product");
        assert_eq!(*core.read(&c).expect("numbers"), numbers(&[-2, 1, -4, 3, -6, 5]));
        // Aᵀ A is smaller than the array `c`; the elements of `c` beyond Aᵀ A must stay unchanged
        core.gemm(one, matrix().transposed(), matrix(), zero, &mut c).expect("a product");
        assert_eq!(*core.read(&c).expect("numbers"), numbers(&[35, 44, 44, 56, -6, 5]));
    }

    fn check(core: &impl Core) {
        // tolerance for several roundings of numbers up to 3
        check_waves::<f32>(core, 20.0 * f64::from(f32::EPSILON));
        check_waves::<f64>(core, 20.0 * f64::EPSILON);
        check_products::<f32>(core);
        check_products::<f64>(core);
    }

    #[test]
    fn the_host_transforms_and_multiplies() {
        check(&HostCore);
    }

    #[test]
    fn a_gpu_transforms_and_multiplies() {
        match CudaCore::open(0) {
            Ok(core) => check(&core),
            Err(error) => eprintln!("skipped: {error}"),
        }
    }
}
