//! Fourier transforms of arrays on a GPU, by cuFFT or as a fallback on the CPU.

use super::failed;
use super::fft::{self, CudaFft};
use crate::compute::Fft3;
use crate::error::Result;
use cudarc::driver::{CudaStream, result};
use num_complex::Complex;
use std::cell::RefCell;
use std::sync::Arc;

/// Transforms of one size on one stream, by cuFFT. If cuFFT cannot be loaded, arrays are copied to the host,
/// transformed on the CPU and copied back.
pub(crate) enum DeviceFft {
    /// transforms by cuFFT
    Cuda(CudaFft<f32>),
    /// transforms on the CPU, on the current rayon pool, with copies in both directions
    Host(RefCell<HostFft>),
}

/// The transform on the CPU, with host buffers for the arrays of the GPU.
pub(crate) struct HostFft {
    fft: Fft3,
    real: Vec<f32>,
    complex: Vec<Complex<f32>>,
    stream: Arc<CudaStream>,
}

impl DeviceFft {
    /// Plans transforms of a real grid of this size.
    pub(crate) fn new(size: [usize; 3], stream: &Arc<CudaStream>) -> Result<Self> {
        if fft::check().is_ok() {
            return Ok(DeviceFft::Cuda(CudaFft::new(size, stream)?));
        }
        let fft = Fft3::new(size);
        let real = vec![0.0; size.iter().product()];
        let complex = vec![Complex::default(); fft.reciprocal_size().iter().product()];
        Ok(DeviceFft::Host(RefCell::new(HostFft { fft, real, complex, stream: stream.clone() })))
    }

    /// Returns whether a CUDA graph can capture the calls of this FFT, which requires asynchronous calls.
    pub(crate) fn can_be_captured(&self) -> bool {
        matches!(self, DeviceFft::Cuda(_))
    }

    /// Returns the reason why the CPU computes the transforms, which is slow; `None` with cuFFT.
    pub(crate) fn slow(&self) -> Option<String> {
        match self {
            DeviceFft::Cuda(_) => None,
            DeviceFft::Host(_) => fft::check().err().map(|error| error.to_string()),
        }
    }

    /// Transforms `real` into `complex` and overwrites `real`.
    ///
    /// # Safety
    /// `real` and `complex` are addresses of arrays of the planned size on the GPU of the stream, and the context of
    /// this GPU is bound.
    pub(crate) unsafe fn forward(&self, real: u64, complex: u64) -> Result<()> {
        match self {
            // SAFETY: the caller guarantees the safety conditions
            DeviceFft::Cuda(fft) => unsafe { fft.forward(real, complex) },
            DeviceFft::Host(host) => {
                let host = &mut *host.borrow_mut();
                // SAFETY: the caller guarantees the safety conditions
                unsafe { copy_from(&host.stream, real, &mut host.real) }?;
                host.fft.forward(&mut host.real, &mut host.complex);
                // SAFETY: the caller guarantees the safety conditions
                unsafe { copy_to(&host.stream, &host.complex, complex) }
            }
        }
    }

    /// Transforms `complex` into `real` and overwrites `complex`. The result is not normalised.
    ///
    /// # Safety
    /// The conditions of [`Self::forward`] hold.
    pub(crate) unsafe fn inverse(&self, complex: u64, real: u64) -> Result<()> {
        match self {
            // SAFETY: the caller guarantees the safety conditions
            DeviceFft::Cuda(fft) => unsafe { fft.inverse(complex, real) },
            DeviceFft::Host(host) => {
                let host = &mut *host.borrow_mut();
                // SAFETY: the caller guarantees the safety conditions
                unsafe { copy_from(&host.stream, complex, &mut host.complex) }?;
                host.fft.inverse(&mut host.complex, &mut host.real);
                // SAFETY: the caller guarantees the safety conditions
                unsafe { copy_to(&host.stream, &host.real, real) }
            }
        }
    }
}

/// Copies the array at `address` into `values`, after all pending work of the stream.
///
/// # Safety
/// The array at `address` has at least the length of `values`, and the context is bound.
unsafe fn copy_from<T>(stream: &CudaStream, address: u64, values: &mut [T]) -> Result<()> {
    // SAFETY: the caller guarantees the safety conditions; `values` lives until the copy is done
    unsafe { result::memcpy_dtoh_async(values, address, stream.cu_stream()) }
        .map_err(failed("copying from the GPU failed"))?;
    stream.synchronize().map_err(failed("the computation on the GPU failed"))
}

/// Overwrites the array at `address` with `values`.
///
/// # Safety
/// The conditions of [`copy_from`] hold.
unsafe fn copy_to<T>(stream: &CudaStream, values: &[T], address: u64) -> Result<()> {
    // SAFETY: the caller guarantees the safety conditions; `values` lives until the copy is done
    unsafe { result::memcpy_htod_async(address, values, stream.cu_stream()) }
        .map_err(failed("copying to the GPU failed"))?;
    // a GPU that reads host memory directly may still read `values` after `memcpy_htod_async` has returned
    stream.synchronize().map_err(failed("the computation on the GPU failed"))
}
