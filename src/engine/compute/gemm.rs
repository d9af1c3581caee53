//! Products of dense matrices.
//!
//! The `matrixmultiply` crate, a dependency of nalgebra, does the arithmetic with AVX-512, AVX2 or portable code,
//! chosen at run time. `matrixmultiply` reaches nine tenths of the speed of the fastest pure-Rust crates on large
//! square matrices, and the full speed of these crates on the matrix shapes of trajectory analysis. The rows of the
//! result are distributed over the threads of the current rayon pool.

use rayon::prelude::*;

/// Number types of matrix products: `f32` and `f64`.
pub trait GemmReal: Copy + Send + Sync + private::Kernel {}
impl GemmReal for f32 {}
impl GemmReal for f64 {}

mod private {
    /// Pointer to the first element of a matrix, with its row stride and column stride.
    pub(super) type At<T> = (*const T, [isize; 2]);

    /// Matrix product on one thread.
    pub trait Kernel: Sized {
        /// Computes C ← α A B + β C, where A is m × k, B is k × n, and C is row-major.
        ///
        /// # Safety
        /// Every element that the sizes and strides address must be inside the memory of its matrix, and C must overlap
        /// neither A nor B.
        unsafe fn multiply(size: [usize; 3], alpha: Self, a: At<Self>, b: At<Self>, beta: Self, c: *mut Self);
    }

    macro_rules! kernel {
        ($real:ty, $function:path) => {
            impl Kernel for $real {
                unsafe fn multiply(size: [usize; 3], alpha: Self, a: At<Self>, b: At<Self>, beta: Self, c: *mut Self) {
                    let ([m, k, n], (a, [ra, ca]), (b, [rb, cb])) = (size, a, b);
                    // SAFETY: the caller guarantees the same conditions
                    unsafe { $function(m, k, n, alpha, a, ra, ca, b, rb, cb, beta, c, n as isize, 1) }
                }
            }
        };
    }
    kernel!(f32, matrixmultiply::sgemm);
    kernel!(f64, matrixmultiply::dgemm);
}

/// A matrix over borrowed numbers: row-major, or the transpose of a row-major matrix.
#[derive(Clone, Copy, Debug)]
pub struct Matrix<'a, T> {
    data: &'a [T],
    rows: usize,
    columns: usize,
    /// number of elements from one row to the next, and from one column to the next
    strides: [usize; 2],
}

impl<'a, T> Matrix<'a, T> {
    /// Returns the matrix with element (i, j) at `data[i · columns + j]`. `data` holds whole rows of at least one
    /// column.
    pub fn new(data: &'a [T], columns: usize) -> Self {
        let rows = data.len() / columns;
        assert_eq!(data.len(), rows * columns, "`data` must consist of whole rows");
        Self { data, rows, columns, strides: [columns, 1] }
    }

    /// Returns the transpose of the matrix, which borrows the same numbers.
    pub fn transposed(self) -> Self {
        let [row, column] = self.strides;
        Self { data: self.data, rows: self.columns, columns: self.rows, strides: [column, row] }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Returns a pointer to the first element of row `first`, and the strides.
    fn at_row(&self, first: usize) -> private::At<T> {
        // the conversion cannot overflow, because no stride is longer than the slice, which has at most isize::MAX
        // elements
        (self.data[first * self.strides[0]..].as_ptr(), self.strides.map(|stride| stride as isize))
    }
}

/// Number of portions of rows of C per thread. More portions would balance the load better, but each portion packs B
/// again.
const PORTIONS_PER_THREAD: usize = 2;
/// Each kernel of `matrixmultiply` computes a number of rows of the result at once, and this constant is a multiple of
/// that number.
const KERNEL_ROWS: usize = 16;

/// Computes C ← α A B + β C, with C row-major. Rows of C are distributed over the current rayon pool. Every element
/// is summed in the same order for any distribution, so the result does not depend on the number of threads. C is not
/// read if β is zero.
pub fn gemm<T: GemmReal>(alpha: T, a: Matrix<'_, T>, b: Matrix<'_, T>, beta: T, c: &mut [T]) {
    let (rows, inner, columns) = (a.rows, a.columns, b.columns);
    assert_eq!(inner, b.rows, "the left matrix must have as many columns as the right matrix has rows");
    assert_eq!(c.len(), rows * columns, "the result must have {rows} × {columns} elements");
    if c.is_empty() {
        return;
    }
    let portion = rows.div_ceil(PORTIONS_PER_THREAD * rayon::current_num_threads()).next_multiple_of(KERNEL_ROWS);
    c.par_chunks_mut(portion * columns).enumerate().for_each(|(part, c)| {
        let size = [c.len() / columns, inner, columns];
        // SAFETY: `Matrix` spans exactly its rows and columns. This call uses the rows of A from index `part * portion`
        // on, one for each row of `c`. `c` is borrowed mutably, so it overlaps neither `a` nor `b`.
        unsafe {
            T::multiply(size, alpha, a.at_row(part * portion), b.at_row(0), beta, c.as_mut_ptr());
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns small integers, whose sums are exact even in f32, so that results can be compared bit by bit.
    fn whole(count: usize, seed: usize) -> Vec<f64> {
        (0..count).map(|i| ((i * 7919 + seed) % 17) as f64 - 8.0).collect()
    }

    fn naive(alpha: f64, a: &[f64], b: &[f64], beta: f64, c: &[f64], inner: usize, columns: usize) -> Vec<f64> {
        let element = |(at, &old): (usize, &f64)| {
            let (i, j) = (at / columns, at % columns);
            alpha * (0..inner).map(|k| a[i * inner + k] * b[k * columns + j]).sum::<f64>() + beta * old
        };
        c.iter().enumerate().map(element).collect()
    }

    fn single(values: &[f64]) -> Vec<f32> {
        values.iter().map(|&v| v as f32).collect()
    }

    fn transposed(values: &[f64], columns: usize) -> Vec<f64> {
        let rows = values.len() / columns;
        (0..values.len()).map(|at| values[at % rows * columns + at / rows]).collect()
    }

    #[test]
    fn every_shape_and_transpose_is_the_plain_sum() {
        for [m, k, n] in [[1, 1, 1], [3, 5, 7], [2, 300, 4], [97, 33, 65], [200, 17, 193], [5, 1, 96]] {
            let (a, b, c) = (whole(m * k, 1), whole(k * n, 2), whole(m * n, 3));
            let expected = naive(2.0, &a, &b, -3.0, &c, k, n);
            let (at, bt) = (transposed(&a, k), transposed(&b, n));
            for left in [Matrix::new(&a, k), Matrix::new(&at, m).transposed()] {
                for right in [Matrix::new(&b, n), Matrix::new(&bt, k).transposed()] {
                    assert_eq!([left.rows(), left.columns(), right.columns()], [m, k, n]);
                    let mut found = c.clone();
                    gemm(2.0, left, right, -3.0, &mut found);
                    assert_eq!(found, expected, "{m} × {k} × {n}");
                }
            }
            let mut found = single(&c);
            gemm(2.0, Matrix::new(&single(&a), k), Matrix::new(&single(&b), n), -3.0, &mut found);
            assert_eq!(found, single(&expected), "{m} × {k} × {n} in f32");
        }
    }

    #[test]
    fn a_zero_beta_does_not_read_the_result() {
        let mut c = [f64::NAN; 4];
        gemm(1.0, Matrix::new(&[1.0, 2.0], 1), Matrix::new(&[3.0, 4.0], 2), 0.0, &mut c);
        assert_eq!(c, [3.0, 4.0, 6.0, 8.0]);
    }

    #[test]
    fn threads_do_not_change_a_bit() {
        let a: Vec<f32> = (0..301 * 407).map(|i| (i as f32 * 0.37).sin()).collect();
        let product = |threads| {
            let mut c = vec![0f32; 301 * 301];
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| gemm(1.0, Matrix::new(&a, 407), Matrix::new(&a, 407).transposed(), 0.0, &mut c));
            c
        };
        let one = product(1);
        assert!([2, 3, 7].into_iter().all(|threads| product(threads) == one));
    }
}
