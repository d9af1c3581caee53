//! The number types of the libraries: one function of each library for each.

use super::gemm::Call;
use cudarc::cublas::{result as cublas, sys as blas};
use cudarc::cufft::{result as cufft, sys as fft};
use std::result::Result;

/// The libraries' work for a number type. Addresses are the device's.
pub trait DeviceReal: Sized {
    /// real to complex, and back
    const TRANSFORMS: [fft::cufftType; 2];

    /// Forward transform.
    ///
    /// # Safety
    /// A plan of the first kind, and arrays of its size.
    unsafe fn forward(plan: fft::cufftHandle, real: u64, complex: u64) -> Result<(), cufft::CufftError>;

    /// Inverse transform, not normalised.
    ///
    /// # Safety
    /// A plan of the second kind, and arrays of its size.
    unsafe fn inverse(plan: fft::cufftHandle, complex: u64, real: u64) -> Result<(), cufft::CufftError>;

    /// A product.
    ///
    /// # Safety
    /// A handle, and arrays that hold the matrices of the call.
    unsafe fn multiply(
        handle: blas::cublasHandle_t,
        call: &Call,
        factors: [Self; 2],
        arrays: [u64; 3],
    ) -> Result<(), cublas::CublasError>;
}

macro_rules! device_real {
    ($real:ty, $forward:ident $inverse:ident, $to_complex:path, $to_real:path, $product:path) => {
        impl DeviceReal for $real {
            const TRANSFORMS: [fft::cufftType; 2] = [fft::cufftType::$forward, fft::cufftType::$inverse];

            unsafe fn forward(plan: fft::cufftHandle, real: u64, complex: u64) -> Result<(), cufft::CufftError> {
                // SAFETY: the caller's promise
                unsafe { $to_complex(plan, real as *mut _, complex as *mut _) }
            }

            unsafe fn inverse(plan: fft::cufftHandle, complex: u64, real: u64) -> Result<(), cufft::CufftError> {
                // SAFETY: the caller's promise
                unsafe { $to_real(plan, complex as *mut _, real as *mut _) }
            }

            unsafe fn multiply(
                handle: blas::cublasHandle_t,
                call: &Call,
                [alpha, beta]: [Self; 2],
                [a, b, c]: [u64; 3],
            ) -> Result<(), cublas::CublasError> {
                use blas::cublasOperation_t::{CUBLAS_OP_N, CUBLAS_OP_T};
                let operation = |transposed| if transposed { CUBLAS_OP_T } else { CUBLAS_OP_N };
                let ([first, second], [m, n, k]) = (call.transposed.map(operation), call.size);
                let ([b_leading, a_leading, c_leading], c) = (call.leading, c as *mut Self);
                let (a, b) = (a as *const Self, b as *const Self);
                // SAFETY: the caller's promise; the library reads the factors before it returns
                unsafe {
                    $product(handle, first, second, m, n, k, &alpha, b, b_leading, a, a_leading, &beta, c, c_leading)
                }
            }
        }
    };
}
device_real!(f32, CUFFT_R2C CUFFT_C2R, cufft::exec_r2c, cufft::exec_c2r, cublas::sgemm);
device_real!(f64, CUFFT_D2Z CUFFT_Z2D, cufft::exec_d2z, cufft::exec_z2d, cublas::dgemm);
