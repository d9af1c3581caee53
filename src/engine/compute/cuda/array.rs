//! Arrays in the memory of a GPU.

use super::{allocate, failed};
use crate::compute::core::Number;
use crate::error::Result;
use cudarc::driver::{CudaStream, result};
use std::marker::PhantomData;
use std::sync::Arc;

/// An array on a GPU. All operations on an array belong to one stream.
pub struct CudaArray<T> {
    stream: Arc<CudaStream>,
    address: u64,
    length: usize,
    numbers: PhantomData<T>,
}

impl<T: Number> CudaArray<T> {
    /// Allocates an array of `length` elements, uninitialised.
    pub(super) fn new(stream: &Arc<CudaStream>, length: usize) -> Result<Self> {
        let address = allocate(stream.context(), (size_of::<T>() * length).max(1))?;
        Ok(CudaArray { stream: stream.clone(), address, length, numbers: PhantomData })
    }

    pub(super) fn address(&self) -> u64 {
        self.address
    }

    pub(super) fn length(&self) -> usize {
        self.length
    }

    fn bind(&self) -> Result<()> {
        self.stream.context().bind_to_thread().map_err(failed("the context cannot be bound"))
    }

    pub(super) fn write(&mut self, values: &[T]) -> Result<()> {
        assert_eq!(values.len(), self.length, "`values` must have the length of the array");
        self.bind()?;
        // SAFETY: the array has the length of `values`, and `values` lives until the copy is done. Some GPUs read
        // host memory after the call has returned; the synchronisation below waits for this copy
        unsafe { result::memcpy_htod_async(self.address, values, self.stream.cu_stream()) }
            .map_err(failed("copying to the GPU failed"))?;
        self.stream.synchronize().map_err(failed("the computation on the GPU failed"))
    }

    pub(super) fn clear(&mut self) -> Result<()> {
        self.bind()?;
        // SAFETY: the array has this many bytes
        unsafe { result::memset_d8_async(self.address, 0, size_of::<T>() * self.length, self.stream.cu_stream()) }
            .map_err(failed("clearing memory"))
    }

    /// Waits for all work, and returns the elements.
    pub(super) fn read(&self) -> Result<Vec<T>> {
        self.bind()?;
        let mut values = vec![T::default(); self.length];
        // SAFETY: the array has the length of the vector, any bytes are valid numbers, and the vector lives until the
        // copy is done
        unsafe { result::memcpy_dtoh_async(&mut values, self.address, self.stream.cu_stream()) }
            .map_err(failed("copying from the GPU failed"))?;
        self.stream.synchronize().map_err(failed("the computation on the GPU failed"))?;
        Ok(values)
    }
}

impl<T> Drop for CudaArray<T> {
    fn drop(&mut self) {
        // `drop` cannot return an error; if freeing fails, the driver frees the memory when the process ends
        let _ = self.stream.context().bind_to_thread();
        let _ = self.stream.synchronize();
        // SAFETY: `new` has allocated the memory, and all work is done
        let _ = unsafe { result::free_sync(self.address) };
    }
}
