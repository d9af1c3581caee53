//! Demultiplexing of replica exchange: sorting of the frames and rows of the replicas into files of the states.
//!
//! Each replica writes its own trajectory and energies while it moves between the states. `exchange.csv` records the
//! states after each exchange attempt. The state of a replica at step n is the state after the last exchange attempt at
//! or before step n. A frame or row of step n is written to the file of the state that the replica has at step n.
//! Replicas are read in parallel, one frame of each replica at a time. The parts that a run with `--no-append` has left
//! are read in the order of time.

use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use super::{Target, TargetOptions};
use crate::error::{Error, Problem, Result};
use crate::format::{Names, file};
use crate::observe::exchange::{ExchangeRow, read};
use crate::observe::files::{CHECKPOINT, ENERGIES, EXCHANGE, replica_folder};
use crate::observe::replace::{Replacement, refuse_link};
use crate::observe::trajectory::{Chain, FrameSource, StoredFrame};
use crate::run::{Checkpoint, OutputOptions, TrajectoryOptions, parts};
use crate::system::Topology;

/// Result of sorting the files of one name (a trajectory or the energies) by state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sorted {
    /// name of the file in the folder of each state
    pub name: String,
    /// number of frames or rows of each state
    pub records: usize,
    /// number of frames or rows of each replica
    pub counts: Vec<usize>,
    /// warnings about the files of the replicas
    pub warnings: Vec<String>,
}

impl Sorted {
    /// Returns a warning if some replicas have more records (frames or rows) than other replicas. The additional
    /// records are left out.
    pub fn unequal(&self) -> Option<String> {
        let (shortest, longest) = (self.counts.iter().min()?, self.counts.iter().max()?);
        let replica = 1 + self.counts.iter().position(|count| count == shortest)?;
        (shortest < longest).then(|| {
            let name = &self.name;
            format!(
                "replica-{replica}/{name} has {shortest} records, and other replicas have up to {longest}: the \
                 additional records are left out"
            )
        })
    }
}

/// Lines of an energy table.
type Lines = Box<dyn Iterator<Item = io::Result<String>>>;

/// Replicas and exchange table of a replica exchange run, opened for sorting by state.
pub struct Demux {
    folder: PathBuf,
    replicas: usize,
    attempts: Vec<ExchangeRow>,
    output: OutputOptions,
}

impl Demux {
    /// Opens the output folder of a run with replica exchange.
    pub fn open(folder: &Path) -> Result<Self> {
        let path = folder.join(EXCHANGE);
        if !path.exists() {
            let problem =
                Problem::new(format!("the folder has no {EXCHANGE}: it is not the output of a replica exchange"))
                    .in_file(folder);
            return Err(problem.help("give the output folder of a run with ensemble.exchange").into());
        }
        let (replicas, attempts) = read(&path)?;
        let checkpoint = folder.join(replica_folder(0)).join(CHECKPOINT);
        let Some(found) = Checkpoint::read(&checkpoint)? else {
            let problem = Problem::new("the checkpoint does not exist").in_file(&checkpoint);
            return Err(problem
                .help("give the complete output folder of the run, with the folders of all replicas")
                .into());
        };
        Ok(Demux { folder: folder.to_owned(), replicas, attempts, output: found.body.plan.output })
    }

    /// Returns the number of states.
    pub fn states(&self) -> usize {
        self.replicas
    }

    /// Returns the folder of a state (from 0) inside `target`.
    pub fn folder(target: &Path, state: usize) -> PathBuf {
        target.join(format!("state-{}", state + 1))
    }

    /// Sorts trajectories and energies of all replicas into one folder for each state. The folders are created in
    /// `target`. All files of the replicas are opened before any file is written.
    pub fn sort_into(&self, target: &Path) -> Result<Vec<Sorted>> {
        let trajectories = self.output.trajectories.iter();
        let trajectories = trajectories.map(|options| Ok((options, self.sources(&options.file)?)));
        let trajectories = trajectories.collect::<Result<Vec<(&TrajectoryOptions, Vec<Chain>)>>>()?;
        let tables = self.output.energies.map(|_| self.tables()).transpose()?;
        for state in 0..self.replicas {
            let folder = Self::folder(target, state);
            refuse_link(&folder)?;
            std::fs::create_dir_all(&folder).map_err(|error| Error::io(&folder, error))?;
        }
        let mut sorted = vec![];
        for (options, sources) in trajectories {
            sorted.push(self.frames(target, options, sources)?);
        }
        if let Some(tables) = tables {
            sorted.push(self.rows(target, tables)?);
        }
        Ok(sorted)
    }

    /// Opens the trajectory with this name in the folder of each replica.
    fn sources(&self, name: &str) -> Result<Vec<Chain>> {
        (0..self.replicas).map(|replica| Chain::open_as_stored(&self.parts(replica, name))).collect()
    }

    /// Opens the energy table in the folder of each replica. The lines begin with the header of the table.
    fn tables(&self) -> Result<Vec<Lines>> {
        (0..self.replicas).map(|replica| joined_lines(&self.parts(replica, ENERGIES))).collect()
    }

    /// Returns the paths of all parts of a file; the path of the file itself if there are no parts.
    fn parts(&self, replica: usize, name: &str) -> Vec<PathBuf> {
        let path = self.file(replica, name);
        let found = path.parent().map_or(vec![], |folder| parts(folder, name));
        if found.is_empty() { vec![path] } else { found }
    }

    fn file(&self, replica: usize, name: &str) -> PathBuf {
        self.folder.join(replica_folder(replica)).join(name)
    }

    /// Returns the state that a replica has at a step.
    fn state(&self, replica: usize, step: i64) -> usize {
        let later = self.attempts.partition_point(|row| i64::try_from(row.step).is_ok_and(|at| at <= step));
        later.checked_sub(1).map_or(replica, |last| self.attempts[last].states[replica])
    }

    fn frames(&self, target: &Path, options: &TrajectoryOptions, mut sources: Vec<Chain>) -> Result<Sorted> {
        let (name, rounding) = (&options.file, options.precision);
        let counts: Vec<usize> = sources.iter().map(|source| source.frames()).collect();
        let topologies: Vec<(Option<Topology>, usize)> =
            sources.iter().map(|source| (names(source), source.atoms())).collect();
        let new = |state: usize| {
            let (path, (topology, atoms)) = (Self::folder(target, state).join(name), &topologies[state]);
            let resolution = sources[state].resolution();
            let options = TargetOptions { rounding, resolution, ..TargetOptions::default() };
            Target::new(&path, options, topology.as_ref(), *atoms, None)
        };
        let mut targets = (0..self.replicas).map(new).collect::<Result<Vec<Target<'_>>>>()?;
        let mut frame = StoredFrame::default();
        let records = counts.iter().copied().min().unwrap_or(0);
        for index in 0..records {
            let mut step = None;
            for (replica, source) in sources.iter_mut().enumerate() {
                source.read(index, &mut frame)?;
                self.same_step(name, replica, index, &mut step, frame.step)?;
                targets[self.state(replica, frame.step)].write(&frame)?;
            }
        }
        let mut warnings: Vec<String> = sources.iter().flat_map(|source| source.warnings()).collect();
        warnings.extend(targets.first().zip(sources.first()).and_then(|(target, source)| target.unread(source)));
        for target in targets {
            // the files of all states usually have the same warnings
            for warning in target.finish()? {
                if !warnings.contains(&warning) {
                    warnings.push(warning);
                }
            }
        }
        Ok(Sorted { name: name.clone(), records, counts, warnings })
    }

    fn rows(&self, target: &Path, mut sources: Vec<Lines>) -> Result<Sorted> {
        let paths: Vec<PathBuf> = (0..self.replicas).map(|state| Self::folder(target, state).join(ENERGIES)).collect();
        let mut targets = paths.iter().map(|path| Replacement::new(path)).collect::<Result<Vec<_>>>()?;
        let mut counts = vec![0; self.replicas];
        let mut records = 0;
        loop {
            let mut lines = vec![];
            for (replica, source) in sources.iter_mut().enumerate() {
                let line =
                    source.next().transpose().map_err(|error| Error::io(&self.file(replica, ENERGIES), error))?;
                counts[replica] += usize::from(line.is_some());
                lines.extend(line);
            }
            if lines.is_empty() {
                break;
            }
            if lines.len() < self.replicas {
                continue;
            }
            let mut first = None;
            for (replica, line) in lines.iter().enumerate() {
                // the header of the energy tables is copied unchanged to each state
                let state = if records == 0 {
                    replica
                } else {
                    let step = step_of(line).unwrap_or(-1);
                    self.same_step(ENERGIES, replica, records - 1, &mut first, step)?;
                    self.state(replica, step)
                };
                targets[state].line(line)?;
            }
            records += 1;
        }
        targets.into_iter().try_for_each(Replacement::finish)?;
        let without_header = |count: usize| count.saturating_sub(1);
        let counts = counts.into_iter().map(without_header).collect();
        Ok(Sorted { name: ENERGIES.to_owned(), records: without_header(records), counts, warnings: vec![] })
    }

    /// Returns an error if a record has a negative step, or a step that differs from the step of the record with the
    /// same index in replica-1.
    fn same_step(&self, name: &str, replica: usize, index: usize, first: &mut Option<i64>, step: i64) -> Result<()> {
        let expected = *first.get_or_insert(step);
        if step == expected && step >= 0 {
            return Ok(());
        }
        let message = format!("record {index} has step {step}, and the record of replica-1 has step {expected}");
        let problem = Problem::new(message).in_file(&self.file(replica, name));
        Err(problem.help("all replicas must write at the same steps: do not change output.*.every").into())
    }
}

/// Returns the topology of a trajectory, or a topology with the names in the trajectory; `None` if it has no names.
fn names(source: &Chain) -> Option<Topology> {
    let labels = source.labels();
    source.topology().cloned().or_else(|| (!labels.is_empty()).then(|| Names::of_labels(labels).topology))
}

/// Opens the parts of an energy table, in the order of time, as one table with one header. If a part begins before the
/// end of the part before it, its rows replace the last rows of that part.
fn joined_lines(parts: &[PathBuf]) -> Result<Lines> {
    let open = |path: &PathBuf| {
        file::open(path).map(|file| BufReader::new(file).lines()).map_err(|error| Error::io(path, error))
    };
    let mut lines: Lines = Box::new(std::iter::empty());
    for (index, path) in parts.iter().enumerate() {
        // without the header, except that of the first part
        let rows = open(path)?.skip(usize::from(index > 0));
        let next = parts.get(index + 1).map(open).transpose()?;
        let end = next.and_then(|mut lines| lines.nth(1)?.ok()).and_then(|row| step_of(&row));
        let is_before = move |line: &io::Result<String>| {
            end.zip(line.as_ref().ok().and_then(|line| step_of(line))).is_none_or(|(end, step)| step < end)
        };
        lines = Box::new(lines.chain(rows.filter(is_before)));
    }
    Ok(lines)
}

/// Returns the step of a row of an energy table; `None` for the header.
fn step_of(line: &str) -> Option<i64> {
    line.split(',').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;

    #[test]
    fn a_frame_belongs_to_the_state_after_the_last_attempt() {
        let row = |attempt, step, states: [usize; 2]| ExchangeRow {
            attempt,
            step,
            states: states.to_vec(),
            ..ExchangeRow::default()
        };
        let attempts = vec![row(1, 10, [1, 0]), row(2, 20, [1, 0]), row(3, 30, [0, 1])];
        let output = crate::run::Plan::default().output;
        let demux = Demux { folder: PathBuf::new(), replicas: 2, attempts, output };
        let states = [0, 9, 10, 29, 30, 99].map(|step| [demux.state(0, step), demux.state(1, step)]);
        assert_eq!(states, [[0, 1], [0, 1], [1, 0], [1, 0], [0, 1], [0, 1]]);
    }

    fn of_every_step(file: &str) -> TrajectoryOptions {
        TrajectoryOptions {
            file: file.to_owned(),
            every: crate::run::Interval::Steps(1),
            velocities: false,
            forces: false,
            images: false,
            precision: None,
            select: None,
        }
    }

    /// Writes a trajectory of three atoms with a frame for each step.
    fn write_steps(path: &Path, steps: std::ops::Range<i64>) {
        let mut frame = StoredFrame { positions: vec![crate::vec3::vec3(1.0, 2.0, 3.0); 3], ..StoredFrame::default() };
        let label = crate::format::Label { name: crate::system::Name::new("C"), ..Default::default() };
        let named = Names::of_labels(&[label; 3]).topology;
        let mut target = Target::new(path, TargetOptions::default(), Some(&named), 3, None).unwrap();
        for step in steps {
            (frame.step, frame.time) = (step, step as f64);
            target.write(&frame).unwrap();
        }
        target.finish().unwrap();
    }

    #[test]
    fn cut_trajectories_cause_warnings() {
        let folder = tempfile::tempdir().unwrap();
        let mut output = crate::run::Plan::default().output;
        output.energies = None;
        output.trajectories = vec![of_every_step("t.xtc")];
        for replica in ["replica-1", "replica-2"] {
            std::fs::create_dir(folder.path().join(replica)).unwrap();
            let path = folder.path().join(replica).join("t.xtc");
            write_steps(&path, 0..3);
            let file = File::options().write(true).open(&path).unwrap();
            file.set_len(file.metadata().unwrap().len() - 8).unwrap();
        }
        let demux = Demux { folder: folder.path().to_owned(), replicas: 2, attempts: vec![], output };
        let sorted = demux.sort_into(folder.path()).unwrap();
        let [Sorted { records: 2, warnings, .. }] = &sorted[..] else { panic!("{sorted:?}") };
        assert_eq!(warnings.len(), 2, "{warnings:?}");
    }

    #[test]
    fn names_of_pdb_files_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let mut output = crate::run::Plan::default().output;
        output.energies = None;
        output.trajectories = vec![of_every_step("t.pdb")];
        for replica in ["replica-1", "replica-2"] {
            std::fs::create_dir(folder.path().join(replica)).unwrap();
            write_steps(&folder.path().join(replica).join("t.pdb"), 0..3);
        }
        let demux = Demux { folder: folder.path().to_owned(), replicas: 2, attempts: vec![], output };
        demux.sort_into(folder.path()).unwrap();
        let sorted = Chain::open_as_stored(&[folder.path().join("state-2/t.pdb")]).unwrap();
        assert_eq!((sorted.frames(), sorted.labels()[2].name.as_str()), (3, "C"));
    }

    #[test]
    fn parts_of_a_run_are_sorted_as_one() {
        let folder = tempfile::tempdir().unwrap();
        let mut output = crate::run::Plan::default().output;
        output.energies = Some(crate::run::Interval::Steps(1));
        output.trajectories = vec![of_every_step("t.xtc")];
        for replica in ["replica-1", "replica-2"] {
            let replica = folder.path().join(replica);
            std::fs::create_dir(&replica).unwrap();
            write_steps(&replica.join("t.part1.xtc"), 0..4);
            write_steps(&replica.join("t.part2.xtc"), 3..5);
            write_steps(&replica.join("t.xtc"), 5..7);
            std::fs::write(replica.join("energies.part1.csv"), "step\n0\n1\n2\n3\n").unwrap();
            std::fs::write(replica.join("energies.csv"), "step\n3\n4\n").unwrap();
        }
        let demux = Demux { folder: folder.path().to_owned(), replicas: 2, attempts: vec![], output };
        let sorted = demux.sort_into(folder.path()).unwrap();
        let [Sorted { records: 7, .. }, Sorted { records: 5, .. }] = &sorted[..] else { panic!("{sorted:?}") };
        let state = folder.path().join("state-2");
        assert_eq!(std::fs::read_to_string(state.join("energies.csv")).unwrap(), "step\n0\n1\n2\n3\n4\n");
        let (mut frames, mut frame) =
            (crate::observe::trajectory::open(&state.join("t.xtc")).unwrap(), StoredFrame::default());
        let steps = (0..frames.frames()).map(|index| frames.read(index, &mut frame).map(|()| frame.step).unwrap());
        assert_eq!(steps.collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5, 6]);
    }

    #[test]
    fn nothing_is_made_for_replicas_that_are_not_there() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("replica-1")).unwrap();
        std::fs::write(folder.path().join("replica-1/energies.csv"), "step\n1\n2\n").unwrap();
        let mut output = crate::run::Plan::default().output;
        output.energies = Some(crate::run::Interval::Steps(1));
        let demux =
            |replicas| Demux { folder: folder.path().to_owned(), replicas, attempts: vec![], output: output.clone() };
        let error = demux(1000).sort_into(folder.path()).unwrap_err();
        assert!(error.to_string().contains("replica-2"), "{error}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        // a replica with fewer rows than the others causes a warning, not an error
        std::fs::create_dir(folder.path().join("replica-2")).unwrap();
        std::fs::write(folder.path().join("replica-2/energies.csv"), "step\n1\n2\n3\n4\n").unwrap();
        let sorted = demux(2).sort_into(folder.path()).unwrap();
        let [Sorted { records: 2, counts, .. }] = &sorted[..] else { panic!("{sorted:?}") };
        assert_eq!(counts, &[2, 4]);
        let warning = sorted[0].unequal().unwrap();
        assert!(warning.contains("replica-1/energies.csv has 2 records, and other replicas have up to 4"), "{warning}");
        assert_eq!(std::fs::read_to_string(folder.path().join("state-2/energies.csv")).unwrap(), "step\n1\n2\n");
        // the output folder of a state is a symbolic link to another folder
        let elsewhere = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(elsewhere.path(), folder.path().join("state-3")).unwrap();
        std::fs::create_dir(folder.path().join("replica-3")).unwrap();
        std::fs::write(folder.path().join("replica-3/energies.csv"), "step\n1\n2\n").unwrap();
        assert!(demux(3).sort_into(folder.path()).unwrap_err().to_string().contains("symbolic link"));
        assert_eq!(std::fs::read_dir(elsewhere.path()).unwrap().count(), 0);
    }
}
