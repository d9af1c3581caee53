//! The run-time compiler: the source of the kernels to a program for the GPU at hand, so that a compiler newer than the
//! driver still works. It needs no GPU.

use super::cache::{Programs, Recipe};
use super::source;
use crate::compute::cuda::not_found;
use crate::error::{Error, Result};
use cudarc::nvrtc::{result, sys};
use std::ffi::{CStr, CString};

/// Options beside the architecture. No fast arithmetic: constraints and sums in double precision would suffer.
const OPTIONS: [&str; 2] = ["--std=c++17", "--fmad=true"];

/// The oldest architecture that the kernels are written for: Turing.
pub(super) const OLDEST: (i32, i32) = (7, 5);

/// An error where the compiler's library cannot be loaded.
pub(super) fn check() -> Result<()> {
    // SAFETY: opens and closes a library of NVIDIA's by name
    if unsafe { sys::is_culib_present() } {
        return Ok(());
    }
    Err(not_found("run-time compiler", "libnvrtc", ["cuda-nvrtc", "nvidia-cuda-nvrtc-cu12"]))
}

fn failed(what: &str, error: result::NvrtcError) -> Error {
    Error::Device(format!("CUDA's run-time compiler: {what}: {error:?}"))
}

/// The kernels as a program for a compute capability, compiled unless it is kept.
pub(super) fn program((major, minor): (i32, i32), kept: &Programs) -> Result<Vec<u8>> {
    check()?;
    let (source, architecture) = (source::text(), format!("--gpu-architecture=sm_{major}{minor}"));
    let options: Vec<&str> = OPTIONS.into_iter().chain([architecture.as_str()]).collect();
    let compiler = version().map_err(|error| failed("no version", error))?;
    let recipe = Recipe { source: &source, options: &options, compiler, version: env!("CARGO_PKG_VERSION") };
    kept.get(&recipe, || compile(&source, &options))
}

/// Major and minor version of the compiler.
fn version() -> std::result::Result<[i32; 2], result::NvrtcError> {
    let [mut major, mut minor] = [0; 2];
    // SAFETY: both outlive the call
    unsafe { sys::nvrtcVersion(&mut major, &mut minor) }.result()?;
    Ok([major, minor])
}

fn compile(source: &str, options: &[&str]) -> Result<Vec<u8>> {
    let source = CString::new(source).map_err(|error| Error::Internal(error.to_string()))?;
    let program = result::create_program(&source, None).map_err(|error| failed("cannot start", error))?;
    // SAFETY: `program` was made above and is destroyed below
    let outcome = unsafe { result::compile_program(program, options) }
        .map_err(|error| {
            let options = options.join(" ");
            Error::Device(format!("the kernels do not compile with {options}: {error:?}\n{}", log(program)))
        })
        .and_then(|()| image(program).map_err(|error| failed("no program", error)));
    // SAFETY: as above, and not used again
    unsafe { result::destroy_program(program) }.map_err(|error| failed("cannot end", error))?;
    outcome
}

/// What the compiler says about a program.
fn log(program: sys::nvrtcProgram) -> String {
    // SAFETY: a program that has not been destroyed
    match unsafe { result::get_program_log(program) } {
        // SAFETY: the compiler ends its log with a zero
        Ok(text) => unsafe { CStr::from_ptr(text.as_ptr()) }.to_string_lossy().into_owned(),
        Err(error) => format!("no log: {error:?}"),
    }
}

fn image(program: sys::nvrtcProgram) -> std::result::Result<Vec<u8>, result::NvrtcError> {
    let mut size = 0;
    // SAFETY: a program that has been compiled
    unsafe { sys::nvrtcGetCUBINSize(program, &mut size) }.result()?;
    let mut image = vec![0u8; size];
    // SAFETY: as above, and the buffer has the size that was asked for
    unsafe { sys::nvrtcGetCUBIN(program, image.as_mut_ptr().cast()) }.result()?;
    Ok(image)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Turing, Ampere, Hopper, Blackwell.
    const ARCHITECTURES: [(i32, i32); 4] = [(7, 5), (8, 0), (9, 0), (10, 0)];

    #[test]
    #[allow(clippy::print_stderr, reason = "a skipped test says why")]
    fn kernels_compile_for_every_architecture() {
        if let Err(error) = check() {
            return eprintln!("skipped: {error}");
        }
        let folder = tempfile::tempdir().expect("a folder");
        for capability in ARCHITECTURES {
            let programs = || Programs::new(Some(folder.path().to_owned()));
            let made = program(capability, &programs()).expect("the kernels compile");
            // an ELF file
            assert_eq!(&made[..4], b"\x7fELF");
            assert!(made == program(capability, &programs()).expect("a kept program"));
        }
        assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), ARCHITECTURES.len());
    }
}
