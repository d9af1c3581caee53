//! Compiles the kernels for a GPU at run time with NVRTC. The result is usually machine code, which loads even if the
//! compiler is newer than the driver. If the compiler does not know the GPU, the result is PTX, which the driver
//! compiles. Compilation needs no GPU.

use super::cache::{Programs, Recipe};
use super::source;
use crate::compute::cuda::not_found;
use crate::error::{Error, Result};
use cudarc::nvrtc::{result, sys};
use std::ffi::{CStr, CString};

/// Compiler options in addition to the architecture. Multiply-adds are fused only where a kernel requests a fused
/// multiply-add explicitly. A compiler that fuses operations by itself might fuse different operations in the kernel
/// variants with and without energy sums, and a request for energies would then change the trajectory. Denormal numbers
/// of `f32` (below 10⁻³⁸) are treated as zero, which saves a test in every reciprocal square root.
const OPTIONS: [&str; 3] = ["--std=c++17", "--fmad=false", "--ftz=true"];

/// Oldest architecture that the kernels support: Turing.
pub(super) const OLDEST: (i32, i32) = (7, 5);

/// Returns an error if the library of the run-time compiler (NVRTC) cannot be loaded.
pub(super) fn check() -> Result<()> {
    // SAFETY: the call opens and closes a library of NVIDIA's by name
    if unsafe { sys::is_culib_present() } {
        return Ok(());
    }
    Err(not_found("run-time compiler", "libnvrtc", ["cuda-nvrtc", "nvidia-cuda-nvrtc-cu12"]))
}

fn failed(what: &str, error: result::NvrtcError) -> Error {
    Error::Device(format!("CUDA's run-time compiler: {what}: {error:?}"))
}

/// Form of a compiled program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// machine code of the GPU
    Machine,
    /// PTX, which the driver compiles for any GPU of the architecture or a later one
    Intermediate,
}

/// Returns the architecture for which to compile, as a compiler option, and the form of the program. The form is
/// machine code if the compiler knows the GPU. If the compiler does not know the GPU, the form is PTX for the latest
/// architecture in `known` that is older than the GPU. Each element of `known` is 10 times the major version plus the
/// minor version of an architecture, for example 75 for Turing (7.5).
fn target((major, minor): (i32, i32), known: &[i32]) -> Option<(String, Form)> {
    let own = 10 * major + minor;
    if known.contains(&own) {
        return Some((format!("--gpu-architecture=sm_{own}"), Form::Machine));
    }
    let latest = known.iter().filter(|&&other| other < own).max()?;
    Some((format!("--gpu-architecture=compute_{latest}"), Form::Intermediate))
}

/// Returns the compiled kernels for a compute capability. The kernels are taken from the cache `kept` if the cache
/// has them.
pub(super) fn program(capability: (i32, i32), kept: &Programs) -> Result<Vec<u8>> {
    check()?;
    let compiler = version().map_err(|error| failed("its version cannot be read", error))?;
    let known = architectures().map_err(|error| failed("its list of supported architectures cannot be read", error))?;
    let Some((architecture, form)) = target(capability, &known) else {
        let ([newer, than], (major, minor)) = (compiler, capability);
        return Err(Error::Device(format!(
            "CUDA's run-time compiler {newer}.{than} no longer compiles for compute capability {major}.{minor}; install an \
             earlier version"
        )));
    };
    let source = source::text();
    let options: Vec<&str> = OPTIONS.into_iter().chain([architecture.as_str()]).collect();
    let recipe = Recipe { source: &source, options: &options, compiler, version: env!("CARGO_PKG_VERSION") };
    kept.get(&recipe, || Compiled::new(&source, &options)?.image(form))
}

/// Returns the major and minor version of the compiler.
pub(super) fn version() -> std::result::Result<[i32; 2], result::NvrtcError> {
    let [mut major, mut minor] = [0; 2];
    // SAFETY: `major` and `minor` outlive the call
    unsafe { sys::nvrtcVersion(&mut major, &mut minor) }.result()?;
    Ok([major, minor])
}

/// Returns the architectures that the compiler supports.
fn architectures() -> std::result::Result<Vec<i32>, result::NvrtcError> {
    let mut count = 0;
    // SAFETY: `count` outlives the call
    unsafe { sys::nvrtcGetNumSupportedArchs(&mut count) }.result()?;
    let mut known = vec![0; count.max(0) as usize];
    // SAFETY: `known` is as long as the compiler requires
    unsafe { sys::nvrtcGetSupportedArchs(known.as_mut_ptr()) }.result()?;
    Ok(known)
}

/// A compiled program in the memory of the compiler.
struct Compiled(sys::nvrtcProgram);

impl Compiled {
    fn new(source: &str, options: &[&str]) -> Result<Self> {
        let source = CString::new(source).map_err(|error| Error::Internal(error.to_string()))?;
        let program =
            result::create_program(&source, None).map_err(|error| failed("a program cannot be created", error))?;
        let compiled = Compiled(program);
        // SAFETY: `program` was created above and is destroyed with `compiled`
        unsafe { result::compile_program(program, options) }.map_err(|error| {
            let options = options.join(" ");
            Error::Device(format!("the kernels do not compile with {options}: {error:?}\n{}", compiled.log()))
        })?;
        Ok(compiled)
    }

    /// Returns the compiler's log.
    fn log(&self) -> String {
        // SAFETY: the program has not been destroyed
        match unsafe { result::get_program_log(self.0) } {
            // SAFETY: the log of the compiler ends with a zero byte
            Ok(text) => unsafe { CStr::from_ptr(text.as_ptr()) }.to_string_lossy().into_owned(),
            Err(error) => format!("the compiler's log cannot be read: {error:?}"),
        }
    }

    /// Returns the compiled program as machine code or as PTX.
    fn image(&self, form: Form) -> Result<Vec<u8>> {
        let image = match form {
            Form::Machine => self.machine_code(),
            // SAFETY: the program has been compiled; the PTX text ends with a zero byte, as the driver requires
            Form::Intermediate => unsafe { result::get_ptx(self.0) }.map(|text| bytemuck::cast_slice(&text).to_vec()),
        };
        image.map_err(|error| failed("the compiled program cannot be read", error))
    }

    fn machine_code(&self) -> std::result::Result<Vec<u8>, result::NvrtcError> {
        let mut size = 0;
        // SAFETY: the program has been compiled
        unsafe { sys::nvrtcGetCUBINSize(self.0, &mut size) }.result()?;
        let mut image = vec![0u8; size];
        // SAFETY: the program has been compiled, and the buffer has the size that the compiler returned
        unsafe { sys::nvrtcGetCUBIN(self.0, image.as_mut_ptr().cast()) }.result()?;
        Ok(image)
    }
}

impl Drop for Compiled {
    fn drop(&mut self) {
        // SAFETY: the program was created by `new` and is not used again. An error is ignored, because a failed release
        // of the program has no further effect
        let _ = unsafe { result::destroy_program(self.0) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gpu_newer_than_the_compiler_gets_intermediate_code() {
        let known = [75, 80, 90];
        let expected = |option: &str, form| Some((format!("--gpu-architecture={option}"), form));
        assert_eq!(target((9, 0), &known), expected("sm_90", Form::Machine));
        assert_eq!(target((8, 6), &known), expected("compute_80", Form::Intermediate));
        assert_eq!(target((12, 0), &known), expected("compute_90", Form::Intermediate));
        assert_eq!(target((7, 0), &known), None);
    }

    /// Compiles the kernels for Hopper, and checks the machine code and the PTX from which the machine code was
    /// compiled.
    fn check_hopper(more: &[&str]) {
        let options = [&OPTIONS[..], &["--gpu-architecture=sm_90"], more].concat();
        let compiled = Compiled::new(&source::text(), &options).expect("the kernels compile");
        // the program is an ELF file
        assert_eq!(&compiled.image(Form::Machine).expect("machine code")[..4], b"\x7fELF");
        let text = compiled.image(Form::Intermediate).expect("PTX");
        let text = CStr::from_bytes_with_nul(&text).expect("one zero byte at the end").to_str().expect("plain text");
        assert!(text.contains("fma.rn.ftz.f32") && text.contains("add.rn.f64"));
        // the compiler may fuse instructions that have no explicit rounding mode, so the program must not contain such
        // instructions
        let open = ["mul", "add", "sub"].map(|name| ["ftz.f32", "f32", "f64"].map(|kind| format!("{name}.{kind}\t")));
        let found = text.lines().find(|line| open.as_flattened().iter().any(|operation| line.contains(operation)));
        assert_eq!(found, None);
    }

    /// Compiles the kernels with few optimisations if the compiler has the option `--Ofast-compile`, which makes the
    /// compilation six times as fast.
    #[test]
    #[allow(clippy::print_stderr, reason = "a skipped test says why")]
    fn kernels_compile_and_are_fused_only_where_they_say_so() {
        if let Err(error) = check() {
            return eprintln!("skipped: {error}");
        }
        let known = version().expect("a version") >= [12, 8];
        check_hopper(if known { &["--Ofast-compile=max"] } else { &[] });
    }

    /// Compiles the kernels for Turing, Ampere, Hopper and Blackwell, and then takes the compiled kernels from the
    /// cache.
    #[test]
    #[ignore = "the test takes minutes; validation/gpu/README.md has the command for the test"]
    fn kernels_compile_for_every_architecture_and_are_kept() {
        check().expect("the run-time compiler");
        check_hopper(&[]);
        let folder = tempfile::tempdir().expect("a folder");
        let capabilities = [(7, 5), (8, 0), (9, 0), (10, 0)];
        for capability in capabilities {
            let programs = || Programs::new(Some(folder.path().to_owned()));
            let made = program(capability, &programs()).expect("the kernels compile");
            assert_eq!(&made[..4], b"\x7fELF");
            assert!(made == program(capability, &programs()).expect("a kept program"));
        }
        assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), capabilities.len());
    }
}
