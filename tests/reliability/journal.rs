//! Runs a program under `faults.c`, and reads the journal of the calls that changed files.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// A fault at one of the calls that change files.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Fault {
    /// SIGKILL before the call
    Kill,
    /// SIGKILL in the middle of a write; only writes are counted
    Torn,
    /// SIGTERM before the call
    Term,
    /// the call fails with this error, and later calls succeed
    Once(i32),
    /// the call and all later calls fail with this error
    Lasting(i32),
}

impl Fault {
    /// Whether `call` counts for the number of the call at which the fault happens.
    pub(crate) fn counts(self, call: &Call) -> bool {
        self != Fault::Torn || call.kind == "write"
    }
}

/// The compiled fault library.
pub(crate) struct Preload {
    library: PathBuf,
}

impl Preload {
    /// Returns the library, which the tests of this process compile once.
    pub(crate) fn shared() -> &'static Self {
        static SHARED: OnceLock<Preload> = OnceLock::new();
        SHARED.get_or_init(Preload::compile)
    }

    /// Compiles the library. An older library is replaced only after the compilation, because tests of another process
    /// may use it.
    fn compile() -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let scratch = tempfile::tempdir_in(folder).unwrap();
        let (compiled, library) = (scratch.path().join("faults.so"), folder.join("faults.so"));
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reliability/faults.c");
        let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".into());
        let output = Command::new(&compiler)
            .args(["-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o"])
            .args([&compiled, &source])
            .output()
            .unwrap_or_else(|error| panic!("{compiler}, which built HDF5 too: {error}"));
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        std::fs::rename(&compiled, &library).unwrap();
        Preload { library }
    }

    /// Watches a command that changes files in `folder`, with a fault at call number `at` if `fault` is given.
    pub(crate) fn watch(&self, command: &mut Command, folder: &Path, journal: &Path, fault: Option<(Fault, usize)>) {
        let _ = std::fs::remove_file(journal);
        command.env("LD_PRELOAD", &self.library).env("FAULT_BELOW", folder).env("FAULT_JOURNAL", journal);
        let Some((fault, at)) = fault else { return };
        let kind = match fault {
            Fault::Kill => "kill".to_owned(),
            Fault::Torn => "torn".to_owned(),
            Fault::Term => "term".to_owned(),
            Fault::Once(error) | Fault::Lasting(error) => error.to_string(),
        };
        command.env("FAULT_KIND", kind).env("FAULT_AT", at.to_string());
        if let Fault::Lasting(_) = fault {
            command.env("FAULT_LASTING", "1");
        }
    }
}

/// A system call that the journal records.
pub(crate) struct Call {
    pub(crate) kind: String,
    pub(crate) inode: u64,
    pub(crate) offset: usize,
    /// bytes of a write, or length after a truncation; 0 for the line of a fault
    pub(crate) length: usize,
    pub(crate) path: PathBuf,
    pub(crate) other: PathBuf,
    pub(crate) bytes: Vec<u8>,
    pub(crate) is_fault: bool,
}

impl Call {
    /// Whether the call changes the contents or the name of the trajectory with the given extension.
    pub(crate) fn is_of(&self, extension: &str) -> bool {
        let name = format!("trajectory.{extension}");
        self.path.ends_with(&name) || self.other.ends_with(&name)
    }

    /// Description of the call for messages, with file names instead of paths.
    pub(crate) fn describe(&self) -> String {
        let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        format!("{} {} {}", self.kind, name(&self.path), name(&self.other)).trim_end().to_owned()
    }
}

/// Reads a journal whose writer may have been killed.
pub(crate) fn read(path: &Path) -> Vec<Call> {
    let bytes = std::fs::read(path).unwrap_or_default();
    let (mut rest, mut calls) = (&bytes[..], vec![]);
    while let Some(end) = rest.iter().position(|&byte| byte == b'\n') {
        let line = std::str::from_utf8(&rest[..end]).unwrap();
        rest = &rest[end + 1..];
        let fields: Vec<&str> = line.split('\t').collect();
        let number = |index: usize| fields[index].parse::<u64>().unwrap();
        let length = number(3) as usize;
        let (other, is_fault) = fields[5].strip_suffix("fault").map_or((fields[5], false), |path| (path, true));
        let (bytes, after) = rest.split_at(if fields[0] == "write" { length } else { 0 });
        rest = after;
        calls.push(Call {
            kind: fields[0].into(),
            inode: number(1),
            offset: number(2) as usize,
            length,
            path: fields[4].into(),
            other: other.into(),
            bytes: bytes.into(),
            is_fault,
        });
    }
    calls
}
