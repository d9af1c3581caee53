//! Lines of CHARMM text. Words are separated by blanks, and are converted to capitals. `!` begins a comment, and `*`
//! begins a title line. A line that ends with `-` is continued on the next line.

use std::path::Path;

use super::Parsed;
use crate::arrays;
use crate::error::Problem;
use crate::format::number;

/// Line of a CHARMM file with at least one word.
#[derive(Debug)]
pub(super) struct Line {
    /// 1-based line number; for a continued line, the number of the first line
    pub(super) number: usize,
    pub(super) words: Vec<String>,
}

impl Line {
    /// Returns the first word; empty if the line contains only a `-`.
    pub(super) fn first(&self) -> &str {
        self.words.first().map_or("", String::as_str)
    }
}

/// Returns all lines that contain words.
pub(super) fn split(bytes: &[u8]) -> Vec<Line> {
    let mut lines: Vec<Line> = vec![];
    let mut continued = false;
    for (index, text) in bytes.split(|&b| b == b'\n').enumerate() {
        let text = text.split(|&b| b == b'!').next().unwrap_or_default().trim_ascii();
        if text.is_empty() || text[0] == b'*' {
            continue;
        }
        let (text, goes_on) = text.strip_suffix(b"-").map_or((text, false), |text| (text, true));
        let text = String::from_utf8_lossy(text).to_uppercase();
        let words = text.split_whitespace().map(ToOwned::to_owned);
        match lines.last_mut().filter(|_| continued) {
            Some(line) => line.words.extend(words),
            None => lines.push(Line { number: index + 1, words: words.collect() }),
        }
        continued = goes_on;
    }
    lines
}

/// Row of a parameter table: a line with type names followed by numbers.
#[derive(Clone, Copy)]
pub(super) struct Row<'a> {
    pub(super) file: &'a Path,
    pub(super) line: &'a Line,
}

impl<'a> Row<'a> {
    pub(super) fn problem(&self, message: impl Into<String>) -> Problem {
        Problem::new(message).in_file(self.file).at_line(self.line.number)
    }

    /// Returns the words of the row if the number of words is one of `allowed`. `form` describes the expected words in
    /// the error.
    pub(super) fn words(&self, allowed: &[usize], form: &str) -> Parsed<&'a [String]> {
        if allowed.contains(&self.line.words.len()) {
            return Ok(&self.line.words);
        }
        let message = format!("expected {form}, found {}", number::quoted(self.line.words.join(" ").as_bytes()));
        Err(self.problem(message).help("a comment begins with `!`"))
    }

    /// Parses word `index` as a number.
    pub(super) fn real(&self, index: usize) -> Parsed<f64> {
        let word = self.line.words.get(index).map_or("", String::as_str);
        let message = || self.problem(format!("expected a number, found {}", number::quoted(word.as_bytes())));
        number::real(word.as_bytes()).ok_or_else(message)
    }

    /// Parses `N` consecutive words as numbers, beginning with word `first`.
    pub(super) fn reals<const N: usize>(&self, first: usize) -> Parsed<[f64; N]> {
        arrays::try_from_fn(|k| self.real(first + k))
    }

    /// Parses word `index` as a whole number from 0 to 255, with or without decimals.
    pub(super) fn periodicity(&self, index: usize) -> Parsed<u8> {
        let value = self.real(index)?;
        let whole = value.fract() == 0.0 && (0.0..=f64::from(u8::MAX)).contains(&value);
        if whole { Ok(value as u8) } else { Err(self.problem(format!("{value} is not a valid periodicity"))) }
    }
}
