//! Products of dense matrices by cuBLAS.

use super::{failed, not_found, real};
use crate::compute::Real;
use crate::compute::core::Layout;
use crate::error::{Error, Result};
use cudarc::cublas::{result, sys};
use cudarc::driver::CudaStream;
use std::sync::Arc;

/// Converts an error of cuBLAS.
fn library_failed(what: &str) -> impl Fn(result::CublasError) -> Error + '_ {
    move |error| Error::Device(format!("cuBLAS: {what}: {error:?}"))
}

/// Returns an error if cuBLAS cannot be opened.
fn check() -> Result<()> {
    // SAFETY: the call opens and closes a library of NVIDIA by name
    if unsafe { sys::is_culib_present() } {
        return Ok(());
    }
    Err(not_found("library of matrix products", "libcublas", ["libcublas", "nvidia-cublas-cu12"]))
}

/// Arguments of the BLAS function gemm for C ← α A B + β C.
///
/// BLAS stores matrices column by column, so BLAS reads a row-major matrix as the transpose of that matrix. BLAS
/// therefore computes Cᵀ ← α Bᵀ Aᵀ + β Cᵀ: the first matrix of the BLAS call is B, and the second matrix is A.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Call {
    /// whether BLAS transposes the first matrix, and whether BLAS transposes the second matrix
    pub(super) transposed: [bool; 2],
    /// number of rows and number of columns of the matrix that BLAS returns (the transpose of C), and number of terms
    /// in each sum
    pub(super) size: [i32; 3],
    /// leading dimensions of the first matrix, the second matrix and the result, in elements
    pub(super) leading: [i32; 3],
}

impl Call {
    pub(super) fn new(a: &Layout, b: &Layout) -> Result<Self> {
        let ([rows, inner], [same, columns]) = (a.size(), b.size());
        assert_eq!(inner, same, "the left matrix must have as many columns as the right matrix has rows");
        let number = |n: usize| {
            i32::try_from(n).map_err(|_| Error::Device(format!("cuBLAS: a matrix with an edge of {n} is too large")))
        };
        Ok(Call {
            transposed: [b.transposed, a.transposed],
            size: [number(columns)?, number(rows)?, number(inner)?],
            leading: [number(b.columns)?, number(a.columns)?, number(columns.max(1))?],
        })
    }

    /// Returns whether both matrices and the result fit into arrays of these lengths.
    pub(super) fn fits(&self, a: &Layout, b: &Layout, lengths: [usize; 3]) -> bool {
        let [m, n, _] = self.size.map(|n| n as usize);
        a.span.end <= lengths[0] && b.span.end <= lengths[1] && m * n <= lengths[2]
    }
}

/// A cuBLAS handle for one stream.
pub(super) struct Blas {
    handle: sys::cublasHandle_t,
    stream: Arc<CudaStream>,
}

// SAFETY: any thread may use a cuBLAS handle after binding the context, and every method binds the context. `Blas` is
// not `Sync`, so that no two threads use a handle at the same time
unsafe impl Send for Blas {}

impl Blas {
    pub(super) fn new(stream: &Arc<CudaStream>) -> Result<Self> {
        check()?;
        stream.context().bind_to_thread().map_err(failed("the context cannot be bound"))?;
        let handle = result::create_handle().map_err(library_failed("does not start"))?;
        let blas = Blas { handle, stream: stream.clone() };
        // SAFETY: the handle is new, and the stream lives as long as the handle
        unsafe { result::set_stream(handle, stream.cu_stream().cast()) }
            .map_err(library_failed("the stream cannot be set"))?;
        Ok(blas)
    }

    /// Starts a product. `factors` are α and β; `arrays` are the addresses of the first matrix, the second matrix and
    /// the result of BLAS.
    ///
    /// # Safety
    /// The arrays are on the GPU of the stream and hold the matrices that `call` describes.
    pub(super) unsafe fn multiply<T: Real>(&self, call: &Call, factors: [T; 2], arrays: [u64; 3]) -> Result<()> {
        if call.size[0] == 0 || call.size[1] == 0 {
            return Ok(());
        }
        self.stream.context().bind_to_thread().map_err(failed("the context cannot be bound"))?;
        // SAFETY: the caller guarantees the safety conditions
        unsafe { real::multiply(self.handle, call, factors, arrays) }.map_err(library_failed("the product"))
    }
}

impl Drop for Blas {
    fn drop(&mut self) {
        // an error is ignored, because `drop` cannot return an error
        let _ = self.stream.context().bind_to_thread();
        // SAFETY: `new` has made the handle, which is not used after this call
        let _ = unsafe { result::destroy_handle(self.handle) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compute::{Core, HostCore, Operand};
    use std::borrow::Cow;

    /// Number of rows of the array before the tested matrix, and also number of rows after the tested matrix.
    const BESIDE: usize = 2;

    /// Computes the product by the definition of BLAS, with α = 2 and β = −3. Matrices are column-major. The first
    /// matrix is m × k, and the second matrix is k × n.
    fn blas(call: &Call, first: &[f64], second: &[f64], result: &mut [f64]) {
        let ([m, n, k], [a, b, c]) = (call.size.map(|n| n as usize), call.leading.map(|n| n as usize));
        let [stored_rows_a, stored_rows_b] = [[m, k], [k, n]];
        assert!(a >= stored_rows_a[usize::from(call.transposed[0])], "BLAS refuses {call:?}");
        assert!(b >= stored_rows_b[usize::from(call.transposed[1])] && c >= m, "BLAS refuses {call:?}");
        let left = |i: usize, l: usize| if call.transposed[0] { first[i * a + l] } else { first[l * a + i] };
        let right = |l: usize, j: usize| if call.transposed[1] { second[l * b + j] } else { second[j * b + l] };
        for j in 0..n {
            for i in 0..m {
                let sum: f64 = (0..k).map(|l| left(i, l) * right(l, j)).sum();
                result[j * c + i] = 2.0 * sum - 3.0 * result[j * c + i];
            }
        }
    }

    /// Returns a matrix in the middle of an array.
    fn operand<A>(array: &A, [rows, columns]: [usize; 2], transposed: bool) -> Operand<'_, A> {
        let [rows, columns] = if transposed { [columns, rows] } else { [rows, columns] };
        let stored = Operand::new(array, BESIDE..BESIDE + rows, columns);
        if transposed { stored.transposed() } else { stored }
    }

    /// Returns small integers, whose sums are exact.
    fn whole(count: usize, seed: usize) -> Vec<f64> {
        (0..count).map(|i| ((i * 7919 + seed) % 17) as f64 - 8.0).collect()
    }

    #[test]
    fn column_major_products_are_the_row_major_ones() {
        for [m, k, n] in [[1, 1, 1], [3, 5, 7], [4, 4, 4], [7, 2, 3], [2, 9, 1]] {
            for (left, right) in [(false, false), (true, false), (false, true), (true, true)] {
                let length = (m.max(k).max(n) + 2 * BESIDE) * m.max(k).max(n);
                let [a, b]: [Cow<[f64]>; 2] = [1, 2].map(|seed| Cow::Owned(whole(length, seed)));
                let (first, second) = (operand(&a, [m, k], left), operand(&b, [k, n], right));
                let call = Call::new(&first.layout, &second.layout).expect("small sizes");
                assert!(call.fits(&first.layout, &second.layout, [length, length, m * n]));
                assert!(!call.fits(&first.layout, &second.layout, [first.layout.span.end - 1, length, m * n]));
                assert!(!call.fits(&first.layout, &second.layout, [length, second.layout.span.end - 1, m * n]));
                assert!(!call.fits(&first.layout, &second.layout, [length, length, m * n - 1]));
                let mut found = whole(m * n, 3);
                let mut expected: Cow<[f64]> = Cow::Owned(found.clone());
                blas(&call, &b[second.layout.span.start..], &a[first.layout.span.start..], &mut found);
                HostCore.gemm(2.0, first, second, -3.0, &mut expected).expect("the host");
                assert_eq!(found, *expected, "{m} x {k} x {n}, transposed: {left} {right}");
            }
        }
    }

    #[test]
    fn matrices_that_are_too_large_are_refused() {
        let layout = |span, columns| Layout { span, columns, transposed: false };
        let edge = 1usize << 31;
        let error = Call::new(&layout(0..edge, 1), &layout(0..1, 1)).expect_err("too many rows for BLAS");
        assert!(error.to_string().contains("2147483648"), "{error}");
    }
}
