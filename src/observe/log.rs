//! The log `run.log` of a run, in sections. A continued run appends to the same file.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use super::progress::three_digits;
use super::replace::open_file;
use super::statistics::Average;
use super::summary::{Communication, Phase};
use crate::error::{Error, LONGEST, Result, printable, printable_lines};

/// Importance of a line of the log, from which the caller decides what to show on the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// line with details, which a terminal may leave out
    Detail,
    /// line that a user follows during the run
    Note,
    /// warning that something in the run may be wrong
    Warning,
}

/// Function that receives every line of the log, for example to print the line. The library itself prints nothing.
pub type Echo = Box<dyn FnMut(Level, &str) + Send>;

/// Writer of the log. Each line is passed to the operating system at once, so that a crash does not lose lines.
pub struct RunLog {
    path: PathBuf,
    file: File,
    echo: Option<Echo>,
    warnings: Vec<String>,
}

impl RunLog {
    /// Opens the log at `path` for appending, or creates the file. Every line is also passed to `echo`.
    pub fn open(path: &Path, echo: Option<Echo>) -> Result<Self> {
        let file = open_file(path, OpenOptions::new().append(true).create(true))?;
        Ok(Self { path: path.to_owned(), file, echo, warnings: vec![] })
    }

    /// Writes one or more lines. Control characters are escaped, and a line longer than [`LONGEST`] bytes is cut off.
    pub fn line(&mut self, level: Level, text: &str) -> Result<()> {
        let mut whole = printable_lines(text);
        whole.push('\n');
        self.file.write_all(whole.as_bytes()).map_err(|e| Error::io(&self.path, e))?;
        if let Some(echo) = &mut self.echo {
            echo(level, &whole[..whole.len() - 1]);
        }
        Ok(())
    }

    /// Writes a line of level [`Level::Note`], which a user follows during the run.
    pub fn note(&mut self, text: &str) -> Result<()> {
        self.line(Level::Note, text)
    }

    /// Writes a warning, and adds it to [`Self::warnings`].
    pub fn warning(&mut self, text: &str) -> Result<()> {
        let text = printable(text, LONGEST);
        self.line(Level::Warning, &format!("Warning: {text}"))?;
        self.warnings.push(text);
        Ok(())
    }

    /// Returns all warnings that the run has logged, for the summary.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Writes the heading of a section.
    pub fn section(&mut self, title: &str) -> Result<()> {
        self.line(Level::Detail, &format!("\n{title}\n{}", "-".repeat(title.chars().count())))
    }

    /// Writes lines with a name and a value each, with the values aligned.
    pub fn pairs(&mut self, pairs: &[(&str, String)]) -> Result<()> {
        let width = pairs.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
        pairs.iter().try_for_each(|(name, value)| self.line(Level::Detail, &format!("  {name:<width$}  {value}")))
    }

    /// Writes a table. The first column is aligned to the left, and the other columns are aligned to the right.
    pub fn table<const N: usize>(&mut self, header: [&str; N], rows: &[[String; N]]) -> Result<()> {
        // `parts` counts the characters of a text before the decimal point, and from the decimal point on, because
        // numbers are aligned at the decimal point
        let parts = |text: &str| {
            let point = text.find('.').filter(|_| text.starts_with(|c: char| c.is_ascii_digit() || c == '-'));
            let whole = text[..point.unwrap_or(text.len())].chars().count();
            [whole, text.chars().count() - whole]
        };
        let widths: [[usize; 2]; N] = std::array::from_fn(|column| {
            let all = rows.iter().map(|row| parts(&row[column]));
            let [whole, fraction] = all.fold([0, 0], |[a, b], [whole, fraction]| [a.max(whole), b.max(fraction)]);
            [whole.max(parts(header[column])[0].saturating_sub(fraction)), fraction]
        });
        let format_row = |cells: [&str; N], is_header: bool| {
            let mut line = String::from(" ");
            for (column, (cell, [whole, fraction])) in cells.iter().zip(widths).enumerate() {
                let width = whole + fraction;
                let cell = match column {
                    0 => format!(" {cell:<width$}"),
                    _ if is_header || fraction == 0 => format!("  {cell:>width$}"),
                    _ => {
                        let own = parts(cell);
                        format!("  {}{cell}{}", " ".repeat(whole - own[0]), " ".repeat(fraction - own[1]))
                    }
                };
                line.push_str(&cell);
            }
            line.trim_end().to_owned()
        };
        self.line(Level::Detail, &format_row(header, true))?;
        rows.iter()
            .try_for_each(|row| self.line(Level::Detail, &format_row(std::array::from_fn(|i| row[i].as_str()), false)))
    }

    /// Writes the averages of a stage as a table, with standard errors, fluctuations and drifts.
    pub fn averages(&mut self, averages: &[Average]) -> Result<()> {
        let row = |average: &Average| {
            let error = average.error.map_or("?".to_owned(), number);
            let [mean, fluctuation, drift] = [average.mean, average.fluctuation, average.drift].map(number);
            [average.name.clone(), mean, error, fluctuation, drift, average.unit.clone()]
        };
        // energy terms that the system does not have are zero in every sample, and are left out
        let is_zero = |average: &&Average| average.mean == 0.0 && average.fluctuation == 0.0;
        let rows: Vec<_> = averages.iter().filter(|average| !is_zero(average)).map(row).collect();
        self.table(["quantity", "average", "error", "fluctuation", "drift per ps", "unit"], &rows)?;
        self.line(
            Level::Detail,
            "  error: standard error of the average (? if there are too few independent values); fluctuation: \
             standard deviation",
        )
    }

    /// Writes the time spent in each phase of a step, and the fraction of the wall time spent outside all phases.
    pub fn phases(&mut self, phases: &[Phase], wall_seconds: f64) -> Result<()> {
        let row = |name: &str, calls: String, seconds: f64| {
            let percent = if wall_seconds > 0.0 { 100.0 * seconds / wall_seconds } else { 0.0 };
            [name.to_owned(), calls, format!("{seconds:.3}"), format!("{percent:.1}")]
        };
        let mut rows: Vec<_> = phases.iter().map(|p| row(&p.name, p.calls.to_string(), p.seconds)).collect();
        let rest = wall_seconds - phases.iter().map(|p| p.seconds).sum::<f64>();
        rows.push(row("rest", String::new(), rest));
        rows.push(row("total", String::new(), wall_seconds));
        self.table(["phase", "calls", "seconds", "%"], &rows)
    }

    /// Writes the bytes and messages that a rank sends in a step. Writes nothing for a run on one rank.
    pub fn communication(&mut self, communication: &[Communication]) -> Result<()> {
        if communication.is_empty() {
            return Ok(());
        }
        let row = |Communication { name, bytes, messages }: &Communication| {
            let [mean, largest] = [messages.mean, messages.largest].map(|messages| format!("{messages:.2}"));
            [name.clone(), format!("{:.0}", bytes.mean), format!("{:.0}", bytes.largest), mean, largest]
        };
        let rows: Vec<_> = communication.iter().map(row).collect();
        self.table(["sent in a step", "bytes", "largest", "messages", "largest"], &rows)?;
        self.line(Level::Detail, "  bytes, messages: mean over ranks; largest: largest value of a rank")
    }

    /// Waits until all lines of the log are on disk.
    pub fn sync(&mut self) -> Result<()> {
        self.file.sync_data().map_err(|e| Error::io(&self.path, e))
    }
}

/// Formats a number: with two decimals from 100 on, with three significant digits between 0.01 and 100, and with an
/// exponent below 0.01 or from 1e9 on.
fn number(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        0.01..100.0 => three_digits(value),
        100.0..1e9 => format!("{value:.2}"),
        _ => format!("{value:.2e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observe::summary::PerStep;
    use std::sync::{Arc, Mutex};

    #[test]
    fn sections_pairs_tables_and_continuation() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("run.log");
        let mut log = RunLog::open(&path, None).unwrap();
        log.section("System").unwrap();
        log.pairs(&[("atoms", "23558".into()), ("net charge", "-11 e".into())]).unwrap();
        drop(log);
        let mut log = RunLog::open(&path, None).unwrap();
        log.phases(&[Phase { name: "pairs".into(), calls: 100, seconds: 1.5, work: None }], 2.0).unwrap();
        log.communication(&[]).unwrap();
        let (bytes, messages) = (PerStep { mean: 1234.5678, largest: 5000.0 }, PerStep { mean: 0.375, largest: 1.5 });
        log.communication(&[Communication { name: "mesh".into(), bytes, messages }]).unwrap();
        let average = Average {
            name: "temperature".into(),
            unit: "K".into(),
            samples: 10,
            mean: 300.254,
            fluctuation: 2.5,
            error: None,
            drift: -0.00012,
        };
        let absent = Average { name: "cmap".into(), mean: 0.0, fluctuation: 0.0, drift: 0.0, ..average.clone() };
        log.averages(&[absent, average]).unwrap();
        log.sync().unwrap();
        let expected = "\nSystem\n------\n  atoms       23558\n  net charge  -11 e\n\
            \x20 phase  calls  seconds      %\n\
            \x20 pairs    100    1.500   75.0\n\
            \x20 rest            0.500   25.0\n\
            \x20 total           2.000  100.0\n\
            \x20 sent in a step  bytes  largest  messages  largest\n\
            \x20 mesh             1235     5000      0.38     1.50\n\
            \x20 bytes, messages: mean over ranks; largest: largest value of a rank\n\
            \x20 quantity     average  error  fluctuation  drift per ps  unit\n\
            \x20 temperature   300.25      ?         2.50      -1.20e-4     K\n\
            \x20 error: standard error of the average (? if there are too few independent values); fluctuation: \
             standard deviation\n";
        assert_eq!(std::fs::read_to_string(&path).unwrap(), expected);
    }

    #[test]
    fn lines_are_echoed_with_their_level_and_warnings_kept() {
        let directory = tempfile::tempdir().unwrap();
        let seen = Arc::new(Mutex::new(vec![]));
        let echo = {
            let seen = Arc::clone(&seen);
            Box::new(move |level, text: &str| seen.lock().unwrap().push((level, text.to_owned())))
        };
        let mut log = RunLog::open(&directory.path().join("run.log"), Some(echo)).unwrap();
        log.note("stage 1 of 2").unwrap();
        log.warning("the box is small").unwrap();
        assert_eq!(log.warnings(), ["the box is small"]);
        let expected =
            [(Level::Note, "stage 1 of 2".to_owned()), (Level::Warning, "Warning: the box is small".to_owned())];
        assert_eq!(*seen.lock().unwrap(), expected);
    }
}
