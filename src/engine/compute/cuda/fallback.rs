//! Transforms of a GPU's arrays, by cuFFT or as a fallback on the CPU.

use super::failed;
use super::fft::{self, CudaFft};
use crate::compute::Fft3;
use crate::error::Result;
use cudarc::driver::{CudaStream, result};
use num_complex::Complex;
use std::cell::RefCell;
use std::sync::Arc;

/// Transforms of one size on one stream: by cuFFT, or where that cannot be loaded by the CPU, with copies of the arrays.
pub(crate) enum DeviceFft {
    /// by the library
    Cuda(CudaFft<f32>),
    /// there and back, on the current rayon pool
    Host(RefCell<HostFft>),
}

/// The CPU's transform, and host buffers for the GPU's arrays.
pub(crate) struct HostFft {
    fft: Fft3,
    real: Vec<f32>,
    complex: Vec<Complex<f32>>,
    stream: Arc<CudaStream>,
}

impl DeviceFft {
    /// For a real grid of this size.
    pub(crate) fn new(size: [usize; 3], stream: &Arc<CudaStream>) -> Result<Self> {
        if fft::check().is_ok() {
            return Ok(DeviceFft::Cuda(CudaFft::new(size, stream)?));
        }
        let fft = Fft3::new(size);
        let real = vec![0.0; size.iter().product()];
        let complex = vec![Complex::default(); fft.reciprocal_size().iter().product()];
        Ok(DeviceFft::Host(RefCell::new(HostFft { fft, real, complex, stream: stream.clone() })))
    }

    /// Whether calls are asynchronous, so that they can be captured as a CUDA graph.
    pub(crate) fn can_be_captured(&self) -> bool {
        matches!(self, DeviceFft::Cuda(_))
    }

    /// Why it is slow, for the fallback on the CPU.
    pub(crate) fn slow(&self) -> Option<String> {
        match self {
            DeviceFft::Cuda(_) => None,
            DeviceFft::Host(_) => fft::check().err().map(|error| error.to_string()),
        }
    }

    /// Transforms `real`, which is overwritten, into `complex`.
    ///
    /// # Safety
    /// Addresses of arrays of the planned size on the stream's GPU, whose context is bound.
    pub(crate) unsafe fn forward(&self, real: u64, complex: u64) -> Result<()> {
        match self {
            // SAFETY: the caller's promise
            DeviceFft::Cuda(fft) => unsafe { fft.forward(real, complex) },
            DeviceFft::Host(host) => {
                let host = &mut *host.borrow_mut();
                // SAFETY: the caller's promise
                unsafe { copy_from(&host.stream, real, &mut host.real) }?;
                host.fft.forward(&mut host.real, &mut host.complex);
                // SAFETY: the caller's promise
                unsafe { copy_to(&host.stream, &host.complex, complex) }
            }
        }
    }

    /// Transforms `complex`, which is overwritten, into `real`, not normalised.
    ///
    /// # Safety
    /// As for [`Self::forward`].
    pub(crate) unsafe fn inverse(&self, complex: u64, real: u64) -> Result<()> {
        match self {
            // SAFETY: the caller's promise
            DeviceFft::Cuda(fft) => unsafe { fft.inverse(complex, real) },
            DeviceFft::Host(host) => {
                let host = &mut *host.borrow_mut();
                // SAFETY: the caller's promise
                unsafe { copy_from(&host.stream, complex, &mut host.complex) }?;
                host.fft.inverse(&mut host.complex, &mut host.real);
                // SAFETY: the caller's promise
                unsafe { copy_to(&host.stream, &host.real, real) }
            }
        }
    }
}

/// Fills `values` when all work of the stream has been done.
///
/// # Safety
/// The array at `address` is as long, and the context is bound.
unsafe fn copy_from<T>(stream: &CudaStream, address: u64, values: &mut [T]) -> Result<()> {
    // SAFETY: the caller's promise; `values` lives until the copy is done
    unsafe { result::memcpy_dtoh_async(values, address, stream.cu_stream()) }
        .map_err(failed("copying from the GPU"))?;
    stream.synchronize().map_err(failed("the work on the GPU"))
}

/// Overwrites an array.
///
/// # Safety
/// As for [`copy_from`].
unsafe fn copy_to<T>(stream: &CudaStream, values: &[T], address: u64) -> Result<()> {
    // SAFETY: the caller's promise; `values` lives until the copy is done
    unsafe { result::memcpy_htod_async(address, values, stream.cu_stream()) }.map_err(failed("copying to the GPU"))?;
    // a GPU that reads the host's memory itself may still do so
    stream.synchronize().map_err(failed("the work on the GPU"))
}
