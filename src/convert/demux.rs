//! Replica exchange: from the files of each replica to the files of each state.
//!
//! A replica writes its own trajectory and energies on its way through the states. At a step n it has the state of the last
//! attempt at or before n, as `exchange.csv` says; frames and rows of that step, of whichever replica, become those of the
//! state. Replicas are read side by side, one frame of each at a time.

use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::Target;
use crate::error::{Error, Problem, Result};
use crate::format::file;
use crate::observe::exchange::{EXCHANGE, ExchangeRow, read};
use crate::observe::trajectory::{FrameSource, StoredFrame, open};
use crate::run::{Checkpoint, ENERGIES, OutputOptions};

/// What was written of one kind of file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sorted {
    /// its name in the folder of each state
    pub name: String,
    /// frames or rows of each state
    pub records: usize,
}

/// An exchange, in the folder of its replicas.
pub struct Demux {
    folder: PathBuf,
    replicas: usize,
    attempts: Vec<ExchangeRow>,
    output: OutputOptions,
}

impl Demux {
    /// Of the folder of an ensemble.
    pub fn open(folder: &Path) -> Result<Self> {
        let path = folder.join(EXCHANGE);
        if !path.exists() {
            let problem =
                Problem::new("there is no exchange.csv: no replicas have swapped states here").in_file(folder);
            return Err(problem.help("name the output folder of a run with ensemble.exchange").into());
        }
        let (replicas, attempts) = read(&path)?;
        let checkpoint = folder.join("replica-1/checkpoint.md");
        let Some(found) = Checkpoint::read(&checkpoint)? else {
            return Err(Problem::new("there is no such checkpoint").in_file(&checkpoint).into());
        };
        Ok(Demux { folder: folder.to_owned(), replicas, attempts, output: found.body.plan.output })
    }

    /// Number of states.
    pub fn states(&self) -> usize {
        self.replicas
    }

    /// The folder of a state, from 0, in `target`.
    pub fn folder(target: &Path, state: usize) -> PathBuf {
        target.join(format!("state-{}", state + 1))
    }

    /// Sorts trajectories and energies of all replicas into the folders of the states in `target`, which are created.
    pub fn sort_into(&self, target: &Path) -> Result<Vec<Sorted>> {
        for state in 0..self.replicas {
            let folder = Self::folder(target, state);
            std::fs::create_dir_all(&folder).map_err(|error| Error::io(&folder, error))?;
        }
        let mut sorted = vec![];
        for options in &self.output.trajectories {
            let records = self.frames(target, &options.file, options.precision)?;
            sorted.push(Sorted { name: options.file.clone(), records });
        }
        if self.output.energies.is_some() {
            sorted.push(Sorted { name: ENERGIES.to_owned(), records: self.rows(target)? });
        }
        Ok(sorted)
    }

    fn file(&self, replica: usize, name: &str) -> PathBuf {
        self.folder.join(format!("replica-{}", replica + 1)).join(name)
    }

    /// The state of a replica at a step.
    fn state(&self, replica: usize, step: i64) -> usize {
        let later = self.attempts.partition_point(|row| i64::try_from(row.step).is_ok_and(|at| at <= step));
        later.checked_sub(1).map_or(replica, |last| self.attempts[last].states[replica])
    }

    fn frames(&self, target: &Path, name: &str, rounding: Option<f64>) -> Result<usize> {
        let open = |replica| open(&self.file(replica, name));
        let mut sources = (0..self.replicas).map(open).collect::<Result<Vec<Box<dyn FrameSource>>>>()?;
        let new = |state| {
            let (path, source) = (Self::folder(target, state).join(name), &sources[state]);
            Target::new(&path, (source.topology(), source.atoms()), None, false, rounding)
        };
        let mut targets = (0..self.replicas).map(new).collect::<Result<Vec<Target<'_>>>>()?;
        let count = sources.iter().map(|source| source.frames()).min().unwrap_or(0);
        let mut frame = StoredFrame::default();
        for index in 0..count {
            let mut step = None;
            for (replica, source) in sources.iter_mut().enumerate() {
                source.read(index, &mut frame)?;
                self.same_step(name, replica, index, &mut step, frame.step)?;
                targets[self.state(replica, frame.step)].write(&frame)?;
            }
        }
        targets.into_iter().try_for_each(|target| target.finish().map(|_| ()))?;
        Ok(count)
    }

    fn rows(&self, target: &Path) -> Result<usize> {
        let open = |replica| {
            let path = self.file(replica, ENERGIES);
            file::open(&path).map(|file| BufReader::new(file).lines()).map_err(|error| Error::io(&path, error))
        };
        let mut sources = (0..self.replicas).map(open).collect::<Result<Vec<_>>>()?;
        let paths: Vec<PathBuf> = (0..self.replicas).map(|state| Self::folder(target, state).join(ENERGIES)).collect();
        let temporary = |path: &Path| path.with_extension("csv.part");
        let create =
            |path: &PathBuf| file::create(&temporary(path)).map(BufWriter::new).map_err(|error| Error::io(path, error));
        let mut targets = paths.iter().map(create).collect::<Result<Vec<_>>>()?;
        let mut count = 0;
        'rows: loop {
            let mut lines = vec![];
            for (replica, source) in sources.iter_mut().enumerate() {
                let Some(line) = source.next() else { break 'rows };
                lines.push(line.map_err(|error| Error::io(&self.file(replica, ENERGIES), error))?);
            }
            let mut first = None;
            for (replica, line) in lines.iter().enumerate() {
                // the header goes to each as it is
                let state = if count == 0 {
                    replica
                } else {
                    let step = line.split(',').next().and_then(|step| step.parse().ok()).unwrap_or(-1);
                    self.same_step(ENERGIES, replica, count - 1, &mut first, step)?;
                    self.state(replica, step)
                };
                writeln!(targets[state], "{line}").map_err(|error| Error::io(&paths[state], error))?;
            }
            count += 1;
        }
        for (path, mut file) in paths.iter().zip(targets) {
            let done = file.flush().and_then(|()| std::fs::rename(temporary(path), path));
            done.map_err(|error| Error::io(path, error))?;
        }
        Ok(count.saturating_sub(1))
    }

    /// Refuses records that are not of the step of those of the other replicas.
    fn same_step(&self, name: &str, replica: usize, index: usize, first: &mut Option<i64>, step: i64) -> Result<()> {
        let expected = *first.get_or_insert(step);
        if step == expected && step >= 0 {
            return Ok(());
        }
        let message = format!("record {index} is of step {step}, that of replica-1 of step {expected}");
        let problem = Problem::new(message).in_file(&self.file(replica, name));
        Err(problem.help("all replicas must write at the same steps: leave output.*.every as it was").into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
