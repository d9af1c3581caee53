//! Sections of AMBER topologies: each `%FLAG` section has values in fixed columns, which are split by the Fortran
//! format of the section.
//!
//! Columns are never split at blanks, because names may contain blanks, and names in adjacent columns may have no
//! blank between them. The line number of a value is computed from the index of the value, so that a later error can
//! name the line.

use std::collections::HashMap;
use std::path::Path;

use super::columns::{Columns, Kind};
use crate::error::Problem;
use crate::format::number;
use crate::system::Name;

/// Result of a parsing step.
pub(super) type Parsed<T> = std::result::Result<T, Problem>;

/// All sections of an AMBER topology, by name.
pub(super) struct Sections<'a> {
    path: &'a Path,
    by_name: HashMap<&'a str, Section<'a>>,
}

/// Section of an AMBER topology: the values under one `%FLAG`.
#[derive(Clone, Copy)]
pub(super) struct Section<'a> {
    path: &'a Path,
    name: &'a str,
    /// 1-based line number of the `%FLAG`
    flag_line: usize,
    /// 1-based line number of the first value
    first_line: usize,
    format: &'a str,
    body: &'a [u8],
}

impl<'a> Sections<'a> {
    /// Splits an AMBER topology into sections at the lines that begin with `%`.
    pub(super) fn split(path: &'a Path, bytes: &'a [u8]) -> Parsed<Self> {
        let directives = directives(bytes);
        let mut by_name = HashMap::new();
        let mut open: Option<(&str, usize)> = None;
        for (k, &(line, start, end)) in directives.iter().enumerate() {
            let problem = |message: String| Problem::new(message).in_file(path).at_line(line);
            let text = std::str::from_utf8(&bytes[start..end])
                .map_err(|_| problem("the line is not text; the file is damaged".into()))?;
            let (keyword, rest) = match text.find([' ', '\t', '(', '\r']) {
                Some(cut) => (&text[..cut], text[cut..].trim()),
                None => (text, ""),
            };
            match keyword {
                "%VERSION" | "%COMMENT" => {}
                "%FLAG" => {
                    if let Some((name, _)) = open {
                        return Err(problem(format!("section {name} ends here without a %FORMAT line")));
                    }
                    open = Some((rest, line));
                }
                "%FORMAT" => {
                    let (name, flag_line) =
                        open.take().ok_or_else(|| problem("%FORMAT without a %FLAG before it".into()))?;
                    let from = (end + 1).min(bytes.len());
                    let to = directives.get(k + 1).map_or(bytes.len(), |next| next.1);
                    let first_line = line + 1;
                    let section = Section { path, name, flag_line, first_line, format: rest, body: &bytes[from..to] };
                    if let Some(before) = by_name.insert(name, section) {
                        let message = format!("section {name} was given before, at line {}", before.flag_line);
                        return Err(problem(message));
                    }
                }
                other => return Err(problem(format!("expected %FLAG, %FORMAT or %COMMENT, found `{other:.20}`"))),
            }
        }
        if let Some((name, line)) = open {
            let message = format!("section {name} has no %FORMAT line; the file ends here");
            return Err(Problem::new(message).in_file(path).at_line(line).help(TRUNCATED));
        }
        Ok(Self { path, by_name })
    }

    /// Returns all sections, in arbitrary order.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Section<'a>> {
        self.by_name.values()
    }

    /// Returns the section with this name; `None` if the file has no such section.
    pub(super) fn get(&self, name: &str) -> Option<&Section<'a>> {
        self.by_name.get(name)
    }

    /// Returns a required section. If the section is missing, returns an error.
    pub(super) fn require(&self, name: &str) -> Parsed<&Section<'a>> {
        self.get(name).ok_or_else(|| {
            Problem::new(format!("section {name} is missing"))
                .in_file(self.path)
                .help("the file is incomplete: write it again with LEaP or ParmEd")
        })
    }
}

/// Advice for an error about an incomplete file.
pub(super) const TRUNCATED: &str = "the file seems cut off: copy it again";

/// Advice for an error about a damaged file.
const DAMAGED: &str = "the file is damaged: copy it again";

/// Maximum magnitude of a parameter. Lennard-Jones coefficients reach 1e10 kcal/mol Å¹². The maximum keeps the square
/// of a parameter finite, even after conversion to other units.
const LARGEST: f64 = 1e30;

/// Returns 1-based line number, first byte and end of every line that starts with `%`.
fn directives(bytes: &[u8]) -> Vec<(usize, usize, usize)> {
    let mut found = vec![];
    let (mut start, mut line) = (0, 0);
    for text in bytes.split(|&b| b == b'\n') {
        line += 1;
        if text.starts_with(b"%") {
            found.push((line, start, start + text.len()));
        }
        start += text.len() + 1;
    }
    found
}

impl<'a> Section<'a> {
    /// Whether this section comes after `other` in the file.
    pub(super) fn is_behind(&self, other: &Self) -> bool {
        self.flag_line > other.flag_line
    }

    /// Returns the name after `%FLAG`.
    pub(super) fn name(&self) -> &'a str {
        self.name
    }

    /// Returns the 1-based line number of the `%FLAG`.
    pub(super) fn line(&self) -> usize {
        self.flag_line
    }

    /// Returns an error about the section as a whole.
    pub(super) fn problem(&self, message: impl std::fmt::Display) -> Problem {
        self.at_line(self.flag_line, message)
    }

    /// Returns an error about value `index`.
    pub(super) fn problem_at(&self, index: usize, message: impl std::fmt::Display) -> Problem {
        let per_line = Columns::parse(self.format).map_or(1, |columns| columns.per_line);
        self.at_line(self.first_line + index / per_line, message)
    }

    fn at_line(&self, line: usize, message: impl std::fmt::Display) -> Problem {
        Problem::new(format!("{}: {message}", self.name)).in_file(self.path).at_line(line)
    }

    /// Returns the first line of the section as text.
    pub(super) fn text(&self) -> String {
        let line = self.body.split(|&b| b == b'\n').next().unwrap_or_default();
        String::from_utf8_lossy(line).trim().to_owned()
    }

    /// Parses exactly `count` real numbers. The magnitude of each number must be at most [`LARGEST`].
    pub(super) fn reals(&self, count: usize) -> Parsed<Vec<f64>> {
        let parse = |field| number::real(field).filter(|value| value.abs() <= LARGEST);
        self.values(Kind::Real, count, "a number below 1e30", parse)
    }

    /// Parses exactly `count` real numbers. Each number is returned with its maximum rounding error, which is half a
    /// unit of the last printed digit.
    pub(super) fn rounded_reals(&self, count: usize) -> Parsed<Vec<[f64; 2]>> {
        let convert = |field| number::real(field).zip(number::rounding(field)).map(<[f64; 2]>::from);
        self.values(Kind::Real, count, "a number", convert)
    }

    /// Parses exactly `count` whole numbers.
    pub(super) fn integers(&self, count: usize) -> Parsed<Vec<i32>> {
        self.values(Kind::Integer, count, "a whole number", number::integer)
    }

    /// Parses exactly `count` names.
    pub(super) fn names(&self, count: usize) -> Parsed<Vec<Name>> {
        self.values(Kind::Text, count, "text", |field| std::str::from_utf8(field).ok().map(Name::new))
    }

    /// Returns `count` labels. Labels may be blank, and blanks at the end of a line may be missing.
    pub(super) fn labels(&self, count: usize) -> Parsed<Vec<Name>> {
        self.check_length(count, true)?;
        let Columns { width, per_line, .. } = self.columns(Kind::Text)?;
        let lines: Vec<&[u8]> = self.lines().collect();
        let label = |k: usize| {
            let (line, start) = (lines[k / per_line], k % per_line * width);
            let field = line.get(start..line.len().min(start + width)).unwrap_or_default();
            std::str::from_utf8(field).ok().map(Name::new)
        };
        (0..count).map(label).collect::<Option<_>>().ok_or_else(|| self.problem("a label is not a text"))
    }

    /// Returns the number of filled columns in a section of whole numbers, for sections whose length is stated nowhere
    /// else.
    pub(super) fn filled(&self) -> Parsed<usize> {
        let width = self.columns(Kind::Integer)?.width;
        Ok(self.lines().map(|line| line.trim_ascii_end().len().div_ceil(width)).sum())
    }

    fn columns(&self, kind: Kind) -> Parsed<Columns> {
        let columns = Columns::parse(self.format).filter(|columns| match kind {
            // a section of real numbers may have an integer format; a section of whole numbers must have an integer
            // format, and a section of names must have a text format
            Kind::Real => columns.kind != Kind::Text,
            _ => columns.kind == kind,
        });
        columns.ok_or_else(|| {
            let message =
                format!("%FORMAT{} does not fit this section, expected columns of {kind:?} kind", self.format);
            self.at_line(self.first_line - 1, message)
        })
    }

    fn lines(&self) -> impl Iterator<Item = &'a [u8]> {
        self.body.split(|&b| b == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line))
    }

    /// Checks the length of a section that md does not read. Returns an error if the section does not have `count`
    /// values. The length is counted in columns. If `lines_only` is set, only the number of lines is compared, because
    /// a name may be blank and a label may be longer than its column.
    pub(super) fn check_length(&self, count: usize, lines_only: bool) -> Parsed<()> {
        let columns = Columns::parse(self.format);
        let Columns { width, per_line, .. } = columns.ok_or_else(|| self.problem("%FORMAT is damaged"))?;
        let filled: Vec<usize> = self.lines().map(|line| line.trim_ascii_end().len().div_ceil(width)).collect();
        let lines = count.div_ceil(per_line);
        let is_whole = match lines_only {
            // if the section ends with a newline, splitting at newlines yields one line more than the section has
            true => filled.len() > lines,
            false => (0..lines).all(|line| filled.get(line) == Some(&per_line.min(count - line * per_line))),
        };
        if is_whole && filled.iter().skip(lines).all(|&columns| columns == 0) {
            return Ok(());
        }
        Err(self.problem(format!("expected {count} values on {lines} lines")).help(TRUNCATED))
    }

    /// Splits the columns and converts each value. The section must hold exactly `count` values.
    fn values<T>(
        &self,
        kind: Kind,
        count: usize,
        expected: &str,
        convert: impl Fn(&'a [u8]) -> Option<T>,
    ) -> Parsed<Vec<T>> {
        let Columns { width, per_line, .. } = self.columns(kind)?;
        let short = |found: usize, line: usize| {
            self.at_line(line, format!("expected {count} values, found {found}")).help(TRUNCATED)
        };
        // each value takes at least one byte of the file; without this check a wrong number of values could reserve too
        // much memory
        if count > self.body.len() {
            return Err(short(0, self.flag_line));
        }
        let mut values = Vec::with_capacity(count);
        // index of the last line, if the section does not end with a newline
        let last = (!self.body.ends_with(b"\n")).then(|| self.lines().count() - 1);
        for (offset, line) in self.lines().enumerate() {
            let number = self.first_line + offset;
            let here = per_line.min(count - values.len());
            for column in 0..here {
                let start = column * width;
                let field = line.get(start..(start + width).min(line.len())).filter(|field| !field.is_empty());
                let Some(field) = field else {
                    return Err(short(values.len(), number));
                };
                let value = convert(field).ok_or_else(|| self.bad_value(number, column, expected, field))?;
                // a number that does not end in the last character of its column was cut off or shifted; in a last line
                // without a newline, a name that does not fill its column was cut off
                let is_cut = match kind {
                    Kind::Text => field.len() < width && Some(offset) == last,
                    _ => field.len() < width || field.ends_with(b" "),
                };
                if is_cut {
                    let message = format!("value {} of the line does not fill its {width} columns", column + 1);
                    return Err(self.at_line(number, message).help(TRUNCATED));
                }
                values.push(value);
            }
            if line.get(here * width..).is_some_and(|rest| !rest.trim_ascii().is_empty()) {
                return Err(self.at_line(number, format!("expected {count} values, found more")));
            }
            // blanks after the last name of a line must fill the column of this name; any other number of blanks means
            // that the names were shifted
            if kind == Kind::Text && line.ends_with(b" ") && !line.len().is_multiple_of(width) {
                let message = format!(
                    "the length of the line, {} characters, is not a multiple of the column width {width}",
                    line.len()
                );
                return Err(self.at_line(number, message).help(DAMAGED));
            }
        }
        if values.len() < count { Err(short(values.len(), self.first_line)) } else { Ok(values) }
    }

    fn bad_value(&self, line: usize, column: usize, expected: &str, field: &[u8]) -> Problem {
        let found = if field.contains(&b'*') {
            "a number too large for its column (****)".to_owned()
        } else if field.trim_ascii().is_empty() {
            "nothing".to_owned()
        } else {
            number::quoted(field)
        };
        self.at_line(line, format!("value {} of the line: expected {expected}, found {found}", column + 1))
    }
}
