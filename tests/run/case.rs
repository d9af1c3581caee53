//! A folder with an input file, in which tests run the program and read its results.

use std::collections::BTreeMap;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use assert_cmd::cargo::CommandCargoExt;
use md::observe::summary::Summary;
use md::run::Checkpoint;
use md::system::State;
use tempfile::TempDir;

/// Time limit for a condition that a test waits for. A wait usually takes a few seconds at most.
const PATIENCE: Duration = Duration::from_secs(120);

/// An input file in a temporary folder.
pub(crate) struct Case {
    folder: TempDir,
}

/// Exit code and messages of a finished command.
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) messages: String,
}

/// Results of a run that must not depend on interruptions.
#[derive(PartialEq)]
pub(crate) struct Record {
    pub(crate) hash: String,
    pub(crate) energies: String,
    /// rows of the table of minimisations; empty without a minimisation
    pub(crate) minimisation: String,
    pub(crate) times: Vec<f64>,
    coordinates: Vec<f32>,
    velocities: Vec<f32>,
    conserved: Vec<f64>,
}

impl Case {
    /// Creates a case with a system of `tests/systems` and `rest` as the rest of the input file.
    pub(crate) fn new(system: &str, rest: &str) -> Self {
        let case = Case { folder: tempfile::tempdir().unwrap() };
        case.rewrite(system, rest);
        case
    }

    /// Returns a case with ten million steps of a small molecule, which only a signal or `--steps` ends.
    pub(crate) fn endless(output: &str) -> Self {
        let stage = "[[stage]]\nname = \"a\"\nkind = \"dynamics\"\nduration = \"20 ns\"\ntimestep = \"2 fs\"\n\
            velocities = \"generate\"\ntemperature = \"300 K\"";
        let forces = "[run]\nthreads = 1\n[forces]\ncutoff = \"none\"\nelectrostatics = \"plain\"";
        let output = format!("[output]\nenergies = {{ every = \"20 fs\" }}\ntrajectory = \"none\"\n{output}");
        Case::new("peptide-vacuum", &format!("{forces}\n{output}\n{stage}"))
    }

    /// Writes another input file to the same folder.
    pub(crate) fn rewrite(&self, system: &str, rest: &str) {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/systems").join(system);
        let [topology, coordinates] = ["prmtop", "rst7"].map(|kind| folder.join(format!("{system}.{kind}.xz")));
        self.write_input(&topology, &coordinates, rest);
    }

    pub(crate) fn write_input(&self, topology: &Path, coordinates: &Path, rest: &str) {
        let text = format!("[system]\ntopology = {topology:?}\ncoordinates = {coordinates:?}\n{rest}\n");
        std::fs::write(self.path("input.toml"), text).unwrap();
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::cargo_bin("md").unwrap();
        command.current_dir(self.folder.path()).env_remove("MD_SIMD").env("NO_COLOR", "1");
        command.args(["run", "input.toml"]).args(arguments);
        command
    }

    /// Runs `md run input.toml` with further arguments.
    pub(crate) fn run(&self, arguments: &[&str]) -> Ended {
        let output = self.command(arguments).output().unwrap();
        Ended { code: output.status.code(), messages: String::from_utf8(output.stderr).unwrap() }
    }

    /// Runs `md run input.toml`, asserts its exit code and returns its messages.
    #[track_caller]
    pub(crate) fn ends_with(&self, code: i32, arguments: &[&str]) -> String {
        let ended = self.run(arguments);
        assert_eq!(ended.code, Some(code), "{arguments:?}: {}", ended.messages);
        assert!(!ended.messages.contains("panicked"), "{}", ended.messages);
        // the words are joined to one line, because the wrapping of messages depends on the length of paths
        ended.messages.split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>().join(" ")
    }

    /// Starts a run in the background.
    pub(crate) fn start(&self, arguments: &[&str]) -> Child {
        let mut command = self.command(arguments);
        // tests that were started by `nohup` ignore SIGHUP, and a child process would inherit this setting
        // SAFETY: the call sets the action of one signal, and touches no memory
        let default = || match unsafe { libc::signal(libc::SIGHUP, libc::SIG_DFL) } {
            libc::SIG_ERR => Err(std::io::Error::last_os_error()),
            _ => Ok(()),
        };
        // SAFETY: `signal` may be called between fork and exec (signal-safety(7)), and it touches no memory of this
        // process
        unsafe { command.pre_exec(default) };
        command.stderr(Stdio::null()).spawn().unwrap()
    }

    /// Number of rows written to `energies.csv`, without the header.
    pub(crate) fn rows(&self, directory: &str) -> usize {
        let text = std::fs::read_to_string(self.path(directory).join("energies.csv")).unwrap_or_default();
        text.lines().count().saturating_sub(1)
    }

    pub(crate) fn summary(&self, directory: &str) -> Summary {
        Summary::read(&self.path(directory).join("summary.json")).unwrap()
    }

    /// Returns the state in the checkpoint of a run. Tests compare states bit for bit.
    pub(crate) fn state(&self, directory: &str) -> State {
        Checkpoint::read(&self.path(directory).join("checkpoint.md")).unwrap().unwrap().body.state
    }

    /// Returns the column of `energies.csv` with the given name.
    pub(crate) fn column(&self, directory: &str, name: &str) -> Vec<f64> {
        let text = std::fs::read_to_string(self.path(directory).join("energies.csv")).unwrap();
        let mut lines = text.lines();
        let index = lines.next().unwrap().split(',').position(|column| column == name).unwrap();
        lines.map(|line| line.split(',').nth(index).unwrap().parse().unwrap()).collect()
    }

    /// Returns the results of a run that must not depend on interruptions.
    pub(crate) fn record(&self, directory: &str) -> Record {
        let folder = self.path(directory);
        let file = hdf5::File::open(folder.join("trajectory.h5md")).unwrap();
        let single = |name: &str| file.dataset(name).unwrap().read_raw::<f32>().unwrap();
        let double = |name: &str| file.dataset(name).unwrap().read_raw::<f64>().unwrap();
        Record {
            hash: self.summary(directory).final_state_hash.unwrap(),
            energies: std::fs::read_to_string(folder.join("energies.csv")).unwrap(),
            minimisation: std::fs::read_to_string(folder.join("minimisation.csv")).unwrap_or_default(),
            times: double("time"),
            coordinates: single("coordinates"),
            velocities: single("velocities"),
            conserved: double("observables/conserved_energy/value"),
        }
    }

    /// Returns the contents of every file in a folder, except the lock and broken links.
    pub(crate) fn contents(&self, directory: &str) -> BTreeMap<PathBuf, Vec<u8>> {
        let entries = std::fs::read_dir(self.path(directory)).unwrap().map(|entry| entry.unwrap().path());
        let files = entries.filter(|path| path.exists() && !path.ends_with(".md.lock"));
        files.map(|path| (path.file_name().unwrap().into(), std::fs::read(&path).unwrap())).collect()
    }
}

/// Asserts that two runs have the same results, bit for bit.
#[track_caller]
pub(crate) fn assert_same(a: &Record, b: &Record) {
    assert_eq!(a.hash, b.hash, "final states differ");
    assert_eq!(a.energies, b.energies, "energies differ");
    assert_eq!(a.minimisation, b.minimisation, "minimisations differ");
    assert_eq!(a.times, b.times, "frames are missing or doubled");
    assert!(a == b, "frames differ");
}

/// Waits until `is_true` returns true.
#[track_caller]
pub(crate) fn wait_for(what: &str, mut is_true: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_true() {
        assert!(start.elapsed() < PATIENCE, "waited too long for {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Sends a signal to a process.
pub(crate) fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").args([&format!("-{name}"), &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
}
