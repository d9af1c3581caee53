//! Functions of cuFFT and cuBLAS for each number type. All addresses of arrays are addresses in the memory of the GPU.

use super::gemm::Call;
use crate::compute::{Precision, Real};
use cudarc::cublas::{result as cublas, sys as blas};
use cudarc::cufft::{result as cufft, sys as fft};
use std::result::Result;

/// Returns the transform types of cuFFT: real to complex, and complex to real.
pub(super) fn transforms<T: Real>() -> [fft::cufftType; 2] {
    match T::PRECISION {
        Precision::Single => [fft::cufftType::CUFFT_R2C, fft::cufftType::CUFFT_C2R],
        Precision::Double => [fft::cufftType::CUFFT_D2Z, fft::cufftType::CUFFT_Z2D],
    }
}

/// Starts a forward transform of the array `real` into the array `complex`.
///
/// # Safety
/// The plan has the first type of [`transforms`], and the arrays have the size of the plan.
pub(super) unsafe fn forward<T: Real>(
    plan: fft::cufftHandle,
    real: u64,
    complex: u64,
) -> Result<(), cufft::CufftError> {
    // SAFETY: the caller guarantees the safety conditions
    unsafe {
        match T::PRECISION {
            Precision::Single => cufft::exec_r2c(plan, real as *mut _, complex as *mut _),
            Precision::Double => cufft::exec_d2z(plan, real as *mut _, complex as *mut _),
        }
    }
}

/// Starts an inverse transform. The result is not normalised.
///
/// # Safety
/// The plan has the second type of [`transforms`], and the arrays have the size of the plan.
pub(super) unsafe fn inverse<T: Real>(
    plan: fft::cufftHandle,
    complex: u64,
    real: u64,
) -> Result<(), cufft::CufftError> {
    // SAFETY: the caller guarantees the safety conditions
    unsafe {
        match T::PRECISION {
            Precision::Single => cufft::exec_c2r(plan, complex as *mut _, real as *mut _),
            Precision::Double => cufft::exec_z2d(plan, complex as *mut _, real as *mut _),
        }
    }
}

/// Starts the matrix product that `call` describes.
///
/// # Safety
/// The handle is valid, and the arrays hold the matrices that `call` describes.
pub(super) unsafe fn multiply<T: Real>(
    handle: blas::cublasHandle_t,
    call: &Call,
    factors: [T; 2],
    [a, b, c]: [u64; 3],
) -> Result<(), cublas::CublasError> {
    use blas::cublasOperation_t::{CUBLAS_OP_N, CUBLAS_OP_T};
    let operation = |transposed| if transposed { CUBLAS_OP_T } else { CUBLAS_OP_N };
    let ([first, second], [m, n, k]) = (call.transposed.map(operation), call.size);
    let [b_leading, a_leading, c_leading] = call.leading;
    let [alpha, beta] = [&raw const factors[0], &raw const factors[1]];
    macro_rules! product {
        ($real:ty, $function:path) => {{
            let (a, b, c) = (a as *const $real, b as *const $real, c as *mut $real);
            let (alpha, beta) = (alpha.cast::<$real>(), beta.cast::<$real>());
            // SAFETY: the caller guarantees the safety conditions; the number type matches `T::PRECISION`, and the
            // library reads the factors before it returns
            unsafe { $function(handle, first, second, m, n, k, alpha, b, b_leading, a, a_leading, beta, c, c_leading) }
        }};
    }
    match T::PRECISION {
        Precision::Single => product!(f32, cublas::sgemm),
        Precision::Double => product!(f64, cublas::dgemm),
    }
}
