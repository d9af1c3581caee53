//! A small run with every kind of output, and the conditions that the files of the run must satisfy after any fault.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use hdf5::types::{FloatSize, IntSize, TypeDescriptor};
use md::observe::summary::Summary;
use md::observe::trajectory::{Format, StoredFrame};
use md::run::{Checkpoint, state_hash};
use serde_json::Value;
use tempfile::TempDir;

use crate::journal::{self, Call, Fault, Preload};

const MINIMIZE: u64 = 5;
const DYNAMICS: u64 = 24;
/// Time limit in seconds of a run that usually takes a tenth of a second. SIGALRM ends a run that hangs.
const PATIENCE: u32 = 60;
/// Number of bytes at the start of a trajectory in which counts of frames and steps may be stored.
const LONGEST_COUNTS: usize = 24;
/// Keys of `summary.json` whose values depend neither on the number of interruptions nor on the duration of a run.
const LASTING: [&str; 8] = ["state", "device", "threads", "simd", "atoms", "pme", "stages", "final_state_hash"];

/// File name extensions of all formats of trajectories that are tested.
pub(crate) const EXTENSIONS: [&str; 6] = ["h5md", "xtc", "dcd", "trr", "nc", "pdb"];

/// Input file: argon with a minimisation, then constant pressure, and a checkpoint after every step.
fn input(format: &Format) -> String {
    let system = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/systems/argon");
    let [topology, coordinates] = ["prmtop", "rst7"].map(|kind| system.join(format!("argon.{kind}.xz")));
    let name = format.extension;
    let fields = if format.holds.forces { "velocities = true, forces = true, " } else { "" };
    format!(
        "[system]\ntopology = {topology:?}\ncoordinates = {coordinates:?}\n\
         [run]\nthreads = 1\ntuning = \"off\"\n[forces]\ncutoff = \"0.8 nm\"\n\
         [output]\nenergies = {{ every = \"8 fs\" }}\ncheckpoint = {{ every = \"1e-9 s\" }}\n\
         trajectory = {{ every = \"16 fs\", {fields}format = {name:?} }}\n\
         [[stage]]\nname = \"minimize\"\nkind = \"minimize\"\nsteps = {MINIMIZE}\n\
         [[stage]]\nname = \"npt\"\nkind = \"dynamics\"\nsteps = {DYNAMICS}\ntimestep = \"4 fs\"\n\
         velocities = \"generate\"\nthermostat = {{ temperature = \"90 K\", coupling_time = \"0.1 ps\" }}\n\
         barostat = {{ pressure = \"1 bar\", coupling_time = \"2 ps\" }}\n"
    )
}

/// Returns the trajectory format with the given file extension.
pub(crate) fn of_extension(extension: &str) -> &'static Format {
    Format::of_name(&format!("trajectory.{extension}")).unwrap()
}

/// Files of an output folder, by name.
pub(crate) type Files = BTreeMap<PathBuf, Entry>;

/// Contents of a file, or the target of a symbolic link.
pub(crate) enum Entry {
    File(Vec<u8>),
    Link(PathBuf),
}

/// A folder with an input file. Runs write their files to the subfolder `out`.
pub(crate) struct Case {
    folder: TempDir,
    /// Format of the trajectory.
    format: &'static Format,
}

/// Results of an undisturbed run, by file or data set, that a disturbed run must reproduce.
#[derive(PartialEq)]
pub(crate) struct Record(BTreeMap<String, Vec<u8>>);

impl Case {
    /// Creates a folder without any run, with a trajectory of this format.
    pub(crate) fn new(format: &'static Format) -> Self {
        let case = Case { folder: tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap(), format };
        std::fs::write(case.folder().join("input.toml"), input(format)).unwrap();
        case
    }

    /// Creates a folder with a trajectory of this format, whose output folder holds `files`. Without files there is no
    /// output folder.
    pub(crate) fn with(format: &'static Format, files: &Files) -> Self {
        let case = Self::new(format);
        if !files.is_empty() {
            std::fs::create_dir(case.out()).unwrap();
        }
        for (name, entry) in files {
            let to = case.out().join(name);
            match entry {
                Entry::Link(target) => std::os::unix::fs::symlink(target, to).unwrap(),
                Entry::File(bytes) => std::fs::write(to, bytes).unwrap(),
            }
        }
        case
    }

    /// Returns the files in the output folder.
    pub(crate) fn files(&self) -> Files {
        let entries = std::fs::read_dir(self.out()).unwrap().map(Result::unwrap);
        let read = |path: &Path| match std::fs::read_link(path) {
            Ok(target) => Entry::Link(target),
            Err(_) => Entry::File(std::fs::read(path).unwrap()),
        };
        entries.map(|entry| (entry.file_name().into(), read(&entry.path()))).collect()
    }

    pub(crate) fn folder(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    pub(crate) fn out(&self) -> PathBuf {
        self.folder().join("out")
    }

    fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_md"));
        command.current_dir(self.folder()).env_remove("MD_SIMD").env("NO_COLOR", "1").args(["run", "input.toml"]);
        // SAFETY: alarm(2) only sets a timer of the process; it may be called between fork and exec, and the timer
        // persists across exec.
        unsafe {
            command.pre_exec(|| {
                libc::alarm(PATIENCE);
                Ok(())
            })
        };
        command
    }

    /// Runs `md run input.toml`.
    pub(crate) fn run(&self) -> Output {
        self.command().output().unwrap()
    }

    /// Starts `md run input.toml` in the background.
    pub(crate) fn start(&self) -> Child {
        self.command().stderr(Stdio::null()).spawn().unwrap()
    }

    /// Runs `md run input.toml` with an optional fault; returns the output and the calls that changed files.
    pub(crate) fn watch(&self, fault: Option<(Fault, usize)>) -> (Output, Vec<Call>) {
        let (mut command, journal) = (self.command(), self.folder.path().with_extension("journal"));
        Preload::shared().watch(&mut command, &self.folder(), &journal, fault);
        let output = command.output().unwrap();
        assert_ne!(output.status.code(), Some(99), "{}", String::from_utf8_lossy(&output.stderr));
        let calls = journal::read(&journal);
        std::fs::remove_file(&journal).unwrap();
        (output, calls)
    }

    fn checkpoint(&self) -> Result<Option<Checkpoint>, String> {
        let found = Checkpoint::read(&self.out().join("checkpoint.md")).map_err(|e| e.to_string())?;
        Ok(found.map(|found| found.body).filter(|checkpoint| !checkpoint.is_start()))
    }

    /// Number of steps that remain after the checkpoint; the number of all steps if no checkpoint can be read.
    pub(crate) fn steps_left(&self) -> u64 {
        match self.checkpoint() {
            Ok(Some(c)) if c.stage == 0 => MINIMIZE - c.position.done + DYNAMICS,
            Ok(Some(c)) => DYNAMICS - c.position.done,
            _ => MINIMIZE + DYNAMICS,
        }
    }

    /// Returns the file name of the trajectory.
    fn trajectory(&self) -> String {
        format!("trajectory.{}", self.format.extension)
    }

    /// Checks that a readable trajectory holds the frames that the checkpoint counts.
    fn check_frames(&self) -> Result<(), String> {
        let Some(checkpoint) = self.checkpoint()? else { return Ok(()) };
        // a file that no reader can open is allowed here, because the run restores the file when it continues, and the
        // contents are compared afterwards
        let Ok(mut source) = self.format.files.open(&self.out().join(self.trajectory())) else { return Ok(()) };
        let found = source.frames() as u64;
        let counted = checkpoint.written.get(&self.trajectory()).map_or(0, |mark| mark.extent.count);
        if found < counted {
            return Err(format!("{found} frames, the checkpoint counts {counted}"));
        }
        // a torn write may have damaged the index of HDF5's chunks; the run that continues restores it
        if self.format.extension == "h5md" {
            return Ok(());
        }
        let mut frame = StoredFrame::default();
        (0..counted as usize).try_for_each(|index| source.read(index, &mut frame)).map_err(|e| e.to_string())
    }

    /// Checks that the written part of the trajectory of a killed run equals the beginning of the trajectory of
    /// `expected`, and that every frame can be read. H5MD, which a run writes in several calls, has separate tests.
    pub(crate) fn has_whole_frames(&self, expected: &Record) -> Result<(), String> {
        let path = self.out().join(self.trajectory());
        if !path.exists() || self.format.extension == "h5md" {
            return Ok(());
        }
        let verified = self.format.files.verify(&path).map_err(|e| format!("the trajectory: {e}"))?;
        if let Some((frame, reason)) = verified.bad.first() {
            return Err(format!("frame {frame} of {}: {reason}", verified.frames));
        }
        let (found, whole) = (self.trajectory_bytes()?, &expected.0[&self.trajectory()]);
        let from = found.len().min(LONGEST_COUNTS);
        if whole.get(from..found.len()) == Some(&found[from..]) { Ok(()) } else { Err("other frames".into()) }
    }

    /// Checks that the same command continues from the checkpoint and leaves `expected`, and that a further command
    /// does nothing.
    pub(crate) fn recovers(&self, expected: &Record) -> Result<(), String> {
        self.check_frames()?;
        let left = self.steps_left();
        let again = self.run();
        ended_well(&again)?;
        if !says_finished_already(&again) {
            let summary = Summary::read(&self.out().join("summary.json")).map_err(|e| e.to_string())?;
            if summary.steps != left {
                return Err(format!("{} steps done, the checkpoint left {left}", summary.steps));
            }
        }
        self.is_complete(expected)
    }

    /// Checks that all results are equal to the results of an undisturbed run, and that the same command then reports
    /// a finished run.
    pub(crate) fn is_complete(&self, expected: &Record) -> Result<(), String> {
        self.record()?.compare(expected)?;
        let before = self.bytes();
        let again = self.run();
        ended_well(&again)?;
        if !says_finished_already(&again) {
            return Err("finished, and not known to be".into());
        }
        let after = self.bytes();
        let changed: Vec<_> = before.iter().filter(|(name, bytes)| after.get(*name) != Some(bytes)).collect();
        match changed.first() {
            Some((name, _)) => Err(format!("finished, and {name} was changed by the next command")),
            None => Ok(()),
        }
    }

    /// Reads the results in the folder of the run.
    pub(crate) fn record(&self) -> Result<Record, String> {
        let mut record = BTreeMap::new();
        for name in ["energies.csv", "final.rst7", "final.pdb"] {
            record.insert(name.to_owned(), std::fs::read(self.out().join(name)).map_err(|e| format!("{name}: {e}"))?);
        }
        let names: BTreeSet<_> = self.bytes().into_keys().collect();
        record.insert("the names of the files".into(), format!("{names:?}").into());
        let summary = std::fs::read(self.out().join("summary.json")).map_err(|e| e.to_string())?;
        let summary: Value = serde_json::from_slice(&summary).map_err(|e| e.to_string())?;
        record.insert("summary.json".into(), LASTING.map(|key| summary[key].to_string()).join("\n").into());
        let state = self.checkpoint()?.ok_or("no checkpoint")?.state;
        record.insert("checkpoint.md".into(), state_hash(&state).to_le_bytes().into());
        let name = self.trajectory();
        if self.format.extension == "h5md" {
            let file = hdf5::File::open(self.out().join(&name)).map_err(|e| format!("a plain reader: {e}"))?;
            read_group(&file, &name, &mut record).map_err(|e| format!("the trajectory: {e}"))?;
        } else {
            record.insert(name, self.trajectory_bytes()?);
        }
        Ok(Record(record))
    }

    /// Returns the bytes of a trajectory in another format than H5MD, without the identity of the run.
    fn trajectory_bytes(&self) -> Result<Vec<u8>, String> {
        let path = self.out().join(self.trajectory());
        let mut bytes = std::fs::read(&path).map_err(|e| format!("{}: {e}", self.trajectory()))?;
        if let Some(run) = self.format.files.run_id(&path) {
            let at = bytes.windows(run.len()).position(|window| window == run.as_bytes()).ok_or("no identity")?;
            bytes[at..at + run.len()].fill(b'-');
        }
        Ok(bytes)
    }

    /// Returns the contents of all files except the lock, the log, the status and the link for MDTraj, which hold no
    /// results.
    fn bytes(&self) -> BTreeMap<String, Vec<u8>> {
        let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
        let files = std::fs::read_dir(self.out()).unwrap().map(|entry| entry.unwrap().path());
        let kept = files
            .filter(|path| ![".md.lock", "run.log", "status.json", "trajectory.h5"].contains(&name(path).as_str()));
        kept.map(|path| (name(&path), std::fs::read(&path).unwrap())).collect()
    }
}

impl Record {
    fn compare(&self, expected: &Record) -> Result<(), String> {
        let differs = |(name, bytes): &(&String, &Vec<u8>)| self.0.get(*name) != Some(bytes);
        if let Some((name, bytes)) = expected.0.iter().find(differs) {
            let found = self.0.get(name);
            let lengths = format!("{:?} bytes for {}", found.map(Vec::len), bytes.len());
            let texts = [found.unwrap_or(&vec![]), bytes].map(|text| String::from_utf8_lossy(text).into_owned());
            let texts = if name.starts_with("the") { texts.join(" for ") } else { lengths };
            return Err(format!("{name} differs: {texts}"));
        }
        if self == expected { Ok(()) } else { Err("there is more in the trajectory".into()) }
    }
}

/// Collects the numbers of all data sets below a group, by path.
fn read_group(group: &hdf5::Group, path: &str, into: &mut BTreeMap<String, Vec<u8>>) -> hdf5::Result<()> {
    for name in group.member_names()? {
        let path = format!("{path}/{name}");
        if let Ok(group) = group.group(&name) {
            read_group(&group, &path, into)?;
            continue;
        }
        let data = group.dataset(&name)?;
        let bytes = match data.dtype()?.to_descriptor()? {
            TypeDescriptor::Float(FloatSize::U4) => bytemuck::cast_slice(&data.read_raw::<f32>()?).to_vec(),
            TypeDescriptor::Float(_) => bytemuck::cast_slice(&data.read_raw::<f64>()?).to_vec(),
            TypeDescriptor::Unsigned(IntSize::U4) => bytemuck::cast_slice(&data.read_raw::<u32>()?).to_vec(),
            TypeDescriptor::Integer(_) | TypeDescriptor::Unsigned(_) => {
                bytemuck::cast_slice(&data.read_raw::<i64>()?).to_vec()
            }
            _ => vec![],
        };
        into.insert(path, [format!("{:?}", data.shape()).into_bytes(), bytes].concat());
    }
    Ok(())
}

fn says_finished_already(output: &Output) -> bool {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr[..]].concat()).contains("has already finished")
}

/// Checks that the exit code is 0.
fn ended_well(output: &Output) -> Result<(), String> {
    if output.status.success() { Ok(()) } else { Err(format!("the next command {}", describe(output))) }
}

/// Returns the exit status and the last message of a command.
pub(crate) fn describe(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr).split_whitespace().collect::<Vec<_>>().join(" ");
    let from = text.char_indices().rev().nth(300).map_or(0, |(at, _)| at);
    format!("ended with {:?}, signal {:?}: {}", output.status.code(), output.status.signal(), &text[from..])
}
