//! Emulated device, which uses host memory, the kernels of the [`Library`](super::Library), and the Fourier
//! transforms of this project.

use super::{bounded, library};
use crate::backend::cuda::cache::Programs;
use crate::backend::cuda::device::{Device, Direction, Launch, Span, Timing};
use crate::backend::cuda::kernel::Kernel;
use crate::backend::cuda::layout::Arguments;
use crate::compute::Fft3;
use crate::error::{Error, Result};
use num_complex::Complex;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

/// Number of guard words of 16 bytes before each array, and also number of guard words after each array. Kernels must
/// not write to guard words.
const GUARD: usize = 4;
/// Value of guard words and of uninitialised memory: NaN as a float.
const UNTOUCHED: u128 = u128::MAX;

/// Maximum number of kernels of a three-dimensional transform: one per dimension.
const KERNELS_PER_TRANSFORM: u32 = 3;

/// Largest number of threads per block that works for any kernel. With the maximum of 255 registers per thread, 256
/// threads use the 65 536 registers of a multiprocessor. A larger block may fail to start unless the kernel declares
/// launch bounds.
const UNBOUNDED: u32 = 256;

/// Maximum shared memory of a block, bytes, as on Hopper.
const SHARED_MEMORY: u32 = 227 * 1024;

/// Counts of the operations of an emulated device.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    /// number of times that the host has waited for the device
    pub waits: u32,
    /// number of kernels that were run, including those of Fourier transforms
    pub kernels: u32,
    /// number of kernels in the longest sequence that may be captured as a CUDA graph
    pub longest_captured: u32,
}

/// Nominal duration of a launch or a transform in seconds.
pub(in crate::backend::cuda) const LAUNCH: f64 = 1.0;

/// Emulated device, whose blocks and threads run in one of three orders, since results must not depend on the order.
pub struct Emulated {
    order: u32,
    /// kernel that does nothing, to emulate a fault
    forgotten: Option<Kernel>,
    arrays: RefCell<BTreeMap<u64, Vec<u128>>>,
    full: Cell<bool>,
    transforms: Option<RefCell<Fft3>>,
    tally: Cell<Tally>,
    timing: Cell<Option<Timing>>,
    spans: RefCell<Vec<Span>>,
}

impl Emulated {
    /// Creates an empty device that runs blocks and threads in ascending order (`order` 0), in descending order (1), or
    /// with a stride (2).
    pub fn new(order: u32) -> Self {
        Emulated {
            order,
            forgotten: None,
            arrays: RefCell::default(),
            full: Cell::new(false),
            transforms: None,
            tally: Cell::default(),
            timing: Cell::default(),
            spans: RefCell::default(),
        }
    }

    /// Opens an emulated device instead of a GPU. Number 0 opens a correct device. Any other number n opens a faulty
    /// device, on which kernel n does nothing.
    pub fn open(number: u32, _: &Programs) -> Result<Self> {
        Ok(if number == 0 { Emulated::new(0) } else { Emulated::without(Kernel::ALL[number as usize]) })
    }

    /// Creates a faulty device, on which `kernel` does nothing.
    pub fn without(kernel: Kernel) -> Self {
        Emulated { forgotten: Some(kernel), ..Emulated::new(0) }
    }

    /// Emulates a device whose memory is full: all later allocations fail.
    pub fn fill(&self) {
        self.full.set(true);
    }

    /// Returns the counts of operations since the creation of the device.
    pub fn tally(&self) -> Tally {
        self.tally.get()
    }

    fn count(&self, waits: u32, kernels: u32) {
        let tally = self.tally.get();
        self.tally.set(Tally { waits: tally.waits + waits, kernels: tally.kernels + kernels, ..tally });
    }

    fn span(&self, kernel: Kernel) {
        let span = |timing| Span { timing, kernel, seconds: LAUNCH };
        self.spans.borrow_mut().extend(self.timing.get().map(span));
    }

    /// Calls `work` with the bytes of the array at `address`.
    fn with<R>(&self, address: u64, length: usize, work: impl FnOnce(&mut [u8]) -> R) -> R {
        let mut arrays = self.arrays.borrow_mut();
        let (start, array) = arrays.range_mut(..=address).next_back().expect("the address must belong to this device");
        let offset = (address - start) as usize + 16 * GUARD;
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(array);
        assert!(offset + length <= bytes.len() - 16 * GUARD, "a copy must end within its array");
        work(&mut bytes[offset..offset + length])
    }

    /// Panics if a kernel has written outside an array.
    fn check_guards(&self, launch: Launch) {
        for array in self.arrays.borrow().values() {
            let guards = array[..GUARD].iter().chain(&array[array.len() - GUARD..]);
            assert!(guards.into_iter().all(|&word| word == UNTOUCHED), "{launch:?} writes outside an array");
        }
    }
}

impl Device for Emulated {
    fn name(&self) -> String {
        "emulated GPU".into()
    }

    fn shared_memory(&self) -> u32 {
        SHARED_MEMORY
    }

    fn allocate(&self, bytes: usize) -> Result<u64> {
        if self.full.get() {
            return Err(Error::Device("out of memory".into()));
        }
        let array = vec![UNTOUCHED; bytes.div_ceil(16) + 2 * GUARD];
        let address = array.as_ptr() as u64 + 16 * GUARD as u64;
        self.arrays.borrow_mut().insert(address, array);
        Ok(address)
    }

    fn free(&self, address: u64) -> Result<()> {
        self.arrays.borrow_mut().remove(&address).expect("the array must belong to this device");
        Ok(())
    }

    fn write(&self, address: u64, bytes: &[u8]) -> Result<()> {
        self.with(address, bytes.len(), |array| array.copy_from_slice(bytes));
        Ok(())
    }

    fn read(&self, address: u64, bytes: &mut [u8]) -> Result<()> {
        self.count(1, 0);
        self.with(address, bytes.len(), |array| bytes.copy_from_slice(array));
        Ok(())
    }

    fn copy(&self, from: u64, to: u64, bytes: usize) -> Result<()> {
        let between = self.with(from, bytes, |array| array.to_vec());
        self.write(to, &between)
    }

    fn clear(&self, address: u64, bytes: usize) -> Result<()> {
        self.with(address, bytes, |array| array.fill(0));
        Ok(())
    }

    #[allow(private_interfaces, reason = "code outside this module selects devices but does not implement them")]
    fn launch(&self, launch: Launch, arguments: &Arguments) -> Result<()> {
        if launch.threads == 0 || self.forgotten == Some(launch.kernel) {
            return Ok(());
        }
        assert!(launch.shared <= SHARED_MEMORY, "{launch:?} has too much shared memory");
        assert!(launch.block <= UNBOUNDED || bounded(launch.kernel), "{launch:?} may have too many registers");
        self.count(0, 1);
        self.span(launch.kernel);
        let geometry = [launch.threads.div_ceil(launch.block), launch.block, launch.shared];
        let outcome = library().launch(launch.kernel, geometry, arguments, launch.parameter, self.order);
        self.check_guards(launch);
        outcome.map_err(Error::Device)
    }

    fn plan_transforms(&mut self, size: [usize; 3]) -> Result<()> {
        self.transforms = Some(RefCell::new(Fft3::new(size)));
        Ok(())
    }

    fn transform(&self, direction: Direction, grid: u64, spectrum: u64) -> Result<()> {
        self.count(0, KERNELS_PER_TRANSFORM);
        self.span(Kernel::Solve);
        let mut plan = self.transforms.as_ref().expect("transforms were planned").borrow_mut();
        let (points, waves) = (plan.size().iter().product(), plan.reciprocal_size().iter().product());
        // SAFETY: the addresses are those of two different arrays of this device, with the sizes of the plan
        let (grid, spectrum) = unsafe {
            (
                std::slice::from_raw_parts_mut(grid as *mut f32, points),
                std::slice::from_raw_parts_mut(spectrum as *mut Complex<f32>, waves),
            )
        };
        match direction {
            Direction::Forward => plan.forward(grid, spectrum),
            Direction::Inverse => plan.inverse(spectrum, grid),
        }
        Ok(())
    }

    fn concurrently(
        &self,
        first: impl FnOnce(&Self) -> Result<()>,
        second: impl FnOnce(&Self) -> Result<()>,
    ) -> Result<()> {
        // the results must not depend on which closure runs first, so the order of the closures is varied
        if self.order == 0 {
            first(self)?;
            second(self)
        } else {
            second(self)?;
            first(self)
        }
    }

    fn run_captured(&self, _: [u64; 3], work: impl FnOnce(&Self) -> Result<()>) -> Result<()> {
        let before = self.tally.get().kernels;
        work(self)?;
        let tally = self.tally.get();
        self.tally.set(Tally { longest_captured: tally.longest_captured.max(tally.kernels - before), ..tally });
        Ok(())
    }

    fn timing(&self) -> &Cell<Option<Timing>> {
        &self.timing
    }

    fn spans(&self) -> Result<Vec<Span>> {
        Ok(self.spans.take())
    }

    fn wait(&self) -> Result<()> {
        self.count(1, 0);
        Ok(())
    }
}
