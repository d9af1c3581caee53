//! Printing of error messages. A message has file, line and column, the faulty text, and advice on how to correct the
//! error.

use std::ffi::OsString;
use std::fmt;
use std::io::{IsTerminal, Write};

use miette::{Diagnostic, GraphicalReportHandler, GraphicalTheme, LabeledSpan, NamedSource, SourceCode};

use crate::error::{Error, LONGEST, Problem, printable};

/// Prints an error to standard error.
pub(super) fn report(error: &Error) {
    let text = match error {
        Error::Input(problems) => {
            let mut text = problems.iter().take(SHOWN).map(render).collect::<Vec<_>>().join("\n");
            if let Some(more) = problems.len().checked_sub(SHOWN).filter(|&more| more > 0) {
                text.push_str(&format!("\nand {more} more problems\n"));
            }
            text
        }
        other => format!("error: {}\n", printable(&other.to_string(), LONGEST)),
    };
    // the result is ignored, because writing fails only if standard error is closed
    let _ = std::io::stderr().write_all(text.as_bytes());
}

fn render(problem: &Problem) -> String {
    let coloured = std::io::stderr().is_terminal() && shows_colours(|name| std::env::var_os(name));
    let theme = if coloured { GraphicalTheme::unicode() } else { GraphicalTheme::unicode_nocolor() };
    let mut text = String::new();
    let handler = GraphicalReportHandler::new_themed(theme).with_width(super::width(std::io::stderr(), WIDTH));
    match handler.render_report(&mut text, &Shown::new(problem)) {
        Ok(()) => text,
        Err(_) => format!("error: {}\n", printable(&problem.to_string(), LONGEST)),
    }
}

/// Whether the environment variables allow colours on a terminal.
fn shows_colours(variable: impl Fn(&str) -> Option<OsString>) -> bool {
    variable("NO_COLOR").is_none() && variable("TERM").is_none_or(|kind| kind != "dumb")
}

/// Maximum number of problems shown, because one mistake may repeat on many lines.
const SHOWN: usize = 20;

/// Column at which messages are wrapped, unless the terminal is narrower.
const WIDTH: usize = 120;

/// Maximum length (bytes) of the message of a problem; [`HELP`] is the maximum length of the advice. The printed
/// message, with its frame and indentation, has at most [`LONGEST`] bytes.
const MESSAGE: usize = 1200;
const HELP: usize = 600;
/// Maximum length in bytes of the lines that are quoted around an error.
const QUOTED: usize = 1000;

/// Problem, and the text of the file in which the problem was found.
struct Shown<'a> {
    problem: &'a Problem,
    source: Option<NamedSource<String>>,
}

impl<'a> Shown<'a> {
    fn new(problem: &'a Problem) -> Self {
        // the text of the file is not kept in memory, so the file is read again for the error message
        let source = problem.span.as_ref().and(problem.file.as_ref()).and_then(|path| {
            let text = crate::config::read_text(path).ok()?;
            quotable(&text, problem.span.as_ref()?)?;
            Some(NamedSource::new(printable(&path.display().to_string(), MESSAGE), in_place(&text)))
        });
        Self { problem, source }
    }
}

/// Returns `Some` if the lines of `span` and the adjacent lines are short enough to be quoted.
fn quotable(text: &str, span: &std::ops::Range<usize>) -> Option<()> {
    let (before, behind) = (text.get(..span.start)?, text.get(span.end..)?);
    let start = before.rmatch_indices('\n').nth(1).map_or(0, |(at, _)| at);
    let end = behind.match_indices('\n').nth(1).map_or(behind.len(), |(at, _)| at);
    (span.end + end - start <= QUOTED).then_some(())
}

/// Replaces control characters by question marks. The length of the text does not change, so positions in the text
/// stay valid.
fn in_place(text: &str) -> String {
    let shown = |c: char| if c.is_control() && !matches!(c, '\n' | '\r' | '\t') { '?' } else { c };
    text.chars().flat_map(|c| std::iter::repeat_n(shown(c), if shown(c) == c { 1 } else { c.len_utf8() })).collect()
}

impl fmt::Debug for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // the message states file and line only if no lines of the file are quoted
        let mut text = String::new();
        if self.source.is_none()
            && let Some(file) = &self.problem.file
        {
            text = file.display().to_string();
            if let Some(line) = self.problem.line {
                text.push_str(&format!(":{line}"));
            }
            text.push_str(": ");
        }
        f.write_str(&printable(&(text + &self.problem.message), MESSAGE))
    }
}

impl std::error::Error for Shown<'_> {}

impl Diagnostic for Shown<'_> {
    fn help<'b>(&'b self) -> Option<Box<dyn fmt::Display + 'b>> {
        let help = self.problem.help.as_ref()?;
        Some(Box::new(printable(help, HELP)))
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.source.as_ref().map(|source| source as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let span = self.problem.span.clone().filter(|_| self.source.is_some())?;
        Some(Box::new(std::iter::once(LabeledSpan::underline(span))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_without_colours_gets_none() {
        let shown =
            |name: &'static str, value: &'static str| shows_colours(|asked| (asked == name).then(|| value.into()));
        assert!(shown("TERM", "xterm-256color") && shown("LANG", "C"));
        assert!(!shown("TERM", "dumb") && !shown("NO_COLOR", "1"));
    }
}
