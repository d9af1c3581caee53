//! Error messages: file, line and column, the text at fault, and how to correct it.

use std::fmt;
use std::io::{IsTerminal, Write};

use miette::{Diagnostic, GraphicalReportHandler, GraphicalTheme, LabeledSpan, NamedSource, SourceCode};

use crate::error::{Error, Problem};

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
        other => format!("error: {other}\n"),
    };
    // fails only if standard error is closed
    let _ = std::io::stderr().write_all(text.as_bytes());
}

fn render(problem: &Problem) -> String {
    let coloured = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let theme = if coloured { GraphicalTheme::unicode() } else { GraphicalTheme::unicode_nocolor() };
    let mut text = String::new();
    let handler = GraphicalReportHandler::new_themed(theme).with_width(WIDTH);
    match handler.render_report(&mut text, &Shown::new(problem)) {
        Ok(()) => text,
        Err(_) => format!("error: {problem}\n"),
    }
}

/// Most problems that are shown: one mistake may repeat on many lines.
const SHOWN: usize = 20;

/// Columns; messages are wrapped to this.
const WIDTH: usize = 120;

/// A problem with the text it points into.
struct Shown<'a> {
    problem: &'a Problem,
    source: Option<NamedSource<String>>,
}

impl<'a> Shown<'a> {
    fn new(problem: &'a Problem) -> Self {
        // the file is read again: only here is its text needed, and only after a fault
        let source = problem.span.as_ref().and(problem.file.as_ref()).and_then(|path| {
            let text = crate::config::read_text(path).ok()?;
            Some(NamedSource::new(path.display().to_string(), text))
        });
        Self { problem, source }
    }
}

impl fmt::Debug for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // the quoted text names file and line itself
        if self.source.is_none()
            && let Some(file) = &self.problem.file
        {
            write!(f, "{}", file.display())?;
            if let Some(line) = self.problem.line {
                write!(f, ":{line}")?;
            }
            write!(f, ": ")?;
        }
        f.write_str(&self.problem.message)
    }
}

impl std::error::Error for Shown<'_> {}

impl Diagnostic for Shown<'_> {
    fn help<'b>(&'b self) -> Option<Box<dyn fmt::Display + 'b>> {
        self.problem.help.as_ref().map(|help| Box::new(help) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.source.as_ref().map(|source| source as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let span = self.problem.span.clone().filter(|_| self.source.is_some())?;
        Some(Box::new(std::iter::once(LabeledSpan::underline(span))))
    }
}
