//! GPU kernels compiled as C++ for the host. Tests use the compiled kernels to check single terms ([`Library::term`])
//! and whole kernel launches.
//!
//! `emulator.hpp` emulates the parts of CUDA that the kernels use. The source of the kernels is the same as for a
//! GPU.

pub(crate) mod device;

use super::kernel::Kernel;
use super::layout::Arguments;
use super::source;
use crate::team::locked;
use std::ffi::{CStr, c_char};
use std::fmt::Write;
use std::num::NonZero;
use std::process::Command;
use std::sync::{Mutex, MutexGuard, OnceLock, TryLockError};

/// Source text that is placed before the source of the kernels: the emulated part of CUDA. The source text `BEHIND`,
/// placed after the kernels, defines plain functions that evaluate single terms.
const BEFORE: &str = include_str!("emulator.hpp");
const BEHIND: &str = include_str!("terms.cpp");

/// Compiled kernels, with one copy of the library per processor. The emulator keeps its state in global variables, so
/// each copy runs one launch at a time.
pub(crate) struct Library {
    copies: Vec<Mutex<libloading::Library>>,
}

/// Returns the library, compiled once for all tests of a process.
pub(crate) fn library() -> &'static Library {
    static LIBRARY: OnceLock<Library> = OnceLock::new();
    LIBRARY.get_or_init(Library::compile)
}

/// Returns whether the kernel declares its number of threads per block (launch bounds).
fn bounded(kernel: Kernel) -> bool {
    let name = format!(" {}(const Arguments", kernel.name());
    source::text().lines().any(|line| line.contains("__launch_bounds__") && line.contains(&name))
}

/// Returns the C++ source of a table of the kernels, indexed by kernel number.
fn table() -> String {
    let mut text = String::from(
        "extern \"C\" __attribute__((visibility(\"default\"))) const char* emulate(unsigned kernel, const Arguments* a, double p,\n\
         unsigned grid, unsigned size, unsigned shared, unsigned order) {\nstatic void (*const table[])(const Arguments, const double) = {\n",
    );
    for kernel in Kernel::ALL {
        let _ = writeln!(text, "{},", kernel.name());
    }
    text + "};\nstatic void (*chosen)(const Arguments, const double);\nchosen = table[kernel];\n\
            return emulation::run([](const void* a, double p) { chosen(*static_cast<const Arguments*>(a), p); }, a, p,\n\
            grid, size, shared, order);\n}\n"
}

type Emulate = unsafe extern "C" fn(u32, *const Arguments, f64, u32, u32, u32, u32) -> *const c_char;

impl Library {
    fn compile() -> Self {
        let folder = tempfile::tempdir().expect("a folder for the compiled kernels");
        let (text, object) = (folder.path().join("kernels.cpp"), folder.path().join("kernels.so"));
        std::fs::write(&text, format!("{BEFORE}{}{BEHIND}{}", source::text(), table()))
            .expect("the source can be written");
        // with `-march=native`, `fmaf` is a single instruction if the processor has such an instruction. Other
        // multiply-adds are not fused, because only some processors can fuse them. `_FORTIFY_SOURCE` is undefined
        // because a kernel may have the name of a function of the C library
        let options = [
            "-std=c++17",
            "-O2",
            "-march=native",
            "-U_FORTIFY_SOURCE",
            "-Wall",
            "-Werror",
            "-Wno-unknown-pragmas",
            "-ffp-contract=off",
        ];
        let compiler = Command::new("c++")
            .args(options)
            .args(["-shared", "-fPIC", "-Wl,-Bsymbolic", "-o"])
            .arg(&object)
            .arg(&text)
            .output();
        let compiler = compiler.expect("a C++ compiler, c++ (package g++), for the kernels");
        assert!(compiler.status.success(), "{}", String::from_utf8_lossy(&compiler.stderr));
        let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
        let load = |number| {
            // the loader treats only files with different names as different libraries
            let copy = folder.path().join(format!("kernels-{number}.so"));
            std::fs::copy(&object, &copy).expect("the library can be copied");
            // SAFETY: the only initialisers that run when the library is loaded are those of C++ containers
            Mutex::new(unsafe { libloading::Library::new(&copy) }.expect("the compiled kernels load"))
        };
        Library { copies: (0..processors).map(load).collect() }
    }

    /// Locks an unused copy of the library. If all copies are in use, waits for one of them.
    fn copy(&self) -> MutexGuard<'_, libloading::Library> {
        let free = self.copies.iter().find_map(|copy| match copy.try_lock() {
            Ok(free) => Some(free),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        });
        free.unwrap_or_else(|| locked(&self.copies[0]))
    }

    /// Evaluates the term with the given name. Inputs and outputs are numbers of type `f32`, or `f64` if the name of
    /// the term ends in `_f64`.
    #[cfg(test)]
    pub(crate) fn term<T: Copy + Default, const IN: usize, const OUT: usize>(
        &self,
        name: &str,
        input: &[T; IN],
    ) -> [T; OUT] {
        let mut output = [T::default(); OUT];
        // SAFETY: the functions of `terms.cpp` have this signature, and access no more numbers than the term has
        // inputs and outputs
        unsafe {
            let library = self.copy();
            let term: libloading::Symbol<unsafe extern "C" fn(*const T, *mut T)> =
                library.get(name).expect("a term of terms.cpp");
            term(input.as_ptr(), output.as_mut_ptr());
        }
        output
    }

    /// Runs a kernel with `grid` blocks of `size` threads and `shared` bytes of shared memory per block. Blocks and
    /// threads run in ascending order (`order` 0), in descending order (1), or with a stride (2).
    pub(super) fn launch(
        &self,
        kernel: Kernel,
        [grid, size, shared]: [u32; 3],
        arguments: &Arguments,
        parameter: f64,
        order: u32,
    ) -> Result<(), String> {
        let library = self.copy();
        // SAFETY: the addresses in `arguments` belong to arrays of the sizes that `arguments` states, and this thread
        // has locked the copy of the library
        let fault = unsafe {
            let emulate: libloading::Symbol<Emulate> = library.get("emulate").expect("the table of kernels");
            let fault = emulate(kernel as u32, arguments, parameter, grid, size, shared, order);
            if fault.is_null() { None } else { Some(CStr::from_ptr(fault).to_string_lossy().into_owned()) }
        };
        fault.map_or(Ok(()), |what| Err(format!("{}: {what}", kernel.name())))
    }
}
