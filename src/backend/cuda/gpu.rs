//! A real GPU through the CUDA driver. Libraries are opened when they are wanted: where there are none, nothing but this
//! file knows.

use super::cache::Programs;
use super::compiler;
use super::device::{Device, Direction, Launch, Span, Timing};
use super::kernel::Kernel;
use super::layout::Arguments;
use crate::compute::cuda::{self, DeviceFft, failed};
use crate::error::{Error, Result};
use cudarc::driver::result;
use cudarc::driver::{CudaContext, CudaEvent, CudaGraph, CudaStream, sys};
use std::cell::{Cell, RefCell};
use std::ffi::{CString, c_void};
use std::sync::Arc;

#[cfg(test)]
mod tests;

/// Records of launches that are kept: a quiet step, one with kinetic energies, one with the virial; and one to spare.
const RECORDS: usize = 4;

/// The oldest driver that knows what [`PRIORITIES`] means, that of CUDA 11.7. A function that a driver lacks is a panic of
/// cudarc's; those called here are older.
const OLDEST_DRIVER: i32 = 11070;

/// How recorded steps are made ready: each kernel keeps the priority of the stream on which it was recorded. Without this all
/// have that of the stream that repeats the step, and the kernels of the mesh wait until the last block of the pairs begins.
const PRIORITIES: sys::CUgraphInstantiate_flags =
    sys::CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;

/// The version of the driver, a thousand times the major and ten times the minor.
fn driver() -> Option<i32> {
    let mut version = 0;
    // SAFETY: outlives the call
    unsafe { sys::cuDriverGetVersion(&mut version) }.result().ok().map(|()| version)
}

/// As it is written.
fn version(number: i32) -> String {
    format!("{}.{}", number / 1000, number % 1000 / 10)
}

/// Refuses a driver that is too old.
fn check_driver(driver: Option<i32>) -> Result<()> {
    let Some(old) = driver.filter(|&driver| driver < OLDEST_DRIVER) else { return Ok(()) };
    let (old, least) = (version(old), version(OLDEST_DRIVER));
    Err(Error::Device(format!("the driver is of CUDA {old}, and {least} is the least; install a newer one")))
}

/// A context on a GPU that will do, if there is one of this number and what it cannot do without is there.
fn context(number: u32) -> Result<Arc<CudaContext>> {
    let context = cuda::context(number)?;
    check_driver(driver())?;
    compiler::check()?;
    let capability = context.compute_capability().map_err(failed("no compute capability"))?;
    if capability < compiler::OLDEST {
        let ((major, minor), (least, and)) = (capability, compiler::OLDEST);
        let what = format!("the GPU has compute capability {major}.{minor}, and {least}.{and} is the least");
        return Err(Error::Device(what));
    }
    Ok(context)
}

/// The name of a GPU that will do, or why there is none.
pub(super) fn find(number: u32) -> Result<String> {
    context(number)?.name().map_err(failed("no name"))
}

/// What a GPU can do at best.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Limits {
    /// operations per second in `f32`
    pub(crate) flops: f64,
    /// bytes per second to and from its memory
    pub(crate) bandwidth: f64,
    /// size of that, bytes
    pub(crate) memory: f64,
}

/// Lanes of a multiprocessor that multiply and add in `f32` (CUDA C++ Programming Guide, arithmetic instructions).
fn lanes(capability: (i32, i32)) -> f64 {
    match capability {
        (7, _) | (8, 0) => 64.0,
        _ => 128.0,
    }
}

/// What the GPU of this number can do by its clocks and widths.
pub(crate) fn limits(number: u32) -> Result<Limits> {
    use sys::CUdevice_attribute as Attribute;
    let context = context(number)?;
    let attribute = |which| context.attribute(which).map(f64::from).map_err(failed("an attribute"));
    let capability = context.compute_capability().map_err(failed("no compute capability"))?;
    let processors = attribute(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?;
    let [clock, memory_clock] = [
        // kHz
        1e3 * attribute(Attribute::CU_DEVICE_ATTRIBUTE_CLOCK_RATE)?,
        1e3 * attribute(Attribute::CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE)?,
    ];
    let bits = attribute(Attribute::CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH)?;
    Ok(Limits {
        // a multiply-add is two operations, and memory transfers twice in a clock
        flops: 2.0 * lanes(capability) * processors * clock,
        bandwidth: 2.0 * memory_clock * bits / 8.0,
        memory: context.total_mem().map_err(failed("no memory size"))? as f64,
    })
}

/// Seconds between two events on one stream; waits for the second.
fn seconds_between(before: &CudaEvent, behind: &CudaEvent) -> Result<f64> {
    type Elapsed = unsafe extern "C" fn(*mut f32, sys::CUevent, sys::CUevent) -> sys::CUresult;
    let what = "the time between events";
    behind.synchronize().map_err(failed(what))?;
    let mut milliseconds = 0.0;
    // SAFETY: a function of this type in every driver (that which `CudaEvent::elapsed_ms` calls is in those of CUDA 12.8 on,
    // and its absence a panic); both events have been recorded with times
    unsafe {
        let elapsed = sys::culib().get::<Elapsed>(b"cuEventElapsedTime");
        let elapsed = elapsed.map_err(|error| Error::Device(format!("CUDA: {what}: {error}")))?;
        elapsed(&mut milliseconds, before.cu_event(), behind.cu_event()).result().map_err(failed(what))?;
    }
    Ok(1e-3 * f64::from(milliseconds))
}

/// Why kernels that were compiled do not load: nearly always a driver older than the compiler.
fn does_not_load(error: result::DriverError) -> Error {
    let driver = driver().map_or("unknown".into(), version);
    let compiler = compiler::version().map_or("unknown".into(), |[major, minor]| format!("{major}.{minor}"));
    Error::Device(format!(
        "CUDA: the kernels do not load: {error:?}; the driver is of CUDA {driver}, the run-time compiler (libnvrtc) of \
         {compiler}: install a newer driver, or a compiler of the driver's version"
    ))
}

/// A GPU with the compiled kernels.
pub(crate) struct Gpu {
    context: Arc<CudaContext>,
    /// all work but what may go on beside it
    main: Arc<CudaStream>,
    /// the mesh, and what goes on beside both
    beside: [Arc<CudaStream>; 2],
    /// how many of these are taken
    taken: Cell<usize>,
    /// that to which work goes now, if it is one of these
    aside: Cell<Option<usize>>,
    module: sys::CUmodule,
    /// by number
    functions: Vec<sys::CUfunction>,
    /// on the first stream beside
    transforms: Option<DeviceFft>,
    allocated: RefCell<Vec<u64>>,
    /// set while launches are timed
    timing: Cell<Option<Timing>>,
    /// events before and behind them
    spans: RefCell<Vec<(Timing, Kernel, [CudaEvent; 2])>>,
    /// latest last; none of what has been done once
    records: RefCell<Vec<([u64; 3], Option<CudaGraph>)>>,
}

// SAFETY: the driver's handles may be used by any thread that has bound the context, which every operation does; a `Gpu`
// has one owner at a time, so that nothing is used by two threads at once
unsafe impl Send for Gpu {}

impl Gpu {
    /// The GPU of this number, with kernels compiled for it unless they are kept.
    pub(crate) fn open(number: u32, programs: &Programs) -> Result<Self> {
        let context = context(number)?;
        let main = context.new_stream().map_err(failed("no stream"))?;
        // what goes on beside are short kernels: their blocks go before those of the pairs, which fill the GPU
        let (_, first) = result::stream::get_priority_range().map_err(failed("no priorities"))?;
        let before_others = || context.new_stream_with_priority(first).map_err(failed("no stream"));
        let beside = [before_others()?, before_others()?];
        let capability = context.compute_capability().map_err(failed("no compute capability"))?;
        let image = compiler::program(capability, programs)?;
        // SAFETY: a program of the compiler's; the context is bound since it was made
        let module = unsafe { result::module::load_data(image.as_ptr().cast()) }.map_err(does_not_load)?;
        let function = |kernel: &Kernel| {
            let name = CString::new(kernel.name()).map_err(|error| Error::Internal(error.to_string()))?;
            // SAFETY: a module that is unloaded only with this structure
            unsafe { result::module::get_function(module, name) }.map_err(failed(kernel.name()))
        };
        let functions = Kernel::ALL.iter().map(function).collect::<Result<_>>()?;
        Ok(Gpu {
            context,
            main,
            beside,
            taken: Cell::new(0),
            aside: Cell::new(None),
            module,
            functions,
            transforms: None,
            allocated: RefCell::default(),
            timing: Cell::default(),
            spans: RefCell::default(),
            records: RefCell::default(),
        })
    }

    fn bind(&self) -> Result<()> {
        self.context.bind_to_thread().map_err(failed("the context cannot be bound"))
    }

    /// Where work goes now.
    fn stream(&self) -> &Arc<CudaStream> {
        self.aside.get().map_or(&self.main, |number| &self.beside[number])
    }

    /// Calls `start`, which launches `kernel`, between two events where launches are timed.
    fn between_events(&self, kernel: Kernel, start: impl FnOnce() -> Result<()>) -> Result<()> {
        let Some(timing) = self.timing.get() else { return start() };
        let flags = Some(sys::CUevent_flags::CU_EVENT_DEFAULT);
        let event = || self.stream().record_event(flags).map_err(failed("an event"));
        let before = event()?;
        start()?;
        self.spans.borrow_mut().push((timing, kernel, [before, event()?]));
        Ok(())
    }

    /// Records what `work` launches, which has been done before: what the driver and cuFFT load or make room for when a
    /// kernel first runs is there.
    fn record(&self, work: impl FnOnce(&Self) -> Result<()>) -> Result<CudaGraph> {
        let what = "a step cannot be recorded";
        self.main.begin_capture(sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED).map_err(failed(what))?;
        let done = work(self);
        // the capture must end before an error is passed on
        let graph = self.main.end_capture(PRIORITIES).map_err(failed(what));
        done?;
        graph?.ok_or_else(|| Error::Internal("a step without launches was recorded".into()))
    }
}

impl Device for Gpu {
    fn name(&self) -> String {
        let name = self.context.name().unwrap_or_default();
        let slow = self
            .transforms
            .as_ref()
            .and_then(DeviceFft::slow)
            .map_or(String::new(), |why| format!(", with the transforms of PME on the CPU, which is slow: {why}"));
        cuda::title(&name, self.context.ordinal()) + &slow
    }

    fn allocate(&self, bytes: usize) -> Result<u64> {
        let address = cuda::allocate(&self.context, bytes)?;
        self.allocated.borrow_mut().push(address);
        Ok(address)
    }

    fn free(&self, address: u64) -> Result<()> {
        self.wait()?;
        self.records.borrow_mut().clear();
        self.allocated.borrow_mut().retain(|&other| other != address);
        // SAFETY: allocated above, and no work is under way that could use it
        unsafe { result::free_sync(address) }.map_err(failed("memory cannot be freed"))
    }

    // the driver is asked for nothing where there is nothing: a system may have no bonds, and what happens then is not said
    fn write(&self, address: u64, bytes: &[u8]) -> Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        self.bind()?;
        // SAFETY: the caller's array is as long as the bytes, which live until the copy is done: a GPU that reads the host's
        // memory itself may still do so when the call has returned
        unsafe { result::memcpy_htod_async(address, bytes, self.main.cu_stream()) }
            .map_err(failed("copying to the GPU"))?;
        self.wait()
    }

    fn read(&self, address: u64, bytes: &mut [u8]) -> Result<()> {
        if bytes.is_empty() {
            return self.wait();
        }
        self.bind()?;
        // SAFETY: the caller's array is as long as the bytes, which live until the copy is done
        unsafe { result::memcpy_dtoh_async(bytes, address, self.main.cu_stream()) }
            .map_err(failed("copying from the GPU"))?;
        self.wait()
    }

    fn copy(&self, from: u64, to: u64, bytes: usize) -> Result<()> {
        if bytes == 0 {
            return Ok(());
        }
        self.bind()?;
        // SAFETY: the caller's arrays have so many bytes
        unsafe { result::memcpy_dtod_async(to, from, bytes, self.main.cu_stream()) }
            .map_err(failed("copying on the GPU"))
    }

    fn clear(&self, address: u64, bytes: usize) -> Result<()> {
        if bytes == 0 {
            return Ok(());
        }
        self.bind()?;
        // SAFETY: the caller's array has so many bytes
        unsafe { result::memset_d8_async(address, 0, bytes, self.main.cu_stream()) }.map_err(failed("clearing memory"))
    }

    fn launch(&self, launch: Launch, arguments: &Arguments) -> Result<()> {
        let Launch { kernel, threads, block, parameter } = launch;
        if threads == 0 {
            return Ok(());
        }
        self.bind()?;
        let pointer = |value: *const c_void| value.cast_mut();
        let mut parameters = [pointer((&raw const *arguments).cast()), pointer((&raw const parameter).cast())];
        let function = self.functions[kernel as usize];
        let (grid, stream) = ((threads.div_ceil(block), 1, 1), self.stream().cu_stream());
        self.between_events(kernel, || {
            // SAFETY: every kernel takes these two by value, and the driver copies them before it returns; the arrays
            // behind the addresses live as long as this device
            unsafe { result::launch_kernel(function, grid, (block, 1, 1), 0, stream, &mut parameters) }
                .map_err(failed(kernel.name()))
        })
    }

    fn plan_transforms(&mut self, size: [usize; 3]) -> Result<()> {
        self.transforms = Some(DeviceFft::new(size, &self.beside[0])?);
        Ok(())
    }

    fn transform(&self, direction: Direction, grid: u64, spectrum: u64) -> Result<()> {
        let Some(transforms) = &self.transforms else {
            return Err(Error::Internal("a transform that was not planned".into()));
        };
        self.bind()?;
        self.between_events(Kernel::Solve, || {
            // SAFETY: arrays of the planned sizes; transforms work on the first stream beside, as does what comes before and
            // after: the mesh is the first thing beside
            unsafe {
                match direction {
                    Direction::Forward => transforms.forward(grid, spectrum),
                    Direction::Inverse => transforms.inverse(spectrum, grid),
                }
            }
        })
    }

    fn side_by_side(
        &self,
        first: impl FnOnce(&Self) -> Result<()>,
        second: impl FnOnce(&Self) -> Result<()>,
    ) -> Result<()> {
        let what = "work side by side";
        let (number, before) = (self.taken.get(), self.aside.get());
        let (here, beside) = match self.beside.get(number) {
            Some(beside) => (self.stream(), beside),
            None => return Err(Error::Internal("more work side by side than there are streams".into())),
        };
        beside.join(here).map_err(failed(what))?;
        self.taken.set(number + 1);
        self.aside.set(Some(number));
        let done = first(self);
        self.aside.set(before);
        if self.timing.get().is_some() {
            here.join(beside).map_err(failed(what))?;
        }
        let done = done.and_then(|()| second(self));
        self.taken.set(number);
        // also after an error: a capture must not end with loose ends
        here.join(beside).map_err(failed(what))?;
        done
    }

    fn repeat(&self, key: [u64; 3], work: impl FnOnce(&Self) -> Result<()>) -> Result<()> {
        if !self.transforms.as_ref().is_none_or(DeviceFft::can_be_recorded) {
            return work(self);
        }
        let mut records = self.records.borrow_mut();
        let Some(index) = records.iter().position(|(other, _)| *other == key) else {
            if records.len() == RECORDS {
                // a record may be under way
                self.wait()?;
                records.remove(0);
            }
            records.push((key, None));
            return work(self);
        };
        let graph = match records[index].1.take() {
            Some(graph) => graph,
            None => self.record(work)?,
        };
        records[index].1.insert(graph).launch().map_err(failed("a recorded step"))
    }

    fn timing(&self) -> &Cell<Option<Timing>> {
        &self.timing
    }

    fn spans(&self) -> Result<Vec<Span>> {
        let span = |(timing, kernel, [before, behind]): (Timing, Kernel, [CudaEvent; 2])| {
            Ok(Span { timing, kernel, seconds: seconds_between(&before, &behind)? })
        };
        self.spans.take().into_iter().map(span).collect()
    }

    fn wait(&self) -> Result<()> {
        self.main.synchronize().map_err(failed("the work on the GPU"))
    }
}

impl Drop for Gpu {
    fn drop(&mut self) {
        // errors at the end have nobody to tell, and the driver frees all when the process ends
        let _ = self.wait();
        self.records.borrow_mut().clear();
        self.spans.borrow_mut().clear();
        self.transforms = None;
        for &address in self.allocated.borrow().iter() {
            // SAFETY: allocated by `allocate`, not freed since, and all work is done
            let _ = unsafe { result::free_sync(address) };
        }
        // SAFETY: loaded by `open`; its functions are not used again
        let _ = unsafe { result::module::unload(self.module) };
    }
}
