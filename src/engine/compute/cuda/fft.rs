//! Three-dimensional real Fourier transforms by cuFFT.

use super::{failed, not_found, real};
use crate::compute::Real;
use crate::error::{Error, Result};
use cudarc::cufft::{result, sys};
use cudarc::driver::CudaStream;
use std::marker::PhantomData;
use std::sync::Arc;

/// Converts an error of cuFFT.
fn library_failed(what: &str) -> impl Fn(result::CufftError) -> Error + '_ {
    move |error| Error::Device(format!("cuFFT: {what}: {error:?}"))
}

/// Returns an error if cuFFT cannot be opened.
pub(super) fn check() -> Result<()> {
    // SAFETY: the call opens and closes a library of NVIDIA by name
    if unsafe { sys::is_culib_present() } {
        return Ok(());
    }
    Err(not_found("library of Fourier transforms", "libcufft", ["libcufft", "nvidia-cufft-cu12"]))
}

/// Plans for transforms of one size, on one stream. Arrays and signs are the same as for [`crate::compute::Fft3`].
pub struct CudaFft<T> {
    size: [usize; 3],
    /// forward plan and inverse plan
    plans: [Plan; 2],
    real: PhantomData<T>,
}

/// A cuFFT plan that is destroyed when dropped, before its stream.
struct Plan {
    handle: sys::cufftHandle,
    stream: Arc<CudaStream>,
}

impl Plan {
    fn bind(&self) -> Result<()> {
        self.stream.context().bind_to_thread().map_err(failed("the context cannot be bound"))
    }
}

impl Drop for Plan {
    fn drop(&mut self) {
        // an error is ignored, because `drop` cannot return an error
        let _ = self.bind();
        // SAFETY: `CudaFft::new` has made the plan, which is not used after this call
        let _ = unsafe { result::destroy(self.handle) };
    }
}

impl<T: Real> CudaFft<T> {
    /// Plans transforms of a real grid of this size.
    pub(crate) fn new(size: [usize; 3], stream: &Arc<CudaStream>) -> Result<Self> {
        check()?;
        stream.context().bind_to_thread().map_err(failed("the context cannot be bound"))?;
        let too_large = |_| Error::Device(format!("cuFFT: a grid of {size:?} points is too large"));
        let [x, y, z] = size.map(i32::try_from);
        let (x, y, z) = (x.map_err(too_large)?, y.map_err(too_large)?, z.map_err(too_large)?);
        let plan = |kind| -> Result<Plan> {
            let handle =
                result::plan_3d(x, y, z, kind).map_err(library_failed("the plan for the grid cannot be created"))?;
            let plan = Plan { handle, stream: stream.clone() };
            // SAFETY: the plan is new, and the stream lives as long as the plan
            unsafe { result::set_stream(handle, stream.cu_stream().cast()) }
                .map_err(library_failed("the stream cannot be set"))?;
            Ok(plan)
        };
        let [forward, inverse] = real::transforms::<T>();
        Ok(CudaFft { size, plans: [plan(forward)?, plan(inverse)?], real: PhantomData })
    }

    /// Returns the number of real points and the number of complex points.
    pub(super) fn lengths(&self) -> [usize; 2] {
        let [nx, ny, nz] = self.size;
        [nx * ny * nz, nx * ny * (nz / 2 + 1)]
    }

    /// Starts the transform of `real` into `complex`, which overwrites `real`.
    ///
    /// # Safety
    /// `real` and `complex` are addresses of arrays of the planned size on the GPU of the stream.
    pub(crate) unsafe fn forward(&self, real: u64, complex: u64) -> Result<()> {
        let [plan, _] = &self.plans;
        plan.bind()?;
        // SAFETY: the caller guarantees the safety conditions
        unsafe { real::forward::<T>(plan.handle, real, complex) }.map_err(library_failed("the transform"))
    }

    /// Starts the inverse transform of `complex` into `real`, which overwrites `complex`.
    ///
    /// # Safety
    /// The conditions of [`Self::forward`] hold.
    pub(crate) unsafe fn inverse(&self, complex: u64, real: u64) -> Result<()> {
        let [_, plan] = &self.plans;
        plan.bind()?;
        // SAFETY: the caller guarantees the safety conditions
        unsafe { real::inverse::<T>(plan.handle, complex, real) }.map_err(library_failed("the transform"))
    }
}
