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
use sha2::{Digest, Sha256};
use std::ffi::{CStr, c_char};
use std::fmt::Write;
use std::io::Write as _;
use std::num::NonZero;
use std::path::Path;
use std::process::{Command, Output};
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

/// Returns the library, which all tests of a process share.
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

/// Options of the compiler. With `-march=native`, `fmaf` is a single instruction if the processor has such an
/// instruction. Other multiply-adds are not fused, because only some processors can fuse them. `_FORTIFY_SOURCE` is
/// undefined because a kernel may have the name of a function of the C library.
const OPTIONS: [&str; 11] = [
    "-std=c++17",
    "-O2",
    "-march=native",
    "-U_FORTIFY_SOURCE",
    "-Wall",
    "-Werror",
    "-Wno-unknown-pragmas",
    "-ffp-contract=off",
    "-shared",
    "-fPIC",
    "-Wl,-Bsymbolic",
];
/// Arguments with which the compiler prints its version and the macros that it predefines. The macros depend on the
/// instructions of the processor.
const DESCRIBE: [&str; 6] = ["-march=native", "-v", "-dM", "-E", "-xc++", "/dev/null"];

/// Runs the C++ compiler.
fn run_compiler(command: &mut Command) -> Output {
    let output = command.output().expect("a C++ compiler, c++ (package g++), for the kernels");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output
}

/// Returns a hash of all inputs of the compilation: the source text, the options, the version of the compiler, and the
/// instructions of the processor.
fn hash(text: &str) -> String {
    let compiler = run_compiler(Command::new("c++").args(DESCRIBE));
    let mut hash = Sha256::new();
    for part in [text.as_bytes(), OPTIONS.join(" ").as_bytes(), &compiler.stdout, &compiler.stderr] {
        // the length of each part is hashed too, so that different lists of parts never give the same bytes
        hash.update(part.len().to_le_bytes());
        hash.update(part);
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the machine code of a source text. Code that an earlier process compiled is read from `folder`. A file gets
/// its name only after it has been written, because several processes may run at once.
fn machine_code(folder: &Path, text: &str) -> Vec<u8> {
    let kept = folder.join(format!("emulated-{}.so", hash(text)));
    if let Ok(code) = std::fs::read(&kept) {
        return code;
    }
    let scratch = tempfile::tempdir().expect("a folder for the compiled kernels");
    let (source, object) = (scratch.path().join("kernels.cpp"), scratch.path().join("kernels.so"));
    std::fs::write(&source, text).expect("the source can be written");
    run_compiler(Command::new("c++").args(OPTIONS).arg("-o").arg(&object).arg(&source));
    let code = std::fs::read(object).expect("the compiled kernels");
    // a failure to keep the code is ignored, because kept code only saves time
    let _ = tempfile::NamedTempFile::new_in(folder).and_then(|mut file| {
        file.write_all(&code)?;
        Ok(file.persist(kept)?)
    });
    code
}

impl Library {
    fn compile() -> Self {
        let executable = std::env::current_exe().expect("the path of this program");
        let text = format!("{BEFORE}{}{BEHIND}{}", source::text(), table());
        let code = machine_code(executable.parent().expect("a folder"), &text);
        let copies = tempfile::tempdir().expect("a folder for copies of the compiled kernels");
        let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
        let load = |number| {
            // the loader treats only files with different names as different libraries
            let copy = copies.path().join(format!("kernels-{number}.so"));
            std::fs::write(&copy, &code).expect("the library can be copied");
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
