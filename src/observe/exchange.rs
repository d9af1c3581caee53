//! The table `exchange.csv`: the outcome of every exchange attempt in a run with replica exchange, and the statistics
//! of all attempts.
//!
//! A row has the number of the attempt, the step before which the attempt took place, the time (ps), the state of every
//! replica after the attempt, and the exchange probability of each pair of neighbouring states that attempted an
//! exchange. In the table the states count from 1. If a replica continues from a checkpoint that is older than the last
//! attempts, the outcomes of these attempts are read from the file.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::log::{Level, RunLog};
use super::replace::open_file;
use crate::ensemble::exchange::neighbour;
use crate::error::{Error, Problem, Result};
use crate::format::file;

/// Number of decimals of the exchange probabilities in the file.
const DIGITS: usize = 6;

/// Outcome of one exchange attempt.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExchangeRow {
    /// number of the attempt; attempts count from 1
    pub attempt: u64,
    /// number of steps since the start of the run
    pub step: u64,
    /// simulated time of the attempt, ps
    pub time: f64,
    /// thermodynamic state of each replica after this attempt, as an index from 0
    pub states: Vec<usize>,
    /// exchange probability of each pair of neighbouring states k and k + 1, at index k; `None` for a pair that did not
    /// attempt an exchange
    pub probabilities: Vec<Option<f64>>,
}

impl ExchangeRow {
    fn header(replicas: usize) -> String {
        let states = (1..=replicas).map(|replica| format!(",state of replica-{replica}"));
        let pairs = (1..replicas).map(|state| format!(",probability of {state}-{}", state + 1));
        format!("attempt,step,time (ps){}\n", states.chain(pairs).collect::<String>())
    }

    fn line(&self) -> String {
        let states = self.states.iter().map(|state| format!(",{}", state + 1));
        let pairs = self.probabilities.iter().map(|probability| match probability {
            Some(value) => format!(",{value:.DIGITS$}"),
            None => ",".to_owned(),
        });
        format!("{},{},{:.6}{}\n", self.attempt, self.step, self.time, states.chain(pairs).collect::<String>())
    }

    /// Parses a line of the exchange table; `None` if the line is not a complete row for `replicas` replicas.
    fn parse(line: &str, replicas: usize) -> Option<Self> {
        let mut fields = line.split(',');
        let (attempt, step) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
        let time = fields.next()?.parse().ok()?;
        let mut state = || -> Option<usize> { fields.next()?.parse::<usize>().ok()?.checked_sub(1) };
        let states = (0..replicas).map(|_| state()).collect::<Option<Vec<usize>>>()?;
        let mut seen = vec![false; replicas];
        states.iter().try_for_each(|&state| seen.get_mut(state).map(|seen| *seen = true))?;
        let mut probability = || match fields.next()? {
            "" => Some(None),
            text => text.parse().ok().map(Some),
        };
        let probabilities = (1..replicas).map(|_| probability()).collect::<Option<Vec<Option<f64>>>>()?;
        let is_permutation = seen.iter().all(|seen| *seen);
        (is_permutation && fields.next().is_none()).then_some(Self { attempt, step, time, states, probabilities })
    }

    /// Returns the row with probabilities rounded to the decimals that the file stores.
    pub fn rounded(mut self) -> Self {
        let scale = 10f64.powi(DIGITS as i32);
        self.probabilities.iter_mut().flatten().for_each(|value| *value = (*value * scale).round() / scale);
        self
    }
}

/// Writer of the exchange table.
#[derive(Debug)]
pub struct ExchangeTable {
    path: PathBuf,
    file: File,
}

impl ExchangeTable {
    /// Creates the exchange table, or opens an existing table to append rows. Each complete row of an existing table is
    /// passed to `see`. An incomplete row that a killed process has left is removed.
    pub fn open(path: &Path, replicas: usize, see: impl FnMut(ExchangeRow)) -> Result<Self> {
        let io = |error| Error::io(path, error);
        let mut options = OpenOptions::new();
        let mut file = open_file(path, options.read(true).write(true).create(true).truncate(false))?;
        let mut text = String::new();
        file.read_to_string(&mut text).map_err(io)?;
        let header = ExchangeRow::header(replicas);
        let complete = text.rfind('\n').map_or("", |end| &text[..=end]);
        if complete.is_empty() {
            file.set_len(0)
                .and_then(|()| file.rewind())
                .and_then(|()| file.write_all(header.as_bytes()))
                .map_err(io)?;
        } else {
            rows(path, complete, replicas, see)?;
            let end = file.set_len(complete.len() as u64).and_then(|()| file.seek(SeekFrom::End(0)));
            end.map_err(io)?;
        }
        Ok(Self { path: path.to_owned(), file })
    }

    /// Appends a row in one system call, so that readers see whole rows.
    pub fn write(&mut self, row: &ExchangeRow) -> Result<()> {
        self.file.write_all(row.line().as_bytes()).map_err(|error| Error::io(&self.path, error))
    }

    /// Waits until all rows of the exchange table are on disk.
    pub fn sync(&self) -> Result<()> {
        self.file.sync_data().map_err(|error| Error::io(&self.path, error))
    }
}

/// Passes every row of `text`, which begins with the header line, to `see`.
fn rows(path: &Path, text: &str, replicas: usize, mut see: impl FnMut(ExchangeRow)) -> Result<()> {
    let wrong = |line: usize, what: String| {
        let problem = Problem::new(what).in_file(path).at_line(line + 1);
        problem.help("restore the file, or use --force to move the old output aside and start anew")
    };
    let header = ExchangeRow::header(replicas);
    if text.split_inclusive('\n').next() != Some(header.as_str()) {
        return Err(wrong(0, format!("the columns do not match an exchange of {replicas} replicas")).into());
    }
    let mut sequence = Sequence::new(replicas);
    for (index, line) in text.lines().enumerate().skip(1) {
        let row = ExchangeRow::parse(line, replicas).filter(|row| row.attempt == index as u64);
        let row = row.ok_or_else(|| wrong(index, format!("the line is not the row of attempt {index}")))?;
        sequence.check(&row).map_err(|what| wrong(index, format!("attempt {index}: {what}")))?;
        see(row);
    }
    Ok(())
}

/// Checker of the sequence of rows in an exchange table.
struct Sequence {
    /// state of each replica after the last row, as an index from 0
    states: Vec<usize>,
    /// step number and time (ps) of the last row
    last: Option<(u64, f64)>,
    /// number of steps between two attempts; `None` until two attempts have been checked
    every: Option<u64>,
}

impl Sequence {
    fn new(replicas: usize) -> Self {
        Sequence { states: (0..replicas).collect(), last: None, every: None }
    }

    /// Returns an error if `row` cannot follow the previous row. The error describes the fault of the row.
    fn check(&mut self, row: &ExchangeRow) -> std::result::Result<(), String> {
        let ExchangeRow { attempt, step, time, ref states, ref probabilities } = *row;
        let count = states.len();
        if let Some((before, time_before)) = self.last {
            let every = step.checked_sub(before).filter(|&every| every > 0 && self.every.is_none_or(|e| e == every));
            let expected =
                self.every.map_or("a later step".to_owned(), |every| before.saturating_add(every).to_string());
            self.every = Some(every.ok_or_else(|| format!("the row has step {step}, expected {expected}"))?);
            if time < time_before {
                return Err(format!(
                    "the row has the time {time} ps, which is before the {time_before} ps of the previous row"
                ));
            }
        }
        if !time.is_finite() {
            return Err(format!("the row has the time {time}, which is not finite"));
        }
        let tries = |low: usize| neighbour(attempt, low, count) == Some(low + 1);
        for (low, probability) in probabilities.iter().enumerate() {
            if probability.is_some() != tries(low) {
                let what = if tries(low) { "the row lacks the" } else { "the row has a" };
                return Err(format!("{what} probability of the states {} and {}", low + 1, low + 2));
            }
            if let Some(value) = probability.filter(|value| !(0.0..=1.0).contains(value)) {
                return Err(format!("the row has the probability {value}, expected a value from 0 to 1"));
            }
        }
        for (replica, (&old, &new)) in self.states.iter().zip(states).enumerate() {
            if new != old && neighbour(attempt, old, count) != Some(new) {
                let [old, new, replica] = [old, new, replica].map(|index| index + 1);
                return Err(format!(
                    "the row moves replica-{replica} from state {old} to state {new}, which is not \
                     possible in this attempt"
                ));
            }
        }
        self.states.clone_from(states);
        self.last = Some((step, time));
        Ok(())
    }
}

/// Reads the exchange table. Returns the number of replicas and the rows.
pub fn read(path: &Path) -> Result<(usize, Vec<ExchangeRow>)> {
    parse(path, &file::text(path).map_err(|error| Error::io(path, error))?)
}

/// Reads the first two rows of the exchange table, which may have millions of rows. Returns the number of replicas and
/// the complete rows.
pub fn read_first_two(path: &Path) -> Result<(usize, Vec<ExchangeRow>)> {
    let (header_and_rows, mut text) = (3, String::new());
    let mut table = BufReader::new(file::open(path).map_err(|error| Error::io(path, error))?);
    for _ in 0..header_and_rows {
        table.read_line(&mut text).map_err(|error| Error::io(path, error))?;
    }
    parse(path, &text)
}

fn parse(path: &Path, text: &str) -> Result<(usize, Vec<ExchangeRow>)> {
    let complete = text.rfind('\n').map_or("", |end| &text[..=end]);
    let columns = complete.lines().next().unwrap_or_default().split(',');
    let replicas = columns.filter(|column| column.starts_with("state of ")).count();
    if replicas == 0 {
        let problem = Problem::new("no column contains the state of a replica").in_file(path).at_line(1);
        return Err(problem.help("restore the file; its columns must contain the state of every replica").into());
    }
    let mut found = vec![];
    rows(path, complete, replicas, |row| found.push(row))?;
    Ok((replicas, found))
}

/// Statistics of all exchange attempts made so far.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ExchangeStatistics {
    /// number of exchange attempts
    pub attempts: u64,
    /// statistics of each pair of neighbouring states, in ascending order of the states
    pub pairs: Vec<PairStatistics>,
    /// current state and round trips of each replica
    pub replicas: Vec<Walk>,
}

/// Statistics of the exchange attempts between two neighbouring states.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PairStatistics {
    /// numbers of the two neighbouring states, counted from 1
    pub states: [usize; 2],
    /// number of exchange attempts of this pair of states
    pub tried: u64,
    /// number of accepted exchange attempts of this pair of states
    pub accepted: u64,
    /// mean exchange probability over all attempts of this pair of states
    pub mean_probability: f64,
}

/// Random walk of a replica through the thermodynamic states.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Walk {
    /// current thermodynamic state of the replica, counted from 1
    pub state: usize,
    /// number of round trips: from the first state to the last and back to the first
    pub round_trips: u64,
    /// last end of the ladder of states (first or last state, counted from 1) that the replica visited; `None` before
    /// its first visit to the first state
    pub last_end: Option<usize>,
}

impl ExchangeStatistics {
    /// Returns the statistics of `replicas` replicas before the first exchange attempt.
    pub fn new(replicas: usize) -> Self {
        let pair = |low| PairStatistics { states: [low, low + 1], ..PairStatistics::default() };
        let walk = |state| Walk { state, last_end: (state == 1).then_some(1), ..Walk::default() };
        let (pairs, replicas) = ((1..replicas).map(pair).collect(), (1..=replicas).map(walk).collect());
        Self { attempts: 0, pairs, replicas }
    }

    /// Returns the current state of each replica, as an index from 0.
    pub fn states(&self) -> Vec<usize> {
        self.replicas.iter().map(|walk| walk.state - 1).collect()
    }

    /// Adds the outcome of one exchange attempt to the statistics.
    pub fn add(&mut self, row: &ExchangeRow) {
        self.attempts = row.attempt;
        for (pair, probability) in self.pairs.iter_mut().zip(&row.probabilities) {
            let Some(probability) = probability else { continue };
            let [low, high] = pair.states;
            let swapped = self.replicas.iter().zip(&row.states).any(|(walk, new)| walk.state == low && new + 1 == high);
            pair.mean_probability = (pair.mean_probability * pair.tried as f64 + probability) / (pair.tried + 1) as f64;
            (pair.tried, pair.accepted) = (pair.tried + 1, pair.accepted + u64::from(swapped));
        }
        let last = self.replicas.len();
        for (walk, &state) in self.replicas.iter_mut().zip(&row.states) {
            walk.state = state + 1;
            if walk.state == 1 {
                walk.round_trips += u64::from(walk.last_end == Some(last));
                walk.last_end = Some(1);
            } else if walk.state == last && walk.last_end.is_some() {
                walk.last_end = Some(last);
            }
        }
    }

    /// Writes two tables to the log: the pairs of neighbouring states, and the replicas. `names` are the names of the
    /// states.
    pub fn log(&self, log: &mut RunLog, names: &[String]) -> Result<()> {
        log.section("Exchange")?;
        let name = |state: usize| names.get(state - 1).map_or(String::new(), |name| format!(" ({name})"));
        let pair = |pair: &PairStatistics| {
            let [low, high] = pair.states;
            let part = |value: f64| if pair.tried == 0 { String::new() } else { format!("{value:.3}") };
            [
                format!("{low}{} - {high}{}", name(low), name(high)),
                pair.tried.to_string(),
                pair.accepted.to_string(),
                part(pair.accepted as f64 / pair.tried.max(1) as f64),
                part(pair.mean_probability),
            ]
        };
        let pairs: Vec<_> = self.pairs.iter().map(pair).collect();
        log.table(["states", "tried", "accepted", "acceptance", "mean probability"], &pairs)?;
        let walk = |(index, walk): (usize, &Walk)| {
            let state = format!("{}{}", walk.state, name(walk.state));
            [format!("replica-{}", index + 1), state, walk.round_trips.to_string()]
        };
        let walks: Vec<_> = self.replicas.iter().enumerate().map(walk).collect();
        log.table(["replica", "current state", "round trips"], &walks)?;
        log.line(Level::Detail, &format!("  {} attempts", self.attempts))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observe::files::EXCHANGE;

    fn row(attempt: u64, states: [usize; 3], probabilities: [Option<f64>; 2]) -> ExchangeRow {
        let (step, time) = (10 * attempt, 0.02 * attempt as f64);
        ExchangeRow { attempt, step, time, states: states.to_vec(), probabilities: probabilities.to_vec() }.rounded()
    }

    #[test]
    fn what_is_written_is_read_and_continued() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(EXCHANGE);
        let all = [
            row(1, [1, 0, 2], [Some(0.123_456_7), None]),
            row(2, [2, 0, 1], [None, Some(1.0)]),
            row(3, [2, 0, 1], [Some(0.0), None]),
        ];
        let mut table = ExchangeTable::open(&path, 3, |_| panic!("there are no rows")).unwrap();
        all[..2].iter().for_each(|row| table.write(row).unwrap());
        table.sync().unwrap();
        // table of a process that was killed while it wrote a row
        OpenOptions::new().append(true).open(&path).unwrap().write_all(b"3,30,0.0").unwrap();
        assert_eq!(read(&path).unwrap(), (3, all[..2].to_vec()));
        let mut seen = vec![];
        let mut table = ExchangeTable::open(&path, 3, |row| seen.push(row)).unwrap();
        assert_eq!(seen, all[..2]);
        table.write(&all[2]).unwrap();
        assert_eq!(read(&path).unwrap(), (3, all.to_vec()));
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("attempt,step,time (ps),state of replica-1,"), "{text}");
        assert!(text.contains("\n1,10,0.020000,2,1,3,0.123457,\n"), "{text}");
    }

    #[test]
    fn what_is_no_record_of_this_exchange_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(EXCHANGE);
        let mut table = ExchangeTable::open(&path, 3, |_| ()).unwrap();
        table.write(&row(1, [1, 0, 2], [Some(0.5), None])).unwrap();
        let good = std::fs::read_to_string(&path).unwrap();
        let open = |replicas| ExchangeTable::open(&path, replicas, |_| ()).map(|_| ()).unwrap_err().to_string();
        assert!(open(4).contains("the columns do not match an exchange of 4 replicas"));
        for wrong in
            ["1,10,0.02,1,1,3,0.5,", "2,10,0.02,2,1,3,0.5,", "1,10,0.02,2,1,4,0.5,", "1,10,0.02,2,1,3,0.5", "x"]
        {
            std::fs::write(&path, good.replace("1,10,0.020000,2,1,3,0.500000,", wrong)).unwrap();
            assert!(open(3).contains("the line is not the row of attempt 1"), "{wrong}");
        }
    }

    #[test]
    fn rows_that_do_not_follow_from_those_before_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(EXCHANGE);
        let good = ["1,10,0.1,2,1,3,0.5,", "2,20,0.2,3,1,2,,1.0", "3,30,0.3,3,2,1,0.0,"];
        let read = |rows: [&str; 3]| {
            std::fs::write(&path, ExchangeRow::header(3) + &rows.map(|row| format!("{row}\n")).concat()).unwrap();
            read(&path)
        };
        assert_eq!(read(good).unwrap().1.len(), 3);
        for (wrong, reason) in [
            ("3,18446744073709551615,0.3,3,2,1,0.5,", "step 18446744073709551615, expected 30"),
            ("3,31,0.3,3,2,1,0.5,", "step 31, expected 30"),
            ("3,10,0.3,3,2,1,0.5,", "step 10, expected 30"),
            ("3,30,0.1,3,2,1,0.5,", "before the 0.2 ps"),
            ("3,30,inf,3,2,1,0.5,", "the time inf"),
            ("3,30,NaN,3,2,1,0.5,", "the time NaN"),
            ("3,30,0.3,3,2,1,inf,", "probability inf, expected a value from 0 to 1"),
            ("3,30,0.3,3,2,1,-0.5,", "probability -0.5"),
            ("3,30,0.3,3,2,1,NaN,", "probability NaN"),
            ("3,30,0.3,3,2,1,,0.5", "lacks the probability of the states 1 and 2"),
            ("3,30,0.3,3,2,1,0.5,0.5", "has a probability of the states 2 and 3"),
            ("3,30,0.3,2,1,3,0.5,", "moves replica-1 from state 3 to state 2"),
            ("2,20,0.2,3,1,2,,1.0", "not the row of attempt 3"),
        ] {
            let error = read([good[0], good[1], wrong]).unwrap_err();
            assert!(error.exit_code() == 2 && error.to_string().contains(reason), "{wrong}: {error}");
        }
    }

    #[test]
    fn an_exchange_has_replicas() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(EXCHANGE);
        for text in ["attempt,step,time (ps)\n", "attempt,step,time (ps)\n1,10,0.1\n", "\n", ""] {
            std::fs::write(&path, text).unwrap();
            assert!(
                read(&path).unwrap_err().to_string().contains("no column contains the state of a replica"),
                "{text}"
            );
        }
    }

    #[test]
    fn swaps_and_round_trips_are_counted() {
        let mut statistics = ExchangeStatistics::new(3);
        let (some, none) = (Some(0.25), None);
        // the first replica walks to the last state, returns to the first state, and then reaches the middle state
        let walk = [[1, 0, 2], [2, 0, 1], [2, 1, 0], [1, 2, 0], [0, 2, 1], [0, 1, 2]];
        for (index, states) in walk.into_iter().enumerate() {
            let tried = if index % 2 == 0 { [some, none] } else { [none, some] };
            statistics.add(&row(index as u64 + 1, states, tried));
        }
        let pair = |index: usize| {
            let PairStatistics { states, tried, accepted, mean_probability } = statistics.pairs[index];
            (states, tried, accepted, mean_probability)
        };
        assert_eq!((pair(0), pair(1)), (([1, 2], 3, 3, 0.25), ([2, 3], 3, 3, 0.25)));
        assert_eq!(statistics.replicas.iter().map(|walk| walk.round_trips).collect::<Vec<_>>(), [1, 0, 0]);
        assert_eq!((statistics.attempts, statistics.states()), (6, vec![0, 1, 2]));
    }
}
