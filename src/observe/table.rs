//! Tables of numbers that a run writes as CSV: one row per line, and a header with name and unit of every column.
//!
//! Every line after the header holds only numbers, so that any CSV reader accepts the file. Checkpoint and summary
//! store the number of rows and a checksum of their text ([`Extent`]). A continued run compares this number and this
//! checksum with the rows in the file, to make sure that the run itself wrote the table.

use std::cmp::Ordering;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crc32fast::Hasher;

use super::extent::Extent;
use super::replace::open_file;
use crate::error::{Error, Problem, Result};
use crate::format::file;

/// Reads the parts of a table in the order of time, and joins their rows. `place` returns the place of a row in time.
/// If a part begins before the end of an earlier part, its rows replace the rows of the earlier part. Returns an error
/// if a part begins before an earlier part.
pub(super) fn join<T>(
    parts: &[PathBuf],
    mut read: impl FnMut(&Path) -> Result<Vec<T>>,
    place: impl Fn(&T) -> [f64; 2],
) -> Result<Vec<T>> {
    let mut rows: Vec<T> = vec![];
    for path in parts {
        let part = read(path)?;
        if let Some((first, begin)) = part.first().zip(rows.first()) {
            if place(first) < place(begin) {
                let problem = Problem::new("the table begins before the table that is named before it").in_file(path);
                return Err(problem.help("name the parts of one run in the order of time").into());
            }
            rows.retain(|row| place(row) < place(first));
        }
        rows.extend(part);
    }
    Ok(rows)
}

/// Writer of a CSV table. The rows of a step are written in one system call, so that a reader never sees only some of
/// the rows of a step.
#[derive(Debug)]
pub struct Table {
    path: PathBuf,
    file: File,
    written: Rows,
    lines: String,
}

/// Summary of the first rows of a table: number and checksum of these rows, and step and stage of the last of these
/// rows.
#[derive(Clone, Debug, Default)]
struct Rows {
    count: u64,
    checksum: Hasher,
    /// step number and stage number of the last row
    last: Option<(u64, u32)>,
}

impl Rows {
    fn extent(&self) -> Extent {
        Extent { count: self.count, checksum: self.checksum.clone().finalize() }
    }

    fn add(&mut self, lines: &[u8], place: Option<(u64, u32)>) {
        self.count += lines.iter().filter(|byte| **byte == b'\n').count() as u64;
        self.checksum.update(lines);
        self.last = place;
    }
}

impl Table {
    /// Creates the table at `path` and writes the line `header`. Returns a [`Problem`] if there is already a table with
    /// rows.
    pub fn create(path: &Path, header: &str) -> Result<Self> {
        if path.metadata().is_ok_and(|found| found.is_file() && found.len() <= header.len() as u64) {
            std::fs::remove_file(path).map_err(|e| Error::io(path, e))?;
        }
        let file = OpenOptions::new().write(true).create_new(true).open(path).map_err(|e| match e.kind() {
            std::io::ErrorKind::AlreadyExists => Problem::new("the folder contains the table of another run")
                .in_file(path)
                .help("continue that run, or use --force to move its output aside")
                .into(),
            _ => Error::io(path, e),
        })?;
        let mut table = Self::new(path, file, Rows::default());
        header.clone_into(&mut table.lines);
        table.write_lines()?;
        Ok(table)
    }

    /// Continues an existing table after its first `checkpointed.count` rows, and removes later rows. Returns an error
    /// if these rows do not match the checksum in `checkpointed`.
    pub fn append(path: &Path, header: &str, checkpointed: Extent) -> Result<Self> {
        let io = |e| Error::io(path, e);
        let (length, rows) = checkpointed_rows(path, header, checkpointed)?;
        let mut file = open_file(path, OpenOptions::new().write(true))?;
        file.set_len(length).map_err(io)?;
        file.seek(SeekFrom::End(0)).map_err(io)?;
        Ok(Self::new(path, file, rows))
    }

    /// Returns an error if [`Self::append`] with the same arguments would fail. Changes nothing.
    pub fn check(path: &Path, header: &str, checkpointed: Extent) -> Result<()> {
        checkpointed_rows(path, header, checkpointed).map(|_| ())
    }

    /// Returns the number and checksum of the rows of a closed table.
    pub fn extent(path: &Path, header: &str) -> Result<Extent> {
        let (found, _, rows) = read_rows(path, u64::MAX)?;
        if found == header { Ok(rows.extent()) } else { Err(foreign(path)) }
    }

    fn new(path: &Path, file: File, written: Rows) -> Self {
        Self { path: path.to_owned(), file, written, lines: String::with_capacity(1024) }
    }

    /// Writes the rows of one step of a stage. `fill` appends the rows, which begin with step, time and stage, to a
    /// text. Nothing is written if the last row of the table already has the same step and stage, because a continued
    /// run repeats its last step.
    pub fn write(&mut self, step: u64, stage: u32, fill: impl FnOnce(&mut String)) -> Result<()> {
        let place = Some((step, stage));
        if self.written.last == place {
            return Ok(());
        }
        self.lines.clear();
        fill(&mut self.lines);
        self.write_lines()?;
        self.written.add(self.lines.as_bytes(), place);
        Ok(())
    }

    /// Waits until all rows are on disk. Returns the number and the checksum of the rows, for a checkpoint.
    pub fn sync(&mut self) -> Result<Extent> {
        self.file.sync_data().map_err(|e| Error::io(&self.path, e))?;
        Ok(self.written.extent())
    }

    fn write_lines(&mut self) -> Result<()> {
        self.file.write_all(self.lines.as_bytes()).map_err(|e| Error::io(&self.path, e))
    }
}

/// Returns the first `checkpointed.count` rows, and the byte offset at which these rows end.
fn checkpointed_rows(path: &Path, header: &str, checkpointed: Extent) -> Result<(u64, Rows)> {
    let (found, length, rows) = read_rows(path, checkpointed.count)?;
    if found != header {
        let is_intact = rows.count > 0 && rows.extent() == checkpointed;
        return Err(if is_intact { other_columns(path, &found, header) } else { foreign(path) });
    }
    let message = match rows.count.cmp(&checkpointed.count) {
        _ if rows.extent() == checkpointed => return Ok((length, rows)),
        Ordering::Less => {
            format!(
                "the table has {} rows, but the checkpoint was written after {} rows",
                rows.count, checkpointed.count
            )
        }
        _ => format!("the first {} rows differ from the rows at the time of the checkpoint", checkpointed.count),
    };
    let help = "the file was changed or replaced after the checkpoint; restore the file, or see `md run --help` for \
                --no-append and --force";
    Err(Problem::new(message).in_file(path).help(help).into())
}

/// Returns the error for a table that this run has not written.
fn foreign(path: &Path) -> Error {
    let problem = Problem::new("the columns differ from the columns that this run writes").in_file(path).at_line(1);
    problem.help("restore the file, or see `md run --help` for --no-append and --force").into()
}

/// Returns the error for an intact table of this run, whose header line `found` has other columns than the line
/// `header`, because the stages of the run have changed.
fn other_columns(path: &Path, found: &str, header: &str) -> Error {
    let only_in = |line: &str, other: &str| {
        let others: Vec<&str> = other.trim_end().split(',').collect();
        let names = line.trim_end().split(',').filter(|name| !others.contains(name));
        names.map(str::to_owned).collect::<Vec<String>>().join(", ")
    };
    let changes = [("added: ", only_in(header, found)), ("removed: ", only_in(found, header))];
    let changes = changes.iter().filter(|(_, names)| !names.is_empty()).map(|(kind, names)| format!("; {kind}{names}"));
    let message =
        format!("the stages of this run now need other columns than this table has{}", changes.collect::<String>());
    let help = "the file is intact; add --no-append, which renames the file to a part and begins a new table. `md \
                report` reads all parts";
    Problem::new(message).in_file(path).at_line(1).help(help).into()
}

/// Returns the header line and the last complete row of a table, both as text; `None` if the table has no rows.
pub(super) fn header_and_last_row(path: &Path) -> std::io::Result<Option<String>> {
    let mut reader = BufReader::new(file::open(path)?);
    let (mut header, mut last, mut line) = (vec![], vec![], vec![]);
    reader.read_until(b'\n', &mut header)?;
    while reader.read_until(b'\n', &mut line)? > 0 && line.ends_with(b"\n") {
        std::mem::swap(&mut last, &mut line);
        line.clear();
    }
    header.extend(&last);
    Ok(if last.is_empty() { None } else { String::from_utf8(header).ok() })
}

/// Reads up to `most` complete rows. Returns the header line, which is empty if it is incomplete, the byte offset of
/// the end of the last row read, and a summary of all rows read.
fn read_rows(path: &Path, most: u64) -> Result<(String, u64, Rows)> {
    let mut reader = BufReader::new(file::open(path).map_err(|e| Error::io(path, e))?);
    let mut line = vec![];
    let mut next = |line: &mut Vec<u8>| {
        line.clear();
        reader.read_until(b'\n', line).map(|_| line.ends_with(b"\n")).map_err(|e| Error::io(path, e))
    };
    let header = if next(&mut line)? { String::from_utf8_lossy(&line).into_owned() } else { String::new() };
    let (mut end, mut rows) = (line.len() as u64, Rows::default());
    while rows.count < most && next(&mut line)? {
        rows.add(&line, step_and_stage(&line));
        end += line.len() as u64;
    }
    Ok((header, end, rows))
}

fn step_and_stage(line: &[u8]) -> Option<(u64, u32)> {
    let mut fields = std::str::from_utf8(line).ok()?.split(',');
    let (step, _, stage) = (fields.next()?.parse().ok()?, fields.next()?, fields.next()?.parse().ok()?);
    Some((step, stage))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Write as _;

    const HEADER: &str = "step,time (ps),stage,value (nm)\n";
    const OTHER: &str = "step,time (ps),stage,value (rad)\n";
    const MORE: &str = "step,time (ps),stage,value (nm),height (nm)\n";

    fn write_row(table: &mut Table, step: u64, stage: u32) {
        let row = |lines: &mut String| writeln!(lines, "{step},{:.6},{stage},7.25", 0.002 * step as f64).unwrap();
        table.write(step, stage, row).unwrap();
    }

    fn lines(path: &Path) -> Vec<String> {
        std::fs::read_to_string(path).unwrap().lines().map(str::to_owned).collect()
    }

    #[test]
    fn continued_after_a_checkpoint_without_gaps_or_doubles() {
        let directory = tempfile::tempdir().unwrap();
        let (whole, parts) = (directory.path().join("whole.csv"), directory.path().join("parts.csv"));
        let rows = [(0, 1), (10, 1), (20, 1), (20, 2), (30, 2), (40, 2)];
        let write = |table: &mut Table, rows: &[(u64, u32)]| {
            rows.iter().for_each(|&(step, stage)| write_row(table, step, stage));
        };
        let mut table = Table::create(&whole, HEADER).unwrap();
        write(&mut table, &rows);
        let all = table.sync().unwrap();
        let mut table = Table::create(&parts, HEADER).unwrap();
        write(&mut table, &rows[..4]);
        let kept = table.sync().unwrap();
        write(&mut table, &rows[4..5]);
        // table of a process that was killed while it wrote a row; the checkpoint was written at step 20 of stage 2
        OpenOptions::new().append(true).open(&parts).unwrap().write_all(b"35,0.07").unwrap();
        let mut table = Table::append(&parts, HEADER, kept).unwrap();
        assert_eq!(lines(&parts).len(), 5);
        write(&mut table, &rows[3..]);
        assert_eq!((table.sync().unwrap(), all.count), (all, 6));
        assert_eq!(lines(&whole), lines(&parts));
        // the checkpoint was written after the last row, so no row is removed
        drop(Table::append(&parts, HEADER, all).unwrap());
        assert_eq!(lines(&whole), lines(&parts));
        assert_eq!(Table::extent(&parts, HEADER).unwrap(), all);
    }

    #[test]
    fn foreign_and_changed_files_are_refused_and_left_alone() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("table.csv");
        let mut table = Table::create(&path, HEADER).unwrap();
        write_row(&mut table, 0, 1);
        write_row(&mut table, 10, 1);
        let written = table.sync().unwrap();
        assert_eq!(Table::create(&path, HEADER).unwrap_err().exit_code(), 2);
        let good = std::fs::read_to_string(&path).unwrap();
        let cut = good.lines().take(2).map(|line| format!("{line}\n")).collect::<String>();
        for (text, header, reason) in [
            (&good, OTHER, "than this table has; added: value (rad); removed: value (nm)"),
            (&good, MORE, "than this table has; added: height (nm)"),
            (&good.replace("7.25", "7.26"), OTHER, "the columns differ"),
            (&cut, HEADER, "the table has 1 rows, but the checkpoint was written after 2 rows"),
            (&good.replace("7.25", "7.26"), HEADER, "the first 2 rows differ"),
            (&String::new(), HEADER, "the columns differ"),
        ] {
            std::fs::write(&path, text).unwrap();
            let error = Table::append(&path, header, written).unwrap_err();
            assert!(error.exit_code() == 2 && error.to_string().contains(reason), "{error}");
            assert_eq!(&std::fs::read_to_string(&path).unwrap(), text);
        }
    }

    #[test]
    fn rows_of_a_step_count_one_by_one() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("table.csv");
        let mut table = Table::create(&path, HEADER).unwrap();
        for _ in 0..2 {
            table.write(3, 1, |lines| lines.push_str("3,0,1,2\n3,0,1,4\n")).unwrap();
        }
        let extent = table.sync().unwrap();
        assert_eq!((extent.count, lines(&path).len()), (2, 3));
        assert_eq!(Table::extent(&path, HEADER).unwrap(), extent);
    }
}
