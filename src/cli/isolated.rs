//! Execution of commands that read HDF5 files in a child process.
//!
//! The HDF5 library trusts every block of a file whose checksum is right. A forged file can make the library divide
//! by zero or read out of bounds, which ends the process. A command that reads files of unknown origin therefore runs
//! in a child process, and a crash of the child is reported as a damaged file.

use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitCode};

use crate::error::{Error, Result};

/// Environment variable that is set for the child process, so that the child reads the file and does not start
/// another child.
const CHILD: &str = "MD_ISOLATED";

/// Runs the command of this process in a child process and returns the exit code of the child. Returns `None` if this
/// process is the child, or if no child can be started.
///
/// # Errors
///
/// Fails if the child crashed while it read `file`.
pub(super) fn run(file: &Path) -> Result<Option<ExitCode>> {
    if std::env::var_os(CHILD).is_some() {
        return Ok(None);
    }
    let Ok(program) = std::env::current_exe() else { return Ok(None) };
    let mut child = Command::new(program);
    child.args(std::env::args_os().skip(1)).env(CHILD, "1");
    #[cfg(target_os = "linux")]
    {
        use std::os::unix::process::CommandExt;
        // the child is killed when this process ends
        // SAFETY: the call takes two numbers and touches no memory
        let follow = || match unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) } {
            0 => Ok(()),
            _ => Err(std::io::Error::last_os_error()),
        };
        // SAFETY: the closure runs between fork and exec; the closure makes one system call and allocates no memory
        unsafe { child.pre_exec(follow) };
    }
    let Ok(status) = child.status() else { return Ok(None) };
    let fatal = [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGABRT];
    match (status.code(), status.signal()) {
        (Some(code), _) => Ok(Some(ExitCode::from(u8::try_from(code).unwrap_or(u8::MAX)))),
        (None, Some(signal)) if fatal.contains(&signal) => {
            let reason = "the file is damaged, and the HDF5 library crashed while reading it";
            Err(Error::io(file, format!("{reason} (signal {signal}); use another copy of the file")))
        }
        (None, signal) => {
            let signal = signal.unwrap_or_default();
            let reason = "the process that read the file was ended from outside: it ran out of memory, or exceeded a \
                          limit of the queue or the shell";
            Err(Error::io(file, format!("{reason}; it received signal {signal}")))
        }
    }
}
