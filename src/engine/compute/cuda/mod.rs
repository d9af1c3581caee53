//! The compute core on a GPU: cuFFT and cuBLAS behind the same interface as on the CPU.
//!
//! The libraries are loaded at run time on first use. If a library is missing, the error message names the library. On
//! machines with a GPU a test compares transforms and products with the results of the CPU. On other machines tests
//! check how row-major products are mapped to the column-major products of BLAS.

mod array;
mod fallback;
mod fft;
mod gemm;
mod real;

pub(crate) use fallback::DeviceFft;

use super::core::{Core, Number, Operand, Real};
use crate::error::{Error, Result};
use array::CudaArray;
use cudarc::driver::{CudaContext, CudaStream, DriverError, sys};
use fft::CudaFft;
use gemm::{Blas, Call};
use num_complex::Complex;
use std::borrow::Cow;
use std::sync::Arc;

/// Converts an error of the CUDA driver.
pub(crate) fn failed(what: &str) -> impl Fn(DriverError) -> Error + '_ {
    move |error| Error::Device(format!("CUDA: {what}: {error:?}"))
}

/// Returns the title of a GPU in reports: its name and number.
pub fn title(name: &str, number: impl std::fmt::Display) -> String {
    format!("{name}, CUDA device {number}")
}

/// Returns the error for a library of NVIDIA that cannot be opened.
pub(crate) fn not_found(what: &str, library: &str, packages: [&str; 2]) -> Error {
    let [package, wheel] = packages;
    Error::Device(format!(
        "CUDA's {what} ({library}) was not found; install it (package {package}, or pip install {wheel}) and put its \
         folder into LD_LIBRARY_PATH"
    ))
}

/// Returns the context of GPU `number`. Returns an error without a driver or without a GPU of that number.
pub(crate) fn context(number: u32) -> Result<Arc<CudaContext>> {
    // SAFETY: the call opens and closes a library of NVIDIA by name
    if !unsafe { sys::is_culib_present() } {
        return Err(Error::Device(
            "no NVIDIA driver was found (the library libcuda is missing); install the driver".into(),
        ));
    }
    let devices = CudaContext::device_count().map_err(failed("the NVIDIA driver cannot be initialised"))?;
    if i64::from(number) >= i64::from(devices) {
        let found =
            format!("there is no device cuda:{number}; the number of GPUs is {devices}, and they are numbered from 0");
        return Err(Error::Device(found));
    }
    let context = CudaContext::new(number as usize).map_err(failed("the CUDA context of the GPU cannot be created"))?;
    // With event tracking the first stream would wait for the whole device. Waiting for the whole device fails while
    // another thread captures a CUDA graph on the device. SAFETY: event tracking only orders the uses of `CudaSlice`
    // values, and this program uses no `CudaSlice`
    unsafe { context.disable_event_tracking() };
    Ok(context)
}

/// Allocates `bytes` bytes of memory on the GPU.
pub(crate) fn allocate(context: &CudaContext, bytes: usize) -> Result<u64> {
    context.bind_to_thread().map_err(failed("the context cannot be bound"))?;
    // SAFETY: the context is bound
    unsafe { cudarc::driver::result::malloc_sync(bytes) }.map_err(|error| {
        let free = context.mem_get_info().map_or(0, |(free, _)| free >> 20);
        let wanted = bytes.div_ceil(1 << 20);
        let what = format!("out of GPU memory: {wanted} MiB are needed, {free} MiB are free ({error:?})");
        Error::Device(format!("{what}; use a GPU with more memory, or the CPU as device"))
    })
}

/// A GPU as a [`Core`], with cuFFT and cuBLAS.
pub struct CudaCore {
    stream: Arc<CudaStream>,
    blas: Blas,
}

impl CudaCore {
    /// Opens GPU `number`. If a library is missing, the error message names the library.
    pub fn open(number: u32) -> Result<Self> {
        let context = context(number)?;
        fft::check()?;
        let stream = context.new_stream().map_err(failed("no stream"))?;
        Ok(CudaCore { blas: Blas::new(&stream)?, stream })
    }

    /// Returns the name of the GPU.
    pub fn name(&self) -> Result<String> {
        self.stream.context().name().map_err(failed("no name"))
    }
}

impl Core for CudaCore {
    type Array<'a, T: Number> = CudaArray<T>;
    type Fft<T: Real> = CudaFft<T>;

    fn store<T: Number>(&self, values: &[T]) -> Result<CudaArray<T>> {
        let mut array = CudaArray::new(&self.stream, values.len())?;
        array.write(values)?;
        Ok(array)
    }

    fn zeros<T: Number>(&self, length: usize) -> Result<CudaArray<T>> {
        let mut array = CudaArray::new(&self.stream, length)?;
        array.clear()?;
        Ok(array)
    }

    fn read<'b, T: Number>(&self, array: &'b CudaArray<T>) -> Result<Cow<'b, [T]>> {
        Ok(Cow::Owned(array.read()?))
    }

    fn plan<T: Real>(&self, size: [usize; 3]) -> Result<CudaFft<T>> {
        CudaFft::new(size, &self.stream)
    }

    fn forward<T: Real>(
        &self,
        fft: &mut CudaFft<T>,
        real: &mut CudaArray<T>,
        complex: &mut CudaArray<Complex<T>>,
    ) -> Result<()> {
        assert_eq!([real.length(), complex.length()], fft.lengths(), "arrays must have the planned size");
        // SAFETY: the arrays have the planned size, and work on them is ordered by the stream
        unsafe { fft.forward(real.address(), complex.address()) }
    }

    fn inverse<T: Real>(
        &self,
        fft: &mut CudaFft<T>,
        complex: &mut CudaArray<Complex<T>>,
        real: &mut CudaArray<T>,
    ) -> Result<()> {
        assert_eq!([real.length(), complex.length()], fft.lengths(), "arrays must have the planned size");
        // SAFETY: the reason is the same as in `forward`
        unsafe { fft.inverse(complex.address(), real.address()) }
    }

    fn gemm<T: Real>(
        &self,
        alpha: T,
        a: Operand<'_, CudaArray<T>>,
        b: Operand<'_, CudaArray<T>>,
        beta: T,
        c: &mut CudaArray<T>,
    ) -> Result<()> {
        let call = Call::new(&a.layout, &b.layout)?;
        let lengths = [a.array.length(), b.array.length(), c.length()];
        assert!(call.fits(&a.layout, &b.layout, lengths), "the matrices must lie within their arrays");
        let element = size_of::<T>() as u64;
        let [a, b] = [a, b].map(|operand| operand.array.address() + operand.layout.span.start as u64 * element);
        // SAFETY: `fits` has checked that the matrices lie within their arrays
        unsafe { self.blas.multiply(&call, [alpha, beta], [a, b, c.address()]) }
    }

    fn wait(&self) -> Result<()> {
        self.stream.synchronize().map_err(failed("the computation on the GPU failed"))
    }
}
