//! Interface of a GPU: memory, launches, transforms, and captured sequences of launches. [`super::gpu`] implements
//! the interface for a real GPU. Tests run the same backend on an emulated GPU.

use super::kernel::Kernel;
use super::layout::Arguments;
use super::shared::{Element, Pointer};
use crate::error::Result;
use std::cell::Cell;

/// Direction of a Fourier transform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// transform of the mesh into the spectrum
    Forward,
    /// transform of the spectrum into the mesh, not normalised; the spectrum is overwritten
    Inverse,
}

/// Launch of a kernel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Launch {
    pub(super) kernel: Kernel,
    /// number of threads, which the launch rounds up to whole blocks
    pub threads: u32,
    /// threads per block
    pub block: u32,
    /// dynamic shared memory per block in bytes, in addition to the static shared memory that the kernel declares
    pub shared: u32,
    /// numeric argument of the kernel; the comment of each kernel describes its meaning
    pub parameter: f64,
}

/// Default number of threads per block.
pub(super) const BLOCK: u32 = 128;

/// Returns a launch of `threads` threads in blocks of [`BLOCK`] threads.
pub(super) fn over(kernel: Kernel, threads: u32) -> Launch {
    Launch { kernel, threads, block: BLOCK, shared: 0, parameter: 0.0 }
}

/// Kind of work whose launches are timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timing {
    /// pair search or pruning
    Lists,
    /// integration step or force evaluation
    Step,
}

/// Measured time of a launch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Span {
    pub(super) timing: Timing,
    /// launched kernel; [`Kernel::Solve`] for a Fourier transform
    pub(super) kernel: Kernel,
    pub(super) seconds: f64,
}

/// A GPU or an emulated GPU. The device executes operations in the order of the calls. Only calls that return results
/// wait until the work is complete.
pub trait Device: Send {
    /// Returns the name of the device, for the log.
    fn name(&self) -> String;
    /// Returns the maximum shared memory per block of threads, bytes.
    fn shared_memory(&self) -> u32;
    /// Allocates device memory and returns its address. The memory stays valid until it is freed or the device is
    /// dropped.
    fn allocate(&self, bytes: usize) -> Result<u64>;
    /// Frees device memory at an address that `allocate` returned.
    fn free(&self, address: u64) -> Result<()>;
    /// Copies from host memory to device memory.
    fn write(&self, address: u64, bytes: &[u8]) -> Result<()>;
    /// Copies from device memory to host memory, after all pending work.
    fn read(&self, address: u64, bytes: &mut [u8]) -> Result<()>;
    /// Copies within device memory.
    fn copy(&self, from: u64, to: u64, bytes: usize) -> Result<()>;
    /// Fills device memory with zeros.
    fn clear(&self, address: u64, bytes: usize) -> Result<()>;
    /// Starts a kernel on the device.
    #[allow(private_interfaces, reason = "code outside this module selects devices but does not implement them")]
    fn launch(&self, launch: Launch, arguments: &Arguments) -> Result<()>;
    /// Plans Fourier transforms of a real mesh with this number of grid points along x, y and z.
    fn plan_transforms(&mut self, size: [usize; 3]) -> Result<()>;
    /// Computes the Fourier transform between the mesh (`f32`) and its spectrum (complex numbers as pairs of `f32`).
    fn transform(&self, direction: Direction, grid: u64, spectrum: u64) -> Result<()>;
    /// Runs both closures. The operations that the two closures start on the device run concurrently if possible.
    /// Neither closure may call this function.
    fn concurrently(
        &self,
        first: impl FnOnce(&Self) -> Result<()>,
        second: impl FnOnce(&Self) -> Result<()>,
    ) -> Result<()>;
    /// Runs `work`, which may only launch kernels and transforms. The launches may be captured as a CUDA graph, which
    /// is replayed in later calls with the same `key`.
    fn run_captured(&self, key: [u64; 3], work: impl FnOnce(&Self) -> Result<()>) -> Result<()>;
    /// Runs `work` and times each launch. Launches do not overlap.
    fn timed<T>(&self, timing: Timing, work: impl FnOnce(&Self) -> Result<T>) -> Result<T> {
        self.timing().set(Some(timing));
        let done = work(self);
        self.timing().set(None);
        done
    }
    /// Returns the kind of work whose launches are timed now; `None` while launches are not timed.
    fn timing(&self) -> &Cell<Option<Timing>>;
    /// Returns the times of the launches that were timed since the last call of `spans`. Waits for these launches.
    fn spans(&self) -> Result<Vec<Span>>;
    /// Waits until the device has done all work.
    fn wait(&self) -> Result<()>;
}

/// Allocates an array on the device and fills it with `elements`.
pub(super) fn store<T: Element>(device: &impl Device, elements: &[T]) -> Result<Pointer<T>> {
    let pointer = allocate(device, elements.len())?;
    device.write(pointer.0, bytemuck::cast_slice(elements))?;
    Ok(pointer)
}

/// Allocates an array on the device, without filling it.
pub(super) fn allocate<T: Element>(device: &impl Device, length: usize) -> Result<Pointer<T>> {
    Ok(Pointer::new(device.allocate(size_of::<T>() * length.max(1))?))
}

/// Allocates an array of zeros on the device.
pub(super) fn zeros<T: Element>(device: &impl Device, length: usize) -> Result<Pointer<T>> {
    let pointer = allocate(device, length)?;
    clear(device, pointer, length)?;
    Ok(pointer)
}

/// Frees every array in `arrays` whose address is not zero, and sets the address to zero.
pub(super) fn give_back<const N: usize>(device: &impl Device, arrays: [&mut u64; N]) -> Result<()> {
    arrays.into_iter().filter(|array| **array != 0).try_for_each(|array| device.free(std::mem::take(array)))
}

/// Fills an array with zeros.
pub(super) fn clear<T: Element>(device: &impl Device, pointer: Pointer<T>, length: usize) -> Result<()> {
    device.clear(pointer.0, size_of::<T>() * length)
}

/// Overwrites an array on the device with `elements`.
pub(super) fn write<T: Element>(device: &impl Device, pointer: Pointer<T>, elements: &[T]) -> Result<()> {
    device.write(pointer.0, bytemuck::cast_slice(elements))
}

/// Reads a whole array from the device into `elements`.
pub(super) fn read<T: Element>(device: &impl Device, pointer: Pointer<T>, elements: &mut [T]) -> Result<()> {
    device.read(pointer.0, bytemuck::cast_slice_mut(elements))
}

/// Reads one structure from the device.
pub(super) fn read_one<T: Element>(device: &impl Device, pointer: Pointer<T>) -> Result<T> {
    let mut one = [T::zeroed()];
    read(device, pointer, &mut one)?;
    Ok(one[0])
}

/// Copies an array on the device to another array on the device.
pub(super) fn copy<T: Element>(device: &impl Device, from: Pointer<T>, to: Pointer<T>, length: usize) -> Result<()> {
    device.copy(from.0, to.0, size_of::<T>() * length)
}
