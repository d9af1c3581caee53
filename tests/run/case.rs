//! A folder with an input file, and what the program makes of it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use assert_cmd::cargo::CommandCargoExt;
use md::observe::summary::Summary;
use md::run::Checkpoint;
use md::system::State;
use tempfile::TempDir;

/// Nothing here takes longer than a few seconds.
const PATIENCE: Duration = Duration::from_secs(120);

/// An input file in a folder of its own.
pub(crate) struct Case {
    folder: TempDir,
}

/// How a run ended.
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) messages: String,
}

/// Everything of a run that must not depend on how often it was interrupted.
#[derive(PartialEq)]
pub(crate) struct Record {
    pub(crate) hash: String,
    pub(crate) energies: String,
    pub(crate) times: Vec<f64>,
    coordinates: Vec<f32>,
    velocities: Vec<f32>,
    conserved: Vec<f64>,
}

impl Case {
    /// A system of `tests/systems` with the rest of the input file as given.
    pub(crate) fn new(system: &str, rest: &str) -> Self {
        let case = Case { folder: tempfile::tempdir().unwrap() };
        case.rewrite(system, rest);
        case
    }

    /// Ten million steps of a small molecule: nothing but a signal or `--steps` ends them.
    pub(crate) fn endless(output: &str) -> Self {
        let stage = "[[stage]]\nname = \"a\"\nkind = \"dynamics\"\nduration = \"20 ns\"\ntimestep = \"2 fs\"\n\
            velocities = \"generate\"\ntemperature = \"300 K\"";
        let forces = "[run]\nthreads = 1\n[forces]\ncutoff = \"none\"\nelectrostatics = \"plain\"";
        let output = format!("[output]\nenergies = {{ every = \"20 fs\" }}\ntrajectory = \"none\"\n{output}");
        Case::new("peptide-vacuum", &format!("{forces}\n{output}\n{stage}"))
    }

    /// Another input file in the same folder.
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

    /// `md run input.toml` with more arguments.
    pub(crate) fn run(&self, arguments: &[&str]) -> Ended {
        let output = self.command(arguments).output().unwrap();
        Ended { code: output.status.code(), messages: String::from_utf8(output.stderr).unwrap() }
    }

    /// The same, which must end with this code.
    #[track_caller]
    pub(crate) fn ends_with(&self, code: i32, arguments: &[&str]) -> String {
        let ended = self.run(arguments);
        assert_eq!(ended.code, Some(code), "{arguments:?}: {}", ended.messages);
        assert!(!ended.messages.contains("panicked"), "{}", ended.messages);
        // on one line: where messages are wrapped depends on the length of paths
        ended.messages.split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>().join(" ")
    }

    /// A run in the background.
    pub(crate) fn start(&self, arguments: &[&str]) -> Child {
        self.command(arguments).stderr(Stdio::null()).spawn().unwrap()
    }

    /// Rows of `energies.csv` so far, without the header.
    pub(crate) fn rows(&self, directory: &str) -> usize {
        let text = std::fs::read_to_string(self.path(directory).join("energies.csv")).unwrap_or_default();
        text.lines().count().saturating_sub(1)
    }

    pub(crate) fn summary(&self, directory: &str) -> Summary {
        Summary::read(&self.path(directory).join("summary.json")).unwrap()
    }

    /// The state of the checkpoint, with all its bits.
    pub(crate) fn state(&self, directory: &str) -> State {
        Checkpoint::read(&self.path(directory).join("checkpoint.md")).unwrap().unwrap().body.state
    }

    /// A column of `energies.csv`.
    pub(crate) fn column(&self, directory: &str, name: &str) -> Vec<f64> {
        let text = std::fs::read_to_string(self.path(directory).join("energies.csv")).unwrap();
        let mut lines = text.lines();
        let index = lines.next().unwrap().split(',').position(|column| column == name).unwrap();
        lines.map(|line| line.split(',').nth(index).unwrap().parse().unwrap()).collect()
    }

    /// What must not depend on interruptions.
    pub(crate) fn record(&self, directory: &str) -> Record {
        let folder = self.path(directory);
        let file = hdf5::File::open(folder.join("trajectory.h5md")).unwrap();
        let single = |name: &str| file.dataset(name).unwrap().read_raw::<f32>().unwrap();
        let double = |name: &str| file.dataset(name).unwrap().read_raw::<f64>().unwrap();
        Record {
            hash: self.summary(directory).final_state_hash.unwrap(),
            energies: std::fs::read_to_string(folder.join("energies.csv")).unwrap(),
            times: double("time"),
            coordinates: single("coordinates"),
            velocities: single("velocities"),
            conserved: double("observables/conserved_energy/value"),
        }
    }

    /// Every file of a folder but the lock and links that lead nowhere, with its bytes.
    pub(crate) fn contents(&self, directory: &str) -> BTreeMap<PathBuf, Vec<u8>> {
        let entries = std::fs::read_dir(self.path(directory)).unwrap().map(|entry| entry.unwrap().path());
        let files = entries.filter(|path| path.exists() && !path.ends_with(".md.lock"));
        files.map(|path| (path.file_name().unwrap().into(), std::fs::read(&path).unwrap())).collect()
    }
}

/// Two runs left the same behind, bit for bit.
#[track_caller]
pub(crate) fn assert_same(a: &Record, b: &Record) {
    assert_eq!(a.hash, b.hash, "final states differ");
    assert_eq!(a.energies, b.energies, "energies differ");
    assert_eq!(a.times, b.times, "frames are missing or doubled");
    assert!(a == b, "frames differ");
}

/// Waits until something is true.
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
