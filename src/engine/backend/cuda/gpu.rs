//! A real GPU, through the CUDA driver. The libraries of CUDA are opened at run time on first use.

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

/// Maximum number of CUDA graphs that are kept. Four kinds of steps have a graph. In three kinds of steps, the kernel
/// that packs positions runs before the forces are computed: steps without output, steps with kinetic energies, and
/// steps with the virial. The fourth kind of step has no output and does not pack positions. The remaining four of the
/// eight graphs are a reserve.
const GRAPHS: usize = 8;

/// Version of the driver of CUDA 11.7, the oldest driver that supports [`PRIORITIES`]. The library cudarc panics if a
/// driver lacks a function, but the driver of CUDA 11.7 has all functions that this file calls.
const OLDEST_DRIVER: i32 = 11070;

/// Flag for the instantiation of graphs: each kernel keeps the priority of the stream on which the kernel was captured.
/// Without this flag all kernels have the priority of the stream that launches the graph, and the kernels of PME wait
/// until the last block of the pair kernel has started.
const PRIORITIES: sys::CUgraphInstantiate_flags =
    sys::CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;

/// Returns the CUDA version that the driver supports, as 1000 times the major plus 10 times the minor version; `None`
/// if the driver does not report a version.
fn driver() -> Option<i32> {
    let mut version = 0;
    // SAFETY: `version` outlives the call
    unsafe { sys::cuDriverGetVersion(&mut version) }.result().ok().map(|()| version)
}

/// Formats a CUDA version number (1000 times the major plus 10 times the minor version) as text.
fn version(number: i32) -> String {
    format!("{}.{}", number / 1000, number % 1000 / 10)
}

/// Returns an error if the driver is too old.
fn check_driver(driver: Option<i32>) -> Result<()> {
    let Some(old) = driver.filter(|&driver| driver < OLDEST_DRIVER) else { return Ok(()) };
    let (old, least) = (version(old), version(OLDEST_DRIVER));
    Err(Error::Device(format!(
        "the driver supports CUDA {old}, but at least {least} is required; install a newer driver"
    )))
}

/// Returns a context on GPU `number`. First checks the driver, the run-time compiler and the compute capability.
fn context(number: u32) -> Result<Arc<CudaContext>> {
    let context = cuda::context(number)?;
    check_driver(driver())?;
    compiler::check()?;
    let capability = context.compute_capability().map_err(failed("the compute capability cannot be read"))?;
    if capability < compiler::OLDEST {
        let ((major, minor), (least, and)) = (capability, compiler::OLDEST);
        let what = format!("the GPU has compute capability {major}.{minor}, but at least {least}.{and} is required");
        return Err(Error::Device(what));
    }
    Ok(context)
}

/// Returns the name of GPU `number`, or an error with the reason why the GPU cannot be used.
pub(super) fn find(number: u32) -> Result<String> {
    context(number)?.name().map_err(failed("the name of the GPU cannot be read"))
}

/// Peak rates and memory size of a GPU.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// operations per second in `f32`
    pub flops: f64,
    /// bytes per second to and from device memory
    pub bandwidth: f64,
    /// size of device memory, bytes
    pub memory: f64,
}

/// Returns the multiply-adds in `f32` per clock and multiprocessor (CUDA C++ Programming Guide, arithmetic
/// instructions).
fn lanes(capability: (i32, i32)) -> f64 {
    match capability {
        (7, _) | (8, 0) => 64.0,
        _ => 128.0,
    }
}

/// Returns the peak rates of GPU `number`, computed from the clock rates, the number of multiprocessors and the memory
/// bus width of the GPU.
pub fn limits(number: u32) -> Result<Limits> {
    use sys::CUdevice_attribute as Attribute;
    let context = context(number)?;
    let attribute =
        |which| context.attribute(which).map(f64::from).map_err(failed("a device attribute cannot be read"));
    let capability = context.compute_capability().map_err(failed("the compute capability cannot be read"))?;
    let processors = attribute(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?;
    let [clock, memory_clock] = [
        // clock rates are in kHz
        1e3 * attribute(Attribute::CU_DEVICE_ATTRIBUTE_CLOCK_RATE)?,
        1e3 * attribute(Attribute::CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE)?,
    ];
    let bits = attribute(Attribute::CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH)?;
    Ok(Limits {
        // a multiply-add counts as two operations; device memory transfers data twice per clock cycle
        flops: 2.0 * lanes(capability) * processors * clock,
        bandwidth: 2.0 * memory_clock * bits / 8.0,
        memory: context.total_mem().map_err(failed("the memory size cannot be read"))? as f64,
    })
}

/// Returns the seconds between two events on one stream. Waits for the second event.
fn seconds_between(before: &CudaEvent, behind: &CudaEvent) -> Result<f64> {
    type Elapsed = unsafe extern "C" fn(*mut f32, sys::CUevent, sys::CUevent) -> sys::CUresult;
    let what = "the time between two events cannot be read";
    behind.synchronize().map_err(failed(what))?;
    let mut milliseconds = 0.0;
    // SAFETY: every driver has this function with this type; both events have been recorded with times. (The function
    // that `CudaEvent::elapsed_ms` calls exists from CUDA 12.8 on, and cudarc panics if the function is missing.)
    unsafe {
        let elapsed = sys::culib().get::<Elapsed>(b"cuEventElapsedTime");
        let elapsed = elapsed.map_err(|error| Error::Device(format!("CUDA: {what}: {error}")))?;
        elapsed(&mut milliseconds, before.cu_event(), behind.cu_event()).result().map_err(failed(what))?;
    }
    Ok(1e-3 * f64::from(milliseconds))
}

/// Returns the error for compiled kernels that the driver cannot load. The usual reason is a driver that is older than
/// the compiler.
fn does_not_load(error: result::DriverError) -> Error {
    let driver = driver().map_or("unknown".into(), version);
    let compiler = compiler::version().map_or("unknown".into(), |[major, minor]| format!("{major}.{minor}"));
    Error::Device(format!(
        "CUDA: the compiled kernels do not load: {error:?}; the driver supports CUDA {driver}, the run-time compiler \
         (libnvrtc) is version {compiler}: install a newer driver, or a compiler of the version of the driver"
    ))
}

/// Allows the kernels that transform mesh planes to use the maximum shared memory per block of this GPU. All other
/// kernels need no more shared memory than the default limit. Returns the maximum shared memory per block in bytes.
fn grant_shared_memory(context: &CudaContext, functions: &[sys::CUfunction]) -> Result<u32> {
    const OF_DEVICE: sys::CUdevice_attribute =
        sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN;
    const OF_FUNCTION: sys::CUfunction_attribute =
        sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
    let what = "the shared memory of a block cannot be set";
    let bytes = context.attribute(OF_DEVICE).map_err(failed(what))?;
    for kernel in [Kernel::TransformPlanes, Kernel::RestorePlanes] {
        // SAFETY: the function belongs to the module that was just loaded
        unsafe { result::function::set_function_attribute(functions[kernel as usize], OF_FUNCTION, bytes) }
            .map_err(failed(what))?;
    }
    Ok(u32::try_from(bytes).unwrap_or(0))
}

/// A GPU with the compiled kernels.
pub struct Gpu {
    context: Arc<CudaContext>,
    /// stream of all work except concurrent PME
    main: Arc<CudaStream>,
    /// second stream, for PME, which runs concurrently with other work
    beside: Arc<CudaStream>,
    /// whether launches currently go to the second stream
    is_beside: Cell<bool>,
    module: sys::CUmodule,
    /// CUDA function handle of each kernel, indexed by kernel number
    functions: Vec<sys::CUfunction>,
    /// maximum shared memory of a block, bytes
    shared_memory: u32,
    /// plans for Fourier transforms, on the stream of PME; `None` before [`Device::plan_transforms`] is called
    transforms: Option<DeviceFft>,
    allocated: RefCell<Vec<u64>>,
    /// kind of work that is being timed; `None` while launches are not timed
    timing: Cell<Option<Timing>>,
    /// events before and after each timed launch
    spans: RefCell<Vec<(Timing, Kernel, [CudaEvent; 2])>>,
    /// captured steps with their keys, in the order of first use. The graph is `None` after the first run with a key,
    /// because the first run is not captured
    graphs: RefCell<Vec<([u64; 3], Option<CudaGraph>)>>,
}

// SAFETY: any thread that has bound the context may use the handles of the driver, and every operation binds the
// context. A `Gpu` has one owner at a time, so that no two threads use a `Gpu` at the same time
unsafe impl Send for Gpu {}

impl Gpu {
    /// Opens GPU `number`. The kernels are compiled or taken from the cache `programs`.
    pub fn open(number: u32, programs: &Programs) -> Result<Self> {
        let context = context(number)?;
        let main = context.new_stream().map_err(failed("a stream cannot be created"))?;
        // kernels of PME are short, and the blocks of the pair kernel fill the GPU; with a higher priority the blocks
        // of PME start first
        let (_, first) =
            result::stream::get_priority_range().map_err(failed("the stream priorities cannot be read"))?;
        let beside = context.new_stream_with_priority(first).map_err(failed("a stream cannot be created"))?;
        let capability = context.compute_capability().map_err(failed("the compute capability cannot be read"))?;
        let image = compiler::program(capability, programs)?;
        // SAFETY: the image is a program from the compiler; the context has been bound since its creation
        let module = unsafe { result::module::load_data(image.as_ptr().cast()) }.map_err(does_not_load)?;
        let function = |kernel: &Kernel| {
            let name = CString::new(kernel.name()).map_err(|error| Error::Internal(error.to_string()))?;
            // SAFETY: the module is unloaded only when this structure is dropped
            unsafe { result::module::get_function(module, name) }
                .map_err(failed(&format!("kernel {} is missing from the compiled program", kernel.name())))
        };
        let functions = Kernel::ALL.iter().map(function).collect::<Result<Vec<_>>>()?;
        let shared_memory = grant_shared_memory(&context, &functions)?;
        Ok(Gpu {
            context,
            main,
            beside,
            is_beside: Cell::new(false),
            module,
            functions,
            shared_memory,
            transforms: None,
            allocated: RefCell::default(),
            timing: Cell::default(),
            spans: RefCell::default(),
            graphs: RefCell::default(),
        })
    }

    fn bind(&self) -> Result<()> {
        self.context.bind_to_thread().map_err(failed("the context cannot be bound"))
    }

    /// Returns the stream to which launches currently go.
    fn stream(&self) -> &Arc<CudaStream> {
        if self.is_beside.get() { &self.beside } else { &self.main }
    }

    /// Calls `start`, which launches `kernel`. If launches are timed, an event is recorded before the launch, and
    /// another event after it.
    fn between_events(&self, kernel: Kernel, start: impl FnOnce() -> Result<()>) -> Result<()> {
        let Some(timing) = self.timing.get() else { return start() };
        let flags = Some(sys::CUevent_flags::CU_EVENT_DEFAULT);
        let event = || self.stream().record_event(flags).map_err(failed("an event cannot be recorded"));
        let before = event()?;
        start()?;
        self.spans.borrow_mut().push((timing, kernel, [before, event()?]));
        Ok(())
    }

    /// Captures the launches of `work` as a graph. `work` must have run once before the capture: when a kernel runs for
    /// the first time, the driver and cuFFT load code and allocate memory, which must not happen during a capture.
    fn capture(&self, work: impl FnOnce(&Self) -> Result<()>) -> Result<CudaGraph> {
        let what = "a step cannot be captured as a CUDA graph";
        self.main.begin_capture(sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED).map_err(failed(what))?;
        let done = work(self);
        // the capture must end before an error of `work` is returned
        let graph = self.main.end_capture(PRIORITIES).map_err(failed(what));
        done?;
        graph?.ok_or_else(|| Error::Internal("a step without launches was captured".into()))
    }
}

impl Device for Gpu {
    fn name(&self) -> String {
        let name = self.context.name().unwrap_or_default();
        let slow = self
            .transforms
            .as_ref()
            .and_then(DeviceFft::slow)
            .map_or(String::new(), |why| format!(", with PME transforms on the CPU (slow): {why}"));
        cuda::title(&name, self.context.ordinal()) + &slow
    }

    fn shared_memory(&self) -> u32 {
        self.shared_memory
    }

    fn allocate(&self, bytes: usize) -> Result<u64> {
        let address = cuda::allocate(&self.context, bytes)?;
        self.allocated.borrow_mut().push(address);
        Ok(address)
    }

    fn free(&self, address: u64) -> Result<()> {
        self.wait()?;
        self.graphs.borrow_mut().clear();
        self.allocated.borrow_mut().retain(|&other| other != address);
        // SAFETY: `allocate` has returned this address, and no pending work uses the memory
        unsafe { result::free_sync(address) }.map_err(failed("memory cannot be freed"))
    }

    // an empty array (for example the bonds of a system without bonds) is not copied, because the driver does not
    // document copies of zero bytes
    fn write(&self, address: u64, bytes: &[u8]) -> Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        self.bind()?;
        // SAFETY: the caller's array is as long as `bytes`, which live until the copy is done. The wait after the copy
        // is necessary, because a GPU that reads host memory directly may continue the copy after the call returns
        unsafe { result::memcpy_htod_async(address, bytes, self.main.cu_stream()) }
            .map_err(failed("copying to the GPU failed"))?;
        self.wait()
    }

    fn read(&self, address: u64, bytes: &mut [u8]) -> Result<()> {
        if bytes.is_empty() {
            return self.wait();
        }
        self.bind()?;
        // SAFETY: the caller's array is as long as `bytes`, which live until the copy is done
        unsafe { result::memcpy_dtoh_async(bytes, address, self.main.cu_stream()) }
            .map_err(failed("copying from the GPU failed"))?;
        self.wait()
    }

    fn copy(&self, from: u64, to: u64, bytes: usize) -> Result<()> {
        if bytes == 0 {
            return Ok(());
        }
        self.bind()?;
        // SAFETY: both of the caller's arrays have at least `bytes` bytes
        unsafe { result::memcpy_dtod_async(to, from, bytes, self.main.cu_stream()) }
            .map_err(failed("copying on the GPU failed"))
    }

    fn clear(&self, address: u64, bytes: usize) -> Result<()> {
        if bytes == 0 {
            return Ok(());
        }
        self.bind()?;
        // SAFETY: the caller's array has at least `bytes` bytes
        unsafe { result::memset_d8_async(address, 0, bytes, self.main.cu_stream()) }
            .map_err(failed("memory cannot be cleared"))
    }

    #[allow(private_interfaces, reason = "code outside this module selects devices but does not implement them")]
    fn launch(&self, launch: Launch, arguments: &Arguments) -> Result<()> {
        let Launch { kernel, threads, block, shared, parameter } = launch;
        if threads == 0 {
            return Ok(());
        }
        self.bind()?;
        let pointer = |value: *const c_void| value.cast_mut();
        let mut parameters = [pointer((&raw const *arguments).cast()), pointer((&raw const parameter).cast())];
        let function = self.functions[kernel as usize];
        let (grid, stream) = ((threads.div_ceil(block), 1, 1), self.stream().cu_stream());
        self.between_events(kernel, || {
            // SAFETY: every kernel takes the arguments and the parameter by value, and the driver copies both before
            // the call returns; the arrays behind the addresses live as long as this device
            unsafe { result::launch_kernel(function, grid, (block, 1, 1), shared, stream, &mut parameters) }
                .map_err(failed(&format!("kernel {} cannot be launched", kernel.name())))
        })
    }

    fn plan_transforms(&mut self, size: [usize; 3]) -> Result<()> {
        self.transforms = Some(DeviceFft::new(size, &self.beside)?);
        Ok(())
    }

    fn transform(&self, direction: Direction, grid: u64, spectrum: u64) -> Result<()> {
        let Some(transforms) = &self.transforms else {
            return Err(Error::Internal("a Fourier transform was requested before a plan was made".into()));
        };
        self.bind()?;
        self.between_events(Kernel::Solve, || {
            // SAFETY: the arrays have the planned sizes; transforms run on the stream of PME, as the kernels before
            // and after the transforms do
            unsafe {
                match direction {
                    Direction::Forward => transforms.forward(grid, spectrum),
                    Direction::Inverse => transforms.inverse(spectrum, grid),
                }
            }
        })
    }

    fn concurrently(
        &self,
        first: impl FnOnce(&Self) -> Result<()>,
        second: impl FnOnce(&Self) -> Result<()>,
    ) -> Result<()> {
        let what = "the two CUDA streams cannot be joined";
        if self.is_beside.get() {
            return Err(Error::Internal("nested concurrent work is not supported".into()));
        }
        self.beside.join(&self.main).map_err(failed(what))?;
        self.is_beside.set(true);
        let done = first(self);
        self.is_beside.set(false);
        if self.timing.get().is_some() {
            self.main.join(&self.beside).map_err(failed(what))?;
        }
        let done = done.and_then(|()| second(self));
        // streams are joined even after an error, because a capture must not end while the second stream is unjoined
        self.main.join(&self.beside).map_err(failed(what))?;
        done
    }

    fn run_captured(&self, key: [u64; 3], work: impl FnOnce(&Self) -> Result<()>) -> Result<()> {
        if !self.transforms.as_ref().is_none_or(DeviceFft::can_be_captured) {
            return work(self);
        }
        let mut graphs = self.graphs.borrow_mut();
        let Some(index) = graphs.iter().position(|(other, _)| *other == key) else {
            if graphs.len() == GRAPHS {
                // the host waits, because the graph that is removed may still be running
                self.wait()?;
                graphs.remove(0);
            }
            graphs.push((key, None));
            return work(self);
        };
        let graph = match graphs[index].1.take() {
            Some(graph) => graph,
            None => self.capture(work)?,
        };
        graphs[index].1.insert(graph).launch().map_err(failed("the CUDA graph of a step cannot be launched"))
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
        self.main.synchronize().map_err(failed("the computation on the GPU failed"))
    }
}

impl Drop for Gpu {
    fn drop(&mut self) {
        // an error is ignored, because `drop` cannot return an error, and the driver frees all memory when the process
        // ends
        let _ = self.wait();
        self.graphs.borrow_mut().clear();
        self.spans.borrow_mut().clear();
        self.transforms = None;
        for &address in self.allocated.borrow().iter() {
            // SAFETY: `allocate` has returned this address, the memory has not been freed since, and all work is done
            let _ = unsafe { result::free_sync(address) };
        }
        // SAFETY: `open` has loaded the module, and its functions are not used again
        let _ = unsafe { result::module::unload(self.module) };
    }
}
